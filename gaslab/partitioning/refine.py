"""Refinement of a cut on one process: pairs move between parts to save replicas, under two caps."""

from __future__ import annotations

import numpy as np

import gaslab._kernels.expand as rows
import gaslab._kernels.fill as fills
import gaslab._kernels.refine as kernels
from gaslab.partitioning.stateful import Block, Stateful, Stream

WIDEST = 16  # pairs of a vertex in a part that may move together
WIDER = 64  # the same, from parts with too many vertices
DEBTS = (2, 4, 8, 16)  # replicas that moving a vertex out of these may cost
ANY = 1 << 62  # replicas
LONG = 4096  # counts from here on are equally good
BY_LOAD = 0.3  # value of an empty part against one of mean load, if both hold both ends


def begins(end: np.ndarray, num_vertices: int) -> np.ndarray:
    """Return where the row of each vertex begins, if pairs are sorted by *end*."""
    begin = np.zeros(num_vertices + 1, dtype=np.int64)
    np.cumsum(np.bincount(end, minlength=num_vertices), out=begin[1:])
    return begin


class Rows:
    """The pairs of each vertex: those with it as lower end are contiguous, as pairs are sorted by it.

    Attributes
    ----------
    begin, back : int64 arrays of num_vertices + 1
        Where the row begins for a vertex as lower end, and in `pairs`, as higher end.
    pairs : int32 array
        The pairs by their higher end, only for vertices up to *widest*.
    degree : int32 array of num_vertices
        Pairs of each vertex.
    """

    def __init__(self, low: np.ndarray, high: np.ndarray, num_vertices: int, tau: float = np.inf) -> None:
        self.begin, self.back = begins(low, num_vertices), begins(high, num_vertices)
        self.degree = (np.diff(self.begin) + np.diff(self.back)).astype(np.int32)
        mean = 2 * low.size / max(int(np.count_nonzero(self.degree)), 1)
        above = np.flatnonzero(self.degree > tau * mean)
        self.widest = int(above[0]) if above.size else num_vertices
        self.back[self.widest :] = self.back[self.widest]
        self.last = np.empty(num_vertices, dtype=np.int64)
        self.last[:] = self.back[1:]
        self.pairs = np.empty(int(self.back[-1]), dtype=np.int32)
        rows.list_rows(high, self.back, self.widest, self.last, self.pairs)


