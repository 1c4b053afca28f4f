"""The methods of a program: phases and aggregators, their parameters and rules."""

from __future__ import annotations

import ast

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.annotations import (
    is_total_of,
    is_type_of,
    keyed_text,
    storage_of,
    type_text,
)
from gaslab.compiler.frontend.body import build_function, infer_types
from gaslab.compiler.frontend.combiner import annotation_value
from gaslab.compiler.frontend.declare import Declared, parameters_of
from gaslab.compiler.frontend.precision import storage_in
from gaslab.compiler.frontend.records import is_accumulator
from gaslab.compiler.frontend.scope import Scope, Unit
from gaslab.compiler.frontend.source import FunctionSource
from gaslab.errors import ProgramError

_RETURNS = {"start": "bool", "active": "bool", "gather_edges": "int", "scatter_edges": "int"}
_ROLES = {
    "init": ("self", "v"),
    "start": ("self", "v"),
    "active": ("self", "v"),
    "visit": ("self", "v", "e", "nbr"),
    "gather": ("self", "v", "e", "nbr"),
    "scatter": ("self", "v", "e", "nbr"),
    "done": ("self",),
}


class MethodScope(Scope):
    """A phase or an aggregator."""

    def returned(self, value: t.Expr, node: ast.AST) -> t.Expr:
        """Return *value* in the type that this function returns."""
        if self.counts:
            value = self.fit(value, "bool", node, f"{self.source.node.name}'s value")
        return super().returned(value, node)

    def canonical(self, name: str) -> str:
        """The scalars of apply and of merge have the same names in every tree."""
        if self.name == "merge":
            return "ab"[list(self.parameters).index(name)]
        return "message" if name == "message" else "total"

    def access(self, value: t.Expr, node: ast.AST) -> t.Expr:
        """Return *value*; raises if an aggregate has no value yet."""
        if isinstance(value, t.Aggregate):
            if self.name == "merge":
                raise self.name_error(
                    node, f"merge cannot read aggregator {value.name!r}; it has a, b and parameters"
                )
            if self.name == "init":
                raise self.name_error(
                    node, f"self.{value.name} has no value yet; aggregators are computed after init"
                )
            if self.name in self.unit.declared.aggregators:
                raise self.name_error(
                    node, f"an aggregator cannot read aggregator {value.name!r}; compute it from v's fields"
                )
        return super().access(value, node)


def method(unit: Unit, name: str) -> t.Function:
    """Return phase or aggregator *name* as a tree."""
    declared = unit.declared
    source = declared.source(name)
    entities, parameters = entities_of(source, name, declared)
    combiner = declared.gather if name == "gather" else declared.aggregators.get(name)
    if name == "merge":
        combiner = declared.own
    returns = combiner.type if combiner else _RETURNS.get(name)
    if isinstance(combiner, t.RecordCombiner) and name in declared.aggregators:
        for part in combiner.parts:
            if part.shape and part.combiner.type == "bool":
                raise source.error(
                    source.node, f"part {part.name!r} of an aggregate holds bools; write dtype=int"
                )
    scope = MethodScope(unit, source, name, entities, parameters, returns)
    scope.counts = name in declared.counts
    scope.contributes = combiner if name != "merge" else None
    infer_types(scope)
    return build_function(scope)


def is_over_edges(declared: Declared, name: str) -> bool:
    """Return whether *name* is an aggregator over edges, which takes ``(self, v, e, nbr)``."""
    return name in declared.aggregators and len(parameters_of(declared.functions[name])) == 4


