"""What every model of a text format needs, in plain Python: lines, numbers, gzip, answers."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from typing import Any

BOM = b"\xef\xbb\xbf"
LARGEST = 2**63 - 1
_INTEGER = re.compile(rb"[+-]?[0-9]+")
_REAL = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE = re.compile(rb"[+-]?inf(?:inity)?", re.I)
_NAN = re.compile(rb"[+-]?nan", re.I)


class Refused(Exception):
    """The input is no graph; *line* is (file, line) where a line is to blame."""

    def __init__(self, why: str, line: tuple[str, int] | None = None) -> None:
        super().__init__(why)
        self.line = line


class Unsure(Refused):
    """What becomes of the input is not documented: an answer or an error, the same on all ranks."""


@dataclass
class Answer:
    """A graph as plain data; an edge is (source, target, values ...) in the user's own ids."""

    ids: list[Any]  # in the order of global ids
    edges: list[tuple[Any, ...]]
    columns: list[tuple[str, str]]  # name and dtype
    directed: bool
    counts: dict[str, int]
    num_left: int | None = None
    vertex_columns: dict[str, list[Any]] = field(default_factory=dict)

    def said(self) -> dict[str, str]:
        """Return the parts as text that two equal answers share: -0.0 is not 0.0, and 1 is not 1.0."""
        order = sorted(range(len(self.columns)), key=lambda k: self.columns[k][0])
        edges = sorted(repr((edge[0], edge[1], *(edge[2 + k] for k in order))) for edge in self.edges)
        return {
            "ids": repr(self.ids),
            "edges": "\n".join(edges),
            "columns": repr(sorted(self.columns)),
            "directed": repr(self.directed),
            "counts": repr(sorted(self.counts.items())),
            "num_left": repr(self.num_left),
            "vertex columns": repr(sorted(self.vertex_columns.items())),
        }


def lines_of(data: bytes) -> list[bytes]:
    """Return the lines of a text without their ends, a mark in front, and a CR before a newline."""
    lines = data.removeprefix(BOM).split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [line.removesuffix(b"\r") for line in lines]


def number(text: bytes) -> int | float | None:
    """Return the number that a field means, None for one that no column can hold."""
    if _INTEGER.fullmatch(text):
        digits = text.lstrip(b"+-").lstrip(b"0") or b"0"
        if len(digits) < 20:
            value = -int(digits) if text[:1] == b"-" else int(digits)
            if -(2**63) <= value <= LARGEST:
                return value
    if _REAL.fullmatch(text):
        real = float(text)
        return None if real in (float("inf"), -float("inf")) else real
    if _INFINITE.fullmatch(text):
        return float(text)
    return None


def is_number(text: bytes) -> bool:
    """Whether a field is written as a number, also one that no column can hold."""
    return bool(_REAL.fullmatch(text) or _INFINITE.fullmatch(text) or _NAN.fullmatch(text))


def column(values: list[int | float]) -> tuple[str, list[Any]]:
    """Return the dtype of a column and its values in it."""
    if all(isinstance(value, int) for value in values):
        return "int64", values
    return "float64", [float(value) for value in values]


def unzipped(data: bytes) -> bytes:
    """Return the text of gzip data of one or more members; zeros may follow the last."""
    text = b""
    while data:
        if len(data) > 3 and data[3] & 0xE0:
            raise Unsure("reserved flags, which Python's gzip does not look at and zlib refuses")
        member = zlib.decompressobj(31)
        try:
            text += member.decompress(data)
        except zlib.error as error:
            raise Refused(f"damaged: {error}") from None
        if not member.eof:
            raise Refused("cut short")
        data = member.unused_data.lstrip(b"\0")
    return text
