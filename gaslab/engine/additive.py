"""Additive fields: what scatter added anywhere is brought to the masters and counts after scatter.

Every replica keeps what was added to it in a record beside its fields. On a rank the order of additions
does not depend on threads: a target adds up its own edges (pull), or one thread runs the sources. Masters
then add the mirrors' records in rank order.
"""

from __future__ import annotations

import math

import numpy as np

from gaslab._kernels import frontier
from gaslab.compiler.tree import WIDE, Combiner, Contribute, Tree, VertexField, element_of
from gaslab.engine.executor import Executor
from gaslab.engine.state import RunState
from gaslab.engine.storage import dtype_of, identity, limits_of
from gaslab.replication.exchange import Exchange, Packed, Signals

_RANGE = 2  # GL_FAULT_RANGE


class Additive:
    """The additive fields that one program's scatter adds to; *role* has the mirrors that it may add to."""

    def __init__(self, executor: Executor, state: RunState, exchange: Exchange, role: int) -> None:
        self.executor, self.state, self.exchange, self.role = executor, state, exchange, role
        self._fields = state.tree.contributed()
        variables = state.tree.vertex_fields
        members = [
            (
                f"d{k}",
                dtype_of(self._combiner(k).storage),
                (math.prod(variables[k].shape),) * bool(variables[k].shape),
            )
            for k in self._fields
        ]
        nothing = np.zeros((), np.dtype(members, align=True))
        for k in self._fields:
            nothing[f"d{k}"] = identity(self._combiner(k))
        self._identity, record = nothing[()], nothing.dtype
        n = executor.local.num_local
        self.delta = np.full(n, self._identity, record)
        self._touched = np.zeros(n, np.uint8)
        self._blocks = np.zeros((n >> frontier.SIGNAL_BLOCK) + 1, np.uint8)
        view = executor.view
        view.delta, view.touched, view.touched_blocks = self.delta, self._touched, self._blocks

    def _combiner(self, k: int) -> Combiner:
        field = self.state.tree.vertex_fields[k]
        assert field.sync is not None
        return Combiner(field.sync, WIDE[element_of(field.type)])

    def apply_deltas(self) -> tuple[frozenset[str], np.ndarray]:
        """Let what was given count at the masters; return the fields' names and the masters changed."""
        sent = self.exchange.collect(self.role, self._touched, self._blocks, self.delta, self._identity)
        self.receive(sent.end())
        return self.count()

    def pack(self) -> Packed:
        """Return what mirrors were given, by their master's rank."""
        return self.exchange.pack_collect(self.role, self._touched, self._blocks, self.delta, self._identity)

    def unpack(self, came: Packed) -> list[Signals]:
        """Return what other ranks have packed, for `receive`."""
        return self.exchange.unpack_collect(self.role, self.delta, False, came)

    def receive(self, contributions: list[Signals]) -> None:
        """Add contributions of other ranks to what the masters here were given."""
        for ids, records, _ in contributions:
            assert records is not None
            for k in self._fields:
                mine = self.delta[f"d{k}"]
                mine[ids] = getattr(np, self._combiner(k).operation.numpy)(mine[ids], records[f"d{k}"])
            frontier.signal(self._touched, self._blocks, ids)

    def count(self) -> tuple[frozenset[str], np.ndarray]:
        """Let what the masters here were given count; return the fields' names and the masters changed."""
        masters = self.executor.local.num_masters
        changed: np.ndarray = frontier.take_signalled(self._touched, self._blocks, 0, masters)
        names = self.state.tree.vertex_fields
        for k in self._fields:
            self._add(k, changed)
        self.delta[changed] = self._identity
        return frozenset(names[k].name for k in self._fields), changed

    def _add(self, k: int, ids: np.ndarray) -> None:
        combiner, values = self._combiner(k), self.state.fields[k]
        given = self.delta[f"d{k}"][ids].reshape(ids.size, *values.shape[1:])
        with np.errstate(all="ignore"):
            total = getattr(np, combiner.operation.numpy)(values[ids].astype(given.dtype), given)
            if values.dtype.kind in "iu" and ids.size:
                least, largest = limits_of(values.dtype)
                beyond = (total < least) | (total > largest)
                outside = np.flatnonzero(beyond.reshape(ids.size, -1).any(axis=1))
                if outside.size and self.executor.fault is None:
                    gid = int(self.executor.local.gid[ids[outside[0]]])
                    site = _site(self.state.tree, k)
                    self.executor.fault = (_RANGE, gid, site, self.state.superstep)
                    return
            values[ids] = total


def _site(tree: Tree, k: int) -> int:
    """Return the place of the first contribution to a field."""
    pending: list[object] = list(tree.functions["scatter"].body)
    while pending:
        statement = pending.pop(0)
        if (
            isinstance(statement, Contribute)
            and isinstance(statement.place, VertexField)
            and statement.place.index == k
        ):
            return statement.site
        for name in ("body", "otherwise"):
            pending += getattr(statement, name, ())
    raise AssertionError(k)
