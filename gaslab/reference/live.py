"""Live totals of the reference engine: aggregates that visit adds to."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from gaslab.reference.arithmetic import number

if TYPE_CHECKING:
    from gaslab.reference.supersteps import Run


class LiveTotals:
    """The totals of one round: each table begins with the same, and their additions are summed at its end."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._before = {name: run.aggregates[name] for name, mark in run.marks.items() if mark.live}
        self._at: dict[Any, Any] = {}  # the program's `self` at each table

    def sit_at(self, table: Any) -> None:
        """Let the program see, and add to, the totals of a table."""
        if self._before:
            if table not in self._at:
                self._at[table] = self._run.instance(self._run.computing, number)
                vars(self._at[table]).update(copy.deepcopy(self._before))
            self._run.me = self._at[table]

    def agree(self) -> None:
        """Make the additions of all tables part of the program's aggregates."""
        for name, before in self._before.items():
            self._run.aggregates[name] = _after(before, [vars(me)[name] for me in self._at.values()])
        self._run.me = self._run.instance(self._run.computing, number)


def _after(before: Any, at: list[Any]) -> Any:
    """Return a number, an array or an accumulator with what was added to each of its copies."""
    if isinstance(before, SimpleNamespace):
        parts = {name: _after(x, [vars(one)[name] for one in at]) for name, x in vars(before).items()}
        return SimpleNamespace(**parts)
    return sum((one - before for one in at), before)
