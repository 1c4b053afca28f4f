"""Values made by calls: Python's built-ins, the math module, the user's functions and methods."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend import distributions, keyed, linear, list_words, solving
from gaslab.compiler.frontend.conditions import truth
from gaslab.compiler.frontend.convert import INT_MAX, INT_MIN
from gaslab.compiler.frontend.dispatch import reads, value_of
from gaslab.compiler.frontend.helper_calls import call_helper, call_method
from gaslab.compiler.frontend.names import const_of, nearest_only, unknown_name
from gaslab.compiler.frontend.operators import number_of
from gaslab.compiler.frontend.scope import MISSING, Scope
from gaslab.compiler.frontend.value_checks import as_number, bits_of, check_count, no_array, no_keywords
from gaslab.compiler.frontend.values import ArrayValue
from gaslab.errors import ProgramError
from gaslab.language import rng

BUILTINS = ("abs", "min", "max", "int", "float", "bool", "len")
_KNOWN = {getattr(builtins, name): name for name in BUILTINS}
_MATH = {getattr(math, name): name for name in t.MATH_ARITY if hasattr(math, name)}
_INSTEAD: dict[Any, str] = {
    print: "run with engine='reference' to print, or write to a field and read it from the result",
    breakpoint: "run with engine='reference' to stop here",
    sum: "add the values with +",
    round: "write math.floor(x + 0.5)",
    pow: "write x ** y",
    range: "it is only for `for i in range(...):`",
    divmod: "write a // b and a % b",
    any: "write a or b",
    all: "write a and b",
    isinstance: "the type of every value is fixed",
    str: "values are numbers",
    math.isclose: "write abs(a - b) <= tolerance",
}


@reads(ast.Call)
def call(scope: Scope, node: ast.Call) -> Any:
    callee = node.func
    if isinstance(callee, ast.Attribute):
        if (combiner := keyed.total_named(scope, callee.value)) is not None:
            return keyed.method(scope, combiner, node, callee)
        role = scope.role(callee.value)
        if role == "self" and callee.attr != "signal":
            return call_method(scope, node, callee)
        if role is not None:
            raise not_a_method(scope, callee)
        if callee.attr == "bit_count" and not _has_members(scope.lookup(callee.value)):
            return call_bit_count(scope, node, callee.value)
    if not isinstance(callee, ast.Name | ast.Attribute):
        raise scope.error(callee, "only functions by name can be called")
    function = scope.lookup(callee)
    word = linear.numpy_word(scope.lookup, callee)
    if word is not None:
        return linear.call_numpy(scope, node, word or str(getattr(function, "__name__", "")))
    if function is MISSING:
        raise unknown_function(scope, callee)
    if _found(function, rng.WORDS):
        return distributions.call(scope, node, rng.WORDS[function])
    if _found(function, solving.WORDS):
        return solving.call(scope, node, solving.WORDS[function])
    if _found(function, list_words.WORDS):
        return list_words.call(scope, node, list_words.WORDS[function])
    if function is len and len(node.args) == 1 and not node.keywords:
        if keyed.total_named(scope, node.args[0]) is not None:
            return keyed.length()
        value = value_of(scope, node.args[0])
        if t.is_list(value.type):
            return list_words.length(value)
    if isinstance(function, FunctionType) and not _of_gaslab(function):
        return call_helper(scope, node, function, None)
    if _found(function, _MATH):
        return call_math(scope, node, _MATH[function])
    if not _found(function, _KNOWN):
        raise scope.name_error(callee, _why_not(function, ast.unparse(callee)))
    name = _KNOWN[function]
    no_keywords(scope, node, name)
    if name in ("min", "max"):
        return least_or_largest(scope, node, name)
    check_count(scope, node, name, 1, 1)
    return _BUILTINS[name](scope, node)


def unknown_function(scope: Scope, callee: ast.Name | ast.Attribute) -> ProgramError:
    if isinstance(callee, ast.Name):
        name = callee.id
        if name in scope.names:
            return scope.error(callee, f"{name!r} is a local, not a function; call one of the module")
        hint = scope.did_you_mean(name, "define it in the module, or import it", BUILTINS, t.MATH_ARITY)
        return scope.error(callee, f"unknown function {name!r}{hint}")
    owner = scope.lookup(callee.value)
    if not inspect.ismodule(owner) and not inspect.isclass(owner):
        return unknown_name(scope, callee)
    hint = nearest_only(callee.attr, list(t.MATH_ARITY) if owner is math else dir(owner))
    return scope.name_error(callee, f"{ast.unparse(callee.value)} has no function {callee.attr!r}{hint}")


def not_a_method(scope: Scope, callee: ast.Attribute) -> ProgramError:
    if callee.attr == "signal":
        return scope.name_error(callee, "signal() returns no value; write it on a line of its own")
    return scope.name_error(callee, f"{ast.unparse(callee)} cannot be called; nbr.signal() in scatter can")


def least_or_largest(scope: Scope, node: ast.Call, name: str) -> t.Expr:
    """``min(a, b, c)`` is ``min(min(a, b), c)``, in Python's order of comparisons."""
    if len(node.args) < 2:
        raise scope.error(node, f"{name} needs two values or more; write {name}(a, b)")
    values = [value_of(scope, argument) for argument in node.args]
    for value, argument in zip(values, node.args, strict=True):
        no_array(scope, value, argument, name)
    result: t.Expr = values[0]
    for value, argument in zip(values[1:], node.args[1:], strict=True):
        result, value, kind = scope.join(result, value, argument)
        result = t.Call(name, (result, value), kind)
    return result


