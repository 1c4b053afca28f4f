"""Signals by global id: to a replica here as to a neighbour, else as a remote signal to the master's rank.

A signal to a replica here is combined at once, so a mirror combines messages before sending. Only signals to
vertices without a replica here wait in the threads' outboxes until the superstep's signals are sent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab._kernels import frontier
from gaslab._kernels.outbox import Outboxes
from gaslab.compiler.python import lists, records
from gaslab.compiler.tree import RecordCombiner, Tree
from gaslab.engine.executor import Executor
from gaslab.engine.state import RunState
from gaslab.engine.storage import identity, total_dtype
from gaslab.parallel.comm import Pending
from gaslab.replication.exchange import Exchange, Packed


def remote_signal_dtype(tree: Tree) -> np.dtype:
    """Return the dtype of a signal: that of the C struct ``gl_remote_signal``."""
    members: list[tuple[str, Any]] = [("to", np.int64)]
    members += [("priority", np.int64)] if tree.by_priority else []
    members += [("message", total_dtype(tree.message))] if tree.message is not None else []
    return np.dtype(members, align=True)


class Outbox:
    """The remote signals of all threads of one rank; the view's ``outbox``."""

    def __init__(self, tree: Tree, threads: int) -> None:
        self.dtype = remote_signal_dtype(tree)
        self._combiner, collects = tree.message, tree.collects_messages
        self._nothing = None if tree.message is None or collects else identity(tree.message)
        self._boxes = Outboxes(threads, self.dtype.itemsize)

    @property
    def table(self) -> np.ndarray:
        """The ``gl_outbox`` of every thread."""
        return self._boxes.table  # type: ignore[no-any-return]

    def add(self, to: int, priority: int | None, message: Any) -> None:
        """Add the signal of an interpreted program; without a *message* it has the identity.

        If messages are collected, a signal without one goes to ``-1 - to``.
        """
        signal = np.zeros(1, self.dtype)
        combiner = self._combiner
        collects = combiner is not None and combiner.collects
        signal["to"] = -1 - to if collects and message is None else to
        if priority is not None:
            signal["priority"] = priority
        if self._nothing is not None:
            signal["message"] = self._nothing
        if isinstance(combiner, RecordCombiner) and message is not None:
            records.write(combiner, signal["message"], 0, message)
        elif combiner is not None and message is not None:
            signal["message"] = lists.stored(message, combiner.storage)
        self._boxes.add(signal)

    def take(self) -> np.ndarray:
        """Return all remote signals, and empty the outbox."""
        return np.asarray(self._boxes.take()).view(self.dtype)


class RemoteSignals:
    """Signals by global id for one program, on one rank."""

    def __init__(self, executor: Executor, state: RunState, exchange: Exchange) -> None:
        self.executor, self.state, self.exchange = executor, state, exchange
        view = executor.view
        self._located = executor.local.located(exchange.comm, view.num_vertices)
        self._outbox = Outbox(state.tree, executor.threads) if exchange.comm.size > 1 else None
        view.locate, view.outbox = self._located, self._outbox

    def pack(self) -> Packed:
        """Return the remote signals in the outboxes, by the master's rank."""
        if self._outbox is None:
            return {}
        signals = self._outbox.take()
        owner = -1 - self._located[signals["to"]]
        order = np.argsort(owner, kind="stable")
        ends = np.cumsum(np.bincount(owner, minlength=self.exchange.comm.size))
        parts = np.split(signals[order], ends[:-1])
        return {p: part.view(np.uint8) for p, part in enumerate(parts) if p != self.exchange.comm.rank}

    def send(self, packed: Packed) -> Pending:
        """Start sending the packed remote signals."""
        return Pending() if self._outbox is None else self.exchange.remote_signals(packed)

    def receive(self, received: Packed) -> None:
        """Signal the masters here for received remote signals, in rank order."""
        state, executor = self.state, self.executor
        for _, data in sorted(received.items()):
            assert self._outbox is not None
            signals = data.view(self._outbox.dtype)
            masters = self._located[signals["to"]]
            if state.priority is not None:
                np.minimum.at(state.priority, masters, signals["priority"])
            if state.message is None:
                frontier.signal(state.signalled, state.signal_blocks, masters)
            elif signals.size:  # several may be for one vertex, so one thread combines them
                incoming = np.ascontiguousarray(signals["message"])
                executor.over("gl_combine_messages", masters, threads=1, incoming=incoming)
