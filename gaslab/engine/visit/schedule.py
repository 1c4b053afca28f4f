"""The schedule of visit: which blocks of vertices meet at which table, in which round.

Vertices fall into buckets by a hash of their global id, and the buckets are dealt to the blocks so that
ranks, which have runs of neighbouring blocks, get equal shares of the edges. In a round two blocks sit at
each table, every block at only one, and the edges between the two are visited there: tables share no vertex,
so they may be on different threads and ranks. After the last round every two blocks have met once. If no
vertex is both a source and a target, the sources stay at their tables and the targets move (the strata of
Gemulla, Nijkamp, Haas, Sismanis: Large-Scale Matrix Factorization with Distributed Stochastic Gradient
Descent. KDD 2011), mostly to a table nearby: if ways are a power of two, block k of the targets is at table k
xor t in round t. So it changes rank only as often as there are ranks, if these are also a power of two; it
crosses other borders between ranks repeatedly. In any other graph all blocks move, as in a round-robin
tournament.

The schedule does not depend on ranks or threads, so neither does the answer.
"""

from __future__ import annotations

import heapq

import numpy as np

BUCKETS = 64  # for each block


class Schedule:
    """The rounds of *ways* tables; `seats` is int32 [rounds, blocks]: the table of each block.

    A bipartite graph has *ways* blocks of sources and then *ways* of targets.
    """

    def __init__(self, ways: int, bipartite: bool) -> None:
        self.ways, self.bipartite = ways, bipartite
        self.blocks = 2 * ways
        self.rounds = ways if bipartite else 2 * ways - 1
        table, turn = np.arange(ways), np.arange(self.rounds)[:, None]
        self.seats = np.empty((self.rounds, self.blocks), np.int32)
        if bipartite:
            self.seats[:, :ways] = table
            met = ways + _digitwise(np.add, table, turn, ways)
            np.put_along_axis(self.seats, met, table[None, :], axis=1)
        else:
            last = self.rounds  # the block that stays at table 0 while the others rotate
            self.seats[:, last] = 0
            np.put_along_axis(self.seats, (turn + table) % last, table[None, :], axis=1)
            np.put_along_axis(self.seats, (turn - table) % last, table[None, :], axis=1)

    def bucket_of(self, gid: np.ndarray, is_target: np.ndarray) -> np.ndarray:
        """Return the bucket of each vertex, as int64; each block has `BUCKETS`."""
        parts = BUCKETS * (self.ways if self.bipartite else self.blocks)
        bucket = (_mix(gid) % np.uint64(parts)).astype(np.int64)
        return bucket + parts * is_target if self.bipartite else bucket  # type: ignore[no-any-return]

    def block_of_bucket(self, ends: np.ndarray) -> np.ndarray:
        """Return the block of each bucket, as int32; *ends* counts the ends of edges in each."""
        sides = np.split(ends, 2) if self.bipartite else [ends]
        count = self.blocks // len(sides)
        return np.concatenate([k * count + _dealt(side, count) for k, side in enumerate(sides)])

    def round_of(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the round in which edges from block a to block b are visited, as int64."""
        a, b = a.astype(np.int64), b.astype(np.int64)
        if self.bipartite:
            return _digitwise(np.subtract, b % self.ways, a % self.ways, self.ways)
        last = self.rounds
        met = (a + b) * self.ways % last  # half of a + b, modulo an odd number
        met = np.where(a == last, b, np.where(b == last, a, met))
        return np.where(a == b, 0, met)

    def tasks(self) -> np.ndarray:
        """Return round * ways + table of the edges from each block to each, int32 [blocks, blocks]."""
        a, b = np.ogrid[: self.blocks, : self.blocks]
        turn = np.broadcast_to(self.round_of(a, b), (self.blocks, self.blocks))
        return (turn * self.ways + self.seats[turn, a]).astype(np.int32)  # type: ignore[no-any-return]


def _dealt(ends: np.ndarray, count: int) -> np.ndarray:
    """Return the block, of *count*, of each bucket, as int32; *ends* counts the ends in each bucket.

    Buckets go, the heaviest first, to the block furthest below the ends that it wants (the list
    scheduling of Graham: Bounds on Multiprocessing Timing Anomalies. SIAM J. Applied Mathematics 17, 1969). A
    block wants an equal share. If one bucket has more, its block wants that, and so does the block half a
    ring away (if ways are a power of two): then two ranks are even. No block gets more than twice its share
    of the buckets, since each has room for as many vertices as the largest.

    >>> _dealt(np.array([9, 1, 2, 2, 2, 2]), 4).tolist()
    [0, 3, 2, 2, 2, 1]
    """
    order = np.argsort(-ends, kind="stable")[: np.count_nonzero(ends)].tolist()
    seats, left = _bit_reversed(count).tolist(), int(ends.sum())
    wanted, heavy = list[int](), iter(ends[order].tolist())
    while (free := count - len(wanted)) > 0:
        share, heaviest = left // free, next(heavy, 0)
        more = [heaviest] * 2 if heaviest > share else [share] * free
        wanted += more
        left = max(left - sum(more), 0)
    most = -(-2 * ends.size // count)
    below = [(-want, k, most) for k, want in enumerate(wanted[:count])]  # has - wants, place in seats, room
    heapq.heapify(below)
    block = np.zeros(ends.size, np.int32)
    for bucket in order:
        balance, k, room = heapq.heappop(below)
        block[bucket] = seats[k]
        if room > 1:
            heapq.heappush(below, (balance + int(ends[bucket]), k, room - 1))
    return block


def _digitwise(combine: np.ufunc, a: np.ndarray, b: np.ndarray, ways: int) -> np.ndarray:
    """Combine numbers below *ways* digit by digit, without carry; the bases are the primes of *ways*.

    >>> [_digitwise(np.add, np.arange(ways), np.array(3), ways).tolist() for ways in (8, 5)]
    [[3, 2, 1, 0, 7, 6, 5, 4], [3, 4, 0, 1, 2]]
    """
    result: np.ndarray = np.zeros_like(combine(a, b))
    weight = 1
    for base in reversed(_primes(ways)):
        result += combine(a, b) % base * weight
        a, b, weight = a // base, b // base, weight * base
    return result


def _primes(number: int) -> list[int]:
    """Return the prime factors of a number, ascending.

    >>> _primes(12), _primes(7), _primes(1)
    ([2, 2, 3], [7], [])
    """
    primes, divisor = list[int](), 2
    while number > 1:
        if number % divisor:
            divisor += 1
        else:
            primes.append(divisor)
            number //= divisor
    return primes


def _bit_reversed(count: int) -> np.ndarray:
    """Return 0..count-1 with the first ones far apart: bit-reversed.

    >>> _bit_reversed(8).tolist(), _bit_reversed(3).tolist()
    ([0, 4, 2, 6, 1, 5, 3, 7], [0, 2, 1])
    """
    numbers = np.arange(count)
    backwards = np.zeros(count, np.int64)
    for bit in range(count.bit_length()):
        backwards = backwards << 1 | numbers >> bit & 1
    return np.argsort(backwards, kind="stable")


def _mix(gid: np.ndarray) -> np.ndarray:
    """Return the words of ``mix.h``: the finaliser of splitmix64."""
    z = gid.astype(np.uint64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))  # type: ignore[no-any-return]
