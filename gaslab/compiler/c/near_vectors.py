"""Vectors that a method over edges computes from its own vertex alone, as C text: once per vertex.

They are on the stack of the loop over vertices, and ``n`` has their addresses; ``gl_near_METHOD`` fills them
before the first edge.
"""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c.arrays import declaration, shared_name, shared_vector
from gaslab.compiler.c.body import Body
from gaslab.compiler.c.names import C_TYPE
from gaslab.compiler.c.statements import block


def members(tree: t.Tree) -> list[str]:
    """Return the members of ``gl_vertex`` for their addresses."""
    return [
        f"{C_TYPE[kind.element]} *{shared_name(name, vector)};"
        for name in ("gather", "scatter")
        if (found := tree.near_vectors(name)) is not None
        for vector, kind in found.vectors.items()
    ]


def room(tree: t.Tree, name: str) -> str:
    """Return the statements, in the loop over vertices, that make room for the vectors of a method."""
    found = tree.near_vectors(name)
    if found is None:
        return ""
    made = [
        f"{C_TYPE[kind.element]} {shared_name(name, vector)}[{kind.size}]; "
        f"n->{shared_name(name, vector)} = {shared_name(name, vector)};"
        for vector, kind in found.vectors.items()
    ]
    return f"        {' '.join(made)} c->filled = 0;\n"


def fill(tree: t.Tree, name: str, begin: str) -> str:
    """Return the statement, before the walk of the row at *begin*, that fills the vectors of a method."""
    if tree.near_vectors(name) is None:
        return ""
    test = f"if (!c->filled && {begin}[v] < {begin}[v + 1])"
    return f"            {test} {{ c->filled = 1; gl_near_{name}(c, n); }}\n"


def text_of(body: Body) -> str:
    """Return the body of ``gl_near_METHOD``."""
    assert body.divided is not None
    name, vectors, before = body.function.name, body.divided.vectors, body.divided.before
    used = {x.name for x in t.nodes(before) if isinstance(x, t.Local)}
    for local, kind in body.function.locals.items():
        if local in vectors:
            body.put(shared_vector(name, local, vectors[local], constant=False))
        elif local in used:
            body.put(declaration(kind, f"l_{local}"))
    block(body, before)
    return "".join(body.lines)
