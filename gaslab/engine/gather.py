"""Gathers: mirrors send their partial sums to their masters, which combine them with their own.

A master without mirrors gathers and applies at once. A master with mirrors waits for their partial sums, and
combines them in rank order.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from gaslab._kernels import pack
from gaslab.compiler.tree import KeyedCombiner
from gaslab.compiler.tree.uses import field_of_total
from gaslab.engine import lists
from gaslab.engine.executor import Executor
from gaslab.engine.keyed import new_keyed_rows
from gaslab.engine.observe.trace import VertexTrace
from gaslab.engine.state import RunState
from gaslab.engine.storage import new_rows, total_dtype
from gaslab.replication.exchange import Exchange, Section, Sent


class Sums(Protocol):
    """The source of the mirrors' partial sums in a gather."""

    def begin(self, ids: np.ndarray | None, active: np.ndarray | None) -> Sent[list[tuple[np.ndarray, Any]]]:
        """Start fetching the partial sums of active masters (*ids*, and their flags; None is all)."""


class MirrorSums:
    """Partial sums that mirrors gather in every superstep, once they know the active vertices."""

    def __init__(self, executor: Executor, state: RunState, exchange: Exchange) -> None:
        assert state.tree.gather is not None
        self.executor, self.state, self.exchange = executor, state, exchange
        self._combiner, self._mask = state.tree.gather, executor.view.gather_edges
        self._mirrors = exchange.mirrors(self._mask)

    def begin(self, ids: np.ndarray | None, active: np.ndarray | None) -> Sent[list[tuple[np.ndarray, Any]]]:
        """Tell mirrors which masters are active; start sending their partial sums to these."""
        ways, mirrors = self.state.gather_way, self._mirrors
        if ways is not None:
            self.executor.choose("gather_edges", ids, ways)
        if active is not None or ways is not None:
            section = Section(self._mask, () if ways is None else (ways,))
            named = self.exchange.spread([section], active, ids).end()
            mirrors = mirrors if active is None else named[self._mask]
        partial = lists.partial_totals(self.executor.view, mirrors, self._combiner)
        self.executor.over("gl_gather", mirrors, self._mask, total=partial)
        return self.exchange.partials(self._mask, mirrors, partial, active)


class Gather:
    """The gather of one phase over some edges, on one rank."""

    def __init__(self, executor: Executor, state: RunState, exchange: Exchange, sums: Sums) -> None:
        assert state.tree.gather is not None
        self.executor, self.state, self._sums = executor, state, sums
        self.combiner, self.mask = state.tree.gather, executor.view.gather_edges
        self.dtype = total_dtype(self.combiner)
        self.boundary = exchange.replicated_masters(self.mask)  # masters with mirrors that gather
        self.is_boundary = np.zeros(executor.local.num_local, np.uint8)
        self.is_boundary[self.boundary] = 1
        self._position = np.zeros(executor.local.num_masters, np.int32)
        self._field = field_of_total(state.tree) if self.combiner.collects else None

    def gather_apply(self, ids: np.ndarray | None, aggregate: bool) -> tuple[np.ndarray, Any]:
        """Gather at active masters (*ids*; None is all) and apply; return those with mirrors and totals."""
        executor, mask = self.executor, self.mask
        active = None if ids is None else self.state.active
        sent = self._sums.begin(ids, active)
        if executor.observe.trace is not None:
            self._show_inner(ids, executor.observe.trace)

        boundary = self.boundary
        if active is not None:
            boundary = boundary[pack.chosen_positions(boundary, active)]
        total = self._room(boundary)
        executor.over("gl_gather", boundary, mask, total=total)
        skip = self.is_boundary if self.boundary.size else None
        executor.over_active("gl_gather_apply", ids, mask, aggregate, skip=skip)

        self._position[boundary] = np.arange(boundary.size, dtype=np.int32)
        for masters, incoming in sent.end():
            if self.combiner.collects:
                total.unpack(self._position[masters], *incoming, behind=True)
                continue
            executor.over("gl_combine", self._position[masters], total=total, incoming=incoming)
        executor.over("gl_apply", boundary, aggregate=aggregate, total=total)
        return boundary, total

    def _room(self, boundary: np.ndarray) -> Any:
        """Return the place of the totals of masters with mirrors, with room for other ranks' parts."""
        if not self.combiner.collects:
            return np.empty(boundary.size, self.dtype)
        if self._field is not None:  # then apply copies nothing
            return self.state.next_fields[self._field].empty_at(boundary)
        room = lists.degrees(self.executor.local, self.mask)[boundary]
        if isinstance(self.combiner, KeyedCombiner):
            return new_keyed_rows(room, self.combiner)
        return new_rows(room, self.combiner.storage)

    def _show_inner(self, ids: np.ndarray | None, trace: VertexTrace) -> None:
        """Gather again at traced masters without mirrors, whose totals a trace would not see."""
        inner = trace.ids[self.is_boundary[trace.ids] == 0]
        if ids is not None:
            inner = np.intersect1d(inner, ids)
        totals = lists.partial_totals(self.executor.view, inner, self.combiner)
        self.executor.over("gl_gather", inner, self.mask, total=totals)
        trace.totals(self.combiner, inner, totals)
