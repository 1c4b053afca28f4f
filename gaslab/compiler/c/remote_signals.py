"""Signals by global id as C text: to a replica here at once, else as a record to the master's rank.

Collected messages are all sent as records: replicas have no place for them.
"""

from __future__ import annotations

from gaslab.compiler.tree import STORAGE, RecordCombiner, Tree


def record(tree: Tree) -> str:
    """Return ``gl_remote_signal``, a signal to another rank, and its way into the outbox."""
    if not (tree.signals_by_id() or tree.collects_messages):
        return ""
    members = "int64_t to;" + " int64_t priority;" * tree.by_priority
    if isinstance(tree.message, RecordCombiner):
        members += " gl_message message;"
    elif tree.message is not None:
        members += f" {STORAGE[tree.message.storage][1]} message;"
    return (
        f"\ntypedef struct {{ {members} }} gl_remote_signal;\n"
        "GL_INLINE void gl_signal_remote(gl_context *c, const gl_view *w, "
        "gl_remote_signal one, int64_t site) {\n"
        "    gl_outbox *box = w->outbox;\n"
        "    if (__builtin_expect(box->count == box->room, 0) && box->grow(box))\n"
        "        gl_raise(c, GL_FAULT_MEMORY, site);\n"
        "    ((gl_remote_signal *)box->records)[box->count++] = one;\n}\n"
    )
