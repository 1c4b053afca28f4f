"""Live totals of the reference engine: aggregates that visit adds to."""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from gaslab.reference.state import State


class LiveTotals:
    """The totals of one round: each table begins with the same, and their additions are summed at the end."""

    def __init__(self, run: State, new_self: Callable[[], Any]) -> None:
        self._run, self._new_self = run, new_self
        self._before = {name: run.aggregates[name] for name, mark in run.marks.items() if mark.live}
        self._at: dict[Any, Any] = {}  # the program's `self` at each table

    def sit_at(self, table: Any) -> None:
        """Let the program see, and add to, the totals of a table."""
        if self._before:
            if table not in self._at:
                self._at[table] = self._new_self()
                vars(self._at[table]).update(copy.deepcopy(self._before))
            self._run.me = self._at[table]

    def agree(self) -> None:
        """Make the additions of all tables part of the program's aggregates."""
        for name, before in self._before.items():
            self._run.aggregates[name] = _after(before, [vars(me)[name] for me in self._at.values()])
        self._run.me = self._new_self()


def _after(before: Any, at: list[Any]) -> Any:
    """Return a number, an array or an accumulator with the additions to each of its copies."""
    if isinstance(before, SimpleNamespace):
        parts = {name: _after(x, [vars(one)[name] for one in at]) for name, x in vars(before).items()}
        return SimpleNamespace(**parts)
    return sum((one - before for one in at), before)
