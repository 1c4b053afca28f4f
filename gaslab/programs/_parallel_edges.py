"""Parallel edges: whether a graph has any, and how several count as one; both are found once for a graph."""

from __future__ import annotations

import gaslab as gl
from gaslab.programs._numpy import np

SHARE = "share of its parallel edges"  # the column that `with_shares` adds


def has_parallel_edges(graph: gl.Graph) -> bool:
    """Return whether two edges have the same ends (collective)."""
    local = graph.local
    return bool(local.derived(local.in_neighbor, "has parallel edges", lambda: _has_any(graph)))


def refuse_parallel_edges(graph: gl.Graph, what: str) -> None:
    """Raise UsageError where there are parallel edges (collective)."""
    if has_parallel_edges(graph):
        raise gl.UsageError(
            f"{what} needs a simple graph, and this one has parallel edges; read it with drop_duplicates=True"
        )


def with_shares(graph: gl.Graph, weight: str | None) -> gl.Graph:
    """Return the graph with the column `SHARE` (collective).

    Among the edges with the same ends, the c that are shortest by the column *weight* have 1 / c each, the
    others 0. Without *weight* all are equally long.
    """
    from gaslab.graph.operations import with_columns

    values = graph.local.in_neighbor if weight is None else graph.edge_columns[weight]
    share = graph.local.derived(values, "shares of parallel edges", lambda: _all_shares(graph, weight))
    return with_columns(graph, edge={SHARE: share})


def _has_any(graph: gl.Graph) -> bool:
    from gaslab.ingest.duplicates import first_of_each
    from gaslab.parallel import launch

    source, target = graph.edges()
    threads = launch.threads_per_rank(graph.comm.local_ranks)
    first = first_of_each(graph.comm, source, target, graph.num_vertices, graph.directed, None, threads)
    return bool(graph.comm.allreduce(int(first.size - first.sum())) > 0)


def _all_shares(graph: gl.Graph, weight: str | None) -> np.ndarray:
    """Return the shares of this rank's edges: each pair of ends is judged on one rank (collective)."""
    source, target = graph.edges()
    if not graph.directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    ends = source.astype(np.uint64) * np.uint64(graph.num_vertices) + target.astype(np.uint64)
    length = np.ones(ends.size) if weight is None else graph.edge_columns[weight].astype(np.float64)
    owner = ends % np.uint64(graph.comm.size)
    order = np.argsort(owner, kind="stable")
    cuts = np.searchsorted(owner[order], np.arange(1, graph.comm.size, dtype=np.uint64))
    received = [graph.comm.alltoall(np.split(rows[order], cuts)) for rows in (ends, length)]
    found = _shares(*(np.concatenate(parts) for parts in received))
    sizes = [part.size for part in received[0]]
    share = np.empty(ends.size)
    share[order] = np.concatenate(graph.comm.alltoall(np.split(found, np.cumsum(sizes)[:-1])))
    return share


def _shares(ends: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Return 1 / c for each of the c shortest rows among those of the same ends, else 0."""
    order = np.lexsort((length, ends))
    ends, length = ends[order], length[order]
    is_first = np.ones(ends.size, bool)  # of the rows with the same ends
    is_first[1:] = ends[1:] != ends[:-1]
    group = np.cumsum(is_first) - 1
    shortest = length == length[is_first][group]
    share = np.empty(ends.size)
    share[order] = shortest / np.bincount(group, weights=shortest)[group]
    return share
