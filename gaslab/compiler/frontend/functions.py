"""A plain function of a vertex, of an edge or of two numbers, as a separate program.

The function becomes a helper, which is emitted with scalars alone; every value that it reads from its vertex
or edge becomes a field of a program whose ``apply`` calls the helper and stores the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.body import infer_types
from gaslab.compiler.frontend.declare import declare, parameters_of
from gaslab.compiler.frontend.helpers import Helpers, HelperScope
from gaslab.compiler.frontend.scope import SharedArrays, Sites, Unit
from gaslab.compiler.frontend.source import function_source
from gaslab.program import VertexProgram

ROLES = {"vertex": ("v",), "edge": ("v", "e", "nbr")}
SIGNATURE = {"vertex": "(v)", "edge": "(source, e, target)", "merge": "(a, b)"}
_NOWHERE = t.Site("", 0, "")


@dataclass(frozen=True)
class Input:
    """The content of the program's k-th field: a field or attribute of a role, or a number of a pair."""

    role: str  # "v", "nbr", "e"; "a" or "b" of a merge
    name: str


def parse_function(
    function: Any, kind: str, vertex: Mapping[str, str], edge: Mapping[str, str], of: str = "float"
) -> tuple[t.Tree, tuple[Input, ...], str]:
    """Return (program, contents of its fields, type of the result); the last field takes the result.

    Parameters
    ----------
    function : a def
    kind : {"vertex", "edge", "merge"}
        Whether it takes a vertex; a source, an edge and a target; or two numbers of the type *of*.
    vertex, edge : mapping
        The storage types of the graph's columns, by name.

    Raises
    ------
    ProgramError
        The function is outside the language, at its own line.
    """
    source = function_source(function)
    parameters = parameters_of(function)
    roles = ROLES.get(kind, ("a", "b"))
    if len(parameters) != len(roles) or source.node.args.vararg or source.node.args.kwonlyargs:
        raise source.error(
            source.node, f"{function.__name__} takes {len(parameters)} parameters; write def "
            f"{function.__name__}{SIGNATURE[kind]}"
        )  # fmt: skip
    declared = replace(
        declare(type(function.__name__, (VertexProgram,), {"__module__": function.__module__})),
        vertex_fields=tuple(t.Variable(name, kept, 0, _NOWHERE) for name, kept in vertex.items()),
        edge_fields=tuple(t.Variable(name, kept, 0, _NOWHERE) for name, kept in edge.items()),
    )
    sites, helpers, arrays = Sites(), Helpers(), SharedArrays()
    unit = helpers.unit = Unit(declared, sites, helpers, set(), arrays)
    named = dict(zip(parameters, roles, strict=True))
    entities = named if kind in ROLES else {}
    numbers: dict[str, t.Type] = {} if kind in ROLES else dict.fromkeys(parameters, of)
    helper = HelperScope(unit, source, function.__name__, entities, numbers, None)
    infer_types(helper)
    result = helper.result
    assert result is not None
    if not isinstance(result, str):
        raise source.error(source.node, f"{function.__name__} returns a vector; a column holds numbers")
    if result == "id":
        raise source.error(source.node, f"{function.__name__} returns a vertex id; a column holds numbers")
    if arrays.variables:
        name = arrays.variables[0].name
        text = f"{function.__name__} reads the array {name}; only a vertex program can, so write one"
        raise source.error(source.node, text)
    index = helpers.place(helper)
    inputs: list[Input] = []
    fields: list[t.Variable] = []
    arguments: list[t.Expr] = []

    def take(role: str, name: str, storage: str, kind: t.Type) -> None:
        arguments.append(t.VertexField("v", len(fields), kind))
        inputs.append(Input(role, name))
        fields.append(t.Variable(f"{role}_{name}", storage, 0, _NOWHERE))

    for name in numbers:
        take(named[name], "", t.WIDE[of], of)
    for value in helper.hidden:
        if isinstance(value, t.VertexField):
            field = declared.vertex_fields[value.index]
            take(value.role, field.name, field.storage, value.type)
        elif isinstance(value, t.EdgeField):
            field = declared.edge_fields[value.index]
            take("e", field.name, field.storage, value.type)
        elif isinstance(value, t.VertexAttribute):
            take(value.role, value.name, "id" if value.type == "id" else "int64", value.type)
        elif isinstance(value, t.Global):
            arguments.append(value)
        else:
            raise source.error(source.node, f"{function.__name__} uses what only a vertex program has")
    at = sites.index(source.file.site(source.node))
    target = t.VertexField("v", len(fields), result)
    fields.append(t.Variable("result", t.WIDE[result], 0, _NOWHERE))
    body = t.Assign(target, t.CallHelper(index, tuple(arguments), result), at)
    reads = frozenset(f"v.{field.name}" for field in fields[:-1])
    apply = t.Function("apply", (), None, {}, (body,), reads, frozenset(["v.result"]), at)
    tree = t.Tree(
        name=function.__name__, params=(), vertex_fields=tuple(fields), edge_fields=(), aggregators=(),
        functions={"apply": apply}, helpers=helpers.all(), gather=None, message=None,
        gather_edges=0, scatter_edges=0, has_done=False, sites=sites.all(),
    )  # fmt: skip
    if tree.draws:
        raise source.error(source.node, f"{function.__name__} draws; only a vertex program can draw")
    return tree, tuple(inputs), result


def reads_side(tree: t.Tree) -> bool:
    """Return whether a function's program reads ``v.side``."""
    return any("v.side" in helper.reads for helper in tree.helpers)
