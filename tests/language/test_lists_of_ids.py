"""Lists and sorted sets of vertex ids: what they take, and no vertex among them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.compiler.frontend import parse_phases
from gaslab.compiler.tree.uses import marked_field
from gaslab.engine import lists
from gaslab.programs.triangles import TriangleCount
from tests.conftest import Hosts
from tests.language.test_agreement import agree
from tests.mpi.ranks import Ranks
from tests.support.agreement import Task
from tests.support.graphs import STRATEGIES, Drawn, graphs


class Strangers(gl.VertexProgram):
    """Lists and sets of ids with no vertex among them: as given, and as `gl.Max` is over no edges."""

    class Vertex(gl.Vertex):
        friend: gl.VertexId = gl.NOBODY
        friends: gl.SortedSet[gl.VertexId]
        heard: gl.List[gl.VertexId]
        last: gl.VertexId = gl.NOBODY
        most: gl.VertexId = gl.NOBODY
        common: int = 0

    class Met(gl.Accumulator):
        friends: int
        ends: int

    def largest(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[gl.VertexId]:
        return nbr.id

    def befriend(self, v: Vertex, total: gl.VertexId) -> None:
        if v.degree % 2 == 0:
            v.friend = total

    def around(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        return nbr.friend

    def keep(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v.friends = total
        v.last = total[len(total) - 1] if len(total) > 0 else v.id

    def hear(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[gl.VertexId]:
        return nbr.friend if v.id < nbr.id else nbr.last

    def listen(self, v: Vertex, total: gl.List[gl.VertexId]) -> None:
        v.heard = total
        if len(total) > 0:
            v.most = gl.mode(total)

    def meet(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return gl.common(v.friends, nbr.friends)

    def count(self, v: Vertex, total: int) -> None:
        v.common = 1000 * total
        v.common += 100 * int(gl.NOBODY in v.friends) + 10 * int(v.most in v.friends)
        v.common += int(v.friend in v.friends) + 2 * int(v.friend in v.heard)
        for y in v.heard:
            v.common += 10000 * int(y == v.friend)

    def weigh(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Met:
        return self.Met(friends=gl.common(v.friends, nbr.friends), ends=nbr.degree)

    def weighed(self, v: Vertex, total: Met) -> None:
        v.common += 100_000 * total.friends * total.ends

    phases = (
        gl.Phase(gather=largest, apply=befriend, gather_edges=gl.IN, supersteps=1),
        gl.Phase(gather=around, apply=keep, gather_edges=gl.ALL, supersteps=1),
        gl.Phase(gather=hear, apply=listen, gather_edges=gl.ALL, supersteps=1),
        gl.Phase(gather=meet, apply=count, gather_edges=gl.ALL, supersteps=1),
        gl.Phase(gather=weigh, apply=weighed, gather_edges=gl.ALL, supersteps=1),
    )


@given(strategy=st.sampled_from(STRATEGIES))
def test_either_no_vertex_is_nobody_in_a_list(ranks: Ranks, strategy: str) -> None:
    """Vertex 1 has an even degree, so that it keeps what `gl.Max` is over no edges."""
    ends = [(1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (4, 6), (7, 7)]
    drawn = Drawn([*range(1, 9)], ends, {"weight": [1.0] * 7, "cost": [0] * 7}, directed=True)
    agree(ranks, Task("tests.language.test_lists_of_ids:Strangers", drawn, 9), strategy, 0)


class Kept(gl.VertexProgram):
    class Vertex(gl.Vertex):
        row: gl.List[gl.VertexId]
        friends: gl.SortedSet[gl.VertexId]
        n: int = 0

    def apply(self, v: Vertex) -> None:
        v.n = len(v.row) + 10 * int(gl.NOBODY in v.friends) + 100 * int(gl.NOBODY in v.row)


@pytest.mark.parametrize("how", [{"engine": "reference"}, {"compile": "never"}, {"compile": "require"}])
def test_lists_with_no_vertex_are_given(hosts: Hosts, how: dict[str, str]) -> None:
    for rows, numbers in hosts(2).run(given_again, how):
        assert rows == [[2, -1], [], [-1]]
        assert numbers == [112, 0, 111]


def given_again(comm: Any, how: dict[str, str]) -> tuple[Any, Any]:
    """Return lists that were given twice, the second time as the result of the first run."""
    graph = gl.Graph.from_edges([1], [2], vertices=[3], comm=comm)
    rows = {1: [2, gl.NOBODY], 3: [gl.NOBODY]}
    first = gl.run(Kept(), graph, max_iterations=1, init={"row": rows, "friends": rows}, **how)
    again = gl.run(Kept(), graph, max_iterations=1, init={"row": first, "friends": first}, **how)
    return again.vertices["row"].tolist(), again.vertices["n"].tolist()


def test_sets_of_ids_are_marked_where_gather_compares_them() -> None:
    *_, last = parse_phases(TriangleCount)
    assert marked_field(last) is not None


@given(drawn=graphs(), data=st.data())
def test_no_vertex_in_lists_of_ids(ranks: Ranks, drawn: Drawn, data: st.DataObject) -> None:
    some = st.sampled_from(drawn.ids)
    task = Task(
        "tests.language.test_lists_of_ids:Strangers",
        drawn,
        9,
        init={"friend": data.draw(st.dictionaries(some, some))},
    )
    agree(ranks, task, data.draw(st.sampled_from(STRATEGIES)), 0)


def test_a_graph_of_more_vertices_than_a_list_of_ids_names_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lists, "MOST_VERTICES", 3)
    graph = gl.Graph.from_edges([1, 2, 3], [2, 3, 4], directed=False)
    with pytest.raises(
        gl.UsageError, match=r"TriangleCount collects vertex ids .* 3 vertices; the graph has 4"
    ):
        gl.triangles(graph, per_vertex=False)
    gl.pagerank(graph)
