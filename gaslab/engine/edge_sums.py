"""Additive edge fields: what scatter added from either end counts after scatter.

What the two ends give is kept apart, each written by the end's own thread alone, so that the order of
additions does not depend on threads: the source's contributions come before the target's. An edge is on
one rank, so nothing travels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab.compiler.tree import WIDE, Combiner, Tree
from gaslab.engine.executor import Executor
from gaslab.engine.storage import dtype_of, identity
from gaslab.program import IN, OUT


class EdgeSums:
    """The edge fields that one program's scatter adds to, on one rank."""

    def __init__(self, executor: Executor, tree: Tree) -> None:
        self.executor, self._mask = executor, executor.view.scatter_edges
        combiners = {}
        for k in tree.contributed_edges():
            field = tree.edge_fields[k]
            assert field.sync is not None
            assert isinstance(field.type, str)
            combiners[f"d{k}"] = Combiner(field.sync, WIDE[field.type])
        record = np.dtype([(name, dtype_of(c.storage)) for name, c in combiners.items()], align=True)
        nothing: Any = np.array(tuple(map(identity, combiners.values())), record)[()]
        view, n = executor.view, executor.local.num_edges
        view.delta_back = np.full(n, nothing, record)
        view.delta_forth = np.full(n, nothing, record) if self._mask & OUT else None

    def apply_deltas(self, ids: np.ndarray | None) -> None:
        """Let what the replicas *ids* (None: all) gave count."""
        executor, mask = self.executor, self._mask
        steps = [("gl_join_ends", OUT)] if mask & OUT else []
        steps += [("gl_settle_in", IN)] if mask & IN or ids is None else []
        steps += [("gl_settle_out", OUT)] if mask & OUT and ids is not None else []
        for phase, row in steps:
            if ids is None:
                executor.over_locals(phase, row)
            else:
                executor.over(phase, ids, row)
