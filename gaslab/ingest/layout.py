"""The layout of an edge list, decided from its first lines: delimiter, header, columns, kind of ids."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gaslab._kernels import parser
from gaslab.errors import InputError, UsageError
from gaslab.ingest.delimiters import BLANKS, delimiter_byte, find_delimiter
from gaslab.ingest.files import InputFile, numbered_lines
from gaslab.ingest.formats import CALLED
from gaslab.ingest.headers import OPTION, Verdict, find_header
from gaslab.ingest.problems import shown
from gaslab.ingest.roles import SOURCE, TARGET, Columns, find_roles

SAMPLE = 200  # lines that decide the layout; every line is checked against it while parsed
_INTEGER = re.compile(rb"-?(?:0|[1-9]\d*)")

@dataclass(frozen=True)
class Options:
    """The caller's options for the text; see `gaslab.ingest.read.read_edges`."""

    ids: str = "auto"
    columns: Columns = None
    comments: str = "#%"
    delimiter: str | None = None
    header: bool | None = None
    on_bad_line: str = "error"
    max_bad_lines: int | None = None
    vocabulary: str | None = None
    directed: bool | None = None
    bipartite: bool = False
    threads: int = 1
    counts: bool = False  # the value of an entry is its number of tokens


@dataclass(frozen=True)
class Layout:
    """How to read every line."""

    delimiter: int  # a byte, plus parser.TWICE if doubled; or 0: runs of blanks
    comment: np.ndarray  # uint8[256], 1 where a byte starts a comment line
    role: np.ndarray  # int32, one per field
    fields: list[str]  # each field's name in messages
    columns: list[str]  # names of the columns kept, by role
    strings: bool
    header: bytes | None = None  # the header line, without its line end
    said: list[str] = field(default_factory=list)  # expected decisions
    doubts: list[str] = field(default_factory=list)  # decisions that the user should check
    left_out: dict[str, str] = field(default_factory=dict)  # columns not kept, and their content
    head: int = -1  # where the last line of the head starts, in a format that has one
    first: bytes | None = None  # the first line, if undeclared by the caller and not a header


@dataclass(frozen=True)
class Line:
    """One of the first lines of the input, and where it stands."""

    file: str
    number: int  # from 1
    text: bytes

    def place(self) -> str:
        return f"{self.file}:{self.number}"

    def where(self) -> str:
        return f"{self.place()}: {shown(self.text)}"


def comment_table(comments: str) -> np.ndarray:
    """Return uint8[256] with 1 at each character of *comments*."""
    table = np.zeros(256, dtype=np.uint8)
    for character in comments:
        if not 32 < ord(character) < 127:
            raise UsageError(f"comments={comments!r}: {character!r} is not a visible ASCII character")
        table[ord(character)] = 1
    return table


def data_lines(file: InputFile, comment: np.ndarray) -> Iterator[tuple[int, int, bytes]]:
    """Yield (number, offset, line without its end) of the lines that are neither blank nor comments."""
    for number, at, line in numbered_lines(file):
        bare = line.strip(b" \t\r")
        if bare and not comment[bare[0]]:
            yield number, at, line[:-1] if line.endswith(b"\r") else line


def text_lines(file: InputFile, comment: np.ndarray) -> Iterator[tuple[int, int, bytes]]:
    """Yield the `data_lines` that are text.

    A line containing a NUL or a carriage return says nothing about the layout; reading will reject it.
    """
    return (one for one in data_lines(file, comment) if b"\0" not in one[2] and b"\r" not in one[2])


def first_lines(files: Sequence[InputFile], comment: np.ndarray, count: int = SAMPLE) -> list[Line]:
    """Return the first *count* lines of text of all the input.

    A later file that begins with the first of them may repeat a header: that line is skipped.
    """
    found: list[Line] = []
    for file in files:
        for place, (number, _, text) in enumerate(text_lines(file, comment)):
            if place or not found or text != found[0].text:
                found.append(Line(file.name, number, text))
            if len(found) == count:
                return found
    return found


