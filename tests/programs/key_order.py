"""Loops over a total's items that need no order of the keys: choices, and what adds up."""

from __future__ import annotations

import numpy as np

from gaslab import program as gl
from tests.programs.case import case

SIZES = np.array([0.25, 0.5, 0.0, 1.0, 0.5])


def signed(key: int, weight: float) -> float:
    return weight if key % 2 == 0 else -weight


@case(limit=3, columns={"weight": "weight"}, given=("x",))
class Chosen(gl.VertexProgram):
    """The first or the last of the best keys, with guards, by narrow and wide places; ties all the time."""

    rate: float = 0.5
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        x: int = 0
        first: int = 0
        last: int = 0
        least: int = 0
        most: float = 0.0
        low: float = 1.0
        high: float = -8.0
        wide: float = -1.0
        small: gl.int16 = 0
        own: int = 3
        mine: float = 2.0
        kind: bool = False
        level: gl.float32 = 0.0

    class Edge(gl.Edge):
        weight: float = 1.0

    def init(self, v: Vertex) -> None:
        v.x = v.degree % 7 - 2

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.SumBy[gl.int16, float]:
        return nbr.x % 9 - 4, e.weight

    def apply(self, v: Vertex, total: gl.SumBy[gl.int16, float]) -> None:
        v.most = 0.0
        for key, weight in total.items():
            gain = signed(key, weight)
            if gain > v.most:
                v.first, v.most, v.level = key, gain, gain
        v.low = 0.0
        for key, weight in total.items():
            if key == v.x:
                continue
            gain = signed(key, weight) - self.rate * SIZES[key % 5]
            if gain <= v.low:
                v.low = gain
                v.last = key
                v.small = key
        best = v.mine
        for key, weight in total.items():
            v.high = max(v.high, signed(key, weight))
            best = weight if best > weight else best
            if key != v.first and 0.0 - weight >= v.wide:
                v.wide, v.kind = 0.0 - weight, key > 0
        v.mine = best
        other, top = v.own, v.mine
        for key, weight in total.items():
            if weight > top or (weight == top and key < other):
                other, top = key, weight
        v.own, v.mine = other, top
        v.x = (v.x + v.first + v.last) % 7 - 2


@case(limit=3)
class Added(gl.VertexProgram):
    """Counts, sums, extremes, bits and tests of ints; loops that are left, and one within a loop."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        x: int = 0
        count: gl.uint16 = 0
        mixed: int = 0
        product: int = 1
        least: gl.int8 = 9
        bits: int = 0
        odd: bool = False
        all_even: bool = True
        found: int = 0
        late: bool = False

    def init(self, v: Vertex) -> None:
        v.x = v.degree % 11 - 5

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SumBy[gl.int8, int]:
        return nbr.x, nbr.degree % 3

    def apply(self, v: Vertex, total: gl.SumBy[gl.int8, int]) -> None:
        v.odd, v.all_even, v.found, v.product, v.late = False, True, 0, 1, False
        for key, much in total.items():
            if much > 1:
                v.count += 1
            elif key < 0:
                weighed = key * much
                v.mixed = v.mixed + weighed - total[v.x]
            v.product = much * v.product * 3
            v.least = min(v.least, key)
            v.bits ^= much << 3 if key > 2 else key & 7
            v.odd = v.odd or key % 2 == 1
            v.all_even &= much % 2 == 0
        for _ in range(2):
            for key, much in total.items():
                if key + much == 4:
                    v.found = 7
                    break
        v.x = (v.x * 3 + v.found + len(total)) % 11 - 5
        for key, _much in total.items():
            if key == 4:
                return
        v.late = True
