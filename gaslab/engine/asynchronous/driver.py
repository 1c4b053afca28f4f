"""The asynchronous engine: no supersteps; a vertex runs when its turn in the scheduler comes.

`Machine` (a kernel) is the state machine of this rank's vertices. The driver sends and receives its batches
of records, exchanges counts with the other ranks, and detects the end of the run.

For a checkpoint the ranks begin no vertex until the same test says that none is in flight.

**The end.** A rank is passive when no vertex waits in its scheduler and it has no record to send; only an
arriving batch can make it active. The ranks exchange tables of counts repeatedly and work on in between. Take
two tables, the second begun after the first was complete. If all ranks were passive in both, and the batches
received by the first are as many as those sent by the second, then no batch was under way at the end of the
first and no rank has worked since (Mattern: Algorithms for distributed termination detection, 1987: the
four-counter method).
"""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np

from gaslab.checkpoint.requests import NOTHING, STOP
from gaslab.checkpoint.snapshot import Snapshot
from gaslab.engine.asynchronous.counts import Counts
from gaslab.engine.asynchronous.make_machine import make_machine
from gaslab.engine.asynchronous.meter import Course, Meter
from gaslab.engine.asynchronous.quota import Quota
from gaslab.engine.bound_program import BoundProgram
from gaslab.engine.engines import Async
from gaslab.engine.observe.observer import Observer
from gaslab.engine.observe.recorded import Recorded
from gaslab.engine.state_arrays import layout_of, restore, snapshot_of
from gaslab.engine.stopping import ask
from gaslab.engine.sync.step import Synchronous
from gaslab.parallel import heartbeat
from gaslab.parallel.backoff import Backoff
from gaslab.replication.transfer import to_mirrors

BATCH = 32768  # bytes for one peer after which they are sent, whatever else there is to do
BUDGET, ALONE = 512, 1 << 16  # vertices begun between two looks at the transport, at least; on one rank
EDGES = 8192  # of these vertices: more would run on old values, fewer are not worth the look
INTERVAL = 0.1  # seconds between two values of the aggregators
PAUSE = 0.01  # seconds between two rounds of counts while there is work, where every rank has a core


class SavesDrained(Protocol):
    """Saves a run at moments at which no vertex is in flight."""

    def here(self, updates: int) -> tuple[int, bool]:
        """Return what this rank wants, and whether it still writes a checkpoint."""

    def agreed(self, wanted: int, writing: bool) -> int:
        """Take in what any rank wants and whether any writes; return what is wanted (collective)."""

    def save(self, updates: int, stop: bool) -> None:
        """Save the run; with *stop* end it (collective)."""


