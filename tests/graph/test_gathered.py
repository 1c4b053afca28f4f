"""Cuts made on rank 0, and refined there: the same on any ranks, and never in more memory than there is."""

from __future__ import annotations

import logging
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.partitioning import gathering, strategies
from gaslab.partitioning.context import Context
from gaslab.partitioning.cut import Cut, cut
from gaslab.partitioning.pairs import Degrees
from gaslab.partitioning.refine import Refinement
from gaslab.partitioning.stateful import cap
from gaslab.partitioning.strategies.neighborhood import HEP, NE
from gaslab.partitioning.strategies.two_phase import TwoPhase
from tests.support.built_graphs import edge_list, multigraphs
from tests.support.threadcomm import run_ranks

GATHERED = ["2ps", "ne", "hep", "hep:tau=2", "dbh:refine=1", "random:refine=3", "chunk:refine=2"]


def power_law(n: int = 3000, m: int = 20_000) -> tuple[np.ndarray, np.ndarray, int]:
    src, dst = (n * np.random.default_rng(1).random((2, m)) ** 3).astype(np.int64)
    return src, dst, n


def cut_on(size: int, graph: Any, k: int, name: str, directed: bool = True) -> tuple[np.ndarray, Cut]:
    """Return the parts of all edges, and the cut as rank 0 has it."""
    src, dst, n = graph
    made = run_ranks(size, lambda comm: cut(edge_list(comm, src, dst, n, directed), k, name, comm))
    return np.concatenate([one.part for one in made]), made[0]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", GATHERED)
def test_the_cut_is_the_same_on_any_number_of_ranks(name: str, directed: bool) -> None:
    alone, one = cut_on(1, power_law(), 12, name, directed)
    for size in (2, 3, 4):
        parts, made = cut_on(size, power_law(), 12, name, directed)
        assert np.array_equal(parts, alone)
        assert made.metrics == one.metrics


@given(multigraphs(), st.integers(1, 3), st.integers(1, 9), st.sampled_from(GATHERED), st.booleans())
def test_parallel_edges_stay_together_under_the_cap(
    graph: Any, size: int, k: int, name: str, directed: bool
) -> None:
    src, dst, _ = graph
    parts, _ = cut_on(size, graph, k, name, directed)
    assert parts.size == len(src)
    home: dict[Any, int] = {}
    weight: dict[Any, int] = {}
    for u, v, p in zip(src, dst, parts.tolist(), strict=True):
        pair = (u, v) if directed else (min(u, v), max(u, v))
        assert home.setdefault(pair, p) == p
        weight[pair] = weight.get(pair, 0) + 1
    largest = max(weight.values(), default=1)
    if largest == 1 and not name.startswith(("chunk", "dbh", "random")):
        assert np.bincount(parts, minlength=k).max() <= cap(len(src), k, 1)


@pytest.mark.parametrize("name", ["random", "1d", "dbh", "chunk", "hdrf", "ne"])
@pytest.mark.parametrize("directed", [True, False])
def test_refinement_leaves_no_more_replicas(name: str, directed: bool) -> None:
    src, dst, n = power_law()
    edges = edge_list(Comm(), src, dst, n, directed)
    before, after = (cut(edges, 16, strategies.with_passes(name, passes)).metrics for passes in (0, 2))
    assert after.replication_factor <= before.replication_factor
    if name in ("random", "1d", "chunk"):
        assert after.replication_factor < 0.8 * before.replication_factor
    assert after.edge_balance <= max(before.edge_balance, 1.06)


def test_a_strategy_of_ones_own_is_refined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(strategies.STRATEGIES, "mine", lambda src, dst, k, context: (src * 7 + dst) % k)
    src, dst, n = power_law()
    edges = edge_list(Comm(), src, dst, n)
    before, after = (cut(edges, 8, name).metrics for name in ("mine", "mine:refine=2"))
    assert after.replication_factor < before.replication_factor


def test_what_it_gets_to_refine_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(strategies.STRATEGIES, "mine", lambda src, dst, k, context: src * 0 + k)
    with pytest.raises(UsageError, match="strategy 'mine' returned part 2 for the edge 0 -> 1"):
        cut(edge_list(Comm(), [0, 1], [1, 2], 3), 2, "mine:refine=1")


