"""Edge fields that are lists: a graph's column of lists as the rows of a program's field."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab.compiler.tree import Tree, Variable, element_storage, named
from gaslab.engine.storage import dtype_of, limits_of
from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.ragged import RaggedColumn, Rows


def bind_lists(tree: Tree, variable: Variable, column: str, graph: Graph) -> Rows:
    """Return the rows of a list field on this rank's edges, from a column (collective)."""
    lists: Any = graph.edge_columns[column]
    if not isinstance(lists, RaggedColumn):
        if lists.ndim != 2:
            of = "one number for each" if lists.ndim == 1 else f"rows of shape {lists.shape[1:]}"
            raise UsageError(
                f"{tree.name}'s field {variable.name!r} is {named(variable.type)}, but the column {column!r} "
                f"has {of}; give a list for each edge"
            )
        lists = RaggedColumn.of(lists)
    values = _converted(tree.name, lists, variable, column, graph)
    if variable.storage.startswith("set:"):
        values = values.as_sets()
    return Rows.of(values.lengths, values.values)


def no_lists(tree: Tree, variable: Variable, column: str, graph: Graph) -> UsageError | None:
    """Return the error for a column of lists whose field is a number, a vector or a matrix."""
    lists: Any = graph.edge_columns[column]
    if not isinstance(lists, RaggedColumn):
        return None
    need = named(variable.type) if variable.shape else "a number"
    return UsageError(
        f"{tree.name}'s field {variable.name!r} is {need}, but the column {column!r} has {lists.kind}; "
        f"declare {variable.name}: gl.List[...]"
    )


def _converted(
    owner: str, lists: RaggedColumn, variable: Variable, column: str, graph: Graph
) -> RaggedColumn:
    """Return lists in a field's storage type; UsageError, on every rank, if a value does not fit."""
    storage, values = element_storage(variable.storage), lists.values
    dtype = dtype_of(storage)
    with np.errstate(invalid="ignore", over="ignore"):
        made = values.astype(dtype)
        bad = np.zeros(values.size, bool)
        if dtype.kind != "f":
            bad = made.astype(values.dtype) != values
        if dtype.kind in "iu":
            least, largest = limits_of(dtype)
            bad |= (values < least) | (values > largest)
    first = None
    if bad.any():
        at = int(np.argmax(bad))
        slot = int(np.searchsorted(np.cumsum(lists.lengths), at, "right"))
        first = slot, values[at].item()
    found = graph.first_edge(first)
    if found is not None:
        raise UsageError(
            f"column {column!r} has {found[1]!r} in the list of the edge {found[0]}, which is not {storage}, "
            f"as {owner}'s field {variable.name!r} needs"
        )
    return RaggedColumn(lists.lengths, made)


def on_root(graph: Graph, rows: Rows) -> list[list[Any]]:
    """Return all ranks' rows, in rank order, as Python lists on rank 0; nothing elsewhere (collective)."""
    lengths, values = rows.pack(np.arange(rows.size, dtype=np.int32))
    all_lengths, all_values = graph.comm.gather_array(lengths), graph.comm.gather_array(values)
    if all_lengths is None or all_values is None:
        return []
    return RaggedColumn(np.concatenate(all_lengths), np.concatenate(all_values)).tolist()
