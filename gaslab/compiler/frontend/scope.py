"""The state of one function while it is read: its names, the types of its locals, its reads and writes."""

from __future__ import annotations

import ast
import builtins
import enum
import inspect
from collections.abc import Iterable
from types import FunctionType
from typing import Any, NamedTuple, Protocol

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.convert import join, remedy, widen
from gaslab.compiler.frontend.declare import Declared
from gaslab.compiler.frontend.field_declarations import MAX_ELEMENTS
from gaslab.compiler.frontend.lists import fits
from gaslab.compiler.frontend.source import FunctionSource
from gaslab.errors import ProgramError, nearest
from gaslab.language.annotations import closure_of
from gaslab.language.deferred import Deferred

MISSING = object()
Paths = list["set[str] | None"]


class Sites:
    """The places that the tree refers to by index, each once."""

    def __init__(self) -> None:
        self._index: dict[t.Site, int] = {}

    def index(self, site: t.Site) -> int:
        """Return the index of *site*; a new place gets a new one."""
        return self._index.setdefault(site, len(self._index))

    def all(self) -> tuple[t.Site, ...]:
        """Return all places in the order of their indices."""
        return tuple(self._index)


class SharedArrays:
    """The arrays from outside that a program reads, each once; `outside` holds the non-parameters."""

    def __init__(self) -> None:
        self._index: dict[object, int] = {}
        self.variables: list[t.Variable] = []
        self.outside: dict[int, Any] = {}

    def index(self, key: object, variable: t.Variable, value: Any = None) -> int:
        """Return the index of the array with this *key*; a new array gets a new one."""
        found = self._index.setdefault(key, len(self._index))
        if found == len(self.variables):
            self.variables.append(variable)
            if value is not None:
                self.outside[found] = value
        return found


class HelperTable(Protocol):
    """The helpers of a program, as their callers see them; `helpers` holds them."""

    def special(
        self, function: FunctionType, arguments: dict[str, t.Expr | str], caller: Scope, node: ast.AST
    ) -> Scope: ...

    def place(self, helper: Any) -> int: ...

    def all(self) -> tuple[t.Function, ...]: ...


class Unit(NamedTuple):
    """The state that all functions of one program share while it is parsed."""

    declared: Declared
    sites: Sites
    helpers: HelperTable
    parts: set[tuple[str, str]]  # of accumulators: (part, "whole" or "half"), as gather contributes to it
    arrays: SharedArrays
    debugging: bool = False  # lines that only print or stop are allowed


