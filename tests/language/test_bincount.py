"""np.bincount in programs is numpy's, of lists and of vectors; what it does not count is a fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from tests.conftest import Hosts
from tests.support.one_fault import MODES, NAMES, assert_fault, vertices

KINDS = 6


class Counted(gl.VertexProgram):
    """Lists of every width, and vectors."""

    class Vertex(gl.Vertex):
        bytes: gl.List[gl.uint8]
        shorts: gl.List[gl.int16]
        words: gl.List[gl.uint32]
        longs: gl.SortedSet[int]
        x: gl.Vector = gl.field(shape=4, dtype=gl.int8)
        of_bytes: gl.Vector = gl.field(shape=KINDS, dtype=gl.uint8)
        of_shorts: gl.Vector = gl.field(shape=KINDS, dtype=int)
        of_words: gl.Vector = gl.field(shape=KINDS, dtype=gl.int32)
        of_longs: gl.Vector = gl.field(shape=KINDS)
        of_x: gl.Vector = gl.field(shape=KINDS, dtype=gl.int32)
        of_more: gl.Vector = gl.field(shape=7, dtype=gl.int32)

    def apply(self, v: Vertex) -> None:
        v.of_bytes = np.bincount(v.bytes, minlength=KINDS)
        v.of_shorts = np.bincount(v.shorts, minlength=KINDS) * 2
        v.of_words = np.bincount(v.words, minlength=KINDS)
        v.of_longs = np.bincount(v.longs, minlength=len(v.of_x)) / 2.0
        v.of_x = np.bincount(v.x, minlength=KINDS)
        v.of_more = np.bincount(v.x + v.x % 2, minlength=7)


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
@given(data=st.data())
def test_it_is_numpy_s(mode: dict[str, Any], data: st.DataObject) -> None:
    few = st.lists(st.integers(0, KINDS - 1), max_size=40)
    few |= few.map(sorted)
    init = {name: [data.draw(few) for _ in range(3)] for name in ("bytes", "shorts", "words", "longs")}
    x = np.array([data.draw(st.lists(st.integers(0, KINDS - 1), min_size=4, max_size=4)) for _ in range(3)])
    found = gl.run(Counted(), vertices(3), max_iterations=1, init={**init, "x": x}, **mode).vertices

    def counted(rows: Any) -> list[list[int]]:
        return [np.bincount(np.array(row, int), minlength=KINDS).tolist() for row in rows]

    assert found["of_bytes"].tolist() == counted(init["bytes"])
    assert (found["of_shorts"] // 2).tolist() == counted(init["shorts"])
    assert found["of_words"].tolist() == counted(init["words"])
    assert (found["of_longs"] * 2).tolist() == counted(map(sorted, map(set, init["longs"])))
    assert found["of_x"].tolist() == counted(x)
    assert found["of_more"].tolist() == [np.bincount(row + row % 2, minlength=7).tolist() for row in x]


class Outside(gl.VertexProgram):
    class Vertex(gl.Vertex):
        near: gl.List[gl.int16]
        counts: gl.Vector = gl.field(shape=3, dtype=gl.int32)

    def apply(self, v: Vertex) -> None:
        v.counts = np.bincount(v.near, minlength=3)


class OutsideOfVector(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=2, dtype=gl.int16)
        counts: gl.Vector = gl.field(shape=3, dtype=gl.int32)

    def apply(self, v: Vertex) -> None:
        v.counts = np.bincount(v.x, minlength=3)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [3, -1, 2**15 - 1])
def test_a_value_outside_is_a_fault(hosts: Hosts, wrong: int) -> None:
    assert_fault(hosts, Outside, {"near": {4: [0, wrong]}}, 15)
    for many in ([0] * 9, [1] * 5 + [2] * 5):
        assert_fault(hosts, Outside, {"near": {4: [*many, wrong]}}, 15)
        assert_fault(hosts, Outside, {"near": {4: [wrong, *many]}}, 15)
        assert_fault(hosts, Outside, {"near": {4: [*many, wrong, 0]}}, 15)
    assert_fault(hosts, OutsideOfVector, {"x": [[0, 0], [1, 1], [2, 2], [0, wrong]]}, 15)


class Narrow(gl.VertexProgram):
    """Gathers a list of few different values: these are sorted by counting them."""

    class Vertex(gl.Vertex):
        own: gl.int16 = 0
        near: gl.List[gl.int16]

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[gl.int16]:
        return nbr.own

    def apply(self, v: Vertex, total: gl.List[gl.int16]) -> None:
        v.near = total


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("spread", [0, 1, 7, 100, 2000, 2**15 - 1])
def test_narrow_lists_come_in_order(hosts: Hosts, size: int, spread: int) -> None:
    for found, expected in hosts(size).run(gathered, spread):
        assert found == expected


def gathered(comm: Any, spread: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return what 40 vertices of 0 to 300 edges gather, and what they are to."""
    random = np.random.default_rng(spread)
    target = np.repeat(np.arange(40), random.integers(0, 300, 40))
    source = random.integers(40, 400, target.size)
    graph = gl.Graph.from_edges(source, target, vertices=range(400), comm=comm)
    own = random.integers(-spread - 1, spread + 1, 400)
    found = gl.run(Narrow(), graph, max_iterations=1, init={"own": own}).vertices["near"].tolist()
    return found, [sorted(own[source[target == v]].tolist()) for v in range(400)]
