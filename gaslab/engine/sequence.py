"""The phases of one run, in turn; a program that names no phases is a sequence of one."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab.compiler import Compiled
from gaslab.ending import Ending
from gaslab.engine import lists
from gaslab.engine.chance import Starts
from gaslab.engine.phases import Phases
from gaslab.engine.stale import Stale
from gaslab.engine.start import Beginners
from gaslab.engine.state import RunState, make_view
from gaslab.engine.stopping import Done, Stopping, ask
from gaslab.engine.sync import Synchronous
from gaslab.engine.trace import Watch, Watched
from gaslab.engine.visit import Visits
from gaslab.exchange import Exchange
from gaslab.phases import phases_of

if TYPE_CHECKING:
    from gaslab.graph import Graph
    from gaslab.program import VertexProgram


def done_functions(program: VertexProgram) -> tuple[list[Done | None], Done | None]:
    """Return each phase's own ``done``, and that of a program of several, which may begin them anew."""
    cls = type(program)
    done: Done | None = getattr(cls, "done", None)
    if not phases_of(cls):
        return [done], None
    return [phase.methods(cls).get("done") for phase in phases_of(cls)], done


class Sequence:
    """Runs every phase until it is over; then, if the program has a ``done`` that says no, again."""

    def __init__(
        self,
        compiled: tuple[Compiled, ...],
        program: VertexProgram,
        graph: Graph,
        limit: int | None,
        ending: Ending,
    ) -> None:
        self.ending = ending
        self.program, self.graph, self.compiled = program, graph, compiled
        self.converged = False
        dones, self._done = done_functions(program)
        self._stopping = [
            Stopping(c.tree, done, program, graph, limit, ending)
            for c, done in zip(compiled, dones, strict=True)
        ]
        self._engines: list[Synchronous] = []
        self.state: RunState
        self.bytes_posted = 0  # beside those that the communicator counts

    def prepare(
        self, params: list[Any], edges: list[np.ndarray], given: dict[str, Any], starts: Starts,
        threads: int, columns: dict[str, np.ndarray], watch: Watch | None = None,
        staleness: int | None = None,
    ) -> None:  # fmt: skip
        """Make ready to run: bind every phase to the graph and to one state.

        With a *staleness* the ranks need not step together.
        """
        exchange = Exchange(self.graph.local, self.graph.comm)
        rooms = lists.rooms(tuple(one.tree for one in self.compiled), self.graph, given)
        for one in self.compiled:
            first = self._engines[0].state if self._engines else None
            state = RunState.create(one.tree, self.graph, edges, starts, first, rooms)
            bits = 0
            if first is None:
                state.give(columns)
                bits = state.give(given)
            view = make_view(state, self.graph, params, starts.seed)
            view.given = bits
            phases, visits = Phases(one, view, self.graph, threads, self.ending), None
            phases.aggregates.finalize(self.program)
            if "visit" in one.tree.functions:
                ways = type(self.program).visit_ways
                visits = Visits(phases, state, exchange, self.graph, ways)
            if staleness is not None:
                self._engines.append(Stale(staleness, phases, state, exchange))
                continue
            rebuild = type(self.program).cache_rebuild
            parts = (phases, state, exchange, visits, rebuild)
            self._engines.append(Watched(watch, *parts) if watch else Synchronous(*parts))
        self.state = self._engines[0].state

    def begin_with(self, beginners: Beginners | None) -> None:
        """Let these vertices be superstep 0, with what they find as messages."""
        if beginners is not None:
            local, state = self.graph.local, self.state
            ids, messages = beginners.local(local.gid[: local.num_masters])
            self._engines[0].begin_with(ids)
            if messages is not None and state.message is not None:
                state.message[ids] = messages

    @property
    def engines(self) -> list[Synchronous]:
        """Those of the phases, in turn."""
        return self._engines

    @property
    def first(self) -> Synchronous:
        """The engine of the first phase, before anything has run."""
        return self._engines[0]

    @property
    def stopping(self) -> Stopping:
        """When the first phase ends."""
        return self._stopping[0]

    def gathers(self) -> dict[str, int] | None:
        """Return how many totals of replicas were gathered, and how many kept, where gathers are cached."""
        caches = [engine.cache for engine in self._engines if engine.cache is not None]
        if not caches:
            return None
        mine = np.array([[cache.gathered, cache.kept] for cache in caches]).sum(axis=0)
        done, skipped = self.graph.comm.allreduce(mine).tolist()
        return {"done": done, "skipped": skipped}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Run the whole; give a row of the history after each superstep."""
        current = self._engines[0]
        current.initialise()
        while True:
            began = self.state.superstep
            for engine, stopping in zip(self._engines, self._stopping, strict=True):
                if engine is not current or self.state.superstep:
                    current.finish()
                    engine.enter(current)
                    current, self.state = engine, engine.state
                limited = yield from self._phase(engine, stopping)
                if limited and not engine.is_quiet():
                    self.converged = not stopping.ends_itself
                    current.finish()
                    return
            if self._done is None or self.state.superstep == began or self._says_done(self._done):
                self.converged = True
                current.finish()
                return

    def _phase(self, engine: Synchronous, stopping: Stopping) -> Generator[dict[str, Any], None, bool]:
        """Run one phase to its end; return whether the limit came first."""
        state, comm, ran = engine.state, self.graph.comm, 0
        while stopping.works and not stopping.done(engine.phases, state, ran):
            if stopping.limited(state):
                return True
            began = state.superstep
            for k, (active, seconds) in enumerate(engine.run_ahead(stopping.unasked(state, ran))):
                ran += 1
                yield self._row(engine, began + k, active, seconds, 0)
            if state.superstep > began:
                continue
            start, sent = time.perf_counter(), comm.bytes_sent
            frontier = engine.step()
            if frontier is None:
                break
            ran += 1
            seconds = time.perf_counter() - start
            yield self._row(engine, began, frontier.total, seconds, comm.bytes_sent - sent)
        return False

    def _row(
        self, engine: Synchronous, superstep: int, active: int, seconds: float, sent: int
    ) -> dict[str, Any]:
        row = {
            "superstep": superstep,
            "active": active,
            "seconds": seconds,
            "bytes_sent": sent,
            "delivery": engine.delivery.last if engine.delivery else None,
            **dict(zip((a.name for a in engine.tree.aggregators), engine.state.aggregates, strict=True)),
        }
        if len(self._engines) > 1:
            row["phase"] = engine.tree.phase
        return row

    def _says_done(self, done: Done) -> bool:
        tree = self.compiled[0].tree
        return self.graph.comm.on_root(
            lambda: ask(done, self.program, self.graph, tree, self.state, self.ending)
        )