class Cut:
    """A cut under two caps: *cap* edges a part, and *vertex_balance* times the mean of replicas.

    *part* has -1 for each pair that no part has yet; it changes in place.
    """

    def __init__(
        self, low: np.ndarray, high: np.ndarray, multiplicity: np.ndarray, rows: Rows, part: np.ndarray,
        k: int, cap: int, vertex_balance: float,
    ) -> None:  # fmt: skip
        n = rows.degree.size
        self.k, self.cap, self.vertex_balance, self.rows, self.part = k, cap, vertex_balance, rows, part
        self.num_edges = int(multiplicity.sum())
        slot = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.minimum(rows.degree, k), out=slot[1:])
        self.load, self.size = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
        self._pairs = (low, high, multiplicity, part)
        self._state = (
            slot, np.zeros(n, np.int32), np.empty((2, int(slot[-1])), np.int32),
            np.zeros((n, -(-k // 64)), np.uint64), self.load, self.size,
        )  # fmt: skip
        self._room = (
            np.empty(int(rows.degree.max(initial=1)), np.int32), np.zeros((3, k), np.int64),
            np.empty(WIDER, np.int64),
        )  # fmt: skip
        fills.count(self._pairs, self._state)

    @property
    def replicas(self) -> int:
        """The number of replicas."""
        return int(self.size.sum())

    @property
    def heavy(self) -> bool:
        """Whether a part has too many vertices."""
        return int(self.size.max()) * self.k > self.vertex_balance * self.replicas

    def fill(self) -> None:
        """Assign a part to each pair without one."""
        fills.fill(self._pairs, self._state, self.rows.degree, self.cap, self.vertex_balance)

    def gather(self, softness: float) -> int:
        """Move pairs to parts in which both ends have more pairs; return how many moved.

        Up to about *softness* pairs count as few as none.
        """
        worth = 1.0 - softness / (softness + np.arange(LONG))
        by_load = BY_LOAD * self.k / max(self.num_edges, 1)
        moved: int = fills.gather(self._pairs, self._state, worth, by_load, self.cap)
        return moved

    def sweep(self, widest: int = WIDEST, debt: int = 0, roof: int = 0, over: bool = False) -> int:
        """Move a vertex's pairs in a part, if this saves replicas or balances vertices; return the moves."""
        rows = self.rows
        moved: int = kernels.sweep(
            self._pairs, self._state, rows.begin, rows.back, rows.pairs, self._room, self.cap,
            self.vertex_balance, rows.widest, widest, debt, roof, over,
        )  # fmt: skip
        return moved

    def improve(self, passes: int, roof: int | None = None) -> None:
        """Refine by this many passes, each of which then brings parts below the vertex cap.

        Without *roof* that may cost replicas; with it, up to *roof* replicas.
        """
        for _ in range(passes):
            before = self.replicas
            self.gather(4.0)
            self.gather(1.0)
            self.sweep()
            self._relieve(1, roof)
            self._relieve(2, roof)
            if self.replicas == before:
                break
        for debt in DEBTS:
            if self.heavy:
                self.gather(1.0)  # makes room in full parts
                self._relieve(debt, roof)

    def _relieve(self, debt: int, roof: int | None) -> None:
        if self.heavy:
            self.sweep(WIDER, debt, ANY if roof is None else roof, over=True)


def bytes_of_rows(degree: np.ndarray, pairs: int, tau: float = np.inf) -> int:
    """Return the bytes of `Rows`; *degree* has the edges of each vertex."""
    mean = degree.sum() / max(int(np.count_nonzero(degree)), 1)
    below = int(degree[degree <= tau * mean].sum()) if mean else 0
    return 28 * degree.size + 4 * min(pairs, below)


def bytes_of_cut(degree: np.ndarray, pairs: int, k: int) -> int:
    """Return the bytes of a `Cut` besides its arguments."""
    slots = min(2 * pairs, int(np.minimum(degree, k).sum()))
    row = 20 + 8 * -(-k // 64)
    return row * degree.size + 8 * slots + 4 * int(degree.max(initial=1)) + 64 * k + (1 << 16)


def in_order(low: np.ndarray) -> np.ndarray | None:
    """Return the order that sorts pairs by *low*, or None if they are."""
    return None if np.all(low[1:] >= low[:-1]) else np.argsort(low, kind="stable")


def refine(
    low: np.ndarray, high: np.ndarray, multiplicity: np.ndarray, num_vertices: int, part: np.ndarray, k: int,
    *, cap: int, passes: int = 2, vertex_balance: float = 1.1,
) -> np.ndarray:  # fmt: skip
    """Return a cut with at most as many replicas as *part*.

    The arguments are those of `gaslab.partitioning.expand.expand`. *part* is any cut, an int32 array with the
    part of each pair; it is not changed. Caps that it holds, the result also holds.
    """
    best = np.array(part, dtype=np.int32)
    if low.size == 0:
        return best
    order = in_order(low)
    if order is not None:
        low, high, multiplicity, best = low[order], high[order], multiplicity[order], best[order]
    rows = Rows(low, high, num_vertices)
    cut = Cut(low, high, multiplicity, rows, best.copy(), k, cap, vertex_balance)
    most = cut.replicas
    state = cut.heavy, most
    for _ in range(passes):
        before = cut.replicas
        cut.improve(1, roof=most)
        if cut.replicas <= most and (cut.heavy, cut.replicas) <= state:
            best[:], state = cut.part, (cut.heavy, cut.replicas)
        if cut.replicas == before:
            break
    if order is not None:
        placed, best = best, np.empty_like(best)
        best[order] = placed
    return best


class Refinement(Stateful):
    """The refinement after a strategy, if requested.

    It puts no part above the cap that was not above it before.
    """

    gathered = True

    def __init__(self, passes: int) -> None:
        self.passes = passes

    def bytes_needed(self, k: int, degree: np.ndarray, num_edges: int) -> int:
        own = bytes_of_rows(degree, num_edges) + bytes_of_cut(degree, num_edges, k) + 12 * num_edges
        return super().bytes_needed(k, degree, num_edges) + own

    def begin(self, k: int, stream: Stream) -> None:
        self.k, self.cap, self.num_vertices = k, stream.cap, stream.num_vertices

    def assign(self, block: Block) -> np.ndarray:
        assert block.part is not None
        return refine(
            block.low, block.high, block.multiplicity, self.num_vertices, block.part, self.k, cap=self.cap,
            passes=self.passes,
        )  # fmt: skip
