"""Graphs of other libraries to edges in global ids: NetworkX, SciPy, pandas."""

from __future__ import annotations

import logging
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from gaslab.comm import Comm, world
from gaslab.errors import InputError, UsageError, nearest
from gaslab.ingest.arrays import edges_from_arrays
from gaslab.ingest.edges import EdgeList
from gaslab.ingest.rows import object_array

log = logging.getLogger("gaslab")


def edges_from_networkx(
    graph: Any,
    comm: Comm | None = None,
    *,
    bipartite: bool = False,
    rows: str = "same",
    threads: int | None = None,
) -> EdgeList:
    """Make edges of a NetworkX graph of any class (collective).

    It is directed if *graph* is; parallel edges and isolated nodes are kept. Node objects are the
    ids: integers from 0 to 2**63 - 1 or strings in sorted order, anything else in the order of the nodes.
    An edge attribute that is a number on every edge becomes a column; one that is a number on some is
    left out with a warning.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
    comm : Comm, optional
    bipartite : bool
        The node attribute ``bipartite`` is 0 (left) or 1 (right), and every edge joins a left node to a right
        one; in a directed graph it leads from left to right.
    rows : {"same", "parts", "root"}
        See `edges_from_arrays`. With ``"root"`` other ranks may pass None.
    threads : int, optional
    """
    comm = world() if comm is None else comm
    here = comm.rank == 0 or rows != "root"
    edges = list(graph.edges(data=True)) if here else []
    vertices: Any = object_array(list(graph.nodes)) if here else None
    if bipartite:
        edges, vertices = comm.attempt(lambda: _in_sides(graph, edges) if here else ([], None))
    return edges_from_arrays(
        object_array([u for u, _, _ in edges]),
        object_array([v for _, v, _ in edges]),
        comm,
        columns=_attributes([data for _, _, data in edges], comm.rank == 0),
        vertices=vertices,
        bipartite=bipartite,
        directed=comm.bcast(bool(here and graph.is_directed())),
        rows=rows,
        threads=threads,
        source="networkx",
    )


def _in_sides(graph: Any, edges: list[Any]) -> tuple[list[Any], tuple[np.ndarray, np.ndarray]]:
    """Return the edges with their left ends first, and the left and the right nodes."""
    side = dict(graph.nodes(data="bipartite"))
    for node, value in side.items():
        if value not in (0, 1):
            raise InputError(
                f"node {node!r} has bipartite={value!r}; bipartite=True needs the node attribute "
                "bipartite, 0 or 1, on every node"
            )
    turned = []
    for u, v, data in edges:
        if side[u] == side[v]:
            raise InputError(f"the edge {u!r} -> {v!r} joins two nodes with bipartite={side[u]!r}")
        if side[u] == 1 and graph.is_directed():
            raise InputError(f"the edge {u!r} -> {v!r} leads from right to left; turn it round")
        turned.append((v, u, data) if side[u] == 1 else (u, v, data))
    left, right = ([node for node, value in side.items() if value == k] for k in (0, 1))
    return turned, (object_array(left), object_array(right))


def _attributes(edges: list[dict[Any, Any]], warn: bool) -> dict[str, np.ndarray]:
    """Return the attributes that are numbers on every edge."""
    columns = {}
    for name in dict.fromkeys(name for data in edges for name in data):
        values = [data.get(name) for data in edges]
        usable = [isinstance(value, (numbers.Real, np.bool_)) for value in values]
        if all(usable):
            columns[str(name)] = np.array(values)
        elif any(usable) and warn:
            log.warning(
                "edge attribute %r is a number on %d of %d edges and left out; give it to all to use it",
                name, sum(usable), len(edges),
            )  # fmt: skip
    return columns


