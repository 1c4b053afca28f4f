"""Values that stand for themselves: literals, names, and attributes of v, nbr, e and self."""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING, Any

from gaslab.compiler.parse.convert import INT_MAX, INT_MIN, constant, named, type_of
from gaslab.compiler.parse.declare import PHASES
from gaslab.compiler.parse.frame import MISSING, Frame
from gaslab.compiler.parse.lists import EMPTY, NO_VALUE
from gaslab.compiler.tree import (
    Aggregate,
    Array,
    Cast,
    Compare,
    Const,
    EdgeField,
    Expr,
    Forward,
    Global,
    Param,
    PartOf,
    RecordCombiner,
    VertexAttribute,
    VertexField,
    element_of,
    is_list,
)
from gaslab.errors import ProgramError, nearest
from gaslab.program import NOBODY

ATTRIBUTES = {"id": "id", "degree": "int", "in_degree": "int", "out_degree": "int"}
GLOBALS = ("num_vertices", "num_edges", "superstep")
_ENTITIES = {"self": "the program", "v": "a vertex", "nbr": "a vertex", "e": "an edge"}
_NO_TEXT = (
    "text is not in the language; use numbers, or a parameter of type gl.VertexId for the id of a vertex"
)
_NO_COMPREHENSION = "a comprehension is not in the language; write a for loop over range(...)"
_SCALARS = "is not in the language; use scalar fields and locals"
_OF_ARRAYS = "write a word of numpy, as np.sum(x), or len(x)"
_INSTEAD_OF = {
    "T": "write its elements in a loop, m[j, i]; a vector needs none",
    "shape": "write len(x), or the int or parameter that its field's shape names",
    "size": "write len(x), or the int or parameter that its field's shape names",
    "copy": "write np.copy(x)",
    "dot": "write np.dot(x, y) or x @ y",
    "sum": "write np.sum(x)",
    "min": "write np.min(x)",
    "max": "write np.max(x)",
    "mean": "write np.mean(x)",
}
_REFUSED: dict[type[ast.expr], str] = {
    ast.Tuple: "a tuple is not a value; assign its parts: a, b = x, y",
    ast.Set: f"a set {_SCALARS}",
    ast.Dict: f"a dict {_SCALARS}",
    ast.ListComp: _NO_COMPREHENSION,
    ast.SetComp: _NO_COMPREHENSION,
    ast.DictComp: _NO_COMPREHENSION,
    ast.GeneratorExp: _NO_COMPREHENSION,
    ast.JoinedStr: _NO_TEXT,
    ast.Lambda: "a lambda is not in the language; write a def at the top of the module",
    ast.NamedExpr: "`:=` is not in the language; assign on a line of its own",
    ast.Starred: "`*` cannot stand here; write the values one by one",
    ast.Await: "await is not in the language; write plain code",
    ast.Yield: "yield is not in the language; use return",
    ast.YieldFrom: "yield is not in the language; use return",
}


