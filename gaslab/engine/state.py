"""All that lives between supersteps: fields, frontier flags, pending messages, aggregates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab._kernels import buckets, frontier, sweep
from gaslab.chance import Draw
from gaslab.compiler.emit.names import by_source
from gaslab.compiler.tree import OWN, PAYLOAD, WIDE, Combiner, RecordCombiner, Tree, element_storage, is_list
from gaslab.engine.chance import Starts
from gaslab.errors import unknown
from gaslab.fields import RANGES
from gaslab.program import ALL
from gaslab.ragged import Rows

if TYPE_CHECKING:
    from gaslab.graph import Graph
    from gaslab.localgraph import LocalGraph


NEVER: int = buckets.NEVER  # the priority of a vertex that is not pending


def dtype_of(storage: str) -> np.dtype:
    """Return the numpy dtype of a storage type."""
    return np.dtype("int64" if storage == "id" else storage)


def limits_of(dtype: np.dtype) -> tuple[int, int]:
    """Return the least and the largest value that the language stores in an integer dtype.

    >>> limits_of(np.dtype("uint8")), limits_of(np.dtype("uint64")) == (0, 2**63 - 1)
    ((0, 255), True)
    """
    return RANGES[dtype.name]


def total_dtype(combiner: Combiner) -> np.dtype:
    """Return the dtype of an accumulator: of one with parts, that of the C struct."""
    if not isinstance(combiner, RecordCombiner):
        return dtype_of(combiner.storage)
    parts = [(p.name, dtype_of(p.combiner.storage), p.shape) for p in combiner.parts]
    return np.dtype(parts, align=True)


def identity(combiner: Combiner, wide: bool = False) -> Any:
    """Return the identity of a combiner in its storage type, or in that type's eight-byte form."""
    if isinstance(combiner, RecordCombiner):
        row = np.zeros((), total_dtype(combiner))
        for part in combiner.parts:
            row[part.name] = identity(part.combiner)
        return row[()]
    dtype = dtype_of(WIDE[combiner.type] if wide else combiner.storage)
    if combiner.op == OWN:
        return dtype.type(combiner.start)
    if combiner.op == PAYLOAD and combiner.type == "id":
        return dtype.type(np.iinfo(dtype).max)  # gl.NOBODY
    if combiner.op in ("sum", "bitor", "prod", PAYLOAD):
        return dtype.type(combiner.op == "prod")
    low = combiner.op in ("max", "argmax")
    if not low and combiner.op not in ("min", "argmin"):
        raise unknown("identity", combiner)
    if dtype.kind == "f":
        return dtype.type(-np.inf if low else np.inf)
    if dtype.kind == "b":
        return dtype.type(not low)
    return dtype.type(limits_of(dtype)[0 if low else 1])


def scalars(values: list[Any]) -> np.ndarray:
    """Return numbers as the eight-byte scalars of the ABI (floats as bits, the rest as int64)."""
    table = np.zeros(max(len(values), 1), np.int64)
    for k, value in enumerate(values):
        if isinstance(value, (float, np.floating)):
            table[k : k + 1].view(np.float64)[0] = value
        else:
            table[k] = int(value)
    return table


def identities(tree: Tree) -> np.ndarray:
    """Return the aggregates of nobody, as eight-byte scalars."""
    values: list[Any] = []
    for a in tree.aggregators:
        parts = a.combiner.parts if isinstance(a.combiner, RecordCombiner) else ()
        values += [identity(p.combiner, wide=True) for p in parts for _ in range(p.slots)]
        values += [] if parts else [identity(a.combiner, wide=True)]
    return scalars(values)


