"""A growing table of distinct byte strings, filled by kernels that never allocate."""

from __future__ import annotations

import numpy as np

from gaslab._kernels import ids as kernels

PADDING = 8  # bytes behind the last name that a kernel may read


class NameTable:
    """Distinct names, each with its index in order of arrival.

    Attributes
    ----------
    arena : uint8 array
        The names, one behind the other.
    start : int64 array
        Name i is ``arena[start[i]:start[i + 1]]``.
    count : int
    """

    def __init__(self) -> None:
        self.count = 0
        self.arena = np.zeros(PADDING, dtype=np.uint8)
        self.start = np.zeros(1, dtype=np.int64)
        self._slot = np.zeros(2, dtype=np.uint64)

    def reserve(self, names: int, size: int) -> None:
        """Make room for so many more names of *size* bytes together."""
        used = int(self.start[self.count])
        if self.arena.size < used + size + PADDING:
            arena = np.empty(max(used + size, 2 * used) + PADDING, dtype=np.uint8)
            arena[:used] = self.arena[:used]
            self.arena = arena
        if self.start.size < self.count + names + 1:
            start = np.empty(max(self.count + names, 2 * self.count) + 1, dtype=np.int64)
            start[: self.count + 1] = self.start[: self.count + 1]
            self.start = start
        if self._slot.size < 2 * (self.count + names):
            self._slot = np.zeros(1 << int(2 * (self.count + names) - 1).bit_length(), dtype=np.uint64)
            kernels.place_names(self.arena, self.start, self.count, self._slot)

    def describe(self) -> tuple[int, int, int, int, int]:
        """Return what a kernel needs: addresses of arena, start and slots, the mask, the count."""
        return (
            self.arena.ctypes.data, self.start.ctypes.data, self._slot.ctypes.data, self._slot.size - 1, self.count
        )  # fmt: skip
