"""A rank's share of the graph: rows, the other direction, blocks of work, bytes."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
import gaslab.partitioning.local_graph as localgraph
from gaslab.graph.graph import Graph
from gaslab.parallel.comm import Comm
from gaslab.partitioning import rows
from gaslab.partitioning.layout import order_by_group
from gaslab.partitioning.local_graph import ALL, IN, OUT, LocalGraph
from tests.mpi.ranks import Ranks
from tests.support.threadcomm import run_ranks


def local_graph(src: Any, dst: Any, n: int, comm: Comm | None = None, directed: bool = True) -> LocalGraph:
    comm = comm or Comm()
    src, dst = np.asarray(src, dtype=np.int64), np.asarray(dst, dtype=np.int64)
    mine = slice(src.size * comm.rank // comm.size, src.size * (comm.rank + 1) // comm.size)
    edges: Any = SimpleNamespace(
        src=src[mine].copy(), dst=dst[mine].copy(), columns={}, num_vertices=n, directed=directed,
        ids=SimpleNamespace(num_left=None), counts={}, left_out={}, source="test", fingerprint="",
    )  # fmt: skip
    return Graph.from_edge_list(edges, comm=comm).local


def hub_graph() -> LocalGraph:
    """Vertex 7 has 50 in-edges and 20 out-edges; 100 others have one to three."""
    rng = np.random.default_rng(0)
    src = np.concatenate([rng.integers(8, 100, 50), [7] * 20, np.arange(100)])
    dst = np.concatenate([[7] * 50, rng.integers(8, 100, 20), (np.arange(100) + 1) % 100])
    return local_graph(src, dst, 110)


def test_a_small_graph_written_out() -> None:
    # 0 -> 1, 0 -> 2, 1 -> 2, 2 -> 0 twice, 4 alone, 3 -> 3
    got = local_graph([2, 0, 1, 0, 2, 3], [0, 1, 2, 2, 0, 3], 5)
    assert got.gid.tolist() == [0, 2, 1, 3, 4]  # 4, 4, 2, 2 and 0 edges
    assert got.in_begin.tolist() == [0, 2, 4, 5, 6, 6]
    assert got.in_neighbor.tolist() == [1, 1, 0, 2, 0, 3]
    begin, neighbor, slot = got.out()
    assert begin.tolist() == [0, 2, 4, 5, 6, 6]
    assert neighbor.tolist() == [1, 2, 0, 0, 1, 3]
    assert slot.tolist() == [2, 4, 0, 1, 3, 5]
    assert got.in_degree.tolist() == [2, 2, 1, 1, 0]
    assert got.out_degree.tolist() == [2, 2, 1, 1, 0]
    assert got.degree.tolist() == [4, 4, 2, 2, 0]
    assert got.targets().tolist() == [0, 0, 1, 1, 2, 3]
    assert (got.num_masters, got.num_local, got.num_edges) == (5, 5, 6)


def test_dtypes() -> None:
    for directed in (True, False):
        for got in run_ranks(2, lambda comm, d=directed: local_graph([0, 1], [1, 2], 4, comm, d)):
            for name in (
                "gid",
                "degree",
                "in_degree",
                "out_degree",
                "in_begin",
                "mirror_bounds",
                "send_bounds",
            ):
                assert getattr(got, name).dtype == np.int64, name
            assert got.in_neighbor.dtype == np.int32
            assert [a.dtype for a in got.out()] == [np.int64, np.int32, np.int32]
            assert [a.dtype for a in got.send_list] == [np.int32] * 2


def test_out_is_kept() -> None:
    got = hub_graph()
    assert got.out() is got.out()


@pytest.mark.parametrize("mask", [0, IN, OUT, ALL])
@pytest.mark.parametrize(("max_edges", "max_vertices"), [(12, 7), (1, 1), (1000, 30), (30, 1000)])
def test_blocks(monkeypatch: pytest.MonkeyPatch, mask: int, max_edges: int, max_vertices: int) -> None:
    monkeypatch.setattr(localgraph, "BLOCK_EDGES", max_edges)
    monkeypatch.setattr(localgraph, "BLOCK_VERTICES", max_vertices)
    got = hub_graph()
    work = np.zeros(got.num_local, dtype=np.int64)
    if mask & IN:
        work += np.diff(got.in_begin)
    if mask & OUT:
        work += np.diff(got.out()[0])
    for lo, hi in [(0, got.num_local), (3, 60), (5, 5), (0, 1)]:
        bounds = got.blocks(mask, lo, hi)
        assert bounds.dtype == np.int64
        assert (bounds[0], bounds[-1]) == (lo, hi)
        assert np.all(np.diff(bounds) > 0)
        assert np.all(np.diff(bounds) <= max_vertices)
        edges = np.array([work[a:b].sum() for a, b in pairwise(bounds)])
        assert np.all((edges <= max_edges) | (np.diff(bounds) == 1))
        # No two neighbouring blocks would fit into one: greedy, so never more than twice too many.
        whole = (edges[:-1] + edges[1:] > max_edges) | (bounds[2:] - bounds[:-2] > max_vertices)
        assert np.all(whole)
    assert np.array_equal(got.blocks(mask), got.blocks(mask, 0, got.num_local))


def test_blocks_in_their_real_size() -> None:
    rng = np.random.default_rng(1)
    got = local_graph(rng.integers(0, 20_000, 200_000), rng.zipf(1.4, 200_000) % 20_000, 20_000)
    bounds = got.blocks(IN)
    edges = np.diff(got.in_begin[bounds])
    assert np.all((edges <= 32_768) | (np.diff(bounds) == 1))
    assert np.diff(bounds).max() == 4096


def test_memory_counts_each_array_once() -> None:
    directed, undirected = local_graph([0, 1], [1, 2], 3), local_graph([0, 1], [1, 2], 3, directed=False)
    # gid and three degrees (one when undirected), begins, neighbours, bounds of the only rank
    assert directed.memory_bytes() == 3 * 8 * 4 + 4 * 8 + 2 * 4 + 2 * 4 * 8
    assert undirected.memory_bytes() == 3 * 8 * 2 + 4 * 8 + 2 * 4 + 2 * 4 * 8
    directed.out()
    assert directed.memory_bytes() == 3 * 8 * 4 + 4 * 8 + 2 * 4 + 2 * 4 * 8 + 4 * 8 + 2 * 2 * 4


@pytest.mark.parametrize("ranks_", [1, 2])
def test_bytes_per_edge_of_a_power_law_graph(ranks_: int) -> None:
    rng = np.random.default_rng(2)
    n, m = 10_000, 240_000
    src, dst = (np.minimum((n * rng.random(m) ** 3).astype(int), n - 1) for _ in range(2))
    locals_ = run_ranks(ranks_, lambda comm: local_graph(src, dst, n, comm))
    assert sum(g.memory_bytes() for g in locals_) <= 9 * m
    for g in locals_:
        g.out()
    assert sum(g.memory_bytes() for g in locals_) <= 17 * m


@given(st.data())
def test_order_by_group(data: Any) -> None:
    n = data.draw(st.integers(0, 60))
    numbers = st.lists(st.sampled_from([0, 1, 2, 3, 5000, 1 << 20, 1 << 30]), min_size=n, max_size=n)
    group = np.array(data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)), dtype=np.int64)
    in_count, out_count = (np.array(data.draw(numbers), dtype=np.int32) for _ in range(2))
    degree = in_count.astype(np.int64) + out_count
    assert np.array_equal(order_by_group(group, degree), np.lexsort((-degree, group)))


def grid_of(side: int) -> tuple[np.ndarray, np.ndarray]:
    at = np.arange(side**2).reshape(side, side)
    pairs = (
        np.concatenate([at[1:].ravel(), at[:, 1:].ravel()]),
        np.concatenate([at[:-1].ravel(), at[:, :-1].ravel()]),
    )
    return np.concatenate(pairs), np.concatenate(pairs[::-1])


def test_the_layout_follows_from_degrees_and_ids(caplog: pytest.LogCaptureFixture) -> None:
    rng, n = np.random.default_rng(3), 80 * 80
    ends = grid_of(80)
    names = rng.permutation(n)
    hubs = (n * rng.random((2, 8 * n)) ** 3).astype(int)
    found = {}
    with caplog.at_level("DEBUG", "gaslab"):
        for kind, (source, target) in {
            "grid": ends, "shuffled": (names[ends[0]], names[ends[1]]), "hubs": hubs, "none": ([], [])
        }.items():  # fmt: skip
            found[kind] = gl.Graph.from_edges(source, target, vertices=range(n)).local
    assert np.array_equal(found["grid"].gid, np.arange(n))
    for kind in ("shuffled", "hubs"):
        assert (np.diff(found[kind].degree) <= 0).all()
    assert [message for message in caplog.messages if message.startswith("vertices lie")] == [
        "vertices lie in the order of ids: spread of degrees 1.00, 100% of the edges within 1/64 of the ids",
        "vertices lie by falling degree: spread of degrees 1.00, 3% of the edges within 1/64 of the ids",
        "vertices lie by falling degree: spread of degrees 24.82",
        "vertices lie by falling degree: spread of degrees 1.00",
    ]


def two_orders(comm: Comm) -> tuple[np.ndarray, np.ndarray]:
    source, target = grid_of(80)
    order = np.random.default_rng(1).permutation(source.size)
    one, other = (
        gl.Graph.from_edges(source[rows], target[rows], comm=comm, strategy="chunk")
        for rows in (slice(None), order)
    )
    return one.local.gid, other.local.gid


def test_the_layout_does_not_depend_on_the_order_of_edges(ranks: Ranks) -> None:
    for local, again in ranks.run(two_orders):
        assert np.array_equal(local, again)


@given(st.integers(1, 400), st.integers(0, 2000), st.integers(1, 4), st.integers(0, 1 << 30))
def test_sorting_rows_on_threads(n: int, m: int, threads: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    src, dst = (n * rng.random((2, m)) ** 3).astype(np.int32)
    local = rng.permutation(n).astype(np.int32)
    by_source, by_target = (
        np.concatenate([[0], np.cumsum(np.bincount(local[e], minlength=n))]) for e in (src, dst)
    )
    neighbor, position = rows.rows_by_target([src, dst], local, by_source, by_target, True, threads)
    expected = np.lexsort((np.arange(m), local[src], local[dst]))
    assert np.array_equal(position, expected)
    assert np.array_equal(neighbor, local[src][expected])
    untagged, nothing = rows.rows_by_target([src, dst], local, by_source, by_target, False, threads)
    assert nothing is None
    assert np.array_equal(untagged, neighbor)


def test_granules_of_a_graph_with_many_vertices() -> None:
    n = 5 * rows.GRANULES  # a table entry then stands for several rows
    rng = np.random.default_rng(3)
    got = local_graph(rng.integers(0, n, 300_000), rng.integers(0, n, 300_000), n)
    target = got.targets()
    assert np.array_equal(np.lexsort((got.in_neighbor, target)), np.arange(300_000))
    begin, neighbor, slot = got.out()
    assert np.array_equal(target[slot], neighbor)
    assert np.array_equal(got.in_neighbor[slot], np.repeat(np.arange(n), np.diff(begin)))
