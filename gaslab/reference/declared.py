"""The declarations of a program class, read from its annotations at run time, for the reference engine."""

from __future__ import annotations

import inspect
import types
from dataclasses import replace
from typing import Any

import numpy as np

from gaslab import program as words
from gaslab.errors import ProgramError
from gaslab.language.annotations import annotations_of, mark_of, without_none
from gaslab.reference.arithmetic import PRECISION, Float, number
from gaslab.reference.arrays import shared_row
from gaslab.reference.combiners import Combiner, Field
from gaslab.reference.keyed import KeyedCombiner
from gaslab.reference.own_merges import OwnCombiner
from gaslab.reference.records import PairCombiner, RecordCombiner
from gaslab.reference.translate import translate

_STORAGE = {int: "int64", bool: "bool"}


def storage_of(annotation: Any) -> str:
    """Return the storage type of an annotation; ``float`` has the program's precision."""
    ragged = mark_of(annotation, words.Ragged)
    kind = f"{ragged.kind}:" if ragged else ""
    inner = getattr(annotation, "__origin__", None)
    if ragged and getattr(inner, "__origin__", None) is tuple:
        return kind + ",".join(map(storage_of, inner.__args__))  # type: ignore[union-attr]
    if (named := mark_of(annotation, words.Storage)) is not None:
        return kind + named.name
    plain = getattr(annotation, "__origin__", annotation)
    return kind + (PRECISION.get() if plain is float else _STORAGE[plain])


def fields_of(cls: type, base: type, program: words.VertexProgram) -> dict[str, Field]:
    """Return the fields of a nested ``Vertex`` or ``Edge``; fields without a default start at zero."""
    found = {name: _field(cls, name, a, program) for name, a in annotations_of(cls, base).items()}
    return {name: _looked_up(field, found) if field.lookup else field for name, field in found.items()}


def _looked_up(field: Field, known: dict[str, Field]) -> Field:
    """Return a looked-up field with its value for gl.NOBODY."""
    target = known[field.lookup[1]]
    plain = isinstance(target.default, (int, float))
    return replace(field, nobody=words.NOBODY if field.storage == "id" else target.default if plain else 0)


def _field(cls: type, name: str, annotation: Any, program: words.VertexProgram) -> Field:
    said = getattr(cls, name, None)
    if not isinstance(said, words.Field):
        storage = storage_of(annotation)
        return Field(storage, getattr(cls, name, () if ":" in storage else 0), not hasattr(cls, name))
    if said.lookup is not None:
        return Field(storage_of(annotation), 0, True, lookup=tuple(said.lookup.split(".")))
    shape = tuple(getattr(program, n) if isinstance(n, str) else n for n in said.shape)
    storage = storage_of(said.dtype or float) if shape else storage_of(annotation)
    if shape and storage == "id" and isinstance(said.init, int):
        return Field(storage, words.NOBODY, False, shape)
    return Field(storage, said.init, storage == "id" and isinstance(said.init, int), shape)


def combiner_of(
    function: types.FunctionType, name: str, owner: type, program: words.VertexProgram | None = None
) -> Any:
    """Return the combiner in the annotation of a parameter, or of ``"return"``."""
    annotation = _meant(function, name, owner)
    if name == "return":
        annotation = without_none(annotation)
    if isinstance(annotation, type) and issubclass(annotation, words.Accumulator):
        assert program is not None
        if merged(owner) is annotation:
            return OwnCombiner(fields_of(annotation, words.Accumulator, program))
        return RecordCombiner(
            {
                name: _part(annotation, name, one, program)
                for name, one in annotations_of(annotation, words.Accumulator, owner).items()
            }
        )
    if (pair := _pair(annotation)) is not None:
        return pair
    if mark_of(annotation, words.ByKey) is not None:
        key, value = map(storage_of, annotation.__origin__.__args__)
        return KeyedCombiner(key, Combiner("sum", value))
    if (ragged := mark_of(annotation, words.Ragged)) is not None:
        return Combiner(ragged.kind, storage_of(annotation).partition(":")[2])
    if (mark := mark_of(annotation, words.Combine)) is not None:
        return Combiner(mark.op, storage_of(annotation))
    place = "its result" if name == "return" else f"the parameter {name!r}"
    raise ProgramError(f"{function.__qualname__} needs gl.Sum[...], gl.Min[...] or gl.Max[...] on {place}")


