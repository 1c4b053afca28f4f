"""Fields that are looked up by id: before apply each active master gets the value of the vertex it names.

A master on this rank is read at once. Others are requested, each once per superstep, however many vertices
name it: the ids go to the ranks with the masters, and the values come back.
"""

from __future__ import annotations

import itertools

import numpy as np

from gaslab._kernels import lookups
from gaslab.compiler.tree import Variable
from gaslab.engine.executor import Executor
from gaslab.engine.state import RunState
from gaslab.replication.exchange import Exchange


class Lookups:
    """Fills the looked-up fields of one phase, on one rank."""

    def __init__(self, executor: Executor, state: RunState, exchange: Exchange) -> None:
        self._state, self._comm, self._local = state, exchange.comm, executor.local
        self._threads = executor.threads
        self._located = self._local.located(self._comm, int(executor.view.num_vertices))
        tree = state.tree
        self._number = {field.name: k for k, field in enumerate(tree.vertex_fields)}
        self._by_link = [
            (self._number[link], list(fields))
            for link, fields in itertools.groupby(sorted(tree.lookups, key=_link), key=_link)
        ]
        if self._comm.size > 1:
            mirrors = self._local.mirror_bounds[:, -1] - self._local.mirror_bounds[:, 0]
            self._owner = np.arange(self._comm.size, dtype=np.int32).repeat(mirrors)
            self._slot = np.full(self._located.size, -1, np.int32)

    def fill(self, ids: np.ndarray | None) -> None:
        """Look up the fields of the active masters *ids* (None is all), as they are now (collective)."""
        state, masters = self._state, self._local.num_masters
        for link, looked_up in self._by_link:
            named = state.fields[link]
            place = lookups.places(named, ids, self._located, masters, self._threads)
            asked = None
            if self._comm.size > 1:
                wanted, ends = lookups.requests(
                    named, ids, self._located, self._owner, masters, self._slot, place, self._comm.size
                )
                asked = [self._located[part] for part in self._comm.alltoall(np.split(wanted, ends[:-1]))]
            for field in looked_up:
                assert field.lookup is not None
                values, out = (state.fields[self._number[name]] for name in (field.lookup.field, field.name))
                received = values[:0]
                if asked is not None:
                    received = np.concatenate(self._comm.alltoall([values[part] for part in asked]))
                nobody = np.array([field.lookup.nobody]).astype(values.dtype)
                lookups.fill(values, received, nobody, place, ids, out, self._threads)


def _link(field: Variable) -> str:
    assert field.lookup is not None
    return field.lookup.link
