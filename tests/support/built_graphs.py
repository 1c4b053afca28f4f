"""Graphs of drawn edges that are built on several ranks and held against the whole list of edges."""

from __future__ import annotations

from itertools import chain, pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gaslab.graph.graph import Graph
from gaslab.parallel.comm import Comm
from tests.support.strategies import STRATEGIES as STRATEGIES
from tests.support.threadcomm import run_ranks


def edge_list(
    comm: Comm,
    src: Any,
    dst: Any,
    n: int,
    directed: bool = True,
    cuts: Any = None,
    num_left: int | None = None,
) -> Any:
    """This rank's run of the edges; each carries its number in the whole list as a column."""
    src, dst = np.asarray(src, dtype=np.int64), np.asarray(dst, dtype=np.int64)
    if cuts is None:
        cuts = [src.size * r // comm.size for r in range(comm.size + 1)]
    mine = slice(cuts[comm.rank], cuts[comm.rank + 1])
    number = np.arange(src.size)
    return SimpleNamespace(
        src=src[mine].copy(), dst=dst[mine].copy(), num_vertices=n, directed=directed,
        ids=SimpleNamespace(num_left=num_left), left_out={},
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

    # Local order: groups, then falling local degree or whether there are edges here, then gid.
    bounds = local.mirror_bounds
    assert bounds[0, 0] == local.num_masters
    assert bounds[-1, 3] == local.num_local
    assert np.array_equal(bounds[1:, 0], bounds[:-1, 3])
    assert bounds[comm.rank, 0] == bounds[comm.rank, 3]
    local_degree = np.diff(local.in_begin) + np.diff(out_begin)
    edges_of_groups = [0, *np.sort(bounds.ravel())]
    groups = [np.arange(lo, hi) for lo, hi in pairwise(edges_of_groups)]
    assert any(
        all((np.diff(np.lexsort((local.gid[rows], -first[rows]))) > 0).all() for rows in groups)
        for first in (local_degree, np.minimum(local_degree, 1))
    )
    for b0, b1, b2, b3 in bounds:
        assert np.all(has_out[b0:b2])
        assert not np.any(has_out[b2:b3])
        assert np.all(has_in[b1:b3])
        assert not np.any(has_in[b0:b1])

    # Owner and holder list the same vertices in the same order, class by class.
    held = comm.alltoall([local.gid[b[0] : b[3]] for b in bounds])
    received = comm.alltoall([b - b[0] for b in bounds])
    for p in range(comm.size):
        assert local.send_list[p].dtype == np.int32
        assert np.all(local.send_list[p] < local.num_masters)
        assert np.array_equal(local.gid[local.send_list[p]], held[p])
        assert np.array_equal(local.send_bounds[p], received[p])

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
