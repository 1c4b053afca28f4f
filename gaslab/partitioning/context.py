"""What a strategy may know of the whole graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gaslab.parallel.comm import Comm


@dataclass
class Context:
    """The properties of the whole graph that a strategy may use, besides the edges of this rank."""

    comm: Comm
    num_vertices: int
    directed: bool
    threads: int = 1
    num_left: int | None = None  # of a bipartite graph: of each edge one end has a global id below


# (src, dst, k, context) -> the part, 0..k-1, of each edge of this rank, as integers; collective.
Strategy = Callable[[np.ndarray, np.ndarray, int, Context], np.ndarray]
