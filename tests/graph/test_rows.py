"""Rows of lists as the bytes of a message: the same lists come out, in few bytes where values repeat."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaslab._kernels import ragged
from gaslab.errors import InternalError
from gaslab.ragged import Rows, decode_rows, encode_rows

KINDS = ["uint8", "uint16", "int32", "float32", "int64", "float64"]


def rows_of(lists: list[list[int]], dtype: str) -> Rows:
    lengths = np.array([len(one) for one in lists], np.int64)
    return Rows.of(lengths, np.array([x for one in lists for x in one], dtype))


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
    before, after = np.zeros(8, np.uint8), np.full(16, 7, np.uint8)
    message = np.concatenate([before, *encode_rows(rows, np.array(chosen, np.int32)), after])
    lengths, values, offset = decode_rows(message, 8, len(chosen), np.dtype(dtype))
    assert offset == message.size - 16
    assert lengths.tolist() == [len(lists[row]) for row in chosen]
    assert values.dtype == dtype
    assert values.tolist() == [x for row in chosen for x in lists[row]]


def test_bits_that_are_equal_as_numbers_stay_apart() -> None:
    """Signed zeros, and numbers that are none."""
    given_ = np.array([0.0, -0.0] * 40 + [np.nan] * 300, np.float64)
    rows = Rows.of(np.array([given_.size]), given_)
    message = np.concatenate(encode_rows(rows, np.zeros(1, np.int32)))
    assert message.nbytes < given_.nbytes
    assert decode_rows(message, 0, 1, given_.dtype)[1].tobytes() == given_.tobytes()


@pytest.mark.parametrize("dtype", KINDS)
def test_a_message_of_equal_values_is_short_and_one_of_others_no_longer(dtype: str) -> None:
    size, item = 3000, np.dtype(dtype).itemsize
    one = np.zeros(1, np.int32)
    long, short = (
        sum(part.nbytes for part in encode_rows(Rows.of(np.array([size]), values.astype(dtype)), one))
        for values in (np.arange(size) % 251, np.arange(size) // 300)
    )
    assert long <= size * item + 32
    assert short <= 10 * (4 + item) + 48


@pytest.mark.parametrize("room", range(5))
@pytest.mark.parametrize("values", [[], [7], [1, 1, 1, 1], [1, 1, 2, 2], [1, 2, 2], [1, 2, 3], [3, 3, 1, 2]])
def test_runs_are_found_where_there_is_room_for_more(values: list[int], room: int) -> None:
    runs = [(value, len([*same])) for value, same in itertools.groupby(values)]
    of_runs, repeats = np.full(room, 9, np.uint16), np.full(room, 9, np.int32)
    found = ragged.find_runs(np.array(values, np.uint16), of_runs, repeats)
    assert found == (len(runs) if len(runs) < room else -1)
    if found > 0:
        assert [*zip(of_runs[:found].tolist(), repeats[:found].tolist(), strict=True)] == runs


def test_runs_that_do_not_fill_their_rows_are_refused() -> None:
    message = np.concatenate(encode_rows(rows_of([[4] * 100], "uint16"), np.zeros(1, np.int32)))
    for length in (99, 101):
        message[:4].view(np.int32)[:] = length
        with pytest.raises(InternalError, match="runs of values in a message"):
            decode_rows(message, 0, 1, np.dtype(np.uint16))
    message[:4].view(np.int32)[:] = 100
    message[16:20].view(np.int32)[:] = -1
    with pytest.raises(InternalError, match="runs of values in a message"):
        decode_rows(message, 0, 1, np.dtype(np.uint16))
