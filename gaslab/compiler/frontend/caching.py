"""Gather caching in a program: ``nbr.post_delta(x)`` and ``nbr.clear_cache()``, and their rules."""

from __future__ import annotations

import ast

from gaslab.arguments import shown
from gaslab.compiler import tree as t
from gaslab.compiler.frontend.declare import Declared
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.source import declaring_source
from gaslab.compiler.frontend.value_checks import no_keywords
from gaslab.program import ALL, IN, OUT

WORDS = ("post_delta", "clear_cache")
_ACROSS = {IN: OUT, OUT: IN, ALL: ALL}
_NAMES = {IN: "gl.IN", OUT: "gl.OUT", ALL: "gl.ALL"}


def post(scope: Scope, node: ast.Call, role: str) -> t.Post:
    """Return the statement of *node*; raises where it is not allowed."""
    assert isinstance(node.func, ast.Attribute)
    word = node.func.attr
    example = "nbr.post_delta(x)" if word == "post_delta" else "nbr.clear_cache()"
    if scope.is_helper or scope.name != "scatter" or role != "nbr":
        raise scope.name_error(node.func, f"the cached total is the neighbour's; write {example} in scatter")
    combiner = scope.unit.declared.gather
    if combiner is None:
        raise scope.name_error(node.func, f"{word} has no effect without a gather; remove it")
    if type(combiner) is not t.Combiner or not combiner.operation.cached:
        raise scope.name_error(node.func, "only totals of one number are cached; gather its parts one by one")
    no_keywords(scope, node, word)
    if len(node.args) != (word == "post_delta"):
        takes = "one value" if word == "post_delta" else "nothing"
        raise scope.error(node, f"{word} takes {takes}; write {example}")
    if word == "clear_cache":
        return t.Post(None, scope.site(node))
    value = scope.fit(value_of(scope, node.args[0]), combiner.type, node.args[0], "what is posted")
    return t.Post(value, scope.site(node))


def check_caching(declared: Declared, tree: t.Tree) -> None:
    """Raise if a program posts to cached totals that could become wrong."""
    rebuild = declared.cls.cache_rebuild  # type: ignore[attr-defined]
    if type(rebuild) is not int or rebuild < 0:
        text = f"cache_rebuild is {shown(rebuild)}; write a number of supersteps"
        raise declaring_source(declared.cls, "cache_rebuild").error_at_value("cache_rebuild", text)
    if not tree.posts:
        return
    for name in ("gather_edges", "scatter_edges"):
        if name in tree.functions:
            raise declared.error(name, f"cached gathers need one direction; write {name} = gl.ALL")
    wanted = _ACROSS.get(tree.gather_edges, 0)
    if tree.scatter_edges != wanted:
        raise declared.error(
            "scatter",
            f"cached gathers over {_NAMES[tree.gather_edges]} are updated over {_NAMES[wanted]}; "
            f"write scatter_edges = {_NAMES[wanted]}"
            if wanted
            else "a gather over no edges needs no cache",
        )
    read = tree.reads("gather", "nbr") | tree.reads("gather", "v")
    for k in tree.contributed():
        if tree.vertex_fields[k].name in read:
            name = tree.vertex_fields[k].name
            raise declared.error("gather", f"a cached gather cannot read {name}, which scatter adds to")
    if "init_message" in tree.functions:
        text = "init with a message changes what is cached; write def init(self, v)"
        raise declared.error("init_message", text)
    written = tree.writes("scatter", "e")
    for node in t.nodes(tree.functions["gather"].body):
        if isinstance(node, t.Aggregate) or (isinstance(node, t.Global) and node.name in t.STEPS):
            raise declared.error("gather", f"a cached gather cannot read self.{node.name}, which changes")
        if isinstance(node, t.EdgeField) and tree.edge_fields[node.index].name in written:
            name = tree.edge_fields[node.index].name
            raise declared.error("gather", f"a cached gather cannot read e.{name}, which scatter writes")
    if "self.draws" in tree.functions["gather"].reads:
        raise declared.error("gather", "a cached gather cannot draw; draw in apply")
