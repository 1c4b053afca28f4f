"""What a number is, as Python's float() decides it, in edge lists, vertex tables and files of values."""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab._kernels import parser
from gaslab.cli import main
from gaslab.errors import InputError, UsageError
from gaslab.ingest.read import read_edges
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks

HALVES = [
    "e5", "E+3", "-e2", "e", "+e", "e+", "-e-1", ".", "+", "-", "+.", "-.", ".e1", "1e", "1e+", "1.e", "1e5.",
    "0x", "0x1", "1_0", "_1", "1_", "1__0", "--1", "+-1", "1-", "1+", "1.2.3", "1e2e3", "i", "in", "infi",
    "infinit", "infinityx", "inf1", "na", "nan(1)", "nan()", "nanx", "snan", "1f", "1d0", "0b1", "None",
]  # fmt: skip
WHOLES = [
    "inf", "+inf", "-inf", "INF", "Infinity", "-iNfInItY", "1.", ".5", "-.5", "+.5e1", "5.e-3", "1e5", "1E+5",
    "00", "-00.0", "0e5", "0.0e-999999999999", "1e-999999999999", "5e-324", "2e-324",
    "1.7976931348623157e308", "9" * 40, "0" * 40 + "1", "0." + "0" * 400 + "1", "-0",
]  # fmt: skip


def value_of(text: str) -> float | None:
    """Return Python's value of *text*, None where it is no number; 1_0 and other scripts' digits are none."""
    if "_" in text or not text.isascii() or text != text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def read(text: str, folder: Path, second: bool = False) -> float | None:
    """Return the weight in the first or the second data line of an edge list, None where the line is bad."""
    path = folder / "number.txt"
    path.write_text(f"1 2 0.5\n3 4 {text}\n" if second else f"3 4 {text}\n")
    try:
        return float(read_edges(path, Comm()).columns["weight"][-1])
    except InputError:
        return None


def same(found: float | None, wanted: float | None) -> bool:
    return found == wanted or (found is None and wanted is not None and not math.isfinite(wanted))


def test_every_short_text_is_a_number_where_python_says_so() -> None:
    letters = ["0", "7", ".", "e", "E", "+", "-", "_", "x", "inf", "nan", "(", " "]
    for size in range(1, 5):
        for parts in itertools.product(letters, repeat=size):
            text = "".join(parts)
            assert parser.is_number(text.encode()) == (value_of(text) is not None), text


@pytest.mark.parametrize("text", [*HALVES, *WHOLES])
def test_half_a_number_is_a_bad_line(tmp_path: Path, text: str) -> None:
    wanted = value_of(text)
    assert (wanted is None) == (text in HALVES)
    for second in (False, True):  # the first data line decides what columns there are, the kernel reads both
        found = read(text, tmp_path, second)
        assert found == wanted, text


