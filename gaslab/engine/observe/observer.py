"""`Observer`: records a run for its timeline, trace, history and progress bar.

The engine names each stage of its work once, ``with observe.stage("visit", state):``. Without a timeline and
a trace this is one context that does nothing.
"""

from __future__ import annotations

import contextlib
import time
from contextlib import AbstractContextManager
from typing import Any, cast

import numpy as np

from gaslab.engine.engines import Async
from gaslab.engine.observe.progress import LINES, Supersteps, Sweeps, Updates
from gaslab.engine.observe.timed import MachineSpans, TimedComm, TimedTransport
from gaslab.engine.observe.timeline import Timeline, is_drawn
from gaslab.engine.observe.trace import VertexTrace
from gaslab.engine.options import Options
from gaslab.engine.state import RunState
from gaslab.parallel.comm import Comm
from gaslab.parallel.transport import Transport

_TITLES = {  # stage -> what a timeline calls it, where that is another word
    "enter": "enter phase",
    "init_message": "init with messages",
    "gather_apply": "gather and apply",
    "spread": "sync mirrors",
    "scatter": "scatter and signal",
}


_UNSEEN = contextlib.nullcontext()


class _Stage:
    """A stage that is drawn on the timeline, with its traced vertices recorded before and after."""

    def __init__(self, observe: Observer, name: str, state: RunState | None, ids: np.ndarray | None) -> None:
        self._timeline, self._name = observe.timeline, name
        self._trace, self._state, self._ids = observe.trace, state, ids

    def __enter__(self) -> None:
        if self._trace is not None and self._state is not None:
            self._trace.begin(self._name, self._state, self._ids)
        self._began = time.perf_counter()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            return
        if self._timeline is not None:
            title = _TITLES.get(self._name, self._name.removeprefix("gl_"))
            self._timeline.span(title, self._began, time.perf_counter())
        if self._trace is not None and self._state is not None:
            self._trace.end(self._name, self._state)


class Observer:
    """The observers of one run on one rank.

    Attributes
    ----------
    timeline : Timeline or None
    trace : VertexTrace or None
    history : list of dict
        The rows until now.
    initial_aggregates : dict
        The values of the aggregators after init, by name.
    """

    def __init__(
        self, comm: Comm, options: Options, timeline: Timeline | None = None, trace: VertexTrace | None = None
    ) -> None:
        self.timeline, self.trace = timeline, trace
        self.history: list[dict[str, Any]] = []
        self.initial_aggregates: dict[str, Any] = {}
        self._shows = bool(options.progress) and comm.rank == 0
        self._options = options
        self._bar: Supersteps | None = None
        self._began = 0.0

    # ---- supersteps --------------------------------------------------------------------------------

    def stage(
        self, name: str, state: RunState | None = None, ids: np.ndarray | None = None
    ) -> AbstractContextManager[None]:
        """Return the context of a stage, which may change the masters *ids* (None: all) of *state*."""
        if self.timeline is None and self.trace is None:
            return _UNSEEN
        return _Stage(self, name, state, ids)

    def begin(self, superstep: int) -> None:
        """Note that a superstep begins."""
        if self.timeline is not None:
            self._began = time.perf_counter()
            self.timeline.paused = not is_drawn(superstep)

    def end(self, superstep: int, active: int) -> None:
        """Note that the superstep has ended; *active* vertices ran."""
        if self.timeline is not None:
            title = "superstep" if active else "end"
            self.timeline.span(title, self._began, time.perf_counter(), superstep=superstep, active=active)
            self.timeline.paused = False

    def kernel_steps(self, began: float, ran: list[dict[str, Any]]) -> None:
        """Note the supersteps of these rows, run in a kernel."""
        if self.timeline is None:
            return
        for row in ran:
            superstep, ended = row["superstep"], began + row["seconds"]
            if is_drawn(superstep):
                self.timeline.span("superstep", began, ended, superstep=superstep, active=row["active"])
            began = ended

    def row(self, row: dict[str, Any]) -> None:
        """Add a row to the history."""
        self.rows([row])

    def rows(self, rows: list[dict[str, Any]]) -> None:
        """Add rows to the history."""
        self.history += rows
        if self._bar is not None:
            for row in rows:
                self._bar.see(row)

    # ---- what travels ------------------------------------------------------------------------------

    def comm(self, comm: Comm) -> Comm:
        """Return the communicator for the exchange: with a timeline, one that is drawn."""
        return comm if self.timeline is None else cast("Comm", TimedComm(comm, self.timeline))

    def transport(self, transport: Transport) -> Transport:
        """Return the transport between ranks that do not wait for each other."""
        if self.timeline is None:
            return transport
        return cast("Transport", TimedTransport(transport, self.timeline))

    def machine(self) -> MachineSpans | None:
        """Return the observer of the machine of a run without supersteps."""
        return None if self.timeline is None else MachineSpans(self.timeline)

    # ---- the run -----------------------------------------------------------------------------------

    def prepared(self, began: float, now: float) -> None:
        """Note that the program is ready to run."""
        if self.timeline is not None:
            self.timeline.span("prepare", began, now)

    def write(self) -> None:
        """Write the timeline, if one was asked for (collective)."""
        if self.timeline is not None:
            self.timeline.write()

    def __enter__(self) -> Observer:
        if self._shows:
            self._bar = self._new_bar()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def _new_bar(self) -> Supersteps:
        resumed = len(self.history)
        progress, lines = self._options.progress, self._options.progress == LINES
        if isinstance(engine := self._options.engine, Async):
            return Updates(engine.max_updates, lines)
        if isinstance(progress, Sweeps):
            return Supersteps(
                progress.most, "sweeps", progress.lines, say=progress.say, each=progress.supersteps,
                done=progress.done + resumed // progress.supersteps,
            )  # fmt: skip
        say = progress if callable(progress) else None
        return Supersteps(self._options.max_iterations, lines=lines, say=say, done=resumed)
