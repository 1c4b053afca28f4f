"""Arithmetic of the language, compiled and interpreted, against Python's own."""

from __future__ import annotations

import functools
import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaslab.compiler import tree as t
from gaslab.compiler.tree import MATH_ARITY as ARITY
from tests.support import hand_trees as h
from tests.support.hand_trees import B, F, I, assign, binary, const, function, local, ret, variable
from tests.support.hand_views import both, state

DIVISION, RANGE, SHIFT, STEP = 1, 2, 3, 4
SECOND = 1  # the site at which `evaluated` stores
ints = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-9, 9), st.sampled_from([-(2**63), 2**63 - 1]))
floats = st.one_of(st.floats(), st.integers(-9, 9).map(float), st.integers(-40, 40).map(lambda k: k / 8))
X, Y = (t.Param(k, name, I) for k, name in enumerate("xy"))
P, Q = (t.Param(k, name, F) for k, name in enumerate("xy"))


def wrap(x: int) -> int:
    return (x + 2**63) % 2**64 - 2**63


def bits(x: Any) -> Any:
    """Distinguish zeros by their sign and take every nan for the same."""
    if isinstance(x, float):
        return "nan" if math.isnan(x) else struct.pack("d", x)
    return x


@functools.cache
def _tree(expression: t.Expr, storage: str, kinds: str) -> t.Tree:
    names = dict(zip("xy", ["int64" if k == "i" else "float64" for k in kinds], strict=False))
    return h.evaluated(expression, storage, names)


def value(expression: t.Expr, *params: Any, storage: str | None = None) -> Any:
    """Return what an expression over parameters x and y comes to; a fault as ("fault", code)."""
    kinds = "".join("i" if isinstance(p, int) else "f" for p in params)
    s = state(_tree(expression, storage or t.WIDE[expression.type], kinds), params=params)
    fault = both("gl_init", s)
    if fault:
        assert fault[1] == 0
        return ("fault", fault[0])
    return s.vertex[0].item()


# ---- integers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["+", "-", "*", "&", "|", "^"])
@given(x=ints, y=ints)
def test_integers_wrap_at_64_bits(op: str, x: int, y: int) -> None:
    assert value(binary(op, X, Y), x, y) == wrap(eval(f"x {op} y"))


@pytest.mark.parametrize("op", ["//", "%"])
@given(x=ints, y=ints)
def test_integer_division_rounds_down_as_python_does(op: str, x: int, y: int) -> None:
    expected = ("fault", DIVISION) if y == 0 else wrap(eval(f"x {op} y"))
    assert value(binary(op, X, Y), x, y) == expected


@pytest.mark.parametrize("divisor", [1, -1, 2, -2, 7, -7, 2**40])
@given(x=ints)
def test_integer_division_by_a_constant(divisor: int, x: int) -> None:
    assert value(binary("//", X, const(divisor)), x) == wrap(x // divisor)
    assert value(binary("%", X, const(divisor)), x) == x % divisor


@given(x=ints, n=st.one_of(st.integers(-3, 70), ints))
def test_shifts(x: int, n: int) -> None:
    good = 0 <= n <= 63
    assert value(binary("<<", X, Y), x, n) == (wrap(x << n) if good else ("fault", SHIFT))
    assert value(binary(">>", X, Y), x, n) == (x >> n if good else ("fault", SHIFT))


@given(x=ints)
def test_integer_unary_and_abs(x: int) -> None:
    assert value(t.Unary("-", X, I), x) == wrap(-x)
    assert value(t.Unary("~", X, I), x) == ~x
    assert value(t.Unary("+", X, I), x) == x
    assert value(t.Call("abs", (X,), I), x) == wrap(abs(x))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 63])
@given(x=ints)
def test_integer_powers(n: int, x: int) -> None:
    assert value(binary("**", X, const(n)), x) == wrap(x**n)


# ---- floats ----------------------------------------------------------------------------------------


def ieee_divide(x: float, y: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(x) / np.float64(y))


@pytest.mark.parametrize("op", ["+", "-", "*"])
@given(x=floats, y=floats)
def test_float_arithmetic_is_python_s(op: str, x: float, y: float) -> None:
    assert bits(value(binary(op, P, Q), x, y)) == bits(eval(f"x {op} y"))


@given(x=floats, y=floats)
def test_float_division_is_ieee(x: float, y: float) -> None:
    assert bits(value(binary("/", P, Q), x, y)) == bits(ieee_divide(x, y))


