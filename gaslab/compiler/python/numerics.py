"""The language's numerics in plain Python: the twin of `gaslab.compiler.c.prelude`.

Ints wrap at 64 bits, floats are IEEE and never raise, math functions are the C library's own, so
that an interpreted program gives the same bits as a compiled one.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import Any

DIVISION, RANGE, SHIFT, STEP, INDEX, SINGULAR, NOBODY, COUNTED = 1, 2, 3, 4, 5, 6, 10, 15  # gl_fault.code
_HALF, _WHOLE = 1 << 63, 1 << 64


class Fault(Exception):
    """The fault that ends a run; `code` as in abi.h, `site` an index of the tree's sites."""

    def __init__(self, code: int, site: int) -> None:
        super().__init__(code, site)
        self.code, self.site = code, site


def heed(c: Any, site: int) -> bool:
    """Return True, unless the run must end."""
    if c.stop[0]:
        raise Fault(int(c.stop[0]), site)
    return True


def wrap(x: int) -> int:
    """Return *x* as a 64-bit integer in two's complement."""
    return (x + _HALF) % _WHOLE - _HALF


def within(x: int, lo: int, hi: int, site: int) -> int:
    if not lo <= x <= hi:
        raise Fault(RANGE, site)
    return x


def float32(x: float) -> float:
    """Return *x* rounded to float32; infinite beyond its range."""
    return ctypes.c_float(x).value


def float_of(x: int) -> float:
    """Return a float64 that rounds to the float32 nearest to *x*: lost bits leave a sticky bit."""
    low = x & 0xFFF
    return float(x if abs(x) < 1 << 53 or not low else (x - low) | 0x1000)


def to_int(x: float, site: int) -> int:
    if not -(2.0**63) <= x < 2.0**63:
        raise Fault(RANGE, site)
    return int(x)


def divide(x: float, y: float) -> float:
    if y == 0.0:
        nan = x == 0.0 or math.isnan(x)
        return math.nan if nan else math.copysign(math.inf, math.copysign(1.0, x) * math.copysign(1.0, y))
    return x / y


def true_divide(x: float, y: float, site: int) -> float:
    if y == 0.0:
        raise Fault(DIVISION, site)
    return x / y


