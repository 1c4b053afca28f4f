"""Stateful strategies, which remember where they put earlier edges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.partitioning.context import Context

MOST_PARTS = 1024  # a row of bits per vertex has one bit per part
PAIR_BYTES, VERTEX_BYTES = 40, 40  # of all pairs on one rank, by edge and by vertex


@dataclass
class Stream(Context):
    """What a stateful strategy knows from the start: a `Context` with the degrees and the cap.

    Vertices are numbered by rising degree, equal degrees by rising global id; `Block` uses these numbers.

    Attributes
    ----------
    num_edges : int
        Edges of the whole graph.
    degree : int32 or int64 array of num_vertices
        The degree of each vertex, by number: ascending.
    gid : array of num_vertices
        The global id of each vertex, by number.
    largest : int
        The most parallel edges that any pair stands for.
    cap : int
        The most edges that a part may hold.
    """

    num_edges: int = 0
    degree: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    gid: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    largest: int = 1
    cap: int = 1


@dataclass
class Block:
    """Some pairs of vertices that have an edge, each of them once.

    Attributes
    ----------
    low, high : int32 arrays
        The ends, numbered as `Stream` says: *low* has the lower degree. Pairs come in the order of *low*.
    reverse : bool array
        The edges lead from *high* to *low*. Of an undirected graph, where it says nothing, all False.
    multiplicity : int64 array
        How many edges the pair stands for: parallel ones stay together.
    totals : int64 array of ranks
        How many edges the block of each rank stands for in this round.
    part : int32 array or None
        The part that each pair has in the cut to refine; None where a cut is made.
    """

    low: np.ndarray
    high: np.ndarray
    reverse: np.ndarray
    multiplicity: np.ndarray
    totals: np.ndarray
    part: np.ndarray | None = None


class Stateful(ABC):
    """A strategy that keeps state from block to block: subclass it and register the class.

    On each rank the methods are called in this order: `begin`, then in each round `assign` and `agree`, then
    `finish`. Rounds grow from a 4,096th of the edges to a 16th. Every pair of vertices is in one block of
    one rank, the same however the edges were split; pairs of the same lower end are on the same rank.

    Attributes
    ----------
    gathered : bool
        All pairs are brought to rank 0 and come in one block; `assign` is not called on the other ranks.
    memory : float
        Bytes that a gathered strategy may take there; 0 is what is free.
    """

    gathered = False
    memory = 0.0

    def bytes_needed(self, k: int, degree: np.ndarray, num_edges: int) -> int:
        """Return the bytes that a gathered strategy takes on rank 0 at most (not collective).

        *degree* is as in `Stream`. Pairs take so much before anything is done with them.
        """
        return PAIR_BYTES * num_edges + VERTEX_BYTES * degree.size

    def shrink(self) -> bool:
        """Make do with less memory from here on; return False if that is not possible (not collective)."""
        return False

    @abstractmethod
    def begin(self, k: int, stream: Stream) -> None:
        """Start a cut into *k* parts (not collective)."""

    @abstractmethod
    def assign(self, block: Block) -> np.ndarray:
        """Return the part, 0 to k-1, of each pair of a block (not collective)."""

    def agree(self, comm: Comm) -> None:  # noqa: B027 - most gathered strategies have nothing to agree on
        """Exchange what ranks must know of each other's blocks (collective)."""

    def finish(self) -> None:  # noqa: B027
        """End the cut: free what it needed (not collective)."""


def cap(num_edges: int, k: int, largest: int) -> int:
    """Return the most edges that a part may hold: 5 % over the mean, or as many as must stay together.

    If many edges join the same two vertices, these may not pack so tightly. A pair that fits
    nowhere goes to the least loaded part, which then holds *largest* more than the mean at most.
    """
    return max(-(-21 * num_edges // (20 * k)), largest, 1)


def check_parts(k: int) -> None:
    """Raise a UsageError if *k* is more than a stateful strategy can hold."""
    if k > MOST_PARTS:
        raise UsageError(
            f"k={k}: a strategy that keeps state cuts into {MOST_PARTS:,} parts at most; "
            "random, 1d, 2d, dbh, hybrid and chunk take any number"
        )
