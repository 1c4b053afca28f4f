"""The role of each field of a line: an end, a named column, a number that is not kept, or text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gaslab._kernels import parser
from gaslab.errors import InputError, UsageError, nearest
from gaslab.ingest.headers import ends_named

SOURCE, TARGET, CHECKED, IGNORED, TEXT = -1, -2, -3, -4, -5  # roles; a column's role is its index
NUMBERS = ("fine", "out_of_range", "decimal_comma")  # problems of a field meant as a number

Columns = Mapping[str, "int | str | None"] | Sequence[str] | None


@dataclass(frozen=True)
class Roles:
    """The role of each field of a line, for the parser and for messages."""

    role: np.ndarray  # int32, one per field
    fields: list[str]  # what messages call each field
    columns: list[str]  # names of the columns kept, by role
    text: list[str]  # names of the columns left out because they are text


def find_roles(
    rows: Sequence[list[bytes]], names: list[str] | None, wanted: Columns, where: str,
    third: str = "weight", blanks: bool = False,
) -> Roles:  # fmt: skip
    """Return the roles of the fields of *rows*, which are similar and show which columns are text.

    Without *names* the field after the two ends is the *third*. A column named in *wanted* is a column of
    numbers, whatever it contains: reading finds the first row without one. Between *blanks* text may be part
    of an id, so a field after the ids must be a number, kept or not, unless *wanted* leaves it out by name.
    """
    width = len(rows[0])
    own = names or ["source", "target", third, *(f"column{k}" for k in range(3, width))]
    own = own[:width]
    placed = dict(wanted) if isinstance(wanted, Mapping) else {}
    at = {name: _position(name, value, own) for name, value in placed.items() if value is not None}
    source, target = (names is not None and ends_named(own)) or (0, 1)
    source, target = at.pop("source", source), at.pop("target", target)
    called = _called(at, source, target)
    only = None if wanted is None or isinstance(wanted, Mapping) else set(wanted)
    role = np.full(width, IGNORED, dtype=np.int32)
    role[source], role[target] = SOURCE, TARGET
    fields: list[str] = []
    columns: list[str] = []
    text: list[str] = []
    for k in range(width):
        name = called.get(k, f"column{k}" if names is None and k < 2 else own[k])
        fields.append("source" if k == source else "target" if k == target else name)
        if k in (source, target):
            continue
        if k not in called and name in placed:
            continue
        if k not in called and only is not None and name not in only:
            role[k] = CHECKED if blanks else IGNORED
            continue
        if k not in called and only is None and not blanks and is_text([row[k] for row in rows]):
            role[k] = TEXT
            text.append(name)
            continue
        if name in columns or (names is not None and name in (own[source], own[target])):
            raise InputError(
                f"{where}: two columns are called {name!r}; name one by its position, for instance with "
                f"--column {name}2={k} (columns={{'{name}2': {k}}}), or leave one out"
            )
        role[k] = len(columns)
        columns.append(name)
    for name in only or ():
        if name not in columns:
            raise UsageError(f"columns=: there is no column {name!r}{nearest(name, columns or own[2:])}")
    return Roles(role, fields, columns, text)


def is_text(values: Sequence[bytes]) -> bool:
    """Return whether a column's values are text, or all empty: then none is meant as a number."""
    problems = [parser.number_problem(value) for value in values]
    if any(problem in NUMBERS for problem in problems):
        return False
    return "nan" not in problems or any(
        value and problem == "not_number" for value, problem in zip(values, problems, strict=True)
    )


def _called(at: dict[str, int], source: int, target: int) -> dict[int, str]:
    """Return the caller's names for fields, by position."""
    if source == target:
        raise UsageError(
            f"source and target are both column {source}; "
            "name two with columns={'source': .., 'target': ..}"
        )
    called: dict[int, str] = {}
    for name, k in at.items():
        if called.setdefault(k, name) != name:
            raise UsageError(f"columns= gives column {k} two names, {called[k]!r} and {name!r}")
        if k in (source, target):
            raise UsageError(
                f"columns={{{name!r}: ...}} names the column of the {'source' if k == source else 'target'}"
            )
    return called


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
