"""Refinement of a cut: never more replicas, never over a cap that held."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaslab.partitioning.refine import refine
from tests.support.cuts import balances, numbered, power_law, replicas


@given(
    edges=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=60),
    k=st.sampled_from([1, 2, 3, 5, 64, 65, 1024]),
    vertex_balance=st.sampled_from([1.0, 1.1, 2.0, np.inf]),
    seed=st.integers(0, 1000),
)
def test_no_small_cut_gets_worse(edges, k, vertex_balance, seed):
    low, high = numbered(*np.array(edges, np.int64).reshape(-1, 2).T, 13)
    rng = np.random.default_rng(seed)
    multiplicity = rng.integers(1, 4, low.size)
    part = rng.integers(0, k, low.size).astype(np.int32)
    most = int(np.bincount(part, multiplicity, k).max())
    found = refine(
        low, high, multiplicity, 13, part, k, cap=most, passes=3, vertex_balance=vertex_balance
    )
    assert (found.dtype, found.shape) == (np.int32, part.shape)
    assert np.array_equal(found, np.clip(found, 0, k - 1))
    assert np.bincount(found, multiplicity, k).max(initial=0) <= most
    before, after = (replicas(low, high, 13, p, k) for p in (part, found))
    assert after.sum() <= before.sum()
    if low.size and before.max() <= vertex_balance * before.mean():
        assert after.max() <= vertex_balance * after.mean() + 1e-9


@pytest.mark.parametrize("k", [4, 32, 200])
def test_a_random_cut_of_a_power_law_graph_gets_far_better(k):
    low, high, n = power_law(5000, 40000)
    part = np.random.default_rng(0).integers(0, k, low.size).astype(np.int32)
    most = int(1.05 * low.size / k) + 1
    most = max(most, int(np.bincount(part).max()))
    before = replicas(low, high, n, part, k).sum()
    multiplicity = np.ones(low.size, np.int64)
    found = refine(low, high, multiplicity, n, part, k, cap=most, passes=3, vertex_balance=1.2)
    assert replicas(low, high, n, found, k).sum() < 0.9 * before
    assert np.bincount(found, minlength=k).max() <= most
    assert balances(low, high, n, found, k)[1] <= 1.2 + 1e-9


def test_a_cut_with_too_many_vertices_in_a_part_is_levelled_if_it_costs_nothing():
    low, high, n = power_law(5000, 40000)
    share = np.array([0.25, 0.25, 0.25, 0.25])
    part = np.searchsorted(np.cumsum(share), np.arange(low.size) / low.size, side="right").astype(np.int32)
    before = replicas(low, high, n, part, 4)
    assert before.max() * 4 > 1.3 * before.sum()
    multiplicity = np.ones(low.size, np.int64)
    found = refine(low, high, multiplicity, n, part, 4, cap=int(0.3 * low.size), vertex_balance=1.05)
    after = replicas(low, high, n, found, 4)
    assert after.sum() <= before.sum()
    assert after.max() / after.sum() < before.max() / before.sum()


def test_order_and_input_are_left_alone():
    low, high, n = power_law(500, 3000)
    turn = np.random.default_rng(0).permutation(low.size)
    part = np.random.default_rng(1).integers(0, 6, low.size).astype(np.int32)
    kept, multiplicity = part.copy(), np.ones(low.size, np.int64)
    first, second = (
        refine(low[turn], high[turn], multiplicity, n, part, 6, cap=low.size) for _ in range(2)
    )
    assert np.array_equal(part, kept)
    assert np.array_equal(first, second)
    before, after = (replicas(low[turn], high[turn], n, p, 6).sum() for p in (part, first))
    assert after < before
