"""Parts to ranks: virtual ranks build what real ones would, and packing balances and saves traffic."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.cuts.partition import edges_of
from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.parallel.comm import Comm
from gaslab.parallel.virtual import Peers, hosted, hosts, run_virtual
from gaslab.partitioning.cut import cut
from gaslab.storage.manifest import manifest_of
from gaslab.storage.packing import pack
from gaslab.storage.write import graph_folder, parts_of_cut, save
from tests.mpi.ranks import Ranks
from tests.storage.saved import folder, kinds
from tests.storage.test_saved import the_same
from tests.support.graphs import described
from tests.support.threadcomm import run_ranks


def exchange(peers: Peers) -> tuple[list[int], list[list[int]]]:
    sent = [
        np.arange(100 * peers.rank + p, 100 * peers.rank + p + (peers.rank + p) % 4)
        for p in range(peers.size)
    ]
    return peers.allgather(peers.rank), [part.tolist() for part in peers.alltoall(sent)]


def exchange_on(comm: Comm, virtual: int) -> list[tuple[list[int], list[list[int]]]]:
    return run_virtual(comm, virtual, exchange)


@pytest.mark.parametrize("virtual", [1, 2, 3, 7])
def test_virtual_ranks_exchange_as_real_ones(ranks: Ranks, virtual: int) -> None:
    expected = run_ranks(virtual, exchange)
    found = [one for part in ranks.run(exchange_on, virtual) for one in part]
    assert found == expected
    assert [rank for p in range(ranks.size) for rank in hosted(p, ranks.size, virtual)] == list(
        range(virtual)
    )
    assert hosts(ranks.size, virtual).tolist() == sorted(hosts(ranks.size, virtual).tolist())


def fail(peers: Peers) -> None:
    peers.allgather(None)
    if peers.rank == 2:
        raise UsageError("virtual rank 2 fails")
    peers.allgather(None)


def fail_on(comm: Comm) -> None:
    with pytest.raises(UsageError, match="virtual rank 2 fails"):
        run_virtual(comm, 4, fail)


def test_a_virtual_rank_that_fails_ends_all(ranks: Ranks) -> None:
    ranks.run(fail_on)


def save_cut(graph: Graph, count: int, strategy: str, path: Path) -> None:
    """Cut a graph into so many parts and save it (collective)."""
    edges, comm = edges_of(graph), graph.comm
    edges.vertices = graph.local.gid[: graph.local.num_masters], graph.vertex_columns
    before = edges.src.copy(), edges.dst.copy()
    made = cut(edges, count, strategy, comm)
    output = comm.on_root(lambda: graph_folder(str(path), False))
    parts = parts_of_cut(comm, edges, made.part, count)
    save(comm, output, manifest_of(edges, strategy), edges.ids, parts, count)
    assert np.array_equal((edges.src, edges.dst), before)


def compare(count: int, kind: str, strategy: str, path: Path) -> None:
    """Hold what so many ranks load against what they build."""
    expected = run_ranks(count, lambda comm: kinds(comm)[kind].partitioned(strategy))
    loaded = run_ranks(count, lambda comm: gl.load_graph(path, comm=comm))
    for one, other in zip(expected, loaded, strict=True):
        the_same(one, other)


def cut_and_load(comm: Comm, strategy: str) -> None:
    """Every kind in some number of parts: on one rank after the other, in each number."""
    with folder(comm) as place:
        for k, (kind, graph) in enumerate(kinds(comm).items()):
            count = (1, 3, 5)[(k + comm.size) % 3]
            path = place / f"{kind.replace(' ', '-')}-{count}"
            save_cut(graph, count, strategy, path)
            found = gl.load_graph(path, strategy=strategy, comm=comm)
            assert described(found) == described(graph)
            if strategy == "dbh":  # which cuts alike on any number of ranks
                comm.on_root(partial(compare, count, kind, strategy, path))


@pytest.mark.parametrize("strategy", ["dbh", "hdrf"])
def test_a_cut_into_any_number_of_parts_is_saved_and_started_from(ranks: Ranks, strategy: str) -> None:
    ranks.run(cut_and_load, strategy)


@given(st.data())
def test_packing_fills_no_rank_beyond_the_fullest_part_or_the_mean(data: st.DataObject) -> None:
    parts = data.draw(st.integers(1, 24))
    ranks = data.draw(st.integers(1, parts))
    edges = np.array(data.draw(st.lists(st.integers(0, 50), min_size=parts, max_size=parts)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    rank = pack(edges, rng.integers(0, 20, (parts, parts)), ranks)
    assert set(rank.tolist()) == set(range(ranks)), "every rank has a part"
    load = np.bincount(rank, weights=edges, minlength=ranks)
    assert load.max() <= max(1.05 * load.mean(), load.mean() + edges.max())


@pytest.mark.parametrize(("parts", "ranks"), [(8, 2), (64, 4), (256, 16)])
def test_parts_that_exchange_most_are_packed_together(parts: int, ranks: int) -> None:
    rng = np.random.default_rng(5)
    home = rng.permutation(np.repeat(np.arange(ranks), parts // ranks))
    together = home[:, None] == home[None, :]
    traffic = rng.integers(0, 10, (parts, parts)) + 100 * together
    rank = pack(rng.integers(95, 105, parts), traffic, ranks)
    kept = traffic[rank[:, None] == rank[None, :]].sum()
    assert kept > 0.95 * traffic[together].sum()


def test_parts_are_packed_by_their_traffic(tmp_path: Path) -> None:
    """Two dense halves, in parts that alternate between them, are brought together again."""
    rng = np.random.default_rng(3)
    halves = [rng.integers(lo, lo + 50, (2, 800)) for lo in (0, 50)]
    graph = Graph.from_edges(*np.concatenate(halves, axis=1))
    edges = edges_of(graph)
    part = np.where(edges.src < 50, 0, 1) + 2 * (np.arange(edges.src.size) % 2)
    parts = parts_of_cut(graph.comm, edges, part.astype(np.int32), 4)
    output = graph_folder(str(tmp_path / "graph"), False)
    save(graph.comm, output, manifest_of(edges, "1d"), edges.ids, parts, 4)

    def load(comm: Comm) -> tuple[float, float]:
        found = gl.load_graph(tmp_path / "graph", comm=comm)
        return found.replication_factor, found.edge_balance

    assert run_ranks(2, load)[0] == (1.0, 1.0)
