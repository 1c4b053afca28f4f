"""The state of a run for an interpreted method over one block: fields, edges, signals, messages, totals."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

from gaslab.compiler.python import numerics, records
from gaslab.compiler.python.rng import Random
from gaslab.compiler.tree import RecordCombiner, Tree, element_of

SIGNAL_BLOCK = 6  # GL_SIGNAL_BLOCK
IN, OUT = 1, 2  # GL_IN, GL_OUT
SCALAR = {"float": "float64", "int": "int64", "bool": "int64", "id": "int64"}  # dtypes of gl_scalar


class Block:
    """A block of vertices and the view, while one call of `Interpreter.run` lasts."""

    stopped = forward = posted = False  # of the gather and of the current loop over edges

    def __init__(self, tree: Tree, view: Any, namespace: dict[str, Any]) -> None:
        self.tree, self._view, self.namespace = tree, view, namespace
        self._combine_message: Callable[..., Any] | None = namespace["combine_message"]
        self.rng = Random(self, tree.rng, tree.precision)
        self.at = self.first = 0  # the current vertex, for faults; where the block begins
        self.out: Any = None
        self.stop = getattr(view, "stop", (0, 0))  # of gl_view
        namespace["block"][0] = self  # for a merge
        self.params = scalars(view.param, [element_of(p.type) for p in tree.params])
        self.aggregates = _aggregates(tree, view.aggregate)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._view, name)
        setattr(self, name, value)
        return value

    @functools.cached_property
    def vertex_rows(self) -> list[Any]:
        """The elements of each array field of vertices as [vertex, element]; None for other fields."""
        return [_rows(values) for values in self.vertex]

    @functools.cached_property
    def edge_rows(self) -> list[Any]:
        return [_rows(values) for values in self.edge]

    @functools.cached_property
    def shared_rows(self) -> list[list[Any]]:
        """The elements of each array from outside; made once for all blocks of a run."""
        known = self.namespace["shared"]
        if known[0] is not self.shared:
            known[:] = self.shared, [values.reshape(-1).tolist() for values in self.shared]
        rows: list[list[Any]] = known[1]
        return rows

    @functools.cached_property
    def phase_step(self) -> int:
        """The superstep's number within the phase; the phase's first is stored after the parameters."""
        return int(self.superstep - self.param[len(self.tree.params)])

    def load(self, v: int) -> list[Any]:
        self.at = v
        return [
            values.item(v) if rows is None else rows[v].tolist()
            for values, rows in zip(self.vertex, self.vertex_rows, strict=True)
        ]

    def store(self, n: list[Any], v: int, into: list[Any], fields: list[int]) -> None:
        for k in fields:
            rows = into[k]
            if rows.ndim == 1:
                rows[v] = n[k]
            else:
                rows[v].reshape(-1)[:] = n[k]

    def in_row(self, v: int) -> Iterator[tuple[int, int]]:
        """Yield (source, slot) of the edges that end at v."""
        for p in range(self.in_begin.item(v), self.in_begin.item(v + 1)):
            numerics.heed(self, -1)
            yield self.in_neighbor.item(p), p

    def out_row(self, v: int) -> Iterator[tuple[int, int]]:
        """Yield (target, slot) of the edges that begin at v."""
        for p in range(self.out_begin.item(v), self.out_begin.item(v + 1)):
            numerics.heed(self, -1)
            yield self.out_neighbor.item(p), self.out_slot.item(p)

    def walked(self, v: int, name: str) -> int:
        """Return the directions in which gather or scatter walks the edges of a vertex."""
        mask: int = getattr(self, f"{name}_edges")
        chosen = f"{name}_edges" in self.tree.functions
        return mask & getattr(self, f"{name}_way").item(v) if chosen else mask

    def signal(self, v: int, x: int) -> None:
        self.signalled[x] = 1
        self.signal_blocks[x >> SIGNAL_BLOCK] = 1

    def delta_at(self, values: Any, *at: int) -> Any:
        """Return the contributions so far to a vertex's field, or to one of its elements."""
        return values.item(*at)

    def add_delta(self, values: Any, value: Any, *at: int) -> None:
        values[at] = value
        self.touch(at[0])

    def touch(self, x: int) -> None:
        self.touched[x] = 1
        self.touched_blocks[x >> SIGNAL_BLOCK] = 1

    def send(self, messages: Any, x: int, message: Any) -> None:
        assert self._combine_message is not None
        if isinstance(self.tree.message, RecordCombiner):
            self.keep_message(messages, x, self._combine_message(self.message_at(messages, x), message))
        else:
            messages[x] = self._combine_message(messages.item(x), message)
        self.signal(x, x)

    def signal_id(self, to: int, message: Any, priority: int | None, messages: Any, site: int) -> None:
        """Signal a vertex by global id: a replica here at once, else by a record to the master's rank."""
        if not 0 <= to < self.num_vertices:
            raise numerics.Fault(numerics.NOBODY, site)
        at = self.locate.item(to)
        if at < 0 or (message is not None and self.tree.collects_messages):
            self.outbox.add(to, priority, message)
            return
        if priority is not None:
            self.prioritise(at, priority)
        if message is None:
            self.signal(at, at)
        else:
            self.send(messages, at, message)

    def no_message(self) -> list[Any]:
        assert isinstance(self.tree.message, RecordCombiner)
        return records.empty(self.tree.message)

    def message_at(self, messages: Any, x: int) -> list[Any]:
        """Return the parts of the message of a vertex."""
        assert isinstance(self.tree.message, RecordCombiner)
        return records.read(self.tree.message, messages, x)

    def keep_message(self, messages: Any, x: int, parts: list[Any]) -> None:
        assert isinstance(self.tree.message, RecordCombiner)
        records.write(self.tree.message, messages, x, parts)

    def prioritise(self, x: int, priority: int) -> None:
        self.priority[x] = min(self.priority.item(x), priority)

    def post(self, x: int, delta: Any = None) -> None:
        """Add to the neighbour's cached total on this rank, or clear it."""
        self.posted = True
        if delta is None:
            self.cached[x] = 0
        elif self.cached[x]:
            both = self.namespace["combine_total"](self.cache.item(x), delta)
            self.cache[x] = self.namespace["narrow_total"](both)
            self.cached[x] = 2

    @contextlib.contextmanager
    def live_totals(self) -> Iterator[None]:
        """Use the block's aggregates, to which visit adds; store them at the end."""
        if self.tree.live:
            self.aggregates = _aggregates(self.tree, self.out)
        yield
        for k in self.tree.live:
            combiner, slot = self.tree.aggregators[k].combiner, self.tree.slot(k)
            if isinstance(combiner, RecordCombiner):
                records.to_slots(combiner, self.out, slot, self.aggregates[k])
            else:
                self.out[slot] = self.aggregates[k]

    def totals(self, namespace: dict[str, Any]) -> _Totals:
        return _Totals(self, namespace)


