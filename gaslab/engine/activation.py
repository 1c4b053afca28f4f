"""`Activation`: which vertices run in a superstep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaslab._kernels import frontier as frontier_kernel
from gaslab._kernels.buckets import Buckets
from gaslab.engine.executor import Executor
from gaslab.engine.state import RunState


@dataclass
class Frontier:
    """The vertices that run in one superstep."""

    ids: np.ndarray | None  # this rank's masters, ascending int32; None is all of them
    total: int  # on all ranks
    everywhere: bool  # every vertex of the graph runs, so ranks need not exchange which


class Activation:
    """Chooses the frontier of one phase's supersteps, on one rank."""

    def __init__(self, executor: Executor, state: RunState) -> None:
        self.executor, self.state = executor, state
        self._masters, self._vertices = executor.local.num_masters, int(executor.view.num_vertices)
        self._functions, self._by_signal = state.tree.functions, state.tree.by_signal

    def chosen(self) -> np.ndarray | None:
        """Return this rank's active masters; None is all masters, and then None on every rank."""
        state = self.state
        first = state.superstep == state.entered
        if first and state.initial is not None and not state.superstep:
            return state.initial
        if "active" in self._functions or (first and "start" in self._functions):
            self.executor.over_masters("gl_active" if "active" in self._functions else "gl_start")
            return frontier_kernel.where(state.active, 0, self._masters)  # type: ignore[no-any-return]
        return None if first or not self._by_signal else state.frontier

    def activate(self) -> Frontier:
        """Return the frontier of the next superstep, its masters flagged (collective)."""
        state, ids, total = self.state, self.chosen(), None
        if ids is None:
            return Frontier(None, self._vertices, True)
        if ids is state.frontier and state.buckets is not None:
            return self._activate_lowest(state.buckets)
        if ids is state.frontier:
            total = state.next_total
        if total is None:
            total = state.next_total = int(self.executor.agree(np.array([ids.size])).sum())
        return self._flagged(ids, total)

    def _activate_lowest(self, buckets: Buckets) -> Frontier:
        """Run the lowest bucket that any rank has."""
        state = self.state
        bucket, ids = buckets.lowest(state.frontier)
        state.frontier = np.empty(0, np.int32)
        table = self.executor.agree(np.array([bucket, ids.size]))
        lowest = table[:, 0].min()
        total = state.next_total = int(table[table[:, 0] == lowest, 1].sum())
        if bucket != lowest:
            buckets.keep(ids)
            ids = ids[:0]
        buckets.take(ids)
        return self._flagged(ids, total)

    def _flagged(self, ids: np.ndarray, total: int) -> Frontier:
        if total == self._vertices:
            return Frontier(None, total, True)
        frontier_kernel.set_flags(self.state.active, ids, 1)
        return Frontier(ids, total, False)

    def deactivate(self, frontier: Frontier, mirrors: np.ndarray) -> None:
        """Clear the flags of a frontier that has run, and of its *mirrors*."""
        active = self.state.active
        if frontier.ids is None:
            if "active" in self._functions or "start" in self._functions:
                active[:] = 0
        else:
            frontier_kernel.set_flags(active, frontier.ids, 0)
            frontier_kernel.set_flags(active, mirrors, 0)

    def next_total(self) -> int:
        """Return how many vertices of the whole graph another superstep would run (collective)."""
        state, ids = self.state, self.chosen()
        if ids is None:
            return self._vertices
        if ids is not state.frontier:  # chosen by active() or start(), which left their flags
            total = int(self.executor.agree(np.array([ids.size])).sum())
            state.active[: self._masters] = 0
            return total
        if state.buckets is not None:
            bucket, ids = state.buckets.lowest(state.frontier)
            state.frontier = ids[:0]
            state.buckets.keep(ids)  # they are still pending
            table = self.executor.agree(np.array([bucket, ids.size]))
            return int(table[table[:, 0] == table[:, 0].min(), 1].sum())
        if state.next_total is None:
            state.next_total = int(self.executor.agree(np.array([ids.size])).sum())
        return state.next_total
