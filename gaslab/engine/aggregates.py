"""Aggregates: one value over all vertices, combined in block order and then in rank order.

The order is fixed, so a sum of floats has the same bits on any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab.compiler.tree import Tree
from gaslab.engine.state import identity, scalars

if TYPE_CHECKING:
    from gaslab.graph import Graph

_COMBINE = {"sum": np.add, "min": np.minimum, "max": np.maximum}


class Aggregates:
    """A program's aggregators, as eight-byte scalars of the ABI."""

    def __init__(self, tree: Tree, graph: Graph) -> None:
        self._graph = graph
        self._combiners = [a.combiner for a in tree.aggregators]
        self._identities = scalars([identity(c, wide=True) for c in self._combiners])[: len(self._combiners)]
        self._partials: list[np.ndarray] = []

    def __len__(self) -> int:
        return len(self._combiners)

    def begin(self) -> None:
        """Forget what was collected."""
        self._partials = []

    def rows(self, blocks: int) -> np.ndarray | None:
        """Return the table [blocks, aggregators], at the identities, that one sweep adds to."""
        if not self._combiners:
            return None
        table = np.repeat(self._identities[None, :], blocks, axis=0)
        self._partials.append(table)
        return table

    def collected(self) -> np.ndarray:
        """Return this rank's values: all sweeps since `begin`, combined in order."""
        return self.combined(np.concatenate([self._identities[None, :], *self._partials]))

    def combined(self, table: np.ndarray) -> np.ndarray:
        """Combine the rows of *table* (int64 [rows, aggregators]), in order."""
        result = np.empty_like(self._identities)
        for k, combiner in enumerate(self._combiners):
            column = np.ascontiguousarray(table[:, k]).view(_wide(combiner.type))
            with np.errstate(all="ignore"):
                result[k : k + 1].view(column.dtype)[0] = _COMBINE[combiner.op].reduce(column)
        return result

    def values(self, row: np.ndarray) -> list[Any]:
        """Return eight-byte scalars as Python numbers and vertex ids as the user's own (collective)."""
        kinds = [c.type for c in self._combiners]
        numbers = [row[k : k + 1].view(_wide(kind))[0].item() for k, kind in enumerate(kinds)]
        made: dict[str, Callable[[int], Any]] = {"bool": bool, "id": self._user_id}
        return [made[kind](x) if kind in made else x for x, kind in zip(numbers, kinds, strict=True)]

    def _user_id(self, gid: int) -> Any:
        if not 0 <= gid < self._graph.num_vertices:
            return None  # the combiner's identity
        found = self._graph.ids.lookup(np.array([gid], np.int64))[0]
        return found.item() if isinstance(found, np.generic) else found


def _wide(type_: str) -> np.dtype:
    return np.dtype(np.float64 if type_ == "float" else np.int64)