@given(x=floats, y=floats)
def test_float_floor_division_and_modulo_are_python_s(x: float, y: float) -> None:
    assert bits(value(binary("//", P, Q), x, y)) == bits(x // y if y else ieee_divide(x, y))
    assert bits(value(binary("%", P, Q), x, y)) == bits(x % y if y else math.nan)


@given(x=ints, y=ints)
def test_true_division_of_integers_is_a_float_or_a_fault(x: int, y: int) -> None:
    quotient = t.Binary("/", t.Cast(X, F), t.Cast(Y, F), F, 1, True)
    assert value(quotient, x, y) == (float(x) / float(y) if y else ("fault", DIVISION))


@given(x=floats)
def test_float_unary_abs_and_square(x: float) -> None:
    assert bits(value(t.Unary("-", P, F), x)) == bits(-x)
    assert bits(value(t.Call("abs", (P,), F), x)) == bits(abs(x))
    assert bits(value(binary("**", P, const(2.0)), x)) == bits(x * x)


@pytest.mark.parametrize("name", ["min", "max"])
@given(x=floats, y=floats, m=ints, n=ints)
def test_min_and_max_choose_as_python_s(name: str, x: float, y: float, m: int, n: int) -> None:
    chosen = {"min": min, "max": max}[name]
    assert bits(value(t.Call(name, (P, Q), F), x, y)) == bits(chosen(x, y))
    assert value(t.Call(name, (X, Y), I), m, n) == chosen(m, n)


# ---- conversions and storage -----------------------------------------------------------------------


@given(x=floats)
def test_float_to_int_truncates_or_faults(x: float) -> None:
    inside = math.isfinite(x) and -(2**63) <= x < 2**63
    assert value(t.Cast(P, I, 1), x) == (int(x) if inside else ("fault", RANGE))


@given(x=ints, p=floats)
def test_conversions_that_cannot_fault(x: int, p: float) -> None:
    assert value(t.Cast(X, F), x) == float(x)
    assert value(t.Cast(X, B), x) == bool(x)
    assert value(t.Cast(P, B), p) == bool(p)
    assert value(t.Cast(t.Compare("<", P, const(0.0)), I), p) == int(p < 0)


@pytest.mark.parametrize("storage", [s for s, (kind, _, _) in t.STORAGE.items() if kind == "int"])
@given(x=st.one_of(ints, st.sampled_from([2**k + d for k in (7, 8, 15, 16, 31, 32) for d in (-1, 0)])))
def test_storing_outside_a_field_s_range_faults(storage: str, x: int) -> None:
    limits = np.iinfo(storage)
    for signed in (x, wrap(-x)):
        expected = signed if limits.min <= signed <= limits.max else ("fault", RANGE)
        assert value(X, signed, storage=storage) == expected


@given(x=floats)
def test_float32_fields_round_and_overflow_to_infinity(x: float) -> None:
    with np.errstate(all="ignore"):
        assert bits(value(P, x, storage="float32")) == bits(float(np.float32(x)))


# ---- comparisons and logic -------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["==", "!=", "<", "<=", ">", ">="])
@given(x=floats, y=floats, m=ints, n=ints)
def test_comparisons(op: str, x: float, y: float, m: int, n: int) -> None:
    assert value(t.Compare(op, P, Q), x, y) == eval(f"x {op} y")
    assert value(t.Compare(op, X, Y), m, n) == eval(f"m {op} n")


@pytest.mark.parametrize("op", ["and", "or"])
def test_logic_looks_at_the_right_side_only_when_it_must(op: str) -> None:
    inverse = t.Compare(">", binary("//", const(10), X), const(3))
    guarded = t.Logical(op, (t.Compare("!=", X, const(0)), inverse))
    for x in (0, 1, 2, 5):
        safe = op == "and" or x != 0
        expected = eval(f"x != 0 {op} 10 // x > 3") if safe else ("fault", DIVISION)
        assert value(guarded, x) == expected


def test_a_conditional_evaluates_one_side() -> None:
    inverse = binary("//", const(10), X)
    safe = t.Conditional(t.Compare("==", X, const(0)), const(-1), inverse, I)
    assert [value(safe, x) for x in (0, 3)] == [-1, 3]


# ---- math ------------------------------------------------------------------------------------------

SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 30.0, 720.0, -720.0, 1e300]
SPECIAL += [math.inf, -math.inf, math.nan]


def log(x: float) -> float:
    """The logarithm as C has it."""
    return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan


@pytest.mark.parametrize("name", [n for n in ARITY if hasattr(math, n) and n != "fma"])
def test_math_is_python_s_where_python_does_not_raise_and_never_raises(name: str) -> None:
    arity = ARITY[name][1]
    python = getattr(math, name)
    second: list[Any] = [3, -2] if name == "ldexp" else SPECIAL if arity == 2 else [None]
    second = [None, *second] if ARITY[name][0] < arity else second
    returns = B if name.startswith("is") else F
    compared = 0
    for x in SPECIAL:
        for y in second:
            arguments = (x,) if y is None else (x, y)
            operands: tuple[t.Expr, ...] = (P,) if y is None else (P, X_SECOND if name == "ldexp" else Q)
            ours = value(t.Call(f"math.{name}", operands, returns), *arguments)
            try:
                expected = float(python(*arguments)) if returns == F else python(*arguments)
            except (ValueError, OverflowError, ZeroDivisionError):
                assert not math.isfinite(ours) or (name == "log" and math.isinf(log(y)))
            else:
                compared += 1
                assert bits(ours) == bits(expected) or math.isclose(ours, expected, rel_tol=1e-14)
    assert compared > 3


X_SECOND = t.Param(1, "y", I)


