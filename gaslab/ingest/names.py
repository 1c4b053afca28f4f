"""Byte strings in bulk: one arena of bytes and the starts of the names in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaslab._kernels import names as kernels
from gaslab.parallel.comm import Comm


class Names:
    """Strings in UTF-8: name i is ``arena[start[i]:start[i + 1]]``; the arena is padded for the kernels."""

    def __init__(self, arena: np.ndarray, start: np.ndarray) -> None:
        self.arena = arena
        self.start = start

    def __len__(self) -> int:
        return self.start.size - 1

    @classmethod
    def of(cls, strings: Sequence[str]) -> Names:
        """Return the names of Python strings; raises ValueError for a string with a NUL."""
        names = cls(*kernels.encode(list(strings)))
        if not names.arena[: names.start[-1]].all():
            raise ValueError("a NUL character in an id")
        return names

    @classmethod
    def joined(cls, arenas: Sequence[np.ndarray], lengths: Sequence[np.ndarray]) -> Names:
        """Return the names of several arenas (without padding), given each name's length."""
        padding = np.zeros(kernels.PADDING, dtype=np.uint8)
        start = np.concatenate([[0], np.cumsum(np.concatenate(lengths), dtype=np.int64)])
        return cls(np.concatenate([*arenas, padding]), start)

    def take(self, which: np.ndarray) -> Names:
        """Return the names at these positions."""
        return Names(*kernels.take(self.arena, self.start, np.ascontiguousarray(which, dtype=np.int64)))

    def order(self) -> np.ndarray:
        """Return the positions that put the names in bytewise order."""
        return kernels.sort(self.arena, self.start)  # type: ignore[no-any-return]

    def search(self, name: bytes) -> int:
        """Return where *name* belongs among these names, which are sorted."""
        return int(kernels.search(self.arena, self.start, name))

    def find(self, wanted: Sequence[bytes]) -> np.ndarray:
        """Return where each of *wanted* is among these names, which are sorted; -1 where it is not."""
        return kernels.find(self.arena, self.start, wanted)  # type: ignore[no-any-return]

    def bytes_at(self, i: int) -> bytes:
        """Return name *i*."""
        return bytes(self.arena[self.start[i] : self.start[i + 1]])

    def hash_sum(self) -> int:
        """Return the sum, modulo 2**64, of a hash of each name."""
        return int(kernels.hash_sum(self.arena, self.start))

    def decode(self) -> np.ndarray:
        """Return the names as an object array of str."""
        return kernels.decode(self.arena, self.start)  # type: ignore[no-any-return]

    def exchange(self, comm: Comm, bounds: np.ndarray) -> list[Names]:
        """Send names [bounds[p], bounds[p + 1]) to rank p; return what each rank sent (collective)."""
        lengths = np.diff(self.start)
        arenas = comm.alltoall(
            [self.arena[self.start[bounds[p]] : self.start[bounds[p + 1]]] for p in range(comm.size)]
        )
        counts = comm.alltoall([lengths[bounds[p] : bounds[p + 1]] for p in range(comm.size)])
        return [Names.joined([arena], [count]) for arena, count in zip(arenas, counts, strict=True)]


def concatenate(parts: Sequence[Names]) -> Names:
    """Return the names of all *parts*, one after the other."""
    return Names.joined(
        [part.arena[: part.start[-1]] for part in parts], [np.diff(part.start) for part in parts]
    )


class NameTable:
    """Distinct names, each with its index in order of arrival, filled by kernels that never allocate."""

    def __init__(self) -> None:
        self.count = 0
        self._arena = np.zeros(kernels.PADDING, dtype=np.uint8)
        self._start = np.zeros(1, dtype=np.int64)
        self._slot = np.zeros(2, dtype=np.uint64)

    def reserve(self, names: int, size: int) -> None:
        """Make room for more names of *size* bytes together."""
        used = int(self._start[self.count])
        if self._arena.size < used + size + kernels.PADDING:
            arena = np.zeros(max(used + size, 2 * used) + kernels.PADDING, dtype=np.uint8)
            arena[:used] = self._arena[:used]
            self._arena = arena
        if self._start.size < self.count + names + 1:
            start = np.zeros(max(self.count + names, 2 * self.count) + 1, dtype=np.int64)
            start[: self.count + 1] = self._start[: self.count + 1]
            self._start = start
        if self._slot.size < 2 * (self.count + names):
            self._slot = np.zeros(1 << int(2 * (self.count + names) - 1).bit_length(), dtype=np.uint64)
            kernels.place(self._arena, self._start, self.count, self._slot)

    def describe(self) -> tuple[int, ...]:
        """Return a kernel's arguments: addresses of arena, start and slots, the mask, the count."""
        addresses = (array.ctypes.data for array in (self._arena, self._start, self._slot))
        return (*addresses, self._slot.size - 1, self.count)

    def intern(self, names: Names) -> np.ndarray:
        """Add *names*; return the index of each."""
        self.reserve(len(names), int(names.start[-1]))
        index, self.count = kernels.intern(
            self._arena, self._start, self._slot, self.count, names.arena, names.start
        )
        return index  # type: ignore[no-any-return]

    def names(self) -> Names:
        """Return the names by index."""
        return Names(self._arena, self._start[: self.count + 1])
