"""Intervals of ints: of a loop's variable, and of values computed from it; inside them no checks."""

from __future__ import annotations

from collections.abc import Mapping

from gaslab.compiler import tree as t

Interval = tuple[int, int]  # the least and the greatest value
MOST = 1 << 31  # larger bounds are not followed: no sum or product of two bounds overflows


def of_loop(loop: t.ForRange) -> Interval | None:
    """Return the interval of a loop's variable; None if a bound is not a number or its body assigns it."""
    bounds = [x.value for x in (loop.start, loop.stop, loop.step) if isinstance(x, t.Const)]
    if len(bounds) < 3 or not bounds[2] or max(map(abs, bounds)) > MOST:
        return None
    if any(isinstance(x, t.Assign | t.ForRange) and x.target == loop.target for x in t.nodes(loop.body)):
        return None
    values = range(*map(int, bounds))
    return (min(values[0], values[-1]), max(values[0], values[-1])) if values else None


def of(x: t.Expr, known: Mapping[str, Interval]) -> Interval | None:
    """Return the interval of *x*, given the intervals *known* of variables; None if it has none."""
    if isinstance(x, t.Const) and x.type == "int":
        return (int(x.value), int(x.value)) if abs(x.value) <= MOST else None
    if isinstance(x, t.Local):
        return known.get(x.name)
    if not isinstance(x, t.Binary) or x.type != "int":
        return None
    left, right = of(x.left, known), of(x.right, known)
    if x.op == "%" and right is not None and right[0] > 0:
        return 0, right[1] - 1
    if left is None or right is None:
        return None
    if x.op == "+":
        found = left[0] + right[0], left[1] + right[1]
    elif x.op == "-":
        found = left[0] - right[1], left[1] - right[0]
    elif x.op == "*":
        products = [a * b for a in left for b in right]
        found = min(products), max(products)
    else:
        return None
    return found if max(map(abs, found)) <= MOST else None


def drawn(function: t.Function) -> dict[str, Interval]:
    """Return the intervals of the locals that are only assigned drawn indices."""
    found: dict[str, Interval] = {}
    others = {parameter.name for parameter in function.parameters}
    for s in t.nodes(function.body):
        if isinstance(s, t.Assign | t.ForRange) and isinstance(s.target, t.Local):
            count = _drawn_below(s.value) if isinstance(s, t.Assign) else None
            if count is None:
                others.add(s.target.name)
            else:
                found[s.target.name] = 0, max(found.get(s.target.name, (0, 0))[1], count - 1)
    return {name: interval for name, interval in found.items() if name not in others}


def _drawn_below(x: t.Expr) -> int | None:
    """Return the number that a drawn index is below; None if unknown or *x* is not such a draw."""
    if isinstance(x, t.Categorical):
        return x.count
    count = x.arguments[0] if isinstance(x, t.Draw) and x.kind == "integers" else None
    return int(count.value) if isinstance(count, t.Const) and 0 < count.value <= MOST else None
