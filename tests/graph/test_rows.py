"""Rows of lists as the bytes of a message: the same lists come out, in few bytes where values repeat."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaslab.errors import InternalError
from gaslab.ragged import Rows, Runs
from gaslab.replication.message import SOME, Message, lists_at, values_at

KINDS = ["uint8", "uint16", "int32", "float32", "int64", "float64"]


def rows_of(lists: list[list[int]], dtype: str) -> Rows:
    lengths = np.array([len(one) for one in lists], np.int64)
    return Rows.of(lengths, np.array([x for one in lists for x in one], dtype))


def lists_of(rows: Rows, ids: np.ndarray) -> Message:
    message = Message()
    message.add_lists(ids, rows)
    return message


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 200), st.integers(1, 60)), max_size=4), max_size=9),
    st.sampled_from(KINDS),
    st.data(),
)
def test_rows_come_out_of_a_message_as_they_went_in(
    runs: list[list[tuple[int, int]]], dtype: str, data: st.DataObject
) -> None:
    lists = [[value for value, times in one for _ in range(times)] for one in runs]
    rows = rows_of(lists, dtype)
    every = list(range(len(lists)))
    chosen = data.draw(st.lists(st.sampled_from(every), unique=True) if every else st.just([]))
    ids = np.array(chosen, np.int32)
    message = lists_of(rows, ids)
    message.add_numbers(7, 7)
    into = Rows(rows.lengths.copy(), rows.data.dtype)
    assert values_at(message.bytes, 0, ids, None, into) == message.bytes.size - 16
    assert [into.item(row) for row in chosen] == [rows.item(row) for row in chosen]
    twice = Rows(2 * rows.lengths, rows.data.dtype)
    for _ in range(2):
        twice.unpack(ids, *lists_at(message.bytes, 0, ids.size)[:2], behind=True)
    assert [twice.item(row) for row in chosen] == [2 * rows.item(row) for row in chosen]


@pytest.mark.parametrize("first", [0, 200, 60_000, 1 << 20, 1 << 40])
@pytest.mark.parametrize("later", [3, 255, 256, 65_535, 65_536, 1 << 32, -1])
def test_a_value_takes_the_bytes_that_the_largest_needs(first: int, later: int) -> None:
    """Also where the first lists, from which the bytes are guessed, have small values alone."""
    lists = [[first, 0, first, k] for k in range(100)] + [[later, 1]]
    rows, ids = rows_of(lists, "int64"), np.arange(101, dtype=np.int32)
    message = lists_of(rows, ids)
    largest = max(first, later % (1 << 64))
    size = next(n for n in (1, 2, 4, 8) if largest < 1 << 8 * n)
    assert message.bytes.size == 408 + 16 + (402 * size + 7) // 8 * 8
    into = Rows(rows.lengths.copy(), rows.data.dtype)
    values_at(message.bytes, 0, ids, None, into)
    assert [into.item(v) for v in range(101)] == lists


def test_bits_that_are_equal_as_numbers_stay_apart() -> None:
    """Signed zeros, and numbers that are none."""
    given_ = np.array([0.0, -0.0] * 40 + [np.nan] * 900, np.float64)
    rows = Rows.of(np.array([given_.size]), given_)
    message = lists_of(rows, np.zeros(1, np.int32)).bytes
    assert message.nbytes < given_.nbytes
    into = Rows(rows.lengths.copy(), rows.data.dtype)
    values_at(message, 0, np.zeros(1, np.int32), None, into)
    assert into.data.tobytes() == given_.tobytes()


@pytest.mark.parametrize("dtype", KINDS)
def test_a_message_of_equal_values_is_short_and_one_of_others_no_longer(dtype: str) -> None:
    size, item = 3000, np.dtype(dtype).itemsize
    one = np.zeros(1, np.int32)
    long, short = (
        lists_of(Rows.of(np.array([size]), values.astype(dtype)), one).bytes.size
        for values in (np.arange(size) % 251, np.arange(size) // 300)
    )
    assert long <= size * item + 32
    assert short <= 10 * (4 + item) + 48


VALUES = [
    [],
    [7],
    [1, 1, 1, 1],
    [1, 1, 2, 2],
    [1, 2, 2],
    [1, 2, 3],
    [3, 3, 1, 2],
    [5] * 9 + [6] * 8,
    [*range(20)],
]


@pytest.mark.parametrize("room", [*range(5), 30])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("values", VALUES, ids=str)
def test_runs_are_found_where_there_is_room(values: list[int], dtype: str, room: int) -> None:
    lists = [values, [], [1, 1]]
    each = [(value, len([*same])) for one in lists for value, same in itertools.groupby(one)]
    rows, ids = rows_of(lists, dtype), np.arange(3, dtype=np.int32)
    lengths, runs = np.zeros(3, np.int32), Runs(np.zeros(room, "u1"), np.zeros(room, np.int32))
    found, size = rows.pack_runs(ids, lengths, runs)
    assert found == (len(each) if len(each) <= room else -1)
    if found > 0:
        assert [*zip(runs.values[:found].tolist(), runs.repeats[:found].tolist(), strict=True)] == each
        assert lengths.tolist() == [len(one) for one in lists]
        assert size == 1


@given(
    st.lists(st.tuples(st.sampled_from([0, 255, 256, 65_536, 1 << 40]), st.integers(1, 40)), max_size=30),
    st.data(),
)
def test_runs_are_those_of_python_at_every_width(runs: list[tuple[int, int]], data: st.DataObject) -> None:
    width = data.draw(st.sampled_from([n for n in (1, 2, 4, 8) if max(runs, default=(0, 0))[0] < 1 << 8 * n]))
    values = [value for value, times in runs for _ in range(times)]
    cut = data.draw(st.integers(0, len(values)))
    lists = [values[:cut], values[cut:]]
    rows, ids = rows_of(lists, f"u{width}"), np.array([1, 0], np.int32)
    room = len(values)
    lengths, made = np.zeros(2, np.int32), Runs(np.zeros(room, f"u{width}"), np.zeros(room, np.int32))
    found, needed = rows.pack_runs(ids, lengths, made)
    assert found == sum(len([*itertools.groupby(one)]) for one in lists)
    assert needed <= width
    into = Rows(rows.lengths.copy(), rows.data.dtype)
    into.unpack(ids, lengths, Runs(made.values[:found], made.repeats[:found]))
    assert [into.item(0), into.item(1)] == lists


def test_runs_that_do_not_fill_their_rows_are_refused() -> None:
    message, ids = (
        lists_of(rows_of([[4] * 100], "uint16"), np.zeros(1, np.int32)).bytes,
        np.zeros(1, np.int32),
    )
    into = Rows(np.array([200]), np.dtype(np.uint16))
    for length, repeats in ((99, 100), (101, 100), (100, -1), (100, 0), (0, 100)):
        message[:4].view(np.int32)[:] = length
        message[24:28].view(np.int32)[:] = repeats
        with pytest.raises(InternalError, match="runs of values from another rank"):
            into.unpack(ids, *lists_at(message, 0, 1)[:2])


@pytest.mark.parametrize("looked_at", [True, False])
@pytest.mark.parametrize("others", [True, False])
def test_lists_cross_as_runs_where_these_pay_in_all_and_in_those_that_are_looked_at(
    looked_at: bool, others: bool
) -> None:
    equal, counting = [7] * 200, list(range(200))
    lists = [equal if (looked_at if k % 10 == 0 else others) else counting for k in range(10 * SOME)]
    rows, ids = rows_of(lists, "uint16"), np.arange(10 * SOME, dtype=np.int32)
    message = lists_of(rows, ids).bytes
    assert (message.size < 10 * ids.size) == (looked_at and others)
    into = Rows(rows.lengths.copy(), rows.data.dtype)
    values_at(message, 0, ids, None, into)
    assert [into.item(k) for k in ids.tolist()] == lists
