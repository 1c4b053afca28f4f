"""The synchronous engine: supersteps of gather, apply and scatter with barriers between.

`Synchronous.step` is one superstep, from top to bottom. Its begin/end pairs first send the values that other
ranks wait for, and overlap the messages with work that does not depend on them. Results do not depend on
arrival order: partial sums and messages are combined in rank order, aggregates in block order.
"""

from __future__ import annotations

import numpy as np

from gaslab._kernels import frontier as frontier_kernel
from gaslab.engine.activation import Frontier
from gaslab.engine.collected import Collected
from gaslab.engine.delivery import Delivery
from gaslab.engine.gather import Gather, MirrorSums
from gaslab.engine.gather_apply import GatherApply
from gaslab.engine.lookups import Lookups
from gaslab.engine.superstep_parts import Parts
from gaslab.engine.sync.cache import Cache
from gaslab.engine.sync.kernel_steps import KernelRounds, KernelSteps, Ran
from gaslab.engine.view import note_begin, set_by_source
from gaslab.engine.visit.sweep import Visits


class Synchronous:
    """Runs one phase's supersteps on one rank; all ranks step together."""

    def __init__(self, parts: Parts, visits: Visits | None = None, rebuild: int = 0) -> None:
        self.parts, self.visits = parts, visits
        self.executor, self.state, self.delivery = parts.executor, parts.state, parts.delivery
        self.tree, self.view, self.local = parts.state.tree, parts.executor.view, parts.executor.local
        self.observe, common = parts.executor.observe, (parts.executor, parts.state, parts.exchange)
        self.cache = Cache(*common, rebuild) if self.tree.posts else None
        gather: Gather | Cache | None = self.cache
        if self.cache is None and self.tree.gather is not None and self.view.gather_edges:
            gather = Gather(*common, MirrorSums(*common))
        self.gather_apply = GatherApply(
            parts.executor, parts.state, parts.aggregation, parts.delivery, gather, swaps=True
        )
        self.lookups = Lookups(*common) if self.tree.lookups else None
        self._agrees = self.tree.aggregates_in_supersteps or not self.tree.by_signal
        self._kernel_steps: KernelSteps | None = None
        unseen = visits is None and self.observe.trace is None  # a trace looks at every superstep
        if unseen and KernelSteps.can(parts):
            self._kernel_steps = (KernelSteps if parts.exchange.comm.size == 1 else KernelRounds)(parts)

    # ---- the story ---------------------------------------------------------------------------------

    def enter(self, before: Synchronous) -> None:
        """Begin this phase with the state that the phase *before* left; update its mirrors."""
        with self.observe.stage("enter"):
            state, view = self.state, self.view
            state.follow(before.state)
            if self.cache is not None:
                self.cache.forget()
            view.vertex, view.vertex_next = state.fields, state.next_fields
            for field, values in zip(self.tree.edge_fields, state.edge_fields, strict=True):
                if field.name in before.tree.written_edges():
                    self.local.forget_derived(values)
            self._show_state()

    def resume(self) -> None:
        """Resume from a state that `state_arrays.restore` has set (collective)."""
        self.state.aggregates = self.executor.aggregates.values(self.state.aggregate_row)
        self._show_state()

    def _show_state(self) -> None:
        """Pass a state that another phase, or run, has left to the view and the mirrors."""
        state, view = self.state, self.view
        if self.delivery is not None and isinstance(self.delivery.remote, Collected):
            self.delivery.remote.show()
        view.aggregate, view.superstep = state.aggregate_row, state.superstep
        note_begin(view, state)
        set_by_source(view, state, self.local)
        self.parts.mirrors.refresh()

    def step(self) -> Frontier | None:
        """Run one superstep; return its frontier, or None when no vertex was active."""
        stage, state, parts = self.observe.stage, self.state, self.parts
        with stage("activate"):
            frontier = parts.activation.activate()
        if not frontier.total:
            return None
        state.next_total = None
        state.empty_messages()
        if "init_message" in self.tree.functions:
            with stage("init_message", state, frontier.ids):
                self._receive(frontier)
        if self.visits is not None:
            with stage("visit", state):
                parts.mirrors.send(self.visits.sweep(), None)
        if self.lookups is not None:
            with stage("lookup"):
                self.lookups.fill(frontier.ids)
        parts.mirrors.note_changes()
        with stage("gather_apply", state, frontier.ids):
            self.gather_apply.run(frontier)
        with stage("spread"):
            mirrors = parts.mirrors.spread(frontier)
        if self.cache is not None:
            self.cache.notice()
        parts.aggregation.run_own_sweeps()
        if self.delivery is not None:
            with stage("scatter", state):
                self._deliver(self.delivery, frontier, mirrors)
        parts.aggregation.run_own_sweeps(after_scatter=True)
        parts.activation.deactivate(frontier, mirrors)
        state.updates += frontier.total
        if self._agrees:  # else a fault is raised with the size of the next frontier
            parts.aggregation.agree()
        state.superstep += 1
        self.view.superstep = state.superstep
        return frontier

    def run_in_kernel(self, most: int) -> Ran:
        """Run up to *most* supersteps that need no decision; return what ran (collective)."""
        state = self.state
        if self._kernel_steps is None or state.superstep == state.entered:
            return []
        state.frontier, ran = self._kernel_steps.run(state.frontier, most)
        if ran:
            state.next_total = None
            self.parts.mirrors.note_changes()
        return ran

    def finish(self) -> None:
        """Raise a fault of the last superstep that no later step would raise."""
        self.executor.raise_any()
        if self.visits is not None:
            self.visits.put_back()

    # ---- stages ------------------------------------------------------------------------------------

    def _receive(self, frontier: Frontier) -> None:
        """Run init with the messages, before any vertex gathers; send the changed values to the mirrors."""
        assert self.delivery is not None
        self.executor.over_active("gl_init_message", frontier.ids)
        self.delivery.forget_messages(frontier.ids)
        active = None if frontier.everywhere else self.state.active
        self.parts.mirrors.send(self.tree.writes("init_message"), active)

    def _deliver(self, delivery: Delivery, frontier: Frontier, mirrors: np.ndarray) -> None:
        if "scatter" in self.tree.functions:
            self._scatter(delivery, frontier, mirrors)
        self.state.frontier = delivery.deliver()
        if self.parts.additive is not None:
            names, changed = self.parts.additive.apply_deltas()
            flags = np.zeros(self.local.num_local, np.uint8)
            flags[changed] = 1
            self.parts.mirrors.send(names, flags)

    def _scatter(self, delivery: Delivery, frontier: Frontier, mirrors: np.ndarray) -> None:
        self.view.all_active = int(frontier.everywhere)
        if frontier.everywhere:
            delivery.scatter(None)
        else:
            assert frontier.ids is not None
            frontier_kernel.set_flags(self.state.active, mirrors, 1)
            delivery.scatter(np.concatenate([frontier.ids, mirrors]))
