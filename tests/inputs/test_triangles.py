"""Triangles on the inputs of reports about other systems."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from tests.mpi.ranks import Ranks
from tests.support.inputs import Input, Refused, as_edges, check

# jgrapht#981: 45 edges; 14 and 17 have none.
JGRAPHT = """
0-1 1-2 0-3 1-3 2-5 3-5 4-5 1-6 2-6 1-7 2-7 3-7 4-7 1-8 2-8 2-9 1-10 7-10 1-11 2-11 2-12 3-13 4-13 1-15 6-15
9-15 1-16 4-16 11-16 1-18 2-18 1-19 3-19 6-19 1-20 2-20 2-21 3-21 3-22 5-22 10-22 3-23 19-23 1-24 2-24
"""
PAIRS = [tuple(map(int, pair.split("-"))) for pair in JGRAPHT.split()]
ENDS = [u for u, _ in PAIRS], [v for _, v in PAIRS]
TWICE = [*ENDS[0], *ENDS[1][:20]], [*ENDS[1], *ENDS[0][:20]]  # some edges again, turned round
PARALLEL = [0, 0, 0, 1], [1, 1, 2, 2]
TWO = [0, 1, 2, 3, 3, 4], [1, 2, 0, 4, 5, 5]


def each(graph: gl.Graph) -> dict[Any, int]:
    return gl.triangles(graph).vertices.to_dict("triangles")


def both(graph: gl.Graph) -> list[int]:
    """Return how many triangles there are, counted per vertex and together."""
    return [gl.triangles(graph, per_vertex=way).metrics["triangles"] for way in (True, False)]


def rmat(comm: Comm) -> gl.Graph:
    simple = {"drop_duplicates": True, "drop_self_loops": True}
    return gl.Graph.generate("rmat", scale=8, edge_factor=8, seed=2, comm=comm, **simple)


def parts_and_triangles(graph: gl.Graph) -> list[int]:
    parts = len(set(gl.components(graph).vertices["component"].tolist()))
    return [parts, *both(graph.to_undirected(parallel="first"))]


INPUTS = {
    "a loop": Input(
        "LightGraphs#1265", as_edges([1, 2, 3, 2], [2, 3, 1, 2], directed=False), each, {1: 1, 2: 1, 3: 1}
    ),
    "an edge twice": Input(
        "networkit#953",
        as_edges(*PARALLEL, directed=False), each, Refused("parallel edges.*drop_duplicates=True"),
    ),
    "an edge twice, dropped": Input(
        "networkit#953",
        as_edges(*PARALLEL, directed=False, drop_duplicates=True), each, {0: 1, 1: 1, 2: 1},
    ),
    "45 edges": Input(
        "jgrapht#981", as_edges(*ENDS, directed=False, vertices=range(25)), both, [16, 16]
    ),
    "45 edges, some twice": Input(
        "jgrapht#981", as_edges(*TWICE, directed=False, vertices=range(25)), both, Refused("parallel edges")
    ),
    "45 edges, some twice, dropped": Input(
        "jgrapht#981",
        as_edges(*TWICE, directed=False, vertices=range(25), drop_duplicates=True), both, [16, 16],
    ),
    "directions": Input("Galois#47", as_edges(*TWO, directed=False), both, [2, 2]),
    "workers": Input("GraphScope#3779, GraphScope#2484", rmat, parts_and_triangles, [41, 3880, 3880]),
}  # fmt: skip


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_triangles(ranks: Ranks, name: str) -> None:
    check(ranks, __name__, name)


def test_the_answers_are_networkx_s() -> None:
    plain = nx.Graph(PAIRS)
    assert (plain.size(), sum(nx.triangles(plain).values()) // 3) == (45, 16)
    source, target = rmat(world()).edges()
    graph = nx.Graph(zip(source.tolist(), target.tolist(), strict=True))
    graph.add_nodes_from(range(256))
    counted = [nx.number_connected_components(graph), sum(nx.triangles(graph).values()) // 3]
    assert counted == INPUTS["workers"].answer[:2]