class _Totals:
    """The aggregators over one block: a context that gives the function that adds a vertex."""

    def __init__(self, block: Block, namespace: dict[str, Any]) -> None:
        self._block, self._namespace = block, namespace
        self._in_apply = [k for k, _ in block.tree.in_apply]

    def __enter__(self) -> Callable[[list[Any], int], None]:
        out = self._block.out
        self._values = [] if out is None else _aggregates(self._block.tree, out)
        return self._add

    def _add(self, n: list[Any], v: int) -> None:
        for k in self._in_apply if self._values else ():
            value = self._values[k]
            more = self._namespace[f"aggregator{k}"](self._block, n, v)
            self._values[k] = self._namespace[f"combine_aggregate{k}"](value, more)

    def __exit__(self, *_: object) -> None:
        for k in self._in_apply if self._values else ():
            tree = self._block.tree
            slot, kind = tree.slot(k), tree.aggregators[k].combiner.type
            self._block.out[slot : slot + 1].view(SCALAR[kind])[0] = self._values[k]


def _rows(values: Any) -> Any:
    return None if values.ndim == 1 else values.reshape(len(values), math.prod(values.shape[1:]))


def _aggregates(tree: Tree, table: Any) -> list[Any]:
    """Return the values of all aggregators: numbers, and accumulators as lists of parts."""
    values: list[Any] = []
    for k, a in enumerate(tree.aggregators):
        slot = tree.slot(k)
        if isinstance(a.combiner, RecordCombiner):
            values.append(records.from_slots(a.combiner, table, slot))
        else:
            values += scalars(table[slot : slot + 1], [a.combiner.type])
    return values


def scalars(table: Any, kinds: list[str]) -> list[Any]:
    """Return eight-byte scalars as Python numbers."""
    values = [table[k : k + 1].view(SCALAR[kind]).item() for k, kind in enumerate(kinds)]
    return [bool(value) if kind == "bool" else value for value, kind in zip(values, kinds, strict=True)]
