"""Accumulators with parts of the reference engine: plain objects, combined part by part."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from gaslab.errors import unknown
from gaslab.language.nobody import Nobody
from gaslab.program import NOBODY, Accumulator, At
from gaslab.reference.arithmetic import Fault, narrow, number
from gaslab.reference.arrays import Row, narrowed, rounded_all
from gaslab.reference.combiners import Combiner, Field


@dataclass(frozen=True)
class PairCombiner:
    """``ArgMin`` or ``ArgMax`` of a key with its payload: a tuple."""

    op: str
    key: Combiner  # as Min or Max
    payload: str  # its storage type
    storage: str = "pair"

    @property
    def identity(self) -> Any:
        """The identity of the key, and no payload."""
        return self.key.identity, NOBODY if self.payload == "id" else narrow(self.payload, 0)

    def from_caller(self, value: Any) -> Any:
        """Return a caller's pair."""
        return narrow(self.key.storage, value[0]), narrow(self.payload, value[1])

    def add(self, total: Any, more: Any) -> Any:
        """Return the first of two pairs: by key, then by smaller payload, nan last."""
        key, payload = narrow(self.key.storage, more[0]), narrow(self.payload, more[1])
        if key == total[0]:
            first = total[1] != total[1] if payload != payload or total[1] != total[1] else payload < total[1]
        else:
            first = key < total[0] if self.op == "argmin" else key > total[0]
        return (key, payload) if first else total


@dataclass(frozen=True)
class RecordCombiner:
    """Named parts, each with its combiner."""

    parts: dict[str, tuple[Combiner, Field]]
    op: str = "record"
    storage: str = "record"

    @property
    def identity(self) -> Any:
        """The identity."""
        return SimpleNamespace(**{name: _first(*part) for name, part in self.parts.items()})

    def from_caller(self, value: Any) -> Any:
        """Return a caller's accumulator."""
        return self.add(self.identity, value)

    def add(self, total: Any, more: Any) -> Any:
        """Combine the total with one more accumulator; a part left out contributes nothing."""
        made = SimpleNamespace(**vars(total))
        with faults_name(more):
            for name, value in vars(more).items():
                setattr(made, name, _added(*self.parts[name], getattr(total, name), value))
        return made


def _added(combiner: Any, field: Field, before: Any, value: Any) -> Any:
    """Return a part of the total with one more value."""
    if isinstance(value, At):
        return with_element(before, value, combiner.add)
    if field.shape:
        both = combined(combiner.op, np.asarray(before), np.asarray(value))
        return narrowed(field.storage, np.asarray(both)).view(Row)
    return combiner.add(before, value)


def with_element(row: Row, at: At, combine: Callable[[Any, Any], Any]) -> Row:
    """Return a copy of a vector with a ``gl.at`` combined into one element."""
    changed, index = np.array(row).view(Row), int(at.index)
    with faults_name(at):
        changed[index] = combine(changed[index], at.weight)
    return changed


@contextlib.contextmanager
def faults_name(value: Any) -> Iterator[None]:
    """Make a fault of combining a value name the value's line, unless it names a nearer one."""
    try:
        yield
    except Fault as fault:
        fault.written_at = fault.written_at or getattr(value, "_written_at", None)
        raise


def _first(combiner: Combiner, field: Field) -> Any:
    if not field.shape:
        return combiner.identity
    return narrowed(field.storage, np.full(field.shape, combiner.identity)).view(Row)


def combined(op: str, a: Any, b: Any) -> Any:
    """Return two arrays combined element by element; minimum and maximum ignore nan."""
    if op in ("min", "max"):
        return np.where(b < a, b, a) if op == "min" else np.where(b > a, b, a)
    if op not in ("sum", "prod", "bitor"):
        raise unknown("the reference", op)
    return a * b if op == "prod" else a | b if op == "bitor" else a + b


def widened(combiner: Any) -> Any:
    """Return the combiner of an aggregator, which, like its parts, is kept in eight bytes."""
    if combiner.op not in ("record", "argmin", "argmax"):
        return _widened(combiner)
    if isinstance(combiner, PairCombiner):
        return replace(combiner, key=_widened(combiner.key), payload=_wide(combiner.payload))
    if not isinstance(combiner, RecordCombiner):
        return combiner
    return RecordCombiner(
        {
            name: (widened(one) if isinstance(one, PairCombiner) else _widened(one), _widened(field))
            for name, (one, field) in combiner.parts.items()
        }
    )


def _widened(one: Any) -> Any:
    return replace(one, storage=_wide(one.storage))


def _wide(storage: str) -> str:
    return storage if storage in ("bool", "id", "pair") else "float64" if storage[0] == "f" else "int64"


def plain(value: Any) -> Any:
    """Return a number of the language as a Python number, an array or a list as lists of them.

    An accumulator gets Python's numbers and keeps arrays.
    """
    if isinstance(value, SimpleNamespace):
        parts = {k: np.array(x) if isinstance(x, np.ndarray) else plain(x) for k, x in vars(value).items()}
        return Accumulator(**parts)
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, (list, np.ndarray)):
        if isinstance(value, np.ndarray):
            return value.tolist() if value.dtype != object else plain(value.tolist())  # of ids
        return [plain(x) for x in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return float(value) if isinstance(value, float) else int(value)


def read(value: Any) -> Any:
    """Return an aggregate, kept in float64, as a method reads it: in the program's precision."""
    if isinstance(value, SimpleNamespace):
        return SimpleNamespace(**{name: read(part) for name, part in vars(value).items()})
    return rounded_all(value).view(Row) if isinstance(value, np.ndarray) else number(value)


def shown(value: Any) -> Any:
    """Return an aggregate as done(), finalisers and results see it: plain, and None for no vertex."""
    if isinstance(value, Nobody):
        return None
    if isinstance(value, tuple):
        return tuple(map(shown, value))
    made = plain(value)
    if isinstance(made, Accumulator):
        vars(made).update({k: shown(x) for k, x in vars(made).items() if not isinstance(x, np.ndarray)})
    return made


def kept(combiner: RecordCombiner | PairCombiner, value: Any) -> Any:
    """Return the value that a finaliser returned, as this engine keeps it."""
    if isinstance(combiner, PairCombiner):
        return combiner.from_caller(value)
    made = {}
    for name, (one, field) in combiner.parts.items():
        x = getattr(value, name)
        if field.shape:
            made[name] = narrowed(field.storage, np.asarray(x)).view(Row)
        else:
            made[name] = one.from_caller(x)
    return SimpleNamespace(**made)
