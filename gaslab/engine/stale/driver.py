"""Runs a program under bounded staleness to its end, at the same superstep on all ranks.

Each superstep has a table with one row of figures from every rank. A rank gets the rows of the others later
than it has its own, and reads the complete tables in order. A table is the same on all ranks; so if table T
says that the run ends, every rank finds it before it can pass superstep T + staleness, which is the last.

For a checkpoint all ranks wait for each other after superstep T + staleness, where table T says that any
wants one.

**An empty frontier.** A vertex that runs in superstep a can make others run until superstep
a + 1 + 2 * staleness: a mirror scatters its values at most `staleness` supersteps later, and the signals
reach their masters at most `staleness` after that. So if no vertex ran in 2 * staleness + 1 tables in a row,
none will.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from gaslab.checkpoint.requests import NOTHING
from gaslab.checkpoint.snapshot import Snapshot
from gaslab.engine.activation import Frontier
from gaslab.engine.bound_program import BoundProgram
from gaslab.engine.observe.observer import Observer
from gaslab.engine.observe.recorded import Recorded
from gaslab.engine.stale.step import Stale
from gaslab.engine.state_arrays import layout_of, restore, snapshot_of
from gaslab.engine.stopping import ask
from gaslab.parallel import heartbeat

_ROW = (
    "code", "gid", "site", "superstep", "active", "late", "oldest", "age", "reads", "waited", "wanted",
    "written",
)  # fmt: skip


def _here(action: Callable[[], list[Any]]) -> list[Any]:
    """Return the result of *action*, which is the same on every rank."""
    return action()


class SavesPaused(Protocol):
    """Saves a run at moments at which all ranks have finished the same superstep."""

    def here(self, superstep: int) -> tuple[int, bool]:
        """Return what this rank wants, and whether it has written its piece of a checkpoint."""

    def paused(self, superstep: int, wanted: int) -> None:
        """Conclude the checkpoint that was written, and begin the one that is wanted (collective)."""


class StaleDriver:
    """Runs one program under bounded staleness, on one rank."""

    def __init__(self, engine: Stale, bound: BoundProgram, observe: Observer) -> None:
        self._observe = observe
        self.engine, self.state, self.stopping = engine, engine.state, bound.stopping[0]
        self.program, self.graph = bound.program, bound.graph
        self.transport = observe.transport(self.graph.comm.transport())
        self.converged = False
        self.bytes_posted = 0
        self._figures: dict[str, Any] = {"bound": engine.staleness, "max": 0, "mean": 0.0}
        self._done = getattr(type(self.program), "done", None)
        self._waited = 0.0  # before this superstep
        self._next = 0  # the table that is looked at next
        self._last: int | None = None  # the last superstep, once it is known
        self._quiet = 0  # tables in a row in which no vertex ran
        self._ended = 0  # supersteps, without the last ones in which no vertex ran
        self._updates, self._age, self._reads = 0, 0, 0
        self._rows: list[tuple[dict[str, Any], np.ndarray]] = []  # with the aggregates
        self.saver: SavesPaused | None = None  # where the run is checkpointed
        self._pause: int | None = None  # the superstep after which all ranks wait for each other
        self._wanted = NOTHING  # there
        self._recorded = Recorded(observe, bound.tree, self.state.aggregate_row)
        written = bound.columns.written
        self._written = [k for k, field in enumerate(bound.tree.edge_fields) if field.name in written]
        self._turned = (time.perf_counter(), 0)  # when this rank made its last row, and its bytes then
        engine.executor.aggregates.ask = _here  # each rank when it has the table

    def figures(self) -> dict[str, Any]:
        """Return the age of the values that the ranks read, and how long each rank waited."""
        return {"staleness": self._figures}

    # ---- the story ---------------------------------------------------------------------------------

    def run(self) -> None:
        """Run the program to its end; each complete table makes a row of the history."""
        engine, limit = self.engine, self.stopping.limit
        if not self.stopping.works:
            engine.parts.initialise()
            engine.parts.aggregation.conclude()
            self.converged = True
            return
        resumed = engine.clock >= 0
        engine.begin(self.transport, self._own_row, self._look)
        if not resumed:
            self._recorded.begin(self.state.aggregate_row)
            if "start" in engine.tree.functions and not engine.tree.by_signal and not engine.rest():
                self._last = -1  # as with supersteps: where no vertex starts, none runs
        while self._last is None or self.state.superstep <= self._last:
            if limit is not None and self.state.superstep >= limit:
                break
            superstep = self.state.superstep
            heartbeat.note(f"superstep {superstep}")
            self._observe.begin(superstep)
            self._observe.end(superstep, engine.step().total)
            self._show_rows()
            if superstep == self._pause:
                self._save()
        engine.catch_up()
        self._look()
        self._show_rows()
        self._conclude()

    def _conclude(self) -> None:
        engine, state = self.engine, self.state
        engine.streams.close()
        self.bytes_posted = self.transport.bytes_sent
        engine.executor.raise_any()
        over = self._last is not None
        self.converged = over or not engine.rest() or not self.stopping.ends_itself
        state.superstep = self._ended if self._quiet else state.superstep
        engine.view.superstep = state.superstep
        state.updates = self._updates
        if engine.staleness and len(engine.executor.aggregates):
            engine.parts.mirrors.refresh(all_fields=True)
            engine.parts.aggregation.compute()
            engine.parts.aggregation.agree()
        else:
            engine.parts.aggregation.conclude()
        waited = self.graph.comm.allgather(round(engine.streams.waited, 6))
        self._figures |= {"mean": self._age / max(self._reads, 1), "waited": waited}

    def _show_rows(self) -> None:
        """Add complete rows to the history; rows of empty supersteps are held until a vertex runs again."""
        ready = max(len(self._rows) - self._quiet, 0)
        for row, aggregates in self._rows[:ready]:
            self._observe.row(row)
            if self.saver is not None:
                self._recorded.note(aggregates)
        self._rows = self._rows[ready:]

    # ---- checkpoints -------------------------------------------------------------------------------

    def _save(self) -> None:
        """Save the state after a superstep that all ranks have finished (collective)."""
        assert self.saver is not None
        self.engine.catch_up()
        self._look()
        self._show_rows()
        wanted, self._wanted, self._pause = self._wanted, NOTHING, None
        if self._last is None:
            self.engine.settle()
            self.saver.paused(self.state.superstep, wanted)

    def snapshot(self) -> Snapshot:
        """Return this rank's part of the state (collective)."""
        self.engine.executor.raise_any()
        self.state.updates = self._updates
        found = snapshot_of(self.state, self.graph.local, self._written, self._recorded)
        found.numbers["ended"] = self._ended
        return found

    def layout(self, phase: int) -> Snapshot:
        """Return what a snapshot has, without rows of vertices and edges; a run has one phase."""
        found = layout_of([self.state][phase], self._written, self._recorded)
        found.numbers["ended"] = 0
        return found

    def resume(self, found: Snapshot) -> None:
        """Take over the state of a snapshot, before the run begins (collective)."""
        restore(self.state, found, self.graph.local, self._written)
        self.engine.resume()
        self._recorded.take(found, self.engine.executor.aggregates)
        self._next, self._ended = self.state.superstep, found.numbers["ended"]
        self._updates = self.state.updates

    # ---- the tables --------------------------------------------------------------------------------

    def _own_row(self, frontier: Frontier) -> np.ndarray:
        """Return this rank's row of the present superstep."""
        engine, late = self.engine, self.stopping.cancellation.late
        ran = engine.local.num_masters if frontier.ids is None else frontier.ids.size
        waited, self._waited = engine.streams.waited - self._waited, engine.streams.waited
        fault = engine.executor.fault or (0, 0, 0, 0)
        saves = (NOTHING, False) if self.saver is None else self.saver.here(self.state.superstep + 1)
        return np.array([*fault, ran, late, *engine.ages, round(1e6 * waited), *saves], np.int64)

    def _look(self) -> None:
        """Read all complete tables, in order."""
        tables = self.engine.tables
        while len(tables.get(self._next, ())) == self.graph.comm.size:
            of_rank = tables.pop(self._next)
            table = np.stack([of_rank[p] for p in range(self.graph.comm.size)])
            try:
                self._take_in(self._next, table)
            except Exception:  # raised on every rank, at this table; one that is ahead may wait for this one
                self.engine.streams.give_up()
                raise
            self._next += 1

    def _take_in(self, superstep: int, table: np.ndarray) -> None:
        """Use the table of one superstep: raise faults, combine aggregates, find whether the run ends."""
        engine, state = self.engine, self.state
        of = dict(zip(_ROW, table.T, strict=False))
        engine.executor.raise_faults(table[:, :4])
        active = int(of["active"].sum())
        self._quiet = 0 if active else self._quiet + 1
        now, state.superstep = state.superstep, superstep
        try:
            if active and len(engine.executor.aggregates):
                engine.executor.aggregates.begin(superstep)  # which of them are due
                engine.parts.aggregation.combine(table[:, len(_ROW) :])
            state.superstep = superstep + 1
            cancellation = self.stopping.cancellation if self.graph.comm.size == 1 else None
            over = active and self._done is not None and ask(
                self._done, self.program, self.graph, state, cancellation
            )  # fmt: skip
        finally:
            state.superstep = now
        if active:
            self._ended = superstep + 1
            self._updates += active
        self._wanted = max(self._wanted, int(of["wanted"].max()))
        if self._pause is None and (self._wanted != NOTHING or of["written"].all()):
            self._pause = superstep + engine.staleness
        if self._last is None and (over or self._quiet > 2 * engine.staleness):
            self._last = superstep + engine.staleness
        if of["late"].any() and self._last is None:
            after = f"after {superstep + 1} supersteps"
            raise self.stopping.cancellation.expired(engine.tree.name, after)
        self._rows.append((self._row(superstep, active, of), state.aggregate_row.copy()))

    def _row(self, superstep: int, active: int, of: dict[str, np.ndarray]) -> dict[str, Any]:
        engine = self.engine
        now, before = (time.perf_counter(), self.transport.bytes_sent), self._turned
        self._turned = now
        age, reads = int(of["age"].sum()), int(of["reads"].sum())
        self._age, self._reads = self._age + age, self._reads + reads
        self._figures["max"] = max(self._figures["max"], int(of["oldest"].max()))
        return {
            "superstep": superstep,
            "active": active,
            "seconds": now[0] - before[0],
            "bytes_sent": now[1] - before[1],
            "delivery": engine.delivery.last if engine.delivery else None,
            "staleness_max": int(of["oldest"].max()),
            "staleness_mean": age / max(reads, 1),
            "waited": float(of["waited"].max()) / 1e6,
            **self.state.named_aggregates(),
        }
