"""PageRank and HITS on the inputs of reports about other systems."""

from __future__ import annotations

from typing import Any

import pytest

import gaslab as gl
from tests.mpi.ranks import Ranks
from tests.support.inputs import Input, Refused, as_edges, check

EXACT = {"tolerance": 1e-13, "max_iterations": 3000}


def scores(graph: gl.Graph, **options: Any) -> dict[Any, float]:
    return gl.pagerank(graph, **{**EXACT, **options}).vertices.to_dict("score")


def sums(graph: gl.Graph) -> list[float]:
    ways: list[dict[str, Any]] = [{}, {"method": "signal"}, {"engine": "async", "max_iterations": None}]
    return [sum(scores(graph, **way).values()) for way in ways]


def twice(graph: gl.Graph) -> dict[Any, float]:
    """Return PowerGraph's scores after two iterations that start from 0.15 everywhere."""
    start = {"score": 0.15, "share": 0.15}
    return scores(graph, unnormalised=True, init=start, tolerance=0.0, max_iterations=2)


TO_A_SINK = [0, 1, 2, 3], [1, 3, 3, 3]
RING = [1, 2, 3, 2], [2, 3, 1, 1]

INPUTS = {
    "no mass on a vertex": Input(
        "networkx#978",
        as_edges([1], [2]), lambda graph: scores(graph, personalization={1: 0, 2: 1}), {1: 0.0, 2: 1.0},
    ),
    "one vertex of many": Input(  # 1 + 0.85 + 0.7225 times the score of vertex 1 is all there is
        "cugraph#961",
        as_edges([0, 1, 2], [1, 2, 3]), lambda graph: scores(graph, personalization={1: 1}),
        {0: 0.0, 1: 1 / 2.5725, 2: 0.85 / 2.5725, 3: 0.7225 / 2.5725},
    ),
    "no vertices": Input(
        "networkit#1475, MatrixNetworks#36",
        as_edges([], []),
        lambda graph: [scores(graph), gl.strong_components(graph).vertices.to_dict("component")], [{}, {}],
    ),
    "one loop": Input(
        "igraph#277",
        as_edges([0], [0]),
        lambda graph: [*(gl.hits(graph).vertices[name][0] for name in ("hub", "authority"))], [1.0, 1.0],
    ),
    "a weight of 0": Input(
        "igraph#2260",
        as_edges(*RING, [1.0, 2.0, 3.0, 0.0]), lambda graph: scores(graph, weight="weight"),
        {1: 1 / 3, 2: 1 / 3, 3: 1 / 3},
    ),
    "a weight of -1": Input(
        "igraph#2260",
        as_edges(*RING, [1.0, 2.0, 3.0, -1.0]), lambda graph: scores(graph, weight="weight"),
        Refused("^UsageError: edge column 'weight' is -1.0 on the edge 2 -> 1; .* at least 0 is needed"),
    ),
    "out-edges that all weigh 0": Input(  # 0 and 2 are sinks: all scores are 1 / 3.85, 0's more by 0.85 of it
        "graphblas-algorithms#1",
        as_edges([0, 0, 1], [1, 2, 0], [0.0, 0.0, 1.0]), lambda graph: scores(graph, weight="weight"),
        {0: 1.85 / 3.85, 1: 1 / 3.85, 2: 1 / 3.85},
    ),
    "sinks": Input("spark#16483", as_edges([1, 1, 4], [2, 3, 1]), sums, [1.0, 1.0, 1.0]),
    "unnormalised": Input(  # the limit of x = .15 + .85 (.2775 + .15 + x)
        "graphx#143",
        as_edges(*TO_A_SINK), lambda graph: scores(graph, unnormalised=True),
        {0: 0.15, 1: 0.2775, 2: 0.15, 3: 3.4225},
    ),
    "unnormalised, two iterations": Input(
        "graphx#143", as_edges(*TO_A_SINK), twice, {0: 0.15, 1: 0.2775, 2: 0.15, 3: 0.966}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_rankings(ranks: Ranks, name: str) -> None:
    check(ranks, __name__, name)