def call_abs(scope: Scope, node: ast.Call) -> Any:
    argument = value_of(scope, node.args[0])
    if isinstance(argument, ArrayValue):
        return linear.math_of_elements(scope, node, "abs", argument)
    value = as_number(scope, argument, node.args[0], "abs of")
    value = scope.widened(value, "int") if value.type == "bool" else value
    return t.Call("abs", (value,), t.element_of(value.type))


def call_bit_count(scope: Scope, node: ast.Call, number: ast.expr) -> t.Expr:
    if node.args or node.keywords:
        raise scope.error(node, "bit_count takes no arguments; write x.bit_count()")
    return bits_of(scope, value_of(scope, number), number, "bit_count")


def call_int(scope: Scope, node: ast.Call) -> t.Expr:
    return cut_to_int(scope, number_of(scope, node.args[0], "int of"), node)


def cut_to_int(scope: Scope, value: t.Expr, node: ast.AST) -> t.Expr:
    """Return *value* truncated to an int; outside int64 it is a fault of this line."""
    if value.type != "float":
        return scope.widened(value, "int")
    if isinstance(value, t.Const) and math.isfinite(value.value) and INT_MIN <= value.value <= INT_MAX:
        return const_of(scope, int(value.value), node)
    return t.Cast(value, "int", scope.site(node))


def call_float(scope: Scope, node: ast.Call) -> t.Expr:
    argument = node.args[0]
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        try:
            return const_of(scope, float(argument.value), node)  # float("inf") is a common way to write it
        except ValueError:
            raise scope.error(argument, f"{argument.value!r} is not a number; write one") from None
    return scope.widened(number_of(scope, argument, "float of"), "float")


def call_bool(scope: Scope, node: ast.Call) -> t.Expr:
    return truth(scope, node.args[0])


def call_math(scope: Scope, node: ast.Call, name: str) -> t.Expr:
    no_keywords(scope, node, f"math.{name}")
    check_count(scope, node, f"math.{name}", *t.MATH_ARITY[name])
    if name == "nextafter" and scope.unit.declared.precision == "float32":
        raise scope.error(node, "math.nextafter works on float64; leave out precision = gl.float32")
    values = [number_of(scope, argument, f"math.{name} of") for argument in node.args]
    if name in ("floor", "ceil", "trunc"):
        if values[0].type != "float" or name == "trunc":
            return cut_to_int(scope, values[0], node)
        return cut_to_int(scope, t.Call(f"math.{name}", (values[0],), "float"), node)
    if name == "ldexp":
        exponent = scope.fit(values[1], "int", node.args[1], "the exponent of ldexp")
        return t.Call("math.ldexp", (scope.widened(values[0], "float"), exponent), "float")
    arguments = tuple(scope.widened(value, "float") for value in values)
    if name in ("degrees", "radians"):
        factor = 180.0 / math.pi if name == "degrees" else math.pi / 180.0
        return t.Binary("*", arguments[0], const_of(scope, factor, node), "float")
    if name == "log" and len(arguments) == 2:
        logs = [t.Call("math.log", (argument,), "float") for argument in arguments]
        return t.Binary("/", logs[0], logs[1], "float")
    return t.Call(f"math.{name}", arguments, "bool" if name.startswith("is") else "float")


def _found(function: Any, table: dict[Any, str]) -> bool:
    try:
        return function in table
    except TypeError:  # not hashable
        return False


def _has_members(value: Any) -> bool:
    return inspect.ismodule(value) or inspect.isclass(value)


def _of_gaslab(function: FunctionType) -> bool:
    """Return whether *function* is gaslab's, such as gl.field, not a program's."""
    package, _, rest = function.__module__.partition(".")
    return package == "gaslab" and rest.split(".")[0] not in ("", "programs")


def _why_not(function: Any, text: str) -> str:
    """Return why a known object cannot be called, and what to write instead."""
    name = getattr(function, "__name__", "")
    if _found(function, _INSTEAD):
        return f"{text} is not in the language; {_INSTEAD[function]}"
    if not callable(function):
        return f"{text!r} is of type {type(function).__name__} and cannot be called"
    if hasattr(function, "__wrapped__"):
        return f"{text} has a decorator, which is not in the language; call a plain def"
    if name in t.MATH_ARITY and hasattr(math, name):
        return f"{text} is not in the language; write math.{name}"
    if getattr(function, "__module__", "") == "math":
        return f"{text} is not in the language, which has the math functions of C"
    return f"{text} is not in the language; call math functions, {', '.join(BUILTINS)} or a def of your own"


_BUILTINS: dict[str, Callable[[Scope, ast.Call], Any]] = {
    "abs": call_abs,
    "int": call_int,
    "float": call_float,
    "bool": call_bool,
    "len": linear.call_len,
}
