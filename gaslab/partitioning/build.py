"""From a share of the edges to a `LocalGraph`: cut, shuffle, place masters, order, sort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import gaslab._kernels.csr as kernels
from gaslab.ingest.edges import EdgeList
from gaslab.parallel.comm import Comm
from gaslab.parallel.virtual import Peers
from gaslab.partitioning.index import Index
from gaslab.partitioning.layout import Layout
from gaslab.partitioning.local_graph import LocalGraph
from gaslab.partitioning.masters import Placement, place_masters
from gaslab.partitioning.parts import parts_of
from gaslab.partitioning.rows import rows_by_target
from gaslab.partitioning.shuffle import check_limit, shuffle
from gaslab.partitioning.strategies import Context, Strategy, is_shipped, needs_options
from gaslab.ragged import RaggedColumn


def build_local(
    edges: EdgeList, strategy: str, cut: Strategy, comm: Comm, threads: int = 1
) -> tuple[LocalGraph, dict[str, Any], str | None]:
    """Build this rank's part of the graph and its edge columns in slot order (collective).

    *cut* is the strategy's function, *strategy* its name in errors; if it chose another strategy, that name
    is returned last. Takes over the arrays of *edges*: they are freed as soon as they are not needed.
    """
    share, n = Share.of(edges), edges.num_vertices
    context = Context.of(edges, comm, threads)
    if comm.size > 1:
        part = parts_of(strategy, cut, share.ends, comm.size, context)
        shuffle(comm, share.ends, share.columns, part, num_vertices=n, threads=threads)
    elif not is_shipped(strategy) or needs_options(strategy):
        # A strategy that returns nonsense, or a file with wrong parts, is also an error here.
        parts_of(strategy, cut, share.ends, 1, context)
    return *build_placed(share, n, edges.directed, comm, threads), context.chosen


@dataclass
class Share:
    """The edges of one rank while they are built into its part: each step frees what it has read."""

    ends: list[np.ndarray]  # global ids of the sources and of the targets
    columns: dict[str, Any]

    @classmethod
    def of(cls, edges: EdgeList) -> Share:
        """Take over the arrays of an edge list."""
        made = cls(
            [np.ascontiguousarray(edges.src), np.ascontiguousarray(edges.dst)],
            {
                name: values if isinstance(values, RaggedColumn) else np.ascontiguousarray(values)
                for name, values in edges.columns.items()
            },
        )
        edges.src = edges.dst = np.empty(0, dtype=np.int64)
        edges.columns = {}
        return made


def build_placed(
    share: Share, num_vertices: int, directed: bool, comm: Peers, threads: int = 1
) -> tuple[LocalGraph, dict[str, Any]]:
    """As `build_local`, for edges already on their ranks (collective)."""
    if comm.size == 1:
        check_limit(np.array([share.ends[0].size]), "edges")
        check_limit(np.array([num_vertices]), "vertices")
        return _alone(share, num_vertices, directed, threads)
    index = Index(share.ends[0], share.ends[1], num_vertices)
    check_limit(np.array(comm.allgather(index.gids.size)), "vertices")
    for end, ids in enumerate(share.ends):
        share.ends[end] = index.of(ids, threads)
    out_count, in_count = _count_ends(share, index.gids.size, threads)
    placement = place_masters(comm, index.gids, in_count, out_count, num_vertices, directed)
    return _assemble(share, index, in_count, out_count, placement, comm, directed, threads)


def _alone(share: Share, n: int, directed: bool, threads: int) -> tuple[LocalGraph, dict[str, Any]]:
    """Build the whole graph on the only rank: every vertex a master, nothing to exchange."""
    out_count, in_count = _count_ends(share, n, threads)
    order = _order(share, np.zeros(n, dtype=np.int64), in_count, out_count, says=True)
    degree, in_degree, out_degree = _degrees(
        in_count[order].astype(np.int64), out_count[order].astype(np.int64), directed
    )
    begin, neighbor, columns = _sort_edges(share, order, in_count, out_count, threads)
    local = LocalGraph(
        num_masters=n, num_local=n, size=1, rank=0,
        gid=order.astype(np.int64),
        degree=degree, in_degree=in_degree, out_degree=out_degree,
        in_begin=begin, in_neighbor=neighbor,
        mirror_bounds=np.full((1, 4), n, dtype=np.int64),
        send_list=[np.empty(0, dtype=np.int32)],
        send_bounds=np.zeros((1, 4), dtype=np.int64),
        threads=threads,
    )  # fmt: skip
    return local, columns


def _assemble(
    share: Share, index: Index, in_count: np.ndarray, out_count: np.ndarray, placement: Placement,
    comm: Peers, directed: bool, threads: int,
) -> tuple[LocalGraph, dict[str, Any]]:  # fmt: skip
    """Order the vertices, agree on the mirrors, sort the edges."""
    lonely = placement.isolated.size
    in_count, out_count = _pad(in_count, lonely), _pad(out_count, lonely)
    gids = np.concatenate([index.gids, placement.isolated])
    check_limit(np.array(comm.allgather(gids.size)), "vertices")

    # Group 0 are the masters; groups 1 + 3 p .. 3 + 3 p the mirrors of rank p: out-only, both, in-only.
    group = np.zeros(gids.size, dtype=np.int64)
    edge_class = np.where(in_count == 0, 0, np.where(out_count == 0, 2, 1))
    mirror = np.flatnonzero(placement.master != comm.rank)
    group[mirror] = 1 + 3 * placement.master[mirror].astype(np.int64) + edge_class[mirror]
    ends = np.cumsum(np.bincount(group, minlength=1 + 3 * comm.size))
    mirror_bounds = np.stack([ends[3 * p : 3 * p + 4] for p in range(comm.size)])

    order = _order(share, group, in_count, out_count, says=comm.rank == 0)
    gid, local_of = gids[order], inverse(order)
    asked = comm.alltoall([gid[b[0] : b[3]] for b in mirror_bounds])
    bounds = comm.alltoall([b - b[0] for b in mirror_bounds])
    degree, in_degree, out_degree = _degrees(
        _pad(placement.in_degree, lonely)[order], _pad(placement.out_degree, lonely)[order], directed
    )

    begin, neighbor, columns = _sort_edges(share, order, in_count, out_count, threads)
    local = LocalGraph(
        num_masters=int(ends[0]), num_local=gids.size, size=comm.size, rank=comm.rank,
        gid=gid,
        degree=degree, in_degree=in_degree, out_degree=out_degree,
        in_begin=begin, in_neighbor=neighbor,
        mirror_bounds=mirror_bounds,
        send_list=[local_of[index.of(ids)] for ids in asked],
        send_bounds=np.stack(bounds),
        threads=threads,
    )  # fmt: skip
    return local, columns


def _order(
    share: Share, group: np.ndarray, in_count: np.ndarray, out_count: np.ndarray, says: bool
) -> np.ndarray:
    """Return the order of the vertices by rising group, within it as suits the local edges."""
    degree = np.add(in_count, out_count, dtype=np.int64)
    layout = Layout.of(share.ends, degree)
    if says:
        layout.say()
    return layout.order(group, degree)


def _count_ends(share: Share, n: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    out_count, in_count = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
    src, dst = share.ends
    kernels.count_ends(src, dst, out_count, in_count, threads)
    return out_count, in_count


def _pad(values: np.ndarray, zeros: int) -> np.ndarray:
    return np.concatenate([values, np.zeros(zeros, dtype=values.dtype)])


def _degrees(
    in_degree: np.ndarray, out_degree: np.ndarray, directed: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return degree, in- and out-degree: one array for all three if edges have no direction."""
    both = in_degree + out_degree
    return (both, in_degree, out_degree) if directed else (both, both, both)


def inverse(order: np.ndarray) -> np.ndarray:
    """Return the int32 inverse of a permutation."""
    where = np.empty(order.size, dtype=np.int32)
    where[order] = np.arange(order.size, dtype=np.int32)
    return where


def _sort_edges(
    share: Share, order: np.ndarray, in_count: np.ndarray, out_count: np.ndarray, threads: int
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Sort the edges by target and source: ``in_begin``, ``in_neighbor``, columns in slot order."""
    out_begin, in_begin = _begins(out_count[order]), _begins(in_count[order])
    columns = share.columns
    neighbor, position = rows_by_target(
        share.ends, inverse(order), out_begin, in_begin, bool(columns), threads
    )
    return in_begin, neighbor, {name: columns.pop(name)[position] for name in list(columns)}


def _begins(counts: np.ndarray) -> np.ndarray:
    begin = np.zeros(counts.size + 1, dtype=np.int64)
    np.cumsum(counts, out=begin[1:])
    return begin
