"""From a program class to its typed tree; every error in a program is raised here."""

from __future__ import annotations

import ast

from gaslab.compiler.body import Body
from gaslab.compiler.convert import named
from gaslab.compiler.declare import PHASES, Declared, annotation_value, declare, parameters_of, storage_of
from gaslab.compiler.frame import Sites, Unit
from gaslab.compiler.helpers import Helpers
from gaslab.compiler.source import FunctionSource
from gaslab.compiler.tree import STORAGE, Aggregator, Function, Tree

ROLES = {
    "init": ("v",), "start": ("v",), "active": ("v",), "apply": ("v",),
    "gather": ("v", "e", "nbr"), "scatter": ("v", "e", "nbr"), "done": (),
}  # fmt: skip
SIGNATURES = {
    "init": "init(self, v)", "start": "start(self, v)", "active": "active(self, v)", "done": "done(self)",
    "gather": "gather(self, v, e, nbr)", "scatter": "scatter(self, v, e, nbr)",
}  # fmt: skip


def parse(cls: type) -> Tree:
    """Return the typed tree of program class *cls*.

    Raises `ProgramError` for what is outside the language, at the user's file, line and column.
    """
    declared = declare(cls)
    sites, helpers = Sites(), Helpers()
    unit = Unit(declared, sites, helpers)
    helpers.unit = unit
    functions = {name: method(unit, name) for name in PHASES if name in declared.functions and name != "done"}
    aggregators = tuple(
        Aggregator(name, combiner, method(unit, name)) for name, combiner in declared.aggregators.items()
    )
    if "done" in declared.functions:
        entities_of(declared.source("done"), "done", declared)
    return Tree(
        name=cls.__name__,
        params=declared.params,
        vertex_fields=declared.vertex_fields,
        edge_fields=declared.edge_fields,
        aggregators=aggregators,
        functions=functions,
        helpers=helpers.all(),
        gather=declared.gather,
        message=declared.message,
        gather_edges=declared.gather_edges,
        scatter_edges=declared.scatter_edges,
        has_done="done" in declared.functions,
        sites=sites.all(),
    )


class Method(Body):
    """A phase or an aggregator."""

    def canonical(self, name: str) -> str:
        """apply's two scalars have one name in every program: ``total`` and ``message``."""
        return "message" if name == "message" else "total"


def method(unit: Unit, name: str) -> Function:
    """Return phase or aggregator *name* as a tree."""
    declared = unit.declared
    source = declared.source(name)
    entities, parameters = entities_of(source, name, declared)
    returns = {"start": "bool", "active": "bool"}.get(name)
    if name == "gather" and declared.gather:
        returns = declared.gather.type
    elif name in declared.aggregators:
        returns = declared.aggregators[name].type
    body = Method(unit, source, name, entities, parameters, returns)
    body.settle_types()
    return body.build()


def entities_of(
    source: FunctionSource, name: str, declared: Declared
) -> tuple[dict[str, str], dict[str, str]]:
    """Return which parameters of a method stand for what, and the types of apply's scalars."""
    node, given = source.node, parameters_of(source.function)
    a = node.args
    if a.vararg or a.kwarg or a.kwonlyargs or a.defaults:
        raise source.error(node, f"{name} takes plain parameters; write def {_signature(name, declared)}")
    roles = ("self", *ROLES.get(name, ("v",)))
    if name != "apply":
        if len(given) != len(roles):
            raise source.error(node, f"{name} takes {_count(given)}; write def {_signature(name, declared)}")
        return dict(zip(given, roles, strict=True)), {}
    wanted = 2 + (declared.gather is not None) + ("message" in given[2:])
    if len(given) != wanted or "message" in given[2:-1]:
        raise source.error(node, apply_advice(given, declared))
    scalars = {}
    for parameter in given[2:]:
        combiner = declared.message if parameter == "message" else declared.gather
        assert combiner is not None
        scalars[parameter] = combiner.type
        annotation = next(x.annotation for x in a.args if x.arg == parameter)
        value = annotation_value(declared.cls, source, parameter, annotation)
        storage = storage_of(value)
        if annotation is not None and (storage is None or STORAGE[storage][0] != combiner.type):
            raise source.error(
                annotation,
                f"gather gives {named(combiner.type)} but {parameter!r} is {ast.unparse(annotation)}",
            )
    return dict(zip(given[:2], roles, strict=True)), scalars


def apply_advice(given: tuple[str, ...], declared: Declared) -> str:
    if declared.gather is None and len(given) > 2 and "message" not in given:
        return f"apply takes {given[2]!r} but there is no gather; write def apply(self, v), or add a gather"
    if declared.gather is not None and len(given) == 2:
        return "apply does not take what gather gives; write def apply(self, v, total)"
    return f"apply takes {_count(given)}; write def {_signature('apply', declared)}"


def _signature(name: str, declared: Declared) -> str:
    if name == "apply":
        total = ", total" if declared.gather is not None else ""
        return f"apply(self, v{total})" + (" or with message: gl.Min[float] as its last parameter")
    return SIGNATURES.get(name, f"{name}(self, v)")


def _count(given: tuple[str, ...]) -> str:
    return f"{len(given)} parameters" if len(given) != 1 else "1 parameter"
