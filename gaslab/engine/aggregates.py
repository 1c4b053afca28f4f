"""Aggregates: one value over all vertices or edges, combined in block order and then in rank order.

The order is fixed, so a sum of floats has the same bits on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gaslab.compiler.tree import OWN, PAYLOAD, Combiner, RecordCombiner, Tree
from gaslab.engine.state import RunState
from gaslab.engine.stopping import Progress
from gaslab.engine.storage import identities
from gaslab.errors import ProgramError
from gaslab.graph.graph import Graph
from gaslab.program import Accumulator, VertexProgram, aggregators_of

# A program's own merge of (aggregator, a first row, rows).
Merge = Callable[[int, np.ndarray, np.ndarray], np.ndarray]


class Aggregates:
    """A program's aggregators as eight-byte scalars of the ABI; an accumulator takes several in a row."""

    def __init__(self, tree: Tree, graph: Graph) -> None:
        self._graph, self._tree = graph, tree
        self._due = [True] * len(tree.aggregators)
        self._intervals: list[int] = []  # of each aggregator, in supersteps; set by `bind`
        self._finalizers: dict[int, Callable[[Any, Any], Any]] = {}
        self._combiners = [a.combiner for a in tree.aggregators]
        self._columns_of = [self._find_columns(k) for k in range(len(self._combiners))]
        self._columns = [column for columns in self._columns_of for column in columns]
        self._identities = identities(tree)[: tree.slot(len(self._combiners))]
        self._partials: list[np.ndarray] = []
        self._names: dict[int, Any] = {}  # of vertices looked up: every rank looks up the same
        self.ask: Callable[[Callable[[], list[Any]]], list[Any]] = graph.comm.on_root  # of finalisers

    def __len__(self) -> int:
        return len(self._combiners)

    def _slots(self, k: int) -> slice:
        """Return where aggregator *k* lies in a row."""
        begin = self._tree.slot(k)
        return slice(begin, begin + self._combiners[k].slots)

    def _find_columns(self, k: int) -> list[tuple[slice, Combiner]]:
        """Return where the parts of aggregator *k* lie in a row, each with its combiner."""
        combiner, begin = self._combiners[k], self._tree.slot(k)
        if not isinstance(combiner, RecordCombiner):
            return [(self._slots(k), combiner)]
        columns = []
        for part in combiner.parts:
            columns.append((slice(begin, begin + part.slots), part.combiner))
            begin += part.slots
        return columns

    def begin(self, superstep: int | None) -> None:
        """Drop collected values, and find the aggregators due in this superstep (None: after init, all)."""
        self._partials = []
        self._due = [superstep is None or (n > 0 and (superstep + 1) % n == 0) for n in self._intervals]

    def begin_by_phase(self, ran: bool) -> bool:
        """Do the same for the aggregators that a finished phase may have changed, if it *ran* at all.

        A finaliser may read more than fields, so it runs after every phase. Return whether there are any.
        """
        self._partials = []
        self._due = [
            (ran and renewed) or (a.by_phase and k in self._finalizers)
            for k, (a, renewed) in enumerate(
                zip(self._tree.aggregators, self._tree.renewed_by_phase, strict=True)
            )
        ]
        return any(self._due)

    def is_due(self, k: int) -> bool:
        """Return whether aggregator *k* is one of those that the last `begin` found."""
        return self._due[k]

    def bind(self, program: VertexProgram) -> None:
        """Take the program's intervals, and the finalisers with which `final` completes the aggregates."""
        self._program, marks = program, aggregators_of(type(program))
        self._intervals = [marks[a.name].interval(program) for a in self._tree.aggregators]
        for k, a in enumerate(self._tree.aggregators):
            if (function := marks[a.name].finalizer) is not None:
                self._finalizers[k] = function

    def _final(self, k: int, function: Callable[[Any, Any], Any], value: Any, state: RunState) -> Any:
        progress = Progress(self._program, self._graph, state, state.superstep)
        name, combiner = f"{self._tree.name}.{self._tree.aggregators[k].name}", self._combiners[k]
        value = function(progress, value)
        if not isinstance(combiner, RecordCombiner):
            return [checked(value, combiner.type, name)]
        return checked_parts(value, combiner, name)

    def final(self, row: np.ndarray, before: np.ndarray, state: RunState) -> np.ndarray:
        """Return *row* finalised; aggregators that are not due keep their values *before* (collective)."""
        for k, due in enumerate(self._due):
            if not due:
                row[self._slots(k)] = before[self._slots(k)]
        last = {k: function for k, function in self._finalizers.items() if self._due[k]}
        if last:
            values = self.values(row)

            def finalise() -> list[Any]:
                return [self._final(k, function, values[k], state) for k, function in last.items()]

            for k, value in zip(last, self.ask(finalise), strict=True):
                self._put(row, k, value)
        return row

    def _put(self, row: np.ndarray, k: int, value: Any) -> None:
        for (place, combiner), x in zip(self._columns_of[k], value, strict=True):
            row[place].view(_wide(combiner.type))[:] = x

    def rows(self, blocks: int) -> np.ndarray | None:
        """Return the table [blocks, scalars] of identities, to which one sweep adds."""
        if not self._combiners:
            return None
        table = np.repeat(self._identities[None, :], blocks, axis=0)
        self._partials.append(table)
        return table

    def collected(self, merge: Merge) -> np.ndarray:
        """Return this rank's values: all sweeps since `begin`, combined in order."""
        return self.combined(np.concatenate([self._identities[None, :], *self._partials]), merge)

    def combined(self, table: np.ndarray, merge: Merge) -> np.ndarray:
        """Combine the rows of *table* (int64 [rows, scalars]), in order."""
        if len(table) == 1 and all(own.op != OWN for own in self._combiners):
            only: np.ndarray = table[0].copy()
            return only  # of one rank
        with np.errstate(all="ignore"):
            return self._combined(table, merge)

    def _combined(self, table: np.ndarray, merge: Merge) -> np.ndarray:
        result = np.empty_like(self._identities)
        for k, (place, combiner) in enumerate(self._columns):
            if combiner.op in (PAYLOAD, OWN):
                continue  # chosen with its key; merged below
            if combiner.is_key:
                first = _first(table, place.start, self._columns[k : k + 2])
                result[place.start : place.start + 2] = table[first, place.start : place.start + 2]
                continue
            column = np.ascontiguousarray(table[:, place]).view(_wide(combiner.type))
            column = column[:, 0] if column.shape[1] == 1 else column
            combine = getattr(np, combiner.operation.numpy)
            result[place].view(column.dtype)[:] = combine.reduce(column, axis=0)
        for k, own in enumerate(self._combiners):
            if own.op == OWN:
                place = self._slots(k)
                result[place] = merge(k, self._identities[place], table[:, place])
        return result

    def values(self, row: np.ndarray) -> list[Any]:
        """Return the aggregators' values: numbers, the user's ids, accumulators (collective)."""
        return [self._value(row, k) for k in range(len(self._combiners))]

    def _value(self, row: np.ndarray, k: int) -> Any:
        combiner = self._combiners[k]
        places = [place for place, _ in self._columns_of[k]]
        if not isinstance(combiner, RecordCombiner):
            return self._number(row, places[0].start, combiner.type)
        if combiner.is_pair:
            return tuple(
                self._number(row, place.start, part.combiner.type)
                for part, place in zip(combiner.parts, places, strict=True)
            )
        values: dict[str, Any] = {}
        for part, place in zip(combiner.parts, places, strict=True):
            if part.combiner.op == PAYLOAD:
                key = part.name.removesuffix(f".{PAYLOAD}")
                values[key] = (values[key], self._number(row, place.start, part.combiner.type))
            elif part.shape:
                values[part.name] = row[place].view(_wide(part.combiner.type)).reshape(part.shape).copy()
            else:
                values[part.name] = self._number(row, place.start, part.combiner.type)
        return Accumulator(**values)

    def _number(self, row: np.ndarray, at: int, kind: str) -> Any:
        number = row[at : at + 1].view(_wide(kind))[0].item()
        return bool(number) if kind == "bool" else self._user_id(number) if kind == "id" else number

    def _user_id(self, gid: int) -> Any:
        if not 0 <= gid < self._graph.num_vertices:
            return None  # the combiner's identity
        if gid not in self._names:
            found = self._graph.ids.marked(np.array([gid], np.int64))[0]
            self._names[gid] = found.item() if isinstance(found, np.generic) else found
        return self._names[gid]


