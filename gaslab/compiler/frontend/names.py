"""Literals, names, and attributes of v, nbr, e and self."""

from __future__ import annotations

import ast
import inspect

from gaslab.compiler import tree as t
from gaslab.compiler.frontend import shared_arrays
from gaslab.compiler.frontend.convert import INT_MAX, INT_MIN, constant, type_of
from gaslab.compiler.frontend.declare import PHASES
from gaslab.compiler.frontend.dispatch import NO_TEXT, SCALARS, reads, value_of
from gaslab.compiler.frontend.lists import EMPTY, NO_VALUE
from gaslab.compiler.frontend.nothing import misplaced
from gaslab.compiler.frontend.pairs import part_read, record_named
from gaslab.compiler.frontend.precision import rounded
from gaslab.compiler.frontend.scope import MISSING, Scope
from gaslab.errors import ProgramError, nearest
from gaslab.language.arrays import is_array
from gaslab.program import NOBODY

ATTRIBUTES = {"id": "id", "degree": "int", "in_degree": "int", "out_degree": "int"}
GLOBALS = ("num_vertices", "num_edges", "superstep", "phase_step")
_ENTITIES = {"self": "the program", "v": "a vertex", "nbr": "a vertex", "e": "an edge"}
_OF_ARRAYS = "write a numpy function, such as np.sum(x), or len(x)"
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


@reads(ast.List)
def empty_list(scope: Scope, node: ast.List) -> t.Expr:
    if node.elts:
        raise scope.error(node, f"a list {SCALARS}; gather one into a field of type gl.List[...]")
    return EMPTY


# The way out for outside values that methods cannot read, by type.
OUTSIDE = {
    "list": "define it as an array: np.array({})",
    "tuple": "define it as an array: np.array({})",
    "dict": "put its values into a field of every vertex (columns=, init=), or into an array",
    "set": "put its values into a field of every vertex (columns=, init=), or into an array",
}


@reads(ast.Constant)
def literal(scope: Scope, node: ast.Constant) -> t.Expr:
    if isinstance(node.value, str | bytes):
        raise scope.error(node, NO_TEXT)
    number = constant(node.value)
    if node.value is None:
        raise scope.error(node, misplaced(scope))
    if number is None:
        raise scope.error(node, f"{node.value!r} is not in the language; values are float, int and bool")
    return const_of(scope, number, node)


def const_of(scope: Scope, number: float | int | bool, node: ast.AST) -> t.Const:
    """Return *number* as a constant of the tree; floats get the program's precision."""
    if isinstance(number, float):
        return t.Const(rounded(number, scope.unit.declared.precision), "float")
    if type_of(number) == "int" and not INT_MIN <= number <= INT_MAX:
        raise scope.error(node, f"{number} does not fit 64 bits; write it as a float, such as 1e20")
    return t.Const(number, type_of(number))


@reads(ast.Name)
def name_read(scope: Scope, node: ast.Name) -> t.Expr:
    name = node.id
    if name in scope.stand_ins:
        return scope.stand_ins[name]
    if name in scope.entities:
        what = _ENTITIES[scope.entities[name]]
        raise scope.error(node, f"{name!r} is {what}, not a value; read one of its fields: {name}.<field>")
    if name not in scope.names:
        return outside(scope, node)
    if scope.assigned is not None and name not in scope.assigned:
        raise scope.error(node, f"{name!r} may have no value here; assign it on every path to this line")
    return scope.local(name)


def outside(scope: Scope, node: ast.Name | ast.Attribute) -> t.Expr:
    """Return the number or array named in the module, an enclosing function or a class."""
    value = scope.lookup(node)
    if value is MISSING:
        raise unknown_name(scope, node)
    if value is NOBODY:
        return t.Const(INT_MAX, "id")
    number = constant(value)
    if number is None and is_array(value):
        return shared_arrays.outside(scope, value, node)
    if number is None:
        text, kind = ast.unparse(node), type(value).__name__
        way_out = OUTSIDE.get(kind, "methods read only numbers and numpy arrays from outside").format(text)
        raise scope.error(node, f"{text!r} is of type {kind}; {way_out}")
    return const_of(scope, number, node)


def unknown_name(scope: Scope, node: ast.Name | ast.Attribute) -> ProgramError:
    """Return the error for a name, possibly dotted, that is not defined outside either."""
    if isinstance(node, ast.Name):
        if node.id in scope.unit.declared.of_self:
            return scope.error(node, f"unknown name {node.id!r}; write self.{node.id}")
        hint = scope.did_you_mean(node.id, "assign it before, or define it in the module")
        return scope.error(node, f"unknown name {node.id!r}{hint}")
    if isinstance(node.value, ast.Attribute) and scope.role(node.value.value) in ("v", "nbr", "e"):
        value = value_of(scope, node.value)
        if t.is_list(value.type):
            return no_attribute_of_list(scope, node)
    owner, text = scope.lookup(node.value), ast.unparse(node.value)
    if inspect.ismodule(owner) or inspect.isclass(owner):
        known = [name for name in dir(owner) if constant(getattr(owner, name, None)) is not None]
        hint = nearest(node.attr, known) if len(known) < 10 else nearest_only(node.attr, known)
        return scope.name_error(node, f"{text} has no {node.attr!r}{hint}")
    if owner is MISSING:
        value_of(scope, node.value)  # raises, unless it is a number
    kind = "number" if owner is MISSING else type(owner).__name__
    return scope.error(
        node.value, f"{text!r} is of type {kind}; only v, nbr, e, self, modules and classes have attributes"
    )


