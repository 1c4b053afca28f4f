"""`v`, `nbr` and `e` of the reference engine, which allow only what a phase may do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gaslab.errors import ProgramError, nearest
from gaslab.reference.signals import send
from gaslab.reference.state import State


class Vertex:
    """`v` and `nbr`: fields as attributes, stored in their storage types."""

    _run: State
    id: Any
    index: int
    in_degree: int
    out_degree: int
    degree: int

    def __init__(self, run: State, vertex_id: Any) -> None:
        vars(self).update(_run=run, id=vertex_id, in_degree=0, out_degree=0, degree=0)

    def __repr__(self) -> str:
        return f"<vertex {self.id}: {_shown(self, self._run.vertex_fields)}>"

    def __setattr__(self, name: str, value: Any) -> None:
        run = self._run
        if run.phase == "scatter" and name in run.contributions.combiners:
            run.contributions.note(self, name, value)
            return
        if name not in run.vertex_fields:
            raise ProgramError(f"no vertex field {name!r}{nearest(name, run.vertex_fields)}")
        if run.writable is not self and run.phase != "visit":
            raise ProgramError(f"{run.phase} cannot write the vertex field {name!r}; init and apply can")
        if run.phase != "init" or name not in run.initial_fields:
            run.put(self, name, run.vertex_fields[name], value)

    def may_write(self, name: str) -> bool:
        """Raise if this phase may not write an element of a field; return whether it does."""
        if self._run.writable is not self and self._run.phase != "visit":
            phase = self._run.phase
            raise ProgramError(f"{phase} cannot write the vertex field {name!r}; init and apply can")
        return self._run.phase != "init" or name not in self._run.initial_fields

    def post_delta(self, value: Any = None) -> None:
        """Do nothing: without a cache, every gather runs."""

    clear_cache = post_delta

    @property
    def _named(self) -> Vertex:
        """The vertex that a fault names."""
        return self

    def signal(self, message: Any = None, priority: Any = 0) -> None:
        """Make this vertex run in a later superstep; its apply sees *message*, combined."""
        run = self._run
        if run.phase != "scatter" and run.writable is not self:
            raise ProgramError(f"{run.phase} cannot signal; scatter can")
        send(run, self, message, priority)


class Edge:
    """`e`: fields as attributes; scatter may write them."""

    _run: State
    _ends: tuple[Vertex, Vertex]

    def __init__(self, run: State, source: Vertex, target: Vertex) -> None:
        vars(self).update(_run=run, _ends=(source, target))

    def __repr__(self) -> str:
        source, target = self._ends
        return f"<edge {source.id} -> {target.id}: {_shown(self, self._run.edge_fields)}>"

    @property
    def _named(self) -> Vertex:
        """The vertex that a fault names."""
        return self._ends[1]

    def __setattr__(self, name: str, value: Any) -> None:
        run = self._run
        if name not in run.edge_fields:
            raise ProgramError(f"no edge field {name!r}{nearest(name, run.edge_fields)}")
        if run.phase not in ("scatter", "visit"):
            raise ProgramError(f"{run.phase} cannot write the edge field {name!r}; scatter can")
        run.written.add(name)
        if run.phase == "scatter" and name in run.edge_contributions.combiners:
            run.edge_contributions.note(self, name, value)
            return
        run.put(self, name, run.edge_fields[name], value)

    def may_write(self, name: str) -> bool:
        """Raise if this phase may not write an element of a field."""
        if self._run.phase not in ("scatter", "visit"):
            raise ProgramError(f"{self._run.phase} cannot write the edge field {name!r}; scatter can")
        self._run.written.add(name)
        return True


def _shown(owner: Vertex | Edge, fields: Iterable[str]) -> str:
    """Return fields with their values, for debuggers."""
    return ", ".join(f"{name}={vars(owner).get(name)!r}" for name in fields) or "no fields"