class Scope:
    """The state of one function; `body` walks the function until the types of its locals are known.

    `entities` maps parameters to ``self``, ``v``, ``nbr`` or ``e``; `parameters` are the scalar ones with
    their types.
    """

    is_helper = False
    contributes: t.Combiner | None = None  # how the function's results make a total
    counts = False  # it returns bools, and the total counts the true ones

    def __init__(
        self,
        unit: Unit,
        source: FunctionSource,
        name: str,
        entities: dict[str, str],
        parameters: dict[str, t.Type],
        returns: t.Type | None,
    ) -> None:
        self.unit = unit
        self.source = source
        self.name = name
        self.entities = entities
        self.parameters = parameters
        self.returns = returns
        self.closure = closure_of(source.function)
        code = source.function.__code__
        self.names = frozenset((*code.co_varnames, *code.co_cellvars))  # local names according to Python
        self.types: dict[str, t.Type] = {}  # of locals, by the user's name; only ever widened
        self.annotated: dict[str, t.Type] = {}  # types of locals that the user declared
        self.written: dict[str, str] = {}  # names of locals in the tree, if different
        self.made: set[str] = set()  # the frontend's own locals
        self.stand_ins: dict[str, t.Expr] = {}  # of expressions that are evaluated once, by their text
        self.bound = 0  # values that the expressions of this walk name, see `Let`
        self.aliases: dict[str, str] = {}  # local, another name for an array -> that array
        self.pending: list[t.Stmt] = []  # to precede the current statement
        self.breaks: list[Paths] = []  # for each enclosing loop, what is assigned at its breaks
        self.draws = 0  # in the current statement, so far
        self.storages: dict[str, str] = {}  # of the elements of a helper's arrays, by parameter
        self.hidden: dict[t.Expr, t.Local] = {}  # a helper's parameters for what it reads of its entities
        self.assigned: set[str] | None = set()  # locals sure to have a value here; None: never reached
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.looped: list[str] = []  # the lists of the enclosing loops
        self.types_changed = False
        self.final = False

    # ---- differences between methods and helpers

    @property
    def result(self) -> t.Type | None:
        """The type of what the function returns, None if it returns nothing."""
        return self.returns

    def returned(self, value: t.Expr, node: ast.AST) -> t.Expr:
        """Return *value* in the type that this function returns."""
        assert self.returns is not None
        return self.fit(value, self.returns, node, f"{self.source.node.name}'s value")

    def canonical(self, name: str) -> str:
        """Return the tree's name of parameter *name*."""
        return ascii_name(name)

    # ---- errors and places

    def error(self, node: ast.AST, message: str) -> ProgramError:
        """Return the error *message* at *node*."""
        return self.source.error(node, message)

    def name_error(self, node: ast.AST, message: str) -> ProgramError:
        """Return the error *message* at the name of *node*, after its last dot."""
        return self.source.file.error(node, message, at_attribute=True)

    def site(self, node: ast.AST) -> int:
        """Return the index of the place of *node*."""
        return self.unit.sites.index(self.source.file.site(node))

    # ---- types

    def join(self, a: t.Expr, b: t.Expr, node: ast.AST) -> tuple[t.Expr, t.Expr, Any]:
        """Return both values in the type that holds both, and that type."""
        kind = join(a.type, b.type)
        if t.is_list(a.type) and t.is_list(b.type):  # `[]` has any type, and a set is also a list
            for one, other in ((a, b), (b, a)):
                if (same := fits(one, other.type)) is not None:
                    return (same, b, b.type) if one is a else (a, same, a.type)
        if kind is None:
            text = f"cannot combine {t.named(a.type)} and {t.named(b.type)}; {remedy(a.type, b.type)}"
            raise self.error(node, text)
        return self.widened(a, kind), self.widened(b, kind), kind

    def widened(self, value: t.Expr, kind: t.Type) -> t.Expr:
        """Return *value* as *kind*, which is known to hold it."""
        wide = widen(value, kind)
        assert wide is not None, (value, kind)
        return wide

    def fit(self, value: t.Expr, kind: t.Type, node: ast.AST, what: str | ast.expr) -> t.Expr:
        """Return *value* as *kind*; raises if that would narrow it, naming its use, *what*."""
        wide = fits(value, kind) if t.is_list(kind) else widen(value, kind)
        if wide is None:
            name = what if isinstance(what, str) else ast.unparse(what)
            raise self.error(
                node,
                f"{name} is {t.named(kind)} but this is {t.named(value.type)}; {remedy(value.type, kind)}",
            )
        return wide

    def storage(self, place: t.Expr) -> str:
        """Return the storage type of the elements of the array in *place*."""
        if isinstance(place, t.VertexField | t.EdgeField):
            declared = self.unit.declared
            fields = declared.vertex_fields if isinstance(place, t.VertexField) else declared.edge_fields
            return fields[place.index].storage
        if isinstance(place, t.Shared):
            return self.unit.arrays.variables[place.index].storage
        if isinstance(place, t.PartOf):  # of an aggregate, which is float64 whatever the precision
            return t.WIDE[t.element_of(place.type)]
        return place.storage if isinstance(place, t.Local) else ""

    # ---- locals

    def local(self, name: str) -> t.Local:
        """Return the user's local *name* as in the tree."""
        return t.Local(self.written.get(name, name), self.types[name], self.storages.get(name, ""))

    def infer(self, name: str, kind: t.Type, node: ast.AST) -> t.Type:
        """Note that local *name* is assigned a value of *kind*; return the type that holds all its values."""
        if t.is_list(kind):
            raise self.error(node, "a local cannot hold a list; read the field or the total itself")
        if isinstance(kind, t.Array) and kind.size > MAX_ELEMENTS:
            raise self.error(
                node, f"this makes {t.named(kind)}, and a method can hold {MAX_ELEMENTS} elements; read "
                "elements or rows where they are needed"
            )  # fmt: skip
        known = self.types.get(name, kind)
        wide = join(known, kind)
        if wide is None:
            raise self.error(
                node, f"{name!r} is {t.named(known)} elsewhere but {t.named(kind)} here; use two names"
            )
        if self.types.get(name) != wide:
            self.types[name] = wide
            self.types_changed = True
        return self.types[name]

    def new_local(self, stem: str, kind: t.Type, node: ast.AST) -> t.Local:
        """Return a new local of the frontend; another walk over the same body makes the same ones."""
        name, k = stem, 0
        while name in self.made or name in self.names:
            k += 1
            name = f"{stem}_{k}"
        self.made.add(name)
        self.infer(name, kind, node)
        return self.local(name)

    # ---- what is read

    def access(self, value: t.Expr, node: ast.AST) -> t.Expr:
        """Return *value*, a read of vertex, edge or program, as an expression of this function."""
        if self.name == "visit" and isinstance(value, t.VertexField) and t.is_list(value.type):
            raise self.error(
                node,
                "visit cannot read lists of vertices; read a list of the edge, or a gl.Vector of the vertex",
            )
        label = self.label(value)
        if label:
            self.reads.add(label)
        return value

    def label(self, value: t.Expr) -> str | None:
        """Return the ``role.name`` that *value* reads; None if it reads no vertex or edge."""
        declared = self.unit.declared
        if isinstance(value, t.VertexField):
            return f"{value.role}.{declared.vertex_fields[value.index].name}"
        if isinstance(value, t.VertexAttribute):
            return f"{value.role}.{value.name}"
        if isinstance(value, t.Forward):
            return "e.forward"
        if isinstance(value, t.Global) and value.name == "num_left":
            return "v.side"  # says that the program needs a bipartite graph
        return f"e.{declared.edge_fields[value.index].name}" if isinstance(value, t.EdgeField) else None

    # ---- names

    def role(self, node: ast.expr) -> str | None:
        """Return ``self``, ``v``, ``nbr`` or ``e`` if *node* is the name of that parameter."""
        return self.entities.get(node.id) if isinstance(node, ast.Name) else None

    def lookup(self, node: ast.expr) -> Any:
        """Return the object that a name, or a dotted name through modules and classes, stands for."""
        if isinstance(node, ast.Attribute):
            owner = self.lookup(node.value)
            if isinstance(owner, Deferred):  # its name and the attribute's say enough
                return vars(owner).get(node.attr, MISSING)
            if inspect.ismodule(owner) or inspect.isclass(owner) or isinstance(owner, enum.Enum):
                return getattr(owner, node.attr, MISSING)
            return MISSING
        if not isinstance(node, ast.Name) or node.id in self.names:
            return MISSING
        for scope in (self.closure, self.source.function.__globals__, vars(builtins)):
            if node.id in scope:
                return scope[node.id]
        return MISSING

    def did_you_mean(self, name: str, otherwise: str, *more: Iterable[str]) -> str:
        """Return ``"; did you mean ...?"`` for a name that is not known here, or else *otherwise*."""
        known = {*self.names, *self.closure, *self.source.function.__globals__}.union(*more) - {name}
        hint = nearest(name, known)
        return hint if hint.startswith("; did you mean") else f"; {otherwise}"


def ascii_name(name: str) -> str:
    """Return an identifier with non-ASCII letters written as their numbers."""
    return "".join(c if c.isascii() else f"_{ord(c):x}" for c in name)
