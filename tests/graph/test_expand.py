"""Parts that grow by neighbourhood expansion: every pair once, both caps, few replicas."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab._kernels.hdrf as hdrf
from gaslab.partitioning.expand import bytes_needed, expand
from gaslab.partitioning.stateful import cap
from tests.support.cuts import balances, numbered, power_law, replicas

TAUS = [1.0, 10.0, np.inf]


def cut(low, high, n, k, multiplicity=None, **options):
    """Expand, and check that every pair has a part."""
    if multiplicity is None:
        multiplicity = np.ones(low.size, np.int64)
    most = cap(int(multiplicity.sum()), k, int(multiplicity.max(initial=1)))
    part = expand(low, high, multiplicity, n, k, cap=most, **options)
    assert (part.dtype, part.shape) == (np.int32, low.shape)
    assert np.array_equal(part, np.clip(part, 0, k - 1))
    return part, np.bincount(part, multiplicity, k).max(initial=0) <= most


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("k", [1, 2, 3, 64, 65, 1024])
@pytest.mark.parametrize("order", ["sorted", "shuffled", "reversed"])
def test_no_part_exceeds_the_cap_for_any_order(order, k, tau):
    low, high, n = power_law(2000, 8000)
    turn = {
        "sorted": np.arange(low.size),
        "shuffled": np.random.default_rng(1).permutation(low.size),
        "reversed": np.arange(low.size)[::-1],
    }[order]
    assert cut(low[turn], high[turn], n, k, tau=tau)[1]


@pytest.mark.parametrize("vertex_balance", [1.0, 1.1, np.inf])
@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize(
    "edges",
    [
        [],
        [(0, 1)],
        [(3, 3)],
        [(v, v) for v in range(40)],
        [(0, v) for v in range(1, 200)],
        [(2 * v, 2 * v + 1) for v in range(100)],
        [(0, 1)] * 2 + [(1, 1)] * 2,
        [(u, v) for u in range(25) for v in range(u)],
    ],
    ids=["none", "one", "one-loop", "loops", "star", "disconnected", "both-ways", "clique"],
)
def test_graphs_of_odd_shapes_are_cut_under_the_cap(edges, tau, vertex_balance):
    low, high = numbered(*np.array(edges, np.int64).reshape(-1, 2).T, 300)
    for k in (1, 2, 7, 300):
        assert cut(low, high, 300, k, tau=tau, vertex_balance=vertex_balance)[1]


@given(
    edges=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=60),
    k=st.integers(1, 70),
    tau=st.sampled_from(TAUS),
    vertex_balance=st.sampled_from([1.0, 1.1, 2.0, np.inf]),
)
def test_any_small_graph_is_cut_under_the_cap(edges, k, tau, vertex_balance):
    low, high = numbered(*np.array(edges, np.int64).reshape(-1, 2).T, 13)
    assert cut(low, high, 13, k, tau=tau, vertex_balance=vertex_balance)[1]


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=40), st.integers(1, 8))
def test_pairs_that_do_not_pack_exceed_the_mean_by_one_pair_at_most(weights, k):
    rng = np.random.default_rng(len(weights))
    low, high = numbered(*rng.integers(0, 9, (2, len(weights))), 9)
    multiplicity = np.array(weights, np.int64)
    part, _ = cut(low, high, 9, k, multiplicity)
    load = np.bincount(part, multiplicity, k)
    most = cap(sum(weights), k, max(weights))
    assert load.max() <= max(most, sum(weights) / k + max(weights))


@pytest.mark.parametrize("k", [8, 32])
@pytest.mark.parametrize("tau", [10.0, np.inf])
def test_a_power_law_graph_gets_fewer_replicas_than_from_hdrf(k, tau):
    low, high, n = power_law(20000, 120000)
    multiplicity, most = np.ones(low.size, np.int64), cap(low.size, k, 1)
    degree = np.bincount(np.concatenate([low, high]), minlength=n).astype(np.int64)
    streamed = np.empty(low.size, np.int32)
    hdrf.assign(
        low, high, multiplicity, degree, 1.0, 1.0, np.zeros(k), np.full(k, most),
        np.zeros((n, 1), np.uint64), streamed, np.empty(2 * low.size, np.int64),
    )  # fmt: skip
    part, _ = cut(low, high, n, k, tau=tau)
    assert replicas(low, high, n, part, k).sum() < 0.97 * replicas(low, high, n, streamed, k).sum()
    assert balances(low, high, n, part, k)[1] <= 1.1 + 1e-9


def test_a_looser_vertex_balance_costs_fewer_replicas():
    low, high, n = power_law(20000, 120000, local=0.0)
    found = []
    for vertex_balance in (1.02, 1.2, np.inf):
        part, _ = cut(low, high, n, 4, vertex_balance=vertex_balance)
        found.append(replicas(low, high, n, part, 4).sum())
        assert balances(low, high, n, part, 4)[1] <= vertex_balance + 1e-9
    assert found[0] > found[1] > found[2]


def test_two_cliques_stay_whole():
    edges = [(u + side, v + side) for side in (0, 20) for u in range(20) for v in range(u)]
    low, high = numbered(*np.array(edges).T, 40)
    part, _ = cut(low, high, 40, 2)
    assert replicas(low, high, 40, part, 2).tolist() == [20, 20]


def test_the_same_pairs_are_cut_the_same():
    low, high, n = power_law(3000, 20000)
    first, second = (cut(low, high, n, 48)[0] for _ in range(2))
    assert np.array_equal(first, second)


def test_arguments_are_not_changed():
    low, high, n = power_law(300, 2000)
    before = low.copy(), high.copy()
    low.flags.writeable = high.flags.writeable = False
    cut(low, high, n, 5)
    assert np.array_equal((low, high), before)


@pytest.mark.parametrize("k", [8, 256])
@pytest.mark.parametrize("tau", [2.0, np.inf])
def test_no_more_memory_is_taken_than_is_said(k, tau):
    low, high, n = power_law(20000, 200000)
    degree = np.bincount(np.concatenate([low, high]), minlength=n)
    multiplicity = np.ones(low.size, np.int64)
    tracemalloc.start()
    try:
        part = expand(low, high, multiplicity, n, k, cap=cap(low.size, k, 1), tau=tau)
        taken = tracemalloc.get_traced_memory()[1] - part.nbytes
    finally:
        tracemalloc.stop()
    assert 0.6 * bytes_needed(degree, low.size, k, tau) < taken <= bytes_needed(degree, low.size, k, tau)
