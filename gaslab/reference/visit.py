"""The order in which visit takes the edges, said as plainly as it can be, for the reference engine."""

from __future__ import annotations

from collections.abc import Sequence

_WORD = 2**64 - 1


def visit_order(ends: Sequence[tuple[int, int]], directed: bool, ways: int) -> list[int]:
    """Return the edges (positions in *ends*, pairs of global ids) in the order they are visited.

    That is by round, then by source, then by target, parallel edges as they stand. Within a round the
    engine takes many at once, but only where this order makes no difference.
    """
    sources, targets = {u for u, _ in ends}, {w for _, w in ends}
    bipartite = directed and not sources & targets

    def turn(u: int, w: int) -> int:
        if bipartite:
            return (_hash(w) % ways - _hash(u) % ways) % ways
        a, b, last = _hash(u) % (2 * ways), _hash(w) % (2 * ways), 2 * ways - 1
        if a == b:
            return 0
        if last in (a, b):
            return min(a, b)
        return next(r for r in range(last) if (2 * r - a - b) % last == 0)

    return sorted(range(len(ends)), key=lambda k: (turn(*ends[k]), *ends[k]))


def _hash(x: int) -> int:
    """The finaliser of splitmix64."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _WORD
    return x ^ (x >> 31)
