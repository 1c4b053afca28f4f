"""Operators of bits on vectors and matrices: element by element, what they are of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.errors import ExecutionError
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks

MODES: list[dict[str, Any]] = [{}, {"compile": "never"}, {"engine": "reference"}]
NAMES = ["compiled", "interpreted", "reference"]
X = [[5, -3, 0, -(2**63)], [255, 64, 1, 2**63 - 1]]
BY = [[0, 1, 2, 63], [7, 3, 31, 1]]


class Bits(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=4, dtype=int)
        by: gl.Vector = gl.field(shape=4, dtype=int)
        m: gl.Matrix = gl.field(shape=(2, 2), dtype=gl.int16, init=9)
        truth: gl.Vector = gl.field(shape=4, dtype=bool)
        inverted: gl.Vector = gl.field(shape=4, dtype=int)
        plus: gl.Vector = gl.field(shape=4, dtype=int)
        both: gl.Vector = gl.field(shape=4, dtype=int)
        either: gl.Vector = gl.field(shape=4, dtype=int)
        one: gl.Vector = gl.field(shape=4, dtype=int)
        left: gl.Vector = gl.field(shape=4, dtype=int)
        right: gl.Vector = gl.field(shape=4, dtype=int)
        by_number: gl.Vector = gl.field(shape=4, dtype=int)
        number_by: gl.Vector = gl.field(shape=4, dtype=int)
        count: gl.Vector = gl.field(shape=4, dtype=int)
        changed: gl.Vector = gl.field(shape=4, dtype=int)
        not_truth: gl.Vector = gl.field(shape=4, dtype=bool)
        some_truth: gl.Vector = gl.field(shape=4, dtype=bool)
        of_bools: gl.Vector = gl.field(shape=4, dtype=int)

    def apply(self, v: Vertex) -> None:
        for k in range(4):
            v.truth[k] = v.x[k] % 2 == 1
        v.inverted, v.plus = ~v.x, +v.x
        v.both, v.either, v.one = v.x & v.by, v.x | v.by, v.x ^ v.by
        v.left, v.right = v.x << v.by, v.x >> v.by
        v.by_number = ~(v.x & 63) << 2 ^ v.by[1]
        v.number_by = 5 & v.x | 1 << v.by ^ (9 >> v.by)
        v.count = np.bitwise_count(~v.x & 255)
        v.changed = v.x
        v.changed &= 0xFFFF
        v.changed <<= 2
        v.changed |= v.by
        v.changed ^= 3
        v.changed >>= 1
        v.not_truth = ~v.truth
        v.some_truth = (v.truth ^ True) & ~v.truth | v.truth
        v.of_bools = (v.truth << v.truth) + v.truth - (v.truth & v.x)
        v.m = ~v.m & 255 | v.m << 3


def of_numpy(x: np.ndarray, by: np.ndarray) -> dict[str, Any]:
    """Return the fields of a vertex as numpy makes them of 64-bit ints."""
    truth = x % 2 == 1
    ints = truth.astype(int)
    found = {
        "inverted": ~x, "plus": x, "both": x & by, "either": x | by, "one": x ^ by, "left": x << by,
        "right": x >> by, "by_number": ~(x & 63) << 2 ^ by[1], "number_by": 5 & x | 1 << by ^ (9 >> by),
        "count": np.bitwise_count(~x & 255), "changed": ((x & 0xFFFF) << 2 | by ^ 3) >> 1,
        "not_truth": ~truth, "some_truth": truth | ~truth, "of_bools": (ints << ints) + ints - (ints & x),
    }  # fmt: skip
    found["changed"] = (((x & 0xFFFF) << 2 | by) ^ 3) >> 1
    return {name: values.tolist() for name, values in found.items()}


def bits(comm: Comm, mode: dict[str, Any]) -> dict[str, Any]:
    graph = gl.Graph.from_edges([0], [1], comm=comm, rows="same")
    result = gl.run(Bits(), graph, max_iterations=1, init={"x": X, "by": BY}, **mode)
    return {name: result.vertices[name].tolist() for name in result.vertices.columns}


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_every_element_is_what_numpy_says(ranks: Ranks, mode: dict[str, Any]) -> None:
    expected = [of_numpy(np.array(x), np.array(by)) for x, by in zip(X, BY, strict=True)]
    for found in ranks.run(bits, mode):
        for name in expected[0]:
            assert found[name] == [one[name] for one in expected], name
        assert found["m"] == [[[254, 254], [254, 254]]] * 2


class Narrow(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=2, dtype=gl.uint8, init=200)
        by: gl.Vector = gl.field(shape=2, dtype=int, init=1)

    def apply(self, v: Vertex) -> None:
        v.x = v.x << v.by


class Inverted(Narrow):
    def apply(self, v: Narrow.Vertex) -> None:
        v.x = ~v.x


class Divided(Narrow):
    def apply(self, v: Narrow.Vertex) -> None:
        v.x = v.x // (v.by - 1)


class Shifted(Narrow):
    def apply(self, v: Narrow.Vertex) -> None:
        v.by = v.x >> (v.by * 64)


class ShiftedBack(Narrow):
    def apply(self, v: Narrow.Vertex) -> None:
        v.by = v.x << -v.by


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
@pytest.mark.parametrize("program", [Narrow, Inverted, Divided, Shifted, ShiftedBack])
def test_faults_are_those_of_numbers(program: Any, mode: dict[str, Any]) -> None:
    said = {Narrow: "range", Inverted: "range", Divided: "by zero", Shifted: "shift", ShiftedBack: "shift"}
    graph = gl.Graph.from_edges([0], [1])
    with pytest.raises(ExecutionError, match=f"{program.__name__} failed at vertex .*{said[program]}"):
        gl.run(program(), graph, max_iterations=1, **mode)
    assert program is not Narrow or gl.run(
        program(), graph, max_iterations=1, init={"x": 100}, **mode
    ).vertices["x"].tolist() == [[200, 200]] * 2


class Filter(gl.VertexProgram):
    """Bits of neighbours, gathered in a vector: a Bloom filter."""

    class Vertex(gl.Vertex):
        own: gl.Vector = gl.field(shape=2, dtype=int)
        seen: gl.Vector = gl.field(shape=2, dtype=int)
        around: int = 0

    class Seen(gl.Accumulator):
        bits: gl.Vector = gl.field(shape=2, dtype=int, combine=gl.BITOR)

    def init(self, v: Vertex) -> None:
        v.own[v.index % 2] = 1 << (v.index % 60)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Seen:
        return self.Seen(bits=nbr.own | nbr.own << 1)

    def apply(self, v: Vertex, total: Seen) -> None:
        v.seen = total.bits & ~v.own
        v.around = np.sum(np.bitwise_count(v.seen))


def filtered(comm: Comm, mode: dict[str, Any]) -> list[Any]:
    graph = gl.Graph.from_edges([0, 1, 2, 3, 3, 5], [1, 2, 3, 1, 1, 5], comm=comm, rows="same")
    result = gl.run(Filter(), graph, max_iterations=1, **mode)
    return [result.vertices["seen"].tolist(), result.vertices["around"].tolist()]


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_bits_of_vectors_are_gathered(ranks: Ranks, mode: dict[str, Any]) -> None:
    expected = [[[0, 0], [3, 24], [0, 6], [12, 0], [32, 0]], [0, 4, 2, 2, 1]]
    assert ranks.run(filtered, mode) == [expected] * ranks.size