@given(st.text(st.sampled_from("0123456789.eE+-_xinfa"), min_size=1, max_size=30))
def test_the_kernel_and_python_agree(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    wanted = value_of(text)
    assert parser.is_number(text.encode()) == (wanted is not None)
    digits = any(c.isdigit() for c in text)
    if wanted is not None and math.isinf(wanted) == (not digits) and not math.isnan(wanted):
        assert read(text, tmp_path_factory.getbasetemp(), second=True) == wanted


@given(st.floats(allow_nan=False), st.integers(0, 400), st.booleans())
def test_digits_make_the_nearest_float(
    tmp_path_factory: pytest.TempPathFactory, value: float, digits: int, point: bool
) -> None:
    text = f"{value:.{digits}{'f' if point else 'e'}}"
    found = read(text, tmp_path_factory.getbasetemp(), second=True)
    assert same(found, value_of(text))


def test_a_long_token_takes_no_longer_than_its_length_says(tmp_path: Path) -> None:
    """20,000 digits and an x; a pattern with two ways to read a digit tries all pairs of them."""
    path = tmp_path / "long.txt"
    many = "9" * 200000
    for token in ("9" * 20000 + "x", "0" * 200000 + "x", f"9.{many}x", f"1e{many}x"):
        for text in (f"1 2 {token}\n", f"1,2,{token}\n1,2,3\n", f"{token},1\n1,2\n", f"a,b,c\n1,2,{token}\n"):
            path.write_text(text)
            began = time.perf_counter()
            with contextlib.suppress(gl.GaslabError):  # whichever of them is an edge list
                read_edges(path, Comm(), columns={"weight": 2}, ids="int")
            assert time.perf_counter() - began < 2.0


# ---- on ranks, in tables and in files of values ------------------------------------------------------


def _weights(comm: Comm, path: str) -> Any:
    return gl.read_graph(path, comm=comm).num_edges


@pytest.mark.parametrize("text", ["e5", "E+3", "-e2", ".", "+", "1e", "0x", "1_0", "nan(1)"])
def test_every_rank_names_the_line(ranks: Ranks, tmp_path: Path, text: str) -> None:
    path = tmp_path / "g.txt"
    path.write_text("1 2 0.5\n" * 50 + f"3 4 {text}\n" + "5 6 1\n" * 20)
    with pytest.raises(InputError) as error:
        ranks.run(_weights, str(path))
    assert str(error.value) == (
        f"{path}:51: weight is not a number: '3 4 {text}'; leave the column out with --column weight=none "
        "(columns={'weight': None}), or leave bad lines out with --on-bad-line skip"
    )


@pytest.mark.parametrize("text", [half for half in HALVES if half != "None"])
def test_vertex_tables_refuse_half_numbers(tmp_path: Path, text: str) -> None:
    path = tmp_path / "v.tsv"
    path.write_text(f"id\tage\n0\t1\n1\t{text}\n")
    with pytest.raises(InputError, match="column 'age' is not all numbers"):
        gl.read_vertices(path)
    path.write_text("id\tage\tage\n0\t1\t2\n")
    with pytest.raises(InputError, match=f"{path}, line 1: two columns are called 'age'; rename one"):
        gl.read_vertices(path)


@pytest.mark.parametrize("text", ["1_0", "e5", "٣", "0x1"])
def test_values_and_ids_at_the_command_line_refuse_them(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edges, values = tmp_path / "g.txt", tmp_path / "v.tsv"
    edges.write_text("10 3\n3 10\n")
    values.write_text(f"# scores\n10\t1\n3\t{text}\n")
    argv = [str(edges), "--quiet", "--max-iterations", "1"]
    assert main(["pagerank", *argv, "--init", f"score={values}"]) == 1
    assert f"{values}, line 3: {text!r} is not a number; id first, value last" in capsys.readouterr().err
    assert main(["sssp", str(edges), "--quiet", "--source", text]) == 2
    assert f"{text!r} is not a vertex id: the ids of this graph are integers" in capsys.readouterr().err


def test_positions_of_columns_are_plain_digits(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_text("1 2 3\n")
    for word in ("²", "٢", "9" * 5000):
        with pytest.raises(UsageError, match="there is no column"):
            read_edges(path, Comm(), columns={"cost": word})


@pytest.mark.parametrize("zeros", [0, 1, 2, 8, 30])
@pytest.mark.parametrize("digits", ["1000000000000000005", "9223372036854775807", "7", "9223372036854775808"])
@pytest.mark.parametrize("sign", ["", "+", "-"])
def test_zeros_in_front_do_not_make_an_integer_a_real(
    tmp_path: Path, zeros: int, digits: str, sign: str
) -> None:
    path, value = tmp_path / "zeros.txt", int(sign + digits)
    path.write_text(f"3 4 {sign}{'0' * zeros}{digits}\n")
    (found,) = read_edges(path, Comm()).columns["weight"].tolist()
    whole = -(1 << 63) <= value < 1 << 63
    assert (found, type(found)) == ((value, int) if whole else (float(value), float))
