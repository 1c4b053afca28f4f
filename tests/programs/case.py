"""A program of the zoo and how to run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gaslab.program import VertexProgram


@dataclass(frozen=True)
class Case:
    """How to run a program: at most *limit* supersteps; ``source`` is given a vertex of the graph."""

    program: type[VertexProgram]
    limit: int = 5
    parameters: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)  # edge field -> column, where names differ
    given: tuple[str, ...] = ()  # fields that also get earlier values
    start: str = ""  # "ids" or "messages": superstep 0 is also given to some vertices by the caller
    directed_only: bool = False
    lists: bool = False  # the edges also have the columns of lists `tokens`, `marks`, `levels`, `flags`
    tolerance: float = 1e-9

    def __str__(self) -> str:
        return self.program.__name__


CASES: list[Case] = []


def case(**options: Any) -> Callable[[type[VertexProgram]], type[VertexProgram]]:
    """Add a program to CASES."""

    def add(program: type[VertexProgram]) -> type[VertexProgram]:
        CASES.append(Case(program, **options))
        return program

    return add
