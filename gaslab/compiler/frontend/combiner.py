"""Combiners of gathered values, messages and aggregates, read from annotations."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from gaslab import program
from gaslab.arguments import one_of, shown
from gaslab.compiler import tree as t
from gaslab.compiler.frontend.annotations import (
    is_by_key,
    keyed_combiner,
    pair_combiner,
    pair_operation,
    parts_of_pair,
    storage_of,
)
from gaslab.compiler.frontend.field_declarations import Declaration, Sizes, parts
from gaslab.compiler.frontend.lists import of_tuples, refused_elements
from gaslab.compiler.frontend.precision import too_wide
from gaslab.compiler.frontend.source import FunctionSource, class_source, function_source
from gaslab.language.annotations import Namespace, closure_of, evaluate, mark_of, namespace_of, without_none

_CHOICES = "gl.Sum[...], gl.Min[...] or gl.Max[...]"


def is_count(cls: type, source: FunctionSource) -> bool:
    """Whether the value of a method is ``gl.Count``."""
    node = source.node.returns
    annotation = annotation_value(cls, source, "return", node) if node is not None else None
    annotation = without_none(annotation)
    mark = mark_of(annotation, program.Combine)
    return mark is not None and mark.op == "count"


def combiner(
    cls: type, source: FunctionSource, name: str, sizes: Sizes, collects: bool = False
) -> t.Combiner:
    """Return the combiner that annotates parameter *name* of a method, or its ``"return"``.

    If *collects*, it may be a list, a sorted set or a total by key.
    """
    method, arguments = source.node.name, source.arguments
    if name == "return":
        at: ast.AST = source.node
        node, what, example = source.node.returns, f"{method}'s value", "-> gl.Sum[float]"
    else:
        at = argument = next(a for a in arguments if a.arg == name)
        node, what, example = argument.annotation, f"{method}'s {name}", f"{name}: gl.Min[float]"
    if node is None:
        raise source.error(at, f"{what} has no combiner; annotate it with {_CHOICES}, as in {example}")
    annotation = annotation_value(cls, source, name, node)
    if name == "return":
        annotation = without_none(annotation)
    if inspect.isclass(annotation) and issubclass(annotation, program.Accumulator):
        return accumulator(cls, annotation, sizes)
    if (wide := too_wide(cls, [annotation], what)) is not None:
        raise source.error(node, wide)
    if pair_operation(annotation):
        return pair_combiner(annotation, source.file.site(node), lambda text: source.error(node, text))
    if is_by_key(annotation):
        if not collects or name == "message":
            raise source.error(node, f"{what} is a total by key, which only gather makes; write {_CHOICES}")
        return keyed_combiner(annotation, lambda text: source.error(node, text))
    storage = storage_of(annotation)
    if storage is not None and t.is_list(storage):
        if not collects:
            raise source.error(node, f"{what} is a list, as only gathers and messages are; write {_CHOICES}")
        if (why := refused_elements(storage)) is not None:
            raise source.error(node, why)
        if t.element_storage(storage) in t.TUPLES and name != "message":
            text = f"{what} is a list of tuples, which only messages are; gl.SumBy[int, float] sums by key"
            raise source.error(node, text)
        return t.Combiner(storage.partition(":")[0], t.element_storage(storage))
    if (why := of_tuples(annotation)) is not None:
        if name == "message":
            why = "a list of tuples; they have two to four members of int, float, gl.float32 or gl.VertexId"
        raise source.error(node, f"{what} is {why}")
    mark = mark_of(annotation, program.Combine)
    if mark is None:
        raise source.error(node, f"{what} has no combiner; write {_CHOICES}, as in {example}")
    if storage is None:
        raise source.error(
            node,
            f"{what} combines one number; write {_CHOICES}, as in {example}, or return a gl.Accumulator, "
            "whose parts may be vectors",
        )
    return t.Combiner(checked(mark.op, storage, lambda text: source.error(node, text)), storage)


def checked(op: str, storage: str, error: Callable[[str], Exception]) -> str:
    """Return the tree's operation for a mark; raises if the type has no such operation."""
    kind, row = t.STORAGE[storage][0], t.OPERATIONS.get(op)
    known = [row.name for row in t.OPERATIONS.values() if row.is_scalar]
    if row is None or (row.same_as or op) not in known:
        raise error(f"combine={shown(op)} is unknown; write {one_of(f'gl.{name.upper()}' for name in known)}")
    for one in (row, t.OPERATIONS[row.same_as or op]):
        if kind not in one.types:
            raise error(one.instead[kind])
    return one.name


