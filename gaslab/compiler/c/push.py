"""Push as C text: scatter by its sources, with messages that several threads may combine."""

from __future__ import annotations

from gaslab.compiler.c.body import Body
from gaslab.compiler.c.expressions import expr
from gaslab.compiler.c.guard import guard
from gaslab.compiler.c.names import narrowed, widened
from gaslab.compiler.c.near_vectors import fill, room
from gaslab.compiler.c.phases import (
    ARGUMENTS,
    ROWS,
    VERTEX_LOOP,
    begin_row,
    edge,
    load,
    passed_of_edge,
    walks,
)
from gaslab.compiler.c.prefetch import far_end, prefetch, prefetch_slots
from gaslab.compiler.c.stop_checks import check_at_edge
from gaslab.compiler.tree import STORAGE, RecordCombiner, Tree


def send(tree: Tree) -> str:
    """Return ``gl_send``, which combines a message into a vertex's, atomically if several threads push."""
    if tree.message is None or tree.collects_messages or isinstance(tree.message, RecordCombiner):
        return ""
    combiner = tree.message
    c_type = STORAGE[combiner.storage][1]
    both = combiner.c(widened(combiner.storage, "old"), widened(combiner.storage, "message"))
    site = tree.functions.get("scatter", tree.functions["apply"]).site
    no_news = ""
    if sign := combiner.operation.keeps:  # most messages do not change a minimum: leave its cache line alone
        no_news = f"    if (!(message {sign} old)) return;\n"
    return (
        f"\nGL_INLINE void gl_send(gl_context *c, {c_type} *place, {c_type} message, const int concurrent)\n"
        f"{{\n    {c_type} old, combined;\n"
        f"    if (!concurrent) {{\n        old = *place;\n    {no_news}"
        f"        *place = {narrowed(combiner.storage, both, site)};\n        return;\n    }}\n"
        "    __atomic_load(place, &old, __ATOMIC_RELAXED);\n    do {\n"
        f"    {no_news}        combined = {narrowed(combiner.storage, both, site)};\n"
        "    } while (!__atomic_compare_exchange(place, &old, &combined, 1, __ATOMIC_RELAXED,\n"
        "                                        __ATOMIC_RELAXED));\n}\n"
    )


def scatter_push(tree: Tree) -> str:
    """Return ``gl_scatter_push``; with messages it is emitted twice, with and without atomics."""
    concurrent = ", concurrent" if tree.message else ""
    if tree.contributed() or any(signal.target == "v" for signal in tree.signals("scatter")):
        concurrent += ", v"
    before = after = ""
    if tree.posts:  # a changed vertex that posts nothing over an edge invalidates the cached total there
        before = "            {\n                c->posted = 0;\n"
        after = "                if (!c->posted && w->changed[v]) w->cached[{x}] = 0;\n            }}\n"
    loops, check = [], check_at_edge(tree, tree.functions["scatter"])
    for row in ("out", "in"):
        (begin, neighbor, _), (kind, place) = ROWS[row], edge(tree, row, "p")
        place += passed_of_edge(tree, "scatter", row, "out")
        x = neighbor.format(p="p")
        far = tree.reads("scatter", "nbr")
        early = prefetch(tree, far, neighbor, 1)
        limit, more = prefetch_slots(tree, "scatter", row)
        early, bound = early + more, limit + f", prefetch_end = {far_end(tree, far, row)}" * bool(early)
        loops.append(
            f"        if ({walks(tree, 'scatter', row)}) {{\n{begin_row(tree, 'scatter')}"
            f"{fill(tree, 'scatter', begin)}"
            f"            for (int64_t p = {begin}[v], end = {begin}[v + 1]{bound}; p < end; p++) {{\n"
            f"{check}{early}{before}                gl_push_{kind}(c, w, n, {x}, {place}{concurrent});\n"
            f"{after.format(x=x)}            }}\n        }}\n"
        )
    tests = () if tree.posts else guard(tree, "v")
    near = Body(tree, tree.functions["scatter"])
    idle = f"        if (!({' && '.join(expr(near, test) for test in tests)})) continue;\n" if tests else ""
    body = (
        f"{VERTEX_LOOP}{load(tree, tree.reads('scatter', 'v'))}{room(tree, 'scatter')}{idle}"
        f"{''.join(loops)}    }}\n}}\n"
    )
    if tree.message is None:
        return f"\nGL_RANGE(gl_scatter_push) {{\n{body}"
    return (
        f"\nGL_INLINE void gl_scatter_push_range({ARGUMENTS}, const int concurrent) {{\n{body}"
        "GL_RANGE(gl_scatter_push) {\n"
        "    if (w->concurrent) gl_scatter_push_range(w, list, lo, hi, at_fault, 1);\n"
        "    else gl_scatter_push_range(w, list, lo, hi, at_fault, 0);\n}\n"
    )
