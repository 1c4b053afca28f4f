"""Independent sets and colourings against a sequential pass and NetworkX."""

from __future__ import annotations

from hypothesis import given

from tests.graphs import Drawn, graphs
from tests.toolkit import answer, as_networkx


@given(drawn=graphs())
def test_an_independent_set_is_that_of_a_pass_by_id(drawn: Drawn) -> None:
    graph = as_networkx(drawn, simple=True)
    members: set[object] = set()
    for vertex in drawn.ids:
        if not members & set(graph[vertex]):
            members.add(vertex)
    found = answer(drawn, "mis", "member")["member"]
    assert {v for v, inside in zip(drawn.ids, found, strict=True) if inside} == members
