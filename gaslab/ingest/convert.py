"""Graphs of other libraries to edges in global ids: NetworkX, SciPy, pandas."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import GaslabError, InputError, UsageError, nearest
from gaslab.ingest.arrays import ENDS, edges_from_arrays
from gaslab.ingest.capacity import check_room
from gaslab.ingest.columns import NUMBERS, column_of, not_numbers
from gaslab.ingest.edges import EdgeList
from gaslab.ingest.matrices import Entries, edge_entries
from gaslab.ingest.missing import is_missing
from gaslab.ingest.rows import object_array
from gaslab.parallel.comm import Comm, as_comm

log = logging.getLogger("gaslab")


def edges_from_networkx(
    graph: Any, comm: Comm | None = None, *, bipartite: bool = False, rows: str = "same"
) -> EdgeList:
    """Make edges of a NetworkX graph of any class (collective).

    It is directed if *graph* is; parallel edges and isolated nodes are kept. Node objects are the ids, as in
    `edges_from_arrays`; ids without a natural order keep the order of the nodes. An edge attribute that is a
    number on every edge becomes a column; the log names those that are left out. An attribute that is a
    number on some edges and something else on others is an InputError, which names the first of these.
    Parallel edges lose their keys, but keep their order.

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
    comm.attempt(lambda: _check_mixed(edges, left))
    if comm.rank == 0:
        _say_left_out("edge", left)
    if rows == "parts":
        known = comm.allgather(list(columns))
        columns = columns if edges else {name: [] for part in known for name in part}
    vertices: Any = object_array(list(graph.nodes)) if here else None
    if bipartite:
        edges, vertices = comm.attempt(lambda: _in_sides(graph, edges) if here else ([], None))
    made = edges_from_arrays(
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
    made.left_out = _merged(comm, left)
    return made


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
            raise InputError(f"the edge {u!r} -> {v!r} leads from right to left; reverse it")
        turned.append((v, u, data) if side[u] == 1 else (u, v, data))
    left, right = ([node for node, value in side.items() if value == k] for k in (0, 1))
    return turned, (object_array(left), object_array(right))


def vertices_from_networkx(
    graph: Any, comm: Comm, *, bipartite: bool = False, rows: str = "same"
) -> dict[str, Any] | None:
    """Return the node attributes that are numbers on every node as a table, None if none are (collective).

    The table has the nodes as ``"id"``, for a bipartite graph also ``"side"``; it suits
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
    attributes, left = _numbers(list(nodes.values()))
    columns: dict[str, Any] = {**attributes}
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


def _numbers(rows: list[dict[Any, Any]]) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """Return the attributes that are numbers on every edge or node, and the reasons why others are not."""
    columns: dict[str, list[Any]] = {}
    left: dict[str, str] = {}
    for name in dict.fromkeys(name for data in rows for name in data):
        values = [data.get(name) for data in rows]
        usable = [isinstance(value, NUMBERS) for value in values]
        if str(name) in columns:
            left[repr(name)] = "an attribute of another type has this name as text"
        elif all(usable):
            columns[str(name)] = values
        elif any(usable):
            left[str(name)] = f"a number on {sum(usable)} of {len(rows)}"
        else:
            kinds = sorted({type(value).__name__ for value in values if value is not None})
            left[str(name)] = ", ".join(kinds) or "None"
    return columns, left


def _check_mixed(edges: list[Any], left: dict[str, str]) -> None:
    """Raise InputError for the first edge whose attribute is not a number, unlike on other edges."""
    for name in {name: None for _, _, data in edges for name in data if str(name) in left}:
        some = False
        first = None
        for u, v, data in edges:
            value = data.get(name)
            some = some or isinstance(value, NUMBERS)
            if first is None and not isinstance(value, NUMBERS) and not is_missing(value):
                first = u, v, value
        if some and first is not None:
            u, v, value = first
            raise InputError(
                f"the attribute {name!r} of the edge {u!r} -> {v!r} is {arguments.shown(value)} "
                f"({type(value).__name__}), but a number on other edges; make it a number on all, or delete "
                "it"
            )


def _merged(comm: Comm, left: dict[str, str]) -> dict[str, str]:
    """Return everything that any rank leaves out; the lowest rank's reason counts (collective)."""
    return {name: why for part in reversed(comm.allgather(left)) for name, why in part.items()}


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
    added, integers as int64 and reals as float64. Raises InputError for a matrix whose arrays contradict each
    other, for a sum that does not fit, and, unless *weight* is None, for NaN.

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
    none = np.empty(0, dtype=np.int64)
    entries = comm.attempt(
        lambda: edge_entries(matrix, weight is not None, directed, bipartite)
        if here
        else Entries(none, none, none, (0, 0))
    )
    sizes = [int(comm.allreduce(size, "max")) for size in entries.shape]
    check_room(comm, sum(sizes) if bipartite else sizes[0], "scipy: ")
    sides = [np.arange(size, dtype=np.int64) for size in sizes]
    return edges_from_arrays(
        entries.row, entries.column, comm,
        columns={} if weight is None else {weight: entries.value},
        vertices=(sides if bipartite else sides[0]) if here else None,
        directed=directed, bipartite=bipartite, rows=rows, source="scipy",
    )  # fmt: skip


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
        The columns to keep as edge fields; by default all others that hold numbers or bools, also as
        categories or objects. Each must be numbers or bools in every row.
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
    others = comm.attempt(lambda: _frame_columns(frame, source, target, columns) if here else {})
    left = left_out(comm, others, here and len(frame) > 0)
    if left and comm.rank == 0:
        listed = ", ".join(f"{name!r} ({what})" for name, what in left.items())
        log.info("columns left out: %s; those of numbers and bools become columns", listed)
    made = edges_from_arrays(
        frame[source] if here else [],
        frame[target] if here else [],
        comm,
        columns={str(name): frame[name] for name in others if str(name) not in left},
        directed=directed, bipartite=bipartite, rows=rows, source="pandas",
    )  # fmt: skip
    made.left_out = left
    return made


def left_out(comm: Comm, columns: dict[Any, str | None], counts: bool) -> dict[str, str]:
    """Return the columns that hold numbers on no rank, and their content (collective).

    *columns* are this rank's, with None for numbers. They do not count if it has no rows.
    """
    every = comm.allgather(({str(name): what for name, what in columns.items()}, counts))
    parts = [part for part, some in every if some] or [part for part, _ in every]
    names = {name: None for part in parts for name in part}
    numbers = {name for part in parts for name, what in part.items() if what is None}
    return {
        name: next(part[name] for part in parts if name in part) or ""
        for name in names
        if name not in numbers
    }


def _frame_columns(
    frame: Any, source: str, target: str, columns: Sequence[str] | None
) -> dict[Any, str | None]:
    """Return the columns that may be edge fields: None, or their content if not numbers."""
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
        return dict.fromkeys(columns)
    others = frame_columns(frame)
    return {name: not_numbers(others[str(name)]) for name in known if name not in (source, target)}


def frame_columns(frame: Any) -> dict[str, Any]:
    """Return the columns of a data frame by name, as text; UsageError if two have the same name."""
    names = [str(name) for name in frame.columns]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(_twice(name, names.count(name)))
    return {name: frame.iloc[:, at] for at, name in enumerate(names)}


def _twice(name: Any, count: int) -> str:
    return f"the frame has {count} columns named {name!r}; rename all but one, or leave them out"