def no_attribute_of_list(scope: Scope, node: ast.Attribute) -> ProgramError:
    """Return the error of ``x.name`` where x is a list."""
    if node.attr == "append":
        return scope.name_error(node, "append returns no value; write it on a line of its own")
    return scope.name_error(node, f"a list has no {node.attr!r}; {NO_VALUE}")


@reads(ast.Attribute)
def attribute(scope: Scope, node: ast.Attribute) -> t.Expr:
    role = scope.role(node.value)
    if role == "self":
        return of_program(scope, node)
    if role == "e":
        return of_edge(scope, node)
    if role is not None:
        return of_vertex(scope, node, role)
    record = record_named(scope, node.value)
    if record is not None:
        part: t.Expr = part_read(scope, node, *record)
        return part
    root = node.value
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id in scope.names or is_array(scope.lookup(node.value)):
        value = value_of(scope, node.value)  # errors in the owner come before errors in the attribute
        if t.is_list(value.type):
            raise no_attribute_of_list(scope, node)
        if isinstance(value.type, t.Array):
            raise scope.name_error(
                node, f"{t.named(value.type)} has no {node.attr!r}; {_INSTEAD_OF.get(node.attr, _OF_ARRAYS)}"
            )
        raise scope.name_error(node, f"a number has no {node.attr!r}; v, nbr, e and self have attributes")
    check_no_default(scope, node)
    return outside(scope, node)


def check_no_default(scope: Scope, node: ast.Attribute) -> None:
    """Raise for ``PageRank.damping``, which is the default, not the value of this run."""
    cls, owner = scope.unit.declared.cls, scope.lookup(node.value)
    if inspect.isclass(owner) and issubclass(cls, owner) and node.attr in parameter_names(scope):
        raise scope.name_error(
            node, f"{ast.unparse(node)} is the default, not the value of this run; write self.{node.attr}"
        )


def parameter_names(scope: Scope) -> list[str]:
    declared = scope.unit.declared
    return [param.name for param in (*declared.params, *declared.array_params)]


def of_program(scope: Scope, node: ast.Attribute) -> t.Expr:
    declared, name = scope.unit.declared, node.attr
    for k, param in enumerate(declared.params):
        if param.name == name:
            if name in declared.baked:
                return const_of(scope, declared.baked[name], node)
            return scope.access(t.Param(k, name, t.element_of(param.type)), node)
    for param in declared.array_params:
        if param.name == name:
            return shared_arrays.parameter(scope, param, node)
    for k, (aggregator, combiner) in enumerate(declared.aggregators.items()):
        if aggregator == name:
            return scope.access(t.Aggregate(k, name, combiner.type), node)
    if name in GLOBALS:
        return scope.access(t.Global(name), node)
    if name in PHASES:
        raise scope.name_error(node, f"self.{name} is a method that the engine calls, not a value")
    if name in declared.functions:
        raise scope.name_error(node, f"self.{name} is a method, not a value; call it: self.{name}(...)")
    value = getattr(declared.cls, name, None)
    number = constant(value)
    if number is not None:
        return const_of(scope, number, node)
    if is_array(value):
        return shared_arrays.outside(scope, value, node)
    known = [*parameter_names(scope), *declared.aggregators, *GLOBALS]
    raise scope.name_error(
        node, f"{declared.cls.__name__} has no parameter or aggregator {name!r}{nearest(name, known)}"
    )


def of_vertex(scope: Scope, node: ast.Attribute, role: str) -> t.Expr:
    name, fields = node.attr, scope.unit.declared.vertex_fields
    for k, field in enumerate(fields):
        if field.name == name:
            return scope.access(t.VertexField(role, k, field.type), node)
    if name == "side":  # left ids come first: side 1 begins at the first right id
        at = scope.access(t.VertexAttribute(role, "id", "id"), node)
        return t.Cast(t.Compare(">=", at, scope.access(t.Global("num_left", "id"), node)), "int")
    if name == "index":  # global ids have the order of the user's ids
        return t.Cast(scope.access(t.VertexAttribute(role, "id", "id"), node), "int")
    if name in ATTRIBUTES:
        return scope.access(t.VertexAttribute(role, name, ATTRIBUTES[name]), node)
    raise no_field(scope, node, "Vertex", [*(field.name for field in fields), *ATTRIBUTES, "index", "side"])


def of_edge(scope: Scope, node: ast.Attribute) -> t.Expr:
    fields = scope.unit.declared.edge_fields
    for k, field in enumerate(fields):
        if field.name == node.attr:
            return scope.access(t.EdgeField(k, field.type), node)
    if node.attr == "forward":
        return forward_of(scope, node)
    raise no_field(scope, node, "Edge", [*(field.name for field in fields), "forward"])


def forward_of(scope: Scope, node: ast.AST) -> t.Expr:
    """Return ``e.forward``, read here or in a helper called here."""
    if scope.name == "visit" and not scope.is_helper:
        return t.Const(True, "bool")  # u is the source
    if not scope.is_helper and scope.name not in ("gather", "scatter"):
        text = f"{scope.name} cannot read an edge's forward; only gather and scatter can"
        raise scope.name_error(node, text)
    return scope.access(t.Forward(), node)


def no_field(scope: Scope, node: ast.Attribute, kind: str, known: list[str]) -> ProgramError:
    if node.attr == "signal":
        return scope.name_error(node, "signal is not a field; call it in scatter: nbr.signal()")
    return scope.name_error(node, f"{kind} has no field {node.attr!r}{nearest(node.attr, known)}")


def nearest_only(name: str, known: list[str]) -> str:
    """Return ``"; did you mean ...?"``, or nothing if no known name is similar."""
    hint = nearest(name, known)
    return hint if hint.startswith("; did you mean") else ""
