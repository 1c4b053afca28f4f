"""The range functions of a program as C text: one per phase of the border (`abi.h`).

Every range function binds the view's arrays once to a context of typed pointers that never leaves
its registers, and loops over its block; the program's methods are inlined into the loops.
"""

from __future__ import annotations

from gaslab.compiler.c import keyed, lists, near_vectors, records, total_in_field
from gaslab.compiler.c.names import (
    ATTRIBUTES,
    MEMBER,
    WIDE_TYPE,
    aggregate_name,
    field_name,
    narrowed,
    widened,
)
from gaslab.compiler.c.short_rows import has_short_rows
from gaslab.compiler.c.stop_checks import check_at_vertex
from gaslab.compiler.tree import STORAGE, Array, Combiner, KeyedCombiner, RecordCombiner, Tree, is_list
from gaslab.compiler.tree.uses import by_source
from gaslab.language.phases import ALL

# Each way to walk a vertex's edges: row bounds, neighbour and slot by position p.
ROWS = {
    "in": ("c->in_begin", "c->in_neighbor[{p}]", "{p}"),
    "out": ("c->out_begin", "c->out_neighbor[{p}]", "c->out_slot[{p}]"),
}
VERTEX_LOOP = """\
    gl_context context = gl_bind(w, at_fault), *c = &context;
    gl_vertex vertex, *n = &vertex;
    for (int64_t i = lo; i < hi; i++) {
        const int64_t v = c->vertex = list ? list[i] : i;
"""
# For vertices with few edges, the tests of list, skip, directions and aggregates take a fourth of the time: a
# separate loop has none of them.
OVER = """\
GL_INLINE void gl_gather_apply_over(
    const gl_view *w, const int32_t *list, int64_t lo, int64_t hi, gl_scalar *out, gl_exit *at_fault,
    const uint8_t *skip, const int edges)"""
OVER_ALL = """
GL_RANGE(gl_gather_apply) {{
    const int64_t edges = !list && !w->skip{out} ? w->gather_edges : -1;
{loops}    gl_gather_apply_over(w, list, lo, hi, out, at_fault, w->skip, w->gather_edges);
}}
"""
LOOP = "    if (edges == {0}) {{ gl_gather_apply_over(w, 0, lo, hi, out, at_fault, 0, {0}); return; }}\n"
ARGUMENTS = "const gl_view *w, const int32_t *list, int64_t lo, int64_t hi, gl_exit *at_fault"


def rows(tree: Tree) -> dict[str, str]:
    """Return the kinds of rows for which scatter is emitted, with the expression for an edge of a row."""
    slot = "const int64_t e"
    found = {"in": slot, "out": f"{slot}, const int64_t q"} if by_source(tree, "scatter") else {"in": slot}
    return {row: place + more_of_edge(tree, "scatter") for row, place in found.items()}


def more_of_edge(tree: Tree, name: str) -> str:
    """Return the parameters for ``e.forward`` and for draws, if gather or scatter uses them."""
    forward = ", const _Bool forward" * ("forward" in tree.reads(name, "e"))
    return forward + ", const int64_t parallel, const _Bool out" * (
        "self.draws" in tree.functions[name].reads
    )


def passed_of_edge(tree: Tree, name: str, row: str, forward: str, p: str = "p") -> str:
    """Return the arguments of `more_of_edge` at position *p* of *row*; edges of row *forward* leave ``v``.

    The walk starts with `begin_row`. All edges to one neighbour are adjacent, and are left out together.
    """
    passed = f", {int(row == forward)}" * ("forward" in tree.reads(name, "e"))
    if not draws(tree, name):
        return passed
    return f"{passed}, gl_parallel(c, {ROWS[row][1].format(p=p)}), {int(row == 'out')}"


def begin_row(tree: Tree, name: str) -> str:
    """Return the statement before the walk of a row in which gather or scatter draws."""
    return "gl_begin_row(c);" * draws(tree, name)


def draws(tree: Tree, name: str) -> bool:
    return "self.draws" in tree.functions[name].reads


