"""`Aggregation`: a phase's aggregators, computed on this rank and combined with the other ranks'."""

from __future__ import annotations

import numpy as np

from gaslab.engine.executor import Executor
from gaslab.engine.mirrors import Mirrors
from gaslab.engine.state import RunState
from gaslab.program import IN


class Aggregation:
    """Computes and combines the aggregators of one phase, on one rank."""

    def __init__(self, executor: Executor, state: RunState, mirrors: Mirrors) -> None:
        self.executor, self.state, self.tree, self._mirrors = executor, state, state.tree, mirrors
        self.aggregates, self.observe = executor.aggregates, executor.observe

    def compute(self) -> None:
        """Compute this rank's part of all aggregates."""
        self.aggregates.begin(None)
        self.over_masters()
        self.run_own_sweeps()
        self.run_own_sweeps(after_scatter=True)

    def conclude(self) -> None:
        """Compute and combine the aggregators that are due when a phase is over (collective)."""
        if self.aggregates.begin_by_phase(ran=self.state.superstep > self.state.entered):
            self.run_own_sweeps()
            self.combine(self.executor.agree(self.aggregates.collected(self.executor.merged)))

    def over_masters(self) -> None:
        """Compute in a separate sweep the aggregators that apply adds up if every vertex runs."""
        if self.tree.in_apply:
            self.executor.over_masters("gl_aggregate", aggregate=True)

    def run_own_sweeps(self, after_scatter: bool = False) -> None:
        """Compute the aggregators now due that have their own sweep (collective)."""
        if not self.tree.aggregators:
            return
        with self.observe.stage("aggregate"):
            own = [(k, a) for k, a in enumerate(self.tree.aggregators) if a.own_sweep]
            now = [(k, a) for k, a in own if a.after_scatter == after_scatter]
            sweeps = [(k, a) for k, a in now if self.aggregates.is_due(k)]
            if any(a.over_edges and a.seldom for _, a in sweeps):
                self._mirrors.refresh_seldom()
            for k, a in sweeps:
                if a.over_edges:
                    self.executor.over_locals(f"gl_aggregate_{k}", IN, aggregate=True)
                else:
                    self.executor.over_masters(f"gl_aggregate_{k}", aggregate=True)

    def agree(self) -> None:
        """Combine all ranks' aggregates in rank order; raise a program's fault on every rank (collective).

        The ranks agree on the size of the next frontier in the same exchange.
        """
        state = self.state
        mine = self.aggregates.collected(self.executor.merged)
        table = self.executor.agree(np.append(mine, state.frontier.size))
        state.next_total = int(table[:, -1].sum())
        self.combine(table[:, :-1])

    def combine(self, table: np.ndarray) -> None:
        """Combine all ranks' parts (one a row) into the aggregates (collective).

        Every rank combines the same rows, so all raise the fault of a merge, before `done` is asked.
        """
        aggregates, state = self.aggregates, self.state
        row = self.executor.alike(lambda: aggregates.combined(table, self.executor.merged))
        combined = aggregates.final(row, state.aggregate_row, state)
        state.aggregates = aggregates.values(combined)
        state.aggregate_row[: combined.size] = combined  # also in the view
