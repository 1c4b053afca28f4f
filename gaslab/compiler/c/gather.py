"""gather as C text: a vertex's accumulator over its edges, four edges at a time."""

from __future__ import annotations

from gaslab.compiler.c import keyed, lists, outer_products
from gaslab.compiler.c.body import Body
from gaslab.compiler.c.expressions import expr
from gaslab.compiler.c.names import C_TYPE, constant, field_name, narrowed
from gaslab.compiler.c.near_vectors import fill, room
from gaslab.compiler.c.phases import (
    ROWS,
    VERTEX_LOOP,
    begin_row,
    combine,
    gather_call,
    load,
    walks,
)
from gaslab.compiler.c.prefetch import far_end, prefetch, prefetch_rows, prefetch_slots
from gaslab.compiler.c.records import part_name
from gaslab.compiler.c.short_rows import is_light, short_rows
from gaslab.compiler.c.stop_checks import check_at_edge
from gaslab.compiler.tree import STORAGE, KeyedCombiner, RecordCombiner, Tree
from gaslab.compiler.tree.uses import guard_of_lists, marked_field

UNROLL = '        _Pragma("GCC unroll 4")\n'


def gather_row(tree: Tree) -> str:
    """Return ``gl_gather_row``: the accumulator of one vertex, the same bits wherever it is called.

    Floats go to four accumulators in turn, since one would be bound by the latency of its additions.
    """
    combiner = tree.gather
    assert combiner is not None
    if combiner.collects:  # made by `gather`
        return ""
    marked, mark, unmark = marked_field(tree), "", ""
    if marked is not None:
        mark, unmark = (f"    gl_{word}(c, n->{field_name(tree, marked)});\n" for word in ("mark", "unmark"))
    ways = 4 if combiner.type == "float" else 1
    has_parts = isinstance(combiner, RecordCombiner)
    wait = bool(outer_products.waiting(tree))  # vectors do

    def narrow(total: str) -> str:
        return narrowed(combiner.storage, total, tree.functions["gather"].site)

    def step(k: int, p: str) -> str:
        return add_edge(way, p, k)

    def add_edge(way: str, p: str, k: int = 0) -> str:
        call = gather_call(tree, way, p)
        if has_parts:
            return f"{call}, {'t, kept' if wait else 't'});"
        return f"a{k} = {combiner.c(f'a{k}', f'{call})')};"

    loops = []
    more, check = " && !c->stopped" * tree.stops, check_at_edge(tree, tree.functions["gather"])
    if isinstance(combiner, RecordCombiner) and tree.decided_by:
        kept = [f"t->{part_name(k, part)}" for k, part in enumerate(combiner.parts)]
        final = [place if best else f"!{place}" for place, best in zip(kept, tree.decided_by, strict=True)]
        more += f" && !({' && '.join(final)})"
    elif tree.decided_by:  # the first True of a Max decides, False of a Min
        more += " && !a0" if tree.decided_by[0] else " && a0"
    names = tree.reads("gather", "nbr")
    guard = guard_of_lists(tree)
    needed = "" if guard is None else expr(Body(tree, tree.functions["gather"]), guard)
    for way in ROWS:
        begin, neighbor, _ = ROWS[way]
        row = begin_row(tree, "gather") + fill(tree, "gather", begin)
        four = "".join(f"            {step(k % ways, f'(p + {k})')}\n" for k in range(4))
        if has_parts:
            before, fetch = prefetch_rows(tree, names, way, neighbor)
            limit, early = prefetch_slots(tree, "gather", way)
            unroll = "" if fetch or more or check or not _counts(tree) else UNROLL
            loops.append(
                f"    if ({walks(tree, 'gather', way)}) {{\n{row}{before}{unroll}"
                f"        for (int64_t p = {begin}[v], end = {begin}[v + 1]{limit}; p < end{more}; p++) {{\n"
                f"{check}{fetch}{early}            {step(0, 'p')}\n        }}\n    }}\n"
            )
            continue
        limit, early = prefetch_slots(tree, "gather", way, 4)
        loops.append(
            f"    if ({walks(tree, 'gather', way, 'edges')}) {{\n{row}"
            f"        int64_t p = {begin}[v];\n        const int64_t end = {begin}[v + 1]{limit};\n"
            f"        const int64_t prefetch_end = {far_end(tree, names, way, 4)};\n"
            f"        for (; p + 4 <= end{more}; p += 4) {{\n"
            f"{check}{prefetch(tree, names, neighbor, test=needed)}{early}{four}        }}\n"
            f"        for (; p < end{more}; p++) {{\n{check}            {step(0, 'p')}\n        }}\n    }}\n"
        )
    if has_parts:
        return (
            "\nGL_INLINE void gl_gather_row("
            "gl_context *c, const gl_view *w, const gl_vertex *n, int64_t v, gl_total *t) {\n"
            f"    gl_begin_total(t);\n{'    c->stopped = 0;' * tree.stops}{outer_products.BEGIN * wait}{mark}"
            f"{''.join(loops)}{unmark}{outer_products.END * wait}    gl_end_total(t);\n}}\n"
        )
    result = "a0"
    if ways == 4:
        result = combiner.c(combiner.c("a0", "a1"), combiner.c("a2", "a3"))
    first = constant(combiner.identity, combiner.type)
    declared = ", ".join(f"a{k} = {first}" for k in range(ways))
    return (
        f"\nGL_INLINE {STORAGE[combiner.storage][1]} gl_gather_row("
        "gl_context *c, const gl_view *w, const gl_vertex *n, int64_t v, const int edges) {\n"
        f"    {C_TYPE[combiner.type]} {declared};\n{'    c->stopped = 0;' * tree.stops}\n"
        f"{short_rows(tree, add_edge, narrow('a0'))}{mark}{''.join(loops)}{unmark}"
        f"    return {narrow(result)};\n}}\n"
    )


