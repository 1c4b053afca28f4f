"""Expressions of a method as Python text, the twin of `c.expressions`; arrays are flat lists of numbers."""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.python import rng
from gaslab.compiler.python.body import Body
from gaslab.compiler.python.keyed import KEYED_WORDS
from gaslab.compiler.python.lists import WORDS
from gaslab.errors import unknown, unknown_node

# nodes that give a float of the program's precision, as their operands are
_KEEPS = (t.Local, t.VertexField, t.EdgeField, t.Unary, t.Conditional, t.Let, t.Bound, t.CallHelper)


def expr(body: Body, x: t.Expr) -> str:
    """Return an expression; float32 operations are rounded float64 operations, which gives the same bits.

    A float64 holds more than twice the bits of a float32.
    """
    text = plain_expr(body, x)
    kept = isinstance(x, _KEEPS) or (
        isinstance(x, t.Element) and body.tree.storage_of(x.array) == body.tree.precision
    )
    single = body.tree.precision == "float32" and x.type == "float" and not kept
    return f"float32({text})" if single else text


def plain_expr(body: Body, x: t.Expr) -> str:
    if isinstance(x, t.Const):
        return f"({x.value!r})" if x.type != "float" else f"({float(x.value)!r})"
    if isinstance(x, t.Local):
        return f"l_{x.name}"
    if isinstance(x, t.Param):
        return f"c.params[{x.index}]"
    if isinstance(x, t.Shared):
        return f"c.shared_rows[{x.index}]"
    if isinstance(x, t.Aggregate):
        return f"c.aggregates[{x.index}]"
    if isinstance(x, t.Global):
        return f"c.{x.name}"
    if isinstance(x, t.VertexField):
        value = (
            f"n[{x.index}]" if x.role == body.near else f"c.vertex[{x.index}].item({vertex_in(body, x.role)})"
        )
        return f"({value} != 0)" if x.type == "bool" else value
    if isinstance(x, t.VertexAttribute):
        array = "gid" if x.name == "id" else x.name
        return f"c.{array}.item({vertex_in(body, x.role)})"
    if isinstance(x, t.EdgeField):
        value = f"c.edge[{x.index}].item(e)"
        return f"({value} != 0)" if x.type == "bool" else value
    if isinstance(x, t.Forward):
        return "c.forward"
    if isinstance(x, t.Element):
        return element(body, x)
    if isinstance(x, t.Index):
        return f"{'counted' if x.counted else 'index'}({expr(body, x.value)}, {x.size}, {x.site})"
    if isinstance(x, t.PartOf):
        return part_place(body, x)
    if isinstance(x, t.Reduce):
        return reduction(body, x)
    if isinstance(x, t.Search):
        return f"search({argument(body, x.array)}, {expr(body, x.value)}, {x.right})"
    if isinstance(x, t.Categorical):
        weights = f"[{expr(body, x.value)} for l_{x.counter} in range({x.count})]"
        return f"categorical(c.rng, {weights}, {x.site})"
    if isinstance(x, t.Unary):
        value = f"({x.op} {expr(body, x.operand)})"
        return f"wrap{value}" if x.type == "int" else value
    if isinstance(x, t.Binary):
        return binary(body, x)
    if isinstance(x, t.Compare):
        return f"({expr(body, x.left)} {x.op} {expr(body, x.right)})"
    if isinstance(x, t.Logical):
        return "(" + f" {x.op} ".join(expr(body, a) for a in x.operands) + ")"
    if isinstance(x, t.Conditional):
        return f"({expr(body, x.then)} if {expr(body, x.test)} else {expr(body, x.otherwise)})"
    if isinstance(x, t.Let):
        return f"(once{x.number} := {expr(body, x.value)}, {expr(body, x.body)})[1]"
    if isinstance(x, t.Bound):
        return f"once{x.number}"
    if isinstance(x, t.Cast):
        if x.type == "int" and x.operand.type == "float":
            return f"to_int({expr(body, x.operand)}, {x.site})"
        if body.tree.precision == "float32" and (x.type, x.operand.type) == ("float", "int"):
            return f"float_of({expr(body, x.operand)})"
        return f"{x.type}({expr(body, x.operand)})"
    if isinstance(x, t.CallHelper):
        arguments = "".join(", " + argument(body, a) for a in x.arguments)
        return f"helper{x.index}(c{arguments})"
    if isinstance(x, t.Draw):
        return rng.draw(x, ", ".join(expr(body, a) for a in x.arguments))
    if isinstance(x, t.NoList):
        return "[]"
    if isinstance(x, t.KeyedWord):
        if x.function not in KEYED_WORDS:
            raise unknown("interpret", x)
        site = f", {x.site}" if x.site >= 0 else ""
        more = "".join(f", {expr(body, a)}" for a in x.arguments)
        return f"total_{x.function}(l_total{more}{site})"
    if isinstance(x, t.ListWord):
        if x.function not in WORDS:
            raise unknown("interpret", x)
        site = f", {x.site}" if x.site >= 0 else ""
        return f"list_{x.function}({', '.join(expr(body, a) for a in x.arguments)}{site})"
    if isinstance(x, t.Call):
        return call(body, x)
    raise unknown_node("interpret", x)


