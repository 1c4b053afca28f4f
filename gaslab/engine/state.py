"""`RunState`: the whole state of a run between two supersteps."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gaslab._kernels import buckets, frontier
from gaslab.compiler.tree import Tree, element_storage, is_list, same_kind
from gaslab.engine.initial_draws import InitialDraws
from gaslab.engine.storage import dtype_of, identities, identity, new_rows, total_dtype
from gaslab.graph.graph import Graph
from gaslab.language.rng import Draw
from gaslab.program import ALL
from gaslab.ragged import Rows

NEVER: int = buckets.NEVER  # the priority of a vertex that is not pending


@dataclass
class CachedTotals:
    """The totals that a phase caches between supersteps: see `gaslab.engine.sync.cache`."""

    totals: np.ndarray  # of each replica's own edges
    known: np.ndarray  # uint8: whether that total is up to date, and whether the master has been sent it
    of_mirrors: dict[int, np.ndarray]  # the last total of each mirror, by rank, in the order of `Exchange`
    gathered: int = 0  # totals of active replicas that were gathered here
    kept: int = 0  # and that were not


@dataclass
class RunState:
    """The state of one phase of a run on one rank; every array is indexed by local id unless it says so.

    The phases of a program share the fields of the first, and those with messages of one kind share these;
    `follow` passes on the rest of the state.
    """

    tree: Tree
    fields: list[Any]  # an array per vertex field, Rows per list field
    next_fields: list[Any]  # the same arrays, except where a gather reads what apply writes
    edge_fields: list[Any]  # by edge slot
    active: np.ndarray  # uint8
    active_bits: np.ndarray  # uint64, written only before a pull that needs it
    signalled: np.ndarray  # uint8
    signal_blocks: np.ndarray  # uint8, one per 2**SIGNAL_BLOCK vertices
    message: Any  # an array, identities where no message waits; Rows of masters if collected; or None
    message_next: Any  # the same, but where apply sends messages: those it sends
    priority: np.ndarray | None  # int64, where signals have priorities
    gather_way: np.ndarray | None  # uint8: each vertex's directions, where it chooses them itself
    scatter_way: np.ndarray | None
    aggregate_row: np.ndarray  # the aggregators' eight-byte scalars
    aggregates: list[Any]  # their values
    frontier: np.ndarray  # masters that are signalled for the next superstep, ascending int32
    next_total: int | None = None  # how many are on all ranks, where all ranks know it
    initial: np.ndarray | None = None  # the masters of superstep 0, where the caller named them
    buckets: buckets.Buckets | None = None  # the vertices that wait, where signals have priorities
    cached: CachedTotals | None = None  # where gathers are cached
    initial_fields: int = 0  # bit set of the fields with values of the caller's, which init keeps
    seed: int = 0  # of the draws, which are a function of it, the superstep and the vertex
    superstep: int = 0
    updates: int = 0  # vertices applied on all ranks
    phase: int = 0  # its number among the program's
    entered: int = 0  # the superstep at which it began
    ran: int = 0  # supersteps of it since then
    cycle: int = 0  # the superstep at which the first phase began last
    cycles: int = 0  # how often all phases have run
    has_messages: bool = True  # else they are of an earlier time that this phase ran, or no values yet
    fresh: dict[str, int] = dataclasses.field(default_factory=dict)  # field -> mirrors that have it, by role
    spare: dict[int, list[Any]] = dataclasses.field(default_factory=dict)  # both buffers of a field

    @classmethod
    def create(
        cls, tree: Tree, graph: Graph, edge_fields: list[Any], starts: InitialDraws | None = None,
        before: Sequence[RunState] = (), rooms: Mapping[str, np.ndarray] | None = None,
    ) -> RunState:  # fmt: skip
        """Allocate the state, each field at its default, or share what the phases *before* have alike.

        *rooms* has the most elements of each row of the list fields.
        """
        first = before[0] if before else None
        n = graph.local.num_local
        fields: list[Any] = []
        next_fields: list[Any] = []
        spare = first.spare if first else {}
        for k, variable in enumerate(tree.vertex_fields):
            values: Any
            default: Any = 0 if variable.required else variable.default
            shape = (n, *variable.shape)
            if first:
                values = first.fields[k]
            elif is_list(variable.storage):
                assert rooms is not None
                grows = variable.name in tree.growing
                values = new_rows(rooms[variable.name], element_storage(variable.storage), grows)
            elif isinstance(default, Draw):
                assert starts is not None
                values = starts.of_vertices(default, k, dtype_of(variable.storage), variable.shape)
            else:
                dtype = dtype_of(variable.storage)
                plain = default == 0 and math.copysign(1.0, default) > 0  # -0.0 is not what pages begin as
                values = np.zeros(shape, dtype) if plain else np.full(shape, default, dtype)
            fields.append(values)
            if tree.double_buffered(variable.name) and k not in spare:
                plain = isinstance(values, np.ndarray)  # apply writes it before anyone reads it
                spare[k] = [values, np.empty_like(values) if plain else values.copy()]
            next_fields.append(spare[k][1] if tree.double_buffered(variable.name) else values)
        # Mirrors have the masters' values of a field with one value for all.
        fresh = {v.name: 0 if isinstance(v.default, Draw) else ALL for v in tree.vertex_fields}
        message: Any = None
        priority = np.full(n, NEVER) if tree.by_priority else None
        if tree.message is not None:
            alike = (state.message for state in before if same_kind(state.tree.message, tree.message))
            message = next(alike, None)
        if tree.message is not None and message is None:
            if tree.message.collects:
                message = new_rows(np.zeros(graph.local.num_masters, np.int64), tree.message.storage)
            else:
                message = np.full(n, identity(tree.message), total_dtype(tree.message))
        following = message
        if tree.message is not None and tree.sends_to_itself:
            following = np.full_like(message, identity(tree.message))
        return cls(
            tree, fields, next_fields, edge_fields,
            active=first.active if first else np.zeros(n, np.uint8),
            active_bits=first.active_bits if first else np.zeros((n >> 6) + 1, np.uint64),
            signalled=first.signalled if first else np.zeros(n, np.uint8),
            signal_blocks=(
                first.signal_blocks if first else np.zeros((n >> frontier.SIGNAL_BLOCK) + 1, np.uint8)
            ),
            message=message,
            message_next=following,
            has_messages=first is None,
            priority=priority,
            gather_way=np.zeros(n, np.uint8) if "gather_edges" in tree.functions else None,
            scatter_way=np.zeros(n, np.uint8) if "scatter_edges" in tree.functions else None,
            aggregate_row=identities(tree),
            aggregates=[None] * len(tree.aggregators),
            frontier=np.empty(0, np.int32),
            buckets=None if priority is None else buckets.Buckets(priority, graph.local.num_masters),
            seed=0 if starts is None else starts.seed,
            fresh=first.fresh if first else fresh,
            spare=spare,
        )  # fmt: skip

    def set_values(self, masters_values: Mapping[str, Any]) -> int:
        """Write values of the masters into their fields; return the bit set of these fields."""
        bits = 0
        for k, variable in enumerate(self.tree.vertex_fields):
            if variable.name in masters_values:
                values = masters_values[variable.name]
                bits |= 1 << k
                if isinstance(self.fields[k], Rows):
                    ids = np.arange(values.lengths.size, dtype=np.int32)
                    self.fields[k].unpack(ids, values.lengths, values.values)
                    continue
                self.fields[k][: len(values)] = values
        self.stale(masters_values, 0)
        return bits

    def named_aggregates(self) -> dict[str, Any]:
        """Return the values of the aggregators by their names."""
        return dict(zip((a.name for a in self.tree.aggregators), self.aggregates, strict=True))

    def stale(self, names: Iterable[str], role: int) -> None:
        """Note that masters changed these fields; at most the mirrors of that role have the new values."""
        for name in names:
            self.fresh[name] &= role

    def follow(self, before: RunState) -> None:
        """Take over, at the begin of a phase, the state of the phase before.

        Its messages wait for this phase if they are of the same kind; others are dropped, as signals are.
        """
        self.fields = list(before.fields)
        self.next_fields = [
            self.spare[k][self.spare[k][0] is values] if self.tree.double_buffered(field.name) else values
            for k, (field, values) in enumerate(zip(self.tree.vertex_fields, self.fields, strict=True))
        ]
        self.aggregates, self.aggregate_row = before.aggregates, before.aggregate_row
        self.updates = before.updates
        self.superstep = self.entered = before.superstep
        self.ran, self.cycle, self.cycles = 0, before.cycle, before.cycles
        self.frontier, self.next_total = np.empty(0, np.int32), None
        if self.buckets is not None:
            self.buckets.clear()
        self.has_messages = before.has_messages and same_kind(self.tree.message, before.tree.message)

    def empty_messages(self) -> None:
        """Fill the messages with nothing, at the begin of a phase in which a vertex runs."""
        if isinstance(self.message, Rows):
            if not self.has_messages:
                self.message.lengths[:] = 0
        elif not self.has_messages and self.message is not None and self.tree.message is not None:
            self.message[:] = identity(self.tree.message)
            if self.message_next is not None and self.message_next is not self.message:
                self.message_next[:] = self.message
        self.has_messages = True

    def swap(self) -> None:
        """Swap the two buffers of written fields, after apply at every vertex of the graph."""
        self.fields, self.next_fields = self.next_fields, self.fields
