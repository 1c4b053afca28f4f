"""Vertex-cut strategies: which part each edge goes to.

A strategy is a function of an edge's ends (and of what `Context` can find out about the whole
graph), so that the cut is the same however the edges were split over ranks, and parallel edges
stay together in their order. Register another with `strategy`; one that ships is named in `names`, too.

References
----------
``random``, ``2d``: Gonzalez et al., PowerGraph (OSDI 2012); Jain et al., GraphBuilder (2013).
``dbh``: Xie et al., Distributed power-law graph computing (NIPS 2014).
``chunk``: Zhu et al., Gemini (OSDI 2016).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import gaslab._kernels.partition as kernels
from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.partition.directory import Directory
from gaslab.partition.index import Index
from gaslab.partition.names import DEFAULT as DEFAULT
from gaslab.partition.names import NAMES

VERTEX_WORK = 8  # of a vertex, in edges
BLOCK = 1 << 20  # edges that numpy takes at once
SLICES = 1 << 16  # ranges of ids between which a chunk may end
BUCKETS, MOST_BUCKETS = 256, 1 << 18  # by one end: of a part, and of all


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

STRATEGIES: dict[str, Strategy] = {}


def strategy(name: str) -> Callable[[Strategy], Strategy]:
    """Register a strategy under a name; ``docs/partitioning.md`` has what it gets and returns.

    Raises
    ------
    UsageError
        The name is not text, or what is registered is no function.
    """
    if not isinstance(name, str) or not name:
        raise UsageError(f"strategy({name!r}): a name is needed, as in @strategy('by-source')")

    def register(function: Strategy) -> Strategy:
        if not callable(function):
            raise UsageError(
                f"strategy {name!r} is {function!r}; a function of (src, dst, k, context) is needed"
            )
        STRATEGIES[name] = function
        return function

    return register


def find(name: str | None) -> tuple[str, Strategy]:
    """Return the name and function of a strategy; None is the default. An unknown name is a UsageError."""
    if name is not None and not isinstance(name, str):
        needed = "a name is needed; register a function of your own with @strategy('NAME')"
        raise arguments.wrong("strategy", getattr(name, "__name__", name), needed)
    known = arguments.choice("strategy", DEFAULT if name is None else name, STRATEGIES)
    return known, STRATEGIES[known]


@strategy("random")
def random(src: np.ndarray, dst: np.ndarray, k: int, context: Context) -> np.ndarray:
    """Hash the edge: the best edge balance, the most mirrors."""
    part = np.empty(src.size, dtype=np.int32)
    kernels.by_edge(src, dst, k, part, context.threads)
    return part


@strategy("1d")
def by_one_end(src: np.ndarray, dst: np.ndarray, k: int, context: Context) -> np.ndarray:
    """Hash the target: all in-edges of a vertex together, so that a gather over them stays local.

    Of a bipartite graph hash the end on the side that has more vertices, so that only those of the other are
    mirrored (Chen, Shi, Chen, Zang, "Bipartite-Oriented Distributed Graph Partitioning for Big Learning",
    Journal of Computer Science and Technology 30, 2015).

    What is hashed to one of many buckets stays together; the buckets, the largest first, each go to the part
    that has the least work so far. With very many parts a bucket is a part.
    """
    buckets = max(min(BUCKETS, MOST_BUCKETS // k), 1) * k
    part = np.empty(src.size, dtype=np.int32)
    left = context.num_left
    if left is None:
        kernels.by_vertex(dst, buckets, part, context.threads)
    else:  # of the ends of an edge the left one has the smaller id, also where the graph was reversed
        end = np.minimum if 2 * left > context.num_vertices else np.maximum
        for block in _blocks(part):
            kernels.by_vertex(end(src[block], dst[block]), buckets, part[block], context.threads)
    if buckets == k:
        return part
    edges = np.zeros(buckets, dtype=np.int64)
    for block in _blocks(part):
        edges += np.bincount(part[block], minlength=buckets)
    work = context.comm.allreduce(edges) + VERTEX_WORK * context.num_vertices // buckets
    dealt = np.empty(buckets, dtype=np.int32)
    loads = [(0, p) for p in range(k)]
    for bucket in np.argsort(-work, kind="stable").tolist():
        load, dealt[bucket] = loads[0]
        heapq.heapreplace(loads, (load + int(work[bucket]), loads[0][1]))
    for block in _blocks(part):
        part[block] = dealt[part[block]]
    return part


@strategy("2d")
def by_grid(src: np.ndarray, dst: np.ndarray, k: int, context: Context) -> np.ndarray:
    """Hash both ends onto a grid of parts: at most about 2 sqrt(k) replicas of a vertex.

    Any *k* works: the grid has ceil(sqrt(k)) columns, of which the last may be shorter.
    """
    columns = math.isqrt(k - 1) + 1
    rows = -(-k // columns)
    columns = -(-k // rows)
    part = np.empty(src.size, dtype=np.int32)
    kernels.by_grid(src, dst, columns, rows, k - rows * (columns - 1), part, context.threads)
    return part


@strategy("dbh")
def by_degree(src: np.ndarray, dst: np.ndarray, k: int, context: Context) -> np.ndarray:
    """Hash the end of lower degree: hubs are cut, the many small vertices are not."""
    index = Index(src, dst, context.num_vertices)
    src_index, dst_index = index.of(src, context.threads), index.of(dst, context.threads)
    here = np.zeros(index.gids.size, dtype=np.int64)
    kernels.add_at(src_index, np.ones_like(src_index), here)
    kernels.add_at(dst_index, np.ones_like(dst_index), here)
    directory = Directory(context.comm, index.gids, context.num_vertices)
    degree = directory.answer(directory.sums(here)[directory.slots])
    part = np.empty(src.size, dtype=np.int32)
    kernels.by_lower_degree(src, dst, src_index, dst_index, degree, k, part, context.threads)
    return part


@strategy("chunk")
def by_chunk(src: np.ndarray, dst: np.ndarray, k: int, context: Context) -> np.ndarray:
    """Range of the target, of *k* with as much work in each: few mirrors where ids follow the graph."""
    width = max(1, -(-context.num_vertices // SLICES))
    slices = max(1, -(-context.num_vertices // width))
    edges = np.zeros(slices, dtype=np.int64)
    for block in _blocks(dst):
        edges += np.bincount(dst[block] // width, minlength=slices)
    work = context.comm.allreduce(edges) + VERTEX_WORK * width
    middle = np.cumsum(work) - work // 2
    chunk = (middle * k // work.sum()).astype(np.int32)
    part = np.empty(src.size, dtype=np.int32)
    for block in _blocks(dst):
        part[block] = chunk[dst[block] // width]
    return part


def _blocks(edges: np.ndarray) -> Iterator[slice]:
    return (slice(lo, lo + BLOCK) for lo in range(0, edges.size, BLOCK))


SHIPPED = tuple(STRATEGIES.values())  # these return what they should: tests hold them to it
assert tuple(STRATEGIES) == NAMES, "gaslab/partition/names.py names each strategy of this file, in its order"
