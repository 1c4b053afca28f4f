"""The vertex-cut: every edge once, every vertex one master, mirrors agreed, on any number of ranks."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.parallel.comm import Comm
from gaslab.partitioning import index, shuffle
from gaslab.partitioning.cut import cut
from gaslab.partitioning.directory import Directory
from gaslab.partitioning.index import Index
from tests.mpi.ranks import Ranks
from tests.support.built_graphs import STRATEGIES, build_and_check, edge_list, multigraphs, rank_of_cut
from tests.support.threadcomm import run_ranks


@given(multigraphs(), st.integers(1, 6), st.sampled_from(STRATEGIES), st.booleans())
def test_any_graph_on_any_ranks(graph: Any, size: int, strategy: str, directed: bool) -> None:
    src, dst, n = graph
    build_and_check(size, src, dst, n, strategy=strategy, directed=directed)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_over_mpi(ranks: Ranks, strategy: str) -> None:
    rng = np.random.default_rng(7)
    src, dst = rng.zipf(1.5, 2000) % 150, rng.integers(0, 150, 2000)
    got = ranks.run(rank_of_cut, src, dst, 160, strategy, threads=2)
    assert [total for total, _ in got] == [2000] * ranks.size
    assert sum(here for _, here in got) == 2000


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("size", [2, 3, 5])
def test_cut_is_the_same_however_the_edges_were_split(strategy: str, size: int) -> None:
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 200, 3000), rng.zipf(1.5, 3000) % 200
    even = build_and_check(size, src, dst, 200, strategy=strategy)
    uneven = build_and_check(size, src, dst, 200, strategy=strategy, cuts=[0] * size + [3000])
    for a, b in zip(even, uneven, strict=True):
        assert a["part"] == b["part"]
        assert np.array_equal(a["graph"].local.in_neighbor, b["graph"].local.in_neighbor)
        assert np.array_equal(a["graph"].local.gid, b["graph"].local.gid)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize(
    ("src", "dst", "n"),
    [
        ([], [], 1),
        ([], [], 7),
        ([0], [0], 1),
        ([0, 0, 0], [0, 0, 0], 2),
        ([4, 1], [1, 4], 9),
        ([5] * 8, list(range(8)), 8),
    ],
    ids=["one vertex", "no edges", "a loop", "parallel loops", "both ways", "star"],
)
def test_small_graphs(strategy: str, size: int, src: Any, dst: Any, n: int) -> None:
    for directed in (True, False):
        build_and_check(size, src, dst, n, strategy=strategy, directed=directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("strategy", ["random", "2d", "hdrf"])  # the others leave less of a choice
def test_ranks_exchange_as_much_as_each_other(strategy: str, directed: bool) -> None:
    rng = np.random.default_rng(5)
    src, dst = rng.zipf(1.6, 20_000) % 3000, rng.integers(0, 3000, 20_000)
    census = cut(edge_list(Comm(), src, dst, 3000, directed), 4, strategy).census
    values = census.sends + census.receives
    assert values.max() < 1.03 * values.mean()


def test_metrics() -> None:
    src, dst = [0, 0, 0, 1], [1, 2, 3, 0]
    got = build_and_check(2, src, dst, 6, strategy="random")
    graph = got[0]["graph"]
    holders = [set(g["graph"].local.gid[g["graph"].local.degree > 0].tolist()) for g in got]
    assert graph.replication_factor == pytest.approx(sum(map(len, holders)) / 4)
    assert graph.edge_balance == pytest.approx(max(len(g["part"]) for g in got) / 2)
    replicas = [len(h) for h in holders]
    assert graph.vertex_balance == pytest.approx(max(replicas) / (sum(replicas) / 2))
    empty = build_and_check(3, [], [], 0)[2]["graph"]
    assert (empty.replication_factor, empty.edge_balance, empty.vertex_balance) == (1.0, 1.0, 1.0)


def metrics_of_a_cut(comm: Comm, src: Any, dst: Any, n: int, k: int, strategy: str) -> Any:
    edges = edge_list(comm, src, dst, n)
    made = cut(edges, k, strategy, comm)
    assert (made.strategy, made.k, made.part.dtype) == (strategy, k, np.int32)
    assert edges.src.size == made.part.size
    return np.concatenate(comm.allgather(made.part)).tolist(), made.metrics


@given(multigraphs(), st.integers(1, 3), st.integers(1, 200), st.sampled_from(STRATEGIES))
def test_a_cut_looked_at_without_building_it(graph: Any, size: int, k: int, strategy: str) -> None:
    src, dst, n = graph
    (part, metrics), *others = run_ranks(size, lambda comm: metrics_of_a_cut(comm, src, dst, n, k, strategy))
    assert all(other == (part, metrics) for other in others)
    pairs = {*zip(src, part, strict=True), *zip(dst, part, strict=True)}
    edges, replicas = Counter(part), Counter(p for _, p in pairs)
    assert set(part) <= set(range(k))
    if src:
        assert metrics.replication_factor == pytest.approx(len(pairs) / len({*src, *dst}))
        assert metrics.edge_balance == pytest.approx(max(edges.values()) / (len(src) / k))
        assert metrics.vertex_balance == pytest.approx(max(replicas.values()) / (len(pairs) / k))
    if k == size:
        built = build_and_check(size, src, dst, n, strategy=strategy)[0]["graph"]
        assert metrics.replication_factor == pytest.approx(built.replication_factor)
        assert metrics.vertex_balance == pytest.approx(built.vertex_balance)
        assert metrics.edge_balance == pytest.approx(built.edge_balance)


def test_a_cut_needs_a_part() -> None:
    with pytest.raises(UsageError, match="k=0: a whole number from 1 to 2147483647 is needed"):
        cut(edge_list(Comm(), [0], [1], 2), 0)


def test_too_many_edges_for_a_rank_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "INT32_LIMIT", 10)
    message = r"rank 0 would hold 12 edges, more than the 10 a rank can number; use .*-n 3\)"
    for size in (1, 2):
        with pytest.raises(UsageError, match=message):
            run_ranks(size, lambda comm: check_fails(comm))


def check_fails(comm: Comm) -> None:
    edges = edge_list(comm, [1] * 12, [2] * 12, 3)
    with pytest.raises(UsageError) as caught:
        Graph.from_edge_list(edges, strategy="1d", comm=comm)
    texts = comm.allgather(str(caught.value))
    assert texts == [texts[0]] * comm.size
    raise caught.value


@given(multigraphs())
def test_sparse_and_dense_numbering_agree(graph: Any) -> None:
    ends = [np.asarray(a, dtype=np.int64) for a in graph[:2]]
    dense, sparse = Index(*ends, 31), Index(*ends, 1 << 40)
    assert dense.gids.dtype == sparse.gids.dtype == np.int64
    assert np.array_equal(dense.gids, sparse.gids)
    for ids in ends:
        assert np.array_equal(dense.of(ids), sparse.of(ids))
        assert np.array_equal(dense.gids[dense.of(ids)], ids)


def test_a_small_share_of_a_huge_graph_is_built_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    src, dst = rng.integers(0, 90, 400), rng.integers(0, 90, 400)
    usual = build_and_check(3, src, dst, 95, strategy="dbh")
    monkeypatch.setattr(index, "SPARSE", 0)
    for a, b in zip(usual, build_and_check(3, src, dst, 95, strategy="dbh"), strict=True):
        assert np.array_equal(a["graph"].local.in_neighbor, b["graph"].local.in_neighbor)


def rank_of_shuffle(comm: Comm, shift: int, threads: int) -> None:
    rng = np.random.default_rng(comm.rank)
    src, dst = rng.integers(0, 50, (2, 300)) + shift
    part = rng.integers(0, comm.size, 300).astype(np.int32)
    columns = {"f4": rng.random(300).astype(np.float32), "flag": src % 2 == 1, "i2": dst.astype(np.int16)}
    sent = comm.allgather((src, dst, part, dict(columns)))
    ends = [src.copy(), dst.copy()]
    shuffle.shuffle(comm, ends, columns, part, num_vertices=shift + 50, threads=threads)
    for end in range(2):
        assert ends[end].dtype == (np.int32 if shift + 50 < 1 << 31 else np.int64)
        assert np.array_equal(ends[end], np.concatenate([s[end][s[2] == comm.rank] for s in sent]))
    for name, values in columns.items():
        assert values.dtype == sent[0][3][name].dtype
        assert np.array_equal(values, np.concatenate([s[3][name][s[2] == comm.rank] for s in sent]))


@pytest.mark.parametrize("shift", [0, (1 << 31) - 50, 1 << 40])
@pytest.mark.parametrize("threads", [1, 3])
def test_shuffle_keeps_the_order_of_ranks_and_rows(shift: int, threads: int) -> None:
    run_ranks(3, lambda comm: rank_of_shuffle(comm, shift, threads))


def rank_of_directory(comm: Comm, n: int) -> None:
    gids = np.unique(np.random.default_rng(comm.rank).integers(0, n, 200))
    directory = Directory(comm, gids, n)
    everyone = comm.allgather(gids)
    mine = [(p, g) for p, ids in enumerate(everyone) for g in ids[ids % comm.size == comm.rank].tolist()]
    assert (directory.slots.astype(np.int64) * comm.size + comm.rank).tolist() == [g for _, g in mine]
    assert directory.sender.tolist() == [p for p, _ in mine]
    assert directory.send(gids * 3).tolist() == [g * 3 for _, g in mine]
    reply = directory.answer(directory.slots.astype(np.int64) * comm.size + comm.rank + directory.sender)
    assert np.array_equal(reply, gids + comm.rank)


@pytest.mark.parametrize("n", [7, 1000, 1 << 31, 1 << 45])
def test_directory_finds_the_way_back(n: int) -> None:
    for size in (1, 3):
        run_ranks(size, lambda comm: rank_of_directory(comm, n))


def rank_of_sums(comm: Comm) -> None:
    gids = np.arange(comm.rank, 20, comm.rank + 1)
    directory = Directory(comm, gids, 23)
    totals = directory.sums(np.full(gids.size, 1 << 31, dtype=np.int64))
    holders = Counter(chain(*comm.allgather(gids.tolist())))
    assert totals.tolist() == [holders[g] << 31 for g in range(comm.rank, 23, comm.size)]


def test_directory_sums_over_ranks() -> None:
    run_ranks(3, rank_of_sums)
