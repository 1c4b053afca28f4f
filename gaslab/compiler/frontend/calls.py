"""Values made by calls: Python's built-ins, the math module, the user's functions and methods."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

from gaslab import chance
from gaslab.compiler.frontend import list_words
from gaslab.compiler.frontend.arrays import temporary
from gaslab.compiler.frontend.checks import as_number, check_count, no_array, no_keywords
from gaslab.compiler.frontend.conditions import truth
from gaslab.compiler.frontend.convert import INT_MAX, INT_MIN, constant
from gaslab.compiler.frontend.declare import PHASES
from gaslab.compiler.frontend.dispatch import reads, value_of
from gaslab.compiler.frontend.draws import call_draw, check_order, note_draw, put_before
from gaslab.compiler.frontend.linear import (
    call_len,
    call_numpy,
    call_solve_spd,
    is_solve_spd,
    math_of_elements,
    numpy_word,
)
from gaslab.compiler.frontend.names import const_of, forward_of, nearest_only, parameter_names, unknown_name
from gaslab.compiler.frontend.operators import number_of
from gaslab.compiler.frontend.scope import MISSING, Scope
from gaslab.compiler.frontend.values import ArrayValue, as_value
from gaslab.compiler.tree import MATH_ARITY as ARITY
from gaslab.compiler.tree import (
    Assign,
    Binary,
    Call,
    CallHelper,
    Cast,
    Const,
    Expr,
    Forward,
    Local,
    element_of,
    is_list,
)
from gaslab.errors import ProgramError, nearest

BUILTINS = ("abs", "min", "max", "int", "float", "bool", "len")
_KNOWN = {getattr(builtins, name): name for name in BUILTINS}
_MATH = {getattr(math, name): name for name in ARITY if hasattr(math, name)}
_INSTEAD: dict[Any, str] = {
    print: "run with engine='reference' to print, or write to a field and read it from the result",
    breakpoint: "run with engine='reference' to stop here",
    sum: "add the values with +",
    round: "write math.floor(x + 0.5)",
    pow: "write x ** y",
    range: "it stands in `for i in range(...):` alone",
    divmod: "write a // b and a % b",
    any: "write a or b",
    all: "write a and b",
    isinstance: "the type of every value is known beforehand",
    str: "values are numbers",
    math.isclose: "write abs(a - b) <= tolerance",
}


@reads(ast.Call)
def call(scope: Scope, node: ast.Call) -> Any:
    callee = node.func
    if isinstance(callee, ast.Attribute):
        role = scope.role(callee.value)
        if role == "self" and callee.attr != "signal":
            return call_method(scope, node, callee)
        if role is not None:
            raise not_a_method(scope, callee)
    if not isinstance(callee, ast.Name | ast.Attribute):
        raise scope.error(callee, "only functions by name can be called")
    function = scope.lookup(callee)
    word = numpy_word(scope.lookup, callee)
    if word is not None:
        return call_numpy(scope, node, word or str(getattr(function, "__name__", "")))
    if function is MISSING:
        raise unknown_function(scope, callee)
    if _found(function, chance.WORDS):
        return call_draw(scope, node, chance.WORDS[function])
    if is_solve_spd(function):
        return call_solve_spd(scope, node)
    if _found(function, list_words.WORDS):
        return list_words.call(scope, node, list_words.WORDS[function])
    if function is len and len(node.args) == 1 and not node.keywords:
        value = value_of(scope, node.args[0])
        if is_list(value.type):
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
        hint = scope.did_you_mean(name, "define it in the module, or import it", BUILTINS, ARITY)
        return scope.error(callee, f"unknown function {name!r}{hint}")
    owner = scope.lookup(callee.value)
    if not inspect.ismodule(owner) and not inspect.isclass(owner):
        return unknown_name(scope, callee)
    hint = nearest_only(callee.attr, list(ARITY) if owner is math else dir(owner))
    return scope.name_error(callee, f"{ast.unparse(callee.value)} has no function {callee.attr!r}{hint}")


def not_a_method(scope: Scope, callee: ast.Attribute) -> ProgramError:
    if callee.attr == "signal":
        return scope.name_error(callee, "signal() gives no value; write it on a line of its own")
    return scope.name_error(callee, f"{ast.unparse(callee)} cannot be called; nbr.signal() in scatter can")


def least_or_largest(scope: Scope, node: ast.Call, name: str) -> Expr:
    """``min(a, b, c)`` is ``min(min(a, b), c)``, in Python's order of comparisons."""
    if len(node.args) < 2:
        raise scope.error(node, f"{name} needs two values or more; write {name}(a, b)")
    values = [value_of(scope, argument) for argument in node.args]
    for value, argument in zip(values, node.args, strict=True):
        no_array(scope, value, argument, name)
    result: Expr = values[0]
    for value, argument in zip(values[1:], node.args[1:], strict=True):
        result, value, kind = scope.join(result, value, argument)
        result = Call(name, (result, value), kind)
    return result


