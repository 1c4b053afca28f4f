"""Totals by key: sums of ids, ints of every width and bools, asked by every word."""

from __future__ import annotations

from gaslab import program as gl
from tests.programs.case import case


@case(limit=4, columns={"weight": "weight"})
class WeightedLabels(gl.VertexProgram):
    """The label of most weight around, by a loop; a vertex without edges keeps its own."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        label: gl.VertexId
        kinds: int = 0
        own: float = 0.0

    class Edge(gl.Edge):
        weight: float = 1.0

    def init(self, v: Vertex) -> None:
        v.label = v.id

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.SumBy[gl.VertexId, float]:
        return nbr.label, e.weight

    def apply(self, v: Vertex, total: gl.SumBy[gl.VertexId, float]) -> None:
        v.kinds, v.own = len(total), total[v.label]
        best, most = v.label, 0.0
        for label, weight in total.items():
            if weight > most:
                best, most = label, weight
        v.label = best


@case(limit=4)
class Argmax(gl.VertexProgram):
    """The same without a loop: nothing shows the order of the keys; some vertices have none."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        label: gl.VertexId
        met: bool = False
        own: float = 0.0

    def init(self, v: Vertex) -> None:
        v.label = v.id if v.degree % 3 > 0 else gl.NOBODY

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SumBy[gl.VertexId, gl.float32]:
        if nbr.id == v.id:
            return None
        return nbr.label, 0.25 * (1 + nbr.degree % 3)

    def apply(self, v: Vertex, total: gl.SumBy[gl.VertexId, float]) -> None:
        v.met = v.label in total and gl.NOBODY not in total
        v.own = total[gl.NOBODY] + total[v.label]
        if total:
            v.label = total.argmax()


def weighed(key: int, sum_of_key: int, by: int) -> int:
    return (key * 31 + sum_of_key * by) % 10007


@case(limit=3, given=("x",))
class Ints(gl.VertexProgram):
    """Keys below 0, beyond a few bits and none; both loops over one total; what leaves a loop."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        x: int = 0
        mixed: int = 0
        passed: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SumBy[int, int]:
        return (nbr.x * 4000000007 - 9, nbr.degree) if nbr.x != 3 else None

    def apply(self, v: Vertex, total: gl.SumBy[int, int]) -> None:
        v.mixed = len(total) + total[v.x * 4000000007 - 9] * 7 + total[-1]
        v.passed = 0
        for key, much in total.items():
            if key % 5 == 1:
                continue
            v.mixed = weighed(key, much, v.mixed + 1)
            for other, more in total.items():
                if other >= key:
                    break
                v.passed += more * (other in total)
        v.x = (v.x * 3 + v.passed) % 5
        if not total:
            return
        v.mixed = v.mixed * 10 + total.argmax() % 10


@case(limit=3)
class Narrow(gl.VertexProgram):
    """Narrow keys and sums, scattered; directions by vertex."""

    class Vertex(gl.Vertex):
        x: gl.int16 = 0
        most: int = 0

    def init(self, v: Vertex) -> None:
        v.x = v.degree * 37 % 600 - 300

    def gather_edges(self, v: Vertex) -> int:
        return gl.IN if v.degree % 2 == 0 else gl.ALL

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SumBy[gl.int16, gl.int32]:
        return nbr.x, nbr.out_degree - 2

    def apply(self, v: Vertex, total: gl.SumBy[gl.int16, int]) -> None:
        for key, much in total.items():
            v.most = (v.most * 3 + key + much) % 1009
        v.x = v.most % 5 if 70000 in total or v.x not in total else v.x

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if (v.most + nbr.most) % 3 > 0:
            nbr.signal()


@case(limit=2)
class Sides(gl.VertexProgram):
    """Keys that are bools, and unsigned ints of 64 bits in the second phase; `init=`, `start`."""

    class Vertex(gl.Vertex):
        yes: int = 0
        no: int = 0
        odd: bool = False
        far: gl.uint64 = 0

    def count(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SumBy[bool, int]:
        return nbr.degree > v.degree, 1

    def keep(self, v: Vertex, total: gl.SumBy[bool, int]) -> None:
        v.yes, v.no = total[True], total[False]
        v.odd = total.argmax() if total else False
        for larger, many in total.items():
            v.far = v.far * 3 + (many + 1 if larger else many + 5)

    def spread(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SumBy[gl.uint64, gl.uint16]:
        return nbr.far * 1099511627776, nbr.yes

    def join(self, v: Vertex, total: gl.SumBy[gl.uint64, gl.uint16]) -> None:
        for key, much in total.items():
            v.far = (v.far * 7 + key // 1099511627776 + much) % 1000
        v.yes = total[-1] + len(total)

    phases = (
        gl.Phase(gather=count, apply=keep, gather_edges=gl.ALL, supersteps=1),
        gl.Phase(gather=spread, apply=join, gather_edges=gl.OUT, supersteps=1),
    )


@case(limit=3)
class Single(gl.VertexProgram):
    """float32; the total of no edges; a draw at each edge."""

    precision = gl.float32
    gather_edges = gl.OUT

    class Vertex(gl.Vertex):
        x: float = 1.0
        kind: gl.uint8 = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SumBy[gl.uint8, float]:
        return gl.integers(5), nbr.x * 0.5

    def apply(self, v: Vertex, total: gl.SumBy[gl.uint8, float]) -> None:
        s = 0.0
        for kind, x in total.items():
            s = (s + kind * x) % 16.0
        v.x = s
        v.kind = total.argmax() if len(total) > 0 else 7
