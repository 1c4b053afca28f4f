"""Binds a program to a graph: parameters and edge columns."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gaslab.compiler.tree import Tree, Variable, is_list, named
from gaslab.compiler.tree.edge_ends import WRITTEN, conflict
from gaslab.engine.edge_lists import bind_lists, no_lists
from gaslab.engine.initial_draws import InitialDraws
from gaslab.engine.storage import dtype_of, limits_of
from gaslab.errors import UsageError, nearest
from gaslab.graph.absent import no_edge_column, warn_of_default, why_absent
from gaslab.graph.graph import Graph
from gaslab.ingest.sides import need_sides
from gaslab.language.rng import Draw
from gaslab.program import VertexProgram

log = logging.getLogger("gaslab")


def shapes_of(program: VertexProgram) -> dict[str, int]:
    """Return the parameters that may be field lengths, for `parse`."""
    values = program.parameters()
    whole = (int, np.integer)
    return {n: int(x) for n, x in values.items() if isinstance(x, whole) and not isinstance(x, bool)}


def bind_parameters(tree: Tree, program: VertexProgram, graph: Graph) -> list[Any]:
    """Return the parameters' values in the tree's order; vertex ids as global ids (collective)."""
    values = program.parameters()
    return [_parameter(variable, values[variable.name], graph) for variable in tree.params]


def _parameter(variable: Variable, value: Any, graph: Graph) -> Any:
    """Return a value, checked by the program's constructor, as a plain number of its storage type."""
    if variable.storage == "id":
        return int(graph.ids.find([value])[0])
    if variable.type == "float":
        return float(dtype_of(variable.storage).type(value))
    return bool(value) if variable.type == "bool" else int(value)


def check_sides(trees: Iterable[Tree], graph: Graph) -> None:
    """Raise UsageError if a program reads ``v.side`` and the graph has no sides."""
    for tree in trees:
        functions = (*tree.functions.values(), *(a.function for a in tree.aggregators))
        if any("v.side" in function.reads for function in functions):
            need_sides(graph.ids, f"{tree.name} reads v.side")


def bind_edge_fields(
    tree: Tree,
    graph: Graph,
    columns: Mapping[str, str | None] | None,
    written: frozenset[str],
    starts: InitialDraws,
) -> list[Any]:
    """Return one array per edge field, in slot order: the graph's columns, or the defaults, or draws.

    Lists are `Rows`. Arrays of *written* fields are the run's own copies. Draws are functions that draw them:
    see `drawn`.
    """
    columns = dict(columns or {})
    known = [v.name for v in tree.edge_fields]
    of_vertices = {v.name for v in tree.vertex_fields}
    for name in columns:
        if name not in known and name not in of_vertices:
            raise UsageError(f"{tree.name} has no edge field {name!r}{nearest(name, known)}")
    fields: list[Any] = []
    bound: list[str] = []
    for k, variable in enumerate(tree.edge_fields):
        column = columns.get(variable.name, variable.name)
        if column is not None and column in graph.edge_columns:
            bound.append(f"{variable.name} = column {column!r}")
            if is_list(variable.storage):
                fields.append(bind_lists(tree, variable, column, graph))
                continue
            if (problem := no_lists(tree, variable, column, graph)) is not None:
                raise problem
            _check_shape(tree, variable, column, graph.edge_columns[column])
            values = graph.edge_columns[column]
            own = variable.name in written
            made = column_as(variable, column, values, graph, keep=not own)
            fields.append(made.copy() if own and np.may_share_memory(made, values) else made)
            continue
        if variable.name in columns and column is not None:
            raise no_edge_column(graph, column)
        if variable.required:
            raise UsageError(
                f"{tree.name} needs the edge field {variable.name!r}, which has no default, and the graph "
                f"has no column of that name{why_absent(graph, variable.name)}; "
                f"bind one with columns={{{variable.name!r}: NAME}} or --column {variable.name}=NAME"
            )
        dtype, default = dtype_of(variable.storage), variable.default
        if isinstance(default, Draw):
            fields.append(partial(starts.of_edges, default, k, dtype, variable.shape))
        elif variable.shape:
            fields.append(np.full((graph.local.num_edges, *variable.shape), default, dtype))
        else:
            number: Any = default
            fields.append(graph.local.everywhere(number, dtype))
        if not variable.name.startswith("_"):
            if column is not None:
                warn_of_default(graph, column, f"{tree.name}: {variable.name} = {default!r} on every edge")
            bound.append(f"{variable.name} = {variable.default!r} on every edge")
    if bound and graph.comm.rank == 0:
        log.info("%s: %s", tree.name, "; ".join(bound))
    return fields


