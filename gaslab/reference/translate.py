"""Methods and helpers of a program, made to compute with the numbers of `arithmetic`.

The translated function has the same code object, lines and breakpoints, but its literals are these numbers,
and ``math``, ``int``, ``float`` and ``range`` give nan, inf or a `Fault` as the language does.
"""

from __future__ import annotations

import builtins
import contextlib
import math
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gaslab.language import solvers
from gaslab.language.rng import WORDS
from gaslab.reference import arrays
from gaslab.reference.arithmetic import PRECISION, Fault, Float, as_float, number, power

# ---- built-ins and math ----------------------------------------------------------------------------


def _int(value: Any = 0) -> Any:
    if isinstance(value, float) and not -(2.0**63) <= value < 2.0**63:  # false for nan
        raise Fault(f"{float(value)!r} is outside the range of int64")
    return number(int(value))


def _range(*bounds: int) -> Iterator[Any]:
    if len(bounds) == 3 and bounds[2] == 0:
        raise Fault("range() with step 0")
    return map(number, range(*map(int, bounds)))


def _log(function: Callable[[float], float], pole: float) -> Callable[..., float]:
    def logarithm(x: float, base: float | None = None) -> float:
        if base is not None:
            return number(logarithm(x)) / number(logarithm(base))  # type: ignore[no-any-return]
        try:
            return function(x)
        except ValueError:
            return -math.inf if x == pole else math.nan

    return logarithm


def _gamma(x: float) -> float:
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.copysign(math.inf, x) if x == 0 else math.nan


def _atanh(x: float) -> float:
    return math.copysign(math.inf, x) if abs(x) == 1 else math.atanh(x)


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (OverflowError, ValueError):
        return math.inf


def _ieee(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return *function* of ``math`` with C's answers where Python raises."""

    def call(*arguments: Any) -> Any:
        if PRECISION.get() == "float32" and function is not math.ldexp:
            arguments = tuple(map(as_float, arguments))
        try:
            return number(function(*arguments))
        except ValueError:
            return Float(math.nan)
        except OverflowError:  # sinh, cosh, exp, expm1, ldexp and the like grow with their first argument
            odd = function in (math.sinh, math.ldexp)
            return Float(math.copysign(math.inf, arguments[0]) if odd else math.inf)

    return call


def _whole(function: Callable[[float], int]) -> Callable[[Any], Any]:
    return lambda x: _int(x) if isinstance(x, float) and not math.isfinite(x) else _int(float(function(x)))


_MATH: dict[Any, Callable[..., Any]] = {
    getattr(math, name): _ieee(getattr(math, name)) for name in dir(math) if callable(getattr(math, name))
}
_MATH |= {
    math.pow: _ieee(power),
    math.log: _ieee(_log(math.log, 0.0)), math.log2: _ieee(_log(math.log2, 0.0)),
    math.log10: _ieee(_log(math.log10, 0.0)), math.log1p: _ieee(_log(math.log1p, -1.0)),
    math.gamma: _ieee(_gamma), math.lgamma: _ieee(_lgamma), math.atanh: _ieee(_atanh),
    math.degrees: lambda x: number(as_float(x)) * number(180.0 / math.pi),
    math.radians: lambda x: number(as_float(x)) * number(math.pi / 180.0),
    math.floor: _whole(math.floor), math.ceil: _whole(math.ceil), math.trunc: _whole(math.trunc),
}  # fmt: skip
_BUILTINS: dict[str, Any] = {
    "int": _int,
    "float": lambda x=0.0: number(float(x) if isinstance(x, str) else as_float(x)),
    "range": _range,
    "len": lambda x: number(len(x)),
}


class _MathModule:
    """The ``math`` that a program sees."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(math, name)
        return _MATH[value] if callable(value) else number(value)


_math_module = _MathModule()

# ---- functions -------------------------------------------------------------------------------------


def translate(function: types.FunctionType, known: dict[Any, Any] | None = None) -> types.FunctionType:
    """Return *function* on the same source lines, computing in the language's arithmetic.

    The helpers it calls are translated with it.
    """
    known = {} if known is None else known
    if function in known:
        return known[function]  # type: ignore[no-any-return]
    scope = dict(function.__globals__)
    code = function.__code__.replace(co_consts=tuple(map(number, function.__code__.co_consts)))
    cells = None if function.__closure__ is None else tuple(types.CellType() for _ in function.__closure__)
    made = types.FunctionType(code, scope, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    known[function] = made  # before its helpers: a helper may call it back
    for name in function.__code__.co_names:
        if name in scope:
            scope[name] = _translated(scope[name], known)
        elif name in _BUILTINS and hasattr(builtins, name):
            scope[name] = _BUILTINS[name]
    for mine, theirs in zip(cells or (), function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # a name of the enclosing function that has no value yet
            mine.cell_contents = _translated(theirs.cell_contents, known)
    return made


def _translated(value: Any, known: dict[Any, Any]) -> Any:
    if value is math:
        return _math_module
    if isinstance(value, np.ndarray) and value.ndim:
        if id(value) not in known:
            known[id(value)] = arrays.shared_row(value)
        return known[id(value)]
    home = getattr(value, "__name__" if isinstance(value, types.ModuleType) else "__module__", None)
    if isinstance(home, str) and home.split(".")[0] == "numpy":
        return arrays.translated(value)
    if PRECISION.get() == "float32" and home in ("gaslab", "gaslab.program", solvers.__name__):
        return arrays.of_solvers(value)
    if isinstance(value, types.FunctionType):
        return value if value in WORDS else translate(value, known)
    if isinstance(value, types.BuiltinFunctionType) and value in _MATH:
        return _MATH[value]
    of_gaslab = isinstance(home, str) and home.split(".")[0] == "gaslab"
    return number(value if of_gaslab else arrays.with_arrays(value))
