"""Messages between ranks as bytes: which vertices of a list, and their values.

A part of a message begins at a multiple of 8 bytes. A field's values are rows of one size, or lists: with as
few bytes per value as all of them need, or as runs of equal values.
"""

from __future__ import annotations

import numpy as np

from gaslab._kernels import pack
from gaslab.errors import unknown
from gaslab.ragged import Rows, Runs

EVERY, BITMAP, INDEX = 0, 1, 2  # codes of positions
PLAIN = -1  # instead of a number of runs
SOME = 16  # maximum number of lists sampled first: value sizes, and whether runs pay


class Message:
    """A message being written, part by part; *room* bytes are expected."""

    def __init__(self, room: int = 256) -> None:
        self._room = np.empty(room, np.uint8)
        self._size = 0

    @property
    def bytes(self) -> np.ndarray:
        """The bytes written, as uint8."""
        return self._room[: self._size]

    def part(self, size: int) -> np.ndarray:
        """Add a part of *size* bytes for the caller to fill."""
        begin, end = self._size, self._size + size
        self._size = padded(end)
        if self._size > self._room.size:
            room = np.empty(max(self._size, 2 * self._room.size), np.uint8)
            room[:begin] = self._room[:begin]
            self._room = room
        self._room[end : self._size] = 0
        return self._room[begin:end]

    def add(self, values: np.ndarray) -> None:
        """Add the bytes of an array."""
        self.part(values.nbytes)[:] = values.view(np.uint8)

    def add_numbers(self, *numbers: int) -> None:
        """Add integers, of 8 bytes each."""
        self.part(8 * len(numbers)).view(np.int64)[:] = numbers

    def add_positions(self, positions: np.ndarray | None, n: int) -> None:
        """Add *positions* (int32) out of n (None: all of them) in the shortest code."""
        if positions is None or positions.size == n:
            self.add_numbers(EVERY, n)
        elif 4 * positions.size < n // 8:
            self.add_numbers(INDEX, positions.size)
            self.add(positions)
        else:
            self.add_numbers(BITMAP, positions.size)
            bits = self.part((n + 7) // 8)
            bits[:] = 0
            pack.positions_to_bits(positions, bits)

    def add_values(self, ids: np.ndarray, values: np.ndarray | Rows) -> None:
        """Add the values of vertices *ids* (int32)."""
        if isinstance(values, Rows):
            self.add_lists(ids, values)
        else:
            pack.take(values, ids, self.part(ids.size * pack.row_bytes(values)))

    def add_lists(self, ids: np.ndarray, lists: Rows) -> None:
        """Add the lists of *ids*, as `lists_at` reads them.

        The parts are the lengths; the number of runs of equal values and the bytes of a value; the length of
        each run; and its value. Runs, separate for each list, are used only if they take less than a quarter
        of the bytes, for all lists and for the `SOME` sampled first. Otherwise the number is `PLAIN`, and the
        values themselves follow: copying them takes a third of the time.
        """
        some = ids[:: -(-ids.size // SOME) or 1].copy()
        count, size, needed = lists.values_of(ids), 0, _bytes_of_a_value(lists, some)
        as_runs = lists.runs_of(some) < _most_runs(lists.values_of(some), needed)
        begin, place = self._size, padded(4 * ids.size)
        while size < needed:  # more than once only if unsampled lists have larger values
            self._size, size = begin, needed
            if as_runs:
                needed = self._add_runs(ids, lists, size, _most_runs(count, size))
                as_runs = needed > 0
            if not as_runs:
                parts = self.part(place + 16 + count * size)
                lengths, words = parts[: 4 * ids.size].view(np.int32), parts[place + 16 :].view(f"u{size}")
                parts[4 * ids.size : place] = 0
                parts[place : place + 16].view(np.int64)[:] = PLAIN, size
                needed = lists.pack_words(ids, lengths, words)

    def _add_runs(self, ids: np.ndarray, lists: Rows, size: int, most: int) -> int:
        """Add lists as runs of values of *size* bytes; return the bytes needed, 0 for too many runs."""
        lengths = np.empty(ids.size, np.int32)
        runs = Runs(np.empty(most, f"u{size}"), np.empty(most, np.int32))
        found, needed = lists.pack_runs(ids, lengths, runs)
        if found < 0:
            return 0
        self.add(lengths)
        self.add_numbers(found, size)
        self.add(runs.repeats[:found])
        self.add(runs.values[:found])
        return needed


def _bytes_of_a_value(lists: Rows, ids: np.ndarray) -> int:
    """Return the bytes that hold any value of these lists."""
    words = np.empty(lists.values_of(ids), f"u{lists.data.itemsize}")
    return lists.pack_words(ids, np.empty(ids.size, np.int32), words)


def _most_runs(values: int, size: int) -> int:
    """Return how many runs take less than a quarter of the bytes of this many values of *size* bytes."""
    return max(values * size - 1, 0) // (4 * (size + 4))


def positions_at(data: np.ndarray, offset: int, lo: int, hi: int) -> tuple[np.ndarray, int]:
    """Return the ids in [lo, hi) that the code at *offset* names, and the offset after it."""
    code, count = data[offset : offset + 16].view(np.int64).tolist()
    offset += 16
    if code == EVERY:
        return np.arange(lo, hi, dtype=np.int32), offset
    if code == INDEX:
        positions = data[offset : offset + 4 * count].view(np.int32)
        offset += padded(4 * count)
    elif code != BITMAP:
        raise unknown("a message of another rank", code)
    else:
        size = (hi - lo + 7) // 8
        positions = pack.bits_to_positions(data[offset : offset + padded(size)], count)
        offset += padded(size)
    return (positions + np.int32(lo) if lo else positions), offset


def lists_at(data: np.ndarray, offset: int, count: int) -> tuple[np.ndarray, np.ndarray | Runs, int]:
    """Return the lengths and values of *count* lists, for `Rows.unpack`, and the offset after them."""

    def part(length: int, kind: str) -> np.ndarray:
        nonlocal offset
        begin, size = offset, length * np.dtype(kind).itemsize
        offset += padded(size)
        return data[begin : begin + size].view(kind)

    lengths = part(count, "i4")
    runs, size = part(2, "i8").tolist()
    if runs == PLAIN:
        return lengths, part(int(lengths.sum(dtype=np.int64)), f"u{size}"), offset
    repeats = part(runs, "i4")
    return lengths, Runs(part(runs, f"u{size}"), repeats), offset


def values_at(
    data: np.ndarray, offset: int, ids: np.ndarray, whole: slice | None, into: np.ndarray | Rows
) -> int:
    """Store the values from `Message.add_values` at as many *ids*; return the offset after them.

    If the ids are a whole slice, that is *whole*.
    """
    if isinstance(into, Rows):
        lengths, values, offset = lists_at(data, offset, ids.size)
        into.unpack(ids, lengths, values)
        return offset
    size = ids.size * pack.row_bytes(into)
    if whole is not None:
        into[whole].reshape(-1).view(np.uint8)[:] = data[offset : offset + size]
    else:
        pack.put(into, ids, data[offset : offset + size])
    return offset + padded(size)


def padded(size: int) -> int:
    """Return the bytes that a part of this many takes."""
    return (size + 7) & ~7