def drawn(fields: list[Any]) -> list[Any]:
    """Return the fields of `bind_edge_fields` with draws made."""
    return [values() if isinstance(values, partial) else values for values in fields]


def bind_vertex_fields(
    tree: Tree, graph: Graph, columns: Mapping[str, str | None] | None
) -> dict[str, np.ndarray]:
    """Return the graph's vertex columns from which fields start, by field, for this rank's masters.

    They take the place of the fields' defaults, so ``init`` may overwrite them.
    """
    on_edges = {v.name for v in tree.edge_fields}
    columns = {name: column for name, column in (columns or {}).items() if name not in on_edges}
    found, said = {}, []
    for variable in (v for v in tree.vertex_fields if v.lookup is None):
        column = columns.get(variable.name, variable.name)
        if (
            column is not None
            and column in graph.vertex_columns
            and not (variable.storage == "id" or is_list(variable.storage))
        ):
            _check_shape(tree, variable, column, graph.vertex_columns[column])
            found[variable.name] = column_as(variable, column, graph.vertex_columns[column], graph)
            said.append(f"{variable.name} = vertex column {column!r}")
        elif variable.name in columns and column is not None:
            hint = nearest(column, graph.vertex_columns)
            raise UsageError(f"the graph has no vertex column {column!r}{hint}")
    if said and graph.comm.rank == 0:
        log.info("%s: %s", tree.name, "; ".join(said))
    return found


def _check_shape(tree: Tree, variable: Variable, column: str, values: np.ndarray) -> None:
    """Raise UsageError if a column's rows do not have the field's shape."""
    if values.shape[1:] != variable.shape:
        of = f"rows of shape {values.shape[1:]}" if values.ndim > 1 else "one number for each"
        need = named(variable.type) if variable.shape else "a number"
        raise UsageError(
            f"{tree.name}'s field {variable.name!r} is {need}, but the column {column!r} has {of}; "
            f"columns={{{variable.name!r}: None}} leaves the field at its default"
        )


def check_ends(trees: Sequence[Tree], directed: bool) -> None:
    """Raise for an edge field that both ends of an undirected edge would write."""
    for tree in trees if not directed else ():
        found = conflict(tree)
        if found is not None:
            name = tree.edge_fields[found[0]].name
            raise UsageError(
                f"{tree.name} writes the edge field {name!r} in scatter, and an undirected edge has two ends "
                f"that would {'write' if found[1] == WRITTEN else 'use'} it; use it under `if e.forward:` "
                "alone (or under its else), or use a directed graph"
            )


def column_as(
    variable: Variable, column: str, values: np.ndarray, graph: Graph, keep: bool = False
) -> np.ndarray:
    """Return a column in a field's storage type; raises the same error on every rank (collective).

    With *keep*, an array of edges converted from another type is kept with the graph, read-only.
    """

    def convert() -> np.ndarray:
        return converted(values, variable, column)

    def find() -> np.ndarray:
        other = keep and values.dtype != dtype_of(variable.storage)
        key = ("as", variable.storage)
        return graph.local.derived(values, key, convert) if other else convert()  # type: ignore[no-any-return]

    found: np.ndarray = graph.comm.attempt(find)
    return found


def converted(values: np.ndarray, variable: Variable, what: str) -> np.ndarray:
    """Return *values* in the storage type of *variable*; UsageError if one does not fit."""
    dtype = dtype_of(variable.storage)
    if values.dtype.kind not in "biuf":
        raise UsageError(f"{what!r} is {values.dtype}; {variable.name} needs {variable.storage}")
    if dtype.kind in "iu" and values.dtype.kind in "iu" and values.size:
        least, largest = limits_of(dtype)
        if int(values.min()) < least or int(values.max()) > largest:
            raise UsageError(
                f"{what!r} has values outside the range of {variable.name}'s {variable.storage}, "
                f"{least} to {largest}"
            )
        return _contiguous(values, dtype)
    if values.dtype == dtype:
        return _contiguous(values, dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        made = values.astype(dtype)
        if dtype.kind != "f" and not np.array_equal(made.astype(values.dtype), values):
            raise UsageError(f"{what!r} has values that are not {variable.storage}, as {variable.name} needs")
    return made


def _contiguous(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return contiguous values; if they are contiguous, the same object, since caches depend on its identity.

    numpy may copy values whose type is equal under another name.
    """
    same = values.dtype == dtype and values.flags.c_contiguous
    return values if same else np.ascontiguousarray(values, dtype)
