"""Accumulators with parts as C text: a struct per vertex, to which each edge contributes in place."""

from __future__ import annotations

from gaslab.compiler.c.names import MEMBER, before, constant, is_zero, mangled, narrowed, widened
from gaslab.compiler.tree import PAYLOAD, STORAGE, Array, Part, RecordCombiner, Tree


def part_name(k: int, part: Part) -> str:
    return mangled("p", k, part.name)


def _member(k: int, part: Part) -> str:
    size = f"[{part.type.size}]" if isinstance(part.type, Array) else ""
    return f"{STORAGE[part.combiner.storage][1]} {part_name(k, part)}{size};"


def _each(part: Part, statement: str) -> str:
    """Return *statement*, run for every element ``[i]`` if the part is an array."""
    if not isinstance(part.type, Array):
        return f"    {statement.replace('[i]', '')}\n"
    return f"    for (int64_t i = 0; i < {part.type.size}; i++) {statement}\n"


def pair(parts: tuple[Part, Part], places: tuple[str, str], values: tuple[str, str], site: int) -> str:
    """Return the statement that replaces a pair by another, already narrowed, that comes before it."""
    names = ("key", "payload")
    kept = [widened(p.combiner.storage, x) for p, x in zip(parts, places, strict=True)]
    new = [widened(p.combiner.storage, x) for p, x in zip(parts, names, strict=True)]
    made = " ".join(
        f"const {STORAGE[p.combiner.storage][1]} {name} = {narrowed(p.combiner.storage, value, site)};"
        for p, name, value in zip(parts, names, values, strict=True)
    )
    test = before(parts[0].combiner.op, parts[1].combiner, (new[0], new[1]), (kept[0], kept[1]))
    return f"{{ {made} if ({test}) {{ {places[0]} = key; {places[1]} = payload; }} }}"


def structs(tree: Tree) -> str:
    """Return ``gl_total`` and ``gl_message`` if they have parts, and the struct of the program's merge."""
    text = ""
    if tree.own is not None:
        text = _type(tree.own, "own") + _slots(tree.own)
        text += f"{MERGE};\n"
    for kind, combiner in (("message", tree.message), ("total", tree.gather)):
        if isinstance(combiner, RecordCombiner):
            text = (text + _same(kind)) if combiner.own else struct(combiner, kind) + text
    if tree.own is not None:
        text += _same("one")
    return text


MERGE = "static void gl_merge(gl_context *c, gl_own *made, const gl_own *l_a, const gl_own *l_b)"


def _same(kind: str) -> str:
    """Return an accumulator of the program's own merge under another name."""
    return (
        f"typedef gl_own gl_{kind};\nGL_INLINE void gl_begin_{kind}(gl_own *t) {{ gl_begin_own(t); }}\n"
        f"GL_INLINE void gl_add_{kind}(gl_context *c, gl_own *restrict t, const gl_own *restrict more) {{\n"
        "    gl_own made;\n    gl_begin_own(&made);\n    gl_merge(c, &made, t, more);\n    *t = made;\n}\n"
        f"GL_INLINE void gl_end_{kind}(gl_own *t) {{}}\n"
    )


def _slots(record: RecordCombiner) -> str:
    """Return the functions that store an accumulator among the aggregates, and load it."""
    keep = get = ""
    slot = 0
    for k, part in enumerate(record.parts):
        place, kind = f"t->{part_name(k, part)}[i]", part.combiner.type
        at = f"s[{slot}{' + i' if part.shape else ''}].{MEMBER[kind]}"
        keep += _each(part, f"{at} = {widened(part.combiner.storage, place)};")
        get += _each(part, f"{place} = ({STORAGE[part.combiner.storage][1]}){at};")
        slot += part.slots
    return (
        f"GL_INLINE void gl_keep_own(const gl_own *t, gl_scalar *s) {{\n{keep}}}\n"
        f"GL_INLINE void gl_get_own(gl_own *t, const gl_scalar *s) {{\n{get}}}\n"
    )


def merge_aggregates(tree: Tree, k: int) -> str:
    """``gl_merge_<k>``: merge rows of an aggregate into one."""
    return (
        f"\nGL_RANGE(gl_merge_{k}) {{\n    gl_context context = gl_bind(w, at_fault), *c = &context;\n"
        "    const gl_scalar *rows = w->incoming;\n    gl_own total, more;\n    gl_get_own(&total, out);\n"
        "    for (int64_t i = lo; i < hi; i++) {\n"
        f"        gl_get_own(&more, rows + i * {tree.aggregators[k].combiner.slots});\n"
        "        gl_add_one(c, &total, &more);\n"
        "    }\n    gl_keep_own(&total, out);\n}\n"
    )


def _type(record: RecordCombiner, kind: str) -> str:
    members = " ".join(_member(k, part) for k, part in enumerate(record.parts))
    begin = ""
    for k, part in enumerate(record.parts):
        place, first = f"t->{part_name(k, part)}", part.combiner.identity
        if part.shape and is_zero(first):
            begin += f"    gl_zero({place}, sizeof {place});\n"
        else:
            begin += _each(part, f"{place}[i] = {constant(first, part.combiner.type)};")
    return (
        f"\ntypedef struct {{ {members} }} gl_{kind};\n"
        f"GL_INLINE void gl_begin_{kind}(gl_{kind} *t) {{\n{begin}}}\n"
    )


def struct(record: RecordCombiner, kind: str = "total") -> str:
    """Return ``gl_total`` or ``gl_message`` and its functions: identity, combine, complete."""
    add = end = ""
    for k, part in enumerate(record.parts):
        name, combiner, storage = part_name(k, part), part.combiner, part.combiner.storage
        if combiner.is_key:
            payload = record.parts[k + 1]
            second, its = part_name(k + 1, payload), payload.combiner.storage
            more = widened(storage, f"more->{name}"), widened(its, f"more->{second}")
            add += f"    {pair((part, payload), (f't->{name}', f't->{second}'), more, 0)}\n"
            continue
        if combiner.op == PAYLOAD:
            continue
        both = combiner.c(widened(storage, f"t->{name}[i]"), widened(storage, f"more->{name}[i]"))
        kept = f"({STORAGE[storage][1]}){both}" if part.fits else narrowed(storage, both, 0)
        add += _each(part, f"t->{name}[i] = {kept};")
        if part.symmetric:
            n = part.shape[0]
            end += (
                f"    for (int64_t i = 0; i < {n}; i++)\n        for (int64_t j = 0; j < i; j++) "
                f"t->{name}[j * {n} + i] = t->{name}[i * {n} + j];\n"
            )
    return _type(record, kind) + (
        f"GL_INLINE void gl_add_{kind}(gl_context *c, gl_{kind} *restrict t, const gl_{kind} *restrict more) "
        f"{{\n{add}}}\nGL_INLINE void gl_end_{kind}(gl_{kind} *t) {{\n{end}}}\n"
    )


def combine(name: str, target: str, own: bool) -> str:
    """``gl_combine`` and ``gl_combine_messages``."""
    signal = "        gl_signal(w, at);\n" if target == "message" else ""
    bound = "gl_bind(w, at_fault)" if own else "{.at_fault = at_fault}"
    return (
        f"\nGL_RANGE({name}) {{\n    gl_context context = {bound}, *c = &context;\n"
        f"    gl_{target} *target = w->{target};\n    const gl_{target} *part = w->incoming;\n"
        "    for (int64_t i = lo; i < hi; i++) {\n"
        "        const int64_t at = c->vertex = list ? list[i] : i;\n"
        f"        gl_add_{target}(c, target + at, part + i);\n{signal}"
        "    }\n}\n"
    )