def find_layout(files: Sequence[InputFile], options: Options) -> Layout:
    """Decide the layout from the first lines; without any, a layout that can count the rest."""
    comment = comment_table(options.comments)
    delimiter = BLANKS if options.delimiter is None else delimiter_byte(options.delimiter)
    lines = first_lines(files, comment)
    if not lines:
        return _of_ends(delimiter, comment)
    if options.delimiter is None:
        delimiter = find_delimiter([line.text for line in lines], lines[0].place())
    rows = [parser.fields(line.text, delimiter) for line in lines]
    verdict = _header(lines, rows, options)
    if verdict.header and len(lines) == 1:
        return _of_ends(delimiter, comment, lines[0].text)
    line, row, alike = _first_edge(lines, rows, int(verdict.header))
    names = [name.decode("utf-8", "replace") for name in rows[0]] if verdict.header else None
    if names is not None and len(names) != len(row):
        raise InputError(
            f"{line.where()}: {len(row)} fields, but the header {shown(lines[0].text)} names {len(names)}"
        )
    third = "count" if options.counts else "weight"
    found = find_roles(alike, names, options.columns, line.where(), third, delimiter == BLANKS)
    ends = [row[int(np.flatnonzero(found.role == end)[0])] for end in (SOURCE, TARGET)]
    strings = options.ids == "str" or (options.ids == "auto" and not all(map(_INTEGER.fullmatch, ends)))
    said = [] if names is None else [f"{files[0].name}: the first line is a header: {', '.join(names)}"]
    doubts = []
    if verdict.doubt is not None:
        doubts.append(f"{lines[0].place()}: the first line {verdict.doubt}: {shown(lines[0].text)}; {OPTION}")
    if found.text:
        doubts.append(f"{line.file}: {_left_out(found.text)}")
    return Layout(
        delimiter, comment, found.role, found.fields, found.columns, strings,
        lines[0].text if verdict.header else None, said, doubts, dict.fromkeys(found.text, "text"),
        first=line.text if options.header is None and names is None else None,
    )  # fmt: skip


def _left_out(text: list[str]) -> str:
    """Return the message about columns left out because they are text."""
    listed = ", ".join(map(repr, text))
    what = f"column {listed} is" if len(text) == 1 else f"columns {listed} are"
    way_out = f"columns={{{text[0]!r}: None}} (--column {text[0]}=none) leaves {text[0]!r} out silently"
    return f"{what} text and left out; {way_out}"


def _of_ends(delimiter: int, comment: np.ndarray, header: bytes | None = None) -> Layout:
    """Return the layout for input without a line that could be an edge."""
    role = np.array([SOURCE, TARGET], dtype=np.int32)
    return Layout(delimiter, comment, role, ["source", "target"], [], False, header)


def _header(lines: Sequence[Line], rows: Sequence[list[bytes] | None], options: Options) -> Verdict:
    """Return whether the first line is a header, as the caller says or as the first lines show."""
    first, *behind = rows
    if first is None:
        raise _bad_quotes(lines[0])
    if options.header is not None:
        return Verdict(options.header)
    placed = options.columns if isinstance(options.columns, Mapping) else {}
    ends = placed.get("source"), placed.get("target")
    at = (ends[0], ends[1]) if isinstance(ends[0], int) and isinstance(ends[1], int) else None
    return find_header([first, *(row for row in behind if row is not None)], at)


def _first_edge(
    lines: Sequence[Line], rows: Sequence[list[bytes] | None], at: int
) -> tuple[Line, list[bytes], list[list[bytes]]]:
    """Return line *at*, the first that may be an edge, its fields, and all later rows like it."""
    line, row = lines[at], rows[at]
    if row is None:
        raise _bad_quotes(line)
    if len(row) < 2:
        raise InputError(
            f"{line.where()}: first data line has 1 field, an edge needs two; name the delimiter with "
            "--delimiter"
        )
    if len(row) > parser.MAX_FIELDS - 1:
        raise InputError(
            f"{line.where()}: the first data line has {len(row)} fields; at most {parser.MAX_FIELDS - 1}"
        )
    return line, row, [one for one in rows[at:] if one is not None and len(one) == len(row)]


def _bad_quotes(line: Line) -> InputError:
    return InputError(f"{line.place()}: a double quote that does not close its field: {shown(line.text)}")


def only_of_edge_lists(options: Options, file: InputFile) -> None:
    """Raise UsageError for an option that does not apply to a file of another format."""
    what = CALLED[file.format]
    for name in ("comments", "delimiter", "header", "on_bad_line", "max_bad_lines"):
        value, default = getattr(options, name), getattr(Options, name)
        if value != default:
            raise UsageError(f"{file.name}: {name}={value!r} is for edge lists, and this is a {what} file")
    if options.ids not in ("auto", "int"):
        raise UsageError(f"{file.name}: ids={options.ids!r}: the ids of a {what} file are integers from 1 on")
