"""Cuts and sizes of reports about other systems: all parts are there, too many edges are refused early."""

from __future__ import annotations

import json
from pathlib import Path
from unittest import mock

import networkx as nx
import numpy as np
import pytest

import gaslab as gl
from gaslab.ingest import generate
from gaslab.ingest.arrays import edges_from_arrays
from gaslab.parallel.comm import Comm
from gaslab.partitioning.cut import cut
from tests.conftest import LONG
from tests.mpi.ranks import Ranks
from tests.support.command_line import Run, gaslab, on_ranks
from tests.support.inputs import Input, Refused, check
from tests.support.strategies import COMPARED, STRATEGIES

__all__ = ["gaslab"]  # a fixture
KARATE = nx.karate_club_graph()
MANY = 34  # parts: one for each vertex
PARTS = range(8, MANY + 1) if LONG else (8, 9, 16, 25, 33, MANY)


def edges_of_parts(comm: Comm) -> list[tuple[int, bool]]:
    """Return how many edges the parts hold and whether each part that is named is there, for every cut.

    The karate club, undirected and directed, with three isolated vertices, in 8 to 34 parts.
    """
    src, dst = map(list, zip(*KARATE.edges(), strict=True))
    found = []
    for directed in (False, True):
        edges = edges_from_arrays(src, dst, comm, vertices=range(37), directed=directed)
        for k in PARTS:
            for strategy in STRATEGIES:
                part = np.concatenate(comm.allgather_array(cut(edges, k, strategy, comm).part))
                found.append((part.size, bool((part >= 0).all() and (part < k).all())))
    return found


def three_times_too_many(comm: Comm) -> gl.Graph:
    """Ask for 3 * 2**31 edges; that any were made would be an error of another kind."""
    with mock.patch.object(generate, "kernels"):
        return gl.Graph.generate("erdos-renyi", vertices=5, edges=3 * 2**31, comm=comm)


INPUTS = {
    "the karate club in many parts": Input(
        "pytorch_geometric#2872, pytorch_geometric#3222", edges_of_parts, lambda found: sorted(set(found)),
        [(78, True)],
    ),
    "more edges than 32 bits number": Input(
        "ParMETIS#8, cugraph#4076", three_times_too_many, lambda graph: graph.num_edges,
        Refused(r"InputError: 6442450944 edges are more than the \d+ that [13] ranks? can hold"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_cuts(ranks: Ranks, name: str) -> None:
    check(ranks, __name__, name)


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_karate_club_in_as_many_parts_as_vertices(gaslab: Run, ranks: int, tmp_path: Path) -> None:
    path, report = tmp_path / "karate.txt", tmp_path / "cut.json"
    path.write_text("".join(f"{u} {v}\n" for u, v in KARATE.edges()))
    words = ("partition", path, "-k", MANY, "--undirected", "-q", "--json", report)
    done = gaslab(*words) if ranks == 1 else on_ranks(ranks, *words)
    assert done.code == 0, done.err
    cuts = json.loads(report.read_text())["cuts"]
    assert [made["strategy"] for made in cuts] == list(COMPARED)
    assert all(1.0 <= made["replication_factor"] <= MANY for made in cuts)
