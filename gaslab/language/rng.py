"""The words for random numbers: ``gl.uniform``, ``gl.normal``, ``gl.integers`` and more.

In a method they are draws, which the compiler recognises by these functions. Elsewhere those that draw
numbers make a `Draw`, the start of a field. While the reference engine runs a method, it puts its own drawing
function into `drawing`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from gaslab import arguments
from gaslab.errors import UsageError

# The place of a draw in a superstep: the low bits of Philox's second counter word.
PHASES = {
    "init": 0, "init_message": 0, "start": 1, "active": 2, "gather": 3, "apply": 4, "scatter": 5, "visit": 6,
    "gather_edges": 8, "scatter_edges": 9,
}  # fmt: skip
EDGE_PHASES = ("gather", "scatter", "visit")  # their draws belong to the edge
FIELD, EDGE_FIELD = 14, 15  # the start of a field; the superstep's bits then hold the field's index
RNGS = {
    "counter": "a Philox block each",
    "stream": "a generator for each call of a method, seeded by a Philox block",
    "hash": "a mix of seed, moment, unit and number",
}  # the definition of a draw in a method, by the class's rng
TYPES = {
    "uniform": "float", "normal": "float", "integers": "int", "exponential": "float", "gamma": "float",
    "poisson": "int",
}  # fmt: skip  # the type of a draw in a program
OF_VECTORS = ("categorical", "dirichlet")  # drawn only in methods
MOST = dict.fromkeys(("normal", "exponential", "gamma"), sys.float_info.max) | {
    "poisson": 2.0**52
}  # of a parameter

drawing: ContextVar[Callable[[str, tuple[Any, ...]], Any] | None] = ContextVar("drawing", default=None)


@dataclass(frozen=True)
class Draw:
    """A random initial value for a field: a separate number for each vertex (or edge) and element.

    An argument may be the name of a parameter of the program.
    """

    kind: str
    arguments: tuple[float | int | str, ...]

    def __repr__(self) -> str:
        return f"gl.{self.kind}({', '.join(map(repr, self.arguments))})"

    def values(self, parameters: dict[str, Any]) -> tuple[float, ...]:
        """Return the arguments as numbers; names of parameters are looked up in *parameters*."""
        found = []
        for argument in self.arguments:
            if isinstance(argument, str) and argument not in parameters:
                raise UsageError(f"{self!r}: the program has no parameter {argument!r}")
            value = parameters[argument] if isinstance(argument, str) else argument
            if lack := needed(self.kind, value):
                raise UsageError(f"{self!r}: {argument} is {value!r}; {lack} is needed")
            found.append(value)
        if self.kind == "integers" and (found[0] != int(found[0]) or found[0] < 1):
            raise UsageError(f"{self!r}: n is {found[0]!r}; a whole number of at least 1 is needed")
        if self.kind == "uniform" and (lack := too_wide(*found)):
            raise UsageError(f"{self!r}: {lack}")
        return tuple(found)


def needed(kind: str, value: float) -> str:
    """Return the requirement on a distribution's parameter, nothing if *value* meets it."""
    most = MOST.get(kind)
    if most is None or 0.0 <= value <= most:
        return ""
    return f"a finite number of at least 0{' and at most 2**52' * (kind == 'poisson')}"


def too_wide(low: float, high: float) -> str:
    """Return the error of ``gl.uniform``'s range, nothing if its width is finite."""
    if math.isfinite(high - low):
        return ""
    return f"the range of gl.uniform from {low!r} to {high!r} has no finite width"


def _drawn(kind: str, **operands: Any) -> Any:
    draw = drawing.get()
    if draw is not None:
        return draw(kind, tuple(operands.values()))
    for name, value in operands.items():
        if not isinstance(value, str):
            what = f"gl.{kind}.{name}"
            arguments.whole(what, value, 1) if kind == "integers" else arguments.number(what, value)
            if lack := needed(kind, value):
                raise arguments.wrong(what, value, f"{lack} is needed")
    return Draw(kind, tuple(operands.values()))


