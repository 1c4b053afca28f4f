"""Messages, totals, fields and graphs of all kinds without supersteps: the fixed points of supersteps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support import unordered_records as programs
from tests.support.graphs import STRATEGIES, Drawn, graphs

PLAIN = [
    ("relaxed", "fifo"), ("relaxed", "sweep"), ("relaxed", "random"),
    ("serialisable", "fifo"), ("serialisable", "sweep"), ("serialisable", "random"),
]  # fmt: skip
ORDER = ("turns", "improved")  # fields of the run's course, not of its answer


def answer(program: gl.VertexProgram, graph: gl.Graph, **options: Any) -> dict[str, Any]:
    """Return all fields, of vertices by id and of edges sorted."""
    result = gl.run(program, graph, edges=True, **options)
    assert result.converged
    tables: dict[str, Any] = {
        name: {v: str(x) for v, x in zip(result.vertices.ids, result.vertices[name], strict=True)}
        for name in result.vertices.columns if name not in ORDER
    }  # fmt: skip
    for name in result.edges.columns:
        tables[f"edges {name}"] = sorted(
            map(str, zip(*map(list, result.edges.ids), result.edges[name].tolist(), strict=True))
        )
    return tables


def outcome(comm: Comm, drawn: Drawn, way: tuple[str, str], strategy: str) -> list[tuple[str, Any, Any]]:
    """Return of every program what it found without supersteps, and with them."""
    graph, source = drawn.build(comm, strategy), drawn.ids[0]
    found: list[tuple[str, Any, Any]] = []
    for program in (
        programs.Bundles(), programs.Ways(source=source), programs.Least(), programs.Gathered(),
        programs.Narrow(source=source), programs.Upstream(), programs.Echoes(), programs.Alone(),
    ):  # fmt: skip
        consistency, scheduler = way
        if isinstance(program, programs.Ways) and scheduler == "sweep":
            scheduler = "priority"
        mine = answer(program, graph, engine=gl.Async(consistency=consistency, scheduler=scheduler))
        found.append((type(program).__name__, mine, answer(program, graph)))
    return found


@pytest.mark.slow
@settings(max_examples=max(settings.default.max_examples // 2, 2))
@given(drawn=graphs(), way=st.sampled_from(PLAIN), strategy=st.sampled_from(STRATEGIES))
def test_records_of_all_kinds_come_to_the_same(
    ranks: Ranks, drawn: Drawn, way: tuple[str, str], strategy: str
) -> None:
    for found in ranks.run(outcome, drawn, way, strategy, timeout=120):
        for name, mine, expected in found:
            assert mine == expected, name


WHOLE = Drawn(
    list(range(9)),
    [(0, 1), (0, 1), (1, 1), (1, 2), (2, 0), (3, 0), (0, 4), (4, 0), (5, 0), (0, 6), (6, 2), (7, 7)],
    {"weight": [k / 8 for k in range(1, 13)], "cost": [k % 5 for k in range(12)]},
    True,
)


@pytest.mark.parametrize("way", PLAIN, ids="-".join)
def test_every_way_on_a_graph_with_loops_parallel_edges_and_a_lonely_vertex(
    hosts: Any, way: tuple[str, str]
) -> None:
    for found in hosts(3).run(outcome, WHOLE, way, "random", timeout=120):
        for name, mine, expected in found:
            assert mine == expected, name


def odd(comm: Comm, consistency: str) -> list[tuple[str, Any, Any]]:
    """Compare on a graph without vertices, without edges, smaller than the ranks are many, of two sides."""
    some: list[Any] = [
        programs.Least(),
        programs.Echoes(),
        programs.Upstream(),
        programs.Alone(),
    ]
    graphs = {
        "empty": gl.Graph.from_edges([], [], comm=comm),
        "without edges": gl.Graph.from_edges([], [], vertices=[5, 7, 9], comm=comm),
        "small": gl.Graph.from_edges([0], [1], comm=comm),
        "bipartite": gl.Graph.from_edges([0, 0, 1, 2], [0, 1, 1, 0], bipartite=True, comm=comm),
    }
    return [
        (f"{type(program).__name__} {name}", answer(program, graph, engine=gl.Async(consistency=consistency)),
         answer(program, graph))
        for name, graph in graphs.items() for program in some
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("consistency", ["relaxed", "serialisable"])
def test_graphs_of_hardly_anything_and_of_two_sides(hosts: Any, consistency: str) -> None:
    for size in (1, 3):
        for found in hosts(size).run(odd, consistency):
            for name, mine, expected in found:
                assert mine == expected, name
