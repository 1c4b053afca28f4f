"""Delivers signals and messages: scatter pushed by the frontier or pulled by its targets.

With push every active vertex loops over its scatter edges. With pull every target loops over its in-edges;
that needs no atomic operation, and ends once no further edge can change the result. Both run the same
scatter. Each rank chooses by the size of its frontier. With an exact combiner both deliver the same messages;
with others (a sum of floats) the choice depends only on graph, ranks and program.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab._kernels import frontier as frontier_kernel
from gaslab.compiler.tree import RecordCombiner
from gaslab.engine.collected import Collected
from gaslab.engine.edge_sums import EdgeSums
from gaslab.engine.executor import Executor
from gaslab.engine.mirrors import across
from gaslab.engine.remote_signals import RemoteSignals
from gaslab.engine.state import RunState
from gaslab.engine.storage import identity
from gaslab.parallel.comm import Pending
from gaslab.program import ALL, IN, OUT
from gaslab.ragged import Rows
from gaslab.replication.exchange import Exchange, Packed, Signals

# Pull if the frontier's edges, times this, are more than the rank's. A signal ends a pulled row at its first
# hit; a message needs every edge, at about three fifths of the cost of a pushed one.
PULL_SIGNALS, PULL_MESSAGES = 16.0, 1.6
ALWAYS_PUSHED = 1024  # edges of a frontier that is always pushed, in a kernel with its superstep
FIRST_LOOK = 1 << 13  # vertices of a frontier whose edges are counted to see whether it is large


class Delivery:
    """Scatters from frontiers and sends the signals to the masters."""

    def __init__(self, executor: Executor, state: RunState, exchange: Exchange) -> None:
        self.executor, self.state, self.exchange = executor, state, exchange
        self.mask: int = executor.view.scatter_edges
        tree = state.tree
        collects = tree.collects_messages
        self.nothing: Any = None if tree.message is None or collects else identity(tree.message)
        # Atomic addition of floats would make the sum depend on timing.
        inexact = tree.message is not None and not (collects or tree.message.operation.exact)
        self._unordered = inexact and tree.message is not None and tree.message.type == "float"
        self._unordered |= isinstance(tree.message, RecordCombiner)  # whose parts are not written at once
        self._inexact = self._unordered or bool(tree.contributed("nbr"))  # several sources give to one target
        self._inexact |= tree.posts  # two threads may post to one total
        # Pull may look at an edge only from its other end, and at no edge twice.
        self._pull_allowed = tree.can_pull
        factor = PULL_SIGNALS if tree.message is None else PULL_MESSAGES
        itself = any(signal.target == "v" for signal in tree.signals("scatter"))
        self.role = across(self.mask) | (self.mask if itself else 0)  # of those that may hold signals
        if collects and all(signal.sends for signal in tree.signals()):
            self.role = 0  # all are in outboxes
        elif tree.signals_by_id():
            self.role = ALL
        self.remote: RemoteSignals | Collected | None = None
        if collects:
            self.remote = Collected(executor, state, exchange)
        elif tree.signals_by_id():
            self.remote = RemoteSignals(executor, state, exchange)
        self._combined = None if collects else state.message  # sent by mirrors with their signals
        self._applied = tree.message is not None and tree.signals_by_id("apply")
        if self._applied and self._unordered:
            executor.alone = frozenset(["gl_apply", "gl_gather_apply"])
        local = executor.local
        self._edges = local.in_neighbor.size * (2 if self.mask == ALL else 1)
        self.most_pushed = 4 * self._edges  # edges of a frontier, at most
        if self._pull_allowed:
            self.most_pushed = max(int(self._edges / factor), ALWAYS_PUSHED)
        self.push_threads = 1 if self._inexact else executor.threads
        self._edge_sums = EdgeSums(executor, tree) if tree.contributed_edges() else None
        self.last = ""  # the direction of the last scatter on this rank

    def scatter(self, ids: np.ndarray | None) -> None:
        """Run scatter for the active replicas *ids* (ascending; None is every replica)."""
        executor = self.executor
        large = self._edges > self.most_pushed if ids is None else self._is_large(ids)
        pull = self._pull_allowed and large
        self.last = "pull" if pull else "push"
        if pull:
            if ids is not None:
                bits = np.packbits(self.state.active, bitorder="little")
                self.state.active_bits.view(np.uint8)[: bits.size] = bits
            executor.over_locals("gl_scatter_pull", across(self.mask))
            return
        threads = self.push_threads
        if ids is None:
            executor.over_locals("gl_scatter_push", self.mask, threads)
        else:
            executor.over("gl_scatter_push", ids, self.mask, threads=threads)
        if self._edge_sums is not None:
            self._edge_sums.apply_deltas(ids)

    def deliver(self) -> np.ndarray:
        """Send all signals to the masters; return those signalled here, ascending, with flags cleared."""
        state = self.state
        sent = self.exchange.collect(
            self.role, state.signalled, state.signal_blocks, self._combined, self.nothing, state.priority
        )
        by_id = Pending() if self.remote is None else self.remote.send(self.remote.pack())
        self.receive(sent.end(), by_id.end())
        return self.taken()

    def pack(self) -> tuple[Packed, Packed]:
        """Return the signals of mirrors, and remote signals, by the master's rank."""
        state = self.state
        signals = self.exchange.pack_collect(
            self.role, state.signalled, state.signal_blocks, self._combined, self.nothing, state.priority
        )
        return signals, {} if self.remote is None else self.remote.pack()

    def receive(self, signals: list[Signals], by_id: Packed) -> None:
        """Signal the masters here for signals received from other ranks."""
        state = self.state
        for masters, messages, priorities in signals:
            if priorities is not None:
                assert state.priority is not None
                state.priority[masters] = np.minimum(state.priority[masters], priorities)
            if messages is None:
                frontier_kernel.signal(state.signalled, state.signal_blocks, masters)
            else:
                self.executor.over("gl_combine_messages", masters, incoming=messages)
        if self.remote is not None:
            self.remote.receive(by_id)

    def taken(self) -> np.ndarray:
        """Return this rank's signalled masters, ascending, with their flags cleared."""
        state = self.state
        return frontier_kernel.take_signalled(  # type: ignore[no-any-return]
            state.signalled, state.signal_blocks, 0, self.executor.local.num_masters, self.executor.threads
        )

    def forget_messages(self, ids: np.ndarray | None) -> None:
        """Reset to the identity the messages that apply at the masters *ids* (None: all) has read.

        Messages that apply sent, to its own vertex or to others, now count like scatter's.
        """
        message, following = self.state.message, self.state.message_next
        if message is None:
            return
        which = slice(self.executor.local.num_masters) if ids is None else ids
        if isinstance(message, Rows):
            message.lengths[which] = 0
        elif following is message:
            message[which] = self.nothing
        elif self._applied:
            assert following is not None
            message[which] = self.nothing
            state = self.state
            sent = frontier_kernel.take_signalled(state.signalled, state.signal_blocks, 0, message.size)
            incoming = following[sent]
            following[sent] = self.nothing
            self.executor.over("gl_combine_messages", sent, incoming=incoming)  # which signals again
        else:
            assert following is not None
            message[which], following[which] = following[which], self.nothing

    def _is_large(self, ids: np.ndarray) -> bool:
        """Return whether the frontier *ids*, flagged active, has more edges than a push may."""
        view, edges, first, step = self.executor.view, 0, 0, FIRST_LOOK
        rows = [begin for bit, begin in ((IN, view.in_begin), (OUT, view.out_begin)) if self.mask & bit]
        while first < ids.size and edges <= self.most_pushed:  # hubs, if any, come first: a few often decide
            some = ids[first : first + step]
            edges += sum(frontier_kernel.count_edges(some, begin, self.executor.threads) for begin in rows)
            first, step = first + step, 4 * step
        return edges > self.most_pushed
