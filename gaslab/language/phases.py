"""Programs of several phases: the content of a `Phase`, and the methods of a class that it names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from gaslab.arguments import shown

NONE, IN, OUT, ALL = 0, 1, 2, 3
METHODS = ("start", "active", "gather", "apply", "scatter", "done")  # that a phase may name
DIRECTIONS = ("gather_edges", "scatter_edges")
OF_CLASS = object()  # a direction left to the class


@dataclass(frozen=True, eq=False)
class Phase:
    """One phase of a program: which of its methods run, over which edges, and for how long.

    Parameters
    ----------
    gather, apply, scatter, start, active : method, optional
        Methods of the class, under any names; each has the role in this phase that the method of that name
        has in a program without phases.
    done : method, optional
        ``done(self)``: whether the phase is over, called after each of its supersteps.
    gather_edges, scatter_edges : direction, optional
        gl.IN, gl.OUT, gl.ALL or gl.NONE; or a method of ``v`` that returns one of them. By default the
        class's own `gather_edges` and `scatter_edges`.
    supersteps : int or str, optional
        Maximum number of supersteps at a time: at least 1, or the name of an int parameter of the program. If
        the parameter is 0, no vertex runs.

    Examples
    --------
    >>> import gaslab as gl
    >>> class TwoHops(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         near: int = 0
    ...         far: int = 0
    ...     def count(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
    ...         return 1
    ...     def keep_near(self, v: Vertex, total: int) -> None:
    ...         v.near = total
    ...     def count_near(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
    ...         return nbr.near
    ...     def keep_far(self, v: Vertex, total: int) -> None:
    ...         v.far = total
    ...     phases = (
    ...         gl.Phase(gather=count, apply=keep_near, supersteps=1),
    ...         gl.Phase(gather=count_near, apply=keep_far, supersteps=1),
    ...     )
    >>> graph = gl.Graph.from_edges([0, 1, 1], [1, 2, 3])
    >>> gl.run(TwoHops(), graph).vertices["far"]
    array([0, 0, 1, 1])
    """

    gather: Callable[..., Any] | None = None
    apply: Callable[..., Any] | None = None
    scatter: Callable[..., Any] | None = None
    start: Callable[..., Any] | None = None
    active: Callable[..., Any] | None = None
    done: Callable[..., Any] | None = None
    gather_edges: Any = OF_CLASS
    scatter_edges: Any = OF_CLASS
    supersteps: int | str | None = None

    def direction(self, cls: type, name: str) -> Any:
        """Return a direction, by default the class's: a number or a method."""
        own = getattr(self, name)
        if own is not OF_CLASS:
            return own
        return getattr(cls, name) if getattr(self, name.removesuffix("_edges")) is not None else NONE

    def directions(self, cls: type) -> tuple[int, int]:
        """Return all directions in which it may gather and scatter."""
        chosen = (self.direction(cls, name) for name in DIRECTIONS)
        gather, scatter = (ALL if isinstance(x, FunctionType) else x for x in chosen)
        return gather, scatter

    def methods(self, cls: type) -> dict[str, FunctionType]:
        """Return this phase's methods by role, from *cls*: a subclass may have replaced them.

        Raises TypeError for anything that is not a method of the class, naming it.
        """
        found: dict[str, FunctionType] = {}
        for role in (*METHODS, *DIRECTIONS):
            chosen = self.direction(cls, role) if role in DIRECTIONS else getattr(self, role)
            if chosen is None or (role in DIRECTIONS and not isinstance(chosen, FunctionType)):
                continue
            function = chosen.fget if isinstance(chosen, property) else chosen
            name = getattr(function, "__name__", "")
            mine = getattr(cls, name, None)
            if not isinstance(chosen, FunctionType) or not isinstance(mine, FunctionType):
                chosen = name or shown(chosen)
                raise TypeError(f"{role}={chosen} is not a method of the class; name one above it")
            if all(vars(base).get(name) is not chosen for base in cls.__mro__):
                raise TypeError(f"{role}={name} is not the class's method of this name")
            found[role] = mine
        return found


def phases_of(cls: type) -> tuple[Phase, ...]:
    """Return the phases of a program class; none for a class whose methods have the standard names."""
    phases: tuple[Phase, ...] = getattr(cls, "phases", ())
    return phases
