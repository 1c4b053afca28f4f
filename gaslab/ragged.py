"""Lists of different length: `Rows`, a program's field of them, and `RaggedColumn`, a graph's of edges.

`Rows` are the ``gl_rows`` of the ABI; an interpreted program has them as Python lists. `KeyedRows` are totals
by key, of keys and of their sums; `GrowingRows` are those of fields that a program appends to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gaslab._kernels import ragged
from gaslab.errors import InternalError

if TYPE_CHECKING:
    from gaslab.parallel.comm import Comm

NOBODY_32 = (1 << 32) - 1  # in lists of global ids: no vertex


class Runs(NamedTuple):
    """The values of rows one behind the other: each of *values* stands there *repeats* (int32) times."""

    values: np.ndarray
    repeats: np.ndarray


class Rows:
    """Rows of values with a fixed room each.

    Attributes
    ----------
    place : int64[rows, 2]
        Where each row begins in `data`, and how many values it has.
    data : array
        The values. Its pages cost nothing until a row is written.
    of_ids : bool
        Whether these are global ids in 32 bits, of which the largest is no vertex.
    """

    ndim = 1  # as of an array with one number for each vertex

    def __init__(self, room: np.ndarray, dtype: np.dtype, of_ids: bool = False) -> None:
        self.of_ids = of_ids
        place = np.empty((room.size, 2), np.int64)
        self._bind(place, np.empty(int(ragged.lay_out(place, room)), dtype))
        self.most = int(room.max()) if room.size else 0  # values that a row has room for, at most

    def _bind(self, place: np.ndarray, data: np.ndarray) -> None:
        self.place, self.data, self._words = place, data, _words(data)
        if not hasattr(self, "_table"):
            self._table = np.empty(2, np.uintp)  # which stays where it is
        self._table[:] = place.ctypes.data, data.ctypes.data

    @classmethod
    def of(cls, lengths: np.ndarray, values: np.ndarray) -> Rows:
        """Return full rows: so many values each, one row behind the other."""
        rows = cls(np.asarray(lengths, np.int64), values.dtype)
        rows.place[:, 1] = lengths
        rows.data[:] = values
        return rows

    def empty_at(self, ids: np.ndarray) -> Rows:
        """Return rows *ids* without values, whose room is that of these rows."""
        rows = Rows(np.zeros(0, np.int64), self.data.dtype, self.of_ids)
        rows._bind(self.place[ids], self.data)
        rows.place[:, 1], rows.most = 0, self.most
        return rows

    def copy(self) -> Rows:
        """Return rows of the same room with the same values."""
        ends = np.append(self.place[1:, 0], self.data.size)
        room = ends - self.place[:, 0] if self.size else np.zeros(0, np.int64)
        rows = Rows(room, self.data.dtype, self.of_ids)
        self.copy_to(rows, np.arange(self.size, dtype=np.int32))
        return rows

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

    def hold(self, data: np.ndarray) -> None:
        """Take other values, among which `place` has been laid out anew."""
        self._bind(self.place, data)

    def values(self, ids: np.ndarray) -> np.ndarray:
        """Return the values of rows *ids* one row behind the other, as they are stored."""
        begin, lengths = self.place[ids].T
        places = np.arange(int(lengths.sum())) + np.repeat(begin - np.cumsum(lengths) + lengths, lengths)
        found: np.ndarray = self.data[places]
        return found

    # ---- one row, for an interpreted program ---------------------------------------------------------

    def item(self, v: int) -> list[Any]:
        """Return row v."""
        begin, length = self.place[v].tolist()
        values = self.data[begin : begin + length]
        return (_wide(values) if self.of_ids else values).tolist()  # type: ignore[no-any-return]

    def __setitem__(self, v: int, values: list[Any]) -> None:
        begin = int(self.place[v, 0])
        if self.of_ids:
            values = [min(x, NOBODY_32) if x >= 0 else NOBODY_32 for x in values]
        self.data[begin : begin + len(values)] = values
        self.place[v, 1] = len(values)

    # ---- many rows -----------------------------------------------------------------------------------

    def pack(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the lengths (int32) and the values of rows *ids* in a row; global ids are int64."""
        lengths, values = np.empty(ids.size, np.int32), np.empty(self.values_of(ids), self.data.dtype)
        self.pack_words(ids, lengths, _words(values))
        return lengths, _wide(values) if self.of_ids else values

    def values_of(self, ids: np.ndarray) -> int:
        """Return how many values rows *ids* have."""
        return int(ragged.total(self.place, ids))

    def runs_of(self, ids: np.ndarray) -> int:
        """Return how many runs of equal values rows *ids* have, each row its own."""
        return int(ragged.runs(self.place, self._words, ids))

    def pack_words(self, ids: np.ndarray, lengths: np.ndarray, words: np.ndarray) -> int:
        """Store what `pack` returns; return the bytes that hold any value of the rows.

        The *words* are unsigned numbers; if they have fewer bytes than that, values have lost some.
        """
        return _bytes_for(ragged.take(self.place, self._words, ids, lengths, words))

    def pack_runs(self, ids: np.ndarray, lengths: np.ndarray, runs: Runs) -> tuple[int, int]:
        """Store rows *ids* as runs of equal values, each row its own, as `pack_words` stores them.

        Return how many runs there are, -1 if there is no room, and the bytes that hold any value.
        """
        found, ored = ragged.take_runs(self.place, self._words, ids, lengths, *runs)
        return found, _bytes_for(ored)

    def unpack(
        self, ids: np.ndarray, lengths: np.ndarray, values: np.ndarray | Runs, behind: bool = False
    ) -> None:
        """Fill rows *ids* with what was packed: in place of the values that they have, or *behind* them."""
        if not isinstance(values, Runs):
            ragged.put(self.place, self._words, ids, lengths, _words(values), behind)
        elif not ragged.put_runs(self.place, self._words, ids, lengths, *values, behind):
            raise InternalError(
                f"{values.repeats.size} runs of values from another rank do not fill their rows; this is a "
                "fault of gaslab, please report it"
            )

    def differ(self, other: Rows) -> np.ndarray:
        """Return as bool[rows] which rows have other values than the same rows of *other*, by their bytes."""
        found = np.empty(self.size, np.uint8)
        ragged.differ(self.place, self.data, other.place, other.data, found)
        return found.view(np.bool_)

    def copy_to(self, other: Rows, ids: np.ndarray) -> None:
        """Copy rows *ids* to the same rows of *other*."""
        ragged.copy(self.place, self.data, other.place, other.data, ids)


