"""visit as C text: one edge at a time, both ends read and written in place."""

from __future__ import annotations

from gaslab.compiler.c import derived
from gaslab.compiler.c.body import Body
from gaslab.compiler.c.expressions import expr
from gaslab.compiler.c.prefetch import prefetch_target
from gaslab.compiler.c.statements import text_of
from gaslab.compiler.c.stop_checks import MOST, steps
from gaslab.compiler.tree import Tree

HEAD = "GL_INLINE void gl_do_visit(gl_context *c, const int64_t v, const int64_t x, const int64_t e)"


def method(tree: Tree) -> tuple[str, str]:
    """Return the head and the body of ``gl_do_visit``; neither end is in registers."""
    return HEAD, text_of(Body(tree, tree.functions["visit"], near=""))


def visit(tree: Tree) -> str:
    """``gl_visit``."""
    first, function = "    c->first = lo;\n" if tree.draws else "", tree.functions["visit"]
    first += "    c->aggregate = out;\n" if tree.live else ""
    body = Body(tree, function)
    body.derived = {}  # none is computed yet
    for k, one in enumerate(derived.vectors(tree).values()):
        i, value = f"l_{one.counter}", expr(body, one.value)
        first += f"    gl_real derived{k}[{one.size}];\n    c->derived{k} = derived{k};\n"
        first += f"    for (int64_t {i} = 0; {i} < {one.size}; {i}++) derived{k}[{i}] = {value};\n"
    before, fetch = prefetch_target(tree)
    run = max(MOST // max(steps(tree, function.body), 1), 1)
    return (
        "\nGL_RANGE(gl_visit) {\n    gl_context context = gl_bind(w, at_fault), *c = &context;\n"
        f"{first}{before}    for (int64_t e = lo; e < hi;) {{\n"
        f"        c->vertex = c->in_neighbor[e];\n        gl_check_stop(c, {function.site});\n"
        f"        for (const int64_t last = hi - e < {run} ? hi : e + {run}; e < last; e++) {{\n"
        f"{fetch}        const int64_t v = c->vertex = c->in_neighbor[e];\n"
        "        gl_do_visit(c, v, c->out_neighbor[e], e);\n        }\n    }\n}\n"
    )