def floor_divide_i(x: int, y: int, site: int) -> int:
    if y == 0:
        raise Fault(DIVISION, site)
    return wrap(x // y)


def modulo_i(x: int, y: int, site: int) -> int:
    if y == 0:
        raise Fault(DIVISION, site)
    return x % y


def floor_divide_f(x: float, y: float) -> float:
    if y == 0.0:
        return divide(x, y)
    return x // y


def modulo_f(x: float, y: float) -> float:
    if y == 0.0:
        return math.nan
    return x % y


def shift_left(x: int, n: int, site: int) -> int:
    if not 0 <= n <= 63:
        raise Fault(SHIFT, site)
    return wrap(x << n)


def shift_right(x: int, n: int, site: int) -> int:
    if not 0 <= n <= 63:
        raise Fault(SHIFT, site)
    return x >> n


def power_i(x: int, n: int) -> int:
    return wrap(pow(x, n, _WHOLE))


def square(x: float) -> float:
    return x * x


def steps(c: Any, start: int, stop: int, step: int, site: int) -> Iterator[int]:
    """Yield Python's range, or raise the fault for step 0."""
    if step == 0:
        raise Fault(STEP, site)
    for k in range(start, stop, step):
        heed(c, site)
        yield k


# ---- math ------------------------------------------------------------------------------------------

_PLAIN: dict[str, Callable[..., Any]] = {
    "isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite,
    "degrees": lambda x: x * (180.0 / math.pi), "radians": lambda x: x * (math.pi / 180.0),
}  # fmt: skip
_TWO = ("atan2", "copysign", "fmod", "hypot", "nextafter", "pow", "remainder")
_ARGUMENTS = {**dict.fromkeys(_TWO, 2), "fma": 3}


@functools.cache
def _libm() -> ctypes.CDLL:
    here = ctypes.CDLL(None)
    return here if hasattr(here, "lgamma") else ctypes.CDLL(ctypes.util.find_library("m"))


@functools.cache
def math_function(name: str) -> Callable[..., Any]:
    """Return the C library's function behind ``math.<name>``."""
    if name in _PLAIN:
        return _PLAIN[name]
    function = getattr(_libm(), {"gamma": "tgamma"}.get(name, name))
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * _ARGUMENTS.get(name, 1)
    if name == "ldexp":
        function.argtypes = [ctypes.c_double, ctypes.c_int]
        return lambda x, n: function(x, max(-5000, min(5000, n)))
    return function  # type: ignore[no-any-return]


def log(x: float, base: float) -> float:
    """Return ``math.log(x, base)`` as Python computes it."""
    one = math_function("log")
    return divide(one(x), one(base))


# ---- arrays: flat lists, row by row ------------------------------------------------------------------


def index(i: int, n: int, site: int) -> int:
    if not -n <= i < n:
        raise Fault(INDEX, site)
    return i % n


def counted(i: int, n: int, site: int) -> int:
    if not 0 <= i < n:
        raise Fault(COUNTED, site)
    return i


def sum_of_four(values: list[float]) -> float:
    """Return a sum in the compiled order."""
    return _sum_in_turn(values, 4, float)


def sum_of_eight(values: list[float]) -> float:
    """Return a sum of float32 in the compiled order."""
    return _sum_in_turn(values, 8, float32)


def _sum_in_turn(values: list[float], ways: int, rounded: Callable[[float], float]) -> float:
    sums = [0.0] * ways
    end = len(values) - len(values) % ways
    for k, value in enumerate(values):
        way = k % ways if k < end else 0
        sums[way] = rounded(sums[way] + value)
    while len(sums) > 1:
        sums = [rounded(one + other) for one, other in zip(sums[::2], sums[1::2], strict=True)]
    return sums[0]


def reduce_sum(values: list[float]) -> float:
    return functools.reduce(lambda a, b: a + b, values, 0.0)


def reduce_prod(values: list[float]) -> float:
    return functools.reduce(lambda a, b: a * b, values, 1.0)


def reduce_sum_single(values: list[float]) -> float:
    return functools.reduce(lambda a, b: float32(a + b), values, 0.0)


def reduce_prod_single(values: list[float]) -> float:
    return functools.reduce(lambda a, b: float32(a * b), values, 1.0)


def reduce_sum_i(values: list[int]) -> int:
    return functools.reduce(lambda a, b: wrap(a + b), values, 0)


def reduce_prod_i(values: list[int]) -> int:
    return functools.reduce(lambda a, b: wrap(a * b), values, 1)


def minimum(a: float, b: float) -> float:
    return a if a <= b or a != a else b


def maximum(a: float, b: float) -> float:
    return a if a >= b or a != a else b


def reduce_min(values: list[Any]) -> Any:
    return functools.reduce(minimum, values)


def reduce_max(values: list[Any]) -> Any:
    return functools.reduce(maximum, values)


def reduce_argmin(values: list[Any]) -> int:
    least = reduce_min(values)
    return next(k for k, x in enumerate(values) if x == least or x != x)


def reduce_argmax(values: list[Any]) -> int:
    largest = reduce_max(values)
    return next(k for k, x in enumerate(values) if x == largest or x != x)


def search(values: list[Any], wanted: Any, right: bool) -> int:
    if isinstance(wanted, float) or isinstance(values[0], float):
        values, wanted = list(map(float, values)), float(wanted)

    bisect = bisect_right if right else bisect_left
    return bisect(values, nan_last(wanted), key=nan_last)


def nan_last(x: Any) -> tuple[bool, Any]:
    """Return a sort key with nan last."""
    return (True, 0) if x != x else (False, x)


def earlier_argmin(new: tuple[Any, Any], kept: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the pair with the smaller key, on ties with the smaller payload; nan comes last."""
    return new if new[0] < kept[0] or (new[0] == kept[0] and _smaller(new[1], kept[1])) else kept


def earlier_argmax(new: tuple[Any, Any], kept: tuple[Any, Any]) -> tuple[Any, Any]:
    """As `earlier_argmin`, with the larger key."""
    return new if new[0] > kept[0] or (new[0] == kept[0] and _smaller(new[1], kept[1])) else kept


def _smaller(a: Any, b: Any) -> bool:
    return bool(a < b or (b != b and a == a))