Packed = tuple[np.ndarray, np.ndarray | Runs]  # lengths and values, as `Rows.unpack` takes them


class KeyedRows:
    """The ``gl_keyed_rows`` of emitted programs: rows of as much room for keys as for their sums.

    Attributes
    ----------
    keys, values : Rows
        A key stands once for each rank whose sums are there: those of this rank first, then by rank.
    """

    def __init__(self, room: np.ndarray, key: np.dtype, value: np.dtype, of_ids: bool) -> None:
        self.keys, self.values = Rows(room, key, of_ids), Rows(room, value)
        self.table = np.concatenate([self.keys.table, self.values.table])  # for `View.total`

    def item(self, v: int) -> list[tuple[Any, Any]]:
        """Return the keys of row v with their sums."""
        return list(zip(self.keys.item(v), self.values.item(v), strict=True))

    def __setitem__(self, v: int, sums: dict[Any, Any]) -> None:
        self.keys[v], self.values[v] = list(sums), list(sums.values())

    def unpack(self, ids: np.ndarray, keys: Packed, values: Packed, behind: bool) -> None:
        """Fill rows *ids* as `Rows.unpack` does."""
        self.keys.unpack(ids, *keys, behind)
        self.values.unpack(ids, *values, behind)


class GrowingRows(Rows):
    """Rows that grow, each of which has room for a power of two of values, from four on, or none.

    A row that needs more gets room behind the others; where there is none left, all rows move.
    """

    def __init__(self, lengths: np.ndarray, dtype: np.dtype, of_ids: bool = False) -> None:
        super().__init__(_capacities(lengths), dtype, of_ids)
        self._used = self.data.size

    def __setitem__(self, v: int, values: list[Any]) -> None:
        self._make_room(np.array([v], np.int32), np.array([len(values)], np.int64))
        super().__setitem__(v, values)

    def unpack(
        self, ids: np.ndarray, lengths: np.ndarray, values: np.ndarray | Runs, behind: bool = False
    ) -> None:
        self._make_room(ids, lengths.astype(np.int64) + self.lengths[ids] * behind)
        super().unpack(ids, lengths, values, behind)

    def absorb(self, box: np.ndarray) -> None:
        """Take the lists that a thread has kept apart, as ``gl_scratch`` in abi.h says."""
        begin, ids, lengths = ragged.lists_in(box)
        self._make_room(ids, lengths)
        ragged.put_lists(self.place, self.data, box, begin, ids, lengths)

    def _make_room(self, ids: np.ndarray, lengths: np.ndarray) -> None:
        """Give rows *ids*, all of them others, room for so many values."""
        short = lengths > _capacities(self.lengths[ids])
        ids, lengths = ids[short], lengths[short]
        if not ids.size:
            return
        self.most = max(self.most, int(lengths.max()))
        room = _capacities(lengths)
        if self._used + room.sum() <= self.data.size:
            self.place[ids, 0] = self._used + np.cumsum(room) - room
            self._used += int(room.sum())
            return
        whole = self.lengths.copy()
        whole[ids] = lengths
        room = _capacities(whole)
        place, data = np.empty_like(self.place), np.empty(2 * int(room.sum()), self.data.dtype)
        self._used = int(ragged.lay_out(place, room))
        ragged.copy(self.place, self.data, place, data, np.arange(self.size, dtype=np.int32))
        self._bind(place, data)


def _capacities(lengths: np.ndarray) -> np.ndarray:
    """Return for how many values rows of so many have room, as ``gl_capacity`` does."""
    most = np.maximum(lengths, 4).astype(np.float64)
    return np.where(lengths > 0, 1 << np.ceil(np.log2(most)).astype(np.int64), 0)


