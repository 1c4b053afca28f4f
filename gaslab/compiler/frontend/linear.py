"""numpy functions of vectors and matrices: products, reductions; element-wise functions."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.arrays import elementwise, new_counter, simple, temporary
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.row_products import by_rows
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.solving import solved
from gaslab.compiler.frontend.value_checks import bits_of, no_ids
from gaslab.compiler.frontend.values import ArrayValue, stored
from gaslab.compiler.frontend.vector_functions import counted, joined, known_length, reordered, searched
from gaslab.errors import nearest

_MATH = {"sqrt": "sqrt", "exp": "exp", "log": "log", "tanh": "tanh", "sin": "sin", "cos": "cos",
         "log1p": "log1p", "expm1": "expm1", "log2": "log2", "log10": "log10"}  # fmt: skip
_REDUCE = {"sum": "sum", "prod": "prod", "min": "min", "max": "max", "argmin": "argmin", "argmax": "argmax",
           "amin": "min", "amax": "max"}  # fmt: skip
_MAKE = {"zeros": 0.0, "ones": 1.0}
_WORDS = (
    *_MATH, *_REDUCE, *_MAKE, "abs", "absolute", "minimum", "maximum", "dot", "outer", "eye", "copy", "mean",
    "linalg.norm", "linalg.solve", "searchsorted", "cumsum", "sort", "bincount", "concatenate",
    "bitwise_count",
)  # fmt: skip


def numpy_word(lookup: Any, callee: ast.expr) -> str | None:
    """Return a function's name in numpy (``linalg.solve``), None if numpy does not have it."""
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
    """Return the value of a call of the numpy function *word*."""
    if word not in _WORDS:
        known = nearest(word, _WORDS)
        hint = known if "did you mean" in known else f"; choose from {', '.join(sorted(set(_WORDS)))}"
        raise scope.name_error(node.func, f"np.{word} is not in the language{hint}")
    if word == "searchsorted":
        return searched(scope, node)
    if word == "bincount":
        return counted(scope, node)
    if word == "concatenate":
        return joined(scope, node)
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
        n = known_length(scope, node.args[0])
        return multiple_of_eye(n, t.Const(1.0, "float"), t.Const(0.0, "float"))
    values = [value_of(scope, argument) for argument in node.args]
    for value, argument in zip(values, node.args, strict=True):
        if value.type == "id":
            raise scope.error(argument, f"np.{word} of a vertex id; ids are only compared and copied")
        if word != "copy":
            no_ids(scope, value, argument, f"np.{word}")
    if word in ("minimum", "maximum"):
        return pairwise(scope, node, word, values)
    if word in ("abs", "absolute", "bitwise_count") or word in _MATH:
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
    if word in ("cumsum", "sort"):
        return reordered(scope, node, word, values[0])
    if word == "outer":
        return outer_product(scope, node, values)
    if word == "linalg.solve":
        return solved(scope, node, "np.linalg.solve", "lu", values)
    if word == "linalg.norm":
        square = elementwise(
            scope,
            lambda x: product_of_numbers(scope, x, x),
            [simple(scope, values[0], node)],
            node,
            "the norm of",
        )
        return t.Call("math.sqrt", (scope.widened(reduced(scope, "sum", square, node), "float"),), "float")
    if word == "mean":
        total = scope.widened(reduced(scope, "sum", values[0], node), "float")
        return t.Binary("/", total, t.Const(float(values[0].type.size), "float"), "float")
    return reduced(scope, _REDUCE[word], values[0], node)


def made_of(scope: Scope, node: ast.Call, number: float) -> ArrayValue:
    """``np.zeros(n)``, ``np.ones((n, m))``."""
    argument = node.args[0]
    parts = argument.elts if isinstance(argument, ast.Tuple) else [argument]
    shape = tuple(known_length(scope, part) for part in parts)
    if not 1 <= len(shape) <= 2:
        raise scope.error(argument, "an array must have one or two dimensions")
    return ArrayValue(t.Array("float", shape), lambda *_: t.Const(number, "float"), symmetric=True)


def multiple_of_eye(n: int, number: t.Expr, rest: t.Expr) -> ArrayValue:
    def at(i: t.Expr, j: t.Expr) -> t.Expr:
        return t.Conditional(t.Compare("==", i, j), number, rest, "float")

    return ArrayValue(t.Array("float", (n, n)), at, symmetric=True, eye=(number, rest))


def product_of_numbers(scope: Scope, left: t.Expr, right: t.Expr) -> t.Expr:
    kind = "float" if "float" in (left.type, right.type) else "int"
    return t.Binary("*", scope.widened(left, kind), scope.widened(right, kind), kind)


