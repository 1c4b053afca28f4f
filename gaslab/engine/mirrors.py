"""`Mirrors`: which mirrors need which field, and the sending of the masters' values to them.

A mirror needs a field where a method reads it at the mirror's edges. `sync/step` and `stale/step` say when a
superstep sends changes; the asynchronous engine sends by `asynchronous/make_machine`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from gaslab.compiler.tree import Tree
from gaslab.engine.activation import Frontier
from gaslab.engine.executor import Executor
from gaslab.engine.state import RunState
from gaslab.program import ALL, IN, OUT
from gaslab.replication.exchange import Exchange, Section

ITSELF = "{} reads it of the vertex itself"  # why gather or scatter needs a field on mirrors


class Mirrors:
    """Sends the fields of one phase from masters to mirrors, on one rank."""

    def __init__(self, executor: Executor, state: RunState, exchange: Exchange) -> None:
        self.executor, self.state, self.exchange, self.tree = executor, state, exchange, state.tree
        view, tree = executor.view, state.tree
        self._roles = field_roles(tree, view.gather_edges, view.scatter_edges)
        sends = "scatter" in tree.functions or bool(tree.signals())
        self._scatter: int = view.scatter_edges if sends else 0  # mirrors told which vertices scatter
        self._seldom = seldom_read(tree, view.gather_edges, view.scatter_edges)
        self._renewed = renewed(tree, view.gather_edges, view.scatter_edges)
        self._changes = self._field_changes()
        self._alone = exchange.comm.size == 1  # no mirrors, here or elsewhere

    def _field_changes(self) -> dict[str, int]:
        """Return the fields that a superstep may change, with the role of mirrors that get the new values."""
        sent = self.tree.writes("apply") | self.tree.writes("visit") | self.tree.writes("visit", "nbr")
        changed = {
            name
            for phase, function in self.tree.functions.items()
            if phase != "init" or function.parameters
            for role in ("v", "nbr")
            for name in self.tree.writes(phase, role)
        }
        sent -= self._seldom
        return {name: self._roles[name] if name in sent else 0 for name in changed}

    def note_changes(self) -> None:
        """Note that masters may change fields in this superstep."""
        for name, role in () if self._alone else self._changes.items():
            self.state.stale((name,), role)

    def refresh(self, all_fields: bool = False) -> None:
        """Send the mirrors the fields whose values there are out of date (collective).

        Seldom-read fields wait for `refresh_seldom`; `renewed` fields, for `spread`.
        """
        if all_fields:
            self._refresh(self._roles)
        else:
            awaited = self._roles.keys() - self._seldom - self._renewed
            self._refresh(name for name in awaited if self._is_stale(name))

    def refresh_seldom(self) -> None:
        """Do the same for fields read only by aggregators that are not due in every superstep."""
        self._refresh(filter(self._is_stale, self._seldom))

    def _is_stale(self, name: str) -> bool:
        return bool(self._roles[name] & ~self.state.fresh[name])

    def _refresh(self, names: Iterable[str]) -> None:
        sent = frozenset(names)
        if sent:
            self.exchange.spread(self.sections(sent), None).end()
        for name in sent:
            self.state.fresh[name] |= self._roles[name]

    def send(self, names: frozenset[str], active: np.ndarray | None) -> None:
        """Send these fields of active masters (flags; None is all) to the mirrors (collective).

        Seldom-read fields wait for `refresh_seldom`.
        """
        self.exchange.spread(self.sections(names - self._seldom), active).end()
        self.state.stale(names & self._seldom, 0)

    def sections(self, names: frozenset[str]) -> list[Section]:
        """Return these fields by the role of the mirrors that need them."""
        by_role: dict[int, list[np.ndarray]] = {}
        for k, variable in enumerate(self.tree.vertex_fields):
            if variable.name in names and self._roles[variable.name]:
                by_role.setdefault(self._roles[variable.name], []).append(self.state.fields[k])
        return [Section(role, tuple(fields)) for role, fields in sorted(by_role.items())]

    def applied(self, kept: frozenset[str] = frozenset()) -> tuple[list[Section], int]:
        """Return the sections of fields that apply changes, and the role of mirrors that scatter.

        The fields *kept* are left out.
        """
        sections, ways = self.sections(self.tree.writes("apply") - kept), self.state.scatter_way
        if ways is not None:
            fields = [values for s in sections if s.role == ALL for values in s.fields]
            sections = [s for s in sections if s.role != ALL] + [Section(ALL, (*fields, ways))]
        return sections, next((s.role for s in sections if s.role in (self._scatter, ALL)), self._scatter)

    @property
    def spread_always(self) -> tuple[int, frozenset[str]]:
        """The role of all mirrors to which a superstep spreads, and the fields that it spreads."""
        names = frozenset(name for name in self.tree.writes("apply") - self._seldom if self._roles[name])
        role = self._scatter
        for name in names:
            role |= self._roles[name]
        return role, names

    def choose_directions(self, frontier: Frontier) -> None:
        """Let active masters choose their directions of scatter, if `scatter_edges` is a method."""
        if self.state.scatter_way is not None:
            self.executor.choose("scatter_edges", frontier.ids, self.state.scatter_way)

    def spread(self, frontier: Frontier) -> np.ndarray:
        """Send changed values to the mirrors that read them; return the active mirrors that scatter."""
        self.choose_directions(frontier)
        if self._alone:
            return np.empty(0, np.int32)
        sections, role = self.applied(self._seldom)
        named = bool(self._scatter) and not frontier.everywhere  # else every mirror scatters, or none
        if named and all(s.role != role for s in sections):
            sections.append(Section(role, ()))
        active = None if frontier.everywhere else self.state.active
        found = self.exchange.spread(sections, active, frontier.ids).end()
        return found[role] if named else np.empty(0, np.int32)


def across(mask: int) -> int:
    """Return the role of the far ends of edges whose near ends have the role *mask*."""
    return {0: 0, IN: OUT, OUT: IN, ALL: ALL}[mask]


def reasons(tree: Tree, gather: int, scatter: int) -> Iterator[tuple[str, int, str]]:
    """Yield (field, the role of the mirrors that need it, the reason) for every use on a mirror.

    *gather* and *scatter* are the directions as they are on the graph.
    """
    for field in tree.vertex_fields:
        for phase, mask in (("gather", gather), ("scatter", scatter)):
            if mask and field.name in tree.reads(phase, "v"):
                yield field.name, mask, ITSELF.format(phase)
            if mask and field.name in tree.reads(phase, "nbr"):
                yield field.name, across(mask), f"{phase} reads it of the neighbour"
        for a in tree.aggregators:
            if a.over_edges and f"v.{field.name}" in a.function.reads:
                yield field.name, OUT, f"aggregator {a.name} reads it of an edge's source"
            if a.over_edges and f"nbr.{field.name}" in a.function.reads:
                yield field.name, IN, f"aggregator {a.name} reads it of an edge's target"


def seldom_read(tree: Tree, gather: int, scatter: int) -> frozenset[str]:
    """Return the fields that mirrors need only for aggregators that are not due in every superstep."""
    often = replace(tree, aggregators=tuple(a for a in tree.aggregators if not a.seldom))
    read, soon = ({name for name, _, _ in reasons(one, gather, scatter)} for one in (tree, often))
    return frozenset(read - soon)


def renewed(tree: Tree, gather: int, scatter: int) -> frozenset[str]:
    """Return the fields of apply that mirrors need only for the vertex's own scatter.

    A vertex that scatters has applied in the same superstep, which has sent its value to the mirrors.
    """
    uses: dict[str, set[str]] = {}
    for name, _, reason in reasons(tree, gather, scatter):
        uses.setdefault(name, set()).add(reason)
    alone = {ITSELF.format("scatter")}
    return frozenset(name for name in tree.writes("apply") if uses.get(name) == alone)


def field_roles(tree: Tree, gather: int, scatter: int) -> dict[str, int]:
    """Return, by vertex field, the role of the mirrors that need it; 0 is none."""
    roles = dict.fromkeys((field.name for field in tree.vertex_fields), 0)
    for name, mask, _ in reasons(tree, gather, scatter):
        roles[name] |= mask
    return roles
