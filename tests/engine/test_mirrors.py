"""What mirrors are sent where phases take turns: what they will read, and nothing that is sent again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm

WIDTH = 32


class Turns(gl.VertexProgram):
    """Sides take turns to mark their edges; at the end each vertex adds up what its neighbours had."""

    rounds: int = 3

    class Vertex(gl.Vertex):
        own: gl.Vector = gl.field(shape=WIDTH)
        seen: float = 0.0

    class Edge(gl.Edge):
        mark: float = 0.0

    def left(self, v: Vertex) -> bool:
        return v.side == 0

    def right(self, v: Vertex) -> bool:
        return v.side == 1

    def marks(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.mark

    def note(self, v: Vertex, total: float) -> None:
        for k in range(WIDTH):
            v.own[k] = 0.01 * total + k + v.degree % 7

    def put(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.mark = 0.25 * e.mark + v.own[nbr.degree % WIDTH]

    def far(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.own[0] + nbr.own[WIDTH - 1]

    def add(self, v: Vertex, total: float) -> None:
        v.seen = total

    phases = (
        gl.Phase(gather=marks, apply=note, scatter=put, start=left, supersteps=1,
                 gather_edges=gl.OUT, scatter_edges=gl.OUT),
        gl.Phase(gather=marks, apply=note, scatter=put, start=right, supersteps=1,
                 gather_edges=gl.IN, scatter_edges=gl.IN),
        gl.Phase(gather=far, apply=add, supersteps=1, gather_edges=gl.ALL),
    )  # fmt: skip

    def done(self) -> bool:
        return self.superstep + 1 >= 3 * self.rounds


def pairs(comm: Comm | None) -> gl.Graph:
    rng = np.random.default_rng(5)
    return gl.Graph.from_edges(
        rng.integers(0, 300, 4000), rng.integers(0, 200, 4000), bipartite=True, comm=comm, strategy="random"
    )


class Without(Turns):
    """The same without its last phase: no other method looks at `own`."""

    phases = Turns.phases[:2]

    def done(self) -> bool:
        return self.superstep + 1 >= 2 * self.rounds


def sent(comm: Comm) -> tuple[np.ndarray, int, float]:
    """Return the answer; the bytes that all ranks sent in two more rounds, and of these in supersteps."""
    graph = pairs(comm)
    runs = [gl.run(Without(rounds=rounds), graph) for rounds in (2, 4)]
    assert [run.iterations for run in runs] == [4, 8]
    more = runs[1].metrics["bytes_sent"] - runs[0].metrics["bytes_sent"]
    steps = comm.allreduce(sum(row["bytes_sent"] for row in runs[1].history[4:]))
    return gl.run(Turns(), graph).vertices["seen"], more, float(steps)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_phase_is_entered_without_what_its_apply_sends(hosts: Any, size: int) -> None:
    """A field that scatter alone reads, of the vertex itself, was sent when a phase began and after apply."""
    want = gl.run(Turns(), pairs(None), engine="reference").vertices["seen"]
    (seen, more, steps), *_ = hosts(size).run(sent)
    np.testing.assert_allclose(seen, want, rtol=1e-12)
    assert more == steps
    assert (more > 0) == (size > 1)
