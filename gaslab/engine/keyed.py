"""Totals by key in a run: new rows, and a thread's own room for building one."""

from __future__ import annotations

import numpy as np

from gaslab.compiler.tree import KeyedCombiner
from gaslab.engine.storage import dtype_of
from gaslab.ragged import KeyedRows


def new_keyed_rows(room: np.ndarray, combiner: KeyedCombiner) -> KeyedRows:
    """Return empty rows with room for this many keys each."""
    return KeyedRows(room, dtype_of(combiner.key), dtype_of(combiner.storage), combiner.key == "id32")


class KeyedRoom:
    """The ``gl_keyed_room`` of a thread: keys and sums, both in another order, pairs of them, and an index.

    Vertices have at most *row* edges here, and *longest* in the whole graph.
    """

    def __init__(self, combiner: KeyedCombiner, row: int, longest: int) -> None:
        key, value = dtype_of(combiner.key), dtype_of(combiner.storage)
        entries = 1 << max(2 * longest - 1, 1).bit_length()
        rooms = [(row, key), (row, value), (longest, key), (longest, value)]
        rooms += [(longest, np.dtype(np.uint64)), (entries, np.dtype(np.uint32))]
        self._arrays = [np.empty(size + 1, dtype) for size, dtype in rooms]
        self.table = np.array([a.ctypes.data for a in self._arrays], np.uintp)
