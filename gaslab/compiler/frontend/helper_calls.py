"""Calls of the user's own functions and methods, which become helpers."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.arrays import temporary
from gaslab.compiler.frontend.convert import constant
from gaslab.compiler.frontend.declare import PHASES
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.draws import check_order, note_draw, put_before
from gaslab.compiler.frontend.names import const_of, forward_of, parameter_names
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.values import ArrayValue, Place, as_value
from gaslab.errors import nearest


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
    """Call a user's function, compiled for these types; *me* is a method's first parameter.

    The values that the helper reads from the vertex, the edge or the program follow its arguments.
    """
    arguments: dict[str, t.Expr | str] = {me: "self"} if me else {}
    given = bound_arguments(scope, node, function, me is not None)
    for name, argument in given.items():
        role = scope.role(argument) if isinstance(argument, ast.expr) else None
        if role is not None:
            arguments[name] = role
        elif isinstance(argument, ast.expr):
            value = value_of(scope, argument)
            arguments[name] = in_place(scope, value, argument) if isinstance(value, ArrayValue) else value
        else:
            number = constant(argument)
            if number is None:
                raise scope.error(
                    node, f"the default of {name!r} in {function.__name__} is not a number; give it"
                )
            arguments[name] = const_of(scope, number, node)
    helper = scope.unit.helpers.special(function, arguments, scope, node)
    values = [value for value in arguments.values() if not isinstance(value, str)]
    read = (forward_of(scope, node) if x == t.Forward() else scope.access(x, node) for x in helper.hidden)
    hidden = [as_value(x) for x in read]
    hidden = [in_place(scope, x, node) if isinstance(x, ArrayValue) else x for x in hidden]
    if "self.draws" in helper.reads:
        note_draw(scope, node)
    index = scope.unit.helpers.place(helper) if scope.final else -1
    assert helper.result is not None  # every path of a helper returns
    check_order(scope, node, given.values(), values)
    call = t.CallHelper(index, (*values, *hidden), helper.result)
    if isinstance(helper.result, str):
        return call
    target = scope.new_local("_array", helper.result, node)
    put_before(scope, [t.Assign(target, call, scope.site(node))], node)
    return target


def in_place(scope: Scope, value: ArrayValue, node: ast.AST) -> Place:
    """Return *value* in memory: helpers, which only read, take arrays by reference."""
    place = value.place
    if place is None or (isinstance(place, t.PartOf) and not place.record.startswith("self")):
        return temporary(scope, value, node)  # parts of a total or a message may be stored narrower than read
    return place


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
    """Return the signature without annotations, whose names may exist only for type checkers."""
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
