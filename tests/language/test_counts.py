"""Vectors of a gather that count edges: in 32 bits where they fit, with the same answer."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest

import gaslab as gl
from gaslab import compiler
from gaslab.compiler.frontend import parse_phases
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks


class Kinds(gl.VertexProgram):
    kinds: int = 5
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        seen: gl.Vector = gl.field(shape="kinds", dtype=int)
        most: int = 0

    class Edge(gl.Edge):
        kind: int = 0

    class Total(gl.Accumulator):
        edges: int
        kinds: gl.Vector = gl.field(shape="kinds", dtype=int)
        sums: gl.Vector = gl.field(shape="kinds", dtype=int)
        small: gl.Vector = gl.field(shape="kinds", dtype=gl.int16)
        first: gl.Vector = gl.field(shape="kinds", dtype=int, combine=gl.MAX)

    def largest(self, x: gl.Vector) -> int:
        return int(np.max(x))

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        if e.kind == 4:
            return self.Total(edges=1, small=gl.at(e.kind), kinds=gl.at(4), sums=gl.at(4, 2))
        k = e.kind
        return self.Total(edges=1, kinds=gl.at(k), sums=gl.at(k, k), small=gl.at(k), first=gl.at(k))

    def apply(self, v: Vertex, total: Total) -> None:
        v.seen = total.kinds * (1 << 40)  # as ints of 64 bits
        v.most = self.largest(total.kinds) + self.largest(total.sums)


def storages(many_edges: bool) -> list[str]:
    (tree,) = parse_phases(Kinds, many_edges=many_edges)
    gather: Any = tree.gather
    return [part.combiner.storage for part in gather.parts]


def test_only_sums_of_ones_are_kept_in_32_bits() -> None:
    assert storages(many_edges=False) == ["int64", "int32", "int64", "int16", "int64"]
    assert storages(many_edges=True) == ["int64", "int64", "int64", "int16", "int64"]


SOURCE, TARGET = np.random.default_rng(1).integers(0, 12, (2, 200))
KIND = np.arange(200) % 5


def counted(comm: Comm, strategy: str, **mode: Any) -> tuple[Any, ...]:
    graph = gl.Graph.from_edges(SOURCE, TARGET, columns={"kind": KIND}, strategy=strategy, comm=comm)
    found = gl.run(Kinds(), graph, max_iterations=1, **mode)
    return found.vertices["seen"].tolist(), found.vertices["most"].tolist(), found.metrics["bytes_sent"]


def both_ways(comm: Comm) -> list[tuple[Any, ...]]:
    with mock.patch.object(compiler, "MANY_EDGES", 200):
        wide = counted(comm, "random")
    return [wide, counted(comm, "random"), counted(comm, "2d", compile="never")]


@pytest.mark.slow
def test_counts_are_the_same_in_64_bits_and_more_is_sent(ranks: Ranks) -> None:
    seen = np.zeros((12, 5), np.int64)
    for end in (SOURCE, TARGET):
        np.add.at(seen, (end, KIND), 1)
    reference = counted(Comm(), "1d", engine="reference")
    assert reference[0] == (seen << 40).tolist()
    wide, narrow, interpreted = ranks.run(both_ways)[0]
    assert wide[:2] == narrow[:2] == interpreted[:2] == reference[:2]
    assert narrow[2] < wide[2] or ranks.size == 1
