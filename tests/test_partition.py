"""The vertex-cut: every edge once, every vertex one master, mirrors agreed, on any number of ranks."""

from __future__ import annotations

from collections import Counter
from itertools import chain, pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaslab.comm import Comm
from gaslab.errors import UsageError
from gaslab.graph import Graph
from gaslab.partition import index, shuffle, strategies
from gaslab.partition.cut import cut
from gaslab.partition.directory import Directory
from gaslab.partition.index import Index
from tests.mpi.ranks import Ranks
from tests.threadcomm import run_ranks

STRATEGIES = sorted(strategies.STRATEGIES)


def edge_list(comm: Comm, src: Any, dst: Any, n: int, directed: bool = True, cuts: Any = None) -> Any:
    """This rank's run of the edges; each carries its number in the whole list as a column."""
    src, dst = np.asarray(src, dtype=np.int64), np.asarray(dst, dtype=np.int64)
    if cuts is None:
        cuts = [src.size * r // comm.size for r in range(comm.size + 1)]
    mine = slice(cuts[comm.rank], cuts[comm.rank + 1])
    number = np.arange(src.size)
    return SimpleNamespace(
        src=src[mine].copy(), dst=dst[mine].copy(), num_vertices=n, directed=directed, ids=None,
        columns={"number": number[mine].copy(), "weight": number[mine] * 0.5, "odd": number[mine] % 2 == 1},
        counts={}, source="test", fingerprint="",
    )  # fmt: skip


def check(comm: Comm, graph: Graph, src: Any, dst: Any) -> dict[str, Any]:
    """Hold this rank's part against the whole list of edges; return what ranks are compared by."""
    local = graph.local
    src, dst, n = np.asarray(src, dtype=np.int64), np.asarray(dst, dtype=np.int64), graph.num_vertices
    assert (graph.num_edges, local.rank, local.size) == (src.size, comm.rank, comm.size)
    assert local.gid.size == local.num_local == local.in_begin.size - 1
    assert np.unique(local.gid).size == local.num_local

    # Slots: each is the edge its column says, rows ascend, parallel edges keep their order.
    target = local.targets()
    number = graph.edge_columns["number"]
    assert np.array_equal(src[number], local.gid[local.in_neighbor])
    assert np.array_equal(dst[number], local.gid[target])
    assert np.array_equal(graph.edge_columns["weight"], number * 0.5)
    assert np.array_equal(graph.edge_columns["odd"], number % 2 == 1)
    assert np.array_equal(np.lexsort((number, local.in_neighbor, target)), np.arange(number.size))
    assert sorted(chain(*comm.allgather(number.tolist()))) == list(range(src.size))

    # The same edges by source.
    out_begin, out_neighbor, out_slot = local.out()
    source = np.repeat(np.arange(local.num_local), np.diff(out_begin))
    assert np.array_equal(local.in_neighbor[out_slot], source)
    assert np.array_equal(target[out_slot], out_neighbor)
    assert np.array_equal(np.lexsort((out_slot, out_neighbor, source)), np.arange(source.size))

    # Degrees of the whole graph, on every replica.
    in_degree, out_degree = np.bincount(dst, minlength=n), np.bincount(src, minlength=n)
    both = in_degree + out_degree
    assert np.array_equal(local.degree, both[local.gid])
    assert np.array_equal(local.in_degree, (in_degree if graph.directed else both)[local.gid])
    assert np.array_equal(local.out_degree, (out_degree if graph.directed else both)[local.gid])

    # One master each; with edges on one of their ranks, without at gid % size.
    masters = local.gid[: local.num_masters]
    assert sorted(chain(*comm.allgather(masters.tolist()))) == list(range(n))
    has_in, has_out = np.diff(local.in_begin) > 0, np.diff(out_begin) > 0
    lonely = local.degree == 0
    assert np.all(masters[lonely[: local.num_masters]] % comm.size == comm.rank)
    assert np.array_equal(lonely, ~(has_in | has_out))

    # Local order: groups, then falling local degree, then gid.
    bounds = local.mirror_bounds
    assert bounds[0, 0] == local.num_masters
    assert bounds[-1, 3] == local.num_local
    assert np.array_equal(bounds[1:, 0], bounds[:-1, 3])
    assert bounds[comm.rank, 0] == bounds[comm.rank, 3]
    local_degree = np.diff(local.in_begin) + np.diff(out_begin)
    edges_of_groups = [0, *np.sort(bounds.ravel())]
    for lo, hi in pairwise(edges_of_groups):
        rows = np.arange(lo, hi)
        assert np.array_equal(np.lexsort((local.gid[rows], -local_degree[rows])), np.arange(hi - lo))
    for b0, b1, b2, b3 in bounds:
        assert np.all(has_out[b0:b2])
        assert not np.any(has_out[b2:b3])
        assert np.all(has_in[b1:b3])
        assert not np.any(has_in[b0:b1])

    # Owner and holder list the same vertices in the same order, class by class.
    held = comm.alltoall([local.gid[b[0] : b[3]] for b in bounds])
    told = comm.alltoall([b - b[0] for b in bounds])
    for p in range(comm.size):
        assert local.send_list[p].dtype == np.int32
        assert np.all(local.send_list[p] < local.num_masters)
        assert np.array_equal(local.gid[local.send_list[p]], held[p])
        assert np.array_equal(local.send_bounds[p], told[p])

    part = dict(zip(number.tolist(), [comm.rank] * number.size, strict=True))
    return {"part": part, "masters": masters, "graph": graph}


def rank_of_cut(comm: Comm, src: Any, dst: Any, n: int, strategy: str) -> tuple[int, int]:
    check(
        comm,
        graph := Graph.from_edge_list(edge_list(comm, src, dst, n), strategy=strategy, comm=comm),
        src,
        dst,
    )
    return graph.num_edges, graph.local.num_edges


def build_and_check(size: int, src: Any, dst: Any, n: int, **options: Any) -> list[dict[str, Any]]:
    strategy, cuts = options.pop("strategy", None), options.pop("cuts", None)

    def rank(comm: Comm) -> dict[str, Any]:
        edges = edge_list(comm, src, dst, n, cuts=cuts, **options)
        return check(comm, Graph.from_edge_list(edges, strategy=strategy, comm=comm), src, dst)

    return run_ranks(size, rank)


@st.composite
def multigraphs(draw: Any) -> tuple[list[int], list[int], int]:
    n = draw(st.integers(1, 30))
    ends = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=60))
    return [a for a, _ in edges], [b for _, b in edges], n


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


