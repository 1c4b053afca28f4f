"""Columns to text: the shortest decimals that read back, names in quotes where they need them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaslab.ingest import format as module
from gaslab.ingest.format import format_table
from gaslab.results.tables import objects

HARD = [
    0.0, -0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e-5, 1e-4, 0.00012345, 0.1, 1 / 3,
    4.35, 123456.789, 100.0, 1e15, 9999999999999998.0, 1e16, 1e22, 1e23, 9007199254740993.0,
    2.0**63, 12345678901234567890.0,
]  # fmt: skip


def test_reals_are_written_as_repr_does() -> None:
    rng = np.random.default_rng(8)
    bits = rng.integers(0, 1 << 63, 20000, dtype=np.uint64).view(np.float64)
    short = rng.integers(0, 10**6, 5000) / 10.0 ** rng.integers(0, 12, 5000)
    values = np.concatenate([HARD, bits, -bits[:100], short, 2.0 ** np.arange(-1074, 1024)])
    assert format_table([values]).decode().splitlines() == list(map(repr, values.tolist()))


@given(st.lists(st.floats(width=64), max_size=20))
def test_float64_reads_back_as_the_same_value(values: list[float]) -> None:
    text = format_table([np.arange(len(values)), np.array(values, np.float64)]).decode()
    back = [float(line.split("\t")[1]) for line in text.splitlines()]
    np.testing.assert_array_equal(back, values)
    assert all(len(line.split("\t")[1]) <= 24 for line in text.splitlines())


@given(st.lists(st.floats(width=32), max_size=20))
def test_float32_is_written_with_the_digits_of_a_float32(values: list[float]) -> None:
    array = np.array(values, np.float32)
    text = format_table([np.arange(len(values)), array]).decode()
    cells = [line.split("\t")[1] for line in text.splitlines()]
    np.testing.assert_array_equal(np.array(cells, np.float32), array)
    assert all(len(cell.split("e")[0].replace(".", "").strip("-0")) <= 9 for cell in cells)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_integers(values: list[int]) -> None:
    text = format_table([np.array(values, np.int64)]).decode()
    assert [int(line) for line in text.splitlines()] == values


def test_other_kinds_of_cells() -> None:
    cells = [np.array([True, False]), np.array([np.inf, np.nan]), objects(["grün", None])]
    assert format_table(cells).decode() == "1\tinf\tgrün\n0\tnan\tNone\n"
    assert format_table([np.zeros(0), np.zeros(0)]) == b""


def test_ids_that_a_reader_would_take_apart_are_quoted() -> None:
    ids = objects(["plain", "a,b", 'say "so"', "two\nlines", "tab\there"])
    assert format_table([ids], ",").decode() == 'plain\n"a,b"\n"say ""so"""\n"two\nlines"\ntab\there\n'
    assert format_table([ids], "\t").decode() == 'plain\na,b\n"say ""so"""\n"two\nlines"\n"tab\there"\n'


def test_blocks_meet_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = format_table([np.arange(10), np.arange(10) / 4])
    for rows in (1, 3, 5, 10):
        monkeypatch.setattr(module, "BLOCK_ROWS", rows)
        assert format_table([np.arange(10), np.arange(10) / 4]) == whole
