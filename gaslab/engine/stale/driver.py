"""Runs a program under bounded staleness to its end, which all ranks find at the same superstep.

Every rank has every other's row of each superstep, though later than its own, and looks at the tables in
order. What a table says is the same everywhere; so a rank that finds in table T that the run is over knows,
as do all others before they could pass it, that the last superstep is T + staleness.

**Nothing is left.** What a vertex does in superstep a makes another run in superstep a + 1 + 2 * staleness at
the latest: its values are scattered at a mirror at most `staleness` later, and the signals reach their
masters at most `staleness` after that. So where nobody ran in 2 * staleness + 1 tables in a row nobody ever
will.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab.engine.activation import Frontier
from gaslab.engine.stale.step import Stale
from gaslab.engine.stopping import Stopping, ask

if TYPE_CHECKING:
    from gaslab.engine.observe.observer import Observer
    from gaslab.graph.graph import Graph
    from gaslab.program import VertexProgram

_ROW = ("code", "gid", "site", "superstep", "active", "late", "oldest", "age", "reads", "waited")


def _here(action: Callable[[], list[Any]]) -> list[Any]:
    """Return what *action* gives on this rank; on every rank it is the same."""
    return action()


class StaleDriver:
    """One run on one rank."""

    def __init__(
        self, engine: Stale, stopping: Stopping, program: VertexProgram, graph: Graph, observe: Observer
    ) -> None:
        self._observe = observe
        self.engine, self.state, self.stopping = engine, engine.state, stopping
        self.program, self.graph = program, graph
        self.transport = observe.transport(graph.comm.transport())
        self.converged = False
        self.bytes_posted = 0
        self._figures: dict[str, Any] = {"bound": engine.staleness, "max": 0, "mean": 0.0}
        self._done = getattr(type(program), "done", None)
        self._waited = 0.0  # before this superstep
        self._next = 0  # the table that is looked at next
        self._last: int | None = None  # the last superstep, once it is known
        self._quiet = 0  # tables in a row in which nobody ran
        self._ended = 0  # supersteps, without those at the end in which nobody ran
        self._updates, self._age, self._reads = 0, 0, 0
        self._rows: list[dict[str, Any]] = []
        self._turned = (time.perf_counter(), 0)  # when this rank made its last row, and its bytes then
        engine.executor.aggregates.ask = _here  # each rank when it has the table

    def figures(self) -> dict[str, Any]:
        """Return how old the values were that the ranks read, and how long each rank waited."""
        return {"staleness": self._figures}

    # ---- the story ---------------------------------------------------------------------------------

    def run(self) -> None:
        """Run the whole; each superstep makes a row of the history, as soon as all ranks' are known."""
        engine, limit = self.engine, self.stopping.limit
        if not self.stopping.works:
            engine.parts.initialise()
            self.converged = True
            return
        engine.begin(self.transport, self._own_row, self._look)
        if "start" in engine.tree.functions and not engine.tree.by_signal and not engine.rest():
            self._last = -1  # as with supersteps: where no vertex starts, none runs
        while self._last is None or self.state.superstep <= self._last:
            if limit is not None and self.state.superstep >= limit:
                break
            superstep = self.state.superstep
            self._observe.begin(superstep)
            self._observe.end(superstep, engine.step().total)
            self._show_rows()
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
        state.updates = self._updates
        if engine.staleness and len(engine.executor.aggregates):
            engine.parts.mirrors.refresh(all_fields=True)
            engine.parts.aggregation.compute()
            engine.parts.aggregation.agree()
        waited = self.graph.comm.allgather(round(engine.streams.waited, 6))
        self._figures |= {"mean": self._age / max(self._reads, 1), "waited": waited}

    def _show_rows(self) -> None:
        """Put the known rows into the history; rows of supersteps without vertices wait for one with some."""
        ready = max(len(self._rows) - self._quiet, 0)
        for row in self._rows[:ready]:
            self._observe.row(row)
        self._rows = self._rows[ready:]

    # ---- the tables --------------------------------------------------------------------------------

    def _own_row(self, frontier: Frontier) -> np.ndarray:
        """Return this rank's row of the superstep that it is in."""
        engine, late = self.engine, self.stopping.ending.late
        ran = engine.local.num_masters if frontier.ids is None else frontier.ids.size
        waited, self._waited = engine.streams.waited - self._waited, engine.streams.waited
        fault = engine.executor.fault or (0, 0, 0, 0)
        return np.array([*fault, ran, late, *engine.ages, round(1e6 * waited)], np.int64)

    def _look(self) -> None:
        """Look at all tables that are complete, in their order."""
        tables = self.engine.tables
        while len(tables.get(self._next, ())) == self.graph.comm.size:
            of_rank = tables.pop(self._next)
            table = np.stack([of_rank[p] for p in range(self.graph.comm.size)])
            try:
                self._take_in(self._next, table)
            except Exception:  # raised on every rank, at this table
                self.engine.streams.close()
                raise
            self._next += 1

    def _take_in(self, superstep: int, table: np.ndarray) -> None:
        """Take in what all ranks say of one superstep: faults, aggregates, whether it is the end."""
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
            ending = self.stopping.ending if self.graph.comm.size == 1 else None
            over = active and self._done is not None and ask(
                self._done, self.program, self.graph, engine.tree, state, ending
            )  # fmt: skip
        finally:
            state.superstep = now
        if active:
            self._ended = superstep + 1
            self._updates += active
        if self._last is None and (over or self._quiet > 2 * engine.staleness):
            self._last = superstep + engine.staleness
        if of["late"].any() and self._last is None:
            after = f"after {superstep + 1} supersteps"
            raise self.stopping.ending.expired(engine.tree.name, after)
        self._rows.append(self._row(superstep, active, of))

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
            **dict(zip((a.name for a in engine.tree.aggregators), self.state.aggregates, strict=True)),
        }
