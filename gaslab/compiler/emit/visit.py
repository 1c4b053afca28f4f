"""visit as C text: one edge at a time, both ends read and written where they lie."""

from __future__ import annotations

from gaslab.compiler.emit.body import Body
from gaslab.compiler.emit.phases import FAULT_CHECK
from gaslab.compiler.tree import Tree

HEAD = "GL_INLINE void gl_do_visit(gl_context *c, const int64_t v, const int64_t x, const int64_t e)"


def method(tree: Tree) -> tuple[str, Body]:
    """Return the head and the body of ``gl_do_visit``; neither end is in registers."""
    return HEAD, Body(tree, tree.functions["visit"], near="")


def visit(tree: Tree) -> str:
    """``gl_visit``."""
    first = "    c->first = lo;\n" if tree.draws else ""
    return (
        "\nGL_RANGE(gl_visit) {\n    gl_context context = gl_bind(w), *c = &context;\n"
        f"{first}    for (int64_t e = lo; e < hi; e++) {{\n        const int64_t v = c->in_neighbor[e];\n"
        f"        gl_do_visit(c, v, c->out_neighbor[e], e);\n{FAULT_CHECK}    }}\n    return 0;\n}}\n"
    )
