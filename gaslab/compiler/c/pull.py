"""Pull as C text: scatter by its targets, each of which loops over its in-edges.

``n`` is the target, ``x`` the source. No other thread writes the target, so no atomics are needed. A scatter
that only decides whether to send a minimum or maximum (`Choice`) is emitted without branches: the processor
cannot predict which sources send, and a misprediction costs as much as several edges.
"""

from __future__ import annotations

from dataclasses import dataclass

from gaslab.compiler import tree as t
from gaslab.compiler.c.arrays import declaration
from gaslab.compiler.c.body import Body
from gaslab.compiler.c.expressions import expr
from gaslab.compiler.c.guard import guard, names
from gaslab.compiler.c.names import C_TYPE, MEMBER, constant, narrowed, widened
from gaslab.compiler.c.phases import (
    ARGUMENTS,
    ROWS,
    VERTEX_LOOP,
    begin_row,
    edge,
    load,
    passed_of_edge,
)
from gaslab.compiler.c.prefetch import far_end, prefetch
from gaslab.compiler.c.statements import block, text_of
from gaslab.compiler.c.stop_checks import check_at_edge
from gaslab.compiler.tree.harmless import first_signal_decides, harmless


@dataclass(frozen=True)
class Choice:
    """A scatter of the form: assign locals, then ``if test: nbr.signal(message)``."""

    before: tuple[t.Stmt, ...]
    test: t.Expr
    message: t.Expr
    site: int


def choice(tree: t.Tree) -> Choice | None:
    """Return the scatter as a `Choice` if it is one and nothing in it can fault or is costly."""
    combiner, body = tree.message, tree.functions["scatter"].body
    if combiner is None or not combiner.operation.is_scalar or not combiner.operation.keeps:
        return None
    if combiner.storage not in ("int64", "float64", "float32", "id"):  # narrow integers are range-checked
        return None
    *before, last = body or (None,)
    test: t.Expr = t.Const(True, "bool")
    if isinstance(last, t.If) and not last.otherwise and len(last.body) == 1:
        test, last = last.test, last.body[0]
    if not isinstance(last, t.Signal) or last.message is None:
        return None
    if not all(isinstance(s, t.Assign) and isinstance(s.target, t.Local) for s in before):
        return None
    found = Choice(tuple(before), test, last.message, last.site)
    return found if all(map(harmless, t.nodes((found.before, found.test, found.message)))) else None


def method(tree: t.Tree, row: str, place: str) -> tuple[str, str]:
    """Return the head and the body of ``gl_pull_in`` or ``_out``: scatter, by its target."""
    function, message = tree.functions["scatter"], tree.message
    head = f"gl_pull_{row}(gl_context *c, const gl_vertex *n, const int64_t x, {place}, _Bool *heard"
    chosen = choice(tree)
    if chosen is not None:
        assert message is not None
        text = _choice_text(Body(tree, function, "nbr", row=row), chosen)
        return f"GL_INLINE {C_TYPE[message.type]} {head})", text
    more = deliver = ""
    if tree.contributed():
        more = ", const gl_view *w, const int64_t v"
    if isinstance(message, t.RecordCombiner):
        deliver, more = "message", f", gl_message *message{more}"
    elif message is not None:
        both = message.c(widened(message.storage, "*message"), "{message}")
        deliver = f"*message = {narrowed(message.storage, both, function.site)};"
        more = f", {t.STORAGE[message.storage][1]} *message{more}"
    return f"GL_INLINE void {head}{more})", text_of(Body(tree, function, "nbr", "*heard = 1;", deliver, row))


def _choice_text(body: Body, chosen: Choice) -> str:
    """Return a scatter that sets ``*heard`` and returns the message, sent or not."""
    assert body.tree.message is not None
    for name, kind in body.function.locals.items():
        body.put(declaration(kind, f"l_{name}"))
    block(body, chosen.before)
    message = narrowed(body.tree.message.storage, expr(body, chosen.message), chosen.site)
    body.put(f"*heard = {expr(body, chosen.test)};")
    body.put(f"return {message};")
    return "".join(body.lines)


def scatter_pull(tree: t.Tree) -> str:
    """``gl_scatter_pull``."""
    return _pull_choice(tree) if choice(tree) is not None else _pull(tree)


def _load_guarded(tree: t.Tree) -> str:
    """Return the statements that skip a target for which scatter does nothing, and load the others."""
    tests, reads = guard(tree, "nbr"), tree.reads("scatter", "nbr")
    if not tests:
        return load(tree, reads)
    first = names(tests, tree)
    body = Body(tree, tree.functions["scatter"], "nbr")
    test = " && ".join(expr(body, test) for test in tests)
    return f"{load(tree, first)}        if (!({test})) continue;\n{load(tree, reads - first)}"


