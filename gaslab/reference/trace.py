"""The trace of the reference engine: every call of a method at chosen vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab.language.nobody import Nobody
from gaslab.program import At
from gaslab.reference import views
from gaslab.reference.combiners import Field
from gaslab.reference.keyed import KeyedCombiner
from gaslab.reference.records import PairCombiner, RecordCombiner, plain
from gaslab.reference.supersteps import Run
from gaslab.results.trace import Vertex, differ, new_row

_METHODS = ("init", "visit", "gather", "apply", "scatter")


class TracedRun(Run):
    """A `Run` that records every call at chosen vertices; their ids are the last argument."""

    def __init__(self, *arguments: Any) -> None:
        *others, chosen = arguments
        super().__init__(*others)
        self.chosen = {self.graph.by_id[vertex] for vertex in chosen}
        self._open: list[dict[str, Any]] = []  # rows of the current call

    def call(self, phase: str, v: views.Vertex, *arguments: Any, function: Any = None) -> Any:
        """Call a method, with a row for each of its chosen vertices (for visit, either end)."""
        self.caller, calls = v, []
        ends = {v: None, arguments[1]: None} if phase == "visit" else {v: None}
        for one in ends if function is None and phase in _METHODS else ():
            if one in self.chosen:
                calls.append((self._begun(phase, one, v, arguments), one))
        before = [self._values(phase, one, v, arguments) for _, one in calls]
        self._open = [row for row, _ in calls]
        returned = super().call(phase, v, *arguments, function=function)
        self._open = []
        for (row, one), values in zip(calls, before, strict=True):
            row["changed"] = _changes(values, self._values(phase, one, v, arguments))
            if phase == "gather":
                row["returned"] = _combined(self.current_phase.gather, returned)
        return returned

    def scatter(self, active: list[views.Vertex]) -> None:
        """Scatter; contributions to chosen vertices have separate rows."""
        chosen = [v for v in self.vertices if v in self.chosen]
        before = [self._values("apply", v, v, ()) for v in chosen]
        super().scatter(active)
        for v, values in zip(chosen, before, strict=True):
            changed = _changes(values, self._values("apply", v, v, ()))
            if changed:
                self._row("scatter", v)["changed"] = changed

    def sent(self, target: views.Vertex, message: Any) -> None:
        """Record a signal of the current call, in the rows of its sender and of its target."""
        said = None if message is None else _combined(self.message, message)
        for row in self._open:
            row["signals"].append((Vertex(target.id), said))
        if target in self.chosen and self.caller is not target:
            row = self._row("signal", target)
            row.update(neighbor=Vertex(self.caller.id), message=said)

    # ---- rows --------------------------------------------------------------------------------------

    def _row(self, method: str, v: views.Vertex) -> dict[str, Any]:
        phase = self.phases.index(self.current_phase)
        self.rows.append(new_row(self.superstep_number, phase, method, Vertex(v.id)))
        return self.rows[-1]

    def _begun(
        self, phase: str, one: views.Vertex, v: views.Vertex, arguments: tuple[Any, ...]
    ) -> dict[str, Any]:
        """Return a new row of a call on *v* about *one* of its ends, with the method's arguments."""
        row = self._row(phase, one)
        if phase in ("visit", "gather", "scatter"):
            e, nbr = arguments
            source, target = self.graph.ends[self.graph.edge_numbers[e]]
            across = nbr if one is v else v
            row.update(source=Vertex(source.id), target=Vertex(target.id), neighbor=Vertex(across.id))
            return row
        takes = ("message",) if phase == "init" else self.current_phase.apply_takes
        for name, value in zip(takes, arguments, strict=False):
            row[name] = _combined(self.message if name == "message" else self.current_phase.gather, value)
        return row

    def _values(
        self, phase: str, one: views.Vertex, v: views.Vertex, arguments: tuple[Any, ...]
    ) -> dict[str, Any]:
        """Return what a call on *v* may change: the fields of *one* of its ends, the edge, the other end."""
        found = {}
        if phase in ("init", "apply", "visit"):
            found = {name: _value(vars(one)[name], f.storage) for name, f in self.vertex_fields.items()}
        if phase in ("scatter", "visit"):
            e = vars(arguments[0])
            found |= {f"e.{name}": _value(e[name], f.storage) for name, f in self.edge_fields.items()}
        if phase == "visit":
            other = vars(arguments[1] if one is v else v)
            found |= {f"nbr.{name}": _value(other[name], f.storage) for name, f in self.vertex_fields.items()}
        return found


def _changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {name: (x, after[name]) for name, x in before.items() if differ(x, after[name])}


def _combined(combiner: Any, value: Any) -> Any:
    if isinstance(combiner, RecordCombiner):
        return {name: _part(x, *combiner.parts[name]) for name, x in vars(value).items()}
    if isinstance(combiner, PairCombiner):
        return _value(value[0], combiner.key.storage), _value(value[1], combiner.payload)
    if isinstance(combiner, KeyedCombiner):
        types = combiner.key, combiner.value.storage
        if isinstance(value, dict):
            return {_value(key, types[0]): _value(x, types[1]) for key, x in value.items()}
        return value and tuple(map(_value, value, types))
    return _value(value, combiner.storage)


def _part(value: Any, combiner: Any, field: Field) -> Any:
    if isinstance(value, At):
        return f"gl.at({plain(value.index)}, {plain(value.weight)})"
    return _value(value, field.storage) if field.shape else _combined(combiner, value)


def _value(value: Any, storage: str) -> Any:
    """Return a program's value as a Python value, with ids as `Vertex`."""
    if isinstance(value, np.ndarray):
        return [_value(x, storage) for x in value.tolist()] if storage == "id" else value.tolist()
    if isinstance(value, tuple) and "," in storage:
        return tuple(_value(x, one) for x, one in zip(value, storage.split(","), strict=True))
    if isinstance(value, (list, tuple)):
        return [_value(x, storage.rpartition(":")[2]) for x in value]
    if isinstance(value, Nobody):
        return Vertex(None)
    if storage == "id" and value is not None:
        return Vertex(value)
    return plain(value)
