"""Louvain and weighted label propagation: communities that NetworkX judges, and labels that are settled."""

from __future__ import annotations

import re
from typing import Any

import networkx as nx
import numpy as np
import pytest

import gaslab as gl
from examples.louvain import louvain
from examples.weighted_labels import WeightedLabels
from tests.mpi.ranks import Ranks
from tests.toolkit.test_examples import IMPORTS, on_ranks, output_of


def imports() -> nx.MultiGraph:
    """Return the standard library's imports without direction; two modules may import each other."""
    return nx.read_edgelist(IMPORTS, create_using=nx.MultiGraph, data=[("weight", float)])


def judged(graph: nx.Graph, names: list[Any], community: np.ndarray) -> float:
    """Return the modularity of communities by their numbers."""
    groups: dict[int, set[Any]] = {}
    for name, one in zip(names, community.tolist(), strict=True):
        groups.setdefault(one, set()).add(name)
    return float(nx.community.modularity(graph, list(groups.values()), weight="weight"))


def best(graph: nx.Graph) -> float:
    communities = nx.community.louvain_communities(graph, weight="weight", seed=1)
    return float(nx.community.modularity(graph, communities, weight="weight"))


def found(comm: Any) -> list[tuple[list[int], float]]:
    club = nx.karate_club_graph()
    loops = nx.Graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3), (0, 0)], weight=1.0)
    nx.set_edge_attributes(loops, 2.0, "weight")
    answers = []
    for graph in (club, loops):
        community, modularity = louvain(gl.Graph.from_networkx(graph, comm=comm), "weight")
        answers.append((community.tolist(), modularity))
    return answers


def test_louvain_on_ranks(ranks: Ranks) -> None:
    club = nx.karate_club_graph()
    loops = nx.Graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3), (0, 0)])
    nx.set_edge_attributes(loops, 2.0, "weight")
    of_ranks = ranks.run(found)
    assert all(one == of_ranks[0] for one in of_ranks)
    for graph, (community, modularity) in zip((club, loops), of_ranks[0], strict=True):
        assert judged(graph, sorted(graph), np.array(community)) == pytest.approx(modularity, abs=1e-12)
        assert modularity >= 0.9 * best(graph)
    assert len({*of_ranks[0][1][0][:3]}) == len({*of_ranks[0][1][0][3:]}) == 1  # the two triangles


@pytest.mark.slow
@on_ranks
def test_louvain_script(ranks: int) -> None:
    head, *shown = output_of(ranks, "examples/louvain.py").splitlines()
    count, modularity = re.fullmatch(r"(\d+) communities of modularity (\d\.\d+)", head).groups()  # type: ignore[union-attr]
    assert len(shown) == min(int(count), 8)
    community, exact = louvain(gl.read_graph(IMPORTS, directed=False), "weight")
    assert exact == pytest.approx(float(modularity), abs=6e-5)
    graph = imports()
    assert judged(graph, sorted(graph), community) == pytest.approx(exact, abs=1e-12)
    assert exact >= 0.93 * best(graph)


@pytest.mark.slow
@on_ranks
def test_weighted_labels_script(ranks: int) -> None:
    head, *shown = output_of(ranks, "examples/weighted_labels.py").splitlines()
    count, supersteps = map(int, re.findall(r"\d+", head))
    assert supersteps < 200
    sizes = [int(line.split()[0]) for line in shown]
    assert sizes == sorted(sizes, reverse=True)
    graph = gl.read_graph(IMPORTS, directed=False)
    result = gl.run(WeightedLabels(), graph, max_iterations=200, seed=1)
    label = result.vertices.to_dict("label")
    assert len({*label.values()}) == count
    plain = imports()
    for v in plain:
        weights: dict[str, float] = {}
        for _, other, weight in plain.edges(v, data="weight"):
            weights[label[other]] = weights.get(label[other], 0.0) + weight
        assert weights.get(label[v], 0.0) == max(weights.values())
