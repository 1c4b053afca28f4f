"""The meaning of annotations: storage types, dimensions, pairs."""

from __future__ import annotations

from typing import Annotated, Any, get_origin

from gaslab import program
from gaslab.compiler import tree as t
from gaslab.compiler.frontend.lists import list_storage

_PLAIN = {float: "float64", int: "int64", bool: "bool"}


def pair_operation(annotation: Any) -> str | None:
    """Return ``"argmin"`` or ``"argmax"`` of an annotation that stands for a pair, None of others."""
    marks = [m.op for m in getattr(annotation, "__metadata__", ()) if isinstance(m, program.Combine)]
    return marks[0] if marks and marks[0] in t.OPERATIONS and t.OPERATIONS[marks[0]].is_key else None


def storage_of(annotation: Any) -> str | None:
    """Return the storage type that *annotation* stands for, None if there is none in the language."""
    if isinstance(annotation, type):
        return _PLAIN.get(annotation)
    if get_origin(annotation) is Annotated:
        marks = [mark for mark in annotation.__metadata__ if isinstance(mark, program.Storage)]
        return list_storage(annotation, marks[0].name if marks else storage_of(annotation.__origin__))
    return None


def dimensions_of(annotation: Any) -> int:
    """Return 1 for a vector, 2 for a matrix, 0 for anything else."""
    marks = [m for m in getattr(annotation, "__metadata__", ()) if isinstance(m, program.Dimensions)]
    return marks[0].count if marks else 0
