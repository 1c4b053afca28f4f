"""Gather caching: totals are kept between supersteps and updated by the deltas that neighbours post.

Every replica keeps the total of its own edges. A mirror sends it to its master when it changes; the master
keeps the last total of each mirror, and combines them with its own in rank order. So nothing is subtracted
from a sum, and combiners without an inverse can also be cached. A replica gathers again when its total was
cleared, when a neighbour changed and posted nothing over an edge to it, and every `cache_rebuild` supersteps,
which bounds the sum of rounding errors.
"""

from __future__ import annotations

import numpy as np

from gaslab.compiler.tree import Tree
from gaslab.engine.executor import Executor
from gaslab.engine.state import CachedTotals, RunState
from gaslab.engine.storage import dtype_of, identity
from gaslab.ragged import Rows
from gaslab.replication.exchange import Exchange, Section

UNKNOWN, SENT, NEW = 0, 1, 2  # of a replica's own total


class Cache:
    """The cached totals of one phase on one rank."""

    def __init__(self, executor: Executor, state: RunState, exchange: Exchange, rebuild: int) -> None:
        self.executor, self.state, self.exchange, self.rebuild = executor, state, exchange, rebuild
        tree: Tree = state.tree
        assert tree.gather is not None
        self._mask = executor.view.gather_edges
        n, dtype, nothing = state.active.size, dtype_of(tree.gather.storage), identity(tree.gather)
        of_mirrors = {p: np.full(ids.size, nothing, dtype) for p, ids in exchange.owned(self._mask).items()}
        state.cached = CachedTotals(np.full(n, nothing, dtype), np.zeros(n, np.uint8), of_mirrors)
        self.cached = state.cached
        self._changed = np.zeros(n, np.uint8)
        self._position = np.zeros(executor.local.num_masters, np.int32)
        self._mirrors = exchange.mirrors(self._mask)
        self._everyone = np.arange(executor.local.num_masters, dtype=np.int32)
        written = tree.writes("apply")
        self._far, self._near = (
            [k for k, f in enumerate(tree.vertex_fields) if f.name in tree.reads("gather", role) & written]
            for role in ("nbr", "v")
        )
        self._before: dict[int, np.ndarray | Rows] = {}
        executor.view.cache, executor.view.cached = self.cached.totals, self.cached.known
        executor.view.changed = self._changed

    @property
    def fields_read(self) -> tuple[list[int], list[int]]:
        """The fields that apply writes and gathers read: neighbours', and the vertex's own."""
        return self._far, self._near

    def forget(self) -> None:
        """Clear all totals: another phase has run."""
        self.cached.known[:] = UNKNOWN

    def gather_apply(self, ids: np.ndarray | None, aggregate: bool) -> tuple[np.ndarray, np.ndarray]:
        """Update the totals of active masters (*ids*; None is all) and apply; return ids and totals."""
        state, executor = self.state, self.executor
        if self.rebuild and (state.superstep - state.entered) % self.rebuild == 0:
            self.forget()
        mirrors, active = self._mirrors, None if ids is None else state.active
        if active is not None:
            mirrors = self.exchange.spread([Section(self._mask, ())], active).end()[self._mask]
        ids = self._everyone if ids is None else ids
        self._look(mirrors)
        new = mirrors[self.cached.known[mirrors] == NEW]
        sent = self.exchange.changes(self._mask, new, self.cached.totals[new])
        self.cached.known[new] = SENT

        self._look(ids)
        total = self.cached.totals[ids]
        self._position[ids] = np.arange(ids.size, dtype=np.int32)
        for p, (positions, values) in sent.end().items():
            self.cached.of_mirrors[p][positions] = values
        for p, owned in sorted(self.exchange.owned(self._mask).items()):
            chosen = np.arange(owned.size) if active is None else np.flatnonzero(active[owned])
            incoming = self.cached.of_mirrors[p][chosen]
            executor.over("gl_combine", self._position[owned[chosen]], total=total, incoming=incoming)
        self._before = {k: state.fields[k].copy() for k in {*self._far, *self._near}}
        executor.over("gl_apply", ids, aggregate=aggregate, total=total)
        return ids, total

    def _look(self, replicas: np.ndarray) -> None:
        """Gather over the edges here at replicas without a valid total."""
        unknown = replicas[self.cached.known[replicas] == UNKNOWN]
        partial = np.empty(unknown.size, self.cached.totals.dtype)
        self.executor.over("gl_gather", unknown, self._mask, total=partial)
        self.cached.totals[unknown] = partial
        self.cached.known[unknown] = NEW
        self.cached.gathered += unknown.size
        self.cached.kept += replicas.size - unknown.size

    def notice(self) -> None:
        """Find the replicas with a changed field that gathers read; needs up-to-date mirrors."""
        fields = self.state.fields
        self._changed[:] = 0
        for k in self._far:
            self._changed |= _differ(fields[k], self._before[k])
        for k in self._near:
            self.cached.known[_differ(fields[k], self._before[k])] = UNKNOWN


def _differ(now: np.ndarray | Rows, before: np.ndarray | Rows) -> np.ndarray:
    """Return bool[vertices]: whether a field's value has changed, by its bytes; -0.0 is not 0.0."""
    if isinstance(now, Rows):
        assert isinstance(before, Rows)
        return now.differ(before)
    assert isinstance(before, np.ndarray)
    bits = f"u{now.dtype.itemsize}"
    differs = now.view(bits) != before.view(bits)
    changed: np.ndarray = np.any(differs, axis=tuple(range(1, differs.ndim)))
    return changed