def call_abs(scope: Scope, node: ast.Call) -> Any:
    argument = value_of(scope, node.args[0])
    if isinstance(argument, ArrayValue):
        return math_of_elements(scope, node, "abs", argument)
    value = as_number(scope, argument, node.args[0], "abs of")
    value = scope.widened(value, "int") if value.type == "bool" else value
    return Call("abs", (value,), element_of(value.type))


def call_int(scope: Scope, node: ast.Call) -> Expr:
    return cut_to_int(scope, number_of(scope, node.args[0], "int of"), node)


def cut_to_int(scope: Scope, value: Expr, node: ast.AST) -> Expr:
    """Return *value* cut off to an int; out of int64's range is a fault of this line."""
    if value.type != "float":
        return scope.widened(value, "int")
    if isinstance(value, Const) and math.isfinite(value.value) and INT_MIN <= value.value <= INT_MAX:
        return const_of(scope, int(value.value), node)
    return Cast(value, "int", scope.site(node))


def call_float(scope: Scope, node: ast.Call) -> Expr:
    argument = node.args[0]
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        try:
            return Const(float(argument.value), "float")  # float("inf") is a common way to write it
        except ValueError:
            raise scope.error(argument, f"{argument.value!r} is no number; write one") from None
    return scope.widened(number_of(scope, argument, "float of"), "float")


def call_bool(scope: Scope, node: ast.Call) -> Expr:
    return truth(scope, node.args[0])


def call_math(scope: Scope, node: ast.Call, name: str) -> Expr:
    no_keywords(scope, node, f"math.{name}")
    check_count(scope, node, f"math.{name}", *ARITY[name])
    values = [number_of(scope, argument, f"math.{name} of") for argument in node.args]
    if name in ("floor", "ceil", "trunc"):
        if values[0].type != "float" or name == "trunc":
            return cut_to_int(scope, values[0], node)
        return cut_to_int(scope, Call(f"math.{name}", (values[0],), "float"), node)
    if name == "ldexp":
        exponent = scope.fit(values[1], "int", node.args[1], "the exponent of ldexp")
        return Call("math.ldexp", (scope.widened(values[0], "float"), exponent), "float")
    arguments = tuple(scope.widened(value, "float") for value in values)
    if name in ("degrees", "radians"):
        factor = 180.0 / math.pi if name == "degrees" else math.pi / 180.0
        return Binary("*", arguments[0], Const(factor, "float"), "float")
    if name == "log" and len(arguments) == 2:
        logs = [Call("math.log", (argument,), "float") for argument in arguments]
        return Binary("/", logs[0], logs[1], "float")
    return Call(f"math.{name}", arguments, "bool" if name.startswith("is") else "float")


def call_method(scope: Scope, node: ast.Call, callee: ast.Attribute) -> Any:
    declared, name = scope.unit.declared, callee.attr
    if name in PHASES:
        raise scope.name_error(
            callee, f"self.{name} is called by the engine; move what both need into a method"
        )
    if name in declared.aggregators or name in parameter_names(scope):
        raise scope.name_error(callee, f"self.{name} is a value, not a method; write self.{name}")
    function = declared.functions.get(name)
    if function is None:
        known = [n for n in declared.functions if n not in PHASES and n not in declared.aggregators]
        raise scope.name_error(
            callee, f"{declared.cls.__name__} has no method {name!r}{nearest(name, known)}"
        )
    if name in declared.static:
        return call_helper(scope, node, function, None)
    first = function.__code__.co_varnames[: function.__code__.co_argcount][:1]
    if not first:
        raise scope.name_error(callee, f"{name} takes no parameters; write def {name}(self)")
    return call_helper(scope, node, function, first[0])