def _counts(tree: Tree) -> bool:
    """Return whether gather does little per edge but reach an element in memory: then its loop is unrolled.

    With parts in registers that costs a tenth (benchmarks/gathered_counts.py).
    """
    assert isinstance(tree.gather, RecordCombiner)
    return is_light(tree) and all(part.shape for part in tree.gather.parts)


def gather(tree: Tree) -> str:
    """``gl_gather`` and ``gl_combine``."""
    combiner = tree.gather
    assert combiner is not None
    if combiner.collects:
        loads, loops = load(tree, tree.reads("gather", "v")) + room(tree, "gather"), []
        by_key, edges = isinstance(combiner, KeyedCombiner), ""
        kind = "keyed_" if by_key else "collected_"
        check, names = check_at_edge(tree, tree.functions["gather"]), tree.reads("gather", "nbr")
        for way, (begin, neighbor, _) in ROWS.items():
            fetch = prefetch(tree, names, neighbor, 1)
            call = gather_call(tree, way, "p")
            added = f"{call}, t);" if by_key else f"at += {call}, at);"
            edges += f"    if ({walks(tree, 'gather', way)}) edges += {begin}[v + 1] - {begin}[v];\n"
            limit, early = prefetch_slots(tree, "gather", way)
            limit += f", prefetch_end = {far_end(tree, names, way, collects=kind)}" * bool(fetch)
            loops.append(
                f"    if ({walks(tree, 'gather', way)}) {{\n{begin_row(tree, 'gather')}"
                f"{fill(tree, 'gather', begin)}"
                f"        for (int64_t p = {begin}[v], end = {begin}[v + 1]{limit}; p < end; p++) {{\n"
                f"{check}{fetch}{early}            {added}\n"
                "        }\n    }\n"
            )
        if by_key:
            return keyed.gather(tree, edges, "".join(loops), VERTEX_LOOP, loads)
        return lists.gather(tree, "".join(loops), VERTEX_LOOP, loads)
    if isinstance(combiner, RecordCombiner):
        row = "        gl_gather_row(c, w, n, v, (gl_total *)w->total + i);\n"
    else:
        c_type = STORAGE[combiner.storage][1]
        row = f"        (({c_type} *)w->total)[i] = gl_gather_row(c, w, n, v, w->gather_edges);\n"
    return (
        f"\nGL_RANGE(gl_gather) {{\n{VERTEX_LOOP}{load(tree, tree.reads('gather', 'v'))}"
        f"{room(tree, 'gather')}{row}    }}\n}}\n" + combine(tree, "gl_combine", combiner, "total")
    )
