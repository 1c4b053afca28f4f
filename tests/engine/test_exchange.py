"""What travels between masters and mirrors: the codes of one message, and whole movements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaslab.replication.exchange import BITMAP, EVERY, INDEX, decode_positions, encode, encode_positions


@given(st.data())
def test_a_choice_survives_its_code(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 400))
    chosen = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1)))), np.int32)
    lo = data.draw(st.integers(0, 5))
    message = np.concatenate(encode_positions(chosen, n))
    ids, offset = decode_positions(message, 0, lo, lo + n)
    assert ids.tolist() == (chosen + lo).tolist()
    assert offset == message.size
    assert message.size % 8 == 0


@pytest.mark.parametrize(("count", "code"), [(1000, EVERY), (500, BITMAP), (3, INDEX), (0, INDEX)])
def test_the_cheapest_code_is_taken(count: int, code: int) -> None:
    message = np.concatenate(encode_positions(np.arange(count, dtype=np.int32), 1000))
    assert message[:16].view(np.int64).tolist() == [code, count]
    assert message.size <= 16 + min(4 * count + 4, 128)


def test_values_follow_the_choice_each_field_padded_to_eight_bytes() -> None:
    ids = np.array([4, 0, 2], np.int32)
    fields = (np.arange(5, dtype=np.float32), np.arange(5, dtype=np.int8), np.arange(5) % 2 == 0)
    message = np.concatenate(encode(ids, np.array([0, 2], np.int32), fields))
    positions, offset = decode_positions(message, 0, 0, 3)
    assert positions.tolist() == [0, 2]
    assert message[offset : offset + 8].view(np.float32).tolist() == [4.0, 2.0]
    assert message[offset + 8 : offset + 10].view(np.int8).tolist() == [4, 2]
    assert message[offset + 16 : offset + 18].tolist() == [1, 1]
    assert message.size == offset + 24
