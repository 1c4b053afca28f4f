"""Lists of narrow values are sorted by counting them: as numpy sorts them, of any length and spread."""

from __future__ import annotations

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks

LENGTHS = [1, 2, 15, 16, 17, 31, 32, 40, 100, 333, 20_000]  # of the lists; from 16 on they are counted
SPREADS = [1, 3, 16, 60, 250, 4000, 1 << 16]  # of values: dense, or far apart


class Bytes(gl.VertexProgram):
    class Vertex(gl.Vertex):
        kept: gl.List[gl.uint8]

    class Edge(gl.Edge):
        kind: gl.uint8

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.List[gl.uint8]:
        return e.kind

    def apply(self, v: Vertex, total: gl.List[gl.uint8]) -> None:
        v.kept = total


class SignedBytes(gl.VertexProgram):
    class Vertex(gl.Vertex):
        kept: gl.List[gl.int8]

    class Edge(gl.Edge):
        kind: gl.int8

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.List[gl.int8]:
        return e.kind

    def apply(self, v: Vertex, total: gl.List[gl.int8]) -> None:
        v.kept = total


class Words(gl.VertexProgram):
    class Vertex(gl.Vertex):
        kept: gl.List[gl.uint16]

    class Edge(gl.Edge):
        kind: gl.uint16

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.List[gl.uint16]:
        return e.kind

    def apply(self, v: Vertex, total: gl.List[gl.uint16]) -> None:
        v.kept = total


class SignedWords(gl.VertexProgram):
    class Vertex(gl.Vertex):
        kept: gl.List[gl.int16]

    class Edge(gl.Edge):
        kind: gl.int16

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.List[gl.int16]:
        return e.kind

    def apply(self, v: Vertex, total: gl.List[gl.int16]) -> None:
        v.kept = total


def drawn(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return every edge's target and value: a list of each length and spread, at both ends of the type."""
    rng, limits = np.random.default_rng(5), np.iinfo(kind)
    targets, values = [], []
    for length in LENGTHS:
        for spread in SPREADS:
            for first in (limits.min, limits.max - min(spread, limits.max - limits.min) + 1):
                last = min(first + spread - 1, limits.max)
                targets.append(np.full(length, len(targets)))
                values.append(rng.integers(first, last, length, endpoint=True).astype(kind))
    return np.concatenate(targets), np.concatenate(values)


def kept(comm: Comm, program: type[gl.VertexProgram], kind: str) -> list[list[int]]:
    targets, values = drawn(kind)
    graph = gl.Graph.from_edges(
        targets + 1_000, targets, columns={"kind": values}, strategy="random", comm=comm
    )
    lists = gl.run(program(), graph, max_iterations=1).vertices["kept"]
    return [list(one) for one in lists]


@pytest.mark.parametrize("program", [Bytes, SignedBytes, Words, SignedWords])
def test_narrow_lists_are_in_ascending_order(ranks: Ranks, program: type[gl.VertexProgram]) -> None:
    kind = {Bytes: "uint8", SignedBytes: "int8", Words: "uint16", SignedWords: "int16"}[program]
    targets, values = drawn(kind)
    found = ranks.run(kept, program, kind)[0]
    for target in range(targets[-1] + 1):
        assert found[target] == np.sort(values[targets == target]).tolist()