def uniform(low: float | str = 0.0, high: float | str = 1.0) -> float:
    """Draw a float uniformly from [low, high); as the start of a field, arguments may be names of parameters.

    The number is ``low + (high - low) * u``, with u from [0, 1): where *low* is not 0, rounding can give
    *high*, as in numpy. Constant bounds whose difference is not finite are refused; with other such bounds
    the draw is inf or nan.

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
    """Draw a float from the normal distribution with mean 0 and standard deviation *scale*.

    A *scale* that is negative, infinite or nan ends the run with an error that names vertex and line.
    """
    result: float = _drawn("normal", scale=scale)
    return result


def integers(n: int | str) -> int:
    """Draw an int uniformly from 0 to n - 1; n below 1 ends the run."""
    result: int = _drawn("integers", n=n)
    return result


def exponential(scale: float | str = 1.0) -> float:
    """Draw a float from the exponential distribution; as the start of a field, *scale* may name a parameter.

    By inversion, from one uniform number.

    Parameters
    ----------
    scale : float
        The mean, at least 0 and finite.

    Raises
    ------
    ExecutionError
        *scale* is negative, infinite or nan; the error names vertex and line.

    Examples
    --------
    >>> import gaslab as gl
    >>> class Waits(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         wait: float = 0.0
    ...     def apply(self, v: Vertex) -> None:
    ...         v.wait = gl.exponential(10.0)
    >>> graph = gl.Graph.from_edges([0, 1], [1, 2])
    >>> gl.run(Waits(), graph, max_iterations=1, seed=1).vertices["wait"].round(2).tolist()
    [4.0, 3.48, 44.32]
    """
    result: float = _drawn("exponential", scale=scale)
    return result


def gamma(shape: float | str, scale: float | str = 1.0) -> float:
    """Draw a float from the gamma distribution; as the start of a field, arguments may name parameters.

    By rejection, with few trials of a normal and a uniform number.

    Parameters
    ----------
    shape, scale : float
        At least 0 and finite. The mean is ``shape * scale``, the variance ``shape * scale**2``.

    Raises
    ------
    ExecutionError
        An argument is negative, infinite or nan; the error names vertex and line.

    References
    ----------
    Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (3), 2000.
    """
    result: float = _drawn("gamma", shape=shape, scale=scale)
    return result


def poisson(mean: float | str) -> int:
    """Draw an int from the Poisson distribution; as the start of a field, *mean* may name a parameter.

    By inversion for a mean below 10, otherwise by rejection (PTRS).

    Parameters
    ----------
    mean : float
        From 0 to ``2**52``.

    Raises
    ------
    ExecutionError
        *mean* is out of range or nan; the error names vertex and line.

    References
    ----------
    Hoermann, "The transformed rejection method for generating Poisson random variables", Insurance:
    Mathematics and Economics 12 (1), 1993.

    Examples
    --------
    >>> import gaslab as gl
    >>> class Visitors(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         today: int = 0
    ...     def apply(self, v: Vertex) -> None:
    ...         v.today = gl.poisson(20.0 * v.degree)
    >>> graph = gl.Graph.from_edges([0, 1], [1, 2])
    >>> gl.run(Visitors(), graph, max_iterations=1, seed=1).vertices["today"].tolist()
    [22, 44, 25]
    """
    result: int = _drawn("poisson", mean=mean)
    return result


def dirichlet(alpha: Any) -> Any:
    """Draw a vector from the Dirichlet distribution with parameters *alpha*: non-negative, with sum 1.

    The elements are draws from gamma distributions with shapes *alpha*, divided by their sum; they are kept
    as logarithms, so that the smallest shapes do not all give 0.

    Parameters
    ----------
    alpha : vector of floats, ints or bools
        Non-negative, finite, and not all 0. Where *alpha* is 0, so is the result.

    Returns
    -------
    vector of floats
        As long as *alpha*.

    Raises
    ------
    UsageError
        It is called outside the methods of a program.
    ExecutionError
        An element of *alpha* is negative, infinite or nan, or all are 0; the error names vertex and line.

    Examples
    --------
    >>> import gaslab as gl
    >>> class Mixes(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         mix: gl.Vector = gl.field(shape=3, init=0.5)
    ...     def apply(self, v: Vertex) -> None:
    ...         v.mix = gl.dirichlet(v.mix)
    >>> graph = gl.Graph.from_edges([0], [1])
    >>> gl.run(Mixes(), graph, max_iterations=1, seed=1).vertices["mix"].round(2).tolist()
    [[0.03, 0.19, 0.79], [0.25, 0.6, 0.15]]
    """
    return _of_vector("dirichlet", alpha)


def categorical(weights: Any) -> int:
    """Draw an index of the vector *weights*, each with probability proportional to its weight.

    Parameters
    ----------
    weights : vector of floats, ints or bools
        Non-negative, with a finite sum above 0. They need not sum to 1.

    Returns
    -------
    int
        From 0 to ``len(weights) - 1``; never one whose weight is 0.

    Raises
    ------
    UsageError
        It is called outside the methods of a program.
    ExecutionError
        A weight is negative or nan, or the weights sum to 0 or infinity; the error names vertex and line.

    Examples
    --------
    >>> import gaslab as gl
    >>> class Dice(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         weights: gl.Vector = gl.field(shape=3, init=1.0)
    ...         side: int = 0
    ...     def apply(self, v: Vertex) -> None:
    ...         v.weights[0] = 0.0
    ...         v.side = gl.categorical(v.weights)
    >>> graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> gl.run(Dice(), graph, max_iterations=1, seed=1).vertices["side"].tolist()
    [1, 1, 2, 1]
    """
    result: int = _of_vector("categorical", weights)
    return result


def _of_vector(kind: str, values: Any) -> Any:
    draw = drawing.get()
    if draw is None:
        raise UsageError(f"gl.{kind} draws only in the methods of a program, not as the start of a field")
    return draw(kind, (values,))


WORDS: dict[Any, str] = {
    uniform: "uniform", normal: "normal", integers: "integers", exponential: "exponential", gamma: "gamma",
    poisson: "poisson", categorical: "categorical", dirichlet: "dirichlet",
}  # fmt: skip
