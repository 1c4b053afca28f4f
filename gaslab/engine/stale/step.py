"""Supersteps under bounded staleness: a rank may read other ranks' values that are some supersteps old.

The parts are those of the synchronous engine, composed differently: no rank waits for the others' work of the
same superstep. A superstep is a sequence of stages. In each stage a rank posts one batch to every other rank,
and unpacks the batches received:

``VALUES`` masters -> mirrors: the values that apply changed, and which vertices scatter
``COUNTS`` this rank's part of the aggregates, and mirrors -> masters: additive contributions (only where
           gathers must see them)
``SHARES`` masters -> mirrors: additive fields (only of programs that have them)
``SUMS``   mirrors -> masters: signals, and the partial sums of the mirrors whose neighbours have changed

A stage ends when no value that the rank then reads is more than `staleness` supersteps older than in the
synchronous engine. docs/staleness.md says what a program may rely on, and why.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gaslab._kernels import frontier as frontier_kernel
from gaslab.compiler.tree import KeyedCombiner, RecordCombiner, Tree
from gaslab.engine.activation import Frontier
from gaslab.engine.gather import Gather
from gaslab.engine.gather_apply import GatherApply
from gaslab.engine.stale.kept_sums import KeptSums
from gaslab.engine.stale.streams import COUNTS, SHARES, SUMS, VALUES, Batch, Streams
from gaslab.engine.superstep_parts import Parts
from gaslab.engine.view import note_begin, set_by_source
from gaslab.errors import UsageError
from gaslab.parallel.backoff import Backoff
from gaslab.parallel.transport import Transport
from gaslab.replication.exchange import Packed, Section


def check_program(trees: list[Tree]) -> None:
    """Raise unless the program can run under bounded staleness."""
    tree = trees[0]
    combiners = [a.combiner for a in tree.aggregators]
    types = {p.combiner.type for c in combiners if isinstance(c, RecordCombiner) for p in c.parts}
    types |= {str(c.type) for c in combiners}
    reasons = {
        "it has several phases, which begin everywhere at once": len(trees) > 1,
        "it has `phases`; remove them and name its methods gather, apply, scatter": tree.in_phases,
        "priorities let one bucket run everywhere at once": tree.by_priority,
        "it posts changes of gathers, which would count twice": tree.posts,
        "fields that it looks up by id are asked for and answered within a superstep": bool(tree.lookups),
        "visit moves the right to write from rank to rank": "visit" in tree.functions,
        "init(v, message) changes what others gather in the same superstep; let apply take the message":
            "init_message" in tree.functions,
        "gather_edges is a method, and mirrors gather before they know its answer":
            "gather_edges" in tree.functions,
        "an aggregator after scatter would wait for the scatters of all ranks; leave out after=":
            tree.aggregates_after_scatter,
        "its gather sums by key": isinstance(tree.gather, KeyedCombiner),
        "its gather collects lists": tree.gather is not None and tree.gather.collects,
        "its messages are lists": tree.collects_messages,
        "an aggregator holds vertex ids, which all ranks together name": "id" in types,
    }  # fmt: skip
    for reason, holds in reasons.items():
        if holds:
            raise UsageError(f"{tree.name} cannot run with engine='stale': {reason}; use engine='sync'")


class Stale:
    """One program's supersteps on one rank, which read values at most *staleness* supersteps old.

    No rank waits for the same stage of another; see `begin` for the callbacks.
    """

    def __init__(self, parts: Parts, staleness: int) -> None:
        self.parts, self.staleness = parts, staleness
        self.executor, self.state, self.delivery = parts.executor, parts.state, parts.delivery
        self.exchange, self.additive = parts.exchange, parts.additive
        self.tree, self.view, self.local = parts.state.tree, parts.executor.view, parts.executor.local
        self.observe, common = parts.executor.observe, (parts.executor, parts.state, parts.exchange)
        gathers = self.tree.gather is not None and bool(self.view.gather_edges)
        self.sums = KeptSums(*common) if gathers else None
        gather = None if self.sums is None else Gather(*common, self.sums)
        self.gather_apply = GatherApply(
            parts.executor, parts.state, parts.aggregation, parts.delivery, gather, swaps=False
        )
        self.clock = -1  # the last superstep whose apply has run here
        local, tree = self.local, self.tree
        self._everyone = np.ones(local.num_local, np.uint8)
        self._unshared = np.zeros(local.num_local, np.uint8)  # masters whose additive fields are to be sent
        self._own: np.ndarray | None = None  # masters here that still have to scatter
        volatile = self.sums is not None and self.sums.volatile
        # If contributions or aggregates must be known before any vertex gathers, they go first.
        self._own_sweep = self.additive is not None or (volatile and bool(tree.aggregators))
        self._heard = np.full(local.size, -1, np.int64)  # the superstep of each rank's values here
        self._weights = local.mirror_bounds[:, 3] - local.mirror_bounds[:, 0]
        self._weights[local.rank] = 0
        self._receivers: dict[int, Callable[[dict[int, Batch]], None]] = {
            VALUES: self._receive_values, COUNTS: self._receive_counts,
            SHARES: self._receive_shares, SUMS: self._receive_sums,
        }  # fmt: skip
        self.streams: Streams
        self.tables: dict[int, dict[int, np.ndarray]] = {}  # superstep -> rank -> its row
        self.ages = np.zeros(3, np.int64)  # of values read in this superstep: maximum, sum, number
        self._own_row: Callable[[Frontier], np.ndarray]
        self._look_at_tables: Callable[[], None]

    # ---- a superstep -------------------------------------------------------------------------------

    def begin(
        self, transport: Transport, own_row: Callable[[Frontier], np.ndarray], look: Callable[[], None]
    ) -> None:
        """Run init, and send the first partial sums to the masters (collective).

        *own_row* returns this rank's figures of a superstep, which precede the aggregates in its row; *look*
        is called when a superstep's table may be complete. A state that was `resume`d stays as it is.
        """
        self._own_row, self._look_at_tables = own_row, look
        if self.clock < 0:
            self.parts.initialise()
        self.streams = Streams(transport, Backoff(self.exchange.comm.local_ranks))
        if self.sums is not None:
            self._post_sums({})
            self._take(SUMS)

    def resume(self) -> None:
        """Resume from a state that `state_arrays.restore` has set (collective)."""
        state, view = self.state, self.view
        state.aggregates = self.executor.aggregates.values(state.aggregate_row)
        view.superstep = state.superstep
        note_begin(view, state)
        set_by_source(view, state, self.local)
        self.parts.mirrors.refresh()
        self.clock = state.superstep - 1
        self._heard[:] = self.clock
        if self.sums is not None:
            self.sums.basis[:] = self.clock

    def settle(self) -> None:
        """Bring all signals and contributions to their masters, after `catch_up` (collective)."""
        state = self.state
        if self.delivery is not None:
            state.frontier = np.union1d(state.frontier, self.delivery.deliver()).astype(np.int32)
        if self.additive is not None:
            names, changed = self.additive.apply_deltas()
            flags = np.zeros(self.local.num_local, np.uint8)
            flags[changed] = 1
            self.parts.mirrors.send(names, flags)
        self._note_change(np.arange(self.local.num_local))

    def step(self) -> Frontier:
        """Run one superstep, whichever vertices are active."""
        state = self.state
        state.next_total = None
        with self.observe.stage("activate"):
            frontier = self._activate()
        if self.sums is not None:
            self._note_ages(self._heard, self._weights)
            self._note_ages(self.sums.basis, self.sums.weights)
        with self.observe.stage("gather_apply"):
            self.gather_apply.run(frontier)
        self.clock = state.superstep
        with self.observe.stage("send values"):
            self._post_values(frontier)
        self._take(VALUES)
        row = self._row(frontier)
        if self._own_sweep:
            self._post(COUNTS, [row, self._contributions()])
            self._take(COUNTS)
            if self.additive is not None:
                self._post(SHARES, [self._shares()])
                self._take(SHARES)
            self._look_at_tables()
        state.superstep = self.view.superstep = self.clock + 1
        with self.observe.stage("send sums"):
            self._post_sums({} if self._own_sweep else row)
        self._take(SUMS)
        if self.delivery is not None:
            state.frontier = self.delivery.taken()
        if not self._own_sweep:
            self._look_at_tables()
        return frontier

    def catch_up(self) -> None:
        """Unpack all posted batches, when every rank has reached this superstep."""
        self.streams.wait_for_all(SUMS)
        for stage, batches in self.streams.waves(None):
            self._receivers[stage](batches)
        self._count()

    def rest(self) -> int:
        """Return how many replicas, on all ranks, still have work (collective)."""
        waiting = np.count_nonzero(self.state.signalled) if self.tree.by_signal else 0
        self.state.next_total = None  # that is of the superstep before
        frontier = self._activate()
        mine = self.local.num_masters if frontier.ids is None else frontier.ids.size
        return int(self.exchange.comm.allreduce(waiting + mine))

    def _activate(self) -> Frontier:
        if not self.staleness and self.tree.in_apply:
            # whether the whole graph runs shows in the last bits of a sum
            return self.parts.activation.activate()
        ids = self.parts.activation.chosen()
        if ids is None:
            return Frontier(None, self.local.num_masters, True)
        frontier_kernel.set_flags(self.state.active, ids, 1)
        return Frontier(ids, ids.size, False)

    # ---- stages ------------------------------------------------------------------------------------

    def _post(self, stage: int, parts: list[dict[int, np.ndarray]]) -> None:
        basis = self.clock
        if stage == SUMS and self.sums is not None:
            known = self._heard[self._weights > 0]
            basis = min(basis, int(known.min())) if known.size else basis
        self.streams.post(stage, self.clock, basis, parts)

    def _take(self, stage: int) -> None:
        """Wait for batches of this stage that are new enough; unpack all batches received."""
        with self.observe.stage("wait and take in"):
            self.streams.wait(stage, max(self.clock - self.staleness, -1))
            for k, batches in self.streams.waves(stage):
                self._receivers[k](batches)
            if self._own is not None:  # no batch was received
                self._scatter_with(np.empty(0, np.int32))
            if stage != VALUES:
                self._count()

    def _note_ages(self, known: np.ndarray, weights: np.ndarray) -> None:
        """Note the age of the values about to be read."""
        old = np.maximum(self.clock - known, 0)
        read = weights > 0
        self.ages[0] = max(self.ages[0], old[read].max(initial=0))
        self.ages[1:] += [(old * weights).sum(), weights.sum()]

    def _row(self, frontier: Frontier) -> dict[int, np.ndarray]:
        """Return this rank's row of the superstep, for every other rank, and keep it."""
        # First: their faults are in the same row.
        aggregates = self.executor.aggregates.collected(self.executor.merged)
        row = np.concatenate([self._own_row(frontier), aggregates])
        self.ages[:] = 0
        self._enter_row(self.clock, self.local.rank, row)
        return dict.fromkeys(self.streams.peers, row)

    def _enter_row(self, superstep: int, rank: int, row: np.ndarray) -> None:
        self.tables.setdefault(superstep, {})[rank] = row

    # ---- values and scatter ------------------------------------------------------------------------

    def _sections(self) -> tuple[list[Section], int]:
        """Return the sections of a batch of values, and the role of the mirrors that scatter."""
        sections, role = self.parts.mirrors.applied()
        if role and all(s.role != role for s in sections):
            sections.append(Section(role, ()))
        return sections, role

    def _note_change(self, replicas: np.ndarray) -> None:
        if self.sums is not None:
            self.sums.changed[replicas] = 1

    def _post_values(self, frontier: Frontier) -> None:
        ids, active = frontier.ids, self.state.active
        self._own = np.arange(self.local.num_masters, dtype=np.int32) if ids is None else ids
        self._note_change(self._own)
        self.parts.mirrors.choose_directions(frontier)
        sections, _ = self._sections()
        packed = self.exchange.pack_spread(sections, self._everyone if ids is None else active, ids)
        self._post(VALUES, [packed])
        active[: self.local.num_masters] = 0

    def _receive_values(self, batches: dict[int, Batch]) -> None:
        sections, role = self._sections()
        named = self.exchange.unpack_spread(sections, _part(batches, 0))
        for p, batch in batches.items():
            self._heard[p] = batch.superstep
        for mirrors in named.values():
            self._note_change(mirrors)
        self._scatter_with(named[role] if role else np.empty(0, np.int32))

    def _scatter_with(self, mirrors: np.ndarray) -> None:
        """Scatter from *mirrors*, and from masters here that have yet to scatter."""
        ids = mirrors
        if self._own is not None:
            self.parts.aggregation.run_own_sweeps()
            ids, self._own = np.concatenate([self._own, mirrors]), None
        if self.delivery is None or "scatter" not in self.tree.functions or not ids.size:
            return
        self._note_ages(self._heard, self._weights)
        everyone = ids.size == self.local.num_local
        self.view.all_active = int(everyone)
        frontier_kernel.set_flags(self.state.active, ids, 1)
        self.delivery.scatter(None if everyone else ids)
        frontier_kernel.set_flags(self.state.active, ids, 0)

    # ---- contributions to additive fields ----------------------------------------------------------

    def _contributions(self) -> Packed:
        """Return the contributions to mirrors, so that no signal arrives before its contributions."""
        return {} if self.additive is None else self.additive.pack()

    def _receive_counts(self, batches: dict[int, Batch]) -> None:
        self._receive_rows(batches, 0)
        self._receive_contributions(batches, 1)

    def _receive_contributions(self, batches: dict[int, Batch], k: int) -> None:
        if self.additive is not None:
            self.additive.receive(self.additive.unpack(_part(batches, k)))

    def _count(self) -> None:
        """Apply the contributions at the masters."""
        if self.additive is not None:
            _, changed = self.additive.count()
            self._unshared[changed] = 1
            self._note_change(changed)

    def _additive_sections(self) -> list[Section]:
        fields = self.tree.vertex_fields
        return self.parts.mirrors.sections(frozenset(fields[k].name for k in self.tree.contributed()))

    def _shares(self) -> Packed:
        packed = self.exchange.pack_spread(self._additive_sections(), self._unshared)
        self._unshared[:] = 0
        return packed

    def _receive_shares(self, batches: dict[int, Batch]) -> None:
        received = self.exchange.unpack_spread(self._additive_sections(), _part(batches, 0))
        for mirrors in received.values():
            self._note_change(mirrors)

    # ---- signals and partial sums ------------------------------------------------------------------

    def _post_sums(self, row: dict[int, np.ndarray]) -> None:
        signals: Packed = {}
        by_id: Packed = {}
        if self.delivery is not None and self.clock >= 0:
            signals, by_id = self.delivery.pack()
        added = self._contributions()  # of scatters since COUNTS, which signalled too
        sums = {} if self.sums is None else self.sums.pack()
        self._post(SUMS, [signals, by_id, added, sums, row])

    def _receive_sums(self, batches: dict[int, Batch]) -> None:
        delivery, message = self.delivery, self.state.message
        if delivery is not None:
            signals = self.exchange.unpack_collect(delivery.role, message, False, _part(batches, 0))
            delivery.receive(signals, _part(batches, 1))
        self._receive_contributions(batches, 2)
        if self.sums is not None:
            self.sums.receive(_part(batches, 3))
            for p, batch in batches.items():
                self.sums.basis[p] = batch.basis
        if not self._own_sweep:
            self._receive_rows(batches, 4)

    def _receive_rows(self, batches: dict[int, Batch], k: int) -> None:
        for p, row in _part(batches, k).items():
            self._enter_row(batches[p].superstep, p, row.view(np.int64))


def _part(batches: dict[int, Batch], k: int) -> dict[int, np.ndarray]:
    """Return the k-th part of each batch that has one, by rank."""
    return {p: batch.parts[k] for p, batch in batches.items() if batch.parts[k].size}
