"""Gathers under bounded staleness: masters use the last partial sums that came, mirrors send what changed."""

from __future__ import annotations

import numpy as np

from gaslab.compiler.tree import Aggregate, EdgeField, Global, PartOf, Tree, nodes
from gaslab.engine.gather import Gather
from gaslab.engine.phases import Phases
from gaslab.engine.state import RunState
from gaslab.engine.storage import identity
from gaslab.engine.streams import Held
from gaslab.exchange import Changes, Exchange, Partials
from gaslab.program import IN, OUT

FEW = 8  # fewer changed vertices than one in so many: look for the mirrors next to them


class StaleGather(Gather):
    """A gather that waits for nobody."""

    def __init__(self, phases: Phases, state: RunState, exchange: Exchange) -> None:
        super().__init__(phases, state, exchange)
        self.volatile = _is_volatile(state.tree)
        self.changed = np.ones(phases.local.num_local, np.uint8)  # replicas, since they were last sent
        self.basis = np.full(phases.local.size, -1, np.int64)  # the superstep each rank's show, at least
        self.weights = np.zeros(phases.local.size, np.int64)  # how many each rank has
        self._kept: dict[int, np.ndarray] = {}
        for p, owned in sorted(exchange.owned(self.mask).items()):
            self._kept[p] = np.full(owned.size, identity(self.combiner), self.dtype)
            self.weights[p] = owned.size

    def _begin(self, ids: np.ndarray | None, active: np.ndarray | None) -> Partials:
        """Take the partial sums that are here."""
        expected, parts = {}, {}
        for p, kept in self._kept.items():
            owned = self.exchange.owned(self.mask)[p]
            chosen = slice(None) if active is None else np.flatnonzero(active[owned])
            expected[p], parts[p] = owned[chosen], kept[chosen].view(np.uint8)
        return Partials(expected, self.dtype, False, Held(parts))

    def send(self) -> None:
        """Begin to send the partial sums that may have changed."""
        mirrors = self._outdated()
        partial = np.empty(mirrors.size, self.dtype)
        self.phases.view.total = partial
        self.phases.over("gl_gather", mirrors, self.mask)
        self.exchange.changes(self.mask, mirrors, partial)
        self.changed[:] = 0

    def receive(self, came: Held) -> None:
        """Keep what other ranks sent."""
        for p, (positions, values) in Changes(self.exchange, self.mask, self.dtype, came).end().items():
            self._kept[p][positions] = values

    def _outdated(self) -> np.ndarray:
        """Return the mirrors whose partial sums may be others than those last sent, ascending."""
        local, changed = self.phases.local, np.flatnonzero(self.changed)
        if self.volatile or changed.size * FEW > local.num_local:
            return self.mirrors
        concerned = np.zeros(local.num_local, np.uint8)
        concerned[changed] = 1  # a gather may read its own vertex
        for mask in (IN, OUT):
            if self.mask & mask:
                begin, neighbor = local.out()[:2] if mask == IN else (local.in_begin, local.in_neighbor)
                first, counts = begin[changed], begin[changed + 1] - begin[changed]
                if counts.sum() * FEW > local.num_edges:
                    return self.mirrors
                at = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
                concerned[neighbor[at]] = 1
        found: np.ndarray = self.mirrors[concerned[self.mirrors] == 1]
        return found


def _is_volatile(tree: Tree) -> bool:
    """Whether a gather may come to something else though no vertex has changed."""
    written = tree.written_edges()
    functions = [tree.functions["gather"], *tree.helpers]
    if any("self.draws" in f.reads for f in functions):
        return True
    for node in (node for f in functions for node in nodes(f.body)):
        if isinstance(node, Aggregate) or (isinstance(node, Global) and node.name == "superstep"):
            return True
        if isinstance(node, PartOf) and " " in node.record:  # of an aggregate
            return True
        if isinstance(node, EdgeField) and tree.edge_fields[node.index].name in written:
            return True
    return False
