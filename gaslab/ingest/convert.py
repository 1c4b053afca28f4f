"""Graphs of other libraries to edges in global ids: NetworkX, SciPy, pandas."""

from __future__ import annotations

import logging
import numbers
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import GaslabError, InputError, UsageError, nearest
from gaslab.ingest.arrays import ENDS, column_of, edges_from_arrays
from gaslab.ingest.capacity import check_room
from gaslab.ingest.edges import EdgeList
from gaslab.ingest.rows import object_array
from gaslab.parallel.comm import Comm, as_comm

log = logging.getLogger("gaslab")


def edges_from_networkx(
    graph: Any, comm: Comm | None = None, *, bipartite: bool = False, rows: str = "same"
) -> EdgeList:
    """Make edges of a NetworkX graph of any class (collective).

    It is directed if *graph* is; parallel edges and isolated nodes are kept. Node objects are the
    ids: integers from 0 to 2**63 - 1 or strings in sorted order, anything else in the order of the nodes.
    An edge attribute that is a number on every edge becomes a column; a warning names those that are left
    out. Of parallel edges the keys are left out, and the order is kept.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
    comm : Comm, optional
    bipartite : bool
        The node attribute ``bipartite`` is 0 (left) or 1 (right), and every edge joins a left node to a right
        one; in a directed graph it leads from left to right.
    rows : {"same", "parts", "root"}
        See `edges_from_arrays`. With ``"root"`` other ranks may pass None.
    """
    comm, (bipartite,) = as_comm(comm), arguments.flags(bipartite=bipartite)
    rows = arguments.choice("rows", rows, arguments.ROWS)
    here = comm.rank == 0 or rows != "root"
    comm.attempt(lambda: _check_networkx(graph) if here else None)
    edges = list(graph.edges(data=True)) if here else []
    columns, left = _numbers([data for _, _, data in edges])
    if comm.rank == 0:
        _say_left_out("edge", left)
    vertices: Any = object_array(list(graph.nodes)) if here else None
    if bipartite:
        edges, vertices = comm.attempt(lambda: _in_sides(graph, edges) if here else ([], None))
    return edges_from_arrays(
        object_array([u for u, _, _ in edges]),
        object_array([v for _, v, _ in edges]),
        comm,
        columns=columns,
        vertices=vertices,
        bipartite=bipartite,
        directed=comm.bcast(bool(here and graph.is_directed())),
        rows=rows,
        source="networkx",
    )


def _check_networkx(graph: Any) -> None:
    if isinstance(graph, type) or not all(map(partial(hasattr, graph), ("edges", "nodes", "is_directed"))):
        raise arguments.wrong("graph", graph, f"a NetworkX graph is needed, not {type(graph).__name__}")


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


def vertices_from_networkx(
    graph: Any, comm: Comm, *, bipartite: bool = False, rows: str = "same"
) -> dict[str, Any] | None:
    """Return the node attributes that are numbers on every node as a table, None if none are (collective).

    The table has the nodes as ``"id"``, of a bipartite graph also ``"side"``; it is that of
    `Graph.with_vertices`, with the same *rows*. A warning names the attributes that are left out. With
    ``rows="parts"`` all are: a node may be in several parts, with attributes in one of them.
    """
    here = comm.rank == 0 or rows != "root"
    table, left = comm.attempt(lambda: _of_nodes(graph, bipartite, rows) if here else ({}, {}))
    if comm.rank == 0:
        _say_left_out("node", left)
    return table if comm.bcast(bool(table)) else None


def _of_nodes(graph: Any, bipartite: bool, rows: str) -> tuple[dict[str, Any], dict[str, str]]:
    nodes = dict(graph.nodes(data=True))
    columns, left = _numbers(list(nodes.values()))
    if bipartite:
        columns.pop("bipartite", None)
    for name, values in list(columns.items()):
        try:
            columns[name] = column_of(name, values)
            reason = "its name is taken" if name in (*ENDS, "id", "side") else ""
        except GaslabError as error:
            reason = str(error)
        if reason or rows == "parts":
            left[name] = reason or "rows='parts'; use with_vertices"
            del columns[name]
    if not columns:
        return {}, left
    side = {"side": np.array([data["bipartite"] for data in nodes.values()])} if bipartite else {}
    return {"id": list(nodes), **side, **columns}, left


