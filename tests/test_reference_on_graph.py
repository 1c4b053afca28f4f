"""The reference engine by way of `gaslab.run`: what the graph keeps as numbers, the program sees as ids."""

from __future__ import annotations

import gaslab as gl
from gaslab.comm import Comm
from tests.mpi.ranks import Ranks


class Least(gl.VertexProgram):
    """Ids in a vertex field that is given and in an edge field that both ends write."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        leader: gl.VertexId

    class Edge(gl.Edge):
        least: gl.VertexId = gl.field(init=gl.NOBODY, sync=gl.MIN)

    def apply(self, v: Vertex) -> None:
        v.leader = min(v.leader, v.id)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.least = min(e.least, v.leader)


def both(comm: Comm) -> list[tuple[object, object]]:
    graph = gl.Graph.from_edges(["b", "c", "d"], ["c", "d", "a"], comm=comm)
    given = {"leader": {"a": "d", "b": "b", "c": "d", "d": "b"}}
    found = []
    for engine in ("sync", "reference"):
        result = gl.run(Least(), graph, engine=engine, init=given)
        edges = result.edges
        rows = sorted(
            zip(edges["source"].tolist(), edges["target"].tolist(), edges["least"].tolist(), strict=True)
        )
        found.append((result.vertices.to_dict("leader"), rows))
    return found


def test_ids_are_the_users_own(ranks: Ranks) -> None:
    for sync, reference in ranks.run(both):
        assert sync == reference
        assert sync[0] == {"a": "a", "b": "b", "c": "c", "d": "b"}
        assert sync[1] == [("b", "c", "b"), ("c", "d", "b"), ("d", "a", "a")]
