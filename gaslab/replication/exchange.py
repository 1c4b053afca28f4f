"""Moves values between masters and mirrors: the only traffic of a superstep.

Four movements, each a begin/end pair with at most one message per peer. A movement's `pack_...` and
`unpack_...` convert to and from bytes by rank; the engine of bounded staleness puts these into its own
batches:

``spread``   masters -> mirrors: fields that changed, and which masters are active
``collect``  mirrors -> masters: signals and their messages
``partials`` mirrors -> masters: partial sums of a gather, in an order both sides know
``remote_signals``  any rank -> masters: signals to vertices without a replica on the sender's rank

A field travels only to the mirrors of its *role*: those that are the source of a local edge (OUT),
the target of one (IN), or all (ALL). LocalGraph lays mirrors out so that each role is one slice per
peer, and `Exchange` keeps the owner's matching list. Within a slice the cheapest of three codes
names the vertices concerned: all of them, a bitmap, or an index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from gaslab._kernels import frontier, pack
from gaslab.parallel.comm import Comm, Pending
from gaslab.parallel.tags import Tag
from gaslab.partitioning.local_graph import LocalGraph
from gaslab.program import ALL, IN, NONE, OUT
from gaslab.ragged import KeyedRows, Rows
from gaslab.replication.message import Message, lists_at, padded, positions_at, values_at

FEW = 32  # a frontier with fewer masters than one in this many is looked up, not searched for
_BOUNDS = {NONE: (0, 0), OUT: (0, 2), IN: (1, 3), ALL: (0, 3)}  # of the classes out-only, both, in-only


T = TypeVar("T")
Packed = dict[int, np.ndarray]  # bytes by rank
Signals = tuple[np.ndarray, np.ndarray | None, np.ndarray | None]
Changes = dict[int, tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Section:
    """Fields that travel to the mirrors of one role."""

    role: int
    fields: tuple[np.ndarray | Rows, ...]  # by local id


class Exchange:
    """The plan of one graph: for each role and peer, the vertices whose values are sent, in order."""

    def __init__(self, graph: LocalGraph, comm: Comm) -> None:
        self.comm = comm
        self.graph = graph
        peers = [p for p in range(comm.size) if p != comm.rank]
        self._mirrors: dict[int, dict[int, tuple[int, int]]] = {}  # role -> owner -> local ids [lo, hi)
        self._owned: dict[int, dict[int, np.ndarray]] = {}  # role -> holder -> my masters, in its order
        for role, (first, last) in _BOUNDS.items():
            self._mirrors[role] = {}
            self._owned[role] = {}
            for p in peers:
                lo, hi = int(graph.mirror_bounds[p, first]), int(graph.mirror_bounds[p, last])
                if lo < hi:
                    self._mirrors[role][p] = (lo, hi)
                lo, hi = int(graph.send_bounds[p, first]), int(graph.send_bounds[p, last])
                if lo < hi:
                    self._owned[role][p] = graph.send_list[p][lo:hi]

    def mirrors(self, role: int) -> np.ndarray:
        """Return the local ids of this rank's mirrors with that role, ascending, as int32."""
        ranges = sorted(self._mirrors[role].values())
        parts = [np.arange(lo, hi, dtype=np.int32) for lo, hi in ranges]
        return np.concatenate(parts) if parts else np.empty(0, np.int32)

    def replicated_masters(self, role: int) -> np.ndarray:
        """Return this rank's masters that have a mirror of that role elsewhere, ascending, as int32."""
        flags = np.zeros(self.graph.num_masters, np.uint8)
        for ids in self._owned[role].values():
            flags[ids] = 1
        return frontier.where(flags, 0, flags.size)  # type: ignore[no-any-return]

    # ---- masters -> mirrors ------------------------------------------------------------------------

    def spread(
        self, sections: Sequence[Section], active: np.ndarray | None, masters: np.ndarray | None = None
    ) -> Sent[dict[int, np.ndarray]]:
        """Start sending the values of `pack_spread`; `end` stores those received: see `unpack_spread`."""
        sections = [s for s in sections if s.fields or active is not None]
        sources = {p for section in sections for p in self._mirrors[section.role]}
        packed = self.pack_spread(sections, active, masters)
        sent = self.comm.begin(packed, sorted(sources), Tag.SPREAD)
        return Sent(sent, lambda received: self.unpack_spread(sections, received))

    def pack_spread(
        self, sections: Sequence[Section], active: np.ndarray | None, masters: np.ndarray | None = None
    ) -> Packed:
        """Return the sections' fields of active masters (flags by local id; None is all), by rank.

        *masters*, if not None, are the ids of these masters, which is faster if they are few.
        """
        replicas = None
        if masters is not None and active is not None and self.comm.size > 1:
            few = masters.size * FEW < self.graph.num_masters
            replicas = self._replicas(masters) if few else None
        outgoing: Packed = {}
        for p in range(self.comm.size):
            message = Message()
            for section in sections:
                ids = self._owned[section.role].get(p)
                if ids is not None:
                    if active is None:
                        chosen = None
                    elif replicas is None:
                        chosen = pack.chosen_positions(ids, active)
                    else:
                        chosen = self._among(replicas, p, section.role)
                    message.add_positions(chosen, ids.size)
                    concerned = ids if chosen is None else ids[chosen]
                    for values in section.fields:
                        message.add_values(concerned, values)
            if message.bytes.size:
                outgoing[p] = message.bytes
        return outgoing

    def unpack_spread(self, sections: Sequence[Section], received: Packed) -> dict[int, np.ndarray]:
        """Store the received values; return the active mirrors (sorted local ids) by section role."""
        named: dict[int, list[np.ndarray]] = {s.role: [] for s in sections}
        for p, data in received.items():
            offset = 0
            for section in sections:
                bounds = self._mirrors[section.role].get(p)
                if bounds is None:
                    continue
                ids, offset = positions_at(data, offset, *bounds)
                whole = slice(*bounds) if ids.size == bounds[1] - bounds[0] else None
                for values in section.fields:
                    offset = values_at(data, offset, ids, whole, values)
                named[section.role].append(ids)
        return {
            role: np.concatenate(parts) if parts else np.empty(0, np.int32) for role, parts in named.items()
        }

    def owned(self, role: int) -> dict[int, np.ndarray]:
        """Return by rank the masters here (local ids) with a mirror of that role there, in its order."""
        return self._owned[role]

    def places(self, role: int) -> np.ndarray:
        """Return by rank the bounds of that role's mirrors in the list of all (int64 [ranks, 2])."""
        return np.ascontiguousarray(self.graph.send_bounds[:, _BOUNDS[role]], np.int64)

    def _replicas(self, masters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the mirrors of *masters*: their ranks and their positions in that rank's send list."""
        begin, peer, position = self.graph.replicas()
        first, counts = begin[masters], begin[masters + 1] - begin[masters]
        at = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return peer[at], position[at]

    def _among(self, replicas: tuple[np.ndarray, np.ndarray], p: int, role: int) -> np.ndarray:
        """Return the ascending positions in rank p's list of that role of those replicas that it contains."""
        peer, position = replicas
        first, last = _BOUNDS[role]
        lo, hi = self.graph.send_bounds[p, [first, last]]
        chosen: np.ndarray = position[(peer == p) & (position >= lo) & (position < hi)] - np.int32(lo)
        chosen.sort()
        return chosen

    # ---- mirrors -> masters ------------------------------------------------------------------------

    def collect(
        self, role: int, signalled: np.ndarray, blocks: np.ndarray, message: np.ndarray | None, identity: Any,
        priority: np.ndarray | None = None,
    ) -> Sent[list[Signals]]:  # fmt: skip
        """Start sending the signals of `pack_collect`; `end` returns those received: see `unpack_collect`."""
        packed = self.pack_collect(role, signalled, blocks, message, identity, priority)
        sent = self.comm.begin(packed, sorted(self._owned[role]), Tag.COLLECT)
        return Sent(sent, lambda received: self.unpack_collect(role, message, priority is not None, received))

    def pack_collect(
        self, role: int, signalled: np.ndarray, blocks: np.ndarray, message: np.ndarray | None, identity: Any,
        priority: np.ndarray | None = None,
    ) -> Packed:  # fmt: skip
        """Return the signals (with messages and priorities) at mirrors of that role, by master's rank.

        The flags are cleared, the messages become *identity* and the priorities the largest int64.
        """
        outgoing = {}
        for p, (lo, hi) in self._mirrors[role].items():
            ids = frontier.take_signalled(signalled, blocks, lo, hi)
            data = Message()
            data.add_positions(ids - np.int32(lo), hi - lo)
            if message is not None:
                data.add_values(ids, message)
                message[ids] = identity
            if priority is not None:
                data.add_values(ids, priority)
                priority[ids] = np.iinfo(np.int64).max
            outgoing[p] = data.bytes
        return outgoing

    def unpack_collect(
        self, role: int, message: np.ndarray | None, priority: bool, received: Packed
    ) -> list[Signals]:
        """Return (masters signalled, messages or None, priorities or None) of each peer, in rank order."""
        found = []
        for p, data in received.items():
            owned = self._owned[role][p]
            positions, offset = positions_at(data, 0, 0, owned.size)
            values = priorities = None
            if message is not None:
                size = positions.size * message.itemsize
                values = data[offset : offset + size].view(message.dtype)
                offset += padded(size)
            if priority:
                priorities = data[offset : offset + 8 * positions.size].view(np.int64)
            found.append((owned[positions], values, priorities))
        return found

    def remote_signals(self, parts: Packed) -> Pending:
        """Start sending bytes to all other ranks; `end` returns the bytes from each, maybe none."""
        peers = [p for p in range(self.comm.size) if p != self.comm.rank]
        outgoing = {p: parts.get(p, np.empty(0, np.uint8)) for p in peers}
        return self.comm.begin(outgoing, peers, Tag.SIGNALS_BY_ID)

    def changes(self, role: int, mirrors: np.ndarray, values: np.ndarray) -> Sent[Changes]:
        """Start sending the values of `pack_changes`; `end` returns those received: see `unpack_changes`."""
        packed = self.pack_changes(role, mirrors, values)
        sent = self.comm.begin(packed, sorted(self._owned[role]), Tag.CHANGES)
        return Sent(sent, lambda received: self.unpack_changes(role, values.dtype, received))

    def pack_changes(self, role: int, mirrors: np.ndarray, values: np.ndarray) -> Packed:
        """Return *values* of some *mirrors* of that role (ascending local ids), by their master's rank."""
        outgoing = {}
        for p, (lo, hi) in self._mirrors[role].items():
            first, last = np.searchsorted(mirrors, [lo, hi])
            chosen = (mirrors[first:last] - np.int32(lo)).astype(np.int32)
            message = Message()
            message.add_positions(chosen, hi - lo)
            message.add(values[first:last])
            outgoing[p] = message.bytes
        return outgoing

    def unpack_changes(self, role: int, dtype: np.dtype, received: Packed) -> Changes:
        """Return (positions in `owned`, values) by the mirrors' rank."""
        found = {}
        for p, data in received.items():
            positions, offset = positions_at(data, 0, 0, self._owned[role][p].size)
            size = positions.size * dtype.itemsize
            found[p] = (positions, data[offset : offset + size].view(dtype))
        return found

    def partials(
        self, role: int, mirrors: np.ndarray, totals: np.ndarray | Rows | KeyedRows, active: np.ndarray | None
    ) -> Sent[list[tuple[np.ndarray, Any]]]:
        """Start sending *totals* of the active *mirrors* (ascending local ids) to their masters.

        *active* has the masters' flags, which tell each rank the totals to expect (None: all). `end`
        returns (masters, their partial sums) of each peer, in rank order; partial sums of lists are (lengths,
        values), and by key two of these, of keys and of sums.
        """
        rows = [totals] if isinstance(totals, Rows) else []
        rows = [totals.keys, totals.values] if isinstance(totals, KeyedRows) else rows
        outgoing = {}
        for p, (lo, hi) in self._mirrors[role].items():
            first, last = np.searchsorted(mirrors, [lo, hi])
            if first < last:
                if isinstance(totals, np.ndarray):
                    outgoing[p] = totals[first:last].view(np.uint8)
                    continue
                message = Message()
                for one in rows:
                    message.add_lists(np.arange(first, last, dtype=np.int32), one)
                outgoing[p] = message.bytes
        expected = {}
        for p, ids in self._owned[role].items():
            chosen = ids if active is None else ids[pack.chosen_positions(ids, active)]
            if chosen.size:
                expected[p] = chosen

        def unpack(received: Packed) -> list[tuple[np.ndarray, Any]]:
            found: list[tuple[np.ndarray, Any]] = []
            for p, ids in sorted(expected.items()):
                if isinstance(totals, np.ndarray):
                    found.append((ids, received[p].view(totals.dtype)))
                    continue
                values, offset = [], 0
                for _ in rows:
                    *one, offset = lists_at(received[p], offset, ids.size)
                    values.append(tuple(one))
                found.append((ids, values if isinstance(totals, KeyedRows) else values[0]))
            return found

        return Sent(self.comm.begin(outgoing, sorted(expected), Tag.PARTIALS), unpack)


class Sent(Generic[T]):
    """Messages under way; `end` returns the values from other ranks."""

    def __init__(self, pending: Pending, unpack: Callable[[Packed], T]) -> None:
        self._pending, self._unpack = pending, unpack

    def end(self) -> T:
        return self._unpack(self._pending.end())