def math_of_elements(scope: Scope, node: ast.Call, word: str, value: Any) -> Any:
    """``np.abs``, ``np.bitwise_count`` and math functions of every element, or of a number."""

    def one(x: t.Expr) -> t.Expr:
        if word in ("abs", "absolute"):
            x = scope.widened(x, "int") if x.type == "bool" else x
            return t.Call("abs", (x,), t.element_of(x.type))
        if word == "bitwise_count":
            return bits_of(scope, x, node, f"np.{word}")
        return t.Call(f"math.{_MATH[word]}", (scope.widened(x, "float"),), "float")

    if not isinstance(value, ArrayValue):
        return one(value)
    return elementwise(scope, one, [value], node, f"np.{word} of")


def pairwise(scope: Scope, node: ast.Call, word: str, values: list[Any]) -> Any:
    def one(left: t.Expr, right: t.Expr) -> t.Expr:
        left, right, kind = scope.join(left, right, node)
        return t.Call(word if kind == "float" else word[:3], (left, right), kind)

    if not any(isinstance(value, ArrayValue) for value in values):
        return one(*values)
    return elementwise(scope, one, values, node, f"np.{word} of")


def reduced(scope: Scope, op: str, value: ArrayValue, node: ast.AST) -> t.Expr:
    """Return all elements combined into one number."""
    counter, shape = new_counter(scope), value.type.shape
    if len(shape) == 2:
        if value.place is None:
            value = stored(temporary(scope, value, node))
        assert value.place is not None
        element: t.Expr = t.Element(value.place, counter, value.type.element)  # row by row
    else:
        element = value.at(counter)
    if element.type == "bool":
        element = scope.widened(element, "int")
    kind = "int" if op.startswith("arg") else element.type
    return t.Reduce(op, counter.name, value.type.size, element, str(kind))


def matrix_product(scope: Scope, left: Any, right: Any, node: ast.AST) -> Any:
    """``left @ right``."""
    for value in (left, right):
        no_ids(scope, value, node, "`@`")
    if not isinstance(left, ArrayValue) or not isinstance(right, ArrayValue):
        raise scope.error(node, "`@` needs two vectors or matrices; write * for a number")
    inner = left.type.shape[-1]
    if inner != right.type.shape[0]:
        raise scope.error(
            node, f"{t.named(left.type)} @ {t.named(right.type)}; make the inner lengths agree"
        )  # fmt: skip
    rows, columns = left.type.shape[:-1], right.type.shape[1:]
    if rows or columns:
        left, right = simple(scope, left, node), simple(scope, right, node)
    if columns and not rows and (made := by_rows(scope, left, right, node)) is not None:
        return made

    def at(*indices: t.Expr) -> t.Expr:
        k = new_counter(scope)
        ours, theirs = indices[: len(rows)], indices[len(rows) :]
        element = product_of_numbers(scope, left.at(*ours, k), right.at(k, *theirs))
        return t.Reduce("sum", k.name, inner, element, str(element.type))

    if not rows and not columns:
        return at()
    element = "float" if "float" in (left.type.element, right.type.element) else "int"
    return ArrayValue(
        t.Array(element, (*rows, *columns)), at, left.roots | right.roots, aligned=False, costly=True
    )


def outer_product(scope: Scope, node: ast.Call, values: list[ArrayValue]) -> ArrayValue:
    for value, argument in zip(values, node.args, strict=True):
        if len(value.type.shape) != 1:
            raise scope.error(argument, f"np.outer needs vectors but this is {t.named(value.type)}")
    left, right = (simple(scope, value, node) for value in values)
    same = ast.dump(node.args[0]) == ast.dump(node.args[1])
    if "self.draws" in scope.reads and any(isinstance(n, ast.Call) for n in ast.walk(node.args[0])):
        same = False  # a call may draw, and would give two vectors
    if same:
        right = left
    probe = product_of_numbers(scope, left.at(t.Const(0, "int")), right.at(t.Const(0, "int")))
    return ArrayValue(
        t.Array(str(probe.type), (left.type.size, right.type.size)),
        lambda i, j: product_of_numbers(scope, left.at(i), right.at(j)), left.roots | right.roots,
        aligned=False, symmetric=same, square=left if same else None,
    )  # fmt: skip


def call_len(scope: Scope, node: ast.Call) -> t.Expr:
    value = value_of(scope, node.args[0])
    if not isinstance(value, ArrayValue):
        raise scope.name_error(
            node.func, "len takes vectors and matrices; v.degree counts edges, self.num_vertices vertices"
        )
    return t.Const(value.type.shape[0], "int")
