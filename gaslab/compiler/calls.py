"""Calls in expressions: Python's built-ins, the math module, helpers and methods."""

from __future__ import annotations

import ast
import inspect
import math
from types import FunctionType
from typing import Any

from gaslab.compiler.declare import PHASES, constant
from gaslab.compiler.frame import MISSING
from gaslab.compiler.tree import Binary, Call, CallHelper, Cast, Const, Expr
from gaslab.compiler.values import Values, near
from gaslab.errors import nearest

_ONE = (
    "acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 expm1 fabs gamma lgamma log10 log1p "
    "log2 sin sinh sqrt tan tanh"
)
ARITY = {
    **dict.fromkeys(_ONE.split(), (1, 1)),
    **dict.fromkeys(["atan2", "copysign", "fmod", "hypot", "ldexp", "nextafter", "pow", "remainder"], (2, 2)),
    **dict.fromkeys(["degrees", "radians", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite"], (1, 1)),
    "fma": (3, 3),
    "log": (1, 2),
}
MATH = {getattr(math, name): name for name in ARITY if hasattr(math, name)}
BUILTINS = ("abs", "min", "max", "int", "float", "bool")
INSTEAD: dict[Any, str] = {
    print: "print is not in the language; write to a field, read it from the result",
    sum: "sum is not in the language; add the values up with +",
    len: "len is not in the language; v.degree counts edges, self.num_vertices vertices",
    round: "round is not in the language; write math.floor(x + 0.5)",
    pow: "pow is not in the language; write x ** y",
    range: "range stands only in `for i in range(...):`",
    divmod: "divmod is not in the language; write a // b and a % b",
    any: "any is not in the language; write a or b",
    all: "all is not in the language; write a and b",
    isinstance: "isinstance is not in the language; every value's type is known beforehand",
    str: "text is not in the language; use numbers",
    math.isclose: "math.isclose is not in the language; write abs(a - b) <= tolerance",
}


class Calls(Values):
    """Adds calls to the values of one function."""

    def value_Call(self, node: ast.Call) -> Expr:
        callee = node.func
        if isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Name):
            role = self.entities.get(callee.value.id)
            if role == "self":
                return self.call_method(node, callee)
            if role is not None:
                raise self.refused_signal(callee, role)
        function = self.lookup(callee)
        text = ast.unparse(callee)
        if function is MISSING:
            if isinstance(callee, ast.Name) and callee.id in self.names | set(self.entities):
                raise self.error(
                    callee, f"{text!r} is a local, not a function; call a function of the module"
                )
            known = [*self.known_names(), *BUILTINS]
            if isinstance(callee, ast.Attribute) and inspect.ismodule(self.lookup(callee.value)):
                known = [f"{ast.unparse(callee.value)}.{n}" for n in ARITY]
            raise self.error(callee, f"unknown function {text!r}" + near(text, known))
        if isinstance(function, FunctionType):
            return self.call_helper(node, function, {})
        if not isinstance(function, type | FunctionType) and getattr(function, "__hash__", None) is None:
            raise self.error(callee, f"{text!r} is no function")
        if function in MATH:
            return self.call_math(node, MATH[function])
        for name in BUILTINS:
            if function is getattr(__builtins__, name, None) or function is _BUILTIN[name]:
                method = getattr(self, f"call_{name}")
                self.no_keywords(node, name)
                result: Expr = method(node)
                return result
        raise self.error(callee, self.why_not(function, text))

    def why_not(self, function: Any, text: str) -> str:
        """Return why an object that is known cannot be called, and what to write."""
        if function in INSTEAD:
            return INSTEAD[function]
        name = getattr(function, "__name__", "")
        if name in ARITY and hasattr(math, name):
            return f"{text} is not in the language; write math.{name}"
        if getattr(function, "__module__", "") == "math":
            return f"{text} is not in the language; the math functions in it are those C has"
        if hasattr(function, "__wrapped__"):
            return f"{text} is wrapped by a decorator; call a plain def"
        if not callable(function):
            return f"{text!r} is of type {type(function).__name__} and cannot be called"
        return (
            f"{text} is not in the language; call math functions, {', '.join(BUILTINS)} or a def of your own"
        )

    def no_keywords(self, node: ast.Call, name: str) -> None:
        for keyword in node.keywords:
            raise self.error(keyword.value, f"{name} takes no keywords here; write the arguments in order")

    def count(self, node: ast.Call, name: str, low: int, high: int) -> None:
        """Raise unless the call has *low* to *high* arguments."""
        if not low <= len(node.args) <= high:
            wanted = str(low) if low == high else f"{low} or {high}"
            plural = "s" if wanted != "1" else ""
            raise self.error(node, f"{name} takes {wanted} argument{plural} but gets {len(node.args)}")

    # ---- Python's built-ins

    def call_abs(self, node: ast.Call) -> Expr:
        self.count(node, "abs", 1, 1)
        value = self.number(node.args[0], "abs of")
        value = self.widened(value, "int") if value.type == "bool" else value
        return Call("abs", (value,), value.type)

    def call_min(self, node: ast.Call) -> Expr:
        return self.extreme(node, "min")

    def call_max(self, node: ast.Call) -> Expr:
        return self.extreme(node, "max")

    def extreme(self, node: ast.Call, name: str) -> Expr:
        """``min(a, b, c)`` is ``min(min(a, b), c)``, in Python's order of comparisons."""
        if len(node.args) < 2:
            raise self.error(node, f"{name} needs two values or more; write {name}(a, b)")
        values = [self.value(argument) for argument in node.args]
        result = values[0]
        for value, argument in zip(values[1:], node.args[1:], strict=True):
            result, value, type = self.join(result, value, argument)
            result = Call(name, (result, value), type)
        return result

    def call_int(self, node: ast.Call) -> Expr:
        self.count(node, "int", 1, 1)
        value = self.number(node.args[0], "int of")
        return self.whole(value, node)

    def whole(self, value: Expr, node: ast.AST) -> Expr:
        """Return *value* cut off to an int; out of int64's range is a fault of this line."""
        if value.type == "float":
            return Cast(value, "int", self.site(node))
        return self.widened(value, "int")

    def call_float(self, node: ast.Call) -> Expr:
        self.count(node, "float", 1, 1)
        argument = node.args[0]
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            try:
                return Const(float(argument.value), "float")  # float("inf") is a common way to write it
            except ValueError:
                raise self.error(argument, f"{argument.value!r} is no number") from None
        return self.widened(self.number(argument, "float of"), "float")

    def call_bool(self, node: ast.Call) -> Expr:
        self.count(node, "bool", 1, 1)
        return self.truth(node.args[0])

    # ---- math

    def call_math(self, node: ast.Call, name: str) -> Expr:
        self.no_keywords(node, f"math.{name}")
        self.count(node, f"math.{name}", *ARITY[name])
        values = [self.number(a, f"math.{name} of") for a in node.args]
        if name in ("floor", "ceil", "trunc"):
            if values[0].type != "float":
                return self.widened(values[0], "int")
            return self.whole(
                values[0] if name == "trunc" else Call(f"math.{name}", (values[0],), "float"), node
            )
        if name == "ldexp":
            exponent = self.fit(values[1], "int", node.args[1], "ldexp's exponent")
            return Call("math.ldexp", (self.widened(values[0], "float"), exponent), "float")
        arguments = tuple(self.widened(v, "float") for v in values)
        if name in ("degrees", "radians"):
            factor = 180.0 / math.pi if name == "degrees" else math.pi / 180.0
            return Binary("*", arguments[0], Const(factor, "float"), "float")
        if name == "log" and len(arguments) == 2:
            logs = [Call("math.log", (a,), "float") for a in arguments]
            return Binary("/", logs[0], logs[1], "float")
        return Call(f"math.{name}", arguments, "bool" if name.startswith("is") else "float")

    # ---- helpers and methods

    def call_method(self, node: ast.Call, callee: ast.Attribute) -> Expr:
        declared, name = self.unit.declared, callee.attr
        if name in declared.aggregators:
            raise self.error(callee, f"self.{name} is a value, not a method; write self.{name}")
        if name not in declared.functions:
            known = [n for n in declared.functions if n not in PHASES and n not in declared.aggregators]
            if constant(getattr(declared.cls, name, None)) is not None or name in {
                p.name for p in declared.params
            }:
                raise self.error(callee, f"self.{name} is a value, not a method; write self.{name}")
            raise self.error(callee, f"{declared.cls.__name__} has no method {name!r}" + nearest(name, known))
        if name in PHASES:
            raise self.error(
                callee, f"self.{name} is called by the engine; move what both need into a method"
            )
        function = declared.functions[name]
        if name in declared.static:
            return self.call_helper(node, function, {})
        first = function.__code__.co_varnames[:1]
        return self.call_helper(node, function, {first[0]: "self"} if first else {})

    def call_helper(self, node: ast.Call, function: FunctionType, bound: dict[str, str]) -> Expr:
        """Call a function of the user's, made for these types of arguments; *bound* is a method's self."""
        given: dict[str, Expr | str] = dict(bound)
        for name, argument in self.bind(node, function, bool(bound)).items():
            if isinstance(argument, ast.Name) and argument.id in self.entities:
                given[name] = self.entities[argument.id]
            elif isinstance(argument, ast.expr):
                given[name] = self.value(argument)
            else:
                number = constant(argument)
                if number is None:
                    raise self.error(
                        node, f"the default of {name!r} in {function.__name__} is no number; pass it"
                    )
                given[name] = self.const(number, node)
        helper = self.unit.helpers.special(function, given, self, node)
        values = [v for v in given.values() if not isinstance(v, str)]
        arguments = [self.widened(v, t) for v, t in zip(values, helper.parameters.values(), strict=True)]
        hidden = [self.access(value) for value in helper.hidden]
        assert helper.result is not None  # every path of a helper returns
        index = self.unit.helpers.place(helper) if self.final else -1
        return CallHelper(index, (*arguments, *hidden), helper.result)

    def bind(self, node: ast.Call, function: FunctionType, method: bool) -> dict[str, Any]:
        """Return the argument (a syntax node, or a default's value) of each parameter, in order."""
        name = function.__name__
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                raise self.error(argument, "`*` cannot stand here; write the values one by one")
        signature = inspect.signature(function)
        for parameter in signature.parameters.values():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise self.error(node, f"{name} takes any number of arguments; give it a fixed number")
        if any(k.arg is None for k in node.keywords):
            raise self.error(node, "`**` cannot stand here; write the arguments one by one")
        try:
            head = (None,) if method else ()
            bound = signature.bind(*head, *node.args, **{str(k.arg): k.value for k in node.keywords})
        except TypeError as error:
            raise self.error(node, f"{name} cannot be called like this: {error}") from None
        bound.apply_defaults()
        return {n: a for k, (n, a) in enumerate(bound.arguments.items()) if k or not method}

    def refused_signal(self, callee: ast.Attribute, role: str) -> Exception:
        """Return the error for a call on v, nbr or e where a value is wanted."""
        if callee.attr != "signal":
            return self.error(
                callee, f"{ast.unparse(callee)} is not a method; only nbr.signal() is called in scatter"
            )
        return self.error(callee, "signal() gives no value; write it on a line of its own")


_BUILTIN = {"abs": abs, "min": min, "max": max, "int": int, "float": float, "bool": bool}
