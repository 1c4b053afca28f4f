"""The census of a cut: the edges, masters and mirrors of each part, and what they exchange.

Vertices are counted in two ranges of ids, so that their rows of bits, one for edges that lead to a vertex
and one for edges from it, take n * ceil(k / 64) * 8 bytes on each rank, and at the directory a share of that.
The places of replicas are listed as well: 10 bytes per replica for one range, of which 4 are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import gaslab._kernels.measure as kernels
import gaslab._kernels.partition as placing
from gaslab.parallel.comm import Comm
from gaslab.partitioning.directory import Directory
from gaslab.partitioning.index import Index
from gaslab.partitioning.masters import kinds_of

MOST_DIRECTORIES = 1024  # at which masters are chosen; a run has one on each rank
MOST_TRAFFIC = 1024  # parts up to which traffic between each pair is counted


@dataclass(frozen=True)
class Census:
    """The contents of each part, counting vertices with an edge; the same on every rank.

    Attributes
    ----------
    k : int
    vertices, cut_vertices : int
        Number of vertices with an edge, and of those in more than one part.
    edges, replicas, masters, mirrors : int64 arrays of k
    sends, receives : int64 arrays of k
        Values sent and received in a superstep: a mirror with gathered edges sends a sum to its master, and a
        mirror with out-edges gets the new value. In an undirected graph every mirror does both.
    traffic : int64 array [k, k] or None
        Number of mirrors in the column's part with their master in the row's part; up to 1,024 parts.
    by_degree : int64 array [3, ranges]
        The lower end of each range of degrees, each twice the last; its number of vertices; their replicas.
    """

    k: int
    vertices: int
    cut_vertices: int
    edges: np.ndarray
    replicas: np.ndarray
    masters: np.ndarray
    mirrors: np.ndarray
    sends: np.ndarray
    receives: np.ndarray
    traffic: np.ndarray | None
    by_degree: np.ndarray


@dataclass(frozen=True)
class Holders:
    """Where the vertices of this rank's share are.

    Attributes
    ----------
    gids : int64 array
    master : int32 array
        The part of each vertex's master.
    counts : int64 array
        Number of parts that each vertex is in; a vertex without edges is in the part of its master.
    parts : int32 array
        These parts, ascending, one vertex after the other.
    """

    gids: np.ndarray
    master: np.ndarray
    counts: np.ndarray
    parts: np.ndarray


def take_census(
    src: np.ndarray, dst: np.ndarray, part: np.ndarray, k: int, degree: np.ndarray, directed: bool,
    comm: Comm, threads: int,
) -> tuple[Census, Holders]:  # fmt: skip
    """Count the contents of a cut's parts, and list where each vertex is (collective).

    Parameters
    ----------
    src, dst : int64 arrays
        Global ids of the ends of this rank's edges.
    part : int32 array
        The part of each of these.
    degree : int64 array
        Of every vertex of the whole graph, by global id.

    Masters are where a run on *k* ranks has them: a directory for every k-th vertex chooses.
    """
    marks = _Marks(src, dst, part, k, degree.size, comm, threads)
    counts = np.zeros((7, k), np.int64)
    traffic = np.zeros((k, k) if k <= MOST_TRAFFIC else (0, 0), np.int64)
    load = np.zeros((marks.groups, k), np.int64)
    levels = np.zeros((int(degree.max(initial=1)).bit_length(), 3), np.int64)
    shares: list[Holders] = []
    for gids, begin, holder, has_in, has_out in marks.ranges():
        if not directed:
            has_in = has_out = np.ones_like(has_in)
        master = _masters(gids, begin, holder, kinds_of(has_in, has_out), load, k)
        kernels.tally(begin, holder, has_in, has_out, master, gids, degree, counts, traffic, levels)
        shares.append(_share(gids, master, np.diff(begin), holder))
    edges = np.zeros((threads, k), np.int64)
    placing.count_parts(part, edges)
    counts, levels = comm.allreduce(counts), comm.allreduce(levels)
    found = np.flatnonzero(levels[:, 0])
    census = Census(
        k=k,
        vertices=int(counts[1].sum()),
        cut_vertices=int(levels[:, 1].sum()),
        edges=comm.allreduce(edges.sum(axis=0)),
        replicas=counts[0], masters=counts[1], mirrors=counts[2],
        sends=counts[3] + counts[6], receives=counts[4] + counts[5],
        traffic=comm.allreduce(traffic) if traffic.size else None,
        by_degree=np.stack([1 << found, levels[found, 0], levels[found, 2]]),
    )  # fmt: skip
    return census, Holders(*(np.concatenate(column) for column in zip(*map(_columns, shares), strict=True)))


def _columns(share: Holders) -> tuple[np.ndarray, ...]:
    return share.gids, share.master, share.counts, share.parts


def _masters(
    gids: np.ndarray, begin: np.ndarray, holder: np.ndarray, kinds: np.ndarray, load: np.ndarray, k: int
) -> np.ndarray:
    """Choose masters as a run does; *load* goes on from range to range."""
    master = (gids % k).astype(np.int32)
    record = np.arange(holder.size, dtype=np.int32)
    for group in range(load.shape[0]):
        lo, hi = (gids.size * g // load.shape[0] for g in (group, group + 1))
        placing.place(begin[lo : hi + 1], record, holder, kinds, load[group], master[lo:hi])
    return master


def _share(gids: np.ndarray, master: np.ndarray, replicas: np.ndarray, holder: np.ndarray) -> Holders:
    """Return all vertices at their masters, those without edges after the others."""
    held, alone = replicas > 0, (replicas == 0) & (gids >= 0)
    return Holders(
        gids=np.concatenate([gids[held], gids[alone]]),
        master=np.concatenate([master[held], master[alone]]),
        counts=np.concatenate([replicas[held], np.ones(int(alone.sum()), np.int64)]),
        parts=np.concatenate([holder, master[alone]]),
    )


Range = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class _Marks:
    """Rows of bits for one range of vertices after the other, joined at the directories (collective).

    Directory d, one per part, has the vertices with ``gid % directories == d`` and is on rank
    ``d % ranks``, so masters do not depend on the number of ranks.
    """

    def __init__(
        self, src: np.ndarray, dst: np.ndarray, part: np.ndarray, k: int, n: int, comm: Comm, threads: int
    ) -> None:
        self.directories = max(min(k, MOST_DIRECTORIES, n), 1)
        self.groups = -(-self.directories // comm.size)  # directories of a rank
        self._comm, self._part, self._n, self._threads = comm, part, n, threads
        self._words = -(-k // 64)
        self._gids = np.empty(0, np.int64)
        self._ends = (src, dst)
        if comm.size > 1:
            index = Index(src, dst, n)
            self._gids, self._ends = index.gids, (index.of(src, threads), index.of(dst, threads))

    def ranges(self) -> Iterator[Range]:
        """Yield gids (-1: none), where the replicas of each begin, their parts and kinds of edges."""
        d = self.directories
        span = d * max(-(-self._n // (2 * d)), 1)
        for lo in range(0, max(self._n, 1), span):
            yield self._range(lo, min(lo + span, self._n))

    def _range(self, lo: int, hi: int) -> Range:
        d, groups, rank, size = self.directories, self.groups, self._comm.rank, self._comm.size
        per_group = -(-(hi - lo) // d)
        with_out, with_in = self._joined(lo, hi, per_group * groups)
        begin = np.zeros(per_group * groups + 1, np.int64)
        kernels.count_replicas(with_in, with_out, groups, begin[1:], self._threads)
        np.cumsum(begin, out=begin)
        holder = np.empty(int(begin[-1]), np.int32)
        has_in, has_out = np.empty(holder.size, np.uint8), np.empty(holder.size, np.uint8)
        kernels.list_replicas(with_in, with_out, groups, begin, holder, has_in, has_out, self._threads)
        home = np.arange(groups)[:, None] * size + rank
        gids = lo + np.arange(per_group) * d + home
        gids[(home >= d) | (gids >= hi)] = -1
        return gids.reshape(-1), begin, holder, has_in, has_out

    def _joined(self, lo: int, hi: int, rows: int) -> list[np.ndarray]:
        """Return the rows of the vertices at the directories here, first by edges from them, then to them."""
        comm = self._comm
        if comm.size == 1:
            return [self._marked(end, lo, rows) for end in self._ends]
        first, last = np.searchsorted(self._gids, [lo, hi]).tolist()
        place = self._gids[first:last] - lo
        home = place % self.directories
        row = place // self.directories * self.groups + home // comm.size
        directory = Directory(comm, row * comm.size + home % comm.size, rows * comm.size)
        joined = []
        for end in self._ends:
            held = self._marked(end, first, last - first)
            total = np.zeros((rows, self._words), np.uint64)
            for word in range(self._words):
                placing.or_at(directory.slots, directory.send(held[:, word].copy()), total, word)
            joined.append(total)
        return joined

    def _marked(self, end: np.ndarray, first: int, rows: int) -> np.ndarray:
        held = np.zeros((rows + 1, self._words), np.uint64)
        kernels.mark(end, self._part, first, held, self._threads)
        return held[:-1]
