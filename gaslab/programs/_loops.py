"""Self-loops of a graph: how many it has, their weight, and the warning of a program that ignores them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gaslab as gl
from gaslab.errors import warn_user
from gaslab.programs._arguments import is_async, unsaved
from gaslab.programs._columns import run
from gaslab.programs.pagerank_variants import LoopWeight

CHUNK = 1 << 16  # vertices whose edges are searched at a time


def count_self_loops(graph: gl.Graph) -> int:
    """Return how many edges lead from a vertex to itself (collective)."""
    return _found(graph)[0]


def warn_of_self_loops(graph: gl.Graph, why: str) -> None:
    """Warn that self-loops are ignored, if there are any, and name the first vertex (collective)."""
    count, first = _found(graph)
    if count:
        warn_user(
            f"the graph has {count:,} self-loop{'s' * (count > 1)}, the first at vertex "
            f"{graph.ids.named([first])[0]}, and {why}; read it with drop_self_loops=True to leave them out",
            UserWarning,
            graph.comm.rank,
        )


def one_superstep(options: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the options for a program of one superstep that runs before or after another one does."""
    once = {**unsaved(options), "max_iterations": 1, "timeline": None, **changes}
    if is_async(once):
        del once["engine"]
    return once


def init_with_loops(graph: gl.Graph, options: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    """Return ``init=`` with the weight of self-loops as `loops` (collective).

    *fields* are those that the program takes from an earlier result.
    """
    given = options.get("init") or {}
    if isinstance(given, gl.Result):
        given = {name: given for name in fields if name in given.vertices.columns}
    weighed = run(LoopWeight(), graph, **one_superstep(options, init=None))
    return {**given, "loops": weighed}


def _found(graph: gl.Graph) -> tuple[int, int]:
    """Return how many self-loops there are and the smallest global id of a vertex with one (collective)."""
    import numpy as np  # not at the top: setup.py imports the programs, and needs no numpy for it

    none = graph.num_vertices
    if graph.counts.get("self_loops") == 0:  # what was read; those that were dropped count there, too
        return 0, none
    local, found, smallest = graph.local, 0, none
    for first in range(0, local.num_local, CHUNK):
        begin = local.in_begin[first : first + CHUNK + 1]
        ends = np.arange(first, first + begin.size - 1).repeat(np.diff(begin))
        loops = ends[ends == local.in_neighbor[begin[0] : begin[-1]]]
        found += loops.size
        smallest = min(smallest, int(local.gid[loops].min(initial=none)))
    return int(graph.comm.allreduce(found)), int(graph.comm.allreduce(smallest, "min"))