def test_1d_has_no_in_edges_on_mirrors() -> None:
    rng = np.random.default_rng(2)
    for got in build_and_check(4, rng.integers(0, 99, 900), rng.integers(0, 99, 900), 99, strategy="1d"):
        bounds = got["graph"].local.mirror_bounds
        assert np.array_equal(bounds[:, 1], bounds[:, 3])


def test_2d_bounds_the_replicas() -> None:
    rng = np.random.default_rng(3)
    src, dst = np.zeros(4000, dtype=int), rng.integers(0, 500, 4000)  # vertex 0 is the source of every edge
    for size, most in [(4, 3), (9, 5)]:
        got = build_and_check(size, src, dst, 500, strategy="2d")
        assert sum(0 in g["graph"].local.gid for g in got) <= most


@pytest.mark.parametrize("k", range(1, 18))
def test_2d_uses_every_part_evenly(k: int) -> None:
    src, dst = np.random.default_rng(6).integers(0, 5000, (2, 200_000))
    part = strategies.by_grid(src, dst, k, strategies.Context(Comm(), 5000, True))
    counts = np.bincount(part, minlength=k)
    assert counts.size == k
    assert counts.max() < 1.2 * counts.mean()
    replicas = Counter(v for v, _ in {*zip(src.tolist(), part.tolist(), strict=True)})
    assert max(replicas.values()) <= np.ceil(np.sqrt(k)) + 1


