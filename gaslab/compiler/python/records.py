"""Accumulators with parts while a program is interpreted: lists of numbers and of flat lists."""

from __future__ import annotations

from typing import Any

from gaslab.compiler.tree import Array, RecordCombiner


def empty(record: RecordCombiner) -> list[Any]:
    """Return the accumulator of no edges."""
    return [
        [p.combiner.identity] * p.type.size if isinstance(p.type, Array) else p.combiner.identity
        for p in record.parts
    ]


def complete(record: RecordCombiner, parts: list[Any]) -> None:
    """Make the upper halves of symmetric parts."""
    for part, values in zip(record.parts, parts, strict=True):
        n = part.shape[0] if part.symmetric else 0
        for i in range(n):
            for j in range(i):
                values[j * n + i] = values[i * n + j]


def read(record: RecordCombiner, table: Any, at: int) -> list[Any]:
    """Return row *at* of a structured array."""
    row = table[at]
    return [row[p.name].reshape(-1).tolist() if p.shape else row[p.name].item() for p in record.parts]


def write(record: RecordCombiner, table: Any, at: int, parts: list[Any]) -> None:
    """Store row *at* of a structured array."""
    for part, values in zip(record.parts, parts, strict=True):
        if part.shape:
            table[part.name][at].reshape(-1)[:] = values
        else:
            table[part.name][at] = values


_SLOT = {"float": "float64"}  # dtypes of eight-byte scalars that are not int64


def from_slots(record: RecordCombiner, table: Any, at: int) -> list[Any]:
    """Return the accumulator that begins at scalar *at* of a row of aggregates."""
    parts = []
    for part in record.parts:
        kind = part.combiner.type
        values = table[at : at + part.slots].view(_SLOT.get(kind, "int64")).tolist()
        at += part.slots
        parts.append(values if part.shape else bool(values[0]) if kind == "bool" else values[0])
    return parts


def to_slots(record: RecordCombiner, table: Any, at: int, parts: list[Any]) -> None:
    """Store an accumulator at scalar *at* of a row of aggregates."""
    for part, values in zip(record.parts, parts, strict=True):
        table[at : at + part.slots].view(_SLOT.get(part.combiner.type, "int64"))[:] = values
        at += part.slots
