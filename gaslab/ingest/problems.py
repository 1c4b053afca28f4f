"""Bad lines: the error of each, with file, line, text and the way out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from gaslab._kernels import parser

SHOWN = 80  # characters of a line that a message repeats
TO_UTF8 = "convert the file from its own encoding, as by iconv -f latin1 -t utf-8"


@dataclass(frozen=True, order=True)
class BadLine:
    """One line that is not an edge; *line* counts from 1, *field* is a position or a number of fields.

    *problem* is one of `PROBLEMS`, or a text.
    """

    file: int
    line: int
    problem: str
    field: int
    text: bytes


def shown(text: bytes) -> str:
    """Return a line as a message shows it: quoted, escaped, cut."""
    text = text.rstrip(b"\r\n")
    words = repr(text[: 4 * SHOWN].decode("utf-8", "replace"))
    return words if len(words) <= SHOWN + 2 and len(text) <= 4 * SHOWN else words[: SHOWN + 1] + "..."


def not_utf8(what: str, byte: int) -> str:
    """Return the message about a line whose first non-UTF-8 byte is *byte*, with {} for the line."""
    return f"{what} is not UTF-8 (byte {byte:#x}): {{}}; {TO_UTF8}"


def message(bad: BadLine, name: str, columns: list[str], rejected: int, other: str = "") -> str:
    """Return the text of the error for the first bad line of *rejected* in all.

    *columns* names the fields of a line, in order; *other* is another way out.
    """
    what, way_out = _explain(bad, columns)
    way_out = f"{way_out}, {other}" if other else way_out
    more = f" ({rejected - 1} more bad line{'s' if rejected > 2 else ''})" if rejected > 1 else ""
    return (
        f"{os.fspath(name)}:{bad.line}: {what}: {shown(bad.text)}; "
        f"{way_out}, or leave bad lines out with --on-bad-line skip{more}"
    )


def refusal(
    bad: BadLine,
    name: str,
    columns: list[str],
    rejected: int,
    line: str,
    texts: Mapping[str, str] | None = None,
) -> str:
    """Return the error for the first bad line of a file in which every line counts.

    *line* is the word for a line there; *texts* has the texts of some problems.
    """
    what = (texts or {}).get(bad.problem) or _explain(bad, columns, line)[0]
    more = f" ({rejected - 1} more bad line{'s' if rejected > 2 else ''})" if rejected > 1 else ""
    return f"{name}:{bad.line}: {what}: {shown(bad.text)}{more}"


def _explain(bad: BadLine, columns: list[str], line: str = "the first data line") -> tuple[str, str]:
    """Return (the error, the way out) without file, line and text."""
    column = columns[bad.field] if bad.field < len(columns) else f"column {bad.field + 1}"
    wanted = len(columns)
    text_ids = "for ids that are text pass --ids str (ids='str')"
    unwanted = f"leave the column out with --column {column}=none (columns={{{column!r}: None}})"
    if bad.problem == "too_few":
        return (f"{_fields(bad.field)} where {line} has {wanted}", "check the delimiter (--delimiter)")
    if bad.problem == "too_many":
        return f"more than the {_fields(wanted)} of {line}", "check the delimiter (--delimiter)"
    if bad.problem == "quote":
        return "a double quote that does not close its field", "double a quote that is part of a name"
    return {
        "not_integer": (f"the {column} id is not an integer", text_ids),
        "negative": (f"the {column} id is negative", text_ids),
        "too_large": (f"the {column} id is larger than 2**63 - 1", text_ids),
        "too_small": (f"the {column} id is less than -2**63", text_ids),
        "empty_id": (f"the {column} id (column {bad.field + 1}) is empty", "fix the line"),
        "not_number": (f"{column} is not a number", unwanted),
        "decimal_comma": (f"{column} has a decimal comma", f"write it with a point, or {unwanted}"),
        "number_in_text": (f"{column} is a number, and text in the first lines", unwanted),
        "nan": (f"{column} is not a number (nan)", unwanted),
        "out_of_range": (f"{column} is outside float64's range", unwanted),
        "nul": ("a NUL byte; is it a text file?", "check the file"),
        "carriage_return": (
            "a carriage return inside the line (old Mac line ends?)", "convert the file with tr '\\r' '\\n'"
        ),
        "not_utf8": (f"the {column} id is not UTF-8", TO_UTF8),
    }.get(bad.problem, (bad.problem, ""))  # fmt: skip


def _fields(count: int) -> str:
    return f"{count} field" if count == 1 else f"{count} fields"


PROBLEMS: tuple[str, ...] = parser.PROBLEMS
