"""Gathers: partial sums at the mirrors, sent to their masters, which add them to what they gather themselves.

A master without mirrors gathers and applies in one go. One with mirrors waits for their partial sums, which
it combines in the order of ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab._kernels import pack
from gaslab.engine import lists
from gaslab.engine.phases import Phases
from gaslab.engine.state import RunState
from gaslab.engine.storage import total_dtype
from gaslab.exchange import Exchange, Partials, Section
from gaslab.ragged import Rows

if TYPE_CHECKING:
    from gaslab.engine.trace import VertexTrace


class Gather:
    """The gather of one phase over some edges, on one rank."""

    def __init__(self, phases: Phases, state: RunState, exchange: Exchange) -> None:
        assert state.tree.gather is not None
        self.phases, self.state, self.exchange = phases, state, exchange
        self.combiner, self.mask = state.tree.gather, phases.view.gather_edges
        self.dtype = total_dtype(self.combiner)
        self.mirrors = exchange.mirrors(self.mask)
        self.boundary = exchange.replicated_masters(self.mask)  # masters with mirrors that gather
        self.is_boundary = np.zeros(phases.local.num_local, np.uint8)
        self.is_boundary[self.boundary] = 1
        self._position = np.zeros(phases.local.num_masters, np.int32)

    def gather_apply(self, ids: np.ndarray | None, aggregate: bool) -> tuple[np.ndarray, Any]:
        """Gather at active masters (*ids*; None is all) and apply; return those with mirrors and totals."""
        phases, view, mask = self.phases, self.phases.view, self.mask
        active = None if ids is None else self.state.active
        sent = self._begin(ids, active)
        trace = phases.observe.trace
        if trace is not None:
            self._show_inner(ids, trace)

        boundary = self.boundary
        if active is not None:
            boundary = boundary[pack.chosen_positions(boundary, active)]
        total: Any = np.empty(boundary.size, self.dtype)
        if self.combiner.collects:  # room for the parts of other ranks too
            total = Rows(lists.degrees(phases.local, mask)[boundary], self.dtype)
        view.total = total
        phases.over("gl_gather", boundary, mask)
        view.skip = self.is_boundary if self.boundary.size else None
        phases.over_active("gl_gather_apply", ids, mask, aggregate)

        self._position[boundary] = np.arange(boundary.size, dtype=np.int32)
        for masters, incoming in sent.end():
            if self.combiner.collects:
                total.append(self._position[masters], *incoming)
                continue
            view.incoming = incoming
            phases.over("gl_combine", self._position[masters])
        phases.over("gl_apply", boundary, aggregate=aggregate)
        return boundary, total

    def _begin(self, ids: np.ndarray | None, active: np.ndarray | None) -> Partials:
        """Tell mirrors who is active; begin to send their partial sums."""
        view, ways, mirrors = self.phases.view, self.state.gather_way, self.mirrors
        if ways is not None:
            self.phases.choose("gather_edges", ids, ways)
        if active is not None or ways is not None:
            section = Section(self.mask, () if ways is None else (ways,))
            told = self.exchange.spread([section], active, ids).end()
            mirrors = mirrors if active is None else told[self.mask]
        partial: Any = np.empty(mirrors.size, self.dtype)
        if self.combiner.collects:
            partial = lists.partial_rows(view, mirrors, self.dtype)
        view.total = partial
        self.phases.over("gl_gather", mirrors, self.mask)
        return self.exchange.partials(self.mask, mirrors, partial, active)

    def _show_inner(self, ids: np.ndarray | None, trace: VertexTrace) -> None:
        """Gather once more at traced masters without mirrors: their totals go from gather to apply unseen."""
        inner = trace.ids[self.is_boundary[trace.ids] == 0]
        if ids is not None:
            inner = np.intersect1d(inner, ids)
        view = self.phases.view
        totals: Any = np.empty(inner.size, self.dtype)
        if self.combiner.collects:
            totals = lists.partial_rows(view, inner, self.dtype)
        view.total = totals
        self.phases.over("gl_gather", inner, self.mask)
        trace.totals(self.combiner, inner, totals)
