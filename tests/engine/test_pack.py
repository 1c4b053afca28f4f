"""Rows of arrays are packed, unpacked and moved as numpy indexes them."""

from __future__ import annotations

import numpy as np
import pytest

from gaslab._kernels import pack

KINDS = ["bool", "int16", "float32", "int64", "32float32", "3uint8", "(5,5)float64"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1, 7, 200])
def test_rows_are_taken_put_and_moved(kind: str, count: int) -> None:
    rng = np.random.default_rng(count)
    rows = (2, 300, *np.dtype(kind).shape)
    values, into = rng.integers(0, 2 if kind == "bool" else 100, rows).astype(np.dtype(kind).base)
    ids, places = (rng.permutation(300)[:count].astype(np.int32) for _ in range(2))
    expected = into.copy()
    expected[places] = values[ids]

    packed = np.empty(count * pack.row_bytes(values), np.uint8)
    pack.take(values, ids, packed)
    assert packed.tobytes() == values[ids].tobytes()
    put = into.copy()
    pack.put(put, places, packed)
    pack.move(values, ids, into, places)
    assert np.array_equal(put, expected)
    assert np.array_equal(into, expected)
