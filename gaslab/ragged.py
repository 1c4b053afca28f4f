"""`Rows`: a list for each vertex, as the ABI's ``gl_rows`` and as Python lists for an interpreted program."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab._kernels import ragged


class Rows:
    """Rows of values with a fixed room each.

    Attributes
    ----------
    place : int64[rows, 2]
        Where each row begins in `data`, and how many values it has.
    data : array
        The values. Its pages cost nothing until a row is written.
    """

    ndim = 1  # as of an array with one number for each vertex

    def __init__(self, room: np.ndarray, dtype: np.dtype) -> None:
        self.place = np.empty((room.size, 2), np.int64)
        self.data = np.empty(int(ragged.lay_out(self.place, room)), dtype)
        self.most = int(room.max()) if room.size else 0  # values that a row has room for, at most
        self._table = np.array([self.place.ctypes.data, self.data.ctypes.data], np.uintp)

    def copy(self) -> Rows:
        """Return rows of the same room, all empty."""
        ends = np.append(self.place[1:, 0], self.data.size)
        return Rows(ends - self.place[:, 0] if self.size else np.zeros(0, np.int64), self.data.dtype)

    @property
    def ctypes(self) -> Any:
        """The ``gl_rows`` as an array has its own address: for `View.vertex`."""
        return self._table.ctypes

    @property
    def table(self) -> np.ndarray:
        """The ``gl_rows``: for `View.total`."""
        return self._table

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.place)

    @property
    def lengths(self) -> np.ndarray:
        """The number of values in each row."""
        return self.place[:, 1]

    # ---- one row, for an interpreted program ---------------------------------------------------------

    def item(self, v: int) -> list[Any]:
        """Return row v."""
        begin, length = self.place[v].tolist()
        return self.data[begin : begin + length].tolist()  # type: ignore[no-any-return]

    def __setitem__(self, v: int, values: list[Any]) -> None:
        begin = int(self.place[v, 0])
        self.data[begin : begin + len(values)] = values
        self.place[v, 1] = len(values)

    # ---- many rows -----------------------------------------------------------------------------------

    def pack(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the lengths (int32) and the values of rows *ids*, one row behind the other."""
        lengths = np.empty(ids.size, np.int32)
        values = np.empty(int(ragged.total(self.place, ids)), self.data.dtype)
        ragged.take(self.place, self.data, ids, lengths, values)
        return lengths, values

    def unpack(self, ids: np.ndarray, lengths: np.ndarray, values: np.ndarray) -> None:
        """Fill rows *ids* with what `pack` gave."""
        ragged.put(self.place, self.data, ids, lengths, values)

    def append(self, ids: np.ndarray, lengths: np.ndarray, values: np.ndarray) -> None:
        """Put what `pack` gave behind the values of rows *ids*."""
        ragged.append(self.place, self.data, ids, lengths, values)

    def copy_to(self, other: Rows, ids: np.ndarray) -> None:
        """Copy rows *ids* to the same rows of *other*."""
        ragged.copy(self.place, self.data, other.place, other.data, ids)


def encode_rows(rows: Rows, ids: np.ndarray) -> list[np.ndarray]:
    """Return rows *ids* as the bytes of a message: lengths, then values, both padded to 8 bytes."""
    lengths, values = rows.pack(ids)
    return [_padded(lengths), _padded(values)]


def decode_rows(
    data: np.ndarray, offset: int, count: int, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the lengths and values of *count* rows that `encode_rows` wrote, and the offset behind them."""
    lengths = data[offset : offset + 4 * count].view(np.int32)
    offset += (4 * count + 7) & ~7
    size = int(lengths.sum(dtype=np.int64)) * dtype.itemsize
    return lengths, data[offset : offset + size].view(dtype), offset + ((size + 7) & ~7)


def _padded(values: np.ndarray) -> np.ndarray:
    size = (values.nbytes + 7) & ~7
    if size == values.nbytes:
        return values.view(np.uint8)
    padded = np.zeros(size, np.uint8)
    padded[: values.nbytes] = values.view(np.uint8)
    return padded
