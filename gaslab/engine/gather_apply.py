"""`GatherApply`: gather and apply at the active masters, then swap or copy the written buffers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab._kernels import pack
from gaslab.engine.activation import Frontier
from gaslab.engine.delivery import Delivery
from gaslab.engine.executor import Executor
from gaslab.engine.gather import Gather
from gaslab.engine.phase_aggregation import Aggregation
from gaslab.engine.state import RunState
from gaslab.engine.sync.cache import Cache
from gaslab.ragged import Rows


class GatherApply:
    """Runs gather and apply of one phase, on one rank.

    *gather* is a `Gather`, a `Cache` of gathers, or None if nothing is gathered over edges. With *swaps* the
    two buffers of a field are swapped if every vertex ran; without, mirrors keep their values.
    """

    def __init__(
        self, executor: Executor, state: RunState, aggregation: Aggregation, delivery: Delivery | None,
        gather: Gather | Cache | None, swaps: bool,
    ) -> None:  # fmt: skip
        self.executor, self.state, self.tree = executor, state, state.tree
        self._aggregation, self._delivery, self._gather, self._swaps = aggregation, delivery, gather, swaps

    def run(self, frontier: Frontier) -> None:
        """Gather and apply at the masters of a frontier; aggregate over all masters."""
        self.executor.aggregates.begin(self.state.superstep)
        fused = frontier.everywhere  # aggregates cover every vertex, so only then may apply add them up
        if "apply" in self.tree.functions:
            if self.tree.gather is None:
                self.executor.over_active("gl_apply", frontier.ids, 0, fused)
            elif self._gather is None:  # over no edges: every total is the identity
                self.executor.over_active("gl_gather_apply", frontier.ids, 0, fused)
            else:
                self._show_totals(*self._gather.gather_apply(frontier.ids, fused))
            self._commit(frontier)
            if self._delivery is not None:
                self._delivery.forget_messages(frontier.ids)
        if not (fused and "apply" in self.tree.functions):
            self._aggregation.over_masters()

    def _show_totals(self, ids: np.ndarray, totals: Any) -> None:
        """Show a trace the masters' totals that were kept until apply."""
        trace = self.executor.observe.trace
        if trace is not None and self.tree.gather is not None:
            trace.totals(self.tree.gather, ids, totals)

    def _commit(self, frontier: Frontier) -> None:
        """Make current the values that apply wrote to the second buffers of gathered fields."""
        state, ids = self.state, frontier.ids
        if frontier.everywhere and self._swaps:
            state.swap()
            self.executor.view.vertex, self.executor.view.vertex_next = state.fields, state.next_fields
            return
        for current, following in zip(state.fields, state.next_fields, strict=True):
            if current is following:
                continue
            if ids is None:
                ids = np.arange(self.executor.local.num_masters, dtype=np.int32)
            if isinstance(current, Rows):
                following.copy_to(current, ids)
            else:
                changed = np.empty((ids.size, *current.shape[1:]), current.dtype)
                pack.take(following, ids, changed)
                pack.put(current, ids, changed)
