"""The words for random numbers: ``gl.uniform``, ``gl.normal`` and ``gl.integers``.

In a method they are draws, which the compiler knows by these functions. Anywhere else they make a
`Draw`, the start of a field. While the reference engine runs a method, it puts its own way to draw
into `drawing`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from gaslab import arguments
from gaslab.errors import UsageError

# Where in a superstep a draw stands: the low bits of Philox's second counter word.
PHASES = {
    "init": 0, "init_message": 0, "start": 1, "active": 2, "gather": 3, "apply": 4, "scatter": 5, "visit": 6,
    "gather_edges": 8, "scatter_edges": 9,
}  # fmt: skip
EDGE_PHASES = ("gather", "scatter", "visit")  # their draws belong to the edge
FIELD, EDGE_FIELD = 14, 15  # the start of a field; there the superstep's place has the field's index
TYPES = {"uniform": "float", "normal": "float", "integers": "int"}  # what a draw is in a program

drawing: ContextVar[Callable[[str, tuple[Any, ...]], Any] | None] = ContextVar("drawing", default=None)


@dataclass(frozen=True)
class Draw:
    """A random start for a field: each vertex (or edge) and each element its own number.

    An argument may be the name of a parameter of the program.
    """

    kind: str
    arguments: tuple[float | int | str, ...]

    def __repr__(self) -> str:
        return f"gl.{self.kind}({', '.join(map(repr, self.arguments))})"

    def values(self, parameters: dict[str, Any]) -> tuple[float, ...]:
        """Return the arguments as numbers, those that name a parameter from *parameters*."""
        found = []
        for argument in self.arguments:
            if isinstance(argument, str) and argument not in parameters:
                raise UsageError(f"{self!r}: the program has no parameter {argument!r}")
            found.append(parameters[argument] if isinstance(argument, str) else argument)
        if self.kind == "integers" and (found[0] != int(found[0]) or found[0] < 1):
            raise UsageError(f"{self!r}: n is {found[0]!r}; a whole number of at least 1 is needed")
        return tuple(found)


def _drawn(kind: str, **given: Any) -> Any:
    draw = drawing.get()
    if draw is not None:
        return draw(kind, tuple(given.values()))
    for name, value in given.items():
        if not isinstance(value, str):
            what = f"gl.{kind}.{name}"
            arguments.whole(what, value, 1) if kind == "integers" else arguments.number(what, value)
    return Draw(kind, tuple(given.values()))


def uniform(low: float | str = 0.0, high: float | str = 1.0) -> float:
    """Draw a float from [low, high); as the start of a field, arguments may be names of parameters.

    >>> import gaslab as gl
    >>> class Toss(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         coin: float = 0.0
    ...     def apply(self, v: Vertex) -> None:
    ...         v.coin = gl.uniform()
    >>> graph = gl.Graph.from_edges([0, 1], [1, 2])
    >>> gl.run(Toss(), graph, max_iterations=1, seed=1).vertices["coin"].round(3).tolist()
    [0.319, 0.434, 0.614]
    """
    result: float = _drawn("uniform", low=low, high=high)
    return result


def normal(scale: float | str = 1.0) -> float:
    """Draw a float from the normal distribution of mean 0 and standard deviation *scale*."""
    result: float = _drawn("normal", scale=scale)
    return result


def integers(n: int | str) -> int:
    """Draw an int from 0 .. n - 1, all equally likely; n below 1 ends the run."""
    result: int = _drawn("integers", n=n)
    return result


WORDS: dict[Any, str] = {uniform: "uniform", normal: "normal", integers: "integers"}