def entities_of(
    source: FunctionSource, name: str, declared: Declared
) -> tuple[dict[str, str], dict[str, t.Type]]:
    """Return the roles of a method's parameters, and the types of apply's scalars."""
    if name in declared.static:
        raise source.error(source.node, f"{name} is a static method; write def {_signature(name, declared)}")
    node, parameters = source.node, parameters_of(source.function)
    if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.args.defaults:
        raise source.error(
            node, f"{node.name} takes plain parameters; write def {_signature(name, declared)}"
        )
    if name == "merge":
        return {parameters[0]: "self"}, dict.fromkeys(parameters[1:], t.RECORD)
    if name == "apply":
        return _of_apply(source, parameters, declared)
    if name == "init_message" and len(parameters) == 3 and parameters[2] == "message":
        assert declared.message is not None
        return {parameters[0]: "self", parameters[1]: "v"}, {"message": declared.message.total}
    roles = _ROLES.get(name, ("self", "v"))
    if is_over_edges(declared, name):
        roles = _ROLES["gather"]
    if len(parameters) != len(roles):
        raise source.error(
            node, f"{node.name} has {_count(parameters)}; write def {_signature(name, declared)}"
        )
    return dict(zip(parameters, roles, strict=True)), {}


def _of_apply(
    source: FunctionSource, parameters: tuple[str, ...], declared: Declared
) -> tuple[dict[str, str], dict[str, t.Type]]:
    scalars: dict[str, t.Combiner] = {}
    message = declared.message is not None and "init_message" not in declared.functions
    wanted = 2 + (declared.gather is not None) + message
    if len(parameters) != wanted or "message" in parameters[:2] or "message" in parameters[2:-1]:
        raise _wrong_apply(source, parameters, declared)
    for parameter in parameters[2:]:
        combiner = declared.message if parameter == "message" else declared.gather
        assert combiner is not None
        scalars[parameter] = combiner
        annotation = next(a.annotation for a in source.arguments if a.arg == parameter)
        if annotation is not None and parameter != "message":
            meant = annotation_value(declared.cls, source, parameter, annotation)
            if isinstance(combiner, t.RecordCombiner) and combiner.is_pair:
                if not is_type_of(meant, combiner):
                    write = f"{parameter}: {type_text(combiner)}"
                    raise source.error(annotation, f"gather gives a pair; write {write}")
                continue
            if isinstance(combiner, t.RecordCombiner) and is_accumulator(meant):
                continue
            if isinstance(combiner, t.KeyedCombiner):
                if not is_total_of(meant, combiner):
                    write = f"{parameter}: {keyed_text(combiner)}"
                    raise source.error(annotation, f"gather gives a total by key; write {write}")
                continue
            storage = storage_of(meant)
            if storage is None or t.STORAGE[storage_in(storage, declared.precision)][0] != combiner.total:
                text = ast.unparse(annotation)
                raise source.error(
                    annotation,
                    f"{parameter!r} is {text} but gather gives {t.named(combiner.total)}; make them agree",
                )
    return {parameters[0]: "self", parameters[1]: "v"}, {
        name: combiner.total for name, combiner in scalars.items()
    }


def _wrong_apply(source: FunctionSource, parameters: tuple[str, ...], declared: Declared) -> ProgramError:
    write = f"write def {_signature('apply', declared)}"
    if declared.gather is not None and parameters[2:] in ((), ("message",)):
        return source.error(source.node, f"{source.node.name} does not take what gather gives; {write}")
    if declared.gather is None and len(parameters) > 2 and parameters[2] != "message":
        argument = source.arguments[2]
        return source.error(
            argument, f"{source.node.name} takes {parameters[2]!r} but there is no gather to give it; {write}"
        )
    return source.error(source.node, f"{source.node.name} has {_count(parameters)}; {write}")


def _signature(name: str, declared: Declared) -> str:
    """Return a method's required signature, for errors."""
    parameters = ("self", "u", "e", "w") if name == "visit" else _ROLES.get(name, ("self", "v"))
    if name == "apply" and declared.gather is not None:
        parameters = (*parameters, "total")
    takes = "init_message" if "init_message" in declared.functions else "apply"
    if name == takes and declared.message is not None:
        parameters = (*parameters, "message: ...")
    return f"{declared.functions[name].__name__}({', '.join(parameters)})"


def _count(parameters: tuple[str, ...]) -> str:
    return f"{len(parameters)} parameter{'s' * (len(parameters) != 1)}"
