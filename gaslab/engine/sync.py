"""The synchronous engine: supersteps of gather, apply and scatter with barriers between.

One superstep reads top to bottom in `Synchronous.step`; begin/end pairs send what other ranks wait
for first and overlap it with work that needs nothing from them. Results do not depend on arrival
order: partial sums and messages are combined in rank order, aggregates in block order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gaslab._kernels import frontier as frontier_kernel
from gaslab._kernels import pack
from gaslab._kernels.buckets import Buckets
from gaslab.engine.additive import Additive
from gaslab.engine.ahead import Ahead
from gaslab.engine.cache import Cache
from gaslab.engine.delivery import Delivery
from gaslab.engine.gather import Gather
from gaslab.engine.phases import Phases
from gaslab.engine.roles import across, field_roles
from gaslab.engine.state import RunState
from gaslab.engine.view import set_by_source
from gaslab.engine.visit import Visits
from gaslab.exchange import Exchange, Section
from gaslab.program import ALL, IN
from gaslab.ragged import Rows


@dataclass
class Frontier:
    """The vertices that run in one superstep."""

    ids: np.ndarray | None  # this rank's masters, ascending int32; None is all of them
    total: int  # on all ranks
    everywhere: bool  # every vertex of the graph runs, so nobody needs to be told which


class Synchronous:
    """Runs one program's supersteps on one rank; all ranks step together."""

    def __init__(
        self, phases: Phases, state: RunState, exchange: Exchange, visits: Visits | None = None,
        rebuild: int = 0,
    ) -> None:  # fmt: skip
        self.visits, self.observe = visits, phases.observe
        self.phases, self.state, self.exchange = phases, state, exchange
        self.tree, self.view, self.local = state.tree, phases.view, phases.local
        functions = self.tree.functions
        sends = "scatter" in functions or bool(self.tree.signals())
        self.delivery = Delivery(phases, state, exchange) if sends else None
        self.signal_driven = self.tree.by_signal
        self._additive = None
        if self.tree.contributed():
            mask = self.view.scatter_edges
            role = (mask if self.tree.contributed("v") else 0) | (
                across(mask) if self.tree.contributed("nbr") else 0
            )
            self._additive = Additive(phases, state, exchange, role)
        self._roles = field_roles(self.tree, self.view.gather_edges, self.view.scatter_edges)
        self._changes = self._field_changes()
        self.cache = Cache(phases, state, exchange, rebuild) if self.tree.posts else None
        gathers = self.tree.gather is not None and self.cache is None and bool(self.view.gather_edges)
        self.gather = self._new_gather() if gathers else None
        self._ahead = None
        unseen = visits is None and self.observe.trace is None  # a trace looks at every superstep
        if self.delivery is not None and unseen and Ahead.can(phases, state, exchange.comm.size):
            self._ahead = Ahead(phases, state, self.delivery)

    # ---- the story ---------------------------------------------------------------------------------

    def initialise(self) -> None:
        """Run init on every vertex and bring the mirrors up to date; raises its fault on every rank."""
        with self.observe.stage("init", self.state):
            if "init" in self.tree.functions:
                self.phases.over_masters("gl_init")
                self.state.stale(self.tree.writes("init"), 0)
            self._refresh()
            self.phases.raise_any()
            self.aggregate()
            self.agree()

    def beginners(self) -> np.ndarray:
        """Return this rank's masters (ascending int32) that begin (collective)."""
        ids = self._activate().ids
        return np.arange(self.local.num_masters, dtype=np.int32) if ids is None else ids

    def aggregate(self) -> None:
        """Compute this rank's part of all aggregates."""
        self.phases.aggregates.begin(None)
        self._aggregate_all()
        self._aggregate_apart()

    def enter(self, before: Synchronous) -> None:
        """Begin this phase where the phase *before* left the run; bring its mirrors up to date."""
        with self.observe.stage("enter"):
            self._enter(before)

    def _enter(self, before: Synchronous) -> None:
        state, view = self.state, self.view
        state.follow(before.state)
        if self.cache is not None:
            self.cache.forget()
        view.vertex, view.vertex_next = state.fields, state.next_fields
        view.aggregate, view.superstep = state.aggregate_row, state.superstep
        for field, values in zip(self.tree.edge_fields, state.edge_fields, strict=True):
            if field.name in before.tree.written_edges():
                self.local.forget_by_source(values)
        set_by_source(view, state, self.local)
        self._refresh()

    def resume(self) -> None:
        """Go on from a state that was read: see `RunState.from_arrays` (collective)."""
        state, view, aggregates = self.state, self.view, self.phases.aggregates
        state.aggregates = aggregates.values(state.aggregate_row)
        view.aggregate, view.superstep = state.aggregate_row, state.superstep
        set_by_source(view, state, self.local)
        self._refresh()

    def step(self) -> Frontier | None:
        """Run one superstep; return its frontier, or None when no vertex was active."""
        stage, state = self.observe.stage, self.state
        with stage("activate"):
            frontier = self._activate()
        if not frontier.total:
            return None
        self.state.next_total = None
        if "init_message" in self.tree.functions:
            with stage("init_message", state, frontier.ids):
                self._receive(frontier)
        if self.visits is not None:
            with stage("visit", state):
                self._visit(self.visits)
        for name, role in self._changes.items():
            state.stale((name,), role)
        with stage("gather_apply", state, frontier.ids):
            self._gather_apply(frontier)
        with stage("spread"):
            mirrors = self._spread(frontier)
        if self.cache is not None:
            self.cache.notice()
        self._aggregate_apart()
        if self.delivery is not None:
            with stage("scatter", state):
                self._deliver(self.delivery, frontier, mirrors)
        self._deactivate(frontier, mirrors)
        state.updates += frontier.total
        self.agree()
        state.superstep += 1
        self.view.superstep = state.superstep
        return frontier

    def run_ahead(self, most: int) -> list[tuple[int, float]]:
        """Run up to *most* supersteps that need no decision; return the size and seconds of each."""
        if self._ahead is None or self.phases.fault or self.state.superstep == self.state.entered:
            return []
        self.state.frontier, ran = self._ahead.run(self.state.frontier, most)
        if ran:
            self.state.next_total = None
            for name, role in self._changes.items():
                self.state.stale((name,), role)
        return ran

    def agree(self) -> None:
        """Combine all ranks' aggregates in rank order; raise a program's fault on every rank.

        The size of the next frontier is told with them.
        """
        if not self.tree.aggregators and self.signal_driven:
            return  # a fault is told with the size of the next frontier
        told = self.phases.agree(np.append(self.phases.aggregates.collected(), self.state.frontier.size))
        self.state.next_total = int(told[:, -1].sum())
        self.settle(told[:, :-1])

    def settle(self, table: np.ndarray) -> None:
        """Make the aggregates what all ranks' parts (one a row) come to (collective).

        Every rank combines the same rows, so all raise the fault of a merge, before `done` is asked.
        """
        aggregates = self.phases.aggregates
        row = self.phases.alike(lambda: aggregates.combined(table))
        state = self.state
        combined = aggregates.settled(row, state.aggregate_row, state)
        state.aggregates = aggregates.values(combined)
        state.aggregate_row[: combined.size] = combined  # which the view has too

    # ---- activate ----------------------------------------------------------------------------------

    def _activate(self) -> Frontier:
        ids, total = self._chosen(), None
        if ids is None:
            return Frontier(None, self.view.num_vertices, True)
        state = self.state
        if ids is state.frontier and state.buckets is not None:
            return self._activate_lowest(state.buckets)
        if ids is state.frontier:
            total = state.next_total
        if total is None:
            total = state.next_total = int(self.phases.agree(np.array([ids.size])).sum())
        if total == self.view.num_vertices:
            return Frontier(None, total, True)
        frontier_kernel.set_flags(self.state.active, ids, 1)
        return Frontier(ids, total, False)

    def _chosen(self) -> np.ndarray | None:
        """Return this rank's masters that the program lets run; None is all, as on every rank."""
        functions = self.tree.functions
        first = self.state.superstep == self.state.entered
        if first and self.state.initial is not None and not self.state.superstep:
            return self.state.initial
        if "active" in functions or (first and "start" in functions):
            self.phases.over_masters("gl_active" if "active" in functions else "gl_start")
            return frontier_kernel.where(self.state.active, 0, self.local.num_masters)  # type: ignore[no-any-return]
        return None if first or not self.signal_driven else self.state.frontier

    def next_total(self) -> int:
        """Return how many vertices of the whole graph a further superstep would run (collective)."""
        state, pending, ids = self.state, self.state.buckets, self._chosen()
        if ids is None:
            return int(self.view.num_vertices)
        if ids is not self.state.frontier:  # chosen by active() or start(), which left their flags
            total = int(self.phases.agree(np.array([ids.size])).sum())
            state.active[: self.local.num_masters] = 0
            return total
        if pending is not None:
            bucket, ids = pending.lowest(self.state.frontier)
            self.state.frontier = ids[:0]
            pending.keep(ids)  # they are pending as before
            found = self.phases.agree(np.array([bucket, ids.size]))
            return int(found[found[:, 0] == found[:, 0].min(), 1].sum())
        if self.state.next_total is None:
            self.state.next_total = int(self.phases.agree(np.array([ids.size])).sum())
        return self.state.next_total

    def _activate_lowest(self, pending: Buckets) -> Frontier:
        """Run the lowest bucket that any rank has."""
        bucket, ids = pending.lowest(self.state.frontier)
        self.state.frontier = np.empty(0, np.int32)
        told = self.phases.agree(np.array([bucket, ids.size]))
        lowest = told[:, 0].min()
        total = self.state.next_total = int(told[told[:, 0] == lowest, 1].sum())
        if bucket != lowest:
            pending.keep(ids)
            ids = ids[:0]
        pending.take(ids)
        if total == self.view.num_vertices:
            return Frontier(None, total, True)
        frontier_kernel.set_flags(self.state.active, ids, 1)
        return Frontier(ids, total, False)

    def _deactivate(self, frontier: Frontier, mirrors: np.ndarray) -> None:
        if frontier.ids is None:
            if "active" in self.tree.functions or "start" in self.tree.functions:
                self.state.active[:] = 0
        else:
            frontier_kernel.set_flags(self.state.active, frontier.ids, 0)
            frontier_kernel.set_flags(self.state.active, mirrors, 0)

    # ---- gather and apply --------------------------------------------------------------------------

    def _gather_apply(self, frontier: Frontier) -> None:
        self.phases.aggregates.begin(self.state.superstep)
        fused = frontier.everywhere  # aggregates cover every vertex, so only then may apply add them up
        if "apply" in self.tree.functions:
            if self.tree.gather is None:
                self.phases.over_active("gl_apply", frontier.ids, 0, fused)
            elif self.cache is not None:
                self._show_totals(*self.cache.gather_apply(frontier.ids, fused))
            elif self.gather is None:  # over no edges: every total is the identity
                self.phases.over_active("gl_gather_apply", frontier.ids, 0, fused)
            else:
                self._show_totals(*self.gather.gather_apply(frontier.ids, fused))
            self._commit(frontier)
            if self.delivery is not None:
                self.delivery.forget_messages(frontier.ids)
        if not (fused and "apply" in self.tree.functions):
            self._aggregate_all()

    def _new_gather(self) -> Gather:
        return Gather(self.phases, self.state, self.exchange)

    def _visit(self, visits: Visits) -> None:
        self.exchange.spread(self._sections(visits.sweep()), None).end()

    def _receive(self, frontier: Frontier) -> None:
        """Let init have the messages before anybody gathers, and send what it changed to the mirrors."""
        assert self.delivery is not None
        self.phases.over_active("gl_init_message", frontier.ids)
        self.delivery.forget_messages(frontier.ids)
        active = None if frontier.everywhere else self.state.active
        self.exchange.spread(self._sections(self.tree.writes("init_message")), active).end()

    def _show_totals(self, ids: np.ndarray, totals: Any) -> None:
        """Let a trace see the totals of masters that were kept until they were applied."""
        if self.observe.trace is not None and self.tree.gather is not None:
            self.observe.trace.totals(self.tree.gather, ids, totals)

    def _commit(self, frontier: Frontier) -> None:
        """Make current what apply wrote to the buffers beside the fields that gathers read."""
        state = self.state
        if frontier.everywhere:
            state.swap()
            self.view.vertex, self.view.vertex_next = state.fields, state.next_fields
            return
        for current, following in zip(state.fields, state.next_fields, strict=True):
            if isinstance(current, Rows) and current is not following:
                following.copy_to(current, frontier.ids)
            elif current is not following and frontier.ids is not None:
                changed = np.empty((frontier.ids.size, *current.shape[1:]), current.dtype)
                pack.take(following, frontier.ids, changed)
                pack.put(current, frontier.ids, changed)

    def _aggregate_all(self) -> None:
        if self.tree.in_apply:
            self.phases.over_masters("gl_aggregate", aggregate=True)

    def _aggregate_apart(self) -> None:
        """Compute the aggregators that are due and have a sweep of their own; mirrors are up to date."""
        if not self.tree.aggregators:
            return
        with self.observe.stage("aggregate"):
            for k, a in enumerate(self.tree.aggregators):
                if a.apart and self.phases.aggregates.is_due(k):
                    if a.over_edges:
                        self.phases.over_locals(f"gl_aggregate_{k}", IN, aggregate=True)
                    else:
                        self.phases.over_masters(f"gl_aggregate_{k}", aggregate=True)

    # ---- mirrors and scatter -----------------------------------------------------------------------

    def _field_changes(self) -> dict[str, int]:
        """Return the fields that a superstep may change, with the mirrors that then have the new values."""
        sent = self.tree.writes("apply") | self.tree.writes("visit") | self.tree.writes("visit", "nbr")
        changed = {
            name
            for phase, function in self.tree.functions.items()
            if phase != "init" or function.parameters
            for role in ("v", "nbr")
            for name in self.tree.writes(phase, role)
        }
        return {name: self._roles[name] if name in sent else 0 for name in changed}

    def _refresh(self) -> None:
        """Bring to the mirrors those fields of which they have not the masters' values."""
        names = frozenset(name for name, role in self._roles.items() if role & ~self.state.fresh[name])
        self.exchange.spread(self._sections(names), None).end()
        for name in names:
            self.state.fresh[name] |= self._roles[name]

    def _sections(self, names: frozenset[str]) -> list[Section]:
        by_role: dict[int, list[np.ndarray]] = {}
        for k, variable in enumerate(self.tree.vertex_fields):
            if variable.name in names and self._roles[variable.name]:
                by_role.setdefault(self._roles[variable.name], []).append(self.state.fields[k])
        return [Section(role, tuple(fields)) for role, fields in sorted(by_role.items())]

    def _spread(self, frontier: Frontier) -> np.ndarray:
        """Send what apply changed to the mirrors that use it; return the active mirrors that scatter."""
        sections, told = self._travelling(frontier)
        scatters = self.delivery is not None and bool(self.view.scatter_edges)
        if scatters and not frontier.everywhere and all(s.role != told for s in sections):
            sections.append(Section(told, ()))
        active_masters = None if frontier.everywhere else self.state.active
        active = self.exchange.spread(sections, active_masters, frontier.ids).end()
        if not scatters or frontier.everywhere:
            return np.empty(0, np.int32)
        return active[told]

    def _travelling(self, frontier: Frontier | None) -> tuple[list[Section], int]:
        """Return what apply changes on mirrors, and the role that is told who scatters.

        Active masters choose their directions first; None of them, where what came is looked at.
        """
        sections = self._sections(self.tree.writes("apply"))
        scatter = self.view.scatter_edges if self.delivery is not None else 0
        ways = self.state.scatter_way
        if ways is not None:
            if frontier is not None:
                self.phases.choose("scatter_edges", frontier.ids, ways)
            fields = [values for s in sections if s.role == ALL for values in s.fields]
            sections = [s for s in sections if s.role != ALL] + [Section(ALL, (*fields, ways))]
        return sections, next((s.role for s in sections if s.role in (scatter, ALL)), scatter)

    def _deliver(self, delivery: Delivery, frontier: Frontier, mirrors: np.ndarray) -> None:
        if "scatter" in self.tree.functions:
            self._scatter(delivery, frontier, mirrors)
        self.state.frontier = delivery.end(delivery.begin())
        if self._additive is not None:
            self._share(*self._additive.settle())

    def _scatter(self, delivery: Delivery, frontier: Frontier, mirrors: np.ndarray) -> None:
        self.view.all_active = int(frontier.everywhere)
        if frontier.everywhere:
            delivery.scatter(None)
        else:
            assert frontier.ids is not None
            frontier_kernel.set_flags(self.state.active, mirrors, 1)
            delivery.scatter(np.concatenate([frontier.ids, mirrors]))

    def _share(self, names: frozenset[str], changed: np.ndarray) -> None:
        """Send fields of the masters *changed* to the mirrors that use them."""
        flags = np.zeros(self.local.num_local, np.uint8)
        flags[changed] = 1
        self.exchange.spread(self._sections(names), flags).end()

    def finish(self) -> None:
        """Raise a fault of the last superstep that no later step would tell."""
        self.phases.raise_any()
        if self.visits is not None:
            self.visits.put_back()
