"""The vectors that a method over edges computes of its own vertex alone, as C text: once for a vertex.

They lie on the stack of the loop over vertices, and ``n`` has their addresses; ``gl_near_METHOD`` fills them
before the first edge.
"""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c.names import C_TYPE


def members(tree: t.Tree) -> list[str]:
    """Return the members of ``gl_vertex`` for their addresses."""
    return [
        f"{C_TYPE[kind.element]} *{_member(name, vector)};"
        for name in ("gather", "scatter")
        if (found := tree.near_vectors(name)) is not None
        for vector, kind in found.vectors.items()
    ]


def address(name: str, vector: str, kind: t.Array, constant: bool = True) -> str:
    """Return the statement by which a method comes to a vector under the name of its local."""
    return f"{'const ' * constant}{C_TYPE[kind.element]} *l_{vector} = n->{_member(name, vector)};"


def room(tree: t.Tree, name: str) -> str:
    """Return the statements, in the loop over vertices, that make room for the vectors of a method."""
    found = tree.near_vectors(name)
    if found is None:
        return ""
    made = [
        f"{C_TYPE[kind.element]} {_member(name, vector)}[{kind.size}]; "
        f"n->{_member(name, vector)} = {_member(name, vector)};"
        for vector, kind in found.vectors.items()
    ]
    return f"        {' '.join(made)} c->filled = 0;\n"


def fill(tree: t.Tree, name: str, begin: str) -> str:
    """Return the statement, before the walk of the row at *begin*, that fills the vectors of a method."""
    if tree.near_vectors(name) is None:
        return ""
    return f"if (!c->filled && {begin}[v] < {begin}[v + 1]) {{ c->filled = 1; gl_near_{name}(c, n); }}\n"


def _member(name: str, vector: str) -> str:
    return f"{name}_{vector}"
