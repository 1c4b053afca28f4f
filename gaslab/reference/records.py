"""Accumulators with parts of the reference engine: plain objects, combined part by part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab.program import Accumulator, At
from gaslab.reference.arithmetic import Fault, narrow
from gaslab.reference.arrays import OUTSIDE, Row, narrowed

if TYPE_CHECKING:
    from gaslab.reference.declared import Combiner, Field


@dataclass(frozen=True)
class RecordCombiner:
    """Named parts, each with its combiner."""

    parts: dict[str, tuple[Combiner, Field]]
    op: str = "record"
    storage: str = "record"

    @property
    def identity(self) -> Any:
        """What combining nothing gives."""
        return SimpleNamespace(**{name: _first(*part) for name, part in self.parts.items()})

    def add(self, total: Any, more: Any) -> Any:
        """Combine the total with one more accumulator; a part left out contributes nothing."""
        made = SimpleNamespace(**vars(total))
        for name, value in vars(more).items():
            combiner, field = self.parts[name]
            before = getattr(total, name)
            if isinstance(value, At):
                after = np.array(before).view(Row)
                if not -len(after) <= value.index < len(after):
                    raise Fault(OUTSIDE)
                after[value.index] = combiner.add(before[value.index], value.weight)
            elif field.shape:
                after = narrowed(field.storage, np.asarray(_both(combiner.op, before, value))).view(Row)
            else:
                after = combiner.add(before, value)
            setattr(made, name, after)
        return made


def _first(combiner: Combiner, field: Field) -> Any:
    if not field.shape:
        return combiner.identity
    return narrowed(field.storage, np.full(field.shape, combiner.identity)).view(Row)


def _both(op: str, a: Any, b: Any) -> Any:
    if op in ("min", "max"):
        return np.where(b < a, b, a) if op == "min" else np.where(b > a, b, a)
    return a * b if op == "prod" else a | b if op == "bitor" else a + b


def widened(combiner: Any) -> Any:
    """Return the combiner of an aggregator, whose parts are kept in eight bytes."""
    if not isinstance(combiner, RecordCombiner):
        return combiner
    return RecordCombiner(
        {
            name: (replace(one, storage=_wide(one.storage)), replace(field, storage=_wide(field.storage)))
            for name, (one, field) in combiner.parts.items()
        }
    )


def _wide(storage: str) -> str:
    return storage if storage in ("bool", "id") else "float64" if storage[0] == "f" else "int64"


def plain(value: Any) -> Any:
    """Return a number of the language as Python's own, an array or a list as lists of them.

    An accumulator gets Python's numbers and keeps arrays.
    """
    if isinstance(value, SimpleNamespace):
        parts = {k: np.array(x) if isinstance(x, np.ndarray) else plain(x) for k, x in vars(value).items()}
        return Accumulator(**parts)
    if isinstance(value, (list, np.ndarray)):
        return [plain(x) for x in value] if isinstance(value, list) else value.tolist()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return float(value) if isinstance(value, float) else int(value)


def told(combiner: RecordCombiner, value: Any) -> Any:
    """Return what a finaliser gave, as this engine keeps it."""
    made = {}
    for name, (_, field) in combiner.parts.items():
        x = getattr(value, name)
        made[name] = (
            narrowed(field.storage, np.asarray(x)).view(Row) if field.shape else narrow(field.storage, x)
        )
    return SimpleNamespace(**made)


__all__ = ["RecordCombiner", "narrow"]
