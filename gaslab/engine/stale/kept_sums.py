"""Gathers under bounded staleness: mirrors send changed partial sums, masters use the last received."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab.compiler.tree import STEPS, Aggregate, EdgeField, Global, PartOf, Tree, nodes
from gaslab.engine.executor import Executor
from gaslab.engine.state import RunState
from gaslab.engine.storage import identity, total_dtype
from gaslab.parallel.comm import Pending
from gaslab.program import IN, OUT
from gaslab.replication.exchange import Exchange, Packed, Sent

FEW = 8  # with fewer changed vertices than one in this many: search their neighbouring mirrors


class KeptSums:
    """The last partial sums received from mirrors of this rank's masters; no gather waits for newer ones."""

    def __init__(self, executor: Executor, state: RunState, exchange: Exchange) -> None:
        assert state.tree.gather is not None
        self.executor, self.exchange, self.mask = executor, exchange, executor.view.gather_edges
        combiner = state.tree.gather
        self._dtype, self._mirrors = total_dtype(combiner), exchange.mirrors(self.mask)
        self.volatile = _is_volatile(state.tree)
        self.changed = np.ones(executor.local.num_local, np.uint8)  # replicas, since last sent
        self.basis = np.full(executor.local.size, -1, np.int64)  # the minimum superstep of each rank's
        self.weights = np.zeros(executor.local.size, np.int64)  # the number on each rank
        self._kept: dict[int, np.ndarray] = {}
        for p, owned in sorted(exchange.owned(self.mask).items()):
            self._kept[p] = np.full(owned.size, identity(combiner), self._dtype)
            self.weights[p] = owned.size

    def begin(self, ids: np.ndarray | None, active: np.ndarray | None) -> Sent[list[tuple[np.ndarray, Any]]]:
        """Return the partial sums received for active masters."""
        found = []
        for p, kept in self._kept.items():
            owned = self.exchange.owned(self.mask)[p]
            chosen = slice(None) if active is None else np.flatnonzero(active[owned])
            found.append((owned[chosen], kept[chosen]))
        return Sent(Pending(), lambda _: found)

    def pack(self) -> Packed:
        """Return the partial sums, of mirrors here, that may have changed, by the master's rank."""
        mirrors = self._outdated()
        partial = np.empty(mirrors.size, self._dtype)
        self.executor.over("gl_gather", mirrors, self.mask, total=partial)
        self.changed[:] = 0
        return self.exchange.pack_changes(self.mask, mirrors, partial)

    def receive(self, received: Packed) -> None:
        """Keep the partial sums from other ranks."""
        found = self.exchange.unpack_changes(self.mask, self._dtype, received)
        for p, (positions, values) in found.items():
            self._kept[p][positions] = values

    def _outdated(self) -> np.ndarray:
        """Return the mirrors whose partial sums may differ from the last sent, ascending."""
        local, changed = self.executor.local, np.flatnonzero(self.changed)
        if self.volatile or changed.size * FEW > local.num_local:
            return self._mirrors
        concerned = np.zeros(local.num_local, np.uint8)
        concerned[changed] = 1  # a gather may read its own vertex
        for mask in (IN, OUT):
            if self.mask & mask:
                begin, neighbor = local.out()[:2] if mask == IN else (local.in_begin, local.in_neighbor)
                first, counts = begin[changed], begin[changed + 1] - begin[changed]
                if counts.sum() * FEW > local.num_edges:
                    return self._mirrors
                at = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
                concerned[neighbor[at]] = 1
        found: np.ndarray = self._mirrors[concerned[self._mirrors] == 1]
        return found


def _is_volatile(tree: Tree) -> bool:
    """Whether a gather's total may change although no vertex has changed."""
    written = tree.written_edges()
    functions = [tree.functions["gather"], *tree.helpers]
    if any("self.draws" in f.reads for f in functions):
        return True
    for node in (node for f in functions for node in nodes(f.body)):
        if isinstance(node, Aggregate) or (isinstance(node, Global) and node.name in STEPS):
            return True
        if isinstance(node, PartOf) and " " in node.record:  # of an aggregate
            return True
        if isinstance(node, EdgeField) and tree.edge_fields[node.index].name in written:
            return True
    return False
