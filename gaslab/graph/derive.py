"""Graphs made from a graph: some of its vertices and edges, reversed, without direction."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gaslab.errors import UsageError
from gaslab.graph.absent import no_edge_column
from gaslab.graph.stored import StoredGraph
from gaslab.ingest.duplicates import first_of_each
from gaslab.ingest.edges import EdgeList, assemble
from gaslab.ingest.number_ids import number_integers
from gaslab.ingest.subset import SubsetIds
from gaslab.parallel import launch
from gaslab.replication.transfer import to_mirrors
from gaslab.system.memory import available_memory, human

MOST_COPIES = 2**31 - 1  # of an edge
EDGE_BYTES = 64  # at least, while a graph is made
VertexData = tuple[np.ndarray, dict[str, np.ndarray]]  # global ids, columns: this rank's rows


def vertex_data(graph: StoredGraph) -> VertexData:
    """Return the vertex columns of this rank's masters with their global ids."""
    return graph.local.gid[: graph.local.num_masters], graph.vertex_columns


def subgraph(graph: StoredGraph, kept: np.ndarray, edges: np.ndarray | None) -> tuple[EdgeList, VertexData]:
    """Return the vertices *kept* (a flag per master) and the edges between them that *edges* flags."""
    comm, local = graph.comm, graph.local
    inside = to_mirrors(comm, local, kept)
    chosen = inside[local.in_neighbor] & inside[local.targets()]
    if edges is not None:
        chosen &= edges
    src, dst = (end[chosen] for end in graph.edges())
    gids = local.gid[: local.num_masters][kept]
    left = graph.ids.num_left
    num_left = None if left is None else int(comm.allreduce(int(np.count_nonzero(gids < left))))
    threads = launch.threads_per_rank(comm.local_ranks)
    largest = int(gids.max(initial=-1))
    known = number_integers([src, dst, gids], largest, comm, threads)
    columns = {name: values[chosen] for name, values in graph.edge_columns.items()}
    made = assemble(
        comm, src, dst, columns, SubsetIds(graph.ids, known, num_left), directed=graph.directed,
        counts={}, source=f"a subgraph of {graph.source}", threads=threads,
    )  # fmt: skip
    return made, (gids, {name: values[kept] for name, values in graph.vertex_columns.items()})


def reverse(graph: StoredGraph) -> tuple[EdgeList, VertexData]:
    """Return every edge reversed."""
    src, dst = graph.edges()
    return _made(graph, dst, src, graph.edge_columns, graph.directed, "the reverse of"), vertex_data(graph)


def to_undirected(graph: StoredGraph, parallel: str) -> tuple[EdgeList, VertexData]:
    """Return every edge without its direction; with ``parallel="first"`` one edge per pair of ends."""
    src, dst = graph.edges()
    low, high = np.minimum(src, dst), np.maximum(src, dst)
    columns = graph.edge_columns
    if parallel == "first":
        # Edges with the same source and target are on one rank, in their order; those from the lower
        # to the higher id count as earlier, so that the choice does not depend on the cut.
        before = sum(graph.comm.allgather(int(src.size))[: graph.comm.rank])
        position = before + np.arange(src.size, dtype=np.int64) + ((src > dst).astype(np.int64) << 60)
        threads = launch.threads_per_rank(graph.comm.local_ranks)
        first = first_of_each(graph.comm, low, high, graph.num_vertices, True, position, threads)
        low, high = low[first], high[first]
        columns = {name: values[first] for name, values in columns.items()}
    return _made(graph, low, high, columns, False, "undirected:"), vertex_data(graph)


def repeated(graph: StoredGraph, column: str) -> tuple[EdgeList, VertexData]:
    """Return every edge repeated by an edge column; UsageError if the column does not hold counts."""
    counts = _counts(graph, column)
    src, dst = (np.repeat(end, counts) for end in graph.edges())
    columns = {name: _repeat(values, counts) for name, values in graph.edge_columns.items()}
    return _made(graph, src, dst, columns, graph.directed, "repeated:"), vertex_data(graph)


def _repeat(values: Any, counts: np.ndarray) -> Any:
    """Return the rows of a column, which may be vectors or lists, repeated."""
    if isinstance(values, np.ndarray):
        return np.repeat(values, counts, axis=0)
    return values[np.repeat(np.arange(counts.size), counts)]


def _repeated_bytes(values: Any, counts: np.ndarray) -> int:
    """Return the bytes of `_repeat`'s result."""
    if isinstance(values, np.ndarray):
        return int(counts.sum()) * values.itemsize * int(math.prod(values.shape[1:]))
    return int((counts * values.lengths).sum()) * int(values.dtype.itemsize)


def _counts(graph: StoredGraph, column: str) -> np.ndarray:
    """Return the counts in an edge column; raises UsageError if they are not counts, or too large."""
    if column not in graph.edge_columns:
        raise no_edge_column(graph, column)
    values = graph.edge_columns[column]
    shape = getattr(values, "shape", ())[1:]  # lists have none: `check_column` refuses them
    if shape:
        raise UsageError(f"edge column {column!r} has rows of shape {shape}; a number is needed")
    graph.check_column(column, 0.0, finite=True)
    bad = np.flatnonzero((values != np.floor(values)) | (values > MOST_COPIES))
    found = graph.first_edge((int(bad[0]), values[bad[0]].item()) if bad.size else None)
    if found is not None:
        raise UsageError(
            f"edge column {column!r} is {found[1]!r} on the edge {found[0]}; a whole number from 0 to "
            f"{MOST_COPIES} is needed"
        )
    counts: np.ndarray = values.astype(np.int64)
    here = EDGE_BYTES * int(counts.sum())
    here += sum(_repeated_bytes(one, counts) for one in graph.edge_columns.values())
    edges, needed = graph.comm.allreduce(np.array([counts.sum(), here])).tolist()
    if needed > graph.comm.size * graph.comm.allreduce(available_memory(), "min"):
        raise UsageError(
            f"edge column {column!r} sums to {edges:,} edges, about {human(needed)}; "
            "is it a column of counts?"
        )
    return counts


def _made(
    graph: StoredGraph,
    src: np.ndarray,
    dst: np.ndarray,
    columns: dict[str, np.ndarray],
    directed: bool,
    how: str,
) -> EdgeList:
    threads = launch.threads_per_rank(graph.comm.local_ranks)
    return assemble(
        graph.comm, np.ascontiguousarray(src), np.ascontiguousarray(dst), dict(columns), graph.ids,
        directed=directed, counts={}, source=f"{how} {graph.source}", threads=threads,
    )  # fmt: skip
