"""Signals in the reference engine: the vertices that run next, their priorities and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gaslab.errors import ProgramError
from gaslab.language.nobody import Nobody
from gaslab.reference.arithmetic import Fault, bucket

if TYPE_CHECKING:
    from gaslab.reference.supersteps import Run
    from gaslab.reference.views import Vertex


def send(run: Run, v: Vertex, message: Any, priority: Any) -> None:
    """Make *v* run in a later superstep; its apply sees *message*, combined with what else is sent to it."""
    soon = bucket(priority)
    run.pending[v] = min(run.pending.get(v, soon), soon)
    if message is not None:
        if run.message is None:
            raise ProgramError("a message needs a combiner: apply(self, v, message: gl.Min[float])")
        run.messages[v] = run.message.add(run.messages.get(v, run.message.identity), message)
    run.sent(v, message)


class SignalById:
    """``self.signal``: a signal to any vertex of the graph."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def __call__(self, vertex: Any, message: Any = None, priority: Any = 0) -> None:
        run = self._run
        if run.phase not in ("apply", "scatter"):
            raise ProgramError(f"{run.phase} cannot signal; scatter can")
        if isinstance(vertex, Nobody):
            raise Fault("a signal to nobody; test the id against gl.NOBODY first")
        send(run, run.graph.by_id[vertex], message, priority)
