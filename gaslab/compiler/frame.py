"""One function on its way into the tree: its names, types and what it touches."""

from __future__ import annotations

import ast
import builtins
import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

from gaslab.annotations import closure_of
from gaslab.compiler.convert import join, named, remedy, widen
from gaslab.compiler.declare import Declared
from gaslab.compiler.source import FunctionSource
from gaslab.compiler.tree import (
    Aggregate,
    EdgeField,
    Expr,
    Global,
    Local,
    Param,
    Site,
    VertexAttribute,
    VertexField,
)
from gaslab.errors import ProgramError

if TYPE_CHECKING:
    from gaslab.compiler.helpers import Helpers

MISSING = object()


class Sites:
    """The places that the tree refers to by index, each once."""

    def __init__(self) -> None:
        self._index: dict[Site, int] = {}

    def index(self, site: Site) -> int:
        return self._index.setdefault(site, len(self._index))

    def all(self) -> tuple[Site, ...]:
        return tuple(self._index)


class Unit(NamedTuple):
    """What all functions of one program share while it is parsed."""

    declared: Declared
    sites: Sites
    helpers: Helpers


class Frame:
    """The state behind one function; `Body` walks it until the types of its locals are settled.

    `entities` says which parameters stand for ``self``, ``v``, ``nbr`` or ``e``. A helper is emitted
    with scalars alone: what it reads of its entities becomes parameters at its end, kept in `hidden`.
    """

    is_helper = False

    def __init__(self, unit: Unit, source: FunctionSource, name: str, entities: dict[str, str]) -> None:
        self.unit = unit
        self.source = source
        self.name = name
        self.entities = entities
        self.closure = closure_of(source.function)
        self.types: dict[str, str] = {}  # of locals, by the user's name; only ever widened
        self.declared: dict[str, str] = {}  # of annotated locals
        self.parameters: dict[str, str] = {}  # of scalar parameters, as called
        self.written: dict[str, str] = {}  # names in the tree that differ from the user's
        self.assigned: set[str] | None = set()  # locals sure to have a value here; None: not reachable
        self.hidden: dict[Expr, Local] = {}
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.unsettled = False
        self.final = False
        code = source.function.__code__
        self.names = frozenset((*code.co_varnames, *code.co_cellvars))

    # ---- errors and places

    def error(self, node: ast.AST, message: str) -> ProgramError:
        return self.source.error(node, message)

    def site(self, node: ast.AST) -> int:
        """Return the index of the place of *node*."""
        return self.unit.sites.index(self.source.file.site(node))

    # ---- types

    def join(self, a: Expr, b: Expr, node: ast.AST) -> tuple[Expr, Expr, str]:
        """Return both values in the type that holds either."""
        type = join(a.type, b.type)
        if type is None:
            raise self.error(node, f"{named(a.type)} meets {named(b.type)}; {remedy(a.type, b.type)}")
        return self.widened(a, type), self.widened(b, type), type

    def widened(self, value: Expr, type: str) -> Expr:
        """Return *value* as *type*, known to hold it."""
        wide = widen(value, type)
        assert wide is not None, (value, type)
        return wide

    def fit(self, value: Expr, type: str, node: ast.AST, what: str) -> Expr:
        """Return *value* as *type*; raises where it would have to be narrowed."""
        wide = widen(value, type)
        if wide is None:
            raise self.error(
                node, f"{what} is {named(type)} but this is {named(value.type)}; {remedy(value.type, type)}"
            )
        return wide

    # ---- locals

    def local(self, name: str) -> Local:
        """Return local *name* of the user as the tree has it."""
        return Local(self.written.get(name, name), self.types[name])

    def settle(self, name: str, type: str, node: ast.AST) -> str:
        """Note that local *name* is given a value of *type*; return the type that holds all its values."""
        known = self.types.get(name, type)
        wide = join(known, type)
        if wide is None:
            raise self.error(
                node, f"{name!r} is {named(known)} elsewhere and {named(type)} here; use two names"
            )
        if self.types.get(name) != wide:
            self.types[name] = wide
            self.unsettled = True
        return wide

    def fresh(self, stem: str, taken: set[str]) -> str:
        """Return a name for the tree that no local of the user has."""
        name, k = stem, 0
        while name in taken or name in self.names:
            k += 1
            name = f"{stem}_{k}"
        return name

    # ---- what is read

    def access(self, value: Expr) -> Expr:
        """Return *value*, which reads the vertex, the edge or the program, as this function sees it."""
        label = label_of(value, self.unit.declared)
        if label:
            self.reads.add(label)
        return value

    # ---- names

    def lookup(self, node: ast.expr) -> Any:
        """Return the object that a name, or a dotted name through modules and classes, stands for."""
        if isinstance(node, ast.Attribute):
            owner = self.lookup(node.value)
            if inspect.ismodule(owner) or inspect.isclass(owner):
                return getattr(owner, node.attr, MISSING)
            return MISSING
        if not isinstance(node, ast.Name) or node.id in self.names or node.id in self.entities:
            return MISSING
        for scope in (self.closure, self.source.function.__globals__, vars(builtins)):
            if node.id in scope:
                return scope[node.id]
        return MISSING

    def known_names(self) -> list[str]:
        """Return the names that could be meant where an unknown one stands."""
        return [*self.names, *self.closure, *self.source.function.__globals__]


def label_of(value: Expr, declared: Declared) -> str | None:
    """Return what *value* reads as ``role.name``; None for what is no part of a vertex or edge."""
    if isinstance(value, VertexField):
        return f"{value.role}.{declared.vertex_fields[value.index].name}"
    if isinstance(value, VertexAttribute):
        return f"{value.role}.{value.name}"
    if isinstance(value, EdgeField):
        return f"e.{declared.edge_fields[value.index].name}"
    assert isinstance(value, Param | Aggregate | Global)
    return None
