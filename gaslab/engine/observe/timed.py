"""Draws on a `Timeline` the messages between ranks, and the machine of a run without supersteps."""

from __future__ import annotations

import time
from collections import abc
from typing import Any

import numpy as np

from gaslab._kernels.machine import Machine
from gaslab.engine.observe.timeline import COUNTS, TRANSPORT, Timeline, is_drawn
from gaslab.parallel.comm import Comm, Pending
from gaslab.parallel.transport import Transport

SHORTEST, SHARE = 1e-4, 1 / 5000  # seconds of a span of the machine; share of its running time
COUNTED = 1e-3  # minimum seconds between two counts of waiting vertices, each a walk over all masters


LATE = 1e-4  # seconds from sending to receiving from which they are drawn


class TimedComm:
    """A `Comm` whose messages are drawn on the timeline."""

    def __init__(self, comm: Comm, timeline: Timeline) -> None:
        self._comm, self._timeline = comm, timeline

    def __getattr__(self, name: str) -> Any:
        return getattr(self._comm, name)

    def begin(self, outgoing: dict[int, np.ndarray], sources: abc.Sequence[int], tag: int = 1) -> Pending:
        """Start sending and waiting."""
        began = time.perf_counter()
        pending = self._comm.begin(outgoing, sources, tag)
        if outgoing:
            total = int(sum(data.size for data in outgoing.values()))
            self._timeline.span("send", began, time.perf_counter(), to=sorted(outgoing), bytes=total)
        return TimedPending(pending, self._timeline)


class TimedPending(Pending):
    """Messages under way. The waits for due messages and for late peers are drawn."""

    def __init__(self, pending: Pending, timeline: Timeline) -> None:
        self._pending, self._timeline = pending, timeline

    def receive(self) -> dict[int, np.ndarray]:
        began = time.perf_counter()
        received = self._pending.receive()
        if received:
            total = int(sum(data.size for data in received.values()))
            self._timeline.span("wait", began, time.perf_counter(), bytes=total)
        return received

    def finish(self) -> None:
        began = time.perf_counter()
        self._pending.finish()
        ended = time.perf_counter()
        if ended - began > LATE:
            self._timeline.span("wait", began, ended)


class MachineSpans:
    """Draws the machine of a run without supersteps: spans of work and idleness, curves of its queue."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._busy = True
        self._began = self._since = self._counted = 0.0
        self._updates = 0

    def begin(self, machine: Machine, now: float, waiting: int) -> None:
        """Draw how many vertices wait before the first step."""
        self._began = self._since = now
        self._count(machine, now, waiting)

    def look(self, machine: Machine, busy: bool, before: float, now: float) -> int | None:
        """Note a step from *before* to *now*; return how many vertices wait, if the step counted them.

        A span too short to see on screen is joined with the previous one.
        """
        least = max(SHORTEST, SHARE * (now - self._began))
        if busy != self._busy and before - self._since >= least:
            self._close(machine, before)
            self._busy = busy
        if now - self._counted < max(COUNTED, least):
            return None
        return self._count(machine, now, machine.waiting)

    def end(self, machine: Machine, now: float) -> int:
        """Draw the last span; return how many vertices wait."""
        self._close(machine, now)
        return self._count(machine, now, machine.waiting)

    def _close(self, machine: Machine, now: float) -> None:
        updates = machine.updates
        name = "run vertices" if self._busy else "idle"
        self._timeline.span(name, self._since, now, updates=updates - self._updates)
        self._since, self._updates = now, updates

    def _count(self, machine: Machine, now: float, waiting: int) -> int:
        self._counted = now
        self._timeline.counter("scheduler depth", now, waiting=waiting)
        self._timeline.counter("in flight", now, masters=machine.in_flight)
        return waiting


class TimedTransport:
    """A `Transport` whose batches and counts are drawn: all at first, then fewer and fewer."""

    def __init__(self, transport: Transport, timeline: Timeline) -> None:
        self._transport, self._timeline = transport, timeline
        self._posted, self._came = [0] * transport.size, [0] * transport.size  # batches, by peer
        self._rounds, self._asked_at = 0, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def post(self, peer: int, data: np.ndarray) -> None:
        """Start sending a batch."""
        k, began = self._posted[peer], time.perf_counter()
        self._posted[peer] += 1
        self._transport.post(peer, data)
        if is_drawn(k):
            ended = time.perf_counter()
            self._timeline.span(f"send to {peer}", began, ended, TRANSPORT, bytes=int(data.size))
            self._timeline.arrow(True, f"{self._transport.rank}>{peer}:{k}", began)

    def collect(self) -> list[tuple[int, np.ndarray]]:
        """Return the received batches."""
        began = time.perf_counter()
        found = self._transport.collect()
        if found:
            now = time.perf_counter()
            drawn = []
            for source, _ in found:
                if is_drawn(self._came[source]):
                    drawn.append(f"{source}>{self._transport.rank}:{self._came[source]}")
                self._came[source] += 1
            if drawn:
                total = sum(data.size for _, data in found)
                self._timeline.span("receive", began, now, TRANSPORT, batches=len(found), bytes=int(total))
            for name in drawn:
                self._timeline.arrow(False, name, now - 1e-9)
        return found

    def begin_table(self, row: np.ndarray) -> None:
        """Start sending *row* to all ranks."""
        self._asked_at = time.perf_counter()
        self._transport.begin_table(row)

    def table(self) -> np.ndarray | None:
        """Return the table of all ranks' rows once it is complete."""
        table = self._transport.table()
        if table is not None:
            self._rounds += 1
            if is_drawn(self._rounds):
                self._timeline.span("count", self._asked_at, time.perf_counter(), COUNTS)
        return table
