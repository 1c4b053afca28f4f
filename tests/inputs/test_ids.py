"""Vertex ids of the inputs of reports about other systems: kept exactly, never merged."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pandas as pd
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.inputs import Input, as_edges, check

WIDE = [-5, 2**32 + 1], [2**32 + 1, 2**63 - 1]
DEGREES = {-5: 1, 2**32 + 1: 2, 2**63 - 1: 1}
USERS = [7, 7, 1205640308657491975]


def degrees(graph: gl.Graph) -> dict[Any, int]:
    return gl.degrees(graph).vertices.to_dict("edges")


def of_networkx(comm: Comm) -> gl.Graph:
    return gl.Graph.from_networkx(nx.DiGraph(zip(*WIDE, strict=True)), comm=comm)


def of_pandas(comm: Comm) -> gl.Graph:
    return gl.Graph.from_pandas(pd.DataFrame({"source": WIDE[0], "target": WIDE[1]}), comm=comm)


def ratings(comm: Comm) -> gl.Graph:
    stars = {"rating": [3.0, 4.0, 5.0]}
    return gl.Graph.from_edges(USERS, [1, 2, 1], columns=stars, bipartite=True, comm=comm)


INPUTS = {
    "wide integers": Input("cugraph#488, graphia#74", as_edges(*WIDE), degrees, DEGREES),
    "wide integers of NetworkX": Input("cugraph#488, graphia#74", of_networkx, degrees, DEGREES),
    "wide integers of pandas": Input("cugraph#488, graphia#74", of_pandas, degrees, DEGREES),
    "leading zeros": Input(
        "Raphtory#1315", as_edges(["01", "1"], ["001", "01"]), degrees, {"01": 2, "001": 1, "1": 1}
    ),
    "leading zeros and a number": Input(
        "Raphtory#1315", as_edges(["01", 1], ["001", "01"]), degrees, {"01": 2, "001": 1, 1: 1}
    ),
    "a user beyond 32 bits": Input(
        "SPARK-2465, spark#9361",
        ratings,
        lambda graph: gl.als(graph, factors=2, iterations=2).tables["user_factors"].ids.tolist(),
        [7, 1205640308657491975],
    ),
}


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_ids(ranks: Ranks, name: str) -> None:
    check(ranks, __name__, name)