def edges_from_scipy(
    matrix: Any,
    comm: Comm | None = None,
    *,
    weight: str | None = "weight",
    directed: bool = True,
    bipartite: bool = False,
    rows: str = "same",
    threads: int | None = None,
) -> EdgeList:
    """Make edges of a square sparse matrix or array: a stored entry (i, j) is the edge i -> j (collective).

    The vertices are 0 .. n-1, with or without edges; of a bipartite graph 0 .. m-1 on the left and 0 .. n-1
    on the right, for a matrix of any shape. Stored zeros are edges too.

    Parameters
    ----------
    matrix : scipy.sparse matrix or array, n x n, or m x n if bipartite
    comm : Comm, optional
    weight : str, optional
        Name of the column that holds the entries; None leaves them out.
    directed : bool
        False: the matrix must be symmetric, and (i, j) and (j, i) are one edge. Of a bipartite graph every
        entry is an edge.
    bipartite : bool
        Row i is vertex i on the left, column j is vertex j on the right.
    rows : {"same", "parts", "root"}
        See `edges_from_arrays`. Parts have the shape of the whole.
    threads : int, optional
    """
    comm = world() if comm is None else comm
    here = comm.rank == 0 or rows != "root"
    src, dst, values, shape = comm.attempt(
        lambda: _entries(matrix, directed, bipartite) if here else _no_entries()
    )
    sides = [np.arange(int(comm.allreduce(size, "max")), dtype=np.int64) for size in shape]
    return edges_from_arrays(
        src, dst, comm,
        columns={} if weight is None else {weight: values},
        vertices=(sides if bipartite else sides[0]) if here else None,
        directed=directed, bipartite=bipartite, rows=rows, threads=threads, source="scipy",
    )  # fmt: skip


_Entries = tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]


def _no_entries() -> _Entries:
    none = np.empty(0, dtype=np.int64)
    return none, none, none, (0, 0)


def _entries(matrix: Any, directed: bool, bipartite: bool) -> _Entries:
    if not hasattr(matrix, "tocoo"):
        raise UsageError(f"a scipy.sparse matrix is needed, not {type(matrix).__name__}")
    if len(matrix.shape) != 2 or (matrix.shape[0] != matrix.shape[1] and not bipartite):
        raise UsageError(
            f"a square matrix is needed, not one of shape {matrix.shape}; or pass bipartite=True, and rows "
            "and columns are vertices of two kinds"
        )
    if not directed and not bipartite and (matrix.tocsr() != matrix.tocsr().T).nnz:
        raise InputError("directed=False needs a symmetric matrix; this one is not (`matrix != matrix.T`)")
    entries = matrix.tocoo()
    keep = slice(None) if directed or bipartite else entries.row <= entries.col
    return entries.row[keep], entries.col[keep], entries.data[keep], matrix.shape


def edges_from_pandas(
    frame: Any,
    comm: Comm | None = None,
    *,
    source: str = "source",
    target: str = "target",
    columns: Sequence[str] | None = None,
    directed: bool = True,
    bipartite: bool = False,
    rows: str = "same",
    threads: int | None = None,
) -> EdgeList:
    """Make edges of a data frame with a row per edge (collective).

    Parameters
    ----------
    frame : pandas.DataFrame
    comm : Comm, optional
    source, target : str
        The columns with the ids of the ends.
    columns : sequence of str, optional
        The columns to keep as edge fields; by default all others that are numbers or bools.
    directed, bipartite : bool
        See `edges_from_arrays`.
    rows : {"same", "parts", "root"}
        See `edges_from_arrays`. With ``"root"`` other ranks may pass None.
    threads : int, optional
    """
    comm = world() if comm is None else comm
    here = comm.rank == 0 or rows != "root"
    kept = comm.attempt(lambda: _frame_columns(frame, source, target, columns) if here else [])
    return edges_from_arrays(
        frame[source] if here else [],
        frame[target] if here else [],
        comm,
        columns={str(name): frame[name] for name in kept},
        directed=directed, bipartite=bipartite, rows=rows, threads=threads, source="pandas",
    )  # fmt: skip


def _frame_columns(frame: Any, source: str, target: str, columns: Sequence[str] | None) -> list[Any]:
    known = list(frame.columns)
    for name in (source, target, *(columns or ())):
        if name not in known:
            raise UsageError(f"the frame has no column {name!r}{nearest(str(name), map(str, known))}")
    if columns is not None:
        return list(columns)
    return [name for name in known if name not in (source, target) and frame[name].dtype.kind in "biuf"]
