"""The reference engine by way of `gaslab.run`: what the graph keeps as numbers, the program sees as ids."""

from __future__ import annotations

import gaslab as gl
from gaslab.parallel.comm import Comm
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
        result = gl.run(Least(), graph, engine=engine, init=given, edges=True)
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


class Nobodies(gl.VertexProgram):
    class Vertex(gl.Vertex):
        leader: gl.VertexId = gl.NOBODY
        near: gl.SortedSet[gl.VertexId]

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        return nbr.id if nbr.id != v.leader and v.in_degree < 2 else v.leader

    def apply(self, v: Vertex, near: gl.SortedSet[gl.VertexId]) -> None:
        v.near = near


def sets(comm: Comm) -> list[dict[object, object]]:
    found = []
    for ids in ([0, 1, 2], ["a", "b", "c"]):
        graph = gl.Graph.from_edges([ids[0], ids[0], ids[1]], [ids[1], ids[2], ids[2]], comm=comm)
        for engine in ("sync", "reference"):
            found.append(gl.run(Nobodies(), graph, engine=engine, max_iterations=1).vertices.to_dict("near"))
    return found


def test_nobody_in_a_set_is_shown_as_elsewhere(ranks: Ranks) -> None:
    for integers, integers_reference, texts, texts_reference in ranks.run(sets):
        assert integers == integers_reference == {0: [], 1: [0], 2: [-1]}
        assert texts == texts_reference == {"a": [], "b": ["a"], "c": [None]}
