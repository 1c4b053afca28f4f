"""Signals in the reference engine: the vertices that run next, their priorities and messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gaslab.errors import ProgramError
from gaslab.language.nobody import Nobody
from gaslab.reference.arithmetic import Fault, bucket
from gaslab.reference.state import State


def send(run: State, v: Any, message: Any, priority: Any) -> None:
    """Make *v* run in a later superstep; its apply sees *message*, combined with others sent to it."""
    soon = bucket(priority)
    run.pending[v] = min(run.pending.get(v, soon), soon)
    if message is not None:
        if run.message is None:
            raise ProgramError("a message needs a combiner: apply(self, v, message: gl.Min[float])")
        run.messages[v] = run.message.add(run.messages.get(v, run.message.identity), message)
    run.sent(v, message)


class SignalById:
    """``self.signal``: a signal to any vertex of the graph."""

    def __init__(self, run: State, by_id: Mapping[Any, Any]) -> None:
        self._run, self._by_id = run, by_id

    def __call__(self, vertex: Any, message: Any = None, priority: Any = 0) -> None:
        run = self._run
        if run.phase not in ("apply", "scatter"):
            raise ProgramError(f"{run.phase} cannot signal; scatter can")
        if isinstance(vertex, Nobody):
            raise Fault("a signal to nobody; test the id against gl.NOBODY first")
        send(run, self._by_id[vertex], message, priority)
