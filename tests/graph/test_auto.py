"""`auto`: what it expects of a cut, and which it takes."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gaslab as gl
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.partitioning import gathering, strategies
from gaslab.partitioning.context import Context
from gaslab.partitioning.cut import cut
from gaslab.partitioning.strategies import auto, sample
from tests.mpi.ranks import Ranks
from tests.support.built_graphs import edge_list
from tests.support.threadcomm import run_ranks


def power_law():
    rng = np.random.default_rng(5)
    src, dst = (20_000 * rng.random((2, 200_000)) ** 3).astype(np.int64)
    shuffled = rng.permutation(20_000)
    return shuffled[src], shuffled[dst], 20_000


def path():
    at = np.arange(50_000)
    return at[:-1], at[1:], 50_000


def grid(side=250):
    at = np.arange(side * side).reshape(side, side)
    src = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    return src, np.concatenate([at[:, 1:].ravel(), at[1:].ravel()]), side * side


def sides(num_left):
    rng = np.random.default_rng(3)
    return rng.integers(0, num_left, 90_000), rng.integers(num_left, 30_000, 90_000), 30_000


def star():
    return np.arange(1, 50_000), np.zeros(49_999, np.int64), 50_000


GRAPHS = [  # and how they are read
    (power_law(), {}), (power_law(), {"directed": False}), (path(), {}), (grid(), {"directed": False}),
    (sides(3000), {"num_left": 3000}), (sides(27_000), {"num_left": 27_000}), (star(), {}),
    (star()[1::-1] + star()[2:], {}),
]  # fmt: skip


@pytest.mark.parametrize("k", [2, 4, 32])
@pytest.mark.parametrize(("graph", "options"), GRAPHS)
def test_the_cut_is_as_the_sample_says(graph, options, k):
    src, dst, n = graph
    edges = edge_list(Comm(), src, dst, n, **options)
    known = sample.take(src, dst, Context.of(edges, Comm(), 1))
    for name, found in sample.forecasts(*known, k, Context.of(edges, Comm(), 1)).items():
        census = cut(edges, k, name).census
        assert found.mirrors == pytest.approx(census.mirrors.sum(), rel=0.2, abs=0.05 * n), name
        assert found.sums + found.updates == pytest.approx(census.sends.sum(), rel=0.2, abs=0.1 * n), name
        assert found.fullest == pytest.approx(census.edges.max(), rel=0.3), name
        if name == "chunk":
            assert found.fullest == census.edges.max()


@pytest.mark.parametrize(("graph", "options"), GRAPHS)
def test_of_a_graph_with_few_edges_all_are_looked_at(graph, options):
    src, dst, n = (end[:2000] if isinstance(end, np.ndarray) else end for end in graph)
    edges = edge_list(Comm(), src, dst, n, **options)
    known = sample.take(src, dst, Context.of(edges, Comm(), 1))
    assert known[0].every == 1
    found = sample.forecasts(*known, 5, Context.of(edges, Comm(), 1))
    for name in ("chunk", "2d", "dbh"):  # the others are dealt out
        census = cut(edges, 5, name).census
        assert (found[name].mirrors, found[name].sums + found[name].updates) == (
            census.mirrors.sum(), census.sends.sum()
        ), name  # fmt: skip


def chosen(graph, k, caplog, **options):
    src, dst, n = graph
    words = ",".join(f"{name}={value}" for name, value in options.items())
    caplog.clear()
    with caplog.at_level(logging.INFO, "gaslab"):
        made = cut(edge_list(Comm(), src, dst, n), k, f"auto:{words}" if words else "auto")
    (word,) = (r.getMessage() for r in caplog.records if r.getMessage().startswith("auto:"))
    name = word.split(": ")[2].split()[0]
    assert made.strategy == name
    assert np.array_equal(made.part, cut(edge_list(Comm(), src, dst, n), k, name).part)
    return name


def test_more_supersteps_pay_for_a_better_cut(caplog):
    found = [chosen(power_law(), 16, caplog, iterations=n, bandwidth=1e8) for n in (1, 300, 100_000)]
    assert found[0] in ("1d", "chunk", "2d")
    assert found[1:] == ["hdrf", "hep"]


def test_ids_that_follow_the_graph_are_cut_in_chunks(caplog):
    assert chosen(path(), 16, caplog) == "chunk"


def test_hep_is_not_taken_where_memory_is_short(caplog, monkeypatch):
    monkeypatch.setattr(gathering, "available_memory", lambda: 1000)
    assert chosen(power_law(), 16, caplog, iterations=100_000, bandwidth=1e8) == "hdrf"


def test_more_parts_than_state_has_room_for_are_cut_by_a_hash(caplog):
    assert chosen(power_law(), 2000, caplog, iterations=100_000) in sample.CUTS


@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_ranks_take_the_same(size):
    src, dst, n = power_law()

    def rank(comm):
        edges = edge_list(comm, src, dst, n)
        return [cut(edges, 8, name, comm).part for name in ("auto:iterations=300,bandwidth=1e8", "hdrf")]

    for part, placed in run_ranks(size, rank):
        assert np.array_equal(part, placed)


def test_graphs_without_edges_and_one_part():
    assert gl.partition(gl.Graph.from_edges([], []), 3, strategy="auto").parts.size == 0
    assert gl.partition(gl.Graph.from_edges([0, 1], [1, 2]), 1, strategy="auto").parts.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("stateful=2", "0 to 1"),
        ("iterations=0", "at least 1"),
        ("bandwidth=0", "above 0"),
        ("iterations=many", "a whole number"),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    edges = SimpleNamespace(**vars(edge_list(Comm(), [0, 1], [1, 2], 3)))
    with pytest.raises(UsageError, match=message):
        cut(edges, 2, f"auto:{options}")


# ---- the default -----------------------------------------------------------------------------------------


def choice(src, dst, n, k, **options):
    """The strategy that the default takes, and what is expected of each."""
    edges = edge_list(Comm(), src, dst, n, **options)
    found = auto.estimates(src, dst, k, Context.of(edges, Comm(), 1), 1e9, stateful=False)
    return auto.ranked(found, 50)[0].name, found


@pytest.mark.parametrize("k", [2, 4, 32])
def test_ids_in_order_are_cut_in_chunks_by_default(k):
    for graph in (path(), grid()):
        edges = edge_list(Comm(), *graph)
        made = cut(edges, k)
        assert made.strategy == "chunk"
        assert made.metrics.replication_factor <= 1.2


@pytest.mark.parametrize("k", [2, 4])
def test_a_power_law_is_gathered_where_its_in_edges_are(k):
    graph = gl.Graph.generate("rmat", scale=15, edge_factor=16, seed=1)
    src, dst = graph.edges()
    assert choice(src, dst, graph.num_vertices, k)[0] in ("1d", "chunk", "2d")


def test_a_chunk_with_most_edges_is_not_taken():
    """Of a path whose first vertices have all other edges chunks have few mirrors, and one has the work."""
    src, dst, n = path()
    rng = np.random.default_rng(1)
    src, dst = np.append(src, rng.integers(0, 400, 400_000)), np.append(dst, rng.integers(0, 4, 400_000))
    name = choice(src, dst, n, 4)[0]
    assert name != "chunk"
    census = cut(edge_list(Comm(), src, dst, n), 4, name).census
    assert census.edges.max() < 0.6 * src.size


def test_the_default_looks_at_stateless_strategies_alone():
    src, dst, n = power_law()
    assert {one.name for one in choice(src, dst, n, 16)[1]} == {*sample.CUTS}
    assert strategies.find(None)[0] == strategies.DEFAULT == "auto:stateful=0"


@st.composite
def edges_and_splits(draw):
    """A graph, its edges in another order and direction, and where they are split over 1 to 4 ranks."""
    n, m = draw(st.integers(1, 3000)), draw(st.sampled_from([0, 3, 400, 9000, 30_000]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    kind = draw(st.sampled_from(["uniform", "hubs", "near"]))
    src = rng.integers(0, n, m)
    if kind == "hubs":
        src = src**2 // n
    dst = np.minimum(src + rng.integers(0, 9, m), n - 1) if kind == "near" else rng.integers(0, n, m)
    directed = draw(st.booleans())
    order = rng.permutation(m)
    flip = rng.random(m) < (0 if directed else 0.5)
    other = np.where(flip, dst, src)[order], np.where(flip, src, dst)[order]
    bounds = np.sort(rng.integers(0, m + 1, draw(st.integers(0, 3))))
    return (src, dst), other, n, directed, [0, *bounds.tolist(), m]


@settings(max_examples=25, deadline=None)
@given(edges_and_splits(), st.sampled_from([2, 3, 4, 32, 1000, 5000]))
def test_the_choice_follows_from_the_graph_and_k(drawn, k):
    ends, other, n, directed, bounds = drawn
    alone = auto.estimates(*ends, k, Context(Comm(), n, directed), 1e9, stateful=False)

    def rank(comm):
        mine = slice(bounds[comm.rank], bounds[comm.rank + 1])
        src, dst = (end[mine] for end in other)
        return auto.estimates(src, dst, k, Context(comm, n, directed), 1e9, stateful=False)

    for found in run_ranks(len(bounds) - 1, rank):
        assert found == alone  # to the bit


def rank_of_default(comm, order):
    """Build graphs of rows that are split unevenly, and run on one; return what is said of the cut."""
    at = np.arange(20_000)[order]
    bounds = at.size * np.arange(comm.size + 1) ** 2 // comm.size**2
    mine = at[bounds[comm.rank] : bounds[comm.rank + 1]]
    graph = gl.Graph.from_edges(mine, mine + 1, rows="parts", comm=comm)
    named = gl.Graph.from_edges(mine, mine + 1, rows="parts", comm=comm, strategy="chunk:refine=1")
    auto_graph = named.partitioned("auto:stateful=0,refine=1")
    result = gl.run(gl.programs.PageRank(), graph, max_iterations=2)
    assert graph.partitioned(strategies.DEFAULT) is graph.partitioned(graph.strategy) is graph
    return (
        [(g.strategy, g.strategy_chosen_by) for g in (graph, named, auto_graph, graph.reverse())],
        {name: result.metrics[name] for name in ("strategy", "strategy_chosen_by")},
        graph.replication_factor, repr(graph),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_what_was_chosen_is_said(ranks: Ranks) -> None:
    size, default = ranks.size, strategies.DEFAULT
    in_order = ranks.run(rank_of_default, np.arange(20_000))
    mixed = ranks.run(rank_of_default, np.random.default_rng(1).permutation(20_000))
    for graphs, metrics, rf, shown in [*in_order, *mixed]:
        if size == 1:
            assert graphs[0] == (default, None)
            assert metrics == {"strategy": default, "strategy_chosen_by": None}
            continue
        refined = "chunk:refine=1"
        again = (refined, f"{default},refine=1")
        assert graphs == [("chunk", default), (refined, None), again, ("chunk", default)]
        assert metrics == {"strategy": "chunk", "strategy_chosen_by": default}
        assert rf < 1.01
        assert f"{size} ranks by chunk (chosen by auto)" in shown


def test_it_is_logged_once_and_not_on_one_rank(caplog):
    with caplog.at_level(logging.INFO, "gaslab"):
        gl.Graph.from_edges(*path()[:2])
    assert not caplog.records
    with caplog.at_level(logging.INFO, "gaslab"):
        run_ranks(3, lambda comm: gl.Graph.from_edges(*path()[:2], comm=comm))
    (record,) = (r for r in caplog.records if "auto" in r.getMessage())
    assert record.levelno == logging.INFO
    assert record.getMessage().startswith("auto: 3 parts and 50 supersteps: chunk (about ")
