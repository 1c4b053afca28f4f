"""`gl.partition`: the figures of a cut by hand, by plain Python, by a run, and by theory."""

from __future__ import annotations

import doctest
import importlib
import math
import subprocess
import sys
import tracemalloc
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.partitioning import strategies
from gaslab.partitioning.metrics import Cost, break_even
from tests.mpi.ranks import Ranks
from tests.support.judged_cuts import PLAIN, any_graphs, judged, register, unregister
from tests.support.threadcomm import run_ranks


@pytest.fixture(autouse=True, scope="module")
def plain_strategy() -> Iterator[None]:
    register()
    yield
    unregister()


def graph_of(drawn: dict[str, Any], comm: Comm | None = None) -> gl.Graph:
    src, dst, n, left = drawn["src"], drawn["dst"], drawn["n"], drawn["left"]
    vertices: Any = range(n) if left is None else (range(left), range(left, n))
    return gl.Graph.from_edges(
        src, dst, vertices=vertices, directed=drawn["directed"], bipartite=left is not None, comm=comm
    )


def figures(comm: Comm | None, drawn: dict[str, Any], k: int, strategy: str) -> Any:
    """Return the ends, the parts, the metrics and the vertices of a cut, as every rank has them."""
    graph = graph_of(drawn, comm)
    cut = gl.partition(graph, k, strategy=strategy)
    source, target = (cut.edges.global_ids[name].tolist() for name in ("source", "target"))
    vertices = cut.vertices
    held = list(zip(vertices["master"].tolist(), vertices["parts"].tolist(), strict=True))
    assert vertices["replicas"].tolist() == [len(parts) for _, parts in held]
    assert sorted(zip(source, target, strict=True)) == list(zip(source, target, strict=True))
    return source, target, cut.parts.tolist(), cut.metrics, held


# ---- by hand -----------------------------------------------------------------------------------------


def test_a_star_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """0 -> 1, 0 -> 2 in part 0; 0 -> 3, 3 -> 4 in part 1; 9 has no edge."""
    monkeypatch.setitem(
        strategies.STRATEGIES, "mine", lambda src, dst, k, context: np.maximum(src, dst) // 3
    )
    graph = gl.Graph.from_edges([0, 0, 0, 3], [1, 2, 3, 4], vertices=[9])
    cut = gl.partition(graph, 2, strategy="mine")
    assert (cut.strategy, cut.k, repr(cut)) == (
        "mine", 2, "<Partition by mine, 2 parts: RF 1.20, EB 1.00, VB 1.00>"
    )  # fmt: skip
    assert cut.parts.tolist() == [0, 0, 1, 1]
    m, census = cut.metrics, cut.census
    # Global ids 0..5; 0 in both parts, without in-edges. Directory 0 has 0, 2, 4: 0's master is part 0, the
    # first of two that are empty. Directory 1 has 1, 3, 5, where 5 (id 9) is alone.
    assert cut.vertices["master"].tolist() == [0, 0, 0, 1, 1, 1]
    assert cut.vertices["parts"].tolist() == [[0, 1], [0], [0], [1], [1], [1]]
    assert (m.replication_factor, m.edge_balance, m.vertex_balance) == (1.2, 1.0, 1.0)
    assert m.master_balance == 3 / 2.5
    assert m.mirror_balance == 2.0  # one mirror, of 0 in part 1
    assert m.cut_vertex_share == 0.2
    assert (m.mean_peers, m.most_peers) == (1.0, 1)
    assert m.bytes_per_superstep == 8  # the mirror has out-edges only: it gets a value, and sends no sum
    assert m.busiest_bytes == 8
    assert m.random_replication_factor == pytest.approx((3 * 1 + 1.5 + 1.75) / 5)
    assert m.grid_bound == pytest.approx(2.828427)
    assert census.traffic is not None
    assert census.traffic.tolist() == [[0, 1], [0, 0]]
    assert (census.sends.tolist(), census.receives.tolist()) == ([1, 0], [0, 1])
    assert census.by_degree.tolist() == [[1, 2], [3, 2], [3, 3]]  # degrees 3, 1, 1, 2, 1
    both = gl.partition(
        gl.Graph.from_edges([0, 0, 0, 3], [1, 2, 3, 4], directed=False), 2, strategy="mine",
        bytes_per_replica=100,
    ).metrics  # fmt: skip
    assert both.bytes_per_superstep == 200


