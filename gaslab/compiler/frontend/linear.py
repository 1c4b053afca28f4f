"""numpy's words for vectors and matrices: products, reductions, solving; element-wise functions."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from gaslab import program
from gaslab.compiler.frontend.arrays import elementwise, new_counter, simple, temporary
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.values import ArrayValue, stored
from gaslab.compiler.tree import (
    Array,
    Binary,
    Call,
    Compare,
    Conditional,
    Const,
    Element,
    Expr,
    Reduce,
    Solve,
    element_of,
    named,
)
from gaslab.errors import nearest

_MATH = {"sqrt": "sqrt", "exp": "exp", "log": "log", "tanh": "tanh", "sin": "sin", "cos": "cos",
         "log1p": "log1p", "expm1": "expm1", "log2": "log2", "log10": "log10"}  # fmt: skip
_REDUCE = {"sum": "sum", "prod": "prod", "min": "min", "max": "max", "argmin": "argmin", "argmax": "argmax",
           "amin": "min", "amax": "max"}  # fmt: skip
_MAKE = {"zeros": 0.0, "ones": 1.0}
_WORDS = (
    *_MATH, *_REDUCE, *_MAKE, "abs", "absolute", "minimum", "maximum", "dot", "outer", "eye", "copy", "mean",
    "linalg.norm", "linalg.solve",
)  # fmt: skip


def numpy_word(lookup: Any, callee: ast.expr) -> str | None:
    """Return what a function is called in numpy (``linalg.solve``), None if it is not numpy's."""
    if isinstance(callee, ast.Attribute):
        owner = lookup(callee.value)
        if inspect.ismodule(owner) and owner.__name__.split(".")[0] == "numpy":
            return f"{owner.__name__}.{callee.attr}".partition(".")[2]
        return None
    function = lookup(callee)
    home = getattr(function, "__module__", None) or ""
    if not isinstance(home, str) or home.split(".")[0] != "numpy":
        return "" if type(function).__name__ == "ufunc" else None
    name: str = getattr(function, "__name__", "")
    return f"linalg.{name}" if "linalg" in home else name


def call_numpy(scope: Scope, node: ast.Call, word: str) -> Any:
    """Return the value of a call of numpy's *word*."""
    if word not in _WORDS:
        known = nearest(word, _WORDS)
        hint = known if "did you mean" in known else f"; there are {', '.join(sorted(set(_WORDS)))}"
        raise scope.name_error(node.func, f"np.{word} is not in the language{hint}")
    for keyword in node.keywords:
        raise scope.error(keyword.value, f"np.{word} takes no keywords here; write the values in order")
    low, high = (2, 2) if word in ("dot", "outer", "minimum", "maximum", "linalg.solve") else (1, 1)
    if not low <= len(node.args) <= high:
        raise scope.error(
            node, f"np.{word} takes {low} argument{'s' * (low > 1)} but is given {len(node.args)}"
        )
    if word in _MAKE:
        return made_of(scope, node, _MAKE[word])
    if word == "eye":
        return unit_matrix(scope, node)
    values = [value_of(scope, argument) for argument in node.args]
    for value, argument in zip(values, node.args, strict=True):
        if value.type == "id":
            raise scope.error(argument, f"np.{word} of a vertex id; ids are only compared and copied")
    if word in ("minimum", "maximum"):
        return pairwise(scope, node, word[:3], values)
    if word in ("abs", "absolute") or word in _MATH:
        return math_of_elements(scope, node, word, values[0])
    return on_arrays(scope, node, word, values)