def call_helper(scope: Scope, node: ast.Call, function: FunctionType, me: str | None) -> Any:
    """Call a function of the user's, made for these types; *me* is a method's first parameter.

    What the helper reads of the vertex, the edge or the program stands behind its arguments.
    """
    arguments: dict[str, Expr | str] = {me: "self"} if me else {}
    for name, argument in bound_arguments(scope, node, function, me is not None).items():
        role = scope.role(argument) if isinstance(argument, ast.expr) else None
        if role is not None:
            arguments[name] = role
        elif isinstance(argument, ast.expr):
            value = value_of(scope, argument)
            arguments[name] = in_local(scope, value, argument) if isinstance(value, ArrayValue) else value
        else:
            number = constant(argument)
            if number is None:
                raise scope.error(
                    node, f"the default of {name!r} in {function.__name__} is no number; give it"
                )
            arguments[name] = const_of(scope, number, node)
    helper = scope.unit.helpers.special(function, arguments, scope, node)
    values = [value for value in arguments.values() if not isinstance(value, str)]
    read = (forward_of(scope, node) if x == Forward() else scope.access(x, node) for x in helper.hidden)
    hidden = [as_value(x) for x in read]
    hidden = [in_local(scope, x, node) if isinstance(x, ArrayValue) else x for x in hidden]
    if "self.draws" in helper.reads:
        note_draw(scope, node)
    index = scope.unit.helpers.place(helper) if scope.final else -1
    assert helper.result is not None  # every path of a helper returns
    if node.keywords:
        check_order(scope, node, values)
    call = CallHelper(index, (*values, *hidden), helper.result)
    if isinstance(helper.result, str):
        return call
    target = scope.new_local("_array", helper.result, node)
    put_before(scope, [Assign(target, call, scope.site(node))], node)
    return target


def in_local(scope: Scope, value: ArrayValue, node: ast.AST) -> Local:
    """Return a local that holds *value*, as helpers are given arrays."""
    return value.place if isinstance(value.place, Local) else temporary(scope, value, node)


def bound_arguments(scope: Scope, node: ast.Call, function: FunctionType, is_method: bool) -> dict[str, Any]:
    """Return the argument (a syntax node, or a default's value) of each parameter, in order."""
    name = function.__name__
    signature = _signature(function)
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise scope.error(node, f"{name} takes any number of arguments; give it a fixed number")
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            raise scope.error(argument, "`*` cannot stand here; write the values one by one")
    for keyword in node.keywords:
        if keyword.arg is None:
            raise scope.error(keyword.value, "`**` cannot stand here; write the values one by one")
    keywords = {str(keyword.arg): keyword.value for keyword in node.keywords}
    try:
        bound = signature.bind(*[None] * is_method, *node.args, **keywords)
    except TypeError as error:
        raise scope.error(node, f"{name} cannot be called like this: {error}") from None
    bound.apply_defaults()
    return {n: a for k, (n, a) in enumerate(bound.arguments.items()) if k or not is_method}


def _signature(function: FunctionType) -> inspect.Signature:
    """Return the signature without annotations, which may name what exists for type checkers alone."""
    code, kinds = function.__code__, inspect.Parameter
    positional, defaults = code.co_argcount, function.__defaults__ or ()
    keywords = positional + code.co_kwonlyargcount
    values = dict(zip(reversed(code.co_varnames[:positional]), reversed(defaults), strict=False))
    values.update(function.__kwdefaults__ or {})
    parameters = []
    for k, name in enumerate(code.co_varnames[:keywords]):
        by_name = kinds.POSITIONAL_OR_KEYWORD if k < positional else kinds.KEYWORD_ONLY
        kind = kinds.POSITIONAL_ONLY if k < code.co_posonlyargcount else by_name
        parameters.append(kinds(name, kind, default=values.get(name, kinds.empty)))
    if code.co_flags & inspect.CO_VARARGS:
        parameters.insert(positional, kinds(code.co_varnames[keywords], kinds.VAR_POSITIONAL))
    if code.co_flags & inspect.CO_VARKEYWORDS:
        last = keywords + bool(code.co_flags & inspect.CO_VARARGS)
        parameters.append(kinds(code.co_varnames[last], kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


def _found(function: Any, table: dict[Any, str]) -> bool:
    try:
        return function in table
    except TypeError:  # not hashable
        return False


def _of_gaslab(function: FunctionType) -> bool:
    """Return whether *function* is gaslab's own, such as gl.field, and no program's."""
    package, _, rest = function.__module__.partition(".")
    return package == "gaslab" and rest.split(".")[0] not in ("", "programs")


def _why_not(function: Any, text: str) -> str:
    """Return why an object that is known cannot be called, and what to write."""
    name = getattr(function, "__name__", "")
    if _found(function, _INSTEAD):
        return f"{text} is not in the language; {_INSTEAD[function]}"
    if not callable(function):
        return f"{text!r} is of type {type(function).__name__} and cannot be called"
    if hasattr(function, "__wrapped__"):
        return f"{text} is wrapped by a decorator, which is not in the language; call a plain def"
    if name in ARITY and hasattr(math, name):
        return f"{text} is not in the language; write math.{name}"
    if getattr(function, "__module__", "") == "math":
        return f"{text} is not in the language, which has the math functions of C"
    return f"{text} is not in the language; call math functions, {', '.join(BUILTINS)} or a def of your own"


_BUILTINS: dict[str, Callable[[Scope, ast.Call], Any]] = {
    "abs": call_abs,
    "int": call_int,
    "float": call_float,
    "bool": call_bool,
    "len": call_len,
}
