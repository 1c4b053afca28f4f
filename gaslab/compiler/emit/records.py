"""Accumulators with parts as C text: a struct per vertex, to which each edge contributes in place."""

from __future__ import annotations

from gaslab.compiler.emit.names import before, combined, constant, identity, mangled, narrowed, widened
from gaslab.compiler.tree import CHOICES, PAYLOAD, STORAGE, Array, Part, RecordCombiner


def part_name(k: int, part: Part) -> str:
    return mangled("p", k, part.name)


def _member(k: int, part: Part) -> str:
    size = f"[{part.type.size}]" if isinstance(part.type, Array) else ""
    return f"{STORAGE[part.combiner.storage][1]} {part_name(k, part)}{size};"


def _each(part: Part, statement: str) -> str:
    """Return *statement*, with ``[i]`` for every element where the part is an array."""
    if not isinstance(part.type, Array):
        return f"    {statement.replace('[i]', '')}\n"
    return f"    for (int64_t i = 0; i < {part.type.size}; i++) {statement}\n"


def pair(parts: tuple[Part, Part], places: tuple[str, str], values: tuple[str, str], site: int) -> str:
    """Return the statement that puts a pair, already narrowed, in the place of another if it comes before."""
    names = ("key", "payload")
    kept = [widened(p.combiner.storage, x) for p, x in zip(parts, places, strict=True)]
    given = [widened(p.combiner.storage, x) for p, x in zip(parts, names, strict=True)]
    made = " ".join(
        f"const {STORAGE[p.combiner.storage][1]} {name} = {narrowed(p.combiner.storage, value, site)};"
        for p, name, value in zip(parts, names, values, strict=True)
    )
    test = before(parts[0].combiner.op, parts[1].combiner, (given[0], given[1]), (kept[0], kept[1]))
    return f"{{ {made} if ({test}) {{ {places[0]} = key; {places[1]} = payload; }} }}"


def struct(record: RecordCombiner, kind: str = "total") -> str:
    """Return ``gl_total`` or ``gl_message``, how it begins, how two are combined, how one is completed."""
    members = " ".join(_member(k, part) for k, part in enumerate(record.parts))
    begin = add = end = ""
    for k, part in enumerate(record.parts):
        name, combiner, storage = part_name(k, part), part.combiner, part.combiner.storage
        first = constant(identity(combiner), combiner.type)
        begin += _each(part, f"t->{name}[i] = {first};")
        if combiner.op in CHOICES:
            payload = record.parts[k + 1]
            second, its = part_name(k + 1, payload), payload.combiner.storage
            more = widened(storage, f"more->{name}"), widened(its, f"more->{second}")
            add += f"    {pair((part, payload), (f't->{name}', f't->{second}'), more, 0)}\n"
            continue
        if combiner.op == PAYLOAD:
            continue
        both = combined(combiner, widened(storage, f"t->{name}[i]"), widened(storage, f"more->{name}[i]"))
        add += _each(part, f"t->{name}[i] = {narrowed(storage, both, 0)};")
        if part.symmetric:
            n = part.shape[0]
            end += (
                f"    for (int64_t i = 0; i < {n}; i++)\n        for (int64_t j = 0; j < i; j++) "
                f"t->{name}[j * {n} + i] = t->{name}[i * {n} + j];\n"
            )
    return (
        f"\ntypedef struct {{ {members} }} gl_{kind};\n"
        f"GL_INLINE void gl_begin_{kind}(gl_{kind} *t) {{\n{begin}}}\n"
        f"GL_INLINE void gl_add_{kind}(gl_context *c, gl_{kind} *restrict t, const gl_{kind} *restrict more) "
        f"{{\n{add}}}\nGL_INLINE void gl_end_{kind}(gl_{kind} *t) {{\n{end}}}\n"
    )


def combine(name: str, target: str) -> str:
    """``gl_combine`` and ``gl_combine_messages``."""
    signal = "        gl_signal(w, at);\n" if target == "message" else ""
    return (
        f"\nGL_RANGE({name}) {{\n    gl_context context = {{0}}, *c = &context;\n"
        f"    gl_{target} *target = w->{target};\n    const gl_{target} *part = w->incoming;\n"
        "    for (int64_t i = lo; i < hi; i++) {\n        const int64_t at = list ? list[i] : i;\n"
        f"        gl_add_{target}(c, target + at, part + i);\n{signal}"
        "        if (__builtin_expect(c->code != 0, 0)) return gl_fail(c, fault, at);\n"
        "    }\n    return 0;\n}\n"
    )
