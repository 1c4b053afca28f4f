"""Aggregators: methods of a program whose values are combined over all vertices or edges."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Generic, TypeVar, overload

from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.language.counts import count_of
from gaslab.language.phases import Phase

T = TypeVar("T")
Interval = int | str | type[Phase]
MOMENTS = ("apply", "scatter")  # of a superstep, after which it is computed


class Aggregator(Generic[T]):
    """A method made by `aggregator`; ``self.name`` reads its value over all vertices."""

    def __init__(
        self,
        function: Callable[..., T],
        every: Interval = 1,
        finalizer: Callable[[Any, T], T] | None = None,
        live: bool = False,
        after: str = "apply",
    ) -> None:
        self.function: Any = function
        self.live = arguments.flag("aggregator.live", live)
        self.after = arguments.choice("aggregator.after", after, MOMENTS)
        if isinstance(every, Phase):
            raise UsageError("aggregator(every=Phase(...)): one phase; every=gl.Phase means all of them")
        named = isinstance(every, str) or every is Phase
        self.every = every if named else arguments.whole("aggregator.every", every, 1)
        if self.after == "scatter" and (self.live or self.by_phase):
            of, why = "every=gl.Phase", "a phase is over after its last scatter"
            if self.live:
                of, why = "live=True", "visit adds to a live total"
            raise UsageError(f"aggregator({of}, after='scatter'): {why}; leave out after=")
        self.finalizer = finalizer
        self.__doc__ = function.__doc__

    @property
    def by_phase(self) -> bool:
        """Whether it is computed when a phase is over."""
        return self.every is Phase

    def interval(self, program: Any) -> int:
        """Return the supersteps from one value to the next, with the program's parameters; 0: none counts."""
        if self.live or self.by_phase:
            return 0
        every: Any = self.every
        return count_of(program, every, 1) or 0

    def finalize(self, function: Callable[[Any, T], T]) -> Any:
        """Declare a last step for the combined value: ``function(self, total)``, plain Python, run once.

        The aggregator's value is what it returns, of the same type. Under the aggregator's own name it makes
        a new aggregator, as a property's setter does; under another name (``_``) it belongs to this one.
        """
        if not isinstance(function, FunctionType):
            raise UsageError(f"finalize is given a {type(function).__name__}; put it above a def")
        if function.__name__ == getattr(self.function, "__name__", None):
            return Aggregator(self.function, self.every, function, self.live, self.after)
        self.finalizer = function
        return function

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __fingerprint__(self) -> Any:
        every = "phase" if self.by_phase else self.every
        return [self.function, every, self.finalizer, self.after] + ["live"] * self.live

    @overload
    def __get__(self, instance: None, owner: type) -> Aggregator[T]: ...
    @overload
    def __get__(self, instance: Any, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Aggregator[T] | T:
        if instance is None:
            return self
        raise UsageError(f"{owner.__name__}.{self.name} has a value only while the program runs")


@overload
def aggregator(function: Callable[..., T]) -> Aggregator[T]: ...
@overload
def aggregator(
    *, every: Interval = 1, after: str = "apply"
) -> Callable[[Callable[..., T]], Aggregator[T]]: ...
@overload
def aggregator(*, live: bool) -> Callable[[Callable[..., T]], Aggregator[T]]: ...
def aggregator(
    function: Callable[..., T] | None = None,
    *,
    every: Interval = 1,
    live: bool = False,
    after: str = "apply",
) -> Any:
    """Declare a value combined over all vertices or edges, after init and after each apply phase.

    The combiner is the return annotation: ``-> gl.Sum[float]``. A method of ``(self, v)`` is called for every
    vertex, one of ``(self, v, e, nbr)`` for every edge, from ``v`` to ``nbr``. Inside the program
    ``self.name`` is the value after init or after the previous apply phase; ``done`` sees the latest. With
    ``every=n`` it is computed after init and after every n-th superstep, and kept in between; n is a number,
    or the name of an int parameter of the program. With ``every=gl.Phase`` it is computed after init and at
    the end of each phase; a program without phases is one phase. With ``after="scatter"`` it is computed
    after init and after the scatter of each superstep, from what scatter wrote: ``done`` reads it at once,
    the next superstep like any other. With ``live=True`` it is computed after init, and then ``visit`` reads
    it and adds to it: ``self.name += 1``; see ``docs/visit.md``.

    >>> from gaslab import program as gl
    >>> class Mass(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         score: float = 1.0
    ...     @gl.aggregator
    ...     def mass(self, v: Vertex) -> gl.Sum[float]:
    ...         return v.score
    ...     def apply(self, v: Vertex) -> None:
    ...         v.score = v.score / self.mass
    """
    if function is None:
        return lambda function: Aggregator(function, every, live=live, after=after)
    return Aggregator(function)


def aggregators_of(cls: type) -> dict[str, Aggregator[Any]]:
    """Return the aggregators of a program class by name, its bases' first."""
    found: dict[str, Aggregator[Any]] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            found.pop(name, None)
            if isinstance(value, Aggregator):
                found[name] = value
    return found
