"""Accumulators of the program's own merge in the reference engine, which also tests whether it commutes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from gaslab.errors import ProgramError
from gaslab.program import At
from gaslab.reference.arithmetic import narrow
from gaslab.reference.arrays import Row, narrowed
from gaslab.reference.combiners import Field
from gaslab.reference.records import RecordCombiner, faults_name, plain, with_element

TRIED = 32  # merges of a run whose order is tested


@dataclass
class OwnCombiner:
    """Named parts that start from their defaults and are merged by the program."""

    parts: dict[str, Field]
    op: str = "record"
    storage: str = "record"
    merge: Callable[[Any, Any], Any] = field(default=lambda a, b: a)  # set by the run
    tried: int = 0

    @property
    def identity(self) -> Any:
        """An empty accumulator."""
        return SimpleNamespace(**{name: _stored(one, one.default) for name, one in self.parts.items()})

    def from_caller(self, value: Any) -> Any:
        """Return an accumulator of the program's or the caller's, with defaults for missing parts."""
        made = self.identity
        with faults_name(value):
            for name, x in vars(value).items():
                if isinstance(x, At):
                    x = with_element(getattr(made, name), x, lambda before, weight: weight)
                setattr(made, name, _stored(self.parts[name], x))
        return made

    def add(self, total: Any, more: Any) -> Any:
        """Merge the total with one more."""
        more = self.from_caller(more)
        merged = self.from_caller(self.merge(total, more))
        if self.tried < TRIED:
            self.tried += 1
            other = self.from_caller(self.merge(more, total))
            if not _alike(merged, other):
                raise ProgramError(
                    f"merge must not depend on the order, but makes {plain(merged)!r} of {plain(total)!r} "
                    f"and {plain(more)!r}, and {plain(other)!r} the other way round"
                )
            alone = self.from_caller(self.merge(self.identity, more))
            if not _alike(alone, more):
                raise ProgramError(
                    f"merge with an empty accumulator must return {plain(more)!r} unchanged, but makes "
                    f"{plain(alone)!r}"
                )
        return merged


def same_kind(a: Any, b: Any) -> bool:
    """Return whether two combiners take the same values and combine them the same way."""
    return a is not None and b is not None and _kind(a) == _kind(b)


def _kind(combiner: Any) -> Any:
    if isinstance(combiner, OwnCombiner):
        return "own", [(name, one.storage, one.shape, one.default) for name, one in combiner.parts.items()]
    if isinstance(combiner, RecordCombiner):
        return "record", [(name, how, one.shape) for name, (how, one) in combiner.parts.items()]
    return combiner


def _stored(one: Field, value: Any) -> Any:
    if not one.shape:
        return narrow(one.storage, value)
    return narrowed(one.storage, np.broadcast_to(np.asarray(value), one.shape).copy()).view(Row)


def _alike(a: Any, b: Any) -> bool:
    """Whether two accumulators are the same except for rounding."""
    for name, x in vars(a).items():
        for one, other in zip(np.ravel(x).tolist(), np.ravel(getattr(b, name)).tolist(), strict=True):
            if one == other or (one != one and other != other):
                continue
            if not isinstance(one, float) or not math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-6):
                return False
    return True
