"""Two-phase streaming: clusters stay whole, the cap holds, and little is lost."""

from __future__ import annotations

import numpy as np
import pytest

from gaslab.parallel.comm import Comm
from gaslab.partitioning.cut import Cut, cut
from gaslab.partitioning.stateful import cap
from tests.support.built_graphs import edge_list


def made(src: np.ndarray, dst: np.ndarray, n: int, k: int, name: str = "2ps") -> Cut:
    return cut(edge_list(Comm(), src, dst, n), k, name)


def power_law(n: int = 5000, m: int = 40_000) -> tuple[np.ndarray, np.ndarray, int]:
    src, dst = (n * np.random.default_rng(1).random((2, m)) ** 3).astype(np.int64)
    key = np.unique(src * n + dst)
    return key // n, key % n, n


def cliques(count: int, size: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return cliques of shuffled vertices."""
    u, v = np.triu_indices(size, 1)
    vertex = np.random.default_rng(0).permutation(count * size).reshape(count, size)
    return vertex[:, u].ravel(), vertex[:, v].ravel(), count * size


@pytest.mark.parametrize("name", ["2ps", "2ps:volume=5", "2ps:volume=0.01,passes=3", "2ps:balance=0"])
@pytest.mark.parametrize("order", ["sorted", "shuffled", "backwards"])
@pytest.mark.parametrize("k", [1, 2, 7, 64, 1000, 1024])
def test_no_part_exceeds_the_cap_in_any_order(k: int, order: str, name: str) -> None:
    src, dst, n = power_law(2000, 8000)
    turn = {
        "sorted": np.arange(src.size),
        "shuffled": np.random.default_rng(2).permutation(src.size),
        "backwards": np.arange(src.size)[::-1],
    }[order]
    part = made(src[turn], dst[turn], n, k, name).part
    assert np.bincount(part, minlength=k).max() <= cap(src.size, k, 1)


@pytest.mark.parametrize(
    "edges",
    [[], [(0, 1)], [(3, 3)], [(v, v) for v in range(40)], [(0, v) for v in range(1, 99)], [(0, 1)] * 9],
    ids=["none", "one", "a loop", "loops", "star", "parallel"],
)
def test_graphs_of_odd_shapes(edges: list[tuple[int, int]]) -> None:
    src, dst = np.array(edges, np.int64).reshape(-1, 2).T
    for k in (1, 3, 100):
        load = np.bincount(made(src, dst, 100, k).part, minlength=k)
        assert load.max() <= cap(src.size, k, 9 if edges == [(0, 1)] * 9 else 1)


def test_cliques_stay_whole() -> None:
    assert made(*cliques(64, 12), 8).metrics.replication_factor == 1.0
    assert made(*cliques(64, 12), 8, "hdrf").metrics.replication_factor > 1.0


def test_no_cluster_is_larger_than_it_may_be() -> None:
    src, dst, n = cliques(4, 40)
    assert made(src, dst, n, 4, "2ps:volume=1").metrics.replication_factor == 1.0
    assert made(src, dst, n, 4, "2ps:volume=0.5").metrics.replication_factor > 1.0


def test_a_power_law_graph_has_far_fewer_replicas_than_from_dbh() -> None:
    one, other = (made(*power_law(), 32, name).metrics for name in ("2ps", "dbh"))
    assert one.replication_factor < 0.8 * other.replication_factor
    assert one.vertex_balance < 1.2
