"""Parts to ranks, where a cut has more parts than there are ranks.

The parts with the most edges go first, each to the rank whose parts it exchanges most with among those that
have room; then parts that are better off elsewhere are moved or exchanged, while the fullest rank does not
become fuller than it may.
"""

from __future__ import annotations

import numpy as np

ROOM = 1.05  # edges of the fullest rank over the mean, where the parts allow it
PASSES = 10


def pack(edges: np.ndarray, traffic: np.ndarray, ranks: int) -> np.ndarray:
    """Return the int32 rank of each part.

    Parameters
    ----------
    edges : int64[parts]
    traffic : number[parts, parts]
        Values that the part of the row and that of the column exchange in a superstep.
    ranks : int
        At most as many as parts; each gets one at least.

    Examples
    --------
    >>> traffic = np.array([[0, 0, 9, 0], [0, 0, 0, 9], [9, 0, 0, 0], [0, 9, 0, 0]])
    >>> pack(np.array([5, 5, 5, 5]), traffic, 2).tolist()
    [0, 1, 0, 1]
    """
    parts = edges.size
    both = (traffic + traffic.T).astype(np.float64)
    np.fill_diagonal(both, 0.0)
    load, count = np.zeros(ranks, np.int64), np.zeros(ranks, np.int64)
    held = np.zeros((parts, ranks))  # traffic of each part with the parts of each rank
    rank = np.full(parts, -1, np.int32)
    cap = max(ROOM * edges.sum() / ranks, float(edges.max(initial=0)))
    order = np.argsort(-edges, kind="stable")
    for at, part in enumerate(order.tolist()):
        empty = np.flatnonzero(count == 0)
        last = empty.size == parts - at  # no rank stays without a part
        fits = empty if last else np.flatnonzero(load + edges[part] <= cap)
        if not fits.size:
            fits = np.array([np.argmin(load)])
        best = int(fits[np.lexsort((load[fits], -held[part, fits]))[0]])
        rank[part] = best
        load[best] += edges[part]
        count[best] += 1
        held[:, best] += both[:, part]
    cap = max(cap, float(load.max()))
    for _ in range(PASSES):
        if not _improve(edges, both, rank, load, count, held, cap):
            break
    return rank


def _improve(
    edges: np.ndarray, both: np.ndarray, rank: np.ndarray, load: np.ndarray, count: np.ndarray,
    held: np.ndarray, cap: float,
) -> bool:  # fmt: skip
    """Move each part, or exchange it for another, where that saves traffic; return whether any was."""
    changed = False

    def move(part: int, to: int) -> None:
        old = int(rank[part])
        rank[part] = to
        load[old] -= edges[part]
        load[to] += edges[part]
        count[old] -= 1
        count[to] += 1
        held[:, old] -= both[:, part]
        held[:, to] += both[:, part]

    for part in range(edges.size):
        here = int(rank[part])
        gain = held[part] - held[part, here]
        gain[here] = 0.0
        allowed = np.where(load + edges[part] <= cap, gain, -1.0)
        to = int(np.argmax(allowed))
        if allowed[to] > 0 and count[here] > 1:
            move(part, to)
            changed = True
            continue
        others = np.flatnonzero(rank != here)  # exchange: what both gain, less what they lose to each other
        there = rank[others]
        delta = edges[part] - edges[others]
        saved = gain[there] + held[others, here] - held[others, there] - 2 * both[part, others]
        saved[(load[there] + delta > cap) | (load[here] - delta > cap)] = -1.0
        if others.size and saved.max() > 0:
            other = int(others[int(np.argmax(saved))])
            to = int(rank[other])
            move(part, to)
            move(other, here)
            changed = True
    return changed