def position(body: Body, x: t.Expr) -> str:
    """Return the index of an element; the frontend's arithmetic on indices never wraps."""
    if isinstance(x, t.Binary):
        return f"({position(body, x.left)} {x.op} {position(body, x.right)})"
    return expr(body, x)


def element(body: Body, x: t.Element) -> str:
    value = element_place(body, x, read=True)
    in_memory = isinstance(x.array, t.VertexField | t.EdgeField) or bool(getattr(x.array, "storage", ""))
    return f"({value} != 0)" if in_memory and x.type == "bool" else value


def element_place(body: Body, x: t.Element, read: bool = False) -> str:
    """Return the place of an element, or, with *read*, its value as a plain number."""
    place, index = x.array, position(body, x.index)
    if isinstance(place, t.Local | t.Shared):
        return f"{plain_expr(body, place)}[{index}]"
    if isinstance(place, t.PartOf):
        return f"{part_place(body, place)}[{index}]"
    if isinstance(place, t.EdgeField):
        rows, at = f"c.edge_rows[{place.index}]", "e"
    elif place.role == body.near:
        return f"n[{place.index}][{index}]"
    else:
        rows, at = f"c.vertex_rows[{place.index}]", vertex_in(body, place.role)
    return f"{rows}.item({at}, {index})" if read else f"{rows}[{at}, {index}]"


def argument(body: Body, x: t.Expr) -> str:
    """Return a helper's argument for *x*; arrays are lists of numbers."""
    if isinstance(x.type, t.Array) and isinstance(x, t.EdgeField):
        return f"c.edge_rows[{x.index}][e].tolist()"
    if isinstance(x.type, t.Array) and isinstance(x, t.VertexField) and x.role != body.near:
        return f"c.vertex_rows[{x.index}][{vertex_in(body, x.role)}].tolist()"
    return expr(body, x)


def part_place(body: Body, x: t.PartOf) -> str:
    name, _, k = x.record.partition(" ")
    known = {"into": "t", "sent": "sent", "made": "made", "self": f"c.aggregates[{k}]"}
    return f"{known.get(name, f'l_{name}')}[{x.index}]"


def reduction(body: Body, x: t.Reduce) -> str:
    if x.op not in ("sum", "prod", "min", "max", "argmin", "argmax"):
        raise unknown("interpret", x)
    single = x.type == "float" and body.tree.precision == "float32"
    name = f"reduce_{x.op}"
    if x.op == "sum" and x.type == "float" and x.count >= t.WIDE_SUM:
        name = "sum_of_eight" if single else "sum_of_four"
    elif x.op in ("sum", "prod"):
        name += "_i" if x.type == "int" else "_single" if single else ""
    return f"{name}([{expr(body, x.value)} for l_{x.counter} in range({x.count})])"


def vertex_in(body: Body, role: str) -> str:
    """Return the name of the vertex in that role."""
    return "v" if role == (body.near or "v") else "x"


def binary(body: Body, x: t.Binary) -> str:
    left, right = expr(body, x.left), expr(body, x.right)
    if x.op == "/":
        return f"true_divide({left}, {right}, {x.site})" if x.int_divisor else f"divide({left}, {right})"
    if x.op == "**":
        if x.type == "int":
            return f"power_i({left}, {right})"
        if isinstance(x.right, t.Const) and x.right.value == 2:  # a product, as in C
            return f"square({left})"
        return f"math_pow({left}, {right})"
    helper = t.ARITHMETIC.get((x.op, x.type))
    if helper is None:
        value = f"({left} {x.op} {right})"
        return f"wrap{value}" if x.type == "int" else value
    site = f", {x.site}" if x.type == "int" else ""
    return f"{helper}({left}, {right}{site})"


def call(body: Body, x: t.Call) -> str:
    arguments = ", ".join(expr(body, a) for a in x.arguments)
    if x.function == "abs":
        return f"wrap(abs({arguments}))" if x.type == "int" else f"abs({arguments})"
    if x.function == "bit_count":
        return f"({arguments}).bit_count()"
    if x.function in ("min", "max", "minimum", "maximum"):
        return f"{x.function}({arguments})"
    name = x.function.removeprefix("math.")
    if name == "log" and len(x.arguments) == 2:
        return f"log({arguments})"
    if name not in t.MATH_ARITY or name == x.function:
        raise unknown("interpret", x)
    return f"math_{name}({arguments})"
