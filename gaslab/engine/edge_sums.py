"""Additive edge fields: contributions from either end are applied after scatter.

The two ends contribute to separate records, each written by one thread alone, so that the order of additions
does not depend on threads: the source's come before the target's. An edge is on one rank, so nothing is sent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab.compiler.tree import Tree
from gaslab.engine.executor import Executor
from gaslab.engine.storage import dtype_of, identity
from gaslab.program import IN, OUT


class EdgeSums:
    """The edge fields to which one program's scatter adds, on one rank."""

    def __init__(self, executor: Executor, tree: Tree) -> None:
        self.executor, self._mask = executor, executor.view.scatter_edges
        combiners = {f"d{k}": tree.edge_fields[k].added for k in tree.contributed_edges()}
        record = np.dtype([(name, dtype_of(c.storage)) for name, c in combiners.items()], align=True)
        nothing: Any = np.array(tuple(map(identity, combiners.values())), record)[()]
        view, n = executor.view, executor.local.num_edges
        view.delta_back = np.full(n, nothing, record)
        view.delta_forth = np.full(n, nothing, record) if self._mask & OUT else None

    def apply_deltas(self, ids: np.ndarray | None) -> None:
        """Apply the contributions of the replicas *ids* (None: all)."""
        executor, mask = self.executor, self._mask
        steps = [("gl_join_ends", OUT)] if mask & OUT else []
        steps += [("gl_apply_deltas_in", IN)] if mask & IN or ids is None else []
        steps += [("gl_apply_deltas_out", OUT)] if mask & OUT and ids is not None else []
        for phase, row in steps:
            if ids is None:
                executor.over_locals(phase, row)
            else:
                executor.over(phase, ids, row)
