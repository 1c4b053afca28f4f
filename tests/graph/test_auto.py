"""`auto`: what it expects of a cut, and which it takes."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import numpy as np
import pytest

import gaslab as gl
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.partitioning import gathering
from gaslab.partitioning.context import Context
from gaslab.partitioning.cut import cut
from gaslab.partitioning.strategies import auto
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


def expected(src, dst, n, k, **context):
    found = auto.estimates(src, dst, k, Context(Comm(), n, True, **context), 1e9)
    return {one.name: one.exchange * k * 1e9 / auto.VALUE_BYTES for one in found}


@pytest.mark.parametrize("k", [2, 8, 64])
def test_the_values_under_1d_are_those_that_are_expected(k):
    src, dst, n = power_law()
    sent = cut(edge_list(Comm(), src, dst, n), k, "1d").census.sends.sum()
    assert expected(src, dst, n, k)["1d"] == pytest.approx(sent, rel=0.02)


@pytest.mark.parametrize("num_left", [3000, 27_000])
def test_of_a_bipartite_graph_the_smaller_side_is_mirrored(num_left):
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, num_left, 90_000), rng.integers(num_left, 30_000, 90_000)
    found = cut(edge_list(Comm(), src, dst, 30_000, num_left=num_left), 8, "1d").census.mirrors.sum()
    assert expected(src, dst, 30_000, 8, num_left=num_left)["1d"] == pytest.approx(found, rel=0.02)


@pytest.mark.parametrize("k", [4, 32])
def test_no_other_strategy_sends_more_than_is_expected(k):
    for src, dst, n in (power_law(), path()):
        for name, values in expected(src, dst, n, k).items():
            assert cut(edge_list(Comm(), src, dst, n), k, name).census.sends.sum() <= 1.1 * values, name


def chosen(graph, k, caplog, **options):
    src, dst, n = graph
    words = ",".join(f"{name}={value}" for name, value in options.items())
    caplog.clear()
    with caplog.at_level(logging.INFO, "gaslab"):
        made = cut(edge_list(Comm(), src, dst, n), k, f"auto:{words}" if words else "auto")
    word = next(r.getMessage() for r in caplog.records if r.getMessage().startswith("auto:")).split(": ")[2]
    name = word.split()[0]
    assert np.array_equal(made.part, cut(edge_list(Comm(), src, dst, n), k, name).part)
    return name


def test_more_supersteps_pay_for_a_better_cut(caplog):
    found = [chosen(power_law(), 16, caplog, iterations=n, bandwidth=1e8) for n in (1, 300, 100_000)]
    assert found[0] in ("1d", "chunk")
    assert found[1:] == ["hdrf", "hep"]


def test_ids_that_follow_the_graph_are_cut_in_chunks(caplog):
    assert chosen(path(), 16, caplog) == "chunk"


def test_hep_is_not_taken_where_memory_is_short(caplog, monkeypatch):
    monkeypatch.setattr(gathering, "available_memory", lambda: 1000)
    assert chosen(power_law(), 16, caplog, iterations=100_000, bandwidth=1e8) == "hdrf"


def test_more_parts_than_state_has_room_for_are_cut_by_a_hash(caplog):
    assert chosen(power_law(), 2000, caplog, iterations=100_000) in ("1d", "dbh")


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
    [("iterations=0", "at least 1"), ("bandwidth=0", "above 0"), ("iterations=many", "a whole number")],
)
def test_options_out_of_range_are_refused(options, message):
    edges = SimpleNamespace(**vars(edge_list(Comm(), [0, 1], [1, 2], 3)))
    with pytest.raises(UsageError, match=message):
        cut(edges, 2, f"auto:{options}")
