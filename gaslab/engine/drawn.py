"""Draws runs on a `Timeline`: their objects' methods, each in a coat that looks at the clock.

Nothing here is in the way of a run without a timeline.
"""

from __future__ import annotations

import time
from collections import abc
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gaslab.comm import Comm, Pending
from gaslab.engine.asynchronous import Asynchronous
from gaslab.engine.bounded import Bounded
from gaslab.engine.meter import Meter
from gaslab.engine.sequence import Sequence
from gaslab.engine.sync import Frontier, Synchronous
from gaslab.engine.timeline import COUNTS, MAIL, Timeline, is_drawn
from gaslab.mail import Mail

SHORTEST, SHARE = 1e-4, 1 / 5000  # seconds of a span of the machine; of the time that it has run
COUNTED = 1e-3  # seconds at least between two looks at how many wait, which takes a walk over all masters
_PARTS = {
    "initialise": "init",
    "enter": "enter phase",
    "_activate": "activate",
    "_receive": "init with messages",
    "_visit": "visit",
    "_gather_apply": "gather and apply",
    "_spread": "sync mirrors",
    "_deliver": "scatter and signal",
}
_STAGES = {"_post_values": "send values", "_post_sums": "send sums", "_take": "wait and take in"}
_AGGREGATES = {"aggregate": "aggregate", "_aggregate_apart": "aggregate"}


def draw(runner: Sequence | Asynchronous | Bounded, timeline: Timeline) -> None:
    """Have all that this rank does drawn, from before it begins."""
    if isinstance(runner, Asynchronous):
        draw_supersteps([runner.engine], timeline)  # init, aggregates
        runner.mail = DrawnMail(runner.mail, timeline)  # type: ignore[assignment]
        runner.meter = DrawnMeter(timeline)
    elif isinstance(runner, Bounded):
        draw_supersteps([runner.engine], timeline)
        for name, title in _STAGES.items():
            setattr(runner.engine, name, _timed(getattr(runner.engine, name), title, timeline))
        runner.mail = DrawnMail(runner.mail, timeline)  # type: ignore[assignment]
    else:
        draw_supersteps(runner.engines, timeline)


# ---- supersteps ------------------------------------------------------------------------------------


def draw_supersteps(engines: Iterable[Synchronous], timeline: Timeline) -> None:
    """Have the supersteps drawn, their parts, and where they wait for other ranks."""
    for engine in engines:
        for name, title in (_PARTS | (_AGGREGATES if engine.tree.aggregators else {})).items():
            setattr(engine, name, _timed(getattr(engine, name), title, timeline))
        _draw_phases(engine.phases, timeline)
        if not isinstance(engine.exchange.comm, DrawnComm):  # phases have one exchange
            engine.exchange.comm = DrawnComm(engine.exchange.comm, timeline)  # type: ignore[assignment]
        _draw_steps(engine, timeline)


def _timed(method: Callable[..., Any], title: str, timeline: Timeline) -> Callable[..., Any]:
    def timed(*arguments: Any) -> Any:
        began = time.perf_counter()
        given = method(*arguments)
        timeline.span(title, began, time.perf_counter())
        return given

    return timed


def _draw_phases(phases: Any, timeline: Timeline) -> None:
    call = phases._call

    def timed(view: Any, phase: str, *rest: Any) -> None:
        began = time.perf_counter()
        call(view, phase, *rest)
        timeline.span(phase.removeprefix("gl_"), began, time.perf_counter())

    phases._call = timed
    phases.agree = _timed(phases.agree, "agree", timeline)


def _draw_steps(engine: Synchronous, timeline: Timeline) -> None:
    step, run_ahead, state = engine.step, engine.run_ahead, engine.state

    def drawn_step() -> Frontier | None:
        superstep, began = state.superstep, time.perf_counter()
        timeline.paused = not is_drawn(superstep)
        frontier = step()
        active = 0 if frontier is None else frontier.total
        title = "superstep" if active else "end"
        timeline.span(title, began, time.perf_counter(), superstep=superstep, active=active)
        timeline.paused = False
        return frontier

    def drawn_run_ahead(most: int) -> list[tuple[int, float]]:
        superstep, at = state.superstep, time.perf_counter()
        ran = run_ahead(most)
        for k, (active, seconds) in enumerate(ran):
            if is_drawn(superstep + k):
                timeline.span("superstep", at, at + seconds, superstep=superstep + k, active=active)
            at += seconds
        return ran

    engine.step, engine.run_ahead = drawn_step, drawn_run_ahead  # type: ignore[method-assign]


