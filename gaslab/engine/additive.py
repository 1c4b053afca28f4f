"""Additive fields: scatter's contributions are sent to the masters and applied after scatter.

Every replica keeps its contributions in a record beside its fields. On a rank the order of additions does not
depend on threads: a target adds its own edges (pull), or one thread runs the sources. Masters then add the
mirrors' records in rank order.
"""

from __future__ import annotations

import math

import numpy as np

from gaslab._kernels import frontier
from gaslab.compiler.tree import VertexField
from gaslab.compiler.tree.uses import contributed_at
from gaslab.engine.executor import Executor
from gaslab.engine.state import RunState
from gaslab.engine.storage import dtype_of, identity, limits_of
from gaslab.replication.exchange import Exchange, Packed, Signals

_RANGE = 2  # GL_FAULT_RANGE


class Additive:
    """The additive fields of one program's scatter; *role* has the mirrors to which it may add."""

    def __init__(self, executor: Executor, state: RunState, exchange: Exchange, role: int) -> None:
        self.executor, self.state, self.exchange, self.role = executor, state, exchange, role
        self._fields = state.tree.contributed()
        variables = state.tree.vertex_fields
        self._combiners = {k: variables[k].added for k in self._fields}
        members = [
            (f"d{k}", dtype_of(added.storage), (math.prod(variables[k].shape),) * bool(variables[k].shape))
            for k, added in self._combiners.items()
        ]
        nothing = np.zeros((), np.dtype(members, align=True))
        for k, added in self._combiners.items():
            nothing[f"d{k}"] = identity(added)
        self._identity, record = nothing[()], nothing.dtype
        n = executor.local.num_local
        self.delta = np.full(n, self._identity, record)
        self._touched = np.zeros(n, np.uint8)
        self._blocks = np.zeros((n >> frontier.SIGNAL_BLOCK) + 1, np.uint8)
        view = executor.view
        view.delta, view.touched, view.touched_blocks = self.delta, self._touched, self._blocks

    def apply_deltas(self) -> tuple[frozenset[str], np.ndarray]:
        """Apply all contributions at the masters; return the names of the fields and the changed masters."""
        sent = self.exchange.collect(self.role, self._touched, self._blocks, self.delta, self._identity)
        self.receive(sent.end())
        return self.count()

    def pack(self) -> Packed:
        """Return the contributions to mirrors, by the master's rank."""
        return self.exchange.pack_collect(self.role, self._touched, self._blocks, self.delta, self._identity)

    def unpack(self, received: Packed) -> list[Signals]:
        """Return the contributions packed by other ranks, for `receive`."""
        return self.exchange.unpack_collect(self.role, self.delta, False, received)

    def receive(self, contributions: list[Signals]) -> None:
        """Add other ranks' contributions to those at the masters here."""
        for ids, records, _ in contributions:
            assert records is not None
            for k, added in self._combiners.items():
                mine = self.delta[f"d{k}"]
                mine[ids] = getattr(np, added.operation.numpy)(mine[ids], records[f"d{k}"])
            frontier.signal(self._touched, self._blocks, ids)

    def count(self) -> tuple[frozenset[str], np.ndarray]:
        """Apply the contributions at the masters here; return the fields' names and the changed masters."""
        masters = self.executor.local.num_masters
        changed: np.ndarray = frontier.take_signalled(self._touched, self._blocks, 0, masters)
        names = self.state.tree.vertex_fields
        for k in self._fields:
            self._add(k, changed)
        self.delta[changed] = self._identity
        return frozenset(names[k].name for k in self._fields), changed

    def _add(self, k: int, ids: np.ndarray) -> None:
        combiner, values = self._combiners[k], self.state.fields[k]
        deltas = self.delta[f"d{k}"][ids].reshape(ids.size, *values.shape[1:])
        with np.errstate(all="ignore"):
            total = getattr(np, combiner.operation.numpy)(values[ids].astype(deltas.dtype), deltas)
            if values.dtype.kind in "iu" and ids.size:
                least, largest = limits_of(values.dtype)
                beyond = (total < least) | (total > largest)
                outside = np.flatnonzero(beyond.reshape(ids.size, -1).any(axis=1))
                if outside.size and self.executor.fault is None:
                    gid = int(self.executor.local.gid[ids[outside[0]]])
                    site = contributed_at(self.state.tree, VertexField, k)
                    self.executor.fault = (_RANGE, gid, site, self.state.superstep)
                    return
            values[ids] = total
