"""Draws as C text: the start of a method that draws, and operands in Python's order of evaluation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.c import distributions
from gaslab.compiler.c.names import C_TYPE
from gaslab.errors import unknown
from gaslab.language import rng

STATE = (("uint64_t ", "seed", "w->seed"), ("uint64_t ", "unit", "0"), ("uint64_t ", "stream", "0"),
         ("uint32_t ", "moment", "0"), ("uint32_t ", "draws", "0"), ("int64_t ", "first", "0"),
         ("int64_t ", "walked", "-1"), ("int64_t ", "parallel", "0"))  # fmt: skip
HELPERS = """\
/* What distinguishes the next edge of a row from parallel ones before it: they stand together. */
GL_INLINE void gl_begin_row(gl_context *c) { c->walked = -1; }
GL_INLINE int64_t gl_parallel(gl_context *c, int64_t there) {
    c->parallel = (c->parallel + (int64_t){step}) & -(int64_t)(c->walked == there);
    c->walked = there;
    return c->parallel;
}
GL_INLINE uint64_t gl_edge_unit(gl_context *c, int64_t here, int64_t there, int64_t parallel, _Bool out) {
    const int64_t source = c->id[out ? here : there], target = c->id[out ? there : here];
    return {unit};
}
/* Of the edges of a block, one after the other: they stand by their ends. */
GL_INLINE uint64_t gl_visit_unit(gl_context *c, int64_t here, int64_t there, int64_t e) {
    const int64_t source = c->id[here], target = c->id[there];
    const _Bool again = e > c->first && c->in_neighbor[e - 1] == here && c->out_neighbor[e - 1] == there;
    const int64_t parallel = c->parallel = (c->parallel + (int64_t){step}) & -(int64_t)again;
    return {unit};
}
GL_INLINE gl_real gl_uniform(gl_context *c, double low, double high) {
    return (gl_real)(low + (high - low) * gl_as_real(gl_next_word(c)));
}
GL_INLINE int64_t gl_integers(gl_context *c, int64_t n, int64_t site) {
    if (__builtin_expect(n < 1, 0)) gl_raise(c, GL_FAULT_CHOICE, site);
    return gl_as_integer(gl_next_word(c), n);
}
"""
# The step to the next parallel edge, and the unit of an edge from its ends and number.
UNITS = {
    "hash": ("GL_HASH_STEP", "gl_ends_hash(source, target) + (uint64_t)parallel"),
    "counter": ("1", "gl_edge_key(source, target, parallel)"),
    "stream": ("1", "gl_edge_key(source, target, parallel)"),
}
POINT = {  # in [0, 1), with the precision of the program's floats
    "float64": "GL_INLINE double gl_as_real(uint64_t word) { return gl_as_uniform(word); }\n",
    "float32": "GL_INLINE float gl_as_real(uint64_t word) { return (float)(word >> 40) * 0x1p-24f; }\n",
}
COUNTER = """\
GL_INLINE void gl_draw_from(gl_context *c, uint32_t phase, uint64_t unit) {
    c->moment = (uint32_t)c->superstep << 4 | phase; c->unit = unit; c->draws = 0;
}
GL_INLINE gl_words gl_next_words(gl_context *c) {
    return gl_philox(c->seed, c->draws++, c->moment, c->unit);
}
GL_INLINE uint64_t gl_next_word(gl_context *c) { return gl_next_words(c).first; }
"""
WORDS = """\
GL_INLINE uint64_t gl_next_word(gl_context *c) { return {word}(c->stream += 0x9E3779B97F4A7C15ull); }
GL_INLINE gl_words gl_next_words(gl_context *c) {
    const uint64_t first = gl_next_word(c);
    return (gl_words){first, gl_next_word(c)};
}
"""
STREAM = """\
GL_INLINE void gl_draw_from(gl_context *c, uint32_t phase, uint64_t unit) {
    c->stream = gl_philox(c->seed, 0, (uint32_t)c->superstep << 4 | phase, unit).first;
}
""" + WORDS.replace("{word}", "gl_spread")
HASH = """\
GL_INLINE void gl_draw_from(gl_context *c, uint32_t phase, uint64_t unit) {
    c->stream = gl_moment_hash(c->seed, (uint32_t)c->superstep << 4 | phase) ^ unit;
}
""" + WORDS.replace("{word}", "gl_point_word")


@dataclass(frozen=True)
class Text:
    """An operand that is already C text."""

    text: str
    type: str


def helpers(tree: t.Tree) -> str:
    """Return the functions behind a tree's draws; nothing if it has none."""
    if not tree.draws:
        return ""
    words = {"counter": COUNTER, "stream": STREAM, "hash": HASH}[tree.rng]
    step, unit = UNITS[tree.rng]
    return words + POINT[tree.precision] + HELPERS.replace("{step}", step).replace("{unit}", unit)


