"""Neighbourhood expansion on one process: parts that grow one after another, filled up and refined.

References ---------- Zhang, Wei, Liu, Tang, Li, "Graph edge partitioning via neighborhood heuristic" (KDD
2017): a part grows by the vertex of its rim with the fewest edges left. Mayer, Jacobsen, "Hybrid edge
partitioner: partitioning large power-law graphs under memory constraints" (SIGMOD 2021): hubs do not expand,
and edges between them are placed afterwards. New here: a part also stops at its share of vertices; remaining
pairs then go where both ends are, and refinement moves a vertex's pairs out of parts until both caps hold.
"""

from __future__ import annotations

import numpy as np

import gaslab._kernels.expand as kernels
from gaslab.partitioning.refine import Cut, Rows, bytes_of_cut, bytes_of_rows, in_order

GUESS = 2.2  # replicas of a vertex, before a first cut shows the number
NEAR = 1.4  # a guess within this factor is good enough
TRIES = 3
SLACK = 1.45  # parts may exceed their share of vertices by this much: refinement does the rest better


def expand(
    low: np.ndarray, high: np.ndarray, multiplicity: np.ndarray, num_vertices: int, k: int, *, cap: int,
    vertex_balance: float = 1.1, tau: float = 30.0, passes: int = 2,
) -> np.ndarray:  # fmt: skip
    """Return the part, 0 to k-1, of each pair of vertices.

    Parameters
    ----------
    low, high : int32 arrays of pairs
        The ends, as numbers by rising degree, low <= high. Sorted by *low*, or it takes more memory.
    multiplicity : int64 array of pairs
        How many edges each pair stands for.
    num_vertices : int
        More than any number in *high*.
    k : int
        Parts, at most 1,024.
    cap : int
        Edges of a part: it holds if k * cap edges are enough and no pair stands for more than one. A pair
        that fits nowhere goes to the least loaded part.
    vertex_balance : float
        The replicas of the fullest part, as a multiple of the mean: a target, missed only if parts without
        room for edges are in the way. ``inf`` is classic expansion.
    tau : float
        Vertices with more than *tau* times the mean degree are hubs: they do not expand. Less memory and
        time; with few parts also fewer replicas.
    passes : int
        Passes of refinement.

    Returns
    -------
    int32 array of pairs
    """
    if low.size == 0:
        return np.empty(0, dtype=np.int32)
    order = in_order(low)
    if order is not None:
        low, high, multiplicity = low[order], high[order], multiplicity[order]
    rows = Rows(low, high, num_vertices, tau)
    vertices = int(np.count_nonzero(rows.degree))
    guess, tries = GUESS, TRIES
    cut: Cut | None = None
    while cut is None:
        places = min(SLACK * vertex_balance * guess * vertices / k, num_vertices) + 1
        part = _grown(low, high, multiplicity, rows, k, cap, int(places))
        made = Cut(low, high, multiplicity, rows, part, k, cap, vertex_balance)
        made.fill()
        found = made.replicas / vertices
        tries -= 1
        if not tries or vertex_balance == np.inf or max(found / guess, guess / found) <= NEAR:
            cut = made
        guess = found
        del made
    cut.improve(passes)
    if order is not None:
        placed, part = part, np.empty_like(part)
        part[order] = placed
    return part


def bytes_needed(degree: np.ndarray, pairs: int, k: int, tau: float = 30.0) -> int:
    """Return the maximum bytes that `expand` takes besides its sorted arguments and its result.

    *degree* has the edges of each vertex.
    """
    n, widest = degree.size, int(degree.max(initial=1))
    rows = bytes_of_rows(degree, pairs, tau)
    growth = 20 * n + 16 * max(n, widest + 1)
    return rows + max(growth, bytes_of_cut(degree, pairs, k), pairs - rows)


def _grown(
    low: np.ndarray, high: np.ndarray, multiplicity: np.ndarray, rows: Rows, k: int, cap: int, places: int
) -> np.ndarray:
    """Return the part of each pair by expansion alone, -1 for remaining pairs."""
    part = np.full(low.size, -1, dtype=np.int32)
    first, last, rest = rows.begin[:-1].copy(), rows.last.copy(), rows.degree.copy()
    lists = np.full((4, max(rest.size, int(rest.max()) + 1)), -1, dtype=np.int32)
    lists[3] = np.arange(lists.shape[1], dtype=np.int32)
    left, seed = int(multiplicity[: rows.begin[rows.widest]].sum()), 0  # edges that are not between two hubs
    for p in range(k):
        room = min(-(-left // (k - p)), cap)
        left -= room
        seed, room = kernels.grow(
            low, high, multiplicity, rows.begin, rows.back, first, last, rows.pairs, part, rest, lists,
            rows.widest, p, room, places, seed,
        )  # fmt: skip
        left += room
    return part