def test_dbh_keeps_leaves_whole() -> None:
    leaves = np.arange(1, 401)
    got = build_and_check(4, np.zeros(400, dtype=int), leaves, 401, strategy="dbh")
    holders = Counter(v for g in got for v in g["graph"].local.gid.tolist())
    assert holders[0] == 4
    assert all(holders[v] == 1 for v in leaves)


@pytest.mark.parametrize("n", [1000, strategies.SLICES - 1, strategies.SLICES, 300_001])
def test_chunks_are_ranges_with_as_much_work(n: int) -> None:
    dst = np.concatenate([np.arange(n), np.full(8 * n, n // 3)])  # one with half of the work
    part = strategies.by_chunk(np.zeros_like(dst), dst, 4, strategies.Context(Comm(), n, True))
    assert np.all(np.diff(part[:n]) >= 0)
    assert len(set(part[n:].tolist())) == 1
    work = np.bincount(part, minlength=4) + strategies.VERTEX_WORK * np.bincount(part[:n], minlength=4)
    assert work.sum() == 17 * n
    others = np.delete(work, part[-1])
    assert others.max() < 0.26 * 17 * n, "no chunk has more than its share but by one vertex"


def test_a_path_in_chunks_has_one_mirror_at_each_border() -> None:
    path = np.arange(4999)
    got = build_and_check(4, path, path + 1, 5000, strategy="chunk")
    assert got[0]["graph"].replication_factor == pytest.approx(5003 / 5000)
    assert max(g["masters"].size for g in got) < 1.02 * 1250


def test_random_keeps_an_edge_and_its_reverse_together() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 1 << 40, 500), rng.integers(0, 1 << 40, 500)
    context = strategies.Context(Comm(), 1 << 40, True)
    assert np.array_equal(strategies.random(a, b, 7, context), strategies.random(b, a, 7, context))
    assert set(strategies.random(a, b, 7, context)) == set(range(7))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_masters_are_balanced(strategy: str) -> None:
    rng = np.random.default_rng(5)
    src, dst = rng.zipf(1.6, 20_000) % 3000, rng.integers(0, 3000, 20_000)
    got = build_and_check(4, src, dst, 3000, strategy=strategy)
    masters = [g["masters"].size for g in got]
    # 1d and chunk leave no choice but for vertices without in-edges; hashing alone is this even.
    assert max(masters) < (1.1 if strategy in ("1d", "chunk") else 1.02) * 750


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
    with pytest.raises(UsageError, match="cannot be cut into 0 parts"):
        cut(edge_list(Comm(), [0], [1], 2), 0)


def test_unknown_strategy_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="no partitioning strategy 'dhb'; did you mean 'dbh'"):
        strategies.find("dhb")


def test_default_strategy_is_registered() -> None:
    assert strategies.find(None) == (strategies.DEFAULT, strategies.STRATEGIES[strategies.DEFAULT])


def test_a_registered_strategy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        strategies.STRATEGIES, "last", lambda src, dst, k, context: np.full(src.size, k - 1, dtype=np.int32)
    )
    got = build_and_check(3, [0, 1, 2], [1, 2, 0], 4, strategy="last")
    assert [g["graph"].local.num_edges for g in got] == [0, 0, 3]


def test_too_many_edges_for_a_rank_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffle, "INT32_LIMIT", 10)
    message = r"rank 1 would hold 12 edges, more than the 10 a rank can number; use .*-n 3\)"
    for size in (1, 2):
        with pytest.raises(UsageError, match=message if size == 2 else "rank 0 would hold 12 edges"):
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
    assert directory.tell(gids * 3).tolist() == [g * 3 for _, g in mine]
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
