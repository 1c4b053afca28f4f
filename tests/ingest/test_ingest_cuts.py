"""The same edges, counts and bad lines at any cut of the bytes: ranges of ranks, blocks, runs of threads."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaslab._kernels import parser
from gaslab.ingest.files import InputFile, Piece, blocks
from gaslab.ingest.layout import Options, find_layout
from gaslab.ingest.text import parse_pieces

TOKEN = st.one_of(
    st.integers(0, 120).map(str), st.sampled_from(["007", "-1", "x", "é", "9" * 19, "1" * 25, "1.5", ""]),
)  # fmt: skip
NUMBER = st.one_of(
    st.integers(-5, 10**20).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["nan", "inf", "x", "1e400", "00.5", "+7", "1e", ""]),
)
LINE = st.one_of(
    st.tuples(TOKEN, TOKEN, NUMBER).map(" ".join),
    st.tuples(st.integers(0, 99).map(str), st.integers(0, 99).map(str), NUMBER).map("\t".join),
    st.sampled_from(["", "  ", "# c", "%", " # 1 2 3", "1 2", "1 2 3 4", "\0", "1\r2 3"]),
)
FILE = st.tuples(st.lists(LINE, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans()).map(
    lambda parts: ("1 2 3" + parts[1] + parts[1].join(parts[0]) + (parts[1] if parts[2] else "")).encode()
)


def parsed(path: Path, cuts: list[int], strings: bool, block_bytes: int, threads: int) -> dict[str, Any]:
    """Parse the file as ranks with these cuts of its bytes would; return all that came of it."""
    file = InputFile(str(path), path.stat().st_size, False)
    layout = find_layout([file], Options(ids="str" if strings else "int"))
    bounds = sorted({0, file.size, *(min(cut, file.size) for cut in cuts)})
    edges: list[tuple[Any, ...]] = []
    bad: list[tuple[Any, ...]] = []
    counts = np.zeros(7, dtype=np.int64)
    leading_zero = False
    for begin, end in pairwise(bounds):
        part = parse_pieces([file], [Piece(0, begin, end)], layout, threads, block_bytes)
        names = [table.names().decode() for table in part.tables]
        for run in part.runs:
            for i in range(run.lo, run.hi):
                ends = [names[run.table][end[i]] if strings else int(end[i]) for end in (part.src, part.dst)]
                bits = part.columns[0][i : i + 1]
                edges.append((*ends, float(bits.view(np.float64)[0] if run.real[0] else bits[0])))
        bad += [(line.problem, line.field, line.text) for line in part.bad]
        counts += list(part.counts.values())
        leading_zero |= part.leading_zero
    return {"edges": edges, "bad": bad[:1], "counts": counts.tolist(), "leading_zero": leading_zero}


@given(content=FILE, cuts=st.lists(st.integers(0, 200), max_size=4), strings=st.booleans(),
       block=st.sampled_from([40, 100, 4000]), data=st.data())  # fmt: skip
def test_any_ranges_blocks_and_threads_read_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    content: bytes,
    cuts: list[int],
    strings: bool,
    block: int,
    data: Any,
) -> None:
    path = tmp_path_factory.getbasetemp() / "cut.txt"
    path.write_bytes(content)
    whole = parsed(path, [], strings, 1 << 16, 1)
    lines, headers, comments, blanks, rejected, edges, _ = whole["counts"]
    assert (
        edges + rejected + comments + blanks + headers
        == lines
        == len(content.split(b"\n")) - content.endswith(b"\n")
    )
    assert parsed(path, cuts, strings, block, 1) == whole
    # Runs of several threads: cut one block by hand, as small as lines allow.
    text = next(iter(blocks(InputFile(str(path), len(content), False), Piece(0, 0, len(content)))))
    runs = data.draw(st.integers(1, 7))
    bounds, counted = parser.split(text.text, text.begin, text.end, runs)
    assert counted.sum() == lines
    assert all(bound in (text.begin, text.end) or text.text[bound - 1] == 10 for bound in bounds[1:])
    assert whole["edges"] == threaded(text, bounds, counted, path, strings)


def threaded(block: Any, bounds: np.ndarray, lines: np.ndarray, path: Path, strings: bool) -> list[Any]:
    """Parse one block in the runs given; names are compared by what they read as."""
    from gaslab.ingest.names import NameTable

    layout = find_layout(
        [InputFile(str(path), path.stat().st_size, False)], Options(ids="str" if strings else "int")
    )
    tables = [NameTable() for _ in lines]
    for table, count, width in zip(tables, lines.tolist(), np.diff(bounds).tolist(), strict=True):
        table.reserve(2 * count, width)
    src, dst, column = (np.zeros(int(lines.sum()), dtype=np.int64) for _ in range(3))
    first = np.cumsum(lines) - lines
    counters, _, real = parser.parse(
        block.text, bounds, first, -1, layout.delimiter, layout.comment, strings, layout.role,
        src, dst, (column,),
        np.array([table.describe() for table in tables], dtype=np.int64),
    )  # fmt: skip
    found = []
    for run, table in enumerate(tables):
        counted = dict(zip(parser.COUNTERS, counters[run].tolist(), strict=True))
        table.count = counted["largest"] if strings else 0
        names = table.names().decode()
        for i in range(first[run], first[run] + counted["edges"]):
            ends = [names[end[i]] if strings else int(end[i]) for end in (src, dst)]
            bits = column[i : i + 1]
            found.append((*ends, float(bits.view(np.float64)[0] if real[run][0] else bits[0])))
    return found


@given(FILE)
def test_python_reads_the_same(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """The slow twin: what each line means, in a few lines of Python."""
    path = tmp_path_factory.getbasetemp() / "twin.txt"
    path.write_bytes(content)
    assert parsed(path, [], False, 1 << 16, 1)["edges"] == [
        edge for line in content.split(b"\n") if (edge := twin(line)) is not None
    ]


def twin(line: bytes) -> tuple[int, int, float] | None:
    line = line.removesuffix(b"\r")
    fields = re.split(rb"[ \t]+", line.strip(b" \t"))
    if b"\0" in line or b"\r" in line or len(fields) != 3 or fields[0][:1] in (b"#", b"%"):
        return None
    number = rb"[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf|infinity)"
    ends = [int(end) for end in fields[:2] if re.fullmatch(rb"\d+", end) and int(end) < 1 << 63]
    if len(ends) != 2 or not re.fullmatch(number, fields[2], re.IGNORECASE):
        return None
    value = float(fields[2])
    if math.isinf(value) and b"inf" not in fields[2].lower():
        return None
    return ends[0], ends[1], value


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("line", ["3 1 ", "3 1\t", "3 1", "3 1  \t", "3 1 5 ", "3 1 5 x y", "3 1 5 x "])
@pytest.mark.parametrize("strings", [False, True])
def test_a_column_that_is_left_out_must_be_there(tmp_path: Path, line: str, strings: bool, end: str) -> None:
    """Lines of integers take a shorter road than lines of names; both mean the same."""
    path = tmp_path / "left.txt"
    path.write_text(f"1 2 3 a{end}{line}{end}4 5 6 b{end}")
    options = Options(ids="str" if strings else "int", columns={"weight": None, "column3": None})
    file = InputFile(str(path), path.stat().st_size, False)
    part = parse_pieces([file], [Piece(0, 0, file.size)], find_layout([file], options), 1)
    whole = len(line.split()) == 4
    assert (part.counts["edges"], part.counts["rejected"]) == (2 + whole, 1 - whole)
