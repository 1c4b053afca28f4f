"""The delimiter of an edge list: named by the caller, or found from the first lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gaslab._kernels import parser
from gaslab.errors import InputError, UsageError

BLANKS, TAB, COMMA, SEMICOLON = 0, 9, 44, 59
COLONS = int(parser.TWICE) + 58
DELIMITERS = {
    "whitespace": BLANKS, "space": BLANKS, " ": BLANKS, "tab": TAB, "\t": TAB, "\\t": TAB,
    "comma": COMMA, ",": COMMA, "semicolon": SEMICOLON, ";": SEMICOLON, "pipe": 124, "|": 124,
    "colon": 58, ":": 58,
}  # fmt: skip
FOUND = {COMMA: "comma", TAB: "tab", SEMICOLON: "semicolon", COLONS: "::", BLANKS: "whitespace"}  # unnamed
DIGITS = re.compile(rb"-?[0-9]+")
NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")  # of an id; inf is a name


def delimiter_byte(delimiter: str) -> int:
    """Return the delimiter of that name or character in the parser's form: see `gaslab.ingest.layout`."""
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


@dataclass(frozen=True)
class _Cut:
    """How a delimiter splits the first lines."""

    delimiter: int
    alike: int  # lines that it splits like the first
    numbers: bool  # whether the ids after the first line (for a single line, its own) are numbers
    around: bool  # whether every id in those lines contains a comma or semicolon


def find_delimiter(lines: Sequence[bytes], where: str) -> int:
    """Return the delimiter of a file that begins with *lines*; raise InputError, at *where*, if two fit.

    It splits the first line into at least two fields. Among several, the one that splits the most lines
    equally wins; then one that makes the ids numbers. After that a tab is a delimiter, and a comma or a
    semicolon precedes blanks, since text has blanks; ``::`` is one if nothing else is.
    """
    cuts = [cut for one in FOUND if (cut := _cut(lines, one)) is not None]
    if not cuts:
        return BLANKS
    most = max(cut.alike for cut in cuts)
    fit = [cut for cut in cuts if cut.alike == most]
    fit = [cut for cut in fit if cut.numbers] or fit
    found = {cut.delimiter: cut for cut in fit}
    if TAB in found:
        return TAB
    marks = [one for one in (COMMA, SEMICOLON) if one in found]
    if marks and BLANKS in found and found[BLANKS].around:
        marks.append(BLANKS)
    if len(marks) > 1:
        names = [FOUND[one] for one in marks]
        raise InputError(
            f"{where}: {names[0]} and {names[1]} both fit all lines; name the delimiter, "
            f"--delimiter {names[0]} or --delimiter {names[1]} (delimiter={names[0]!r})"
        )
    return (marks or [one for one in (BLANKS, COLONS) if one in found])[0]


def _cut(lines: Sequence[bytes], delimiter: int) -> _Cut | None:
    """Return how *delimiter* splits *lines*; None if it leaves the first as one field."""
    first = parser.fields(lines[0], delimiter)
    if first is None or len(first) < 2:
        return None
    behind = [parser.fields(line, delimiter) for line in lines[1:]]
    fit = [row for row in behind or [first] if row is not None and _fits(row, len(first), delimiter)]
    alike = len(fit) + bool(behind) * _fits(first, len(first), delimiter, head=True)
    ends = [end for row in fit for end in row[:2]]
    return _Cut(
        delimiter, alike, bool(ends) and all(map(NUMBER.fullmatch, ends)),
        all(b"," in end or b";" in end for end in ends),
    )  # fmt: skip


def _fits(row: list[bytes], width: int, delimiter: int, head: bool = False) -> bool:
    """Return whether a row has *width* fields, none of them empty.

    Between blanks and tabs a field neither begins nor ends with a comma or a semicolon: the blank would only
    be next to it. Between blanks, fields after the ids must be numbers, except in a *head*.
    """
    if len(row) != width or not all(row):
        return False
    if delimiter in (BLANKS, TAB) and any(end in b",;" for one in row for end in (one[:1], one[-1:])):
        return False
    return delimiter != BLANKS or head or all(parser.number_problem(one) != "not_number" for one in row[2:])
