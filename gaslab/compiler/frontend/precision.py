"""``precision = gl.float32``: in such a class ``float`` is float32, in fields, totals and expressions."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, get_args, get_origin

from gaslab import program
from gaslab.arguments import shown
from gaslab.compiler import tree as t
from gaslab.compiler.frontend.source import declaring_source
from gaslab.language.annotations import mark_of
from gaslab.language.precision import named_precision


def precision_of(cls: type) -> str:
    """Return the storage type of the floats that a class computes with; raises for an unknown precision."""
    value = getattr(cls, "precision", program.float64)
    if (name := named_precision(value)) is not None:
        return name
    text = f"precision is {shown(value)}; write precision = gl.float32, or leave it out for float64"
    raise declaring_source(cls, "precision").error_at_value("precision", text)


def rounded(number: float, precision: str) -> float:
    """Return the nearest number of that precision."""
    return ctypes.c_float(number).value if precision == "float32" else number


def too_wide(cls: type, annotations: Iterable[Any], what: str) -> str | None:
    """Return the error if *cls* declares a gl.float64 that would not be one; else None."""
    if precision_of(cls) == "float64" or not any(map(_is_wide, annotations)):
        return None
    return f"{what} is gl.float64 in a class with precision = gl.float32; write float, or leave out precision"


def _is_wide(annotation: Any) -> bool:
    mark = mark_of(annotation, program.Storage)
    if mark is not None and mark.name == "float64":
        return True
    origin = getattr(annotation, "__origin__", None) if hasattr(annotation, "__metadata__") else None
    return get_origin(origin) is tuple and any(map(_is_wide, get_args(origin)))


def in_precision(variable: t.Variable, precision: str) -> t.Variable:
    """Return a field with floats of that precision."""
    return replace(variable, storage=storage_in(variable.storage, precision))


def totals_in(combiner: t.Combiner | None, precision: str) -> Any:
    """Return a combiner of floats of that precision."""
    if not isinstance(combiner, t.RecordCombiner):
        return combiner and replace(combiner, storage=storage_in(combiner.storage, precision))
    parts = (replace(part, combiner=totals_in(part.combiner, precision)) for part in combiner.parts)
    return replace(combiner, parts=tuple(parts))


def storage_in(storage: str, precision: str) -> str:
    """Return a storage type with floats of that precision."""
    kind, colon, element = storage.rpartition(":")
    if element in t.TUPLES:
        return kind + colon + "_".join(storage_in(member, precision) for member in t.TUPLES[element])
    return f"{kind}{colon}{precision}" if element == "float64" else storage