def walks(tree: Tree, name: str, row: str, edges: str = "") -> str:
    """Return the C test of whether gather or scatter walks such a row of vertex ``v``.

    *edges* names the directions, if they are not the view's.
    """
    mask = f"{edges or f'w->{name}_edges'} & GL_{row.upper()}"
    return mask + (f" & w->{name}_way[v]" if f"{name}_edges" in tree.functions else "")


def edge(tree: Tree, row: str, p: str) -> tuple[str, str]:
    """Return the kind of row for which scatter is emitted, and the arguments for the edge at position *p*."""
    slot = ROWS[row][2].format(p=p)
    return (row, f"{slot}, {p}" if row == "out" else slot) if by_source(tree, "scatter") else ("in", slot)


def gather_call(tree: Tree, row: str, p: str) -> str:
    """Return the call of gather for the edge at position *p* of a row, up to what it adds to."""
    _, neighbor, slot = (text.format(p=p) for text in ROWS[row])
    own = row == "out" and bool(by_source(tree, "gather"))
    more = f", {p}" * own + passed_of_edge(tree, "gather", row, "out", p)
    return f"gl_do_gather{'_out' * own}(c, n, {neighbor}, {slot}{more}"


def load(
    tree: Tree, names: frozenset[str] | set[str], vertex: str = "v", writes: frozenset[str] = frozenset(),
    into: str = "vertex_next",
) -> str:  # fmt: skip
    """Return the statements that bring the named values of a vertex into ``n``.

    For an array this is the address of its elements; for a field of *writes*, in the buffer to be written.
    """
    lines = []
    for k, field in enumerate(tree.vertex_fields):
        name, kind = field_name(tree, k), field.type
        if field.name in names and isinstance(kind, Array):
            c_type, here = STORAGE[field.storage][1], f"c->{name} + {vertex} * {kind.size}"
            if field.name not in writes:
                lines.append(f"n->{name} = ({c_type} *)({here});")
                continue
            lines.append(f"n->{name} = {buffer(tree, k, into)} + {vertex} * {kind.size};")
            if tree.double_buffered(field.name) and into == "vertex_next":
                lines.append(f"__builtin_memcpy(n->{name}, {here}, {kind.size} * sizeof({c_type}));")
        elif field.name in names and is_list(field.storage):
            lines.append(lists.load(tree, k, vertex))
        elif field.name in names:
            lines.append(f"n->{field_name(tree, k)} = c->{field_name(tree, k)}[{vertex}];")
    lines += [f"n->{name} = c->{name}[{vertex}];" for name in ATTRIBUTES if name in names]
    lines += [f"n->here = {vertex};"] if "#" in names else []
    return "".join(f"        {line}\n" for line in lines)


def buffer(tree: Tree, k: int, into: str) -> str:
    """Return the array that a store to field *k* writes: in ``vertex`` or ``vertex_next``.

    For a field without a second buffer both have the same array, and a single name saves a register.
    """
    if into == "vertex_next" and tree.double_buffered(tree.vertex_fields[k].name):
        return f"c->{field_name(tree, k)}_next"
    return f"(({STORAGE[tree.vertex_fields[k].storage][1]} *)c->{field_name(tree, k)})"


def store(tree: Tree, names: frozenset[str], into: str) -> str:
    """Return the statements that store the named fields of ``n``."""
    return "".join(
        f"        {lists.store(tree, k, into)}\n"
        if is_list(field.storage)
        else f"        {buffer(tree, k, into)}[v] = n->{field_name(tree, k)};\n"
        for k, field in enumerate(tree.vertex_fields)
        if field.name in names and not field.shape
    )


# methods that run on masters and see no edge
ALONE = ("init", "init_message", "start", "active", "gather_edges", "scatter_edges")


