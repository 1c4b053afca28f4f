"""Bounds on the work of a method: which loops check the view's ``stop``, so that a run can end in them.

A step is about one operation on numbers. A loop with few steps, as far as is known, has no check and stays
simple for the C compiler; so does the code around a method with few steps.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

from gaslab.compiler import tree as t

MOST = 1 << 16  # steps of a loop between two checks
ROW = 256  # steps of a method from which its loop over a vertex's edges checks
BLOCK = 4096  # the same for its loop over a block's vertices
DRAW = 64  # steps of a draw from a Dirichlet distribution, for each element
LIST = 4096  # steps of an operation on lists, which may have an element for each edge of a hub

HELPER = """\
GL_INLINE void gl_check_stop(const gl_context *c, int64_t site) {   /* whether the run is to end */
    const int32_t code = __atomic_load_n(c->stop, __ATOMIC_RELAXED);
    if (__builtin_expect(code != 0, 0)) gl_raise(c, code, site);
}
"""


def steps(tree: t.Tree, x: Any) -> int:
    """Estimate the steps of an expression or of statements; a loop with a check counts as one round."""
    return _steps(tree, x, {})


def _steps(tree: t.Tree, x: Any, known: dict[int, int]) -> int:
    """As `steps`; *known* has the steps of each helper seen so far, which may be called in many places."""
    if isinstance(x, tuple):
        return sum(_steps(tree, one, known) for one in x)
    if not is_dataclass(x):
        return 0
    if isinstance(x, t.Each | t.Reduce | t.Categorical):
        count = x.count.value if isinstance(x.count, t.Const) else x.count
        inner = _steps(tree, x.body if isinstance(x, t.Each) else x.value, known)
        return 1 + inner * (int(count) if isinstance(count, int) else LIST)
    if isinstance(x, t.ForRange):
        inner = _steps(tree, x.body, known)
        return inner * (rounds(x) if _every(rounds(x), inner) is None else 1)
    if isinstance(x, t.AddOuter):
        return int(tree.part(x.target).shape[0]) ** 2 // 2
    if isinstance(x, t.Solve):
        assert isinstance(x.matrix.type, t.Array)
        return int(x.matrix.type.shape[0]) ** 3
    if isinstance(x, t.ConjugateGradient):  # which checks at every step
        assert isinstance(x.matrix.type, t.Array)
        return int(x.matrix.type.size) + _steps(tree, x.steps, known)
    if isinstance(x, t.Sort):
        assert isinstance(x.array.type, t.Array)
        return x.array.type.size * x.array.type.size.bit_length()
    if isinstance(x, t.Dirichlet):
        assert isinstance(x.array.type, t.Array)
        return x.array.type.size * DRAW
    more = 0
    if isinstance(x, t.CallHelper):
        if x.index not in known:
            known[x.index] = _steps(tree, tree.helpers[x.index].body, known)
        more = known[x.index]
    if isinstance(x, t.ListWord) and x.function not in ("len", "item", "member"):
        more = LIST
    if isinstance(x, t.KeyedWord) and x.function == "argmax":
        more = LIST
    return 1 + more + sum(_steps(tree, part, known) for part in vars(x).values())


def rounds(loop: t.ForRange) -> int:
    """Return a loop's number of rounds if its bounds are numbers, else a number that is not few."""
    bounds = [x.value if isinstance(x, t.Const) else None for x in (loop.start, loop.stop, loop.step)]
    if None in bounds or not bounds[2]:
        return MOST + 1
    return len(range(*(int(x) for x in bounds)))  # type: ignore[arg-type]


def look_every(tree: t.Tree, loop: t.ForRange) -> int | None:
    """Return the rounds between two checks of a loop, None if its rounds are few."""
    return _every(rounds(loop), steps(tree, loop.body))


def _every(count: int, inner: int) -> int | None:
    inner = max(inner, 1)
    return None if count * inner <= MOST else max(MOST // inner, 1)


def check_at_edge(tree: t.Tree, function: t.Function) -> str:
    """Return the line that checks in *function*'s loop over edges; none if its steps are few."""
    few = steps(tree, tree.edge_body(function)) <= ROW
    return "" if few else f"            gl_check_stop(c, {function.site});\n"


def check_at_vertex(tree: t.Tree, *functions: t.Function) -> str:
    """Return the line that checks in a loop over vertices; none if all *functions* have few steps."""
    for function in functions:
        if steps(tree, function.body) > BLOCK:
            return f"        gl_check_stop(c, {function.site});\n"
    return ""