def begin(tree: t.Tree, function: t.Function) -> str:
    """Return the statement that starts the draws of a method; nothing if it has none."""
    if "self.draws" not in function.reads or any(function is helper for helper in tree.helpers):
        return ""
    unit = "gl_vertex_hash(n->id)" if tree.rng == "hash" else "(uint64_t)n->id"
    if function.name == "visit":
        unit = "gl_visit_unit(c, v, x, e)"
    elif function.name in rng.EDGE_PHASES:
        unit = "gl_edge_unit(c, n->here, x, parallel, out)"
    return f"gl_draw_from(c, {rng.PHASES[function.name]}, {unit});"


def draw(x: t.Draw, arguments: list[str]) -> str:
    """Return a draw as a C expression."""
    if x.kind == "integers":
        return f"gl_integers(c, {arguments[0]}, {x.site})"
    if x.kind in distributions.TEXTS:
        return distributions.draw(x, arguments)
    if x.kind != "uniform":
        raise unknown("emit", x)
    if x.arguments == (t.Const(0.0, "float"), t.Const(1.0, "float")):
        return "gl_as_real(gl_next_word(c))"
    return f"gl_uniform(c, {arguments[0]}, {arguments[1]})"


def has_draw(x: Any, drawing_helpers: frozenset[int]) -> bool:
    """Return whether evaluating *x* draws."""
    return any(
        isinstance(node, t.Draw | t.Categorical | t.Dirichlet)
        or (isinstance(node, t.CallHelper) and node.index in drawing_helpers)
        for node in t.nodes(x)
    )


def drawing_helpers(tree: t.Tree) -> frozenset[int]:
    """Return the indices of the helpers that draw."""
    return frozenset(k for k, helper in enumerate(tree.helpers) if "self.draws" in helper.reads)


def in_order(x: Any, drawing: frozenset[int]) -> tuple[Any, list[Any]]:
    """Return *x* with `Text` for operands, and the operands, if C must not choose their order.

    C evaluates the operands of an operator or a call in any order; if two of them draw, each is first
    assigned to a variable, left to right.
    """
    if isinstance(x, t.Binary | t.Compare):
        operands: tuple[Any, ...] = (x.left, x.right)
    elif isinstance(x, t.Call | t.CallHelper | t.Draw):
        operands = x.arguments
    else:
        return x, []
    if sum(has_draw(operand, drawing) for operand in operands) + isinstance(x, t.Draw) < 2:
        return x, []
    texts = tuple(
        operand if _is_fixed(operand) else Text(f"o{k}_", operand.type) for k, operand in enumerate(operands)
    )
    operands_by_name: dict[str, Any] = {"arguments": texts}
    if isinstance(x, t.Binary | t.Compare):
        operands_by_name = dict(zip(("left", "right"), texts, strict=True))
    return replace(x, **operands_by_name), list(operands)


def _is_fixed(x: Any) -> bool:
    """Return whether an operand is the same whenever it is evaluated: a number or an array's address."""
    return isinstance(x, t.Const) or isinstance(x.type, t.Array)


def sequenced(result: str, texts: list[tuple[str, Any]]) -> str:
    """Return *result* after the variables it names."""
    made = "".join(
        f"const {C_TYPE[x.type]} o{k}_ = {text}; " for k, (text, x) in enumerate(texts) if not _is_fixed(x)
    )
    return f"({{ {made}{result}; }})"
