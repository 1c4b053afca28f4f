"""Signals as C text: to the ends of an edge, to any vertex by its id, with and without a message."""

from __future__ import annotations

from collections.abc import Callable

from gaslab.compiler import tree as t
from gaslab.compiler.c.body import Body
from gaslab.compiler.c.expressions import expr
from gaslab.compiler.c.names import constant, narrowed
from gaslab.errors import unknown

Block = Callable[[Body, tuple[t.Stmt, ...]], None]  # writes statements: those that fill a message with parts


def signal(body: Body, s: t.Signal, block: Block) -> None:
    """Write the statements of a signal."""
    if body.tree.collects_messages and s.sends:
        send_collected(body, s)
        return
    if s.target == "id":
        signal_by_id(body, s, block)
        return
    if s.target not in t.ENDS:
        raise unknown("emit", s)
    at = t.ENDS[s.target]
    if s.parts is not None:
        body.put(f"{{ gl_message *sent = {body.deliver.replace('{at}', at)};")
        body.depth += 1
        block(body, s.parts)
        body.depth -= 1
        body.put("}")
    if s.message is not None:
        combiner = body.tree.message
        assert combiner is not None
        message = narrowed(combiner.storage, expr(body, s.message), s.site)
        body.put(body.deliver.replace("{at}", at).replace("{message}", message))
    if body.tree.by_priority:
        body.put(f"gl_prioritise(w, {at}, {priority_of(body, s)});")
    body.put(body.signal.replace("{at}", at))


def priority_of(body: Body, s: t.Signal) -> str:
    value = "0" if s.priority is None else expr(body, s.priority)
    return f"gl_within(c, {value}, 0, INT64_MAX - 1, {s.site})"


def send_collected(body: Body, s: t.Signal) -> None:
    """Write the statements that put a message into the thread's outbox, by the id of its vertex."""
    tree, combiner = body.tree, body.tree.message
    assert combiner is not None
    to = f"w->gid[{t.ENDS[s.target]}]" if s.to is None else expr(body, s.to)
    lines = [f"const int64_t to = {to};"]
    if s.message is None:
        values = zip(t.TUPLES[combiner.storage], s.members, strict=True)
        message = f"{{{', '.join(narrowed(one, expr(body, x), s.site) for one, x in values)}}}"
    else:
        message = narrowed(combiner.storage, expr(body, s.message), s.site)
    lines.append(f"const {t.STORAGE[combiner.storage][1]} message = {message};")
    members = ["to"]
    if tree.by_priority:
        lines.append(f"const int64_t priority = {priority_of(body, s)};")
        members.append("priority")
    if s.to is not None:
        lines.append(f"gl_somebody(c, w, to, {s.site});")
    signal = f"(gl_remote_signal){{{', '.join((*members, 'message'))}}}"
    body.put("{")
    for line in (*lines, f"gl_signal_remote(c, w, {signal}, {s.site});"):
        body.put(f"    {line}")
    body.put("}")


def signal_by_id(body: Body, s: t.Signal, block: Block) -> None:
    """Write the statements of ``self.signal(to, message, priority=...)``."""
    tree, members = body.tree, ["to"]
    assert s.to is not None
    body.put("{")
    body.depth += 1
    body.put(f"const int64_t to = {expr(body, s.to)};")
    if tree.by_priority:
        members.append("priority")
    deliver = body.deliver
    if isinstance(tree.message, t.RecordCombiner):
        members.append("message")
        deliver = f"gl_add_message(c, {deliver}, &message);"
        body.put("gl_message message, *sent = &message;")
        body.put("gl_begin_message(sent);")
        block(body, s.parts or ())
    elif tree.collects_messages:
        members[0] = "-1 - to"  # without a message
    elif tree.message is not None:
        members.append("message")
        combiner = tree.message
        value = constant(combiner.identity, combiner.type)
        if s.message is not None:
            value = narrowed(combiner.storage, expr(body, s.message), s.site)
        body.put(f"const {t.STORAGE[combiner.storage][1]} message = {value};")
    if tree.by_priority:
        body.put(f"const int64_t priority = {priority_of(body, s)};")
    body.put(f"const int64_t at = gl_locate(c, w, to, {s.site});")
    body.put("if (at >= 0) {")
    if s.sends:
        body.put("    " + deliver.replace("{at}", "at").replace("{message}", "message"))
    if tree.by_priority:
        body.put("    gl_prioritise(w, at, priority);")
    body.put("    " + body.signal.replace("{at}", "at"))
    signal = f"(gl_remote_signal){{{', '.join(members)}}}"
    body.put(f"}} else gl_signal_remote(c, w, {signal}, {s.site});")
    body.depth -= 1
    body.put("}")
