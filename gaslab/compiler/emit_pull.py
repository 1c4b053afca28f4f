"""The target's side of scatter: each vertex looks along the edges that lead to it.

``n`` is the target, ``x`` the source. No other thread writes the target, so no atomics are needed.
A scatter that only chooses whether to send a minimum or maximum (`Choice`) is emitted without
branches: which sources have something to say is as good as random to the processor, and a wrong
guess costs several edges' worth of work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.emit_body import Body
from gaslab.compiler.emit_names import C_TYPE, MEMBER, combined, constant, identity, narrowed, widened
from gaslab.compiler.emit_phases import FAULT_CHECK, ROWS, VERTEX_LOOP, load
from gaslab.compiler.tree import STORAGE, Tree


@dataclass(frozen=True)
class Choice:
    """A scatter of the form: assign locals, then ``if test: nbr.signal(message)``."""

    before: tuple[t.Stmt, ...]
    test: t.Expr
    message: t.Expr
    site: int


def choice(tree: Tree) -> Choice | None:
    """Return the scatter as a `Choice` if it is one, and nothing in it can fail or is costly."""
    combiner, body = tree.message, tree.functions["scatter"].body
    if combiner is None or combiner.op == "sum":
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
    return found if all(_harmless(x) for x in _expressions(found)) else None


def _expressions(node: Any) -> Iterator[Any]:
    if isinstance(node, tuple):
        for item in node:
            yield from _expressions(item)
    elif is_dataclass(node):
        yield node
        for field in fields(node):
            yield from _expressions(getattr(node, field.name))


def _harmless(node: Any) -> bool:
    """Whether evaluating *node* where Python would not have is free of faults and cheap."""
    if isinstance(node, t.Binary):
        return node.op in ("+", "-", "*", "&", "|", "^") or (node.op == "/" and not node.int_divisor)
    if isinstance(node, t.Call):
        return node.function in ("abs", "min", "max")
    if isinstance(node, t.Cast):
        return not (node.type == "int" and node.operand.type == "float")
    return not isinstance(node, t.CallHelper)


def method(tree: Tree) -> tuple[str, Body]:
    """Return the head and the body of ``gl_pull``, what scatter means to one target and source."""
    function, message = tree.functions["scatter"], tree.message
    head = "gl_pull(gl_context *c, const gl_vertex *n, const int64_t x, const int64_t e, _Bool *heard"
    chosen = choice(tree)
    if chosen is not None:
        assert message is not None
        return f"GL_INLINE {C_TYPE[message.type]} {head})", _ChoiceBody(tree, function, chosen)
    more = deliver = ""
    if message is not None:
        both = combined(message, widened(message.storage, "*message"), "{message}")
        deliver = f"*message = {narrowed(message.storage, both, function.site)};"
        more = f", {STORAGE[message.storage][1]} *message"
    return f"GL_INLINE void {head}{more})", Body(tree, function, "nbr", "*heard = 1;", deliver)


class _ChoiceBody(Body):
    """A scatter that sets ``*heard`` and returns the message, whether it is sent or not."""

    def __init__(self, tree: Tree, function: t.Function, chosen: Choice) -> None:
        super().__init__(tree, function, "nbr")
        self.chosen = chosen

    def text(self) -> str:
        assert self.tree.message is not None
        for name, kind in self.function.locals.items():
            self.put(f"{C_TYPE[kind]} l_{name} = 0;")
        self.block(self.chosen.before)
        message = narrowed(self.tree.message.storage, self.expr(self.chosen.message), self.chosen.site)
        self.put(f"*heard = {self.expr(self.chosen.test)};")
        self.put(f"return {message};")
        return "".join(self.lines)


def scatter_pull(tree: Tree) -> str:
    """``gl_scatter_pull``."""
    combiner = tree.message
    enough = "        if (w->signalled[v]) continue;\n" if combiner is None else ""
    stop = " && !heard" if combiner is None else ""
    begin_message = end_message = ""
    if combiner is not None:
        c_type = STORAGE[combiner.storage][1]
        begin_message = f"        {c_type} message = (({c_type} *)w->message)[v];\n"
        end_message = f"            (({c_type} *)w->message)[v] = message;\n"
    loops = []
    for mask, (begin, neighbor, slot) in (("GL_OUT", ROWS["in"]), ("GL_IN", ROWS["out"])):
        loops.append(
            f"        if (w->scatter_edges & {mask}{stop})\n"
            f"            for (int64_t p = {begin}[v], end = {begin}[v + 1]; p < end{stop}; p++) {{\n"
            f"                const int64_t source = {neighbor.format(p='p')};\n"
            f"{_look(tree, slot.format(p='p'))}            }}\n"
        )
    return (
        f"\nGL_RANGE(gl_scatter_pull) {{\n{VERTEX_LOOP}{enough}        _Bool heard = 0;\n{begin_message}"
        f"{load(tree, tree.reads('scatter', 'nbr'))}{''.join(loops)}"
        f"        if (heard) {{\n{end_message}            gl_signal(w, v);\n        }}\n{FAULT_CHECK}    }}\n"
        "    return 0;\n}\n"
    )


def _look(tree: Tree, slot: str) -> str:
    """Return the statements for one edge to the target."""
    combiner = tree.message
    if combiner is None or choice(tree) is None:
        message = ", &message" if combiner is not None else ""
        return (
            "                if (!(c->all_active || c->active[source])) continue;\n"
            f"                gl_pull(c, n, source, {slot}, &heard{message});\n"
            "                if (__builtin_expect(c->code != 0, 0)) return gl_fail(c, fault, source);\n"
        )
    kind, nothing = C_TYPE[combiner.type], constant(identity(combiner), combiner.type)
    offer = f"gl_choose_{MEMBER[combiner.type]}(sends, offered, {nothing})"
    message = narrowed(combiner.storage, combined(combiner, "message", offer), 0)
    return (
        "                _Bool sends;\n"
        f"                const {kind} offered = gl_pull(c, n, source, {slot}, &sends);\n"
        "                sends &= (c->all_active | c->active[source]);\n"
        "                heard |= sends;\n"
        f"                message = {message};\n"
    )