@dataclass
class RunState:
    """The state of one run on one rank; every array is indexed by local id unless it says so."""

    tree: Tree
    fields: list[Any]  # an array per vertex field, Rows per list field
    next_fields: list[Any]  # the same arrays, except where a gather reads what apply writes
    edge_fields: list[Any]  # by edge slot
    active: np.ndarray  # uint8
    active_bits: np.ndarray  # uint64, written only before a pull that needs it
    signalled: np.ndarray  # uint8
    signal_blocks: np.ndarray  # uint8, one per 2**SIGNAL_BLOCK vertices
    message: np.ndarray | None  # identities where no message waits
    message_next: np.ndarray | None  # the same, but where apply sends messages: those it sends
    priority: np.ndarray | None  # int64, where signals have priorities
    gather_way: np.ndarray | None  # uint8: each vertex's directions, where it chooses them itself
    scatter_way: np.ndarray | None
    aggregates: list[Any]  # values, by aggregator
    superstep: int = 0
    updates: int = 0  # vertices applied on all ranks
    phase: int = 0  # its number among the program's
    entered: int = 0  # the superstep at which it began
    ran: int = 0  # supersteps of it since then
    cycle: int = 0  # the superstep at which the first phase began last
    fresh: dict[str, int] = dataclasses.field(default_factory=dict)  # field -> mirrors that have it, by role
    spare: dict[int, list[Any]] = dataclasses.field(default_factory=dict)  # both buffers of a field

    @classmethod
    def create(
        cls, tree: Tree, graph: Graph, edge_fields: list[Any], starts: Starts | None = None,
        first: RunState | None = None, rooms: Mapping[str, np.ndarray] | None = None,
    ) -> RunState:  # fmt: skip
        """Allocate the state with every field at its start, or share that of the *first* phase.

        *rooms* is what list fields can need.
        """
        n = graph.local.num_local
        fields: list[Any] = []
        next_fields: list[Any] = []
        spare = first.spare if first else {}
        for k, variable in enumerate(tree.vertex_fields):
            values: Any
            dtype = dtype_of(element_storage(variable.storage) or variable.storage)
            default: Any = 0 if variable.required else variable.default
            shape = (n, *variable.shape)
            if first:
                values = first.fields[k]
            elif is_list(variable.storage):
                assert rooms is not None
                values = Rows(rooms[variable.name], dtype)
            elif isinstance(default, Draw):
                assert starts is not None
                values = starts.of_vertices(default, k, dtype, variable.shape)
            else:
                plain = default == 0 and math.copysign(1.0, default) > 0  # -0.0 is not what pages begin as
                values = np.zeros(shape, dtype) if plain else np.full(shape, default, dtype)
            fields.append(values)
            if tree.double_buffered(variable.name) and k not in spare:
                spare[k] = [values, values.copy()]
            next_fields.append(spare[k][1] if tree.double_buffered(variable.name) else values)
        message = None
        if tree.message is not None:
            message = np.empty(n, total_dtype(tree.message))  # of a later phase, `follow` fills it
            if first is None:
                message[:] = identity(tree.message)
        return cls(
            tree, fields, next_fields, edge_fields,
            active=first.active if first else np.zeros(n, np.uint8),
            active_bits=first.active_bits if first else np.zeros((n >> 6) + 1, np.uint64),
            signalled=first.signalled if first else np.zeros(n, np.uint8),
            signal_blocks=(
                first.signal_blocks if first else np.zeros((n >> frontier.SIGNAL_BLOCK) + 1, np.uint8)
            ),
            message=message,
            message_next=message.copy() if message is not None and tree.sends_to_itself else message,
            priority=np.full(n, NEVER) if tree.by_priority else None,
            gather_way=np.zeros(n, np.uint8) if "gather_edges" in tree.functions else None,
            scatter_way=np.zeros(n, np.uint8) if "scatter_edges" in tree.functions else None,
            aggregates=[None] * len(tree.aggregators),
            fresh=first.fresh if first else _fresh(tree),
            spare=spare,
        )  # fmt: skip

    def give(self, masters_values: Mapping[str, Any]) -> int:
        """Write given values of masters into their fields; return the bit set of the given fields."""
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

    def stale(self, names: Iterable[str], role: int) -> None:
        """Say that masters changed these fields; only mirrors of that role may have the new values."""
        for name in names:
            self.fresh[name] &= role

    def follow(self, before: RunState) -> None:
        """Take over, at the begin of a phase, what the phase before left; its messages are dropped."""
        self.fields = list(before.fields)
        self.next_fields = [
            self.spare[k][self.spare[k][0] is values] if self.tree.double_buffered(field.name) else values
            for k, (field, values) in enumerate(zip(self.tree.vertex_fields, self.fields, strict=True))
        ]
        self.aggregates, self.updates = before.aggregates, before.updates
        self.superstep = self.entered = before.superstep
        self.ran, self.cycle = 0, before.cycle
        if self.message is not None and self.tree.message is not None:
            self.message[:] = identity(self.tree.message)
            if self.message_next is not None and self.message_next is not self.message:
                self.message_next[:] = self.message

    def swap(self) -> None:
        """Make what apply wrote current, when every vertex of the graph was applied."""
        self.fields, self.next_fields = self.next_fields, self.fields


def _fresh(tree: Tree) -> dict[str, int]:
    """Return which mirrors have the masters' values at the start: all, of a field with one value for all."""
    return {v.name: 0 if isinstance(v.default, Draw) else ALL for v in tree.vertex_fields}


def make_view(state: RunState, graph: Graph, params: list[Any], seed: int = 0) -> sweep.View:
    """Return the program's view of *graph* and *state*."""
    local, tree = graph.local, state.tree
    every = 0 if graph.directed else 3  # an undirected edge serves every direction
    view = sweep.View()
    view.num_vertices, view.num_edges, view.superstep = graph.num_vertices, graph.num_edges, 0
    view.seed = seed
    view.num_left = graph.num_vertices if graph.ids.num_left is None else graph.ids.num_left
    view.num_masters, view.num_local = local.num_masters, local.num_local
    view.gather_edges = tree.gather_edges and tree.gather_edges | every
    view.scatter_edges = tree.scatter_edges and tree.scatter_edges | every
    view.gid, view.degree = local.gid, local.degree
    view.in_degree, view.out_degree = local.in_degree, local.out_degree
    view.in_begin, view.in_neighbor = local.in_begin, local.in_neighbor
    view.out_begin = view.out_neighbor = view.out_slot = None
    if view.gather_edges & 2 or view.scatter_edges:
        view.out_begin, view.out_neighbor, view.out_slot = local.out()
    view.vertex, view.vertex_next, view.edge = state.fields, state.next_fields, state.edge_fields
    set_by_source(view, state, graph.local)
    view.param, view.aggregate = scalars(params), identities(tree)
    view.given, view.concurrent, view.all_active = 0, 0, 0
    view.total = view.incoming = view.skip = None
    view.active, view.signalled, view.signal_blocks = state.active, state.signalled, state.signal_blocks
    view.active_bits, view.message = state.active_bits, state.message
    view.message_next, view.priority = state.message_next, state.priority
    view.gather_way, view.scatter_way = state.gather_way, state.scatter_way
    return view


def set_by_source(view: sweep.View, state: RunState, local: LocalGraph) -> None:
    """Give the view what its scatter reads of edges in the order of their sources."""
    again = by_source(state.tree) if view.scatter_edges else ()
    view.edge_by_source = [
        local.by_source(values) if k in again else None for k, values in enumerate(state.edge_fields)
    ]
