"""The trace of the synchronous engine: chosen masters before and after each stage.

The inside of a compiled method is not visible. The trace has the state of a vertex at its master: its fields,
the total of its gather and its message. `gaslab.reference.trace` sees every edge and signal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gaslab.compiler.python.lists import ordered, widened
from gaslab.compiler.tree import (
    PAYLOAD,
    TUPLES,
    Combiner,
    KeyedCombiner,
    RecordCombiner,
    element_storage,
    is_list,
)
from gaslab.engine.state import RunState
from gaslab.engine.storage import identity
from gaslab.graph.graph import Graph
from gaslab.ragged import KeyedRows, Rows
from gaslab.results.trace import Vertex, differ, new_row

_METHODS = {  # stage of a superstep -> the method of the rows; a stage with a function always has a row
    "init": ("init", "init"),
    "init_message": ("init", "init_message"),
    "visit": ("visit", None),
    "gather_apply": ("apply", "apply"),
    "scatter": ("scatter", None),
}


class VertexTrace:
    """The chosen vertices whose masters are on this rank, and their rows."""

    def __init__(self, graph: Graph, gids: np.ndarray) -> None:
        self._gid = graph.local.gid
        masters = self._gid[: graph.local.num_masters]
        self.ids = np.flatnonzero(np.isin(masters, gids)).astype(np.int32)
        self.rows: list[tuple[tuple[int, ...], dict[str, Any]]] = []
        self._step = 0
        self._before: dict[int, dict[str, Any]] = {}
        self._found: dict[int, dict[str, Any]] = {}  # vertex -> its message and its total

    def begin(self, stage: str, state: RunState, active: np.ndarray | None) -> None:
        """Record the chosen vertices among the active masters (None is all), before a stage runs at them."""
        ids = self.ids if active is None else np.intersect1d(self.ids, active)
        self._before = {v: _fields(state, v) for v in ids.tolist()}
        self._found = {v: {} for v in self._before}
        functions = state.tree.functions
        takes = {p.name for p in functions["apply"].parameters} if "apply" in functions else set()
        if stage == "init_message" or (stage == "gather_apply" and "message" in takes):
            self._messages(state)
        gather = state.tree.gather
        if stage == "gather_apply" and gather is not None and not state.tree.gather_edges:
            for found in self._found.values():  # a gather over no edges
                found["total"] = _nothing(gather)

    def _messages(self, state: RunState) -> None:
        assert state.message is not None
        assert state.tree.message is not None
        for v, found in self._found.items():
            message = state.message
            one = message.item(v) if isinstance(message, Rows) else message[v]
            found["message"] = _total(state.tree.message, one)

    def totals(self, combiner: Combiner, ids: np.ndarray, totals: Any) -> None:
        """Record the totals of the chosen vertices among the masters *ids*."""
        for at in np.flatnonzero(np.isin(ids, list(self._found))).tolist():
            one = totals.item(at) if isinstance(totals, Rows | KeyedRows) else totals[at]
            self._found[int(ids[at])]["total"] = _total(combiner, one)

    def end(self, stage: str, state: RunState) -> None:
        """Write a row for each after the stage; for a stage without a method only if a value changed."""
        self._step += 1
        method, function = _METHODS[stage]
        always = function in state.tree.functions
        for v, before in self._before.items():
            after = _fields(state, v)
            changed = {name: (x, after[name]) for name, x in before.items() if differ(x, after[name])}
            if changed or always:
                gid = int(self._gid[v])
                row = new_row(state.superstep, state.tree.phase, method, Vertex(gid))
                row.update(changed=changed, **self._found[v])
                self.rows.append(((self._step, gid), row))


def _fields(state: RunState, v: int) -> dict[str, Any]:
    """Return a master's fields, as plain values."""
    found = {}
    for variable, values in zip(state.tree.vertex_fields, state.fields, strict=True):
        one = values.item(v) if isinstance(values, Rows) else values[v]
        found[variable.name] = _value(one, variable.storage)
    return found


def _total(combiner: Combiner, value: Any) -> Any:
    if isinstance(combiner, RecordCombiner):
        return _parts(combiner, {p.name: value[p.name] for p in combiner.parts})
    if isinstance(combiner, KeyedCombiner):
        return {_value(key, combiner.key): _value(x, combiner.storage) for key, x in sorted(value)}
    if combiner.collects:  # compiled apply sorts it
        if combiner.storage in TUPLES:
            value = ordered(widened(value, combiner.storage), combiner.op)
        else:
            value = (np.unique if combiner.op == "set" else np.sort)(value).tolist()
    return _value(value, combiner.storage)


def _nothing(combiner: Combiner) -> Any:
    if isinstance(combiner, KeyedCombiner):
        return {}
    return [] if combiner.collects else _total(combiner, identity(combiner))


def _parts(combiner: RecordCombiner, values: Mapping[str, Any]) -> Any:
    """Return an accumulator as a dict, each key with its payload; a pair as a tuple."""
    found: dict[str, Any] = {}
    for part in combiner.parts:
        value = _value(values[part.name], part.combiner.storage)
        if part.combiner.op == PAYLOAD:
            key = part.name.removesuffix(f".{PAYLOAD}")
            found[key] = (found[key], value)
        else:
            found[part.name] = value
    return next(iter(found.values())) if combiner.is_pair else found


def _value(value: Any, storage: str) -> Any:
    """Return a value of a storage type as Python's own, ids as `Vertex`."""
    if storage in TUPLES:
        return tuple(_value(x, one) for x, one in zip(value, TUPLES[storage], strict=True))
    if is_list(storage):
        return [_value(x, str(element_storage(storage))) for x in value]
    if isinstance(value, (list, np.ndarray)) and np.ndim(value):
        return [_value(x, storage) for x in value]
    plain = value.item() if isinstance(value, (np.generic, np.ndarray)) else value
    if storage in ("id", "id32"):
        return Vertex(plain)
    return bool(plain) if storage == "bool" else plain