class DrawnComm:
    """A `Comm` whose messages are drawn; all else is that of the other."""

    def __init__(self, comm: Comm, timeline: Timeline) -> None:
        self._comm, self._timeline = comm, timeline

    def __getattr__(self, name: str) -> Any:
        return getattr(self._comm, name)

    def begin(self, outgoing: dict[int, np.ndarray], sources: abc.Sequence[int], tag: int = 1) -> Pending:
        """Begin to send, and to wait."""
        began = time.perf_counter()
        pending = self._comm.begin(outgoing, sources, tag)
        if outgoing:
            total = int(sum(data.size for data in outgoing.values()))
            self._timeline.span("send", began, time.perf_counter(), to=sorted(outgoing), bytes=total)
        return DrawnPending(pending, self._timeline)


class DrawnPending(Pending):
    """Messages under way, the wait for which is drawn."""

    def __init__(self, pending: Pending, timeline: Timeline) -> None:
        self._pending, self._timeline = pending, timeline

    def end(self) -> dict[int, np.ndarray]:
        began = time.perf_counter()
        came = self._pending.end()
        if came:
            total = int(sum(data.size for data in came.values()))
            self._timeline.span("wait", began, time.perf_counter(), bytes=total)
        return came


# ---- without supersteps ----------------------------------------------------------------------------


class DrawnMeter(Meter):
    """A meter whose looks are drawn: stretches of work and idleness, and what waits."""

    def __init__(self, timeline: Timeline) -> None:
        super().__init__()
        self._timeline = timeline
        self._busy = True
        self._since = self._counted = 0.0
        self._updates = 0

    def begin(self, machine: Any, now: float) -> None:
        self._since = now
        super().begin(machine, now)
        self._count(machine, now)

    def look(self, machine: Any, busy: bool, now: float) -> None:
        """Take in a step; a change that lasts no longer than a line on the screen is not one."""
        before, least = self.seen, max(SHORTEST, SHARE * (now - self.began))
        super().look(machine, busy, now)
        if busy != self._busy and before - self._since >= least:
            self._close(machine, before)
            self._busy = busy
        if now - self._counted >= max(COUNTED, least):
            self._count(machine, now)

    def end(self, machine: Any) -> None:
        self._close(machine, self.seen)
        self._count(machine, self.seen)

    def _close(self, machine: Any, now: float) -> None:
        updates = machine.updates
        name = "run vertices" if self._busy else "idle"
        self._timeline.span(name, self._since, now, updates=updates - self._updates)
        self._since, self._updates = now, updates

    def _count(self, machine: Any, now: float) -> None:
        self._counted, waiting = now, machine.waiting
        self.count(waiting)
        self._timeline.counter("scheduler depth", now, waiting=waiting)
        self._timeline.counter("in flight", now, masters=machine.in_flight)


class DrawnMail:
    """A `Mail` whose batches and counts are drawn, all of the first and ever fewer of the later."""

    def __init__(self, mail: Mail, timeline: Timeline) -> None:
        self._mail, self._timeline = mail, timeline
        self._posted, self._came = [0] * mail.size, [0] * mail.size  # batches, by peer
        self._rounds, self._asked_at = 0, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mail, name)

    def post(self, peer: int, data: np.ndarray) -> None:
        """Begin to send a batch."""
        k, began = self._posted[peer], time.perf_counter()
        self._posted[peer] += 1
        self._mail.post(peer, data)
        if is_drawn(k):
            self._timeline.span(f"send to {peer}", began, time.perf_counter(), MAIL, bytes=int(data.size))
            self._timeline.arrow(True, f"{self._mail.rank}>{peer}:{k}", began)

    def collect(self) -> list[tuple[int, np.ndarray]]:
        """Return the batches that have come."""
        began = time.perf_counter()
        found = self._mail.collect()
        if found:
            now = time.perf_counter()
            drawn = []
            for source, _ in found:
                if is_drawn(self._came[source]):
                    drawn.append(f"{source}>{self._mail.rank}:{self._came[source]}")
                self._came[source] += 1
            if drawn:
                total = sum(data.size for _, data in found)
                self._timeline.span("receive", began, now, MAIL, batches=len(found), bytes=int(total))
            for name in drawn:
                self._timeline.arrow(False, name, now - 1e-9)
        return found

    def ask(self, row: np.ndarray) -> None:
        """Begin to tell all ranks *row*."""
        self._asked_at = time.perf_counter()
        self._mail.ask(row)

    def told(self) -> np.ndarray | None:
        """Return the table of all ranks' rows once it is there."""
        table = self._mail.told()
        if table is not None:
            self._rounds += 1
            if is_drawn(self._rounds):
                self._timeline.span("count", self._asked_at, time.perf_counter(), COUNTS)
        return table