def masters(tree: Tree, name: str) -> str:
    """``gl_init``, ``gl_init_message``, ``gl_start`` and ``gl_active``."""
    names, writes = tree.reads(name, "v") | tree.writes(name), tree.writes(name)
    message = ""
    if name == "init_message":
        assert tree.message is not None
        message = ", " + message_of(tree.message)
    call, check = f"gl_do_{name}(c, n{message})", check_at_vertex(tree, tree.functions[name])
    act = (
        f"        {call};\n{check}{store(tree, tree.writes(name), 'vertex')}"
        if name in ("init", "init_message")
        else (f"        w->active[v] = {call};\n{check}")
    )
    if name in ("gather_edges", "scatter_edges"):
        way, site = name.removesuffix("edges") + "way", tree.functions[name].site
        act = f"        w->{way}[v] = (uint8_t)gl_within(c, {call}, 0, GL_ALL, {site});\n{check}"
    act = load(tree, names, writes=writes, into="vertex") + act
    return f"\nGL_RANGE(gl_{name}) {{\n{VERTEX_LOOP}{act}    }}\n}}\n"


def message_of(combiner: Combiner) -> str:
    """Return the argument by which a method takes its vertex's message."""
    if combiner.collects:
        return "gl_received(c, w, v)"
    if isinstance(combiner, RecordCombiner):
        return "(const gl_message *)w->message + v"
    return widened(combiner.storage, f"((const {STORAGE[combiner.storage][1]} *)w->message)[v]")


def combine(tree: Tree, name: str, combiner: Combiner, target: str) -> str:
    """``gl_combine`` and ``gl_combine_messages``: combine the parts of one peer into those here."""
    if isinstance(combiner, RecordCombiner):
        return records.combine(name, target, combiner.own)
    c_type = STORAGE[combiner.storage][1]
    phase = "gather" if target == "total" else "scatter"
    value = combiner.c(widened(combiner.storage, "target[at]"), widened(combiner.storage, "part[i]"))
    site = tree.functions[phase].site if phase in tree.functions else 0
    signal = "        gl_signal(w, at);\n" if target == "message" else ""
    return (
        f"\nGL_RANGE({name}) {{\n    gl_context context = {{.at_fault = at_fault}}, *c = &context;\n"
        f"    {c_type} *target = w->{target};\n    const {c_type} *part = w->incoming;\n"
        "    for (int64_t i = lo; i < hi; i++) {\n"
        "        const int64_t at = c->vertex = list ? list[i] : i;\n"
        f"        target[at] = {narrowed(combiner.storage, value, site)};\n{signal}"
        "    }\n}\n"
    )


# ---- apply and aggregators -------------------------------------------------------------------------


def totals(tree: Tree) -> str:
    """Return the registers of the aggregators, and their use at a vertex and at a block's begin and end."""
    if not tree.in_apply:
        return ""
    members, begin, add, end = [], [], [], []
    for k, a in tree.in_apply:
        name, member = aggregate_name(tree, k), MEMBER[a.combiner.type]
        members.append(f"{WIDE_TYPE[a.combiner.type]} {name};")
        begin.append(f"t->{name} = out[{tree.slot(k)}].{member};")
        add.append(f"t->{name} = {a.combiner.wide_c(f't->{name}', f'gl_do_{name}(c, n)')};")
        end.append(f"out[{tree.slot(k)}].{member} = t->{name};")
    lines = "\n    ".join
    return (
        f"\ntypedef struct {{ {' '.join(members)} }} gl_totals;\n"
        f"GL_INLINE void gl_begin(gl_totals *t, const gl_scalar *out) {{\n    {lines(begin)}\n}}\n"
        f"GL_INLINE void gl_add(gl_totals *t, gl_context *c, const gl_vertex *n) {{\n    {lines(add)}\n}}\n"
        f"GL_INLINE void gl_end(const gl_totals *t, gl_scalar *out) {{\n    {lines(end)}\n}}\n"
    )


def aggregated(tree: Tree) -> frozenset[str]:
    """Names of ``v`` that the aggregators read which apply adds up."""
    return frozenset(n.removeprefix("v.") for _, a in tree.in_apply for n in a.function.reads)


def with_aggregates(head: str, body: str, tree: Tree) -> str:
    """Return a range function over vertices that also adds to the aggregates, in registers, unless NULL.

    The test of `out` stays in the loop: it is always predicted, and a second loop would make every cold
    compile a quarter slower.
    """
    if not tree.in_apply:
        return f"\n{head} {{\n{VERTEX_LOOP}{body}    }}\n}}\n"
    return (
        f"\n{head} {{\n    gl_totals sums = {{0}}, *t = &sums;\n    if (out) gl_begin(t, out);\n"
        f"{VERTEX_LOOP}{body}        if (out) gl_add(t, c, n);\n{_check_in_apply(tree)}    }}\n"
        "    if (out) gl_end(t, out);\n}\n"
    )


