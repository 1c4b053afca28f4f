"""What the synchronous engine writes into a run's trace: chosen masters before and after each phase.

A compiled method is not looked into. What is seen of a vertex is what its master holds: its fields, the
total of its gather and the message it found. `gaslab.reference.trace` sees every edge and signal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab.compiler.tree import PAYLOAD, RecordCombiner, element_storage, is_list
from gaslab.engine import lists
from gaslab.engine.gather import Gather
from gaslab.engine.state import identity
from gaslab.engine.sync import Frontier, Synchronous
from gaslab.ragged import Rows
from gaslab.trace import Vertex, differ, new_row

if TYPE_CHECKING:
    from gaslab.compiler.tree import Combiner
    from gaslab.engine.state import RunState
    from gaslab.graph import Graph


class Watch:
    """The chosen vertices that this rank is master of, and the rows about them."""

    def __init__(self, graph: Graph, gids: np.ndarray) -> None:
        self._gid = graph.local.gid
        masters = self._gid[: graph.local.num_masters]
        self.ids = np.flatnonzero(np.isin(masters, gids)).astype(np.int32)
        self.rows: list[tuple[tuple[int, ...], dict[str, Any]]] = []
        self._step = 0
        self._before: dict[int, dict[str, Any]] = {}
        self._given: dict[int, dict[str, Any]] = {}

    def begin(self, state: RunState, active: np.ndarray | None) -> None:
        """Look at those among the active masters (None is all), before a phase runs at them."""
        ids = self.ids if active is None else np.intersect1d(self.ids, active)
        self._before = {v: _fields(state, v) for v in ids.tolist()}
        self._given = {v: {} for v in self._before}

    def messages(self, state: RunState) -> None:
        """Note the messages that they find."""
        assert state.message is not None
        assert state.tree.message is not None
        for v, given in self._given.items():
            given["message"] = _total(state.tree.message, state.message[v])

    def totals(self, combiner: Combiner, ids: np.ndarray, totals: Any) -> None:
        """Note what was gathered for those of them that are among the masters *ids*."""
        for at in np.flatnonzero(np.isin(ids, list(self._given))).tolist():
            one = totals.item(at) if isinstance(totals, Rows) else totals[at]
            self._given[int(ids[at])]["total"] = _total(combiner, one)

    def nothing_gathered(self, combiner: Combiner) -> None:
        """Note that their totals are the combiner's identity."""
        for given in self._given.values():
            given["total"] = _nothing(combiner)

    def end(self, state: RunState, method: str, always: bool) -> None:
        """Write a row for each, now that the phase is over; unless *always*, where something changed."""
        self._step += 1
        for v, before in self._before.items():
            after = _fields(state, v)
            changed = {name: (x, after[name]) for name, x in before.items() if differ(x, after[name])}
            if changed or always:
                gid = int(self._gid[v])
                row = new_row(state.superstep, state.tree.phase, method, Vertex(gid))
                row.update(changed=changed, **self._given[v])
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
    if combiner.collects:  # compiled, apply brings it into order
        value = (np.unique if combiner.op == "set" else np.sort)(value).tolist()
    return _value(value, combiner.storage)


def _nothing(combiner: Combiner) -> Any:
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
    if is_list(storage):
        return [_value(x, str(element_storage(storage))) for x in value]
    if isinstance(value, (list, np.ndarray)) and np.ndim(value):
        return [_value(x, storage) for x in value]
    plain = value.item() if isinstance(value, (np.generic, np.ndarray)) else value
    if storage == "id":
        return Vertex(plain)
    return bool(plain) if storage == "bool" else plain


class WatchedGather(Gather):
    """A gather with a `Watch` on it."""

    def __init__(self, watch: Watch, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.watch = watch

    def _peek(self, ids: np.ndarray | None) -> None:
        """Gather once more for those whose total goes from gather to apply and nowhere else."""
        inner = self.watch.ids[self.is_boundary[self.watch.ids] == 0]
        if ids is not None:
            inner = np.intersect1d(inner, ids)
        view = self.phases.view
        totals: Any = np.empty(inner.size, self.dtype)
        if self.combiner.collects:
            totals = lists.partial_rows(view, inner, self.dtype)
        view.total = totals
        self.phases.over("gl_gather", inner, self.mask)
        self.watch.totals(self.combiner, inner, totals)


class Watched(Synchronous):
    """The synchronous engine with a `Watch` on it; what it computes stays the same to the last bit."""

    def __init__(self, watch: Watch, *arguments: Any) -> None:
        self.watch = watch
        super().__init__(*arguments)
        self._ahead = None  # every superstep is looked at

    def run_ahead(self, most: int) -> list[tuple[int, float]]:
        """Run nothing ahead, where it would not be seen."""
        return []

    def initialise(self) -> None:
        """Run init."""
        self.watch.begin(self.state, None)
        super().initialise()
        self.watch.end(self.state, "init", "init" in self.tree.functions)

    def _receive(self, frontier: Frontier) -> None:
        self.watch.begin(self.state, frontier.ids)
        self.watch.messages(self.state)
        super()._receive(frontier)
        self.watch.end(self.state, "init", True)

    def _visit(self) -> None:
        self.watch.begin(self.state, None)
        super()._visit()
        self.watch.end(self.state, "visit", False)

    def _gather_apply(self, frontier: Frontier) -> None:
        self.watch.begin(self.state, frontier.ids)
        takes = dict(self.tree.functions["apply"].parameters) if "apply" in self.tree.functions else {}
        if "message" in takes:
            self.watch.messages(self.state)
        if self.tree.gather is not None and not self.view.gather_edges:
            self.watch.nothing_gathered(self.tree.gather)
        super()._gather_apply(frontier)
        self.watch.end(self.state, "apply", "apply" in self.tree.functions)

    def _see(self, ids: np.ndarray, totals: Any) -> None:
        assert self.tree.gather is not None
        self.watch.totals(self.tree.gather, ids, totals)

    def _new_gather(self) -> WatchedGather:
        return WatchedGather(self.watch, self.phases, self.state, self.exchange)

    def _deliver(self, frontier: Frontier, mirrors: np.ndarray) -> None:
        self.watch.begin(self.state, None)
        super()._deliver(frontier, mirrors)
        self.watch.end(self.state, "scatter", False)
