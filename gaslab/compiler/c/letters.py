"""Signals by global id as C text: to a replica here at once, else as a letter to the master's rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gaslab.compiler.c.names import constant, narrowed
from gaslab.compiler.tree import STORAGE, RecordCombiner, Signal, Tree

if TYPE_CHECKING:
    from gaslab.compiler.c.body import Body


def letter(tree: Tree) -> str:
    """Return ``gl_letter``, what travels to another rank, and ``gl_mail``, which puts one into the outbox."""
    if not tree.signals_by_id():
        return ""
    members = "int64_t to;" + " int64_t priority;" * tree.by_priority
    if isinstance(tree.message, RecordCombiner):
        members += " gl_message message;"
    elif tree.message is not None:
        members += f" {STORAGE[tree.message.storage][1]} message;"
    return (
        f"\ntypedef struct {{ {members} }} gl_letter;\n"
        "GL_INLINE void gl_mail(gl_context *c, const gl_view *w, gl_letter letter, int64_t site) {\n"
        "    gl_outbox *box = w->outbox;\n"
        "    if (__builtin_expect(box->count == box->room, 0) && box->grow(box)) {\n"
        "        gl_raise(c, GL_FAULT_MEMORY, site);\n        return;\n    }\n"
        "    ((gl_letter *)box->letters)[box->count++] = letter;\n}\n"
    )


def send(body: Body, s: Signal) -> None:
    """Write the statements of ``self.signal(to, message, priority=...)``."""
    tree, given = body.tree, ["to"]
    assert s.to is not None
    body.put("{")
    body.depth += 1
    body.put(f"const int64_t to = {body.expr(s.to)};")
    if tree.by_priority:
        given.append("priority")
    deliver = body.deliver
    if isinstance(tree.message, RecordCombiner):
        given.append("message")
        deliver = f"gl_add_message(c, {deliver}, &message);"
        body.put("gl_message message, *sent = &message;")
        body.put("gl_begin_message(sent);")
        body.block(s.parts or ())
    elif tree.message is not None:
        given.append("message")
        combiner = tree.message
        value = constant(combiner.identity, combiner.type)
        if s.message is not None:
            value = narrowed(combiner.storage, body.expr(s.message), s.site)
        body.put(f"const {STORAGE[combiner.storage][1]} message = {value};")
    if tree.by_priority:
        priority = "0" if s.priority is None else body.expr(s.priority)
        body.put(f"const int64_t priority = gl_within(c, {priority}, 0, INT64_MAX - 1, {s.site});")
    body.put(f"const int64_t at = gl_locate(c, w, to, {s.site});")
    body.put("if (at >= 0) {")
    if s.sends:
        body.put("    " + deliver.replace("{at}", "at").replace("{message}", "message"))
    if tree.by_priority:
        body.put("    gl_prioritise(w, at, priority);")
    body.put("    " + body.signal.replace("{at}", "at"))
    body.put(f"}} else if (!c->code) gl_mail(c, w, (gl_letter){{{', '.join(given)}}}, {s.site});")
    body.depth -= 1
    body.put("}")
