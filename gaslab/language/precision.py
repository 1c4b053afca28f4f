"""Arithmetic precision: float64 by default, float32 on request, by the class or the run."""

from __future__ import annotations

import functools
from typing import Any

from gaslab.language.annotations import mark_of
from gaslab.language.fields import Storage, float32, float64

PRECISIONS = {"float64": float64, "float32": float32}


def named_precision(value: Any) -> str | None:
    """Return the storage type of floats for a class's ``precision``, None if invalid."""
    mark = mark_of(value, Storage)
    return mark.name if mark and mark.name in PRECISIONS else None


def class_in(cls: Any, precision: str | None) -> Any:
    """Return a class like this one that computes in that precision; for None, the class itself."""
    if precision is None or named_precision(cls.precision) == precision:
        return cls
    return _derived(cls, precision)


def program_in(program: Any, precision: str | None) -> Any:
    """Return a program like this one that computes in that precision; for None, the program itself."""
    if (cls := class_in(type(program), precision)) is type(program):
        return program
    made: Any = object.__new__(cls)
    made.__dict__.update(program.__dict__)  # the parameters, already checked
    return made


@functools.lru_cache(maxsize=64)
def _derived(cls: Any, precision: str) -> Any:
    members = {"precision": PRECISIONS[precision], "__module__": cls.__module__, "__doc__": cls.__doc__}
    return type(cls.__name__, (cls,), members)