def aggregate(tree: Tree) -> str:
    return (
        "\nGL_RANGE(gl_aggregate) {\n    gl_totals sums = {0}, *t = &sums;\n    gl_begin(t, out);\n"
        f"{VERTEX_LOOP}{load(tree, aggregated(tree))}        gl_add(t, c, n);\n"
        f"{_check_in_apply(tree)}    }}\n    gl_end(t, out);\n}}\n"
    )


def _check_in_apply(tree: Tree) -> str:
    return check_at_vertex(tree, *(a.function for _, a in tree.in_apply))


def near_arguments(tree: Tree, name: str) -> str:
    """Return the extra arguments of an apply that signals."""
    return ", const gl_view *w, const int64_t v" if tree.signals(name) else ""


def apply(tree: Tree) -> str:
    """``gl_apply`` and, where there is a gather, ``gl_gather_apply``."""
    function, writes = tree.functions["apply"], tree.writes("apply")
    fields = tree.reads("apply", "v") | tree.writes("apply") | aggregated(tree)
    takes = {parameter.name for parameter in function.parameters}
    message = ""
    if "message" in takes:
        assert tree.message is not None
        message = ", " + message_of(tree.message)
    after = check_at_vertex(tree, function) + store(tree, tree.writes("apply"), "vertex_next")
    near = ", w, v" if tree.signals("apply") else ""
    passed_total = merged = ""
    if "total" in takes:
        assert tree.gather is not None
        passed_total = ", (const gl_total *)w->total + i"
        if isinstance(tree.gather, KeyedCombiner):
            passed_total, merged = ", &total", keyed.totals(tree)[0]
        elif tree.gather.collects:
            passed_total = ", " + lists.totals(tree)[0]
        elif not isinstance(tree.gather, RecordCombiner):
            c_type = STORAGE[tree.gather.storage][1]
            passed_total = ", " + widened(tree.gather.storage, f"((const {c_type} *)w->total)[i]")
    call = f"{merged}        gl_do_apply(c, n{near}{passed_total}{message});\n"
    text = with_aggregates("GL_RANGE(gl_apply)", f"{load(tree, fields, writes=writes)}{call}{after}", tree)
    if tree.gather is None:
        return text
    head, skip, plain = "GL_RANGE(gl_gather_apply)", "w->skip", ""
    if isinstance(tree.gather, RecordCombiner):
        made, passed = "gl_total total", ", &total" if passed_total else ""
        if field := total_in_field.place(tree):
            made, passed = f"gl_total *total = (gl_total *){field}", ", total"
        row = f"        {made};\n        gl_gather_row(c, w, n, v{passed or ', &total'});\n"
    elif isinstance(tree.gather, KeyedCombiner):
        passed, row = ", &total", keyed.totals(tree)[1]
    elif tree.gather.collects:
        passed, row = ", total", f"        const gl_list total = {lists.totals(tree)[1]};\n"
    else:
        passed = ", " + widened(tree.gather.storage, "total") if passed_total else ""
        row = f"        const {STORAGE[tree.gather.storage][1]} total = gl_gather_row(c, w, n, v, edges);\n"
        head, skip = OVER, "skip"
        # In an undirected graph a vertex has rows of both directions; short rows are worth a loop for them.
        known = sorted({tree.gather_edges, ALL} if has_short_rows(tree) else {tree.gather_edges})
        loops = "".join(LOOP.format(edges) for edges in known)
        plain = OVER_ALL.format(loops=loops, out=" && out" * bool(tree.in_apply))
    gathered = with_aggregates(
        head,
        f"        if ({skip} && {skip}[v]) continue;\n"
        f"{load(tree, fields | tree.reads('gather', 'v'), writes=writes)}"
        f"{near_vectors.room(tree, 'gather')}{row}"
        f"        gl_do_apply(c, n{near}{passed}{message});\n{after}",
        tree,
    )
    return text + gathered + plain
