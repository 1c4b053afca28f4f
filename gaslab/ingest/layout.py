"""What the lines of an edge list mean, decided from the first: delimiter, header, columns, kind of ids."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gaslab._kernels import parser
from gaslab.errors import InputError, UsageError, nearest
from gaslab.ingest.files import InputFile, numbered_lines
from gaslab.ingest.formats import CALLED
from gaslab.ingest.problems import shown

SOURCE, TARGET, IGNORED = -1, -2, -3  # roles; a column's role is its index
HEADERS = (("source", "target"), ("src", "dst"), ("from", "to"), ("fromnodeid", "tonodeid"))
DELIMITERS = {
    "whitespace": 0, "space": 0, " ": 0, "tab": 9, "\t": 9, "\\t": 9,
    "comma": 44, ",": 44, "semicolon": 59, ";": 59, "pipe": 124, "|": 124, "colon": 58, ":": 58,
}  # fmt: skip

_INTEGER = re.compile(rb"-?(?:0|[1-9]\d*)")

Columns = Mapping[str, "int | str | None"] | Sequence[str] | None


@dataclass(frozen=True)
class Options:
    """What the caller said about the text; see `gaslab.ingest.read.read_edges`."""

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

    delimiter: int  # a byte, parser.TWICE more if it stands twice; or 0: runs of blanks
    comment: np.ndarray  # uint8[256], 1 where a byte starts a comment line
    role: np.ndarray  # int32, one per field
    fields: list[str]  # what messages call each field
    columns: list[str]  # names of the columns kept, by role
    strings: bool
    header: bytes | None = None  # the header line, without its line end
    said: list[str] = field(default_factory=list)  # what the user should hear of the decisions
    head: int = -1  # where the last line of the head starts, in a format that has one


def delimiter_byte(delimiter: str) -> int:
    """Return the delimiter of that name or character as the parser takes it: see `Layout`."""
    if delimiter in DELIMITERS:
        return DELIMITERS[delimiter]
    one = delimiter[:1]
    twice = delimiter == 2 * one
    if one and (twice or delimiter == one) and "!" <= one <= "~" and not (one.isalnum() or one in "+-._\"'"):
        return ord(one) + twice * int(parser.TWICE)
    raise UsageError(
        f"delimiter={delimiter!r} cannot be used; give a punctuation character, the same one twice (::), or "
        "one of whitespace, tab, comma, semicolon, pipe, colon"
    )


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


def text_lines(file: InputFile, comment: np.ndarray) -> Iterator[tuple[int, bytes]]:
    """Yield the `data_lines` that are text.

    One with a NUL or a carriage return inside says nothing of the layout; reading will reject it.
    """
    lines = data_lines(file, comment)
    return ((at, line) for _, at, line in lines if b"\0" not in line and b"\r" not in line)


def first_lines(files: Sequence[InputFile], comment: np.ndarray, count: int) -> list[tuple[int, bytes]]:
    """Return (file, line) of the first *count* lines of text of all the input.

    A later file that begins with the first of them may repeat a header: that line is left out.
    """
    found: list[tuple[int, bytes]] = []
    for index, file in enumerate(files):
        for number, (_, line) in enumerate(text_lines(file, comment)):
            if number or not found or line != found[0][1]:
                found.append((index, line))
            if len(found) == count:
                return found
    return found


def find_layout(files: Sequence[InputFile], options: Options) -> Layout:
    """Decide the layout from the first data lines; without any, one in which the rest can be counted."""
    comment = comment_table(options.comments)
    named = None if options.delimiter is None else delimiter_byte(options.delimiter)
    lines = first_lines(files, comment, 2)
    ends_only = np.array([SOURCE, TARGET], dtype=np.int32)
    if not lines:
        return Layout(named or 0, comment, ends_only, ["source", "target"], [], False)
    first = lines[0][1]
    delimiter = named if named is not None else _found_delimiter(first)
    rows = [_fields(files[index], line, delimiter) for index, line in lines]
    header = options.header
    if header is None:
        header = _looks_like_header(rows, delimiter)
    names = [name.decode("utf-8", "replace") for name in rows[0]] if header else None
    if header and len(rows) == 1:
        return Layout(delimiter, comment, ends_only, ["source", "target"], [], False, first)
    sample = rows[1] if header else rows[0]
    where = f"{files[lines[1 if header else 0][0]].name}: {shown(lines[1 if header else 0][1])}"
    if names is not None and len(names) != len(sample):
        raise InputError(f"{where}: {len(sample)} fields, but the header {shown(first)} names {len(names)}")
    if len(sample) < 2:
        raise InputError(
            f"{where}: first data line has 1 field, an edge needs two; name the delimiter with --delimiter"
        )
    if len(sample) > parser.MAX_FIELDS - 1:
        raise InputError(
            f"{where}: the first data line has {len(sample)} fields; at most {parser.MAX_FIELDS - 1}"
        )
    third = "count" if options.counts else "weight"
    role, fields, columns, said = roles(sample, names, delimiter, options.columns, where, third)
    ends = [sample[int(np.flatnonzero(role == end)[0])] for end in (SOURCE, TARGET)]
    strings = options.ids == "str" or (options.ids == "auto" and not all(map(_INTEGER.fullmatch, ends)))
    if header:
        said.append(f"{files[0].name}: the first line is a header: {', '.join(names or [])}")
    return Layout(delimiter, comment, role, fields, columns, strings, first if header else None, said)


def _found_delimiter(line: bytes) -> int:
    """Return what the first data line shows: a comma; ``::`` if it has no blanks inside; blanks."""
    if b"," in line:
        return DELIMITERS["comma"]
    return delimiter_byte("::") if b"::" in line and len(parser.fields(line, 0)) == 1 else 0


def _fields(file: InputFile, line: bytes, delimiter: int) -> list[bytes]:
    found = parser.fields(line, delimiter)
    if found is None:
        raise InputError(f"{file.name}: a double quote that does not close its field: {shown(line)}")
    return found  # type: ignore[no-any-return]


def _looks_like_header(rows: list[list[bytes]], delimiter: int) -> bool:
    """Whether the first of two rows names columns.

    It does if it has the names of a known pair. With a delimiter it also does if both its ids are
    text above two integers, or a further field is text above a number. Blanks alone are no such
    sign: a first id that is no integer means names.
    """
    lower = [name.decode("utf-8", "replace").lower() for name in rows[0]]
    if any(source in lower and target in lower for source, target in HEADERS):
        return True
    if delimiter == 0 or len(rows) < 2:
        return False
    top, below = rows
    if (
        not any(map(_INTEGER.fullmatch, top[:2]))
        and len(below) > 1
        and all(map(_INTEGER.fullmatch, below[:2]))
    ):
        return True
    return any(
        a and not parser.is_number(a) and parser.is_number(b)
        for a, b in zip(top[2:], below[2:], strict=False)
    )


def roles(
    sample: list[bytes], names: list[str] | None, delimiter: int, wanted: Columns, where: str,
    third: str = "weight",
) -> tuple[np.ndarray, list[str], list[str], list[str]]:  # fmt: skip
    """Return (role of each field, names for messages, names of the columns kept, what to say).

    Without *names* the field behind the two ends is the *third*.
    """
    own = (
        names
        if names is not None
        else ["source", "target", third, *(f"column{k}" for k in range(3, len(sample)))]
    )
    own = own[: len(sample)]
    placed = dict(wanted) if isinstance(wanted, Mapping) else {}
    at = {name: _position(name, value, own) for name, value in placed.items() if value is not None}
    lower = [name.lower() for name in own]
    pair = next(((s, t) for s, t in HEADERS if names is not None and s in lower and t in lower), None)
    source = at.pop("source", lower.index(pair[0]) if pair else 0)
    target = at.pop("target", lower.index(pair[1]) if pair else 1)
    if source == target:
        raise UsageError(
            f"source and target are both column {source}; "
            "name two with columns={'source': .., 'target': ..}"
        )
    role = np.full(len(sample), IGNORED, dtype=np.int32)
    role[source], role[target] = SOURCE, TARGET
    called: dict[int, str] = {}
    for name, k in at.items():
        if called.setdefault(k, name) != name:
            raise UsageError(f"columns= gives column {k} two names, {called[k]!r} and {name!r}")
        if k in (source, target):
            raise UsageError(
                f"columns={{{name!r}: ...}} names the column of the {'source' if k == source else 'target'}"
            )
    columns: list[str] = []
    fields: list[str] = []
    said: list[str] = []
    for k, value in enumerate(sample):
        name = called.get(k, f"column{k}" if names is None and k < 2 else own[k])
        fields.append("source" if k == source else "target" if k == target else name)
        if k in (source, target):
            continue
        if k not in called and (
            name in placed or not (wanted is None or isinstance(wanted, Mapping) or name in wanted)
        ):
            continue
        if value and not parser.is_number(value):
            if delimiter == 0 or k in called:
                raise InputError(
                    f"{where}: {name} (column {k + 1}) is not a number; leave it out with "
                    f"--column {name}=none, or name the delimiter, for instance --delimiter tab"
                )
            said.append(f"column {name!r} is text and left out")
            continue
        if name in columns or (names is not None and name in (own[source], own[target])):
            raise InputError(
                f"{where}: two columns are called {name!r}; name one by its position, for instance with "
                f"--column {name}2={k} (columns={{'{name}2': {k}}}), or leave one out"
            )
        role[k] = len(columns)
        columns.append(name)
    if wanted is not None and not isinstance(wanted, Mapping):
        for name in wanted:
            if name not in columns:
                raise UsageError(f"columns=: there is no column {name!r}{nearest(name, columns or own[2:])}")
    return role, fields, columns, said


def _position(name: str, value: int | str | None, own: list[str]) -> int:
    """Return the position that ``columns={name: value}`` means."""
    if isinstance(value, str) and value in own:
        if own.count(value) > 1:
            raise UsageError(
                f"columns={{{name!r}: {value!r}}}: {own.count(value)} columns are called {value!r}; give the "
                f"position of one, for instance {own.index(value)}"
            )
        return own.index(value)
    if isinstance(value, str) and not re.fullmatch("[0-9]{1,9}", value):
        raise UsageError(
            f"columns={{{name!r}: {value!r}}}: there is no column {value!r}{nearest(value, own)}"
        )
    position = int(value)  # type: ignore[arg-type]
    if not 0 <= position < len(own):
        raise UsageError(f"columns={{{name!r}: {value!r}}}: columns are 0 to {len(own) - 1}")
    return position


def only_of_edge_lists(options: Options, file: InputFile) -> None:
    """Raise UsageError for an option that means nothing for a file of another format."""
    what = CALLED[file.format]
    for name in ("comments", "delimiter", "header", "on_bad_line", "max_bad_lines"):
        value, default = getattr(options, name), getattr(Options, name)
        if value != default:
            raise UsageError(f"{file.name}: {name}={value!r} is for edge lists, and this is a {what} file")
    if options.ids not in ("auto", "int"):
        raise UsageError(f"{file.name}: ids={options.ids!r}: the ids of a {what} file are integers from 1 on")
