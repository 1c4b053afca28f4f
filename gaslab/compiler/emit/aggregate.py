"""Aggregators with a sweep of their own as C text: those over edges, and those of every n-th superstep."""

from __future__ import annotations

from gaslab.compiler.emit.body import Body
from gaslab.compiler.emit.names import C_TYPE, MEMBER, aggregate_name, combined
from gaslab.compiler.emit.phases import FAULT_CHECK, VERTEX_LOOP, load
from gaslab.compiler.tree import Tree


def method(tree: Tree, k: int) -> str:
    """Return the function of aggregator *k*, over edges: ``n`` is the target, ``x`` the source."""
    a = tree.aggregators[k]
    head = f"GL_INLINE {C_TYPE[a.combiner.type]} gl_do_{aggregate_name(tree, k)}"
    parameters = "gl_context *c, const gl_vertex *n, const int64_t x, const int64_t e"
    return f"\n{head}({parameters}) {{\n{Body(tree, a.function, 'nbr').text()}}}\n#line 0\n"


def apart(tree: Tree, k: int) -> str:
    """``gl_aggregate_<k>``: over vertices, or over the edges that lead to them."""
    a = tree.aggregators[k]
    name, member = aggregate_name(tree, k), MEMBER[a.combiner.type]
    begin = f"    {C_TYPE[a.combiner.type]} t = out[{k}].{member};\n"
    end = f"    out[{k}].{member} = t;\n    return 0;\n}}\n"
    near = "nbr." if a.over_edges else "v."
    names = frozenset(n.removeprefix(near) for n in a.function.reads if n.startswith(near))
    if a.over_edges:
        call = f"gl_do_{name}(c, n, source, p)"
        body = (
            "        for (int64_t p = c->in_begin[v], end = c->in_begin[v + 1]; p < end; p++) {\n"
            "            const int64_t source = c->in_neighbor[p];\n"
            f"            t = {combined(a.combiner, 't', call)};\n"
            "            if (__builtin_expect(c->code != 0, 0)) return gl_fail(c, fault, source);\n"
            "        }\n"
        )
    else:
        body = f"        t = {combined(a.combiner, 't', f'gl_do_{name}(c, n)')};\n{FAULT_CHECK}"
    return f"\nGL_RANGE(gl_aggregate_{k}) {{\n{begin}{VERTEX_LOOP}{load(tree, names)}{body}    }}\n{end}"