def test_a_graph_without_edges() -> None:
    cut = gl.partition(gl.Graph.from_edges([], [], vertices=["a", "b", "c"]), 2)
    m = cut.metrics
    assert (m.replication_factor, m.edge_balance, m.mirror_balance, m.cut_vertex_share) == (1, 1, 1, 0)
    assert (m.bytes_per_superstep, m.break_even, m.edges_per_second) == (0, None, 0.0)
    assert cut.parts.size == 0
    assert cut.vertices["master"].tolist() == [0, 1, 0]
    none = gl.partition(gl.Graph.from_edges([], []), 3)
    assert (len(none.vertices), none.metrics.replication_factor) == (0, 1.0)


# ---- by plain Python ---------------------------------------------------------------------------------


@given(any_graphs(), st.integers(1, 4), st.integers(1, 1024), st.sampled_from([PLAIN, "random", "1d", "dbh"]))
def test_all_figures_on_any_graph_and_ranks(drawn: dict[str, Any], size: int, k: int, strategy: str) -> None:
    drawn_k = k % 9 + 1 if k % 2 else k  # half of them so few that vertices share parts
    first, *others = run_ranks(size, lambda comm: figures(comm, drawn, drawn_k, strategy))
    assert all(other[:3] == first[:3] and other[4] == first[4] for other in others)
    src, dst, part, metrics, vertices = first
    assert (len(src), vars(metrics)) == (len(drawn["src"]), vars(others[0][3]) if others else vars(metrics))
    want = judged(src, dst, part, drawn["n"], drawn_k, drawn["directed"])
    assert vertices == want.pop("vertices")
    for name, value in want.items():
        assert getattr(metrics, name) == pytest.approx(value), name


def rank_of_large(comm: Comm, k: int) -> Any:
    register()
    try:
        rng = np.random.default_rng(3)
        drawn = {
            "src": (rng.zipf(1.4, 30_000) % 5000).tolist(), "dst": rng.integers(0, 5000, 30_000).tolist(),
            "n": 5100, "left": None, "directed": True,
        }  # fmt: skip
        return figures(comm, drawn, k, PLAIN)
    finally:
        unregister()
        if comm.size == 1:
            register()


@pytest.mark.parametrize("k", [7, 64, 1000])
def test_over_mpi(ranks: Ranks, k: int) -> None:
    src, dst, part, metrics, vertices = ranks.run(rank_of_large, k, threads=2)[0]
    want = judged(src, dst, part, 5100, k, True)
    assert vertices == want.pop("vertices")
    for name, value in want.items():
        assert getattr(metrics, name) == pytest.approx(value), name


# ---- by a run ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("strategy", ["random", "1d", "2d", "dbh"])
def test_as_many_ranks_have_these_masters_and_mirrors(k: int, strategy: str) -> None:
    """A run on k ranks puts every replica where the cut into k parts says."""
    rng = np.random.default_rng(11)
    src, dst = rng.zipf(1.5, 4000) % 700, rng.integers(0, 700, 4000)
    cut = gl.partition(gl.Graph.from_edges(src, dst, vertices=range(750)), k, strategy=strategy)

    def rank(comm: Comm) -> tuple[list[int], list[int]]:
        local = gl.Graph.from_edges(src, dst, vertices=range(750), strategy=strategy, comm=comm).local
        return sorted(local.gid[: local.num_masters].tolist()), sorted(local.gid.tolist())

    gids = cut.vertices.global_ids["id"]
    for part, (masters, held) in enumerate(run_ranks(k, rank)):
        assert gids[cut.vertices["master"] == part].tolist() == masters
        assert [v for v, parts in enumerate(cut.vertices["parts"].tolist()) if part in parts] == held


def rank_of_pagerank(comm: Comm, strategy: str) -> tuple[int, float]:
    graph = gl.Graph.generate("rmat", scale=13, edge_factor=16, seed=2, strategy=strategy, comm=comm)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gl.ConvergenceWarning)
        result = gl.pagerank(graph, max_iterations=10, tolerance=0.0)
    metrics = gl.partition(graph, comm.size, strategy=strategy).metrics
    assert metrics.replication_factor == pytest.approx(graph.replication_factor)
    return metrics.bytes_per_superstep, result.metrics["bytes_per_iteration"]


@pytest.mark.parametrize("strategy", ["random", "1d", "2d", "dbh"])
@pytest.mark.parametrize("ranks", [2, 3, 4], ids=lambda size: f"{size}ranks", indirect=True)
def test_pagerank_sends_what_was_predicted(ranks: Ranks, strategy: str) -> None:
    """Beside the values a superstep sends which vertices they are of, and aggregates."""
    predicted, sent = ranks.run(rank_of_pagerank, strategy)[0]
    assert predicted < sent < 1.2 * predicted


