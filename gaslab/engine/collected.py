"""Collected messages: for each vertex a list of all messages since it last ran.

Replicas do not combine them, so every message is a record in its thread's outbox. When signals are delivered,
records go to the ranks of their masters and are sorted by vertex there; apply sorts each list in ascending
order. So it is the same on any ranks, threads and cuts.
"""

from __future__ import annotations

import numpy as np

from gaslab._kernels import frontier, inbox
from gaslab.engine.executor import Executor
from gaslab.engine.remote_signals import Outbox
from gaslab.engine.state import NEVER, RunState
from gaslab.parallel.comm import Pending
from gaslab.ragged import Rows
from gaslab.replication.exchange import Exchange, Packed


class Collected:
    """The collected messages of one program on one rank; the rows of its masters are the state's."""

    def __init__(self, executor: Executor, state: RunState, exchange: Exchange) -> None:
        self.executor, self.state, self.exchange = executor, state, exchange
        view, local, tree = executor.view, executor.local, state.tree
        self._located = local.located(exchange.comm, view.num_vertices)
        self._outbox = Outbox(tree, executor.threads)
        self._own = np.empty(0, self._outbox.dtype)
        assert self._outbox.dtype.fields is not None
        self._offset = self._outbox.dtype.fields["message"][1]
        view.locate, view.outbox = self._located, self._outbox
        self._owner = np.full(local.num_local, exchange.comm.rank, np.int32)  # of each replica here
        for p, bounds in enumerate(local.mirror_bounds.tolist()):
            self._owner[bounds[0] : bounds[-1]] = p
        # If more than signals decides which vertices run, messages may wait for some supersteps; messages of
        # an earlier phase wait until their vertex runs in this one.
        self._wait = tree.by_priority or not tree.by_signal or tree.in_phases

    def pack(self) -> Packed:
        """Return the records in the outboxes for other ranks' masters, by rank; others stay here."""
        records, comm = self._outbox.take(), self.exchange.comm
        if comm.size == 1:
            self._own = records
            return {}
        to = records["to"]
        place = self._located[np.where(to < 0, -1 - to, to)]
        owner = np.where(place < 0, -1 - place, self._owner[place])
        order = np.argsort(owner, kind="stable")
        ends = np.cumsum(np.bincount(owner, minlength=comm.size))
        parts = np.split(records[order], ends[:-1])
        self._own = parts[comm.rank]
        return {p: part.view(np.uint8) for p, part in enumerate(parts) if p != comm.rank}

    def send(self, packed: Packed) -> Pending:
        """Start sending the packed records."""
        return Pending() if self.exchange.comm.size == 1 else self.exchange.remote_signals(packed)

    def receive(self, received: Packed) -> None:
        """Signal the masters here for all records, and put the messages into their rows."""
        state, rows, dtype = self.state, self.state.message, self._outbox.dtype
        assert isinstance(rows, Rows)
        waiting = self._waiting(rows) if self._wait else self._own[:0]
        parts = [waiting, self._own, *(data.view(dtype) for _, data in sorted(received.items()))]
        records = np.concatenate(parts) if len(parts) > 2 or waiting.size else self._own
        self._own = self._own[:0]
        if not records.size:
            return
        targets, messages = np.empty(records.size, np.int32), np.empty(records.size, rows.data.dtype)
        longest = inbox.fill_rows(rows.place, self._located, records, self._offset, messages, targets)
        rows.hold(messages)
        self.show(longest)
        signalled = targets[waiting.size :]
        if state.priority is not None:
            np.minimum.at(state.priority, signalled, records["priority"][waiting.size :])
        frontier.signal(state.signalled, state.signal_blocks, signalled)

    def show(self, longest: int | None = None) -> None:
        """Give programs room to sort the state's messages; the longest list has this many."""
        rows = self.state.message
        assert isinstance(rows, Rows)
        self.executor.reserve(int(rows.lengths.max(initial=0)) if longest is None else longest)

    def _waiting(self, rows: Rows) -> np.ndarray:
        """Return as records the messages of vertices that have not run since; this empties their rows."""
        masters = np.flatnonzero(rows.lengths).astype(np.int32)
        lengths = rows.lengths[masters]
        records = np.zeros(int(lengths.sum()), self._outbox.dtype)
        records["to"] = np.repeat(self.executor.local.gid[masters], lengths)
        if self.state.priority is not None:
            records["priority"] = NEVER
        records["message"] = rows.values(masters)
        rows.lengths[masters] = 0
        return records

