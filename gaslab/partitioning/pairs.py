"""The pairs of vertices with an edge: each once, on one rank, sorted; and the parts of their edges."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import gaslab._kernels.csr as csr
import gaslab._kernels.pairs as kernels
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.partitioning.context import Context
from gaslab.partitioning.rows import rows_by_target
from gaslab.partitioning.shuffle import INT32_LIMIT, check_limit, send_back, shuffle
from gaslab.partitioning.stateful import Block

MOST_VERTICES = 1 << 30
FEW = 1 << 20  # edges of a graph not worth several rounds: rank 0 has all
SHARE = 64  # at least this many edges per part and rank, else rank 0 has all: ranks share the parts' room
FIRST, LAST = 4096, 16  # the first round takes 1/4096 of the pairs, no round more than 1/16


class Degrees:
    """Vertices numbered by rising degree (collective).

    Attributes
    ----------
    degree : int32 array of num_vertices
        By number; int64 if one is 2**31 or more.
    gid, number : int32 arrays of num_vertices
        The global id of each number, and the number of each global id.
    """

    def __init__(self, src: np.ndarray, dst: np.ndarray, context: Context) -> None:
        n = context.num_vertices
        if n > MOST_VERTICES:
            raise UsageError(
                f"the graph has {n:,} vertices; a strategy that keeps state takes {MOST_VERTICES:,} at most: "
                "use random, 1d, 2d, dbh, hybrid or chunk"
            )
        out_count, in_count = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
        csr.count_ends(src, dst, out_count, in_count, context.threads)
        degree = context.comm.allreduce(np.add(out_count, in_count, dtype=np.int64))
        self.gid = np.argsort(degree, kind="stable").astype(np.int32)
        self.number = np.empty(n, dtype=np.int32)
        self.number[self.gid] = np.arange(n, dtype=np.int32)
        self.degree = degree[self.gid]
        if not n or self.degree[-1] <= INT32_LIMIT:
            self.degree = self.degree.astype(np.int32)


class Pairs:
    """This rank's pairs of the edges of all ranks (collective).

    A pair of an undirected graph has no direction; in a directed one an edge and its reverse are two pairs.
    Pairs are on a rank that the lower end decides, or all on rank 0 if *gathered*, ordered by their ends.
    """

    def __init__(
        self, src: np.ndarray, dst: np.ndarray, degrees: Degrees, context: Context, gathered: bool
    ) -> None:
        comm, threads, n = context.comm, context.threads, context.num_vertices
        self._comm = comm
        low, high = np.empty(src.size, np.int32), np.empty(src.size, np.int32)
        kernels.orient(src, dst, degrees.number, context.directed, low, high, threads)
        self._home = np.zeros(src.size, np.int32)
        if comm.size > 1:
            if not gathered:
                kernels.homes(low, comm.size, self._home, threads)
            ends = [low, high]
            shuffle(comm, ends, {}, self._home, num_vertices=2 * n, threads=threads)
            low, high = ends
        check_limit(np.array(comm.allgather(low.size)), "edges")

        out_count, in_count = np.zeros(2 * n, dtype=np.int32), np.zeros(2 * n, dtype=np.int32)
        csr.count_ends(high, low, out_count, in_count, threads)
        begin = _begins(in_count[:n])
        local = np.arange(2 * n, dtype=np.int32)
        ends = [high, low]
        del high, low
        other, position = rows_by_target(ends, local, _begins(out_count), begin, True, threads)
        assert position is not None
        self._position = position
        self._pair = np.empty(other.size, np.int32)
        count = kernels.runs(begin, other, self._pair)
        self._low, self._high = np.empty(count, np.int32), np.empty(count, np.int32)
        self._multiplicity = np.zeros(count, np.int64)
        kernels.list_pairs(begin, other, self._pair, self._low, self._high, self._multiplicity)
        self.largest = int(comm.allreduce(int(self._multiplicity.max(initial=1)), "max"))

    def of_pairs(self, part: np.ndarray, threads: int) -> np.ndarray:
        """Return the part of each pair: the smallest in *part* among its edges (collective)."""
        moved = {"part": part}
        if self._comm.size > 1:
            shuffle(self._comm, [], moved, self._home, num_vertices=0, threads=threads)
        part_of_pair = np.full(self._low.size, np.iinfo(np.int32).max, np.int32)
        kernels.least(moved["part"], self._pair, self._position, part_of_pair)
        return part_of_pair

    def blocks(self, whole: bool, part: np.ndarray | None = None) -> Iterator[Block]:
        """Yield this rank's pairs in rounds, as many on every rank; in one if *whole* (collective).

        *part* has the part of each pair in a cut to refine.
        """
        size = self._low.size
        lo, share, done = 0, 1.0 if whole else 1 / FIRST, 0.0
        while done < 1.0:  # powers of two: exact
            done += share
            hi = int(size * done)
            yield self._block(lo, hi, part)
            lo, share = hi, min(2 * share, 1 / LAST, 1.0 - done)

    def _block(self, lo: int, hi: int, part: np.ndarray | None) -> Block:
        multiplicity = self._multiplicity[lo:hi]
        high = self._high[lo:hi]
        return Block(
            low=self._low[lo:hi],
            high=high >> 1,
            reverse=(high & 1).astype(bool),
            multiplicity=multiplicity,
            totals=np.array(self._comm.allgather(int(multiplicity.sum()))),
            part=None if part is None else part[lo:hi],
        )

    def of_edges(self, part_of_pair: np.ndarray, threads: int) -> np.ndarray:
        """Return the part of each edge from which the pairs were made (collective)."""
        part = np.empty(self._pair.size, np.int32)
        kernels.spread(part_of_pair, self._pair, self._position, part, threads)
        return send_back(self._comm, part, self._home)


def few(num_edges: int, k: int, comm: Comm) -> bool:
    """Return whether rank 0 takes all pairs, because rounds over several ranks are not worth it."""
    return num_edges < max(FEW, SHARE * k * comm.size)


def _begins(counts: np.ndarray) -> np.ndarray:
    begin = np.zeros(counts.size + 1, dtype=np.int64)
    np.cumsum(counts, out=begin[1:])
    return begin
