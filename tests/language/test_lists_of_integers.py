"""Lists of integers are sorted as numpy sorts them, of any length and spread; narrow ones by counting."""

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks

LENGTHS = [1, 2, 15, 16, 17, 31, 32, 40, 100, 333, 20_000]  # of the lists; from 16 on they are counted
SPREADS = [1, 3, 16, 60, 250, 4000, 1 << 16]  # of values: dense, or far apart


def keeper(kind: str) -> type[gl.VertexProgram]:
    """Return a program that keeps the values of a vertex's edges, which are of a type of numpy's."""
    T = getattr(gl, kind)

    class Keeper(gl.VertexProgram):
        class Vertex(gl.Vertex):
            kept: gl.List[T]

        class Edge(gl.Edge):
            value: T

        def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.List[T]:
            return e.value

        def apply(self, v: Vertex, total: gl.List[T]) -> None:
            v.kept = total

    return Keeper


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


def kept(comm: Comm, kind: str) -> list[list[int]]:
    targets, values = drawn(kind)
    graph = gl.Graph.from_edges(
        targets + 1_000, targets, columns={"value": values}, strategy="random", comm=comm
    )
    lists = gl.run(keeper(kind)(), graph, max_iterations=1).vertices["kept"]
    return [list(one) for one in lists]


@pytest.mark.parametrize("kind", ["uint8", "int8", "uint16", "int16", "int32", "uint32", "int64"])
def test_lists_of_integers_are_in_ascending_order(ranks: Ranks, kind: str) -> None:
    targets, values = drawn(kind)
    found = ranks.run(kept, kind)[0]
    for target in range(targets[-1] + 1):
        assert found[target] == np.sort(values[targets == target]).tolist()
