"""Initial values in files, as `Result.save` writes them: ``gaslab.run(init=path)``."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

import numpy as np

from gaslab.errors import InputError, UsageError, nearest
from gaslab.graph.graph import Graph
from gaslab.ingest.sides import SIDES, right
from gaslab.ingest.tablefile import read_table

Path = str | os.PathLike[str]


class EarlierValues:
    """A table of vertices in a file, the same on all ranks.

    Attributes
    ----------
    path : str
    names : list
        The vertices, by the graph's names.
    columns : list of str
    """

    def __init__(self, path: Path, graph: Graph, of_ids: Collection[str]) -> None:
        """Read a file (collective); *of_ids* are the fields that hold vertices."""
        self.path, self._graph = os.fspath(path), graph
        self._table = graph.comm.on_root(lambda: read_table(self.path, texts=True, raw=of_ids))
        sides = self._table.pop("side", None) if graph.bipartite else None
        self.names = self._vertices(self._table.pop("id"), sides)
        self.columns = list(self._table)

    def values(self, field: str, holds_ids: bool = False) -> Any:
        """Return a field's column: an array, or a list; vertices by the graph's names."""
        if field not in self._table:
            raise UsageError(f"{self.path} has no column {field!r}{nearest(field, self.columns)}")
        found = self._table[field]
        if holds_ids and len(found) and isinstance(found[0], list):
            return [self._vertices(row, None) for row in found]
        return self._vertices(found, self._table.get(f"{field}_side")) if holds_ids else found

    def _vertices(self, words: Any, sides: Any) -> list[Any]:
        ids = self._graph.ids
        if sides is None:
            if isinstance(words, np.ndarray):
                return list(words.tolist())
            return [None if word in (None, "") else ids.from_text(str(word)) for word in words]
        if not set(np.asarray(sides).tolist()) <= {0, 1, -1}:
            raise InputError(f"{self.path}: a side must be 0 or 1")
        return [self._on_side(word, int(side)) for word, side in zip(words, sides, strict=True)]

    def _on_side(self, word: Any, side: int) -> Any:
        """Return a vertex of a bipartite graph; the side of no vertex is -1."""
        if side < 0 or word is None:
            return None
        if isinstance(word, str):
            return self._graph.ids.from_text(f"{SIDES[side]}:{word}")
        return right(int(word)) if side else int(word)
