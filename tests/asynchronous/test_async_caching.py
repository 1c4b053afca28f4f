"""Gathers cached by programs that post changes, without supersteps: the same fixed points as with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support import cached_programs as programs
from tests.support.graphs import STRATEGIES, Drawn, graphs, hubs

WAYS = [("relaxed", "fifo"), ("relaxed", "sweep"), ("relaxed", "random"), ("serialisable", "fifo")]


def outcome(comm: Comm, drawn: Drawn, ways: list[Any], strategy: str) -> list[tuple[dict[Any, Any], ...]]:
    """Return what programs find that post, without supersteps and with them."""
    graph = drawn.build(comm, strategy)
    compared = []
    for consistency, scheduler in ways:
        options = {"engine": gl.Async(consistency=consistency, scheduler=scheduler)}
        program: gl.VertexProgram
        for program, field in (
            (programs.Peeled(k=2), "stays"),
            (programs.Peeled(k=4), "stays"),
            (programs.Nearest(source=drawn.ids[0]), "level"),
        ):
            found, expected = gl.run(program, graph, **options), gl.run(program, graph)
            assert found.converged
            compared.append((found.vertices.to_dict(field), expected.vertices.to_dict(field)))
    return compared


def with_ways(drawn: Drawn) -> Drawn:
    columns = {"way": [7 * k % 3 for k in range(len(drawn.edges))]}
    return Drawn(drawn.ids, drawn.edges, columns, drawn.directed)


@pytest.mark.slow
@settings(max_examples=max(settings.default.max_examples // 2, 2))
@given(drawn=graphs(), way=st.sampled_from(WAYS), strategy=st.sampled_from(STRATEGIES))
def test_fixed_points_are_those_of_supersteps(ranks: Ranks, drawn: Drawn, way: Any, strategy: str) -> None:
    for compared in ranks.run(outcome, with_ways(drawn), [way], strategy):
        for found, expected in compared:
            assert found == expected


@pytest.mark.slow
def test_every_way_finds_the_fixed_points_of_a_graph_with_hubs(ranks: Ranks) -> None:
    for compared in ranks.run(outcome, with_ways(hubs()), WAYS, "random"):
        for found, expected in compared:
            assert found == expected


def ranking(comm: Comm, drawn: Drawn) -> list[float]:
    graph = drawn.build(comm)
    exact = gl.run(programs.Flowing(tolerance=1e-13), graph).vertices["score"]
    off = []
    for engine in (gl.Async(), gl.Async(scheduler="sweep"), gl.Async(consistency="serialisable")):
        found = gl.run(programs.Flowing(), graph, engine=engine).vertices["score"]
        off.append(float(np.abs(found - exact).max()))
    return off


@pytest.mark.slow
def test_ranks_converge_where_all_changes_are_posted(ranks: Ranks) -> None:
    for off in ranks.run(ranking, hubs()):
        assert max(off) < 1e-5  # of a score; 1e-9 of a share is let pass, by each of many


def test_apply_gets_the_cached_total() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2])
    for scheduler in ("fifo", "sweep"):
        result = gl.run(programs.Boasting(), graph, engine=gl.Async(scheduler=scheduler))
        assert result.vertices["heard"].tolist() == [0, 100, 100]
        assert "gathers" not in result.metrics  # which the synchronous engine counts
