"""Aggregators with their own sweep as C text: over edges, or in every n-th superstep."""

from __future__ import annotations

from gaslab.compiler.c.body import Body
from gaslab.compiler.c.names import C_TYPE, MEMBER, WIDE_TYPE, aggregate_name
from gaslab.compiler.c.phases import VERTEX_LOOP, load
from gaslab.compiler.c.prefetch import prefetch_rows
from gaslab.compiler.c.statements import text_of
from gaslab.compiler.c.stop_checks import ROW, check_at_vertex, steps
from gaslab.compiler.tree import OWN, RecordCombiner, Tree


def method(tree: Tree, k: int) -> str:
    """Return the function of aggregator *k*; over edges ``n`` is the target, ``x`` the source.

    An aggregator with parts adds to ``t``, the aggregates of its block.
    """
    a = tree.aggregators[k]
    has_parts = isinstance(a.combiner, RecordCombiner)
    head = f"GL_INLINE {'void' if has_parts else C_TYPE[a.combiner.type]} gl_do_{aggregate_name(tree, k)}"
    parameters = "gl_context *c, const gl_vertex *n" + ", const int64_t x, const int64_t e" * a.over_edges
    parameters += f", {'gl_own' if a.combiner.op == OWN else 'gl_scalar'} *t" * has_parts
    body = text_of(Body(tree, a.function, "nbr" if a.over_edges else "v"))
    return f"\n{head}({parameters}) {{\n{body}}}\n#line 0\n"


def own_sweep(tree: Tree, k: int) -> str:
    """``gl_aggregate_<k>``: over vertices, or over the edges that lead to them."""
    a = tree.aggregators[k]
    name, has_parts = aggregate_name(tree, k), isinstance(a.combiner, RecordCombiner)
    begin, end = "", "}\n"
    into = "out"
    if a.combiner.op == OWN:
        into = "&total"
        begin = f"    gl_own total;\n    gl_get_own(&total, out + {tree.slot(k)});\n"
        end = f"    gl_keep_own(&total, out + {tree.slot(k)});\n{end}"
    if not has_parts:
        place = f"out[{tree.slot(k)}].{MEMBER[a.combiner.type]}"
        begin = f"    {WIDE_TYPE[a.combiner.type]} t = {place};\n"
        end = f"    {place} = t;\n{end}"
    near = "nbr." if a.over_edges else "v."
    names = frozenset(n.removeprefix(near) for n in a.function.reads if n.startswith(near))
    if a.over_edges:
        call = f"gl_do_{name}(c, n, source, p{f', {into}' * has_parts})"
        add = call if has_parts else f"t = {a.combiner.wide_c('t', call)}"
        long = steps(tree, a.function.body) > ROW
        look = f"            gl_check_stop(c, {a.function.site});\n" * long
        far = "v." if near == "nbr." else "nbr."
        theirs = frozenset(n.removeprefix(far) for n in a.function.reads if n.startswith(far))
        before, fetch = prefetch_rows(tree, theirs, "in", "c->in_neighbor[{p}]")
        body = (
            f"{before}"
            "        for (int64_t p = c->in_begin[v], end = c->in_begin[v + 1]; p < end; p++) {\n"
            f"{fetch}            const int64_t source = c->vertex = c->in_neighbor[p];\n"
            f"{look}            {add};\n        }}\n"
        )
    else:
        call = f"gl_do_{name}(c, n{f', {into}' * has_parts})"
        add = call if has_parts else f"t = {a.combiner.wide_c('t', call)}"
        body = f"        {add};\n{check_at_vertex(tree, a.function)}"
    return f"\nGL_RANGE(gl_aggregate_{k}) {{\n{begin}{VERTEX_LOOP}{load(tree, names)}{body}    }}\n{end}"
