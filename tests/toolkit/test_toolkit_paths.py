"""Distances from several sources, and sketches of how far vertices reach, against NetworkX."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from tests.mpi.ranks import Ranks
from tests.support.graphs import Drawn, graphs
from tests.support.toolkit import MODES, answer, as_networkx


@pytest.mark.parametrize("weight", [None, "weight"])
@given(drawn=graphs(), data=st.data())
def test_distances_are_networkx_s(weight: str | None, drawn: Drawn, data: st.DataObject) -> None:
    sources = data.draw(st.lists(st.sampled_from(drawn.ids), min_size=1, unique=True), label="sources")
    graph = as_networkx(drawn)
    each = {s: nx.single_source_dijkstra_path_length(graph, s, weight=weight) for s in sources}
    far, nobody = math.inf, None if isinstance(drawn.ids[0], str) else -1
    expected = [min(each[s].get(v, far) for s in sources) for v in drawn.ids]
    position = {vertex: k for k, vertex in enumerate(drawn.ids)}
    nearest = [
        min((s for s in sources if each[s].get(v) == d), key=position.__getitem__, default=nobody)
        for v, d in zip(drawn.ids, expected, strict=True)
    ]
    found = answer(drawn, "distances", "distance", "nearest", sources=sources, weight=weight)
    assert found == {"distance": expected, "nearest": nearest}


def test_edges_of_length_zero() -> None:
    """A source that another one reaches in no distance belongs to the smaller of them."""
    columns = {"weight": [0.0, 0.0, 0.0, 2.0]}
    graph = gl.Graph.from_edges([5, 7, 3, 9], [7, 3, 4, 4], columns=columns, comm=world())
    result = gl.distances(graph, [5, 7, 9])
    assert result.vertices.to_dict("nearest") == {3: 5, 4: 5, 5: 5, 7: 5, 9: 9}
    assert result.vertices.to_dict("distance") == {3: 0, 4: 0, 5: 0, 7: 0, 9: 0}


def far_away(comm: Comm, delta: float, how: dict[str, Any]) -> list[float]:
    """Return distances along a path and a way round it; for `Ranks.run`."""
    ends = [0, 1, 2, 3, 0, 4, 0], [1, 2, 3, 4, 4, 5, 6]
    columns = {"weight": [1.0, 2.0**63, 1e300, math.inf, 1e301, 0.0, math.inf]}
    graph = gl.Graph.from_edges(*ends, columns=columns, comm=comm)
    return gl.sssp(graph, 0, delta=delta, **how).vertices["distance"].tolist()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("delta", [5e-324, 1e-300, 1.0, 2.0**-3, 1e300, 1e308])
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_distances_far_beyond_the_last_bucket(ranks: Ranks, delta: float, mode: str) -> None:
    """Bucket numbers are int64: a distance of 2**63 deltas and more has none of its own."""
    near = 1.0 + 2.0**63
    expected = [0.0, 1.0, near, near + 1e300, 1e301, 1e301, math.inf]
    assert ranks.run(far_away, delta, MODES[mode]) == [expected] * ranks.size


def test_shorter_ways_within_the_last_bucket() -> None:
    """The order within a bucket is any: a vertex runs again where a shorter way comes later."""
    src, dst = [0, 0, 1, 2, 3], [3, 1, 2, 3, 4]
    graph = gl.Graph.from_edges(src, dst, columns={"weight": [9.0, 2.0, 2.0, 2.0, 1.0]}, comm=world())
    for engine in ("sync", "async"):
        found = gl.sssp(graph, 0, delta=1e-300, engine=engine).vertices["distance"]
        assert found.tolist() == [0.0, 2.0, 4.0, 6.0, 7.0]


def chosen(comm: Comm, edges: list[tuple[int, int]], lengths: list[float]) -> tuple[str, Any, list[float]]:
    """Return the program that runs by default, its delta, and the distances."""
    graph = gl.Graph.from_edges(*zip(*edges, strict=True), columns={"weight": lengths}, comm=comm)
    result = gl.sssp(graph, edges[0][0])
    parameters = result.metrics["parameters"]
    return result.metrics["program"], parameters.get("delta"), result.vertices["distance"].tolist()


ROADS = [*nx.grid_2d_graph(30, 30).edges]
PLAIN = [(30 * a + b, 30 * c + d) for (a, b), (c, d) in ROADS]
STAR = [(0, k) for k in range(1, 400)] + [(k, k % 7 + 1) for k in range(20, 400, 3)]
MIXED = [1.0 + (37 * k) % 100 for k in range(len(PLAIN))]


@pytest.mark.parametrize(
    ("edges", "lengths", "program", "delta"),
    [
        (PLAIN, MIXED, "DeltaStepping", 256.0),  # 8 times the mean of 50.5 by the mean degree of 1.9
        (PLAIN, [1e-3 * x for x in MIXED[:-1]] + [math.inf], "DeltaStepping", 0.25),
        (PLAIN, [0.0] * len(PLAIN), "ShortestPaths", None),
        (PLAIN, [1.0] * len(PLAIN), "UnitPaths", None),
        (STAR, MIXED[: len(STAR)], "ShortestPaths", None),
    ],
    ids=["lengths", "an infinite length", "no length", "edges", "a hub"],
)
def test_how_paths_are_found_follows_from_the_graph(
    ranks: Ranks, edges: list[tuple[int, int]], lengths: list[float], program: str, delta: float | None
) -> None:
    net = nx.DiGraph()
    net.add_weighted_edges_from((*ends, x) for ends, x in zip(edges, lengths, strict=True) if x < math.inf)
    known = nx.single_source_dijkstra_path_length(net, edges[0][0])
    expected = [known.get(v, math.inf) for v in sorted({v for ends in edges for v in ends})]
    for found in ranks.run(chosen, edges, lengths):
        assert found == (program, delta, pytest.approx(expected))


def test_an_answer_goes_on_from_an_earlier_one() -> None:
    graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 3], comm=world())
    known = {"distance": [0.0, math.inf, 0.5, math.inf]}
    assert gl.sssp(graph, 0, init=known, start=[0, 2]).vertices["distance"].tolist() == [0.0, 1.0, 0.5, 1.5]


@pytest.mark.parametrize("delta", [0.0, -1.0, math.inf, math.nan, "2"])
def test_what_is_no_delta(delta: Any) -> None:
    graph = gl.Graph.from_edges([0], [1], comm=world())
    with pytest.raises(gl.UsageError, match="delta="):
        gl.sssp(graph, 0, delta=delta)


def test_what_distances_refuses() -> None:
    graph = gl.Graph.from_edges([1, 2], [2, 3], columns={"weight": [1.0, -1.0]}, comm=world())
    with pytest.raises(gl.UsageError, match="distances needs at least one source; sources is empty"):
        gl.distances(graph, [])
    with pytest.raises(gl.UsageError, match=r"-1.0 on the edge 2 -> 3; at least 0 is needed"):
        gl.distances(graph, [1])
    with pytest.raises(gl.VertexNotFound):
        gl.distances(graph, [1, 8], weight=None)


def ways(drawn: Drawn) -> list[list[int]]:
    """Return the lengths of the shortest ways from every vertex, by sorted id."""
    graph = as_networkx(drawn)
    return [sorted(nx.single_source_shortest_path_length(graph, v).values()) for v in drawn.ids]


@given(drawn=graphs(), seed=st.integers(0, 3))
def test_the_diameter_is_bounded_by_the_true_one(drawn: Drawn, seed: int) -> None:
    result = gl.diameter(drawn.build(world()), seed=seed, registers=16)
    found, lengths = result.metrics["answer"], ways(drawn)
    eccentricity = result.vertices["eccentricity"].tolist()
    assert all(mine <= true[-1] for mine, true in zip(eccentricity, lengths, strict=True))
    assert found["diameter"] == max(eccentricity)
    assert 0 <= found["effective_diameter"] <= found["diameter"]
    assert found["pairs"] == pytest.approx(sum(result.vertices["reach"]))


def test_sketches_count_as_well_as_they_should() -> None:
    """A count is off by 1.04 / sqrt(64) = 13 %, to neither side."""
    graph = gl.Graph.from_edges([0] * 2000, range(1, 2001), comm=world())
    counts = [gl.diameter(graph, seed=seed).vertices["reach"][0] / 2001 for seed in range(20)]
    assert abs(np.mean(counts) - 1) < 0.1
    assert 0.07 < np.std(counts) < 0.2


@pytest.mark.parametrize("seed", range(2))
def test_the_effective_diameter(seed: int) -> None:
    known = nx.fast_gnp_random_graph(300, 0.01, seed=1)
    lengths = sorted(d for _, ways in nx.all_pairs_shortest_path_length(known) for d in ways.values())
    answer = gl.diameter(gl.Graph.from_networkx(known, comm=world()), seed=seed).metrics["answer"]
    assert answer["effective_diameter"] == pytest.approx(lengths[int(0.9 * len(lengths))], abs=1)
    assert 0.7 * lengths[-1] <= answer["diameter"] <= lengths[-1]
    assert answer["pairs"] == pytest.approx(len(lengths), rel=0.4)


def test_the_diameter_of_plain_graphs() -> None:
    path = gl.Graph.from_edges(range(60), range(1, 61), comm=world())
    assert 50 <= gl.diameter(path).metrics["answer"]["diameter"] <= 60
    ring = gl.Graph.from_networkx(nx.cycle_graph(64), comm=world())
    assert 28 <= gl.diameter(ring).metrics["answer"]["diameter"] <= 32
    with pytest.raises(gl.UsageError, match=r"share=0: a number above 0 and at most 1 is needed"):
        gl.diameter(ring, share=0)


@pytest.mark.parametrize("name", ["bfs", "diameter"])
def test_what_counts_supersteps_needs_ranks_that_take_them_together(name: str) -> None:
    graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 3])
    words = (0,) if name == "bfs" else ()
    with pytest.raises(gl.UsageError, match=f"{name} counts the supersteps .* use engine='sync'"):
        getattr(gl, name)(graph, *words, engine=gl.Stale(staleness=1))
    getattr(gl, name)(graph, *words, engine=gl.Stale(staleness=0))