def on_arrays(scope: Scope, node: ast.Call, word: str, values: list[Any]) -> Any:
    for value, argument in zip(values, node.args, strict=True):
        if not isinstance(value, ArrayValue):
            raise scope.error(argument, f"np.{word} needs a vector or a matrix but this is a number")
    if word == "copy":
        return stored(temporary(scope, values[0], node))
    if word == "dot":
        return matrix_product(scope, values[0], values[1], node)
    if word == "outer":
        return outer_product(scope, node, values)
    if word == "linalg.solve":
        return solved(scope, node, "lu", values)
    if word == "linalg.norm":
        square = elementwise(
            scope,
            lambda x: product_of_numbers(scope, x, x),
            [simple(scope, values[0], node)],
            node,
            "the norm of",
        )
        return Call("math.sqrt", (scope.widened(reduced(scope, "sum", square, node), "float"),), "float")
    if word == "mean":
        total = scope.widened(reduced(scope, "sum", values[0], node), "float")
        return Binary("/", total, Const(float(values[0].type.size), "float"), "float")
    return reduced(scope, _REDUCE[word], values[0], node)


def made_of(scope: Scope, node: ast.Call, number: float) -> ArrayValue:
    """``np.zeros(n)``, ``np.ones((n, m))``."""
    argument = node.args[0]
    parts = argument.elts if isinstance(argument, ast.Tuple) else [argument]
    shape = tuple(known_length(scope, part) for part in parts)
    if not 1 <= len(shape) <= 2:
        raise scope.error(argument, "an array has one or two dimensions")
    return ArrayValue(Array("float", shape), lambda *_: Const(number, "float"), symmetric=True)


def known_length(scope: Scope, node: ast.expr) -> int:
    """Return a length that is known now: a number, a parameter that shapes name, or len(x)."""
    value = value_of(scope, node)
    if not isinstance(value, Const) or value.type != "int" or value.value < 1:
        raise scope.error(
            node, "the length of an array must be known: an int, a parameter that a field's shape names, "
            "or len(x)"
        )  # fmt: skip
    return int(value.value)


def unit_matrix(scope: Scope, node: ast.Call) -> ArrayValue:
    n = known_length(scope, node.args[0])
    return multiple_of_eye(scope, n, Const(1.0, "float"))


def multiple_of_eye(scope: Scope, n: int, number: Expr) -> ArrayValue:
    def at(i: Expr, j: Expr) -> Expr:
        return Conditional(Compare("==", i, j), number, Const(0.0, "float"), "float")

    return ArrayValue(Array("float", (n, n)), at, symmetric=True, eye=number)


def product_of_numbers(scope: Scope, left: Expr, right: Expr) -> Expr:
    kind = "float" if "float" in (left.type, right.type) else "int"
    return Binary("*", scope.widened(left, kind), scope.widened(right, kind), kind)


def math_of_elements(scope: Scope, node: ast.Call, word: str, value: Any) -> Any:
    """``np.abs`` and math functions of every element, or of a number."""

    def one(x: Expr) -> Expr:
        if word in ("abs", "absolute"):
            x = scope.widened(x, "int") if x.type == "bool" else x
            return Call("abs", (x,), element_of(x.type))
        return Call(f"math.{_MATH[word]}", (scope.widened(x, "float"),), "float")

    if not isinstance(value, ArrayValue):
        return one(value)
    return elementwise(scope, one, [value], node, f"np.{word} of")


def pairwise(scope: Scope, node: ast.Call, word: str, values: list[Any]) -> Any:
    def one(left: Expr, right: Expr) -> Expr:
        left, right, kind = scope.join(left, right, node)
        return Call(word, (left, right), kind)

    if not any(isinstance(value, ArrayValue) for value in values):
        return one(*values)
    return elementwise(scope, one, values, node, f"np.{word}imum of")


def reduced(scope: Scope, op: str, value: ArrayValue, node: ast.AST) -> Expr:
    """Return all elements combined to one number."""
    counter, shape = new_counter(scope), value.type.shape
    if len(shape) == 2:
        if value.place is None:
            value = stored(temporary(scope, value, node))
        assert value.place is not None
        element: Expr = Element(value.place, counter, value.type.element)  # row by row
    else:
        element = value.at(counter)
    if element.type == "bool":
        element = scope.widened(element, "int")
    kind = "int" if op.startswith("arg") else element.type
    return Reduce(op, counter.name, value.type.size, element, str(kind))