def _wide(ids: np.ndarray) -> np.ndarray:
    """Return global ids of 32 bits as int64, where no vertex is the largest of these."""
    return np.where(ids == NOBODY_32, np.iinfo(np.int64).max, ids.astype(np.int64))


def _bytes_for(bits: int) -> int:
    """Return how many bytes, a power of two, hold a number of these bits."""
    return next(size for size in (1, 2, 4, 8) if int(bits) >> 8 * size == 0)


def _words(values: np.ndarray) -> np.ndarray:
    """Return the bits of *values* as unsigned numbers; tuples, which stay where they are, as they are."""
    if values.dtype.names is not None:
        return values
    return values.view(f"u{values.itemsize}")


# ---- columns of edges --------------------------------------------------------------------------------


class RaggedColumn:
    """A column of edges with a list of numbers in each row; it never changes.

    Attributes
    ----------
    lengths : int64[rows]
    values : array
        The values of all rows, one row behind the other.
    """

    def __init__(self, lengths: np.ndarray, values: np.ndarray) -> None:
        self.lengths, self.values = np.asarray(lengths, np.int64), values
        self._begin = np.cumsum(self.lengths) - self.lengths

    @classmethod
    def of(cls, rows: np.ndarray) -> RaggedColumn:
        """Return the rows of a two-dimensional array as lists."""
        return cls(np.full(len(rows), rows.shape[1], np.int64), rows.reshape(-1))

    def __len__(self) -> int:
        return int(self.lengths.size)

    def __iter__(self) -> Iterator[list[Any]]:
        return iter(self.tolist())

    def __getitem__(self, which: Any) -> Any:
        """Return a row as a list; of a slice, a mask or an array of positions a column of those rows."""
        rows = np.arange(len(self))[which]
        if rows.ndim == 0:
            return self.values[self._begin[rows] : self._begin[rows] + self.lengths[rows]].tolist()
        lengths = self.lengths[rows]
        before = np.cumsum(lengths) - lengths
        places = np.arange(int(lengths.sum())) + np.repeat(self._begin[rows] - before, lengths)
        return RaggedColumn(lengths, self.values[places])

    def __repr__(self) -> str:
        return f"<{len(self)} {self.kind}>"

    @property
    def dtype(self) -> np.dtype:
        """The type of the values."""
        return self.values.dtype

    @property
    def kind(self) -> str:
        """What the column has, for a person."""
        return f"lists of {self.dtype}"

    @property
    def nbytes(self) -> int:
        return self.lengths.nbytes + self._begin.nbytes + self.values.nbytes

    def astype(self, dtype: Any) -> RaggedColumn:
        """Return the same lists with values of another type."""
        return RaggedColumn(self.lengths, np.ascontiguousarray(self.values, dtype))

    def tolist(self) -> list[list[Any]]:
        plain, ends = self.values.tolist(), np.cumsum(self.lengths).tolist()
        return [plain[end - n : end] for n, end in zip(self.lengths.tolist(), ends, strict=True)]

    def as_sets(self) -> RaggedColumn:
        """Return each row in ascending order, every value once."""
        row = np.arange(len(self)).repeat(self.lengths)
        order = np.lexsort((self.values, row))
        row, values = row[order], self.values[order]
        first = np.ones(values.size, bool)
        first[1:] = (row[1:] != row[:-1]) | (values[1:] != values[:-1])
        return RaggedColumn(np.bincount(row[first], minlength=len(self)), values[first])

    def hashes(self) -> np.ndarray:
        """Return an int64 for each row that differs where the values, their order or their number differ."""
        wide = np.float64 if self.dtype.kind == "f" else np.int64
        x = np.ascontiguousarray(self.values, wide).view(np.uint64)
        place = np.arange(x.size) - np.repeat(self._begin, self.lengths)
        x = mixed(x + mixed(place.astype(np.uint64) + np.uint64(1)))
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(x, dtype=np.uint64)])
        sums = ends[self._begin + self.lengths] - ends[self._begin]
        return mixed(sums + self.lengths.astype(np.uint64)).view(np.int64)

    @staticmethod
    def exchange(comm: Comm, parts: list[RaggedColumn]) -> list[RaggedColumn]:
        """Send ``parts[p]`` to rank p; return the parts received, in rank order (collective)."""
        lengths = comm.alltoall([part.lengths for part in parts])
        values = comm.alltoall([part.values for part in parts])
        return [RaggedColumn(n, x) for n, x in zip(lengths, values, strict=True)]

    @staticmethod
    def joined(parts: list[RaggedColumn]) -> RaggedColumn:
        """Return the rows of several columns, one behind the other."""
        return RaggedColumn(
            np.concatenate([part.lengths for part in parts]), np.concatenate([part.values for part in parts])
        )


def mixed(x: np.ndarray) -> np.ndarray:
    """Return the splitmix64 of each value."""
    x = x + np.uint64(0x9E3779B97F4A7C15)  # all of it wraps around
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
