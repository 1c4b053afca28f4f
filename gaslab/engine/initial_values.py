"""Initial values of vertex fields: ``gaslab.run(init=...)``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gaslab.arguments import shown
from gaslab.compiler.tree import Tree, Variable, element_storage, is_list
from gaslab.engine.bind import converted
from gaslab.engine.initial_draws import InitialDraws
from gaslab.engine.initial_files import EarlierValues
from gaslab.engine.lists import gids_of, gids_of_result, initial_lists
from gaslab.engine.storage import dtype_of
from gaslab.errors import UsageError, nearest
from gaslab.graph.graph import Graph
from gaslab.ingest.missing import masked_at
from gaslab.language.rng import Draw
from gaslab.results.result import Result, vertex_names


def bind_initial_values(
    tree: Tree, graph: Graph, init: Mapping[str, Any] | Result | str | os.PathLike[str] | None,
    starts: InitialDraws
) -> dict[str, Any]:
    """Return the initial values of vertex fields, by field, for this rank's masters (collective).

    *init* maps fields to values: a dict or pandas Series by vertex id (other vertices keep the field's
    default), an earlier `Result` that has the field, an array in the order of the sorted ids, one number for
    all, or the path of a file that `Result.save` wrote. A Result itself, or such a path, gives all its fields
    that the program also has.
    """
    known = {v.name: v for v in tree.vertex_fields if v.lookup is None}
    of_ids = [v.name for v in tree.vertex_fields if _holds_ids(v)]
    if isinstance(init, (str, os.PathLike)):
        earlier = EarlierValues(init, graph, of_ids)
        init = {name: earlier for name in earlier.columns if name in known}
        if not init:
            raise UsageError(
                f"init={earlier.path!r} has none of the fields of {tree.name} ({', '.join(known)}); it has "
                f"{', '.join(earlier.columns) or 'none'}"
            )
    if isinstance(init, Result):
        init = {name: init for name in init.vertices.columns if name in known}
    for name in init or ():
        if name not in known:
            raise UsageError(f"{tree.name} has no vertex field {name!r}{nearest(name, known)}")
    masters = graph.local.num_masters
    found = {}
    for k, variable in enumerate(tree.vertex_fields):
        if variable.name in (init or {}):
            default: Any = 0 if variable.required else variable.default
            if isinstance(default, Draw):
                drawn = starts.of_vertices(default, k, dtype_of(variable.storage), variable.shape)
                default = drawn[:masters]
            data = (init or {})[variable.name]
            if isinstance(data, (str, os.PathLike)):
                data = EarlierValues(data, graph, of_ids)
            found[variable.name] = _of_masters(variable, default, data, graph)
    return found


def _of_masters(variable: Variable, default: Any, data: Any, graph: Graph) -> Any:
    if isinstance(data, EarlierValues):
        data = dict(zip(data.names, data.values(variable.name, _holds_ids(variable)), strict=True))
    if is_list(variable.storage):
        return initial_lists(variable, data, graph)
    masters = graph.local.gid[: graph.local.num_masters]
    if isinstance(data, Result):
        table, name, gids = data.vertices, variable.name, gids_of_result(data, graph)
        if data.metrics.get("fingerprint") == graph.fingerprint:
            values = table.global_ids[name] if name in table.global_ids else table[name]
        else:
            named = f"{name}_side" in table and variable.storage == "id"
            content = vertex_names(table, graph, name) if named else table[name]
            values = _content(variable, content, graph, "same" if data.on == "all" else "parts")
        return _placed(variable, default, gids, values, masters, graph)
    if hasattr(data, "to_dict"):  # a pandas Series
        data = data.to_dict()
    if isinstance(data, Mapping):
        gids = graph.ids.find(list(data))
        given = list(data.values())
        content = _content(variable, given, graph)
        _check_each(variable, content, data, given, "for vertex")
        return _placed(variable, default, gids, content, masters, graph)
    values = _array(variable, data)
    if isinstance(data, (list, tuple)):
        _check_each(variable, values, range(len(data)), data, "at position")
    whole = (graph.num_vertices, *variable.shape)
    if values.shape in ((), variable.shape):
        values = np.broadcast_to(values, whole)
    if values.shape != whole:
        rows = f"rows of shape {variable.shape}, " if variable.shape else ""
        raise UsageError(
            f"init={{{variable.name!r}: ...}} has shape {values.shape}; {rows}one value per vertex, "
            f"{graph.num_vertices}, in the order of the sorted ids is needed (or a dict by id)"
        )
    return _converted(_content(variable, values[masters], graph, "parts"), variable, graph)


def _holds_ids(variable: Variable) -> bool:
    """Return whether a field holds a vertex or a list of vertices."""
    kind = variable.storage
    return (element_storage(kind) if is_list(kind) else kind) in ("id", "id32")


def _content(variable: Variable, values: Any, graph: Graph, rows: str = "same") -> np.ndarray:
    """Return values as an array; vertex ids as global ids (then collective)."""
    if variable.storage == "id":
        if variable.shape:
            values = _rows_of_names(variable, values)
            found: np.ndarray = gids_of(graph, variable, values.reshape(-1).tolist(), rows)
            found.shape = values.shape
            return found
        names = values.tolist() if isinstance(values, np.ndarray) else list(values)
        return gids_of(graph, variable, names, rows)
    return _array(variable, values)


def _rows_of_names(variable: Variable, values: Any) -> np.ndarray:
    """Return the vertices' names for an array field as an array of objects, in rows of its shape."""
    rows = [np.array(row, object) for row in (values.tolist() if isinstance(values, np.ndarray) else values)]
    for shape in {row.shape for row in rows} - {variable.shape}:
        raise UsageError(
            f"init={{{variable.name!r}: ...}} has values of shape {shape}; {variable.shape} is needed"
        )
    return np.array(rows, object).reshape(-1, *variable.shape)