class Names(Frame):
    """Dispatches expressions, and builds those without operators."""

    if TYPE_CHECKING:  # what classes further down bring

        def part(self, node: ast.Attribute, record: Any, role: str) -> Any:
            """Return a part of an accumulator."""

        def record_named(self, node: ast.expr) -> tuple[RecordCombiner, str] | None:
            """Return the accumulator that *node* names and what the tree calls it; None if it is none."""

        def pair(self, node: ast.expr) -> tuple[PartOf, PartOf] | None:
            """Return the key and the payload of the pair that *node* names, None if it names none."""

        def pair_item(self, node: ast.Subscript) -> PartOf | None:
            """Return the key or the payload of a pair."""

        def canonical(self, name: str) -> str:
            """Return what the tree calls parameter *name*."""

    def value(self, node: ast.expr) -> Any:
        """Return the tree of expression *node*."""
        method = getattr(self, f"value_{type(node).__name__}", None)
        if method is None:
            raise self.error(node, _REFUSED.get(type(node), "this expression is not in the language"))
        return method(node)

    def value_List(self, node: ast.List) -> Expr:
        if node.elts:
            raise self.error(node, f"a list {_SCALARS}; gather one into a field of type gl.List[...]")
        return EMPTY

    # ---- literals and names

    def value_Constant(self, node: ast.Constant) -> Expr:
        if isinstance(node.value, str | bytes):
            raise self.error(node, _NO_TEXT)
        number = constant(node.value)
        if number is None:
            raise self.error(node, f"{node.value!r} is not in the language; values are float, int and bool")
        return self.const(number, node)

    def const(self, number: float | int | bool, node: ast.AST) -> Const:
        """Return *number* as a constant of the tree."""
        if type_of(number) == "int" and not INT_MIN <= number <= INT_MAX:
            raise self.error(node, f"{number} does not fit 64 bits; write it as a float, such as 1e20")
        return Const(number, type_of(number))

    def value_Name(self, node: ast.Name) -> Expr:
        name = node.id
        if name in self.stand_ins:
            return self.stand_ins[name]
        if name in self.entities:
            what = _ENTITIES[self.entities[name]]
            raise self.error(node, f"{name!r} is {what}, not a value; read one of its fields: {name}.<field>")
        if name not in self.names:
            return self.outside(node)
        if self.assigned is not None and name not in self.assigned:
            raise self.error(node, f"{name!r} may have no value here; assign it on every path to this line")
        return self.local(name)

    def outside(self, node: ast.Name | ast.Attribute) -> Expr:
        """Return the number behind a name of the module, of an enclosing function or of a class."""
        value = self.lookup(node)
        if value is MISSING:
            raise self.unknown(node)
        if value is NOBODY:
            return Const(INT_MAX, "id")
        number = constant(value)
        if number is None:
            what = f"{ast.unparse(node)!r} is of type {type(value).__name__}"
            raise self.error(node, f"{what}; from outside come only float, int and bool")
        return self.const(number, node)

    def unknown(self, node: ast.Name | ast.Attribute) -> ProgramError:
        """Return the error for a name, or a dotted name, that stands for nothing outside."""
        if isinstance(node, ast.Name):
            hint = self.did_you_mean(node.id, "assign it before, or define it in the module")
            return self.error(node, f"unknown name {node.id!r}{hint}")
        if isinstance(node.value, ast.Attribute) and self.role(node.value.value) in ("v", "nbr", "e"):
            value = self.value(node.value)
            if is_list(value.type):
                return self.name_error(node, f"a list has no {node.attr!r}; {NO_VALUE}")
        owner, text = self.lookup(node.value), ast.unparse(node.value)
        if inspect.ismodule(owner) or inspect.isclass(owner):
            known = [name for name in dir(owner) if constant(getattr(owner, name, None)) is not None]
            hint = nearest(node.attr, known) if len(known) < 10 else nearest_only(node.attr, known)
            return self.name_error(node, f"{text} has no {node.attr!r}{hint}")
        if owner is MISSING:
            self.value(node.value)  # raises, unless it is a number
        kind = "number" if owner is MISSING else type(owner).__name__
        return self.error(
            node.value,
            f"{text!r} is of type {kind}; attributes are read of v, nbr, e, self, modules and classes",
        )

    # ---- attributes

    def value_Attribute(self, node: ast.Attribute) -> Expr:
        role = self.role(node.value)
        if role == "self":
            return self.of_program(node)
        if role == "e":
            return self.of_edge(node)
        if role is not None:
            return self.of_vertex(node, role)
        record = self.record_named(node.value)
        if record is not None:
            part: Expr = self.part(node, *record)
            return part
        root = node.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self.names:
            value = self.value(node.value)  # whatever is wrong with it comes first
            if is_list(value.type):
                raise self.name_error(node, f"a list has no {node.attr!r}; {NO_VALUE}")
            if isinstance(value.type, Array):
                raise self.name_error(
                    node,
                    f"{named(value.type)} has no {node.attr!r}; {_INSTEAD_OF.get(node.attr, _OF_ARRAYS)}",
                )
            raise self.name_error(node, f"a number has no {node.attr!r}; v, nbr, e and self have attributes")
        self.check_no_default(node)
        return self.outside(node)

    def check_no_default(self, node: ast.Attribute) -> None:
        """Raise for ``PageRank.damping``, which is the default and not the value of this run."""
        cls, owner = self.unit.declared.cls, self.lookup(node.value)
        if inspect.isclass(owner) and issubclass(cls, owner) and node.attr in self.parameter_names():
            raise self.name_error(
                node, f"{ast.unparse(node)} is the default, not the value of this run; write self.{node.attr}"
            )

    def parameter_names(self) -> list[str]:
        return [param.name for param in self.unit.declared.params]

    def of_program(self, node: ast.Attribute) -> Expr:
        declared, name = self.unit.declared, node.attr
        for k, param in enumerate(declared.params):
            if param.name == name:
                if name in declared.baked:
                    return self.const(declared.baked[name], node)
                return self.access(Param(k, name, element_of(param.type)), node)
        for k, (aggregator, combiner) in enumerate(declared.aggregators.items()):
            if aggregator == name:
                return self.access(Aggregate(k, name, combiner.type), node)
        if name in GLOBALS:
            return self.access(Global(name), node)
        if name in PHASES:
            raise self.name_error(node, f"self.{name} is a method that the engine calls, not a value")
        if name in declared.functions:
            raise self.name_error(node, f"self.{name} is a method, not a value; call it: self.{name}(...)")
        number = constant(getattr(declared.cls, name, None))
        if number is not None:
            return self.const(number, node)
        known = [*self.parameter_names(), *declared.aggregators, *GLOBALS]
        raise self.name_error(
            node, f"{declared.cls.__name__} has no parameter or aggregator {name!r}{nearest(name, known)}"
        )

    def of_vertex(self, node: ast.Attribute, role: str) -> Expr:
        name, fields = node.attr, self.unit.declared.vertex_fields
        for k, field in enumerate(fields):
            if field.name == name:
                return self.access(VertexField(role, k, field.type), node)
        if name == "side":  # left ids come first: a vertex is on side 1 from the first right id on
            at = self.access(VertexAttribute(role, "id", "id"), node)
            return Cast(Compare(">=", at, self.access(Global("num_left", "id"), node)), "int")
        if name in ATTRIBUTES:
            return self.access(VertexAttribute(role, name, ATTRIBUTES[name]), node)
        raise self.no_field(node, "Vertex", [*(field.name for field in fields), *ATTRIBUTES, "side"])

    def of_edge(self, node: ast.Attribute) -> Expr:
        fields = self.unit.declared.edge_fields
        for k, field in enumerate(fields):
            if field.name == node.attr:
                return self.access(EdgeField(k, field.type), node)
        if node.attr == "forward":
            return self.forward(node)
        raise self.no_field(node, "Edge", [*(field.name for field in fields), "forward"])

    def forward(self, node: ast.AST) -> Expr:
        """Return ``e.forward``, which is read here or in a helper that is called here."""
        if self.name == "visit" and not self.is_helper:
            return Const(True, "bool")  # u is the source
        if not self.is_helper and self.name not in ("gather", "scatter"):
            raise self.name_error(node, f"{self.name} has no side of an edge; gather and scatter have")
        return self.access(Forward(), node)

    def no_field(self, node: ast.Attribute, kind: str, known: list[str]) -> ProgramError:
        if node.attr == "signal":
            return self.name_error(node, "signal is no field; call it in scatter: nbr.signal()")
        return self.name_error(node, f"{kind} has no field {node.attr!r}{nearest(node.attr, known)}")


def nearest_only(name: str, known: list[str]) -> str:
    """Return ``"; did you mean ...?"``, or nothing where no known name is near."""
    hint = nearest(name, known)
    return hint if hint.startswith("; did you mean") else ""