# ---- by theory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [4, 32, 256])
def test_random_is_as_expected(k: int) -> None:
    """Each of m pairs goes to a part on its own and moves the sum of replicas by 2 at most.

    So the variance of the sum is below 2 m (Efron and Stein), and four deviations are allowed.
    """
    graph = gl.Graph.generate("rmat", scale=16, edge_factor=16, seed=1)
    cut = gl.partition(graph, k, strategy="random")
    vertices, m = cut.census.vertices, cut.metrics
    src, dst = graph.edges()
    pairs = np.unique(np.minimum(src, dst) * graph.num_vertices + np.maximum(src, dst)).size
    assert pairs < graph.num_edges  # some are parallel, or stand for both directions
    far = abs(m.replication_factor - m.random_replication_factor)
    assert far * vertices < 4 * math.sqrt(2 * pairs)
    assert far < 0.005 * m.random_replication_factor


# ---- time and memory ---------------------------------------------------------------------------------


def test_break_even() -> None:
    assert break_even(3.0, 0.5) == 6.0
    assert break_even(-3.0, 0.5) == 0.0
    assert break_even(3.0, 0.0) is None
    assert break_even(-3.0, -1.0) is None
    graph = gl.Graph.generate("rmat", scale=10, edge_factor=8)
    assert gl.partition(graph, 8, strategy="random").metrics.break_even is None
    fast, slow = (gl.partition(graph, 8, strategy="2d", bandwidth=b).metrics for b in (1e12, 1.0))
    assert slow.break_even is not None
    assert slow.break_even < 1e-3  # a byte takes a second: the first superstep pays
    assert fast.bytes_per_superstep == slow.bytes_per_superstep


def test_what_a_cut_holds_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(src: Any, dst: Any, k: int, context: Any) -> Any:
        held = np.ones(20 * src.size)  # 160 bytes an edge
        return (src + held[:1].astype(int)) % k

    monkeypatch.setitem(strategies.STRATEGIES, "mine", greedy)
    graph = gl.Graph.generate("rmat", scale=10, edge_factor=8)
    m = gl.partition(graph, 3, strategy="mine").metrics
    assert m.peak_bytes_per_edge is not None
    assert 160 <= m.peak_bytes_per_edge < 260
    assert m.seconds > 0
    assert m.edges_per_second == pytest.approx(graph.num_edges / m.seconds)
    assert not tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        assert gl.partition(graph, 3, strategy="mine").metrics.peak_bytes_per_edge is None
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()
    assert Cost(1.0, None).peak_bytes is None


# ---- tables ------------------------------------------------------------------------------------------


def test_the_table_of_edges_has_the_columns_of_the_graph() -> None:
    graph = gl.Graph.from_edges(
        ["b", "a", "b", "b"], ["c", "b", "a", "c"],
        columns={"weight": [1.0, 2.0, 3.0, 4.0], "xy": np.arange(8).reshape(4, 2),
                 "tags": [[1], [], [2, 3], [4]]},
    )  # fmt: skip
    cut = gl.partition(graph, 3)
    table = cut.edges
    assert (table.keys, table.columns) == (["source", "target"], ["weight", "xy", "tags", "part"])
    assert [ids.tolist() for ids in table.ids] == [["a", "b", "b", "b"], ["b", "a", "c", "c"]]
    assert table["weight"].tolist() == [2.0, 3.0, 1.0, 4.0]
    assert table["tags"].tolist() == [[], [2, 3], [1], [4]]
    assert cut.parts[2] == cut.parts[3]  # parallel
    frame = cut.to_pandas()
    assert frame.set_index(["source", "target"]).loc[("a", "b"), "part"] == cut.parts[0]
    assert list(frame.columns) == ["source", "target", "weight", "xy[0]", "xy[1]", "tags", "part"]


def test_the_sides_of_a_bipartite_graph() -> None:
    graph = gl.Graph.from_edges([7, 7, 8], [7, 9, 9], bipartite=True)
    cut = gl.partition(graph, 2)
    assert list(cut.vertices.to_dict("master")) == [(7, 0), (8, 0), (7, 1), (9, 1)]
    assert cut.vertices.side(0)["id"].tolist() == [7, 8]


def rank_of_places(comm: Comm, on: str) -> tuple[int, int, float]:
    graph = gl.Graph.generate("rmat", scale=8, edge_factor=4, comm=comm)
    cut = gl.partition(graph, 5, strategy="2d", on=on)
    return cut.parts.size, len(cut.vertices), cut.metrics.replication_factor