def test_passes_are_given_by_name_or_beside_it() -> None:
    graph = gl.Graph.generate("rmat", scale=8, edge_factor=8, seed=1)
    one = gl.partition(graph, 4, strategy="dbh:refine=2")
    other = gl.partition(graph, 4, strategy="dbh", refine=2)
    assert one.strategy == other.strategy == "dbh:refine=2"
    assert np.array_equal(one.parts, other.parts)
    assert gl.partition(graph, 4, strategy="dbh:refine=2", refine=3).strategy == "dbh:refine=3"
    assert gl.partition(graph, 4, strategy="hep:tau=2", refine=1).strategy == "hep:tau=2.0,refine=1"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dbh:refine=-1", "refine is -1; 0 or more passes are needed"),
        ("dbh:refine=some", "refine is 'some'; a whole number is needed"),
        ("ne:vertex_balance=0.9", "vertex_balance=0.9: a number of at least 1 is needed"),
        ("ne:passes=-1", "passes=-1"),
        ("2ps:passes=0", "passes=0"),
        ("2ps:volume=0", "volume=0.0: a number above 0 is needed"),
        ("hep:tau=0", "tau=0.0: a number above 0 is needed"),
        ("hep:memory=-5", "memory=-5.0"),
        ("ne:tau=3", "'tau=3' is not an option; ne has vertex_balance=1.1, passes=2, memory=0.0, refine=0"),
    ],
)
def test_options_out_of_range_are_refused(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        cut(edge_list(Comm(), [0, 1], [1, 2], 3), 2, name)


def test_parts_that_differ_in_vertices_are_asked_for() -> None:
    src, dst, n = power_law()
    edges = edge_list(Comm(), src, dst, n)
    tight, loose = (cut(edges, 16, f"ne:vertex_balance={b}").metrics for b in (1.02, 50))
    assert tight.vertex_balance <= 1.02 + 1e-9 < loose.vertex_balance


@pytest.mark.parametrize("size", [1, 3])
def test_too_little_memory_is_refused_before_edges_travel(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "available_memory", lambda: 100_000)
    src, dst, n = power_law()

    def rank(comm: Comm) -> str:
        with pytest.raises(UsageError) as caught:
            cut(edge_list(comm, src, dst, n), 8, "ne", comm)
        return str(caught.value)

    for said in run_ranks(size, rank):
        assert "needs 1.4 MB on rank 0 to cut 20,000 edges into 8 parts, and 100.0 KB are free there" in said
        assert said.endswith("hdrf leaves the edges on their ranks, and hep takes less than ne")


def test_the_limit_may_be_an_option() -> None:
    src, dst, n = power_law()
    with pytest.raises(UsageError, match=r"and its memory= is 50\.0 KB"):
        cut(edge_list(Comm(), src, dst, n), 8, "hep:memory=5e4")


def test_hep_makes_do_with_less(caplog: pytest.LogCaptureFixture) -> None:
    src, dst, n = power_law(20_000, 300_000)
    needed = {}
    for tau in (30.0, 1.0):
        strategy, degree = HEP(tau=tau), Degrees(src, dst, Context(Comm(), n, True)).degree
        needed[tau] = strategy.bytes_needed(8, degree, src.size)
    assert needed[1.0] < needed[30.0]
    room = (needed[1.0] + needed[30.0]) // 2
    with caplog.at_level(logging.INFO, "gaslab"):
        parts, made = cut_on(2, (src, dst, n), 8, f"hep:memory={room}")
    said = [r.getMessage() for r in caplog.records if "rank 0" in r.getMessage()]
    assert len(said) == 1
    assert said[0].startswith("cuts on rank 0, where 300,000 edges take up to")
    assert said[0].endswith("more hubs are placed apart")
    assert np.bincount(parts, minlength=8).max() <= cap(src.size, 8, 50)
    assert made.metrics.vertex_balance < 1.2


@pytest.mark.parametrize("k", [8, 200])
@pytest.mark.parametrize(
    "make", [TwoPhase, NE, HEP, lambda: Refinement(2)], ids=["2ps", "ne", "hep", "refine"]
)
def test_no_more_memory_is_taken_than_is_said(make: Any, k: int) -> None:
    src, dst, n = power_law(20_000, 200_000)
    name = {TwoPhase: "2ps", NE: "ne", HEP: "hep"}.get(make, "random:refine=2")
    context = Context(Comm(), n, True)
    degree = Degrees(src, dst, context).degree
    said = make().bytes_needed(k, degree, src.size)
    function = strategies.find(name)[1]
    tracemalloc.start()
    try:
        function(src, dst, k, context)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.5 * said < taken <= said
