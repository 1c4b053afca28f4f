"""The stateless strategies: the part of an edge is a function of its ends.

It may also depend on what `Context` knows about the whole graph. The cut is the same however the edges were
split over ranks, and parallel edges stay together in order. The target of an undirected edge is the end with
the higher id, unless stated otherwise, so that its reverse is parallel to it.

References
----------
``random``, ``2d``: Gonzalez et al., PowerGraph (OSDI 2012); Jain et al., GraphBuilder (2013).
``dbh``: Xie et al., Distributed power-law graph computing (NIPS 2014).
``hybrid``: Chen et al., PowerLyra (EuroSys 2015).
``chunk``: Zhu et al., Gemini (OSDI 2016).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator

import numpy as np

import gaslab._kernels.partition as kernels
from gaslab.errors import UsageError
from gaslab.partitioning.context import Context
from gaslab.partitioning.directory import Directory
from gaslab.partitioning.index import Index
from gaslab.partitioning.registry import strategy

VERTEX_WORK = 8  # of a vertex, in edges
BLOCK = 1 << 20  # edges that numpy takes at once
HUB = 4  # hybrid: a hub has more than this many times the mean number of edges
SLICES = 1 << 16  # ranges of ids between which a chunk may end
BUCKETS, MOST_BUCKETS = 256, 1 << 18  # by one end: of a part, and of all


@strategy("random")
def random(src: np.ndarray, dst: np.ndarray, k: int, context: Context) -> np.ndarray:
    """Hash the edge: the best edge balance, the most mirrors."""
    part = np.empty(src.size, dtype=np.int32)
    kernels.by_edge(src, dst, k, part, context.threads)
    return part


@strategy("1d")
def by_one_end(src: np.ndarray, dst: np.ndarray, k: int, context: Context) -> np.ndarray:
    """Hash the target: all in-edges of a vertex are together, so that a gather over them is local.

    In a bipartite graph, hash the end on the side with more vertices, so that only vertices of the other side
    are mirrored (Chen, Shi, Chen, Zang, "Bipartite-Oriented Distributed Graph Partitioning for Big Learning",
    Journal of Computer Science and Technology 30, 2015).
    """
    if context.num_left is None:
        return _by_end(lambda block: target_of(src, dst, block, context), dst.size, k, context)
    # The left end of an edge has the smaller id, even if the graph was reversed.
    larger = np.minimum if left_is_larger(context) else np.maximum
    return _by_end(lambda block: larger(src[block], dst[block]), dst.size, k, context)


@strategy("1d-source")
def by_source(src: np.ndarray, dst: np.ndarray, k: int, context: Context) -> np.ndarray:
    """Hash the source: all out-edges of a vertex are together, so that a scatter over them is local."""
    return _by_end(lambda block: source_of(src, dst, block, context), src.size, k, context)


def _by_end(end: Callable[[slice], np.ndarray], size: int, k: int, context: Context) -> np.ndarray:
    """Hash *end* of the edges, balanced (collective)."""
    buckets = buckets_of(k)
    part = np.empty(size, dtype=np.int32)
    for block in blocks(part):
        kernels.by_vertex(end(block), buckets, part[block], context.threads)
    return _dealt(part, buckets, k, context)


def _degrees(ends: list[np.ndarray], context: Context) -> tuple[list[np.ndarray], np.ndarray, float]:
    """Count how often each vertex is in *ends* on all ranks (collective).

    Returns the index of each end, the degree by index, and edges per vertex that has one.
    """
    index = Index(ends[0], ends[-1], context.num_vertices)
    indices = [index.of(end, context.threads) for end in ends]
    here = np.zeros(index.gids.size, dtype=np.int64)
    for one in indices:
        kernels.add_at(one, np.ones_like(one), here)
    directory = Directory(context.comm, index.gids, context.num_vertices)
    totals = directory.sums(here)
    edges, vertices = context.comm.allreduce(np.array([ends[0].size, np.count_nonzero(totals)]))
    return indices, directory.answer(totals[directory.slots]), edges / max(vertices, 1)


def left_is_larger(context: Context) -> bool:
    """Return whether the left side of a bipartite graph has more vertices."""
    return context.num_left is not None and 2 * context.num_left > context.num_vertices


def buckets_of(k: int) -> int:
    """Return the number of buckets to which ends are hashed."""
    return max(min(BUCKETS, MOST_BUCKETS // k), 1) * k


def _dealt(part: np.ndarray, buckets: int, k: int, context: Context) -> np.ndarray:
    """Replace buckets by parts, in place (collective).

    Edges hashed to one of many buckets stay together; the buckets, the largest first, each go to the part
    with the least work so far. With very many parts a bucket is a part.
    """
    if buckets == k:
        return part
    edges = np.zeros(buckets, dtype=np.int64)
    for block in blocks(part):
        edges += np.bincount(part[block], minlength=buckets)
    work = context.comm.allreduce(edges) + VERTEX_WORK * context.num_vertices // buckets
    dealt = np.empty(buckets, dtype=np.int32)
    loads = [(0, p) for p in range(k)]
    for bucket in np.argsort(-work, kind="stable").tolist():
        load, dealt[bucket] = loads[0]
        heapq.heapreplace(loads, (load + int(work[bucket]), loads[0][1]))
    for block in blocks(part):
        part[block] = dealt[part[block]]
    return part


@strategy("2d")
def by_grid(src: np.ndarray, dst: np.ndarray, k: int, context: Context) -> np.ndarray:
    """Hash both ends onto a grid of parts: at most about 2 sqrt(k) replicas of a vertex.

    Any *k* works: the grid has ceil(sqrt(k)) columns; the last may be shorter.
    """
    shape = grid(k)
    part = np.empty(src.size, dtype=np.int32)
    for block in blocks(part):
        ends = source_of(src, dst, block, context), target_of(src, dst, block, context)
        kernels.by_grid(*ends, *shape, part[block], context.threads)
    return part


def grid(k: int) -> tuple[int, int, int]:
    """Return the columns of the grid, their rows, and the rows of the last column."""
    columns = math.isqrt(k - 1) + 1
    rows = -(-k // columns)
    columns = -(-k // rows)
    return columns, rows, k - rows * (columns - 1)


@strategy("dbh")
def by_degree(src: np.ndarray, dst: np.ndarray, k: int, context: Context) -> np.ndarray:
    """Hash the end of lower degree: hubs are cut, vertices of low degree are not."""
    (src_index, dst_index), degree, _ = _degrees([src, dst], context)
    part = np.empty(src.size, dtype=np.int32)
    kernels.by_lower_degree(src, dst, src_index, dst_index, degree, k, part, context.threads)
    return part


@strategy("hybrid")
def by_hub(src: np.ndarray, dst: np.ndarray, k: int, context: Context, *, threshold: int = 0) -> np.ndarray:
    """Hash the target, or the source if the target is a hub, balanced.

    The in-edges of most vertices are together, and each in-edge of a hub is with the in-edges of its source.
    The target of an undirected edge is the end of higher degree: an edge and its reverse are together.

    Parameters
    ----------
    threshold : int
        A vertex with more in-edges (in an undirected graph, more edges) is a hub. By default, 0, it is 4
        times the mean number of edges per vertex that has any.
    """
    if threshold < 0:
        raise UsageError(
            f"strategy='hybrid:threshold={threshold}': a number of edges is needed, as in "
            "hybrid:threshold=100, or 0 to find one from the degrees"
        )
    directed = context.directed
    indices, degree, per_vertex = _degrees([dst] if directed else [src, dst], context)
    if not threshold:
        threshold = hub_threshold(per_vertex)
    buckets = buckets_of(k)
    part = np.empty(src.size, dtype=np.int32)
    kernels.by_target_unless_hub(
        src, dst, indices[0], indices[-1], degree, threshold, directed, buckets, part, context.threads
    )
    return _dealt(part, buckets, k, context)


def hub_threshold(per_vertex: float) -> int:
    """Return the edges above which a vertex is a hub, from the mean per vertex that has any."""
    return math.floor(HUB * per_vertex)


@strategy("chunk")
def by_chunk(src: np.ndarray, dst: np.ndarray, k: int, context: Context) -> np.ndarray:
    """Split targets by id into *k* ranges of equal work: few mirrors if ids follow the graph."""
    width = slice_width(context)
    slices = max(1, -(-context.num_vertices // width))
    edges = np.zeros(slices, dtype=np.int64)
    for block in blocks(dst):
        edges += np.bincount(target_of(src, dst, block, context) // width, minlength=slices)
    chunk = chunks(context.comm.allreduce(edges), width, k)
    part = np.empty(src.size, dtype=np.int32)
    for block in blocks(dst):
        part[block] = chunk[target_of(src, dst, block, context) // width]
    return part


def slice_width(context: Context) -> int:
    """Return the number of ids in a slice, which is in one chunk."""
    return max(1, -(-context.num_vertices // SLICES))


def chunks(edges: np.ndarray, width: int, k: int) -> np.ndarray:
    """Return the chunk of each slice, given its edges."""
    work = edges + VERTEX_WORK * width
    middle = np.cumsum(work) - work // 2
    chunk: np.ndarray = (middle * k // work.sum()).astype(np.int32)
    return chunk


def source_of(src: np.ndarray, dst: np.ndarray, block: slice, context: Context) -> np.ndarray:
    """Return the sources of a block of edges; without direction the ends with the lower ids."""
    return src[block] if context.directed else np.minimum(src[block], dst[block])


def target_of(src: np.ndarray, dst: np.ndarray, block: slice, context: Context) -> np.ndarray:
    """Return the targets of a block of edges; without direction the ends with the higher ids."""
    return dst[block] if context.directed else np.maximum(src[block], dst[block])


def blocks(edges: np.ndarray, size: int = BLOCK) -> Iterator[slice]:
    """Yield slices of edges processed at once."""
    return (slice(lo, lo + size) for lo in range(0, edges.size, size))
