"""Components, cores and label propagation on the inputs of reports about other systems."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
import scipy.sparse as sp

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.inputs import Input, as_edges, check

TREE = [["X", "X", "Y", "Z"], ["Y", "Z", "A", "B"]]


def labels(graph: gl.Graph, rounds: int) -> dict[Any, Any]:
    return gl.cdlp(graph, iterations=rounds).vertices.to_dict("label")


def swinging(graph: gl.Graph) -> list[Any]:
    """Return the labels of two runs of ten rounds and one of nine, and the rounds of the first."""
    return [labels(graph, 10), labels(graph, 10), labels(graph, 9), gl.cdlp(graph).iterations]


def components(graph: gl.Graph) -> dict[Any, Any]:
    return gl.components(graph).vertices.to_dict("component")


def matrix(*rows: list[int]) -> Any:
    def make(comm: Comm) -> gl.Graph:
        return gl.Graph.from_scipy(sp.csr_array(list(rows)), comm=comm)

    return make


EVEN = {"A": "A", "B": "A", "X": "A", "Y": "Y", "Z": "Y"}
ODD = {"A": "Y", "B": "Y", "X": "Y", "Y": "A", "Z": "A"}
LOOPS = [0, 1, 2, 3, 4]

INPUTS = {
    "both ways": Input(  # 1 sees label 2 twice and label 0 once; if once each, the smaller would win
        "samyama#1076", as_edges([1, 2, 0], [2, 1, 1]), lambda graph: labels(graph, 1), {0: 1, 1: 2, 2: 1}
    ),
    "labels that swing": Input(
        "graphiti#1456", as_edges(*TREE, [2, 2, 1, 1], directed=False), swinging, [EVEN, EVEN, ODD, 10]
    ),
    "strong components": Input(
        "cugraph#1471",
        as_edges([0, 1, 2, 3, *LOOPS], [1, 0, 0, 1, *LOOPS]),
        lambda graph: gl.strong_components(graph).vertices.to_dict("component"),
        {0: 0, 1: 0, 2: 2, 3: 3, 4: 4},
    ),
    "an empty row": Input(
        "cugraph#1478", matrix([1, 1, 0], [1, 0, 0], [0, 0, 0]), components, {0: 0, 1: 0, 2: 2}
    ),
    "an empty matrix": Input("rapids-singlecell#474", matrix([0]), components, {0: 0}),
    "large ids": Input(
        "cugraph#2869",
        as_edges([9001, 9002, 9003], [9003, 9002, 9001]), components, {9001: 9001, 9002: 9002, 9003: 9001},
    ),
    "a core of a loop": Input(
        "pgRouting#3137",
        as_edges([0, 1], [0, 2], directed=False),
        lambda graph: gl.kcore(graph).vertices.to_dict("core"), {0: 2, 1: 1, 2: 1},
    ),
    "a core of a loop, dropped": Input(
        "pgRouting#3137",
        as_edges([0, 1], [0, 2], directed=False, vertices=[0], drop_self_loops=True),
        lambda graph: gl.kcore(graph).vertices.to_dict("core"), {0: 0, 1: 1, 2: 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_groups(ranks: Ranks, name: str) -> None:
    check(ranks, __name__, name)


def test_networkx_refuses_the_core_of_a_loop() -> None:
    with pytest.raises(nx.NetworkXNotImplemented, match="self loops"):
        nx.core_number(nx.Graph([(0, 0), (1, 2)]))