def _array(variable: Variable, values: Any) -> np.ndarray:
    """Return *values* as an array; raises if its rows differ in length, or a mask hides one."""
    hidden = masked_at(values)
    if hidden is not None:
        raise UsageError(f"init={{{variable.name!r}: ...}} is masked at position {hidden[0]}; fill it")
    try:
        return np.asarray(values)
    except ValueError:
        raise UsageError(
            f"init={{{variable.name!r}: ...}} has rows of several shapes; {variable.shape} is needed"
        ) from None


def _check_each(
    variable: Variable, content: np.ndarray, places: Iterable[Any], values: Sequence[Any], where: str
) -> None:
    """Raise UsageError if the field cannot hold *content*, made from *values*; name the first place."""
    if variable.storage == "id":
        return  # found, or not, by their names
    try:
        converted(content, variable, variable.name)
    except UsageError:
        for place, value in zip(places, values, strict=True):
            try:
                converted(np.asarray(value), variable, variable.name)
            except (UsageError, ValueError):
                raise UsageError(
                    f"init={{{variable.name!r}: ...}} has {shown(value)} {where} {place!r}; the field needs "
                    f"{variable.storage}"
                ) from None
        raise


def _placed(
    variable: Variable, default: Any, gids: np.ndarray, values: np.ndarray, masters: np.ndarray, graph: Graph
) -> np.ndarray:
    """Return the values of *masters* out of (gids, values); others keep the field's default."""
    order = np.argsort(gids)
    place = np.minimum(np.searchsorted(gids, masters, sorter=order), max(gids.size - 1, 0))
    place = order[place] if gids.size else np.zeros(0, np.int64)
    found = gids[place] == masters if gids.size else np.zeros(masters.size, bool)
    missing = int(graph.comm.allreduce(int(masters.size - found.sum())))
    if missing and variable.required:
        raise UsageError(
            f"init={{{variable.name!r}: ...}} leaves out {missing} vertices and the field has no default; "
            'name every vertex (an earlier result must be whole: on="all")'
        )
    full = np.empty((masters.size, *variable.shape), dtype_of(variable.storage))
    full[:] = default
    if values.size and values.shape[1:] != variable.shape:
        raise UsageError(
            f"init={{{variable.name!r}: ...}} has values of shape {values.shape[1:]}; "
            f"{variable.shape} is needed"
        )
    here = values[place[found]] if found.any() else full[:0]
    full[found] = _converted(here, variable, graph)
    return full


def _converted(values: np.ndarray, variable: Variable, graph: Graph) -> np.ndarray:
    """Return the masters' values in the field's storage type; all ranks raise the same (collective)."""
    found: np.ndarray = graph.comm.attempt(lambda: converted(values, variable, variable.name))
    return found