def matrix_product(scope: Scope, left: Any, right: Any, node: ast.AST) -> Any:
    """``left @ right``."""
    if not isinstance(left, ArrayValue) or not isinstance(right, ArrayValue):
        raise scope.error(node, "`@` needs two vectors or matrices; write * for a number")
    inner = left.type.shape[-1]
    if inner != right.type.shape[0]:
        raise scope.error(
            node, f"{named(left.type)} @ {named(right.type)}; make the inner lengths agree"
        )  # fmt: skip
    rows, columns = left.type.shape[:-1], right.type.shape[1:]
    if rows or columns:
        left, right = simple(scope, left, node), simple(scope, right, node)

    def at(*indices: Expr) -> Expr:
        k = new_counter(scope)
        ours, theirs = indices[: len(rows)], indices[len(rows) :]
        element = product_of_numbers(scope, left.at(*ours, k), right.at(k, *theirs))
        return Reduce("sum", k.name, inner, element, str(element.type))

    if not rows and not columns:
        return at()
    element = "float" if "float" in (left.type.element, right.type.element) else "int"
    return ArrayValue(
        Array(element, (*rows, *columns)), at, left.roots | right.roots, aligned=False, costly=True
    )


def outer_product(scope: Scope, node: ast.Call, values: list[ArrayValue]) -> ArrayValue:
    for value, argument in zip(values, node.args, strict=True):
        if len(value.type.shape) != 1:
            raise scope.error(argument, f"np.outer needs vectors but this is {named(value.type)}")
    left, right = (simple(scope, value, node) for value in values)
    same = ast.dump(node.args[0]) == ast.dump(node.args[1])
    if "self.draws" in scope.reads and any(isinstance(n, ast.Call) for n in ast.walk(node.args[0])):
        same = False  # what is called may draw, and gives two vectors
    if same:
        right = left
    probe = product_of_numbers(scope, left.at(Const(0, "int")), right.at(Const(0, "int")))
    return ArrayValue(
        Array(str(probe.type), (left.type.size, right.type.size)),
        lambda i, j: product_of_numbers(scope, left.at(i), right.at(j)), left.roots | right.roots,
        aligned=False, symmetric=same,
    )  # fmt: skip


def solved(scope: Scope, node: ast.Call, method: str, values: list[Any]) -> ArrayValue:
    """Solve in copies: the matrix is spoilt, the right side becomes the answer."""
    name = "np.linalg.solve" if method == "lu" else "gl.solve_spd"
    for value, argument in zip(values, node.args, strict=True):
        if not isinstance(value, ArrayValue):
            raise scope.error(argument, f"{name} needs a matrix and a vector but this is a number")
    matrix, right = values
    shape = matrix.type.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise scope.error(node.args[0], f"{name} needs a square matrix but this is {named(matrix.type)}")
    if right.type.shape[0] != shape[0]:
        raise scope.error(node.args[1], f"the matrix has {shape[0]} rows but this is {named(right.type)}")
    work = temporary(scope, floats(scope, matrix), node)
    answer = temporary(scope, floats(scope, right), node)
    scope.pending.append(Solve(method, work, answer, scope.site(node)))
    return stored(answer)


def floats(scope: Scope, value: ArrayValue) -> ArrayValue:
    kind = Array("float", value.type.shape)
    return value if value.type == kind else value.widened(kind)


def call_solve_spd(scope: Scope, node: ast.Call) -> ArrayValue:
    for keyword in node.keywords:
        raise scope.error(keyword.value, "gl.solve_spd takes no keywords here; write the values in order")
    if len(node.args) != 2:
        raise scope.error(node, f"gl.solve_spd takes 2 arguments but is given {len(node.args)}")
    return solved(scope, node, "spd", [value_of(scope, argument) for argument in node.args])


def call_len(scope: Scope, node: ast.Call) -> Expr:
    value = value_of(scope, node.args[0])
    if not isinstance(value, ArrayValue):
        raise scope.name_error(
            node.func,
            "len is of vectors and matrices; v.degree counts edges, self.num_vertices vertices",
        )
    return Const(value.type.shape[0], "int")


def is_solve_spd(function: Any) -> bool:
    """Whether *function* is `gaslab.solve_spd`."""
    return function is program.solve_spd