def accumulator(cls: type, total: type, sizes: Sizes) -> t.RecordCombiner:
    """Return an accumulator with the parts that the class declares."""
    declared = parts(cls, total, sizes)
    if not declared:
        raise class_source(cls).error(None, f"{total.__name__} has no parts; write one: count: int")
    if merged(cls) is total:
        return t.RecordCombiner(t.OWN, "record", name=total.__name__, parts=tuple(map(own_part, declared)))
    found: list[t.Part] = []
    for one in declared:
        variable = one.variable
        if pair_operation(one.annotation):
            if (wide := too_wide(cls, [one.annotation], f"part {variable.name!r}")) is not None:
                raise one.error(wide)
            found += parts_of_pair(variable.name, one.annotation, variable.site, one.error)
            continue
        op = checked(one.op, variable.storage, one.error)
        if variable.default is not t.REQUIRED and variable.default:
            raise one.error(f"part {variable.name!r} starts from the combiner's identity; remove the default")
        found.append(t.Part(variable.name, t.Combiner(op, variable.storage), variable.shape, variable.site))
    return t.RecordCombiner("record", "record", name=total.__name__, parts=tuple(found))


def own_part(one: Declaration) -> t.Part:
    """Return a part of an accumulator that the program's merge combines."""
    name, start = one.variable.name, one.variable.default
    if one.op != "sum" or mark_of(one.annotation, program.Combine) is not None:
        raise one.error(f"merge defines how {name!r} combines; write only its type and a default")
    if start is t.REQUIRED:
        raise one.error(f"merge starts from the parts' defaults and {name!r} has none; write {name}: ... = 0")
    if not isinstance(start, float | int):
        raise one.error(f"part {name!r} starts from a number; write one")
    return t.Part(name, t.Combiner(t.OWN, one.variable.storage, start), one.variable.shape, one.variable.site)


def merged(cls: type) -> type | None:
    """Return the accumulator of the program's ``merge``; None if it has none."""
    function = getattr(cls, "merge", None)
    if not isinstance(function, FunctionType):
        return None
    source, names = function_source(function), function.__code__.co_varnames[: function.__code__.co_argcount]
    nodes = {a.arg: a.annotation for a in source.arguments} | {"return": source.node.returns}
    meant = [
        annotation_value(cls, source, name, node)
        for name in (*names[1:], "return")
        if (node := nodes[name]) is not None
    ]
    totals = [one for one in meant if inspect.isclass(one) and issubclass(one, program.Accumulator)]
    if not totals:
        return None  # an ordinary method
    name = totals[0].__name__
    if len(names) != 3 or len(totals) != 3 or len(set(totals)) > 1:
        write = f"def merge(self, a: {name}, b: {name}) -> {name}"
        raise source.error(source.node, f"merge makes one {name} of two; write {write}")
    return totals[0]


def annotation_value(cls: type, source: FunctionSource, name: str, node: ast.expr) -> Any:
    """Return the meaning of the annotation *node* of parameter *name* (or ``"return"``) of a method."""
    function = source.function
    try:
        written = function.__annotations__.get(name)
    except NameError:  # Python 3.14 evaluates it only now, and fails for an unknown name
        written = None
    if written is not None and not isinstance(written, str):
        return written
    scopes = [closure_of(function), *map(vars, cls.__mro__), function.__globals__]
    return evaluate(written or ast.unparse(node), Namespace(*scopes, namespace_of(cls)))