@pytest.mark.parametrize("size", [1, 2, 3])
def test_where_the_tables_are(size: int) -> None:
    every = {
        on: run_ranks(size, lambda comm, on=on: rank_of_places(comm, on)) for on in ("all", "root", "local")
    }
    assert {rf for found in every.values() for *_, rf in found} == {every["all"][0][2]}
    assert [found[:2] for found in every["all"]] == [(1024, 256)] * size
    assert [found[:2] for found in every["root"]] == [(1024, 256)] + [(0, 0)] * (size - 1)
    assert sum(found[0] for found in every["local"]) == 1024
    assert sum(found[1] for found in every["local"]) == 256


# ---- errors ------------------------------------------------------------------------------------------

GRAPH = gl.Graph.from_edges([0, 1], [1, 2])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"k": 0}, "k=0: a whole number from 1 to 2147483647 is needed"),
        ({"k": 1.5}, "k=1.5: a whole number is needed, not float"),
        ({"strategy": "dhb"}, "strategy='dhb' is unknown; did you mean 'dbh'?"),
        ({"bytes_per_replica": -1}, "bytes_per_replica=-1: a whole number of at least 0 is needed"),
        ({"bandwidth": 0}, "bandwidth=0: a number above 0 is needed"),
        ({"on": "here"}, "on='here' is unknown"),
        ({"graph": 5}, "graph=5: a gaslab.Graph is needed, not int"),
        ({"parts": 5}, "partition() has no argument 'parts'"),
    ],
)
def test_arguments_are_checked(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        gl.partition(**{"graph": GRAPH, "k": 2, **changed})
    assert str(caught.value).startswith(message)


def test_a_graph_that_has_parts() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2], columns={"part": [0, 1]})
    with pytest.raises(UsageError, match="edge column 'part' already; leave it out with --column part=none"):
        gl.partition(graph, 2)


def rank_of_failure(comm: Comm) -> str:
    graph = gl.Graph.from_edges(range(9), range(9), comm=comm)

    def fails(src: Any, dst: Any, k: int, context: Any) -> Any:
        if context.comm.rank == context.comm.size - 1:
            raise ZeroDivisionError("a bad day")
        return src % k

    strategies.STRATEGIES["fails"] = fails
    try:
        with pytest.raises(UsageError) as caught:
            gl.partition(graph, 2, strategy="fails")
    finally:
        del strategies.STRATEGIES["fails"]
    assert gl.partition(graph, 2, strategy="1d").parts.size == 9  # the ranks are still together
    return str(caught.value)


def test_a_strategy_that_fails_on_one_rank_fails_on_all(ranks: Ranks) -> None:
    assert set(ranks.run(rank_of_failure)) == {"strategy 'fails' failed: ZeroDivisionError: a bad day"}


def rank_of_disagreement(comm: Comm) -> str:
    graph = gl.Graph.from_edges([0, 1], [1, 2], comm=comm)
    with pytest.raises(UsageError) as caught:
        gl.partition(graph, 2 + comm.rank % 2)
    return str(caught.value)


@pytest.mark.parametrize("ranks", [2, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_ranks_that_disagree(ranks: Ranks) -> None:
    assert "ranks disagree on k of partition()" in ranks.run(rank_of_disagreement)[0]


def test_plot_needs_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gaslab.system.extras.find_spec", lambda name: None)
    with pytest.raises(UsageError) as caught:
        gl.partition(GRAPH, 2).plot()
    assert str(caught.value) == (
        "plot() needs matplotlib, which is not installed: pip install 'gaslab[plot]'"
    )


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
@pytest.mark.parametrize("k", [1, 3, 100])
def test_plot(k: int) -> None:
    figure = gl.partition(gl.Graph.generate("rmat", scale=8, edge_factor=4), k).plot()
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels[:2] == ["part", "part of the mirror"]
    bars = figure.axes[0].patches  # of many parts one outline of all
    heights = bars[0].get_data().values.tolist() if k == 100 else [bar.get_height() for bar in bars]
    assert sum(heights) == 1024
    assert len(heights) == k


@pytest.mark.parametrize(
    "module", ["cuts.partition", "cuts.report", "partitioning.baseline", "partitioning.metrics"]
)
def test_the_examples_run(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"gaslab.{module}"))
    assert found.attempted > 0
    assert found.failed == 0


def test_nothing_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, gaslab as gl; assert 'numpy' not in sys.modules; gl.partition;"
        "assert not {'matplotlib', 'pyarrow', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
