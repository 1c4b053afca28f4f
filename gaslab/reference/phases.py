"""The phases of a program, for the reference engine."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from gaslab.language.counts import count_of
from gaslab.language.phases import DIRECTIONS, phases_of
from gaslab.reference.combiners import Combiner
from gaslab.reference.declared import combiner_of, method_of

_PHASES = (*DIRECTIONS, "init", "start", "active", "visit", "gather", "apply", "scatter")


@dataclass(frozen=True, eq=False)  # two phases may be identical
class BoundPhase:
    """One phase: its methods (computing in the language's arithmetic), combiners and directions."""

    methods: dict[str, FunctionType]
    done: FunctionType | None
    gather: Combiner | None
    message: Combiner | None
    apply_takes: tuple[str, ...]
    gather_edges: int
    scatter_edges: int
    supersteps: int | None

    @property
    def by_signal(self) -> bool:
        """Whether signals decide which vertices run: there is a scatter, or an apply that signals."""
        if "active" in self.methods:
            return False
        apply = self.methods.get("apply")
        return "scatter" in self.methods or (apply is not None and "signal" in apply.__code__.co_names)

    @property
    def ends_itself(self) -> bool:
        """Whether the phase has its own end, or no method that runs."""
        return bool(
            self.done
            or self.supersteps is not None
            or self.by_signal
            or "active" in self.methods
            or not self.methods.keys() & {"visit", "gather", "apply", "scatter"}
        )


def bound_phases(program: Any, cls: type, computing: Any) -> tuple[list[BoundPhase], FunctionType | None]:
    """Return the phases of *cls*, and the ``done`` that decides whether they restart.

    *computing* is the same class in the language's arithmetic.
    """
    phases = phases_of(cls)
    if not phases:
        names = {name: name for name in _PHASES if method_of(cls, name)}
        edges = (cls.gather_edges, cls.scatter_edges)  # type: ignore[attr-defined]
        return [_bound(program, cls, computing, names, method_of(cls, "done"), edges, None)], None
    bound = []
    for phase in phases:
        names = {role: function.__name__ for role, function in phase.methods(cls).items()}
        done = names.pop("done", None)
        edges = (phase.direction(cls, "gather_edges"), phase.direction(cls, "scatter_edges"))
        over = method_of(cls, done) if done else None
        supersteps = count_of(program, phase.supersteps)
        bound.append(_bound(program, cls, computing, names, over, edges, supersteps))
    if method_of(cls, "init"):
        bound[0].methods["init"] = method_of(computing, "init")  # type: ignore[assignment]
    return bound, method_of(cls, "done")


def takes_of(method: FunctionType | None) -> tuple[str, ...]:
    """Return the parameters of a method after ``self`` and ``v``."""
    return tuple(inspect.signature(method).parameters)[2:] if method else ()


def _bound(
    program: Any,
    cls: type,
    computing: Any,
    names: dict[str, str],
    done: FunctionType | None,
    edges: tuple[int, int],
    supersteps: int | None,
) -> BoundPhase:
    gather, apply = (method_of(cls, names.get(role, "")) for role in ("gather", "apply"))
    receivers = [one for one in (method_of(cls, "init"), apply) if one and "message" in takes_of(one)]
    return BoundPhase(
        methods={role: getattr(computing, name) for role, name in names.items()},
        done=done,
        gather=combiner_of(gather, "return", cls, program) if gather else None,
        message=combiner_of(receivers[0], "message", cls, program) if receivers else None,
        apply_takes=takes_of(apply),
        gather_edges=edges[0],
        scatter_edges=edges[1],
        supersteps=supersteps,
    )
