"""The synchronous engine: supersteps of gather, apply and scatter with barriers between.

`Synchronous.step` is one superstep, from top to bottom. Its begin/end pairs first send the values that other
ranks wait for, and overlap the messages with work that does not depend on them. Results do not depend on
arrival order: partial sums and messages are combined in rank order, aggregates in block order.
"""

from __future__ import annotations

import numpy as np

from gaslab._kernels import frontier as frontier_kernel
from gaslab._kernels import steps
from gaslab.engine.activation import Frontier
from gaslab.engine.delivery import Delivery
from gaslab.engine.executor import Executor
from gaslab.engine.gather import Gather, MirrorSums
from gaslab.engine.gather_apply import GatherApply
from gaslab.engine.state import RunState
from gaslab.engine.superstep_parts import Parts
from gaslab.engine.sync.cache import Cache
from gaslab.engine.view import set_by_source
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
        self._kernel_steps = None
        unseen = visits is None and self.observe.trace is None  # a trace looks at every superstep
        if (
            self.delivery is not None
            and unseen
            and KernelSteps.can(self.executor, self.state, parts.exchange.comm.size)
        ):
            self._kernel_steps = KernelSteps(self.executor, self.state, self.delivery)

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
        """Resume from a state read by `state_arrays.from_arrays` (collective)."""
        self.state.aggregates = self.executor.aggregates.values(self.state.aggregate_row)
        self._show_state()

    def _show_state(self) -> None:
        """Pass a state that another phase, or run, has left to the view and the mirrors."""
        state, view = self.state, self.view
        view.aggregate, view.superstep = state.aggregate_row, state.superstep
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
        if "init_message" in self.tree.functions:
            with stage("init_message", state, frontier.ids):
                self._receive(frontier)
        if self.visits is not None:
            with stage("visit", state):
                parts.mirrors.send(self.visits.sweep(), None)
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
        parts.activation.deactivate(frontier, mirrors)
        state.updates += frontier.total
        parts.aggregation.agree()
        state.superstep += 1
        self.view.superstep = state.superstep
        return frontier

    def run_in_kernel(self, most: int) -> list[tuple[int, float]]:
        """Run up to *most* supersteps that need no decision; return the size and seconds of each."""
        state = self.state
        if self._kernel_steps is None or self.executor.fault or state.superstep == state.entered:
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


MOST_STEPS, MOST_SECONDS = 256, 0.05  # until Python looks again: progress, Ctrl-C


class KernelSteps:
    """Runs supersteps in a kernel for a phase that only applies messages and pushes scatter."""

    def __init__(self, executor: Executor, state: RunState, delivery: Delivery) -> None:
        assert executor.library is not None
        self._executor, self._state, self._delivery = executor, state, delivery
        message = None if state.message is None else delivery.nothing.tobytes()
        self._steps = steps.Steps(
            executor.view.address,
            executor.library.function("gl_apply"),
            executor.library.function("gl_scatter_push") if "scatter" in state.tree.functions else 0,
            0 if state.buckets is None else state.buckets.address,
            message or b"",
            executor.threads,
            delivery.push_threads > 1,
            2 * executor.local.num_edges,
        )

    @staticmethod
    def can(executor: Executor, state: RunState, ranks: int) -> bool:
        """Whether a superstep of this phase consists of apply and scatter alone."""
        tree = state.tree
        plain = tree.functions.keys() <= {"init", "start", "apply", "scatter"} and "apply" in tree.functions
        adds = tree.contributed() or tree.contributed_edges()
        more = tree.aggregators or tree.gather or tree.posts or adds or tree.signals_by_id()
        return (
            ranks == 1 and executor.library is not None and tree.by_signal and plain and not more
            and state.message_next is state.message
        )  # fmt: skip

    def run(self, signalled: np.ndarray, most: int) -> tuple[np.ndarray, list[tuple[int, float]]]:
        """Run up to *most* supersteps; return the masters then signalled, and sizes and seconds."""
        ids, sizes, seconds, fault = self._steps.run(
            signalled, min(most, MOST_STEPS), self._delivery.most_pushed, MOST_SECONDS
        )
        state, view = self._state, self._executor.view
        ran = list(zip(sizes.tolist(), seconds.tolist(), strict=True))
        if ran:
            state.updates += int(sizes.sum())
            state.superstep += len(ran)
            view.superstep = state.superstep
            self._delivery.last = "push" if "scatter" in state.tree.functions else ""
        if fault is not None:
            self._executor.failed(fault, state.superstep - 1, self._executor.view.gid, "gl_apply")
        return ids, ran
