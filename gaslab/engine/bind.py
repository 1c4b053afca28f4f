"""Binds a program to a graph: parameters, edge columns, given vertex values."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab.compiler.tree import Tree, Variable
from gaslab.engine.state import dtype_of
from gaslab.errors import UsageError, nearest

if TYPE_CHECKING:
    from gaslab.graph import Graph
    from gaslab.program import VertexProgram
    from gaslab.result import Result

log = logging.getLogger("gaslab")


def bind_parameters(tree: Tree, program: VertexProgram, graph: Graph) -> list[Any]:
    """Return the parameters' values in the tree's order; vertex ids as global ids (collective)."""
    values = program.parameters()
    return [_parameter(variable, values[variable.name], tree.name, graph) for variable in tree.params]


def _parameter(variable: Variable, value: Any, owner: str, graph: Graph) -> Any:
    what = f"{owner}({variable.name}={value!r})"
    if variable.storage == "id":
        return int(graph.ids.find([value])[0])
    if variable.type == "bool":
        if isinstance(value, (bool, np.bool_)):
            return bool(value)
        raise UsageError(f"{what}: a bool is needed")
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise UsageError(f"{what}: a number is needed, not {type(value).__name__}")
    if variable.type == "float":
        return float(dtype_of(variable.storage).type(value))
    if int(value) != value:
        raise UsageError(f"{what}: a whole number is needed")
    limits = np.iinfo(dtype_of(variable.storage))
    if not limits.min <= value <= limits.max:
        raise UsageError(f"{what}: outside the range of {variable.storage}, {limits.min} to {limits.max}")
    return int(value)


def bind_edge_fields(tree: Tree, graph: Graph, columns: Mapping[str, str | None] | None) -> list[np.ndarray]:
    """Return one array per edge field, in slot order, from the graph's columns or the defaults."""
    columns = dict(columns or {})
    known = [v.name for v in tree.edge_fields]
    for name in columns:
        if name not in known:
            raise UsageError(f"{tree.name} has no edge field {name!r}{nearest(name, known)}")
    written = tree.writes("scatter", "e")
    fields, bound = [], []
    for variable in tree.edge_fields:
        column = columns.get(variable.name, variable.name)
        if column is not None and column in graph.edge_columns:
            values = _converted(graph.edge_columns[column], variable, column)
            fields.append(values.copy() if variable.name in written else values)
            bound.append(f"{variable.name} = column {column!r}")
            continue
        if variable.name in columns and column is not None:
            raise UsageError(f"the graph has no edge column {column!r}{nearest(column, graph.edge_columns)}")
        if variable.required:
            raise UsageError(
                f"{tree.name} needs the edge field {variable.name!r}, which has no default, and the graph "
                f"has no column of that name{nearest(variable.name, graph.edge_columns)}; "
                f"bind one with columns={{{variable.name!r}: NAME}} or --column {variable.name}=NAME"
            )
        fields.append(np.full(graph.local.in_neighbor.size, variable.default, dtype_of(variable.storage)))
        bound.append(f"{variable.name} = {variable.default!r} on every edge")
    if bound and graph.comm.rank == 0:
        log.info("%s: %s", tree.name, "; ".join(bound))
    return fields


def _converted(values: np.ndarray, variable: Variable, what: str) -> np.ndarray:
    dtype = dtype_of(variable.storage)
    if values.dtype == dtype:
        return np.ascontiguousarray(values)
    if values.dtype.kind in "biu" or dtype.kind == "f":
        if dtype.kind in "iu" and values.size:
            limits = np.iinfo(dtype)
            if values.min() < limits.min or values.max() > limits.max:
                raise UsageError(
                    f"{what!r} has values outside the range of {variable.name}'s {variable.storage}"
                )
        return values.astype(dtype)
    whole = values.astype(dtype)
    if not np.array_equal(whole.astype(values.dtype), values):
        raise UsageError(f"{what!r} has values that are not {variable.storage}, as {variable.name} needs")
    return whole


def bind_initial(tree: Tree, graph: Graph, given: Mapping[str, Any] | Result | None) -> dict[str, np.ndarray]:
    """Return given vertex values, by field, for this rank's masters (collective).

    Each value is a dict from vertex id to value (others keep the field's default), an array in the
    order of the sorted ids, or a number for all. *given* may be a Result: its fields of the
    program's names are taken.
    """
    if given is None:
        return {}
    known = {v.name: v for v in tree.vertex_fields}
    if not isinstance(given, Mapping):
        given = {name: given for name in given.vertices.columns if name in known}
    masters = graph.local.gid[: graph.local.num_masters]
    values = {}
    for name, data in given.items():
        if name not in known:
            raise UsageError(f"{tree.name} has no vertex field {name!r}{nearest(name, known)}")
        values[name] = _column(known[name], data, masters, graph)
    return values


def _result_column(result: Result, name: str, graph: Graph) -> Any:
    """Return a field of an earlier result as an array by global id, or by vertex id for another graph."""
    table = result.vertices
    if len(table) == graph.num_vertices and result.metrics.get("fingerprint") == graph.fingerprint:
        return table[name]
    return dict(zip(table.ids.tolist(), table[name], strict=True))


def _column(variable: Variable, data: Any, masters: np.ndarray, graph: Graph) -> np.ndarray:
    if hasattr(data, "vertices"):
        data = _result_column(data, variable.name, graph)
    elif hasattr(data, "to_dict") and not isinstance(data, Mapping):  # a pandas Series by id
        data = data.to_dict()
    if isinstance(data, Mapping):
        if variable.required and len(data) < graph.num_vertices:
            raise UsageError(
                f"init={{{variable.name!r}: ...}} must name every vertex: the field has no default"
            )
        gids = np.asarray(graph.ids.find(list(data)), np.int64)
        content = list(data.values())
        table = np.asarray(graph.ids.find(content) if variable.storage == "id" else content)
        full = np.full(masters.size, 0 if variable.required else variable.default, dtype_of(variable.storage))
        order = np.argsort(masters)
        place = np.searchsorted(masters, gids, sorter=order)
        place = order[np.minimum(place, max(masters.size - 1, 0))] if masters.size else place[:0]
        mine = masters[place] == gids if masters.size else np.zeros(0, bool)
        full[place[mine]] = _converted(table, variable, variable.name)[mine] if mine.any() else 0
        return full
    table = np.asarray(data)
    if table.ndim == 0:
        table = np.broadcast_to(table, graph.num_vertices)
    if table.shape != (graph.num_vertices,):
        raise UsageError(
            f"init={{{variable.name!r}: ...}} has shape {table.shape}; one value per vertex, "
            f"{graph.num_vertices}, in the order of the sorted ids is needed (or a dict by id)"
        )
    return _converted(table[masters], variable, variable.name)
