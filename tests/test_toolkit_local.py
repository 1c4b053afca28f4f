"""Independent sets and colourings against a sequential pass and NetworkX."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.comm import world
from tests.graphs import Drawn, graphs
from tests.toolkit import answer, as_networkx


@given(drawn=graphs())
def test_an_independent_set_is_that_of_a_pass_by_id(drawn: Drawn) -> None:
    graph = as_networkx(drawn, simple=True)
    members: set[object] = set()
    for vertex in drawn.ids:
        if not members & set(graph[vertex]):
            members.add(vertex)
    found = answer(drawn, "mis", "member", order="id")["member"]
    assert {v for v, inside in zip(drawn.ids, found, strict=True) if inside} == members


@given(drawn=graphs(), seed=st.integers(0, 5))
def test_a_random_independent_set_is_maximal(drawn: Drawn, seed: int) -> None:
    graph = as_networkx(drawn, simple=True)
    found = answer(drawn, "mis", "member", seed=seed)["member"]
    inside = {v for v, is_member in zip(drawn.ids, found, strict=True) if is_member}
    assert all(bool(inside & set(graph[v])) is (v not in inside) for v in drawn.ids)
    assert answer(drawn, "mis", "member", seed=seed) == {"member": found}


def test_seeds_give_different_sets_in_few_supersteps() -> None:
    graph = gl.Graph.from_edges(range(500), range(1, 501), comm=world())
    results = [gl.mis(graph, seed=seed) for seed in range(3)]
    assert len({tuple(result.vertices["member"]) for result in results}) == 3
    assert all(result.iterations < 30 for result in results)
    assert gl.mis(graph, order="id").iterations > 400
    with pytest.raises(gl.UsageError, match="order='ids' is unknown; did you mean 'id'"):
        gl.mis(graph, order="ids")
