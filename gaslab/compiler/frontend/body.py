"""A function as a whole: the types of its locals, then its tree.

A local has one type, which holds all values assigned to it (int and float make float). The body is walked
until no type widens; one more walk makes the tree.
"""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.frontend import calls, conditions, names, operators, subscripts
from gaslab.compiler.frontend.scope import Scope, ascii_name
from gaslab.compiler.frontend.statements import block
from gaslab.compiler.tree.depth import TOO_DEEP, deepest

_CONSTRUCTS = (names, subscripts, conditions, operators, calls)  # importing them registers their functions


def infer_types(scope: Scope) -> None:
    """Find the types of all locals; raises for code outside the language."""
    scope.types = dict(scope.parameters)
    scope.types_changed = True
    while scope.types_changed:
        scope.types_changed = False
        walk(scope)


def build_function(scope: Scope) -> t.Function:
    """Return the function as a tree; its types are known."""
    scope.final = True
    canonical = {name: scope.canonical(name) for name in scope.parameters}
    scope.written = names_in_tree(scope, canonical)
    body = walk(scope)
    parameters = [
        *(t.Local(canonical[p], kind, scope.storages.get(p, "")) for p, kind in scope.parameters.items()),
        *scope.hidden.values(),
    ]
    own = {scope.written[name]: kind for name, kind in scope.types.items()}
    at = scope.site(scope.source.node)
    widened = [
        t.Assign(scope.local(name), scope.widened(t.Local(canonical[name], kind), scope.types[name]), at)
        for name, kind in scope.parameters.items()
        if scope.types[name] != kind
    ]
    return t.Function(
        name=scope.name,
        parameters=tuple(parameters),
        returns=None if scope.result in (t.RECORD, t.PAIR, t.SUM_BY) else scope.result,
        locals={parameter.name: parameter.type for parameter in parameters} | own,
        body=(*widened, *body),
        reads=frozenset(scope.reads),
        writes=frozenset(scope.writes),
        site=at,
    )


def walk(scope: Scope) -> tuple[t.Stmt, ...]:
    """Return the tree of the body with the types known so far."""
    scope.assigned = set(scope.parameters)
    scope.breaks = []
    scope.made = set()
    scope.stand_ins = {}
    scope.bound = 0
    scope.pending = []
    scope.draws = 0
    try:
        body = block(scope, scope.source.node.body)
    except RecursionError:  # also of a chain of helpers, at one with stack left to raise
        raise scope.error(deepest(scope.source.node), TOO_DEEP) from None
    if scope.assigned is not None and (scope.returns is not None or scope.is_helper):
        name = scope.source.node.name
        way_out = "return one on every path"
        if scope.contributes is not None:
            way_out += ", or None where there is nothing to contribute"
        raise scope.error(scope.source.node, f"{name} may end without a value; {way_out}")
    return body


def names_in_tree(scope: Scope, canonical: dict[str, str]) -> dict[str, str]:
    """Return each local's name in the tree: ASCII, distinct, and not a parameter's.

    A parameter that is assigned a wider type also gets a local.
    """
    used = {*canonical.values(), *(local.name for local in scope.hidden.values())}
    written = {}
    for name, kind in scope.types.items():
        if scope.parameters.get(name) == kind:
            written[name] = canonical[name]
            continue
        stem = ascii_name(name)
        new, k = stem, 0
        while new in used:
            k += 1
            new = f"{stem}_{k}"
        used.add(new)
        written[name] = new
    return written
