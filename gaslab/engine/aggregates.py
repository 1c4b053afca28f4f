"""Aggregates: one value over all vertices or edges, combined in block order and then in rank order.

The order is fixed, so a sum of floats has the same bits on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab.compiler.tree import Tree
from gaslab.engine.state import RunState, identity, scalars
from gaslab.engine.stopping import Progress
from gaslab.errors import ProgramError
from gaslab.program import aggregators_of

if TYPE_CHECKING:
    from gaslab.graph import Graph
    from gaslab.program import VertexProgram

_COMBINE = {"sum": np.add, "prod": np.multiply, "bitor": np.bitwise_or, "min": np.minimum, "max": np.maximum}


class Aggregates:
    """A program's aggregators, as eight-byte scalars of the ABI."""

    def __init__(self, tree: Tree, graph: Graph) -> None:
        self._graph, self._tree = graph, tree
        self._due = [True] * len(tree.aggregators)
        self._finalizers: dict[int, Callable[[Any, Any], Any]] = {}
        self._combiners = [a.combiner for a in tree.aggregators]
        self._identities = scalars([identity(c, wide=True) for c in self._combiners])[: len(self._combiners)]
        self._partials: list[np.ndarray] = []

    def __len__(self) -> int:
        return len(self._combiners)

    def begin(self, superstep: int | None) -> None:
        """Forget what was collected, and see which are due in this superstep; None is after init: all."""
        self._partials = []
        self._due = [superstep is None or (superstep + 1) % a.every == 0 for a in self._tree.aggregators]

    def is_due(self, k: int) -> bool:
        """Return whether aggregator *k* is computed in the superstep of the last `begin`."""
        return self._due[k]

    def finalize(self, program: VertexProgram) -> None:
        """Let the program's finalisers have the last word."""
        self._program, marks = program, aggregators_of(type(program))
        found = {k: marks[a.name].finalizer for k, a in enumerate(self._tree.aggregators)}
        self._finalizers = {k: function for k, function in found.items() if function is not None}

    def _final(self, k: int, function: Callable[[Any, Any], Any], value: Any, state: RunState) -> Any:
        progress = Progress(self._program, self._graph, self._tree, state, state.superstep)
        name, kind = self._tree.aggregators[k].name, self._combiners[k].type
        return checked(function(progress, value), kind, f"{self._tree.name}.{name}")

    def settled(self, row: np.ndarray, before: np.ndarray, state: RunState) -> np.ndarray:
        """Return *row* with the values *before* of those not due, the others finalised (collective)."""
        for k, due in enumerate(self._due):
            if not due:
                row[k] = before[k]
        last = {k: function for k, function in self._finalizers.items() if self._due[k]}
        if last:
            values = self.values(row)

            def finalise() -> list[Any]:
                return [self._final(k, function, values[k], state) for k, function in last.items()]

            for k, value in zip(last, self._graph.comm.on_root(finalise), strict=True):
                row[k : k + 1].view(_wide(self._combiners[k].type))[0] = value
        return row

    def rows(self, blocks: int) -> np.ndarray | None:
        """Return the table [blocks, aggregators], at the identities, that one sweep adds to."""
        if not self._combiners:
            return None
        table = np.repeat(self._identities[None, :], blocks, axis=0)
        self._partials.append(table)
        return table

    def collected(self) -> np.ndarray:
        """Return this rank's values: all sweeps since `begin`, combined in order."""
        return self.combined(np.concatenate([self._identities[None, :], *self._partials]))

    def combined(self, table: np.ndarray) -> np.ndarray:
        """Combine the rows of *table* (int64 [rows, aggregators]), in order."""
        result = np.empty_like(self._identities)
        for k, combiner in enumerate(self._combiners):
            column = np.ascontiguousarray(table[:, k]).view(_wide(combiner.type))
            with np.errstate(all="ignore"):
                result[k : k + 1].view(column.dtype)[0] = _COMBINE[combiner.op].reduce(column)
        return result

    def values(self, row: np.ndarray) -> list[Any]:
        """Return eight-byte scalars as Python numbers and vertex ids as the user's own (collective)."""
        kinds = [c.type for c in self._combiners]
        numbers = [row[k : k + 1].view(_wide(kind))[0].item() for k, kind in enumerate(kinds)]
        made: dict[str, Callable[[int], Any]] = {"bool": bool, "id": self._user_id}
        return [made[kind](x) if kind in made else x for x, kind in zip(numbers, kinds, strict=True)]

    def _user_id(self, gid: int) -> Any:
        if not 0 <= gid < self._graph.num_vertices:
            return None  # the combiner's identity
        found = self._graph.ids.marked(np.array([gid], np.int64))[0]
        return found.item() if isinstance(found, np.generic) else found


def checked(value: Any, kind: str, name: str) -> Any:
    """Return what a finaliser gave as the number that its aggregator holds; raises ProgramError."""
    fits = {"float": (int, float, np.number), "int": (int, np.integer), "bool": (bool, np.bool_)}[kind]
    if not isinstance(value, fits) or (kind != "bool" and isinstance(value, (bool, np.bool_))):
        raise ProgramError(f"the finaliser of {name} gave {value!r}; its aggregator holds {kind}")
    return {"float": float, "int": int, "bool": bool}[kind](value)


def _wide(type_: str) -> np.dtype:
    return np.dtype(np.float64 if type_ == "float" else np.int64)