def _meant(function: types.FunctionType, name: str, owner: type) -> Any:
    """Return the meaning of a parameter's annotation, or of ``"return"``."""
    annotation = inspect.get_annotations(function).get(name)
    if not isinstance(annotation, str):
        return annotation
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    enclosing = {free: cell.cell_contents for free, cell in cells}
    known = {n: x for base in reversed(owner.__mro__) for n, x in vars(base).items()}
    return eval(annotation, {**function.__globals__, **enclosing}, known)


def merged(owner: type) -> Any:
    """Return the accumulator of a program's ``merge``, None if it has none."""
    merge = method_of(owner, "merge")
    said = _meant(merge, "return", owner) if merge else None
    return said if isinstance(said, type) and issubclass(said, words.Accumulator) else None


def _part(cls: type, name: str, annotation: Any, program: words.VertexProgram) -> tuple[Any, Field]:
    pair = _pair(annotation)
    if pair is not None:
        return pair, Field("pair", 0, True)
    field = _field(cls, name, annotation, program)
    return Combiner(_op(cls, name, annotation), field.storage), field


def _pair(annotation: Any) -> PairCombiner | None:
    mark = mark_of(annotation, words.Combine)
    if mark is None or mark.op not in ("argmin", "argmax"):
        return None
    key, payload = map(storage_of, annotation.__origin__.__args__)
    return PairCombiner(mark.op, Combiner(mark.op[3:], key), payload)


def _op(cls: type, name: str, annotation: Any) -> str:
    if (mark := mark_of(annotation, words.Combine)) is not None:
        return mark.op
    said = getattr(cls, name, None)
    return said.combine if isinstance(said, words.Field) else words.SUM


def method_of(cls: type, name: str) -> types.FunctionType | None:
    """Return the program's method of this name, including inherited ones; None if it has none."""
    method = getattr(cls, name, None)
    return method if isinstance(method, types.FunctionType) else None


def aggregators_of(cls: type) -> dict[str, types.FunctionType]:
    """Return the functions of a program's aggregators, bases first."""
    return {name: mark.function for name, mark in words.aggregators_of(cls).items()}


def finalised(returned: Any, kind: type, name: str) -> Any:
    """Return a finaliser's result as a number of the language; raises if it is not of its *kind*."""
    if type(returned) not in (kind, int) or (kind is bool) != (type(returned) is bool):
        raise ProgramError(f"the finaliser of {name} gave {returned!r}; its aggregator holds {kind.__name__}")
    if kind is int and not -(1 << 63) <= returned < 1 << 63:
        raise ProgramError(f"the finaliser of {name} gave {returned}; its aggregator holds an int of 64 bits")
    return Float(returned) if kind is float else number(kind(returned))


def translated(cls: type) -> type:
    """Return a subclass of a program with its methods and constants in the language's arithmetic."""
    known: dict[Any, Any] = {}
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base in (object, words.VertexProgram):
            continue
        for name, value in vars(base).items():
            if isinstance(value, types.FunctionType):
                members[name] = translate(value, known)
            elif isinstance(value, staticmethod) and isinstance(value.__func__, types.FunctionType):
                members[name] = staticmethod(translate(value.__func__, known))
            elif isinstance(value, words.Aggregator) and isinstance(value.function, types.FunctionType):
                function = translate(value.function, known)
                of = value.every, value.finalizer, value.live, value.after
                members[name] = words.Aggregator(function, *of)
            elif isinstance(value, (int, float)):
                members[name] = number(value)
            elif isinstance(value, np.ndarray) and value.ndim:
                members[name] = shared_row(value)
            else:
                members.pop(name, None)  # of a base, and replaced
    members["__setattr__"] = object.__setattr__  # visit adds to live totals: no program writes otherwise
    return type(cls.__name__, (cls,), members)
