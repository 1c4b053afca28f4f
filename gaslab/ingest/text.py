"""Text to edges: this rank's lines, parsed block by block by several threads."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gaslab._kernels import parser
from gaslab.errors import InputError, UsageError
from gaslab.ingest import files as source
from gaslab.ingest.files import Block, InputFile, Piece
from gaslab.ingest.layout import Layout, Options, find_layout, text_lines
from gaslab.ingest.names import NameTable
from gaslab.ingest.problems import PROBLEMS, BadLine, message
from gaslab.parallel.comm import Comm

log = logging.getLogger("gaslab")

RUN_BYTES = 1 << 17  # less text is not worth a thread
NAME_BLOCK_BYTES = 1 << 20  # every id in a block may be a new name, for which tables keep room
OF_CORPUS = {"source": "document", "target": "word"}  # the names of edges' ends there
COUNTED = ("lines", "headers", "comments", "blanks", "rejected", "edges", "self_loops")


@dataclass
class Run:
    """Rows [lo, hi) come from one run of one block; with string ids they index ``tables[table]``."""

    lo: int
    hi: int
    table: int
    real: np.ndarray  # bool per column: whether its bits are a float64's, else an int64's


@dataclass
class Parsed:
    """The edges read by this rank: ends as integer ids, or as indices into their run's name table."""

    src: np.ndarray
    dst: np.ndarray
    columns: list[np.ndarray]  # int64: the bits of the values
    runs: list[Run] = field(default_factory=list)
    tables: list[NameTable] = field(default_factory=list)
    pieces: list[tuple[int, int, int, int]] = field(default_factory=list)  # file, begin, lines, first row
    bad: list[BadLine] = field(default_factory=list)  # the first of them, lines counted within the piece
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    largest: int = -1
    least: int = 0  # or the smallest id, if one is negative
    leading_zero: bool = False
    rows: int = 0

    def reserve(self, rows: int) -> None:
        """Make room for *rows* more; memory that is never written is never touched."""
        need = self.rows + rows
        if need <= self.src.size:
            return
        room = max(need, self.src.size * 3 // 2)
        self.src, self.dst, *self.columns = (
            _moved(array, self.rows, room) for array in (self.src, self.dst, *self.columns)
        )

    def trim(self) -> None:
        """Give back the room beyond the rows."""
        for array in (self.src, self.dst, *self.columns):
            array.resize(self.rows, refcheck=False)

    def named(self, names: Sequence[str], comm: Comm) -> dict[str, np.ndarray]:
        """Return the columns by name, each in the type of all its values; see `typed` (collective)."""
        columns = typed(self.columns, [(run.lo, run.hi, run.real) for run in self.runs], comm)
        return dict(zip(names, columns, strict=True))


def read_text(
    files: Sequence[InputFile], options: Options, comm: Comm
) -> tuple[Parsed, Layout, dict[str, int]]:
    """Read this rank's share of *files* (collective).

    Returns (edges, layout, counts of the whole input). Raises the same InputError on every rank:
    for the first bad line of the input, when it holds no edge, or when a file cannot be read.
    """
    on_bad_line, max_bad_lines, threads = options.on_bad_line, options.max_bad_lines, options.threads
    if max_bad_lines is not None and on_bad_line != "skip":
        raise UsageError("max_bad_lines needs on_bad_line='skip'")
    layout = comm.on_root(lambda: find_layout(files, options))
    pieces = source.share(files, comm.rank, comm.size)
    parsed = comm.attempt(lambda: parse_pieces(files, pieces, layout, threads))
    if options.ids == "auto" and not layout.strings and comm.allreduce(int(parsed.leading_zero), "max"):
        layout = replace(layout, strings=True)
        parsed = comm.attempt(lambda: parse_pieces(files, pieces, layout, threads))
    counts = total_counts(parsed, comm)
    fields = [OF_CORPUS.get(name, name) for name in layout.fields] if options.counts else layout.fields
    _agree_on_bad_lines(parsed, files, fields, layout, comm, counts, on_bad_line, max_bad_lines)
    if counts["edges"] == 0:
        raise InputError(_no_edges(files, counts, options.counts))
    return parsed, layout, counts


def total_counts(parsed: Parsed, comm: Comm) -> dict[str, int]:
    """Return the counts of all ranks together (collective)."""
    total = comm.allreduce(np.array([parsed.counts[name] for name in COUNTED]))
    return dict(zip(COUNTED, total.tolist(), strict=True))


def as_of_edges(counts: dict[str, int]) -> dict[str, int]:
    """Return the counts as an `EdgeList` has them."""
    lines = {name: count for name, count in counts.items() if name not in ("rejected", "edges")}
    return {**lines, "lines_rejected": counts["rejected"], "edges_read": counts["edges"]}


def _no_edges(files: Sequence[InputFile], counts: dict[str, int], corpus: bool) -> str:
    named = ", ".join(file.name for file in files[:3]) + (", ..." if len(files) > 3 else "")
    kinds = {"headers": "header", "comments": "comment", "blanks": "blank", "rejected": "bad line"}
    what = ", ".join(_plural(counts[name], kind) for name, kind in kinds.items() if counts[name])
    lines = f"({_plural(counts['lines'], 'line')}{': ' if what else ''}{what})"
    if not corpus:
        return f"{named}: holds no edges {lines}"
    return (
        f"{named}: holds no documents {lines}; it needs a document a line (--format text, format='text'), or "
        "a line for each document and word (--format edges, format='edges')"
    )


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _moved(array: np.ndarray, rows: int, room: int) -> np.ndarray:
    larger = np.empty(room, dtype=array.dtype)
    larger[:rows] = array[:rows]
    return larger


def parse_pieces(
    files: Sequence[InputFile],
    pieces: Sequence[Piece],
    layout: Layout,
    threads: int,
    block_bytes: int | None = None,
) -> Parsed:
    """Parse the lines of *pieces*, in order (not collective)."""
    if block_bytes is None:
        block_bytes = NAME_BLOCK_BYTES if layout.strings else source.BLOCK_BYTES
    empty = np.empty(0, dtype=np.int64)
    parsed = Parsed(empty, empty, [empty for _ in layout.columns])
    parsed.tables = [NameTable() for _ in range(threads if layout.strings else 0)]
    left = sum(piece.end - piece.begin for piece in pieces if piece.end >= 0)
    for piece in pieces:
        first_row, lines = parsed.rows, parsed.counts["lines"]
        header = _header_offset(files[piece.file], layout)
        for block in source.blocks(files[piece.file], piece, block_bytes):
            at = header - block.offset if header >= 0 else -1
            _parse_block(parsed, block, at, piece.file, lines, layout, threads, left)
            if piece.end >= 0:
                left -= block.end - block.begin
        parsed.pieces.append((piece.file, piece.begin, parsed.counts["lines"] - lines, first_row))
    parsed.trim()
    return parsed


def _header_offset(file: InputFile, layout: Layout) -> int:
    """Return where the header or the last line of a file's head starts, -1 if it has none.

    Every file may repeat a header.
    Comments may push it beyond the first rank's bytes, so every rank with a piece of the file looks.
    """
    if layout.header is not None:
        for _, offset, line in text_lines(file, layout.comment):
            return offset if line == layout.header else -1
    return layout.head


def _parse_block(
    parsed: Parsed,
    block: Block,
    header: int,
    file: int,
    lines_before: int,
    layout: Layout,
    threads: int,
    left: int,
) -> None:
    """Parse one block onto the end of *parsed*; *left* is the text still to come, this block included."""
    size = block.end - block.begin
    bounds, lines = parser.split(block.text, block.begin, block.end, max(1, min(threads, size // RUN_BYTES)))
    most = int(lines.sum())
    parsed.reserve(max(most, int(most / size * left * 1.02) if parsed.src.size == 0 else 0))
    first = parsed.rows + np.cumsum(lines) - lines
    for table, count, width in zip(parsed.tables, lines, np.diff(bounds), strict=False):
        table.reserve(2 * int(count), int(width))
    names = np.array([table.describe() for table in parsed.tables] or [(0,) * 5], dtype=np.int64)
    counters, bad, real = parser.parse(
        block.text, bounds, first, header, layout.delimiter, layout.comment, layout.strings, layout.role,
        parsed.src, parsed.dst, tuple(parsed.columns), names, layout.head >= 0,
    )  # fmt: skip
    counted = dict(zip(parser.COUNTERS, counters.T, strict=True))
    start = parsed.counts["lines"] - lines_before + np.cumsum(lines) - lines
    for run in range(len(lines)):
        lo, count = int(first[run]), int(counted["edges"][run])
        if lo != parsed.rows and count:  # an earlier run had lines that are not edges
            for array in (parsed.src, parsed.dst, *parsed.columns):
                array[parsed.rows : parsed.rows + count] = array[lo : lo + count]
        parsed.runs.append(Run(parsed.rows, parsed.rows + count, run, real[run].astype(bool)))
        parsed.rows += count
        if layout.strings:
            parsed.tables[run].count = int(counted["largest"][run])
        for line, offset, length, problem, column in bad[run, : counted["rejected"][run]]:
            if len(parsed.bad) < parser.KEPT_BAD:
                text = bytes(block.text[offset : offset + length])
                parsed.bad.append(
                    BadLine(file, int(start[run] + line) + 1, PROBLEMS[problem], int(column), text)
                )
    for name in COUNTED:
        parsed.counts[name] += int(counted[name].sum())
    parsed.largest = max(parsed.largest, int(counted["largest"].max()))
    parsed.least = min(parsed.least, int(counted["least"].min()))
    parsed.leading_zero |= bool(counted["leading_zero"].any())


def _agree_on_bad_lines(
    parsed: Parsed, files: Sequence[InputFile], fields: list[str], layout: Layout, comm: Comm,
    counts: dict[str, int], on_bad_line: str, max_bad_lines: int | None,
) -> None:  # fmt: skip
    """Raise for the first bad line, or warn of those left out (collective)."""
    if counts["rejected"] == 0:
        return
    first = first_bad(parsed.pieces, parsed.bad, comm)
    assert first is not None
    other = _way_out_of_first(first, layout)
    text = message(first, files[first.file].name, fields, counts["rejected"], other)
    if on_bad_line == "error":
        raise InputError(text)
    if max_bad_lines is not None and counts["rejected"] > max_bad_lines:
        raise InputError(
            f"{counts['rejected']} bad lines are more than the {max_bad_lines} allowed; the first: {text}"
        )
    if comm.rank == 0:
        log.warning(
            "%d of %d lines left out as bad; the first: %s", counts["rejected"], counts["lines"], text
        )


def _way_out_of_first(bad: BadLine, layout: Layout) -> str:
    """Return another possible error if the line that decides the layout is itself bad."""
    if bad.problem != "not_number" or bad.text.removesuffix(b"\r") != layout.first:
        return ""
    names = "pass --header (header=True) if the line names the columns"
    return names if layout.delimiter else f"name the delimiter, for instance --delimiter tab, {names}"


def first_bad(
    pieces: Sequence[tuple[int, int, int, int]], bad: Sequence[BadLine], comm: Comm
) -> BadLine | None:
    """Return the first bad line of the input, its line counted within the file (collective).

    *bad* are lines of this rank, counted within its *pieces*: (file, first byte, lines, ...) each.
    """
    every = comm.allgather((pieces, bad))
    lengths = {(file, begin): lines for parts, _ in every for file, begin, lines, *_ in parts}
    found = []
    for parts, lines in every:
        begins = {file: begin for file, begin, *_ in parts}
        for one in lines:
            above = sum(
                n for (file, begin), n in lengths.items() if file == one.file and begin < begins[one.file]
            )
            found.append(replace(one, line=one.line + above))
    return min(found, key=lambda one: (one.file, one.line), default=None)


def typed(
    columns: Sequence[np.ndarray], runs: Sequence[tuple[int, int, np.ndarray]], comm: Comm
) -> list[np.ndarray]:
    """Return columns of bits as int64 if all values of the input are integers, else float64 (collective).

    *runs* says for rows [lo, hi) which columns hold the bits of float64; they are changed in place.
    """
    real = np.zeros(len(columns), dtype=np.int64)
    for _, _, here in runs:
        real |= here
    if len(columns):
        real = comm.allreduce(real, "max")
    found = list(columns)
    for k in np.flatnonzero(real).tolist():
        bits = columns[k]
        for lo, hi, here in runs:
            if not here[k]:
                bits[lo:hi].view(np.float64)[:] = bits[lo:hi]
        found[k] = bits.view(np.float64)
    return found
