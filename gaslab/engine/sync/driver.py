"""`SyncDriver`: runs the phases of a program in turn; a program without `phases` is one phase."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gaslab.checkpoint.snapshot import Snapshot
from gaslab.engine.bound_program import BoundProgram
from gaslab.engine.observe.observer import Observer
from gaslab.engine.observe.recorded import Recorded
from gaslab.engine.options import Options
from gaslab.engine.state_arrays import layout_of, restore, snapshot_of
from gaslab.engine.stopping import Stopping, ask
from gaslab.engine.sync.step import Synchronous
from gaslab.parallel import heartbeat


class SyncDriver:
    """Runs each phase until it ends; then all phases again, if a ``done`` or `repeat_phases` asks for it.

    The state holds the position of the run: the phase, how many supersteps of it have run in a row, the
    superstep at which the first phase last began, and how often all phases have run.
    """

    def __init__(
        self, engines: list[Synchronous], bound: BoundProgram, options: Options, observe: Observer
    ) -> None:
        self._graph, self._bound, self._options, self._observe = bound.graph, bound, options, observe
        self._engines = engines
        self.converged = self._over = self._begun = False
        self.bytes_posted = 0  # beside those that the communicator counts
        self.state = engines[0].state
        self.between: list[Callable[[], None]] = []  # called, on every rank, between two supersteps
        self._recorded = Recorded(observe, bound.tree, self.state.aggregate_row)

    def figures(self) -> dict[str, Any]:
        """Return how many totals of replicas were gathered and how many kept, where gathers are cached."""
        caches = [engine.state.cached for engine in self._engines if engine.state.cached is not None]
        if not caches:
            return {}
        mine = np.array([[cached.gathered, cached.kept] for cached in caches]).sum(axis=0)
        done, skipped = self._graph.comm.allreduce(mine).tolist()
        return {"gathers": {"done": done, "skipped": skipped}}

    # ---- the run -----------------------------------------------------------------------------------

    def run(self) -> None:
        """Run the program to its end; each superstep makes a row of the history."""
        if not self._begun:
            self._engines[0].parts.initialise()
            self._recorded.begin(self.state.aggregate_row)
            self._begun = True
            self.converged = self._over = self._bound.repeats == 0
        while not self._over:
            heartbeat.note(f"superstep {self.state.superstep}")
            self._advance()
            if not self._over:
                for action in self.between:
                    action()
        self._engine.finish()

    def snapshot(self) -> Snapshot:
        """Return this rank's part of the state, between two supersteps (collective)."""
        self._engine.finish()
        return snapshot_of(self.state, self._graph.local, self._written(), self._recorded)

    def layout(self, phase: int) -> Snapshot:
        """Return what a snapshot in that phase has, without rows of vertices and edges."""
        return layout_of(self._engines[phase].state, self._written(), self._recorded)

    def resume(self, found: Snapshot) -> None:
        """Take over the state of a snapshot, before the run begins (collective)."""
        self.state = self._engines[found.numbers["phase"]].state
        restore(self.state, found, self._graph.local, self._written())
        for engine in self._engines:
            if engine.visits is not None:
                engine.visits.resume()
        self._engine.resume()
        self._recorded.take(found, self._engine.executor.aggregates)
        self._begun = True

    def _written(self) -> list[int]:
        """Return the edge fields that the program writes."""
        fields = self._bound.tree.edge_fields
        return [k for k, field in enumerate(fields) if field.name in self._bound.columns.written]

    @property
    def _engine(self) -> Synchronous:
        return self._engines[self.state.phase]

    def _advance(self) -> None:
        """Run one superstep, or several in a kernel, or enter the next phase, or end the run."""
        engine, stopping, state = self._engine, self._bound.stopping[self.state.phase], self.state
        if not stopping.works or stopping.done(engine.executor.raise_any, state, state.ran):
            self._next_phase()
        elif stopping.limited(state):
            if engine.parts.activation.next_total():
                engine.parts.aggregation.conclude()
                self.converged, self._over = not stopping.ends_itself, True
            else:
                self._next_phase()
        elif not self._run_in_kernel(engine, stopping) and not self._run_one(engine):
            self._next_phase()

    def _run_in_kernel(self, engine: Synchronous, stopping: Stopping) -> bool:
        """Run in a kernel the supersteps that need no decision, if there are any."""
        state, began = self.state, time.perf_counter()
        ran = engine.run_in_kernel(stopping.unasked(state, state.ran))
        if not ran:
            return False
        self._observe.kernel_steps(began, ran)
        if more := self._more(engine):
            for row in ran:
                row.update(more)
        self._show(ran)
        state.ran += len(ran)
        return True

    def _run_one(self, engine: Synchronous) -> bool:
        """Run a superstep; return whether any vertex was active."""
        state, comm, observe = self.state, self._graph.comm, self._observe
        superstep, began, sent = state.superstep, time.perf_counter(), comm.bytes_sent
        observe.begin(superstep)
        frontier = engine.step()
        observe.end(superstep, 0 if frontier is None else frontier.total)
        if frontier is None:
            return False
        state.ran += 1
        seconds = time.perf_counter() - began
        row = {
            "superstep": superstep, "active": frontier.total, "seconds": seconds,
            "bytes_sent": comm.bytes_sent - sent,
            "delivery": engine.delivery.last if engine.delivery else None, **self._more(engine),
        }  # fmt: skip
        self._show([row])
        return True

    def _show(self, rows: list[dict[str, Any]]) -> None:
        self._observe.rows(rows)
        if self.between:
            self._recorded.note(self.state.aggregate_row, len(rows))

    def _next_phase(self) -> None:
        """Enter the next phase, or the first again; the run may end after the last."""
        before, following = self._engine, self.state.phase + 1
        before.parts.aggregation.conclude()
        if following == len(self._engines):
            self.state.cycles += 1
            if self._is_done():
                self.converged = self._over = True
                return
            following, before.state.cycle = 0, self.state.superstep
        before.finish()
        engine = self._engines[following]
        engine.enter(before)
        self.state = engine.state

    def _is_done(self) -> bool:
        """Return whether the run ends, after its last phase (collective)."""
        done, repeats, state = self._bound.done, self._bound.repeats, self.state
        last = 1 if done is None and repeats is None else repeats
        if state.superstep == state.cycle or state.cycles == last:
            return True
        if done is None:
            return False
        cancellation = self._options.cancellation
        return self._graph.comm.on_root(
            lambda: ask(done, self._bound.program, self._graph, state, cancellation)
        )

    def _more(self, engine: Synchronous) -> dict[str, Any]:
        """Return what a row of the history has beside the figures of its superstep."""
        more = engine.state.named_aggregates()
        if len(self._engines) > 1:
            more["phase"] = engine.tree.phase
        return more
