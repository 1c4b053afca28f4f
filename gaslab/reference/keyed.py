"""Totals by key in the reference engine: a dict that gives 0 for absent keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gaslab.language.nobody import Nobody
from gaslab.language.sum_by import Totals
from gaslab.program import NOBODY
from gaslab.reference.arithmetic import narrow
from gaslab.reference.combiners import Combiner


@dataclass(frozen=True)
class KeyedCombiner:
    """``SumBy`` of a key and a value, by their storage types."""

    key: str
    value: Combiner
    op: str = "sum_by"
    storage: str = "sum_by"

    @property
    def identity(self) -> Any:
        """A new total, which `add` fills."""
        return Totals(self.value.identity)

    def add(self, total: Any, more: Any) -> Any:
        """Add a key's value to the total, in place."""
        key = NOBODY if isinstance(more[0], Nobody) else narrow(self.key, more[0])
        total[key] = self.value.add(total[key], more[1])
        return total
