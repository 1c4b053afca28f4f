"""The sources of a centrality: all vertices, a sample of them, or those that the caller names.

A program of batches finds the place of each source in `_turn`: -1, or its number from 0 on.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.programs._numpy import np


def turns(graph: gl.Graph, sources: Any, options: Mapping[str, Any]) -> tuple[int, Any]:
    """Return how many sources there are, and what ``init=`` gives `_turn`.

    *sources* is None for every vertex, a whole number for so many that ``seed=`` draws, or ids. Raises
    UsageError where there is none, or more than the graph has vertices.
    """
    n = graph.num_vertices
    if sources is None:
        return n, np.arange(n)
    if isinstance(sources, Real):
        count = arguments.whole("sources", sources, 1, n)
        rng = np.random.default_rng(arguments.whole("seed", options.get("seed", 0)) % (1 << 64))
        turn = np.full(n, -1)
        turn[np.sort(rng.choice(n, count, replace=False))] = np.arange(count)
        return count, turn
    chosen = dict.fromkeys(arguments.ids("sources", sources, "a whole number or an iterable of vertex ids"))
    if not chosen:
        raise gl.UsageError("sources is empty; without sources= every vertex is one")
    return len(chosen), {vertex: place for place, vertex in enumerate(chosen)}