def _numbers(rows: list[dict[Any, Any]]) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the attributes that are numbers on every edge or node, and of the others why they are not."""
    columns: dict[str, np.ndarray] = {}
    left: dict[str, str] = {}
    for name in dict.fromkeys(name for data in rows for name in data):
        values = [data.get(name) for data in rows]
        usable = [isinstance(value, (numbers.Real, np.bool_)) for value in values]
        if str(name) in columns:
            left[repr(name)] = "an attribute of another type has this name as text"
        elif all(usable):
            columns[str(name)] = np.array(values)
        elif any(usable):
            left[str(name)] = f"a number on {sum(usable)} of {len(rows)}"
        else:
            kinds = sorted({type(value).__name__ for value in values if value is not None})
            left[str(name)] = ", ".join(kinds) or "None"
    return columns, left


def _say_left_out(kind: str, left: dict[str, str]) -> None:
    if left:
        listed = ", ".join(f"{name!r} ({reason})" for name, reason in left.items())
        log.warning("%s attributes left out: %s; a number on every %s becomes a column", kind, listed, kind)


def edges_from_scipy(
    matrix: Any,
    comm: Comm | None = None,
    *,
    weight: str | None = "weight",
    directed: bool = True,
    bipartite: bool = False,
    rows: str = "same",
) -> EdgeList:
    """Make edges of a square sparse matrix or array: a stored entry (i, j) is the edge i -> j (collective).

    The vertices are 0 .. n-1, with or without edges; of a bipartite graph 0 .. m-1 on the left and 0 .. n-1
    on the right, for a matrix of any shape. Stored zeros are edges too; entries that are stored twice are
    added, as SciPy does. NaN is an InputError, unless *weight* is None.

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
    """
    comm, weight = as_comm(comm), arguments.text("weight", weight, optional=True)
    directed, bipartite = arguments.flags(directed=directed, bipartite=bipartite)
    rows = arguments.choice("rows", rows, arguments.ROWS)
    here = comm.rank == 0 or rows != "root"
    src, dst, values, shape = comm.attempt(
        lambda: _entries(matrix, weight, directed, bipartite) if here else _no_entries()
    )
    sizes = [int(comm.allreduce(size, "max")) for size in shape]
    check_room(comm, sum(sizes) if bipartite else sizes[0], "scipy: ")
    sides = [np.arange(size, dtype=np.int64) for size in sizes]
    return edges_from_arrays(
        src, dst, comm,
        columns={} if weight is None else {weight: values},
        vertices=(sides if bipartite else sides[0]) if here else None,
        directed=directed, bipartite=bipartite, rows=rows, source="scipy",
    )  # fmt: skip


_Entries = tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]


def _no_entries() -> _Entries:
    none = np.empty(0, dtype=np.int64)
    return none, none, none, (0, 0)


def _entries(matrix: Any, weight: str | None, directed: bool, bipartite: bool) -> _Entries:
    if isinstance(matrix, type) or not hasattr(matrix, "tocoo"):
        needed = f"a scipy.sparse matrix is needed, not {type(matrix).__name__}"
        raise arguments.wrong("matrix", matrix, needed)
    if len(matrix.shape) != 2 or (matrix.shape[0] != matrix.shape[1] and not bipartite):
        raise UsageError(
            f"a square matrix is needed, not one of shape {matrix.shape}; or pass bipartite=True, and rows "
            "and columns are vertices of two kinds"
        )
    entries = _added(matrix)
    if weight is not None and entries.data.dtype.kind == "f" and np.isnan(entries.data).any():
        at = int(np.argmax(np.isnan(entries.data)))
        place = f"({entries.row[at]}, {entries.col[at]})"
        raise InputError(f"the entry {place} of the matrix is nan; weight=None leaves the values out")
    if not directed and not bipartite and (matrix.tocsr() != matrix.tocsr().T).nnz:
        raise InputError("directed=False needs a symmetric matrix; this one is not (`matrix != matrix.T`)")
    keep = slice(None) if directed or bipartite else entries.row <= entries.col
    return entries.row[keep], entries.col[keep], entries.data[keep], matrix.shape


def _added(matrix: Any) -> Any:
    """Return the matrix in coordinate form; entries that are stored twice are one, their sum."""
    entries = matrix.tocoo()
    if getattr(matrix, "has_canonical_format", False):
        return entries
    if matrix.shape[0] * matrix.shape[1] < 1 << 63:
        key = np.sort(entries.row.astype(np.int64) * matrix.shape[1] + entries.col)
        twice = bool((key[1:] == key[:-1]).any())
    else:
        order = np.lexsort((entries.col, entries.row))
        twice = bool(((np.diff(entries.row[order]) == 0) & (np.diff(entries.col[order]) == 0)).any())
    if twice:
        entries = entries.copy()  # of a matrix in this form tocoo returns the user's own
        entries.sum_duplicates()
    return entries


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
    """
    comm = as_comm(comm)
    directed, bipartite = arguments.flags(directed=directed, bipartite=bipartite)
    rows = arguments.choice("rows", rows, arguments.ROWS)
    if columns is not None:
        columns = arguments.several("columns", columns, "a sequence of names")
    here = comm.rank == 0 or rows != "root"
    kept = comm.attempt(
        lambda: _frame_columns(frame, source, target, columns, comm.rank == 0) if here else []
    )
    return edges_from_arrays(
        frame[source] if here else [],
        frame[target] if here else [],
        comm,
        columns={str(name): frame[name] for name in kept},
        directed=directed, bipartite=bipartite, rows=rows, source="pandas",
    )  # fmt: skip


def _frame_columns(
    frame: Any, source: str, target: str, columns: Sequence[str] | None, say: bool
) -> list[Any]:
    if isinstance(frame, type) or not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
        raise arguments.wrong("frame", frame, f"a data frame is needed, not {type(frame).__name__}")
    known = list(frame.columns)
    wanted = [("source", source), ("target", target), *(("columns", name) for name in columns or ())]
    for parameter, name in wanted:
        if not isinstance(name, Hashable) or name not in known:
            word = name if isinstance(name, str) else arguments.shown(name)
            hint = nearest(word, map(str, known))
            raise UsageError(f"{parameter}={arguments.shown(name)}: the frame has no such column{hint}")
        if known.count(name) > 1:
            raise UsageError(_twice(name, known.count(name)))
    if columns is not None:
        return list(columns)
    others = frame_columns(frame)
    kept = [name for name in known if name not in (source, target) and others[str(name)].dtype.kind in "biuf"]
    left = [str(name) for name in known if name not in (source, target, *kept)]
    if left and say:
        log.info(
            "columns left out: %s; those of numbers and bools become columns", ", ".join(map(repr, left))
        )
    return kept


def frame_columns(frame: Any) -> dict[str, Any]:
    """Return the columns of a data frame by name, as text; UsageError where two have one name."""
    names = [str(name) for name in frame.columns]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(_twice(name, names.count(name)))
    return {name: frame.iloc[:, at] for at, name in enumerate(names)}


def _twice(name: Any, count: int) -> str:
    return f"the frame has {count} columns named {name!r}; rename all but one, or leave them out"
