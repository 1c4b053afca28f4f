"""Shortest paths, and weights at all, on the inputs of reports about other systems."""

from __future__ import annotations

import math
from typing import Any

import pytest
import scipy.sparse as sp

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.inputs import Input, Refused, as_edges, check

PATH = [1, 2], [2, 3]
TRIANGLE = [1, 2, 1], [2, 3, 3], [0.5, 0.8, 0.0]


def lengths(graph: gl.Graph, source: int = 1, **options: Any) -> dict[Any, float]:
    return gl.sssp(graph, source, **options).vertices.to_dict("distance")


def zeros(comm: Comm) -> gl.Graph:
    """Return the triangle as a symmetric matrix that stores a zero."""
    rows, columns = [0, 1, 0, 1, 2, 2], [1, 2, 2, 0, 1, 0]
    stored = sp.coo_array(([0.5, 0.8, 0.0, 0.5, 0.8, 0.0], (rows, columns)), shape=(3, 3))
    return gl.Graph.from_scipy(stored, directed=False, comm=comm)


def loop(comm: Comm) -> gl.Graph:
    return gl.Graph.from_scipy(sp.coo_array(([3.5], ([0], [0])), shape=(1, 1)), directed=False, comm=comm)


def edges_and_weight(graph: gl.Graph) -> list[float]:
    return [graph.num_edges, float(graph.comm.allreduce(float(graph.edge_columns["weight"].sum())))]


INPUTS = {
    "a negative weight": Input(
        "gapbs#32, CXXGraph#166, socnetv#277",
        as_edges(*PATH, [3.0, -1.0]), lengths,
        Refused("'weight' is -1.0 on the edge 2 -> 3; at least 0 is needed"),
    ),
    "a negative weight, delta-stepping": Input(
        "gapbs#32, CXXGraph#166, socnetv#277",
        as_edges(*PATH, [3.0, -1.0]), lambda graph: lengths(graph, delta=1.0),
        Refused("-1.0 on the edge 2 -> 3"),
    ),
    "an edge of length 0": Input(
        "SimpleWeightedGraphs#24, KaHIP#58",
        as_edges(*TRIANGLE, directed=False), lambda graph: {**lengths(graph), "edges": graph.num_edges},
        {1: 0.0, 2: 0.5, 3: 0.0, "edges": 3},
    ),
    "a zero that is stored": Input(
        "SimpleWeightedGraphs#24, KaHIP#58",
        zeros, lambda graph: {**lengths(graph, 0), "edges": graph.num_edges},
        {0: 0.0, 1: 0.5, 2: 0.0, "edges": 3},
    ),
    "infinite": Input(
        "Effect#6426, igraph#2222", as_edges(*PATH, [1.0, math.inf]), lengths, {1: 0.0, 2: 1.0, 3: math.inf}
    ),
    "not a number": Input(
        "Effect#6426, igraph#2222",
        as_edges(*PATH, [1.0, math.nan]), lengths, Refused("'weight'.*nan.*position 1"),
    ),
    "minus infinite": Input(
        "Effect#6426, igraph#2222",
        as_edges(*PATH, [1.0, -math.inf]), lengths, Refused("-inf on the edge 2 -> 3"),
    ),
    "a loop with a weight": Input("arkouda-njit#130", loop, edges_and_weight, [1, 3.5]),
    "a loop with a weight, of a list": Input(
        "arkouda-njit#130", as_edges([0], [0], [3.5], directed=False), edges_and_weight, [1, 3.5]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_paths(ranks: Ranks, name: str) -> None:
    check(ranks, __name__, name)