def _pull(tree: t.Tree) -> str:
    """Return the loop of any scatter, edge by edge; if one signal decides, the first ends the row."""
    combiner = tree.message
    decided = first_signal_decides(tree)
    enough = "        if (w->signalled[v]) continue;\n" if decided else ""
    stop, check = " && !heard" * decided, check_at_edge(tree, tree.functions["scatter"])
    passed = begin_message = end_message = ""
    if isinstance(combiner, t.RecordCombiner):
        passed = ", (gl_message *)w->message + v"
    elif combiner is not None:
        c_type = t.STORAGE[combiner.storage][1]
        begin_message = f"        {c_type} message = (({c_type} *)w->message)[v];\n"
        end_message = f"            (({c_type} *)w->message)[v] = message;\n"
        passed = ", &message"
    passed += ", w, v" if tree.contributed() else ""
    loops = []
    for mask, row in (("GL_OUT", "in"), ("GL_IN", "out")):
        (begin, neighbor, _), (kind, place) = ROWS[row], edge(tree, row, "p")
        place += passed_of_edge(tree, "scatter", row, "in")
        loops.append(
            f"        if (w->scatter_edges & {mask}{' && !heard' * decided}) {{\n"
            f"{begin_row(tree, 'scatter')}"
            f"            for (int64_t p = {begin}[v], end = {begin}[v + 1]; p < end{stop}; p++) {{\n"
            f"                const int64_t source = c->vertex = {neighbor.format(p='p')};\n"
            f"{check}                if (!(c->all_active || gl_is_active(c, source))) continue;\n"
            f"                gl_pull_{kind}(c, n, source, {place}, &heard{passed});\n"
            "            }\n        }\n"
        )
    return (
        f"\nGL_RANGE(gl_scatter_pull) {{\n{VERTEX_LOOP}{enough}{_load_guarded(tree)}"
        f"        _Bool heard = 0;\n{begin_message}{''.join(loops)}"
        f"        if (heard) {{\n{end_message}            gl_signal(w, v);\n        }}\n    }}\n}}\n"
    )


def _pull_choice(tree: t.Tree) -> str:
    """Return the loop of a `Choice`: four edges at a time, emitted for whole and for partial frontiers."""
    combiner = tree.message
    assert combiner is not None
    c_type, number = t.STORAGE[combiner.storage][1], C_TYPE[combiner.type]
    nothing = constant(combiner.identity, combiner.type)

    def look(k: int, p: str, row: str) -> str:
        kind, place = edge(tree, row, p)
        place += passed_of_edge(tree, "scatter", row, "in", p)
        offer = f"gl_choose_{MEMBER[combiner.type]}(sends, offered, {nothing})"
        return (
            "                {\n"
            f"                    const int64_t source = {ROWS[row][1].format(p=p)};\n"
            "                    _Bool sends;\n"
            f"                    const {number} offered = gl_pull_{kind}(c, n, source, {place}, &sends);\n"
            "                    if (!all) sends &= gl_is_active(c, source);\n"
            "                    heard |= sends;\n"
            f"                    m{k} = {combiner.c(f'm{k}', offer)};\n"
            "                }\n"
        )

    loops = []
    far = tree.reads("scatter", "v")
    for mask, row in (("GL_OUT", "in"), ("GL_IN", "out")):
        begin, neighbor, _ = ROWS[row]
        limit = far_end(tree, far, row, 4)
        four = "".join(look(k, f"(p + {k})", row) for k in range(4))
        loops.append(
            f"        if (w->scatter_edges & {mask}) {{\n{begin_row(tree, 'scatter')}"
            f"            int64_t p = {begin}[v];\n"
            f"            const int64_t end = {begin}[v + 1], prefetch_end = {limit};\n"
            f"            for (; p + 4 <= end; p += 4) {{\n{prefetch(tree, far, neighbor)}{four}"
            f"            }}\n            for (; p < end; p++)\n{look(0, 'p', row)}        }}\n"
        )
    halves = (combiner.c("m0", "m1"), combiner.c("m2", "m3"))
    message = narrowed(combiner.storage, combiner.c(*halves), 0)
    return (
        f"\nGL_INLINE void gl_pull_range({ARGUMENTS}, const int all) {{\n{VERTEX_LOOP}"
        f"{_load_guarded(tree)}        _Bool heard = 0;\n        {number} m0 = (({c_type} *)w->message)[v];\n"
        f"        {number} m1 = {nothing}, m2 = m1, m3 = m1;\n"
        f"{''.join(loops)}"
        f"        if (heard) {{\n            (({c_type} *)w->message)[v] = {message};\n"
        "            gl_signal(w, v);\n        }\n    }\n}\n"
        "GL_RANGE(gl_scatter_pull) {\n"
        "    if (w->all_active) gl_pull_range(w, list, lo, hi, at_fault, 1);\n"
        "    else gl_pull_range(w, list, lo, hi, at_fault, 0);\n}\n"
    )