@given(x=floats, y=floats)
def test_powers_are_those_of_c(x: float, y: float) -> None:
    ours = value(binary("**", P, Q), x, y)
    try:
        assert bits(ours) == bits(math.pow(x, y))
    except (ValueError, OverflowError):
        assert not math.isfinite(ours)


# ---- statements ------------------------------------------------------------------------------------


def looped(body: list[t.Stmt], **kinds: str) -> t.Tree:
    """A program whose init runs *body* and stores the int local ``r``."""
    store = assign(t.VertexField("v", 0, I), local("r", I))
    kinds.setdefault("r", I)
    return h.program(
        [function("init", [*body, store], writes="v.r", locals=kinds)],
        vertex=(variable("r", "int64"),),
        params=tuple(variable(name, "int64") for name in "xyz"),
    )


def result(tree: t.Tree, *params: int) -> Any:
    s = state(tree, params=params)
    fault = both("gl_init", s)
    return ("fault", *fault) if fault else s.vertex[0].item()


bound = st.one_of(st.integers(-6, 6), st.sampled_from([2**63 - 1, -(2**63), 2**63 - 3, 3 - 2**63]))


large = st.sampled_from([2**62, -(2**62), 2**63 - 1])


@given(start=bound, stop=bound, step=st.one_of(st.integers(-4, 4), large))
def test_for_visits_python_s_range(start: int, stop: int, step: int) -> None:
    if step and (stop - start) // step > 50:  # len() has a range of its own
        return
    i, r = local("i", I), local("r", I)
    again = assign(r, binary("+", binary("*", r, const(31)), i))
    tree = looped([t.ForRange(i, X, Y, t.Param(2, "z", I), (again, assign(i, const(99))), 1)], i=I)
    if step == 0:
        assert result(tree, start, stop, step) == ("fault", STEP, 0, 1)
        return
    expected = 0
    for k in range(start, stop, step):
        expected = wrap(expected * 31 + k)
    assert result(tree, start, stop, step) == expected


def test_a_loop_variable_keeps_its_last_value_and_bounds_are_taken_once() -> None:
    i, r = local("i", I), local("r", I)
    loop = t.ForRange(i, const(0), r, const(1), (assign(r, binary("+", r, const(1))),), 0)
    tree = looped([assign(r, const(3)), loop, assign(r, binary("+", binary("*", r, const(10)), i))], i=I)
    assert result(tree, 0, 0, 0) == 62  # three rounds; i stays 2


def test_while_break_continue_and_else_branches() -> None:
    i, r = local("i", I), local("r", I)
    odd = t.Compare("==", binary("%", i, const(2)), const(1))
    body = (
        assign(i, binary("+", i, const(1))),
        t.If(odd, (t.Continue(0),), (), 0),
        t.If(t.Compare(">", i, X), (t.Break(0),), (assign(r, binary("+", r, i)),), 0),
    )
    tree = looped([t.While(t.Compare("<", i, const(100)), body, 0)], i=I)
    assert [result(tree, x, 0, 0) for x in (0, 7, 1000)] == [0, 2 + 4 + 6, sum(range(2, 101, 2))]


def test_a_fault_inside_an_endless_loop_ends_it() -> None:
    r = local("r", I)
    tree = looped([t.While(const(True), (assign(r, binary("//", const(1), r, 1)),), 0)])
    assert result(tree, 0, 0, 0) == ("fault", DIVISION, 0, 1)


def test_locals_may_be_words_of_c_and_python() -> None:
    names = ["int", "register", "double", "c", "n", "x", "lambda_", "wrap", "inf"]
    body: list[t.Stmt] = [assign(local(name, I), const(k)) for k, name in enumerate(names)]
    total: t.Expr = const(0)
    for name in names:
        total = binary("+", total, local(name, I))
    tree = looped([*body, assign(local("r", I), total)], **dict.fromkeys(names, I))
    assert result(tree, 0, 0, 0) == sum(range(len(names)))


def test_helpers_take_scalars_and_call_helpers() -> None:
    twice = function("twice", [ret(binary("*", local("a", I), const(2)))], I, parameters={"a": I})
    clip = function(
        "clip",
        [
            t.If(t.Compare(">", local("a", I), local("limit", I)), (ret(local("limit", I)),), (), 0),
            assign(local("a", I), t.CallHelper(0, (local("a", I),), I)),
            ret(local("a", I)),
        ],
        I,
        parameters={"a": I, "limit": I},
    )
    tree = h.evaluated(t.CallHelper(1, (X, Y), I), "int64", {"x": "int64", "y": "int64"}, twice, clip)
    for x, y, expected in ((3, 10, 6), (30, 10, 10), (-4, 0, -8)):
        s = state(tree, params=(x, y))
        assert both("gl_init", s) is None
        assert s.vertex[0].item() == expected


@pytest.mark.slow
def test_constants_of_every_kind() -> None:
    for constant in (-(2**63), 2**63 - 1, -5, 0):
        assert value(const(constant)) == constant
    for number in (math.inf, -math.inf, math.nan, -0.0, 5e-324, 1.7976931348623157e308, 0.1, -2.5):
        assert bits(value(const(number))) == bits(number)
    assert [value(const(truth)) for truth in (True, False)] == [True, False]
