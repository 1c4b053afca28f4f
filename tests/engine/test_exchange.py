"""What travels between masters and mirrors: the codes of one message, and whole movements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaslab.ragged import Rows
from gaslab.replication.message import BITMAP, EVERY, INDEX, Message, positions_at, values_at


def positions(chosen: np.ndarray, n: int) -> Message:
    message = Message()
    message.add_positions(chosen, n)
    return message


@given(st.data())
def test_a_choice_survives_its_code(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 400))
    chosen = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1)))), np.int32)
    lo = data.draw(st.integers(0, 5))
    message = positions(chosen, n).bytes
    ids, offset = positions_at(message, 0, lo, lo + n)
    assert ids.tolist() == (chosen + lo).tolist()
    assert offset == message.size
    assert message.size % 8 == 0


@pytest.mark.parametrize(("count", "code"), [(1000, EVERY), (500, BITMAP), (3, INDEX), (0, INDEX)])
def test_the_cheapest_code_is_taken(count: int, code: int) -> None:
    message = positions(np.arange(count, dtype=np.int32), 1000).bytes
    assert message[:16].view(np.int64).tolist() == [code, count]
    assert message.size <= 16 + min(4 * count + 4, 128)


def test_a_message_outgrows_its_room() -> None:
    """What was written before is still there, whatever is added."""
    message, rows = Message(), Rows.of(np.array([3, 400, 0]), np.arange(403) * 1000)
    chosen, values, ids = (
        np.arange(0, 4000, 3, dtype=np.int32),
        np.arange(4000.0),
        np.arange(3, dtype=np.int32),
    )
    for _ in range(3):
        message.add_positions(chosen, 4000)
        message.add_values(chosen, values)
        message.add_values(ids, rows)
    offset = 0
    for _ in range(3):
        found, offset = positions_at(message.bytes, offset, 0, 4000)
        assert found.tolist() == chosen.tolist()
        into, lists = np.zeros(4000), Rows(rows.lengths.copy(), rows.data.dtype)
        offset = values_at(message.bytes, offset, chosen, None, into)
        assert into[chosen].tolist() == values[chosen].tolist()
        offset = values_at(message.bytes, offset, ids, None, lists)
        assert [lists.item(v) for v in range(3)] == [rows.item(v) for v in range(3)]
    assert offset == message.bytes.size


def test_values_follow_the_choice_each_field_padded_to_eight_bytes() -> None:
    fields = (np.arange(5, dtype=np.float32), np.arange(5, dtype=np.int8), np.arange(5) % 2 == 0)
    message = positions(np.array([0, 2], np.int32), 3)
    for values in fields:
        message.add_values(np.array([4, 2], np.int32), values)
    ids, offset = positions_at(message.bytes, 0, 0, 3)
    assert ids.tolist() == [0, 2]
    data = message.bytes[offset:]
    assert data[:8].view(np.float32).tolist() == [4.0, 2.0]
    assert data[8:10].view(np.int8).tolist() == [4, 2]
    assert data[16:18].tolist() == [1, 1]
    assert data.size == 24
    for values, whole in zip(fields, (None, None, slice(1, 3)), strict=True):
        into = np.zeros(5, values.dtype)
        offset = values_at(message.bytes, offset, np.array([1, 2], np.int32), whole, into)
        assert into[1:3].tolist() == [values[4], values[2]]
        assert not into[[0, 3, 4]].any()