class AsynchronousDriver:
    """Runs one program without supersteps, from the state that `Parts.initialise` leaves."""

    def __init__(
        self,
        engine: Synchronous,
        bound: BoundProgram,
        asked: Async,
        seed: int,
        observe: Observer,
        watch: bool = False,
    ) -> None:
        self.engine, self.state, self.tree = engine, engine.state, engine.tree
        self.program, self.graph = bound.program, bound.graph
        self.asked, self.seed = asked, seed
        self.comm = self.graph.comm
        self.transport = observe.transport(self.comm.transport())
        self.converged, self.updates = False, 0
        self._serialisable = asked.consistency == "serialisable"
        self._observe, self._watch = observe, watch
        self._aggregated = 0.0
        self._closing = self._late = False
        self.saver: SavesDrained | None = None  # where the run is checkpointed
        self._draining = NOTHING  # what the ranks want at the next moment at which no vertex is in flight
        self._before = 0  # updates of the run that this one resumes
        self._resumed: Snapshot | None = None
        self._recorded = Recorded(observe, bound.tree, self.state.aggregate_row)
        self._cancellation = engine.executor.cancellation
        self._done = getattr(type(self.program), "done", None)
        self._backoff = Backoff(self.comm.local_ranks)
        self._course = Course(time.perf_counter())
        self._quota = Quota(asked.max_updates, self.comm.rank, self.comm.size)
        self._pause = PAUSE * self._backoff.oversubscription
        written = bound.columns.written
        self._written = [k for k, field in enumerate(self.tree.edge_fields) if field.name in written]
        self.machine: Any = None
        self.meter = Meter(observe.machine())

    @property
    def bytes_posted(self) -> int:
        """Bytes that this rank sent in batches."""
        return self.transport.bytes_sent

    def figures(self) -> dict[str, Any]:
        """Return the consistency and the scheduler, and each rank's figures (collective)."""
        ranks = self.comm.allgather(self.meter.figures(self.machine, self.transport))
        asked = self.asked
        found = {"consistency": asked.consistency, "scheduler": asked.scheduler, "ranks": ranks}
        return {"asynchronous": found}

    # ---- the story ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """Run init, and put the vertices of the initial frontier into the scheduler (collective)."""
        if self._resumed is None:
            self.engine.parts.initialise()
            self._recorded.begin(self.state.aggregate_row)
            initial_frontier = self.engine.parts.initial_frontier()
            self.engine.executor.raise_any()  # of start
        else:
            initial_frontier = self.state.frontier
        self.engine.executor.moment = "turn"
        view, scheduler = self.engine.view, self.asked.scheduler
        view.vertex_next = self.state.next_fields = self.state.fields
        if self._serialisable and view.out_begin is None:
            view.out_begin, view.out_neighbor, view.out_slot = self.graph.local.out()
        assert scheduler is not None
        self.machine = make_machine(
            self.graph.local, view, self.state, self.engine.executor.library, scheduler,
            self._serialisable, self.seed, self.engine.cache, self._watch,
        )  # fmt: skip
        if self._resumed is not None:
            self._set_machine(self._resumed)
        in_rounds = scheduler != "priority"
        if self._serialisable and self.comm.size > 1 and in_rounds:
            self.machine.take_turns(self.comm.allreduce(self.machine.rivals(), "max")[self.comm.rank])
        self.machine.schedule(initial_frontier)
        self.meter.begin(self.machine, time.perf_counter())

    def run(self) -> None:
        """Run until no vertex is signalled; tables of counts make the rows of the history."""
        self.begin()
        before: Counts | None = None
        asked_at = 0.0
        budget = self._budget()
        while True:
            received = self.transport.collect()
            allowed = min(budget, self._quota.left(self.machine)) if self._quota.limited else budget
            begun = self.machine.step(received, allowed, self._closing or self._draining != NOTHING)
            busy, now = bool(begun or received), time.perf_counter()
            self.meter.look(self.machine, busy, now)
            self._post(everything=self.machine.urgent or not busy)
            table = self.transport.table() if self.transport.table_begun else None
            if table is not None:
                counts, aggregates = Counts.of_table(table)
                heartbeat.note(f"the updates after {self.updates}")
                try:
                    self._take_in(counts, aggregates)
                except Exception:  # a fault or done()'s own, on all ranks at this count
                    self.transport.close()
                    raise
                over = counts.end(before)
                if over and (self._closing or not counts.waiting.any()):
                    break
                if self._course.is_due(now):
                    self._show(counts, now)
                before = counts
                if over:
                    self._save()
                    before = None
            idle = not (busy or self.machine.in_flight or self.machine.held_up)  # else the end is not near
            if not self.transport.table_begun and (idle or now - asked_at > self._pause):
                asked_at = now
                aggregates = self._aggregate(now)
                self.transport.begin_table(self._counts(now).row(aggregates))
            if busy or table is not None:
                self._backoff.reset()
            elif self.comm.size > 1:
                self._wait(now + PAUSE)
                self.meter.look(self.machine, False, time.perf_counter())
        self.meter.end(self.machine)
        self.transport.close()
        self._conclude(counts)
        self._show(counts, now)

    def _wait(self, until: float) -> None:
        """Wait for a batch or a table, at most so long."""
        while not self.transport.ready() and time.perf_counter() < until:
            self._backoff.wait()

    def _budget(self) -> int:
        """Return how many vertices to begin between two looks at the transport."""
        if self.comm.size == 1:
            return ALONE
        if self._serialisable or self.asked.scheduler == "priority":
            return BUDGET  # a vertex takes longer, or others wait for the least priority
        degree = self.graph.num_edges / max(self.graph.num_vertices, 1)
        return int(max(BUDGET, EDGES / max(degree, 1)))

    def _post(self, everything: bool) -> None:
        for peer in range(self.comm.size):
            waiting = self.machine.out.pending(peer)
            if waiting >= BATCH or (everything and waiting):
                self.transport.post(peer, self.machine.out.take(peer))

    # ---- checkpoints -------------------------------------------------------------------------------

    def _save(self) -> None:
        """Save the state, now that no vertex is in flight and no record under way (collective)."""
        assert self.saver is not None
        wanted, self._draining = self._draining, NOTHING
        self.saver.save(self.updates, wanted == STOP)

    def snapshot(self) -> Snapshot:
        """Return this rank's part of the state (collective)."""
        local, state, masters = self.graph.local, self.state, self.graph.local.num_masters
        state.frontier = np.flatnonzero(self.machine.waiting_masters()).astype(np.int32)
        state.updates = self.updates
        found = snapshot_of(state, local, self._written, self._recorded)
        found.own = {}  # totals that are cached are gathered again
        found.vertices["rounds"] = self.machine.rounds[:masters].copy()
        return found

    def layout(self, phase: int) -> Snapshot:
        """Return what a snapshot has, without rows of vertices; a run has one phase."""
        found = layout_of([self.state][phase], self._written, self._recorded)
        found.own = {}
        found.vertices["rounds"] = np.zeros(0, np.uint32)
        return found

    def resume(self, found: Snapshot) -> None:
        """Take over the state of a snapshot, before the run begins (collective)."""
        restore(self.state, found, self.graph.local, self._written)
        self.engine.resume()
        self._recorded.take(found, self.engine.executor.aggregates)
        self.updates = self._before = self.state.updates
        self._course = Course(time.perf_counter(), self._before)
        if (most := self.asked.max_updates) is not None:
            self._quota = Quota(max(most - self._before, 0), self.comm.rank, self.comm.size)
        self._resumed = found

    def _set_machine(self, found: Snapshot) -> None:
        """Let the machine, which is new, know what a snapshot has of it (collective)."""
        masters = self.graph.local.num_masters
        if self.state.priority is not None:
            self.state.priority[:masters] = found.vertices["priority"]  # which its buckets have cleared
        rounds = to_mirrors(self.comm, self.graph.local, found.vertices["rounds"])
        self.machine.rounds[: rounds.size] = rounds

    # ---- agreeing ----------------------------------------------------------------------------------

    def _counts(self, now: float) -> Counts:
        machine = self.machine
        waiting = machine.waiting
        self.meter.count(waiting)
        left = any(machine.out.pending(peer) for peer in range(self.comm.size))
        held = self._closing or self._draining != NOTHING
        wanted, writing = (NOTHING, False) if self.saver is None else self.saver.here(self.updates)
        counts = Counts(
            sent=self.transport.sent,
            received=self.transport.received,
            passive=(held or not waiting) and not left,
            in_flight=machine.in_flight,
            waiting=waiting,
            updates=machine.updates,
            lock_waits=machine.lock_counts()[1],
            bytes_sent=self.transport.bytes_sent,
            offered=self._quota.offer(machine),
            late=self._cancellation.late,
            wanted=wanted,
            writing=writing,
        )
        executor = self.engine.executor
        if (failed := machine.failure()) is not None:
            executor.failed(failed, int(machine.rounds[failed[1]]), self.graph.local.gid, "gl_apply")
        if executor.fault is not None:  # of the machine, or of an aggregator
            counts.code, counts.gid, counts.site, counts.turn = executor.fault
        return counts

    def _aggregate(self, now: float) -> np.ndarray:
        """Return this rank's part of the aggregates, recomputed once an interval."""
        executor = self.engine.executor
        if not len(executor.aggregates):
            return np.empty(0, np.int64)
        if now - self._aggregated > INTERVAL and not self._cancellation.stop[0]:
            self._aggregated = now
            self.engine.parts.aggregation.compute()
        return executor.aggregates.collected(executor.merged)

    def _take_in(self, counts: Counts, aggregates: np.ndarray) -> None:
        """Use a table of all ranks' rows: raise a fault, combine the aggregates, find whether to stop."""
        self.engine.executor.raise_faults(counts.faults())
        self.updates = self._before + int(counts.updates.sum())
        self._quota.share(counts)
        if self.saver is not None:
            wanted = self.saver.agreed(int(counts.wanted.max()), bool(counts.writing.any()))
            self._draining = max(self._draining, wanted)
        if len(self.engine.executor.aggregates):
            self.engine.parts.aggregation.combine(aggregates)
            if (done := self._done) is not None:
                question = (done, self.program, self.graph, self.state, self._cancellation)
                if self.comm.on_root(lambda: ask(*question)):
                    self._closing, self.converged = True, True
        most = self.asked.max_updates
        self._late = bool(counts.late.any())
        if self._late or (most is not None and self.updates >= most):
            self._closing = True

    def _show(self, counts: Counts, now: float) -> None:
        self._observe.row(self._row(counts, now))
        if self.saver is not None:
            self._recorded.note(self.state.aggregate_row)

    def _row(self, counts: Counts, now: float) -> dict[str, Any]:
        return self._course.row(counts, now) | self.state.named_aggregates()

    def _conclude(self, counts: Counts) -> None:
        waiting = int(counts.waiting.sum())
        if self._late and waiting and not self.converged:
            raise self._cancellation.expired(self.tree.name, f"after {self.updates} updates")
        self.converged = self.converged or not waiting
        self.state.updates = self.updates
        most = int(self.machine.rounds[: self.graph.local.num_masters].max(initial=0))
        self.state.superstep = int(self.comm.allreduce(most, "max"))
        if len(self.engine.executor.aggregates):
            self.engine.parts.aggregation.compute()
            self.engine.parts.aggregation.agree()