def checked(value: Any, kind: str, name: str) -> Any:
    """Return a finaliser's value as a number of its aggregator's type; raises ProgramError."""
    fits = {"float": (int, float, np.number), "int": (int, np.integer), "bool": (bool, np.bool_)}[kind]
    if not isinstance(value, fits) or (kind != "bool" and isinstance(value, (bool, np.bool_))):
        raise ProgramError(f"the finaliser of {name} gave {value!r}; its aggregator holds {kind}")
    if kind == "int" and not -(1 << 63) <= value < 1 << 63:
        raise ProgramError(f"the finaliser of {name} gave {value}; its aggregator holds an int of 64 bits")
    return {"float": float, "int": int, "bool": bool}[kind](value)


def checked_parts(value: Any, combiner: RecordCombiner, name: str) -> list[Any]:
    """Return the parts of a finaliser's value: an accumulator, or any object with these attributes."""
    parts = []
    named = {"key": value} if combiner.is_pair else dict(vars(value)) if hasattr(value, "__dict__") else {}
    for part in combiner.parts:
        if part.combiner.is_key:
            pair = named.get(part.name)
            pair = pair if isinstance(pair, tuple) and len(pair) == 2 else (None, None)
            named[part.name], named[f"{part.name}.{PAYLOAD}"] = pair
        nothing = np.full(part.shape, part.combiner.start) if part.combiner.op == OWN else None
        said = np.asarray(named.get(part.name, nothing))
        fits = {"float": "iuf", "int": "iu", "bool": "b"}.get(part.combiner.type, "")
        if said.shape != part.shape or said.dtype.kind not in fits:
            shape = f" of shape {part.shape}" if part.shape else ""
            raise ProgramError(
                f"the finaliser of {name} gave {value!r}; part {part.name!r} is {part.combiner.type}{shape}"
            )
        parts.append(said.reshape(-1))
    return parts


def _first(table: np.ndarray, at: int, columns: list[tuple[slice, Combiner]]) -> int:
    """Return the row with the first pair: by its key, in column *at*, then its payload in the next."""
    keys, payloads = (
        np.ascontiguousarray(table[:, at + k]).view(_wide(combiner.type))
        for k, (_, combiner) in enumerate(columns)
    )
    best = np.flatnonzero(keys == (keys.min() if columns[0][1].op == "argmin" else keys.max()))
    return int(best[np.argsort(payloads[best], kind="stable")[0]])  # nan comes last


def _wide(type_: str) -> np.dtype:
    return np.dtype(np.float64 if type_ == "float" else np.int64)
