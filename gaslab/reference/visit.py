"""The order in which visit takes the edges, for the reference engine, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_WORD = 2**64 - 1


class Visit(NamedTuple):
    """The visit of an edge, by its number, at a table in a round; a table is named by one of its blocks."""

    turn: int
    table: int
    edge: int


def visit_order(ends: Sequence[tuple[int, int]], directed: bool, ways: int) -> list[Visit]:
    """Return the visits of edges (positions in *ends*, pairs of global ids) in their order.

    By round, then by source, then by target, parallel edges unchanged; vertices are ordered by block, then by
    global id. Within a round the engine takes many edges at once, but only if this order makes no difference.
    """
    sources, targets = {u for u, _ in ends}, {w for _, w in ends}
    bipartite = directed and not sources & targets
    degree = Counter(v for pair in ends for v in pair)
    block: dict[int, int] = {}
    for side in (sources, targets) if bipartite else (sources | targets,):
        block |= _blocks(side, degree, ways if bipartite else 2 * ways)

    def turn(u: int, w: int) -> int:
        a, b, last = block[u], block[w], 2 * ways - 1
        if bipartite:
            return _without_carry(b, a, ways)
        if a == b:
            return 0
        if last in (a, b):
            return min(a, b)
        return next(r for r in range(last) if (2 * r - a - b) % last == 0)

    def key(k: int) -> tuple[int, ...]:
        u, w = ends[k]
        return turn(u, w), block[u], u, block[w], w

    def table(u: int, w: int) -> int:
        a, b, last = block[u], block[w], 2 * ways - 1
        if bipartite:
            return a
        if a == b:  # in the first round, next to the block that shares its table
            b = last - a
        return min(a, b)

    return [Visit(turn(*ends[k]), table(*ends[k]), k) for k in sorted(range(len(ends)), key=key)]


def _blocks(vertices: set[int], degree: Mapping[int, int], count: int) -> dict[int, int]:
    """Return each vertex's block: a hash chooses its bucket, and each bucket is dealt to a block.

    The heaviest first, it goes to the block furthest below its want: an equal share, but two blocks want as
    much as a heavier bucket. A block takes at most 128 buckets.
    """
    bucket = {v: _hash(v) % (64 * count) for v in vertices}
    ends = Counter[int]()
    for v in vertices:
        ends[bucket[v]] += degree[v]
    heaviest_first = sorted(ends, key=lambda b: (-ends[b], b))
    far_apart = sorted(range(count), key=lambda k: f"{k:032b}"[::-1])
    lacks, left, heavy = dict[int, int](), sum(ends.values()), iter(heaviest_first)
    while len(lacks) < count:
        heaviest, unknown = ends[next(heavy, -1)], far_apart[len(lacks) :]
        share = left // len(unknown)
        alike = dict.fromkeys(unknown[:2], heaviest) if heaviest > share else dict.fromkeys(unknown, share)
        lacks |= alike
        left = max(left - sum(alike.values()), 0)
    room, block_of = dict.fromkeys(far_apart, 128), dict[int, int]()
    for b in heaviest_first:
        block = max((block for block in far_apart if room[block]), key=lambda block: lacks[block])
        block_of[b] = block
        room[block] -= 1
        lacks[block] -= ends[b]
    return {v: block_of[bucket[v]] for v in vertices}


def _without_carry(x: int, y: int, ways: int) -> int:
    """Return x - y, digit by digit; the bases are the primes of the ways, the smallest on top."""
    if ways == 1:
        return 0
    top = next(k for k in range(2, ways + 1) if ways % k == 0)
    below = ways // top
    return (x // below - y // below) % top * below + _without_carry(x % below, y % below, below)


def _hash(x: int) -> int:
    """The finaliser of splitmix64."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _WORD
    return x ^ (x >> 31)
