"""Python numbers with the language's arithmetic, for the reference engine.

A program with ``precision = gl.float32`` also computes with `Float`s: each result is rounded.

`Int` wraps at 64 bits and `Float` divides as IEEE 754 does; both are subclasses of Python's own, so
a debugger shows plain numbers. `translate` makes a method compute with them.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from gaslab.errors import unknown

LIMITS = {
    f"{sign}int{bits}": ((0, min(2**bits, 2**63) - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
PRECISION: ContextVar[str] = ContextVar("precision", default="float64")  # of the running program


class Fault(ArithmeticError):
    """Ends a run: the program divided an integer by zero or left a range."""

    written_at: tuple[str, int] | None = None  # file and line of the combined value, if known


class Int(int):
    """An integer of 64 bits that wraps."""


class Float(float):
    """A float of the program's precision whose operations never raise."""


def number(value: Any) -> Any:
    """Return a Python number as the language's; anything else unchanged."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if isinstance(value, float):
        return Float(rounded(value))
    return Int((value + 2**63) % 2**64 - 2**63)


def rounded(value: float) -> float:
    """Return a float in the program's precision."""
    return _float32(value) if PRECISION.get() == "float32" else value


def as_float(value: Any) -> float:
    """Return the nearest float of the program's precision."""
    if PRECISION.get() == "float32" and isinstance(value, int):
        return float(np.int64(value).astype(np.float32))
    return float(value)


def narrow(storage: str, value: Any) -> Any:
    """Return *value* as read back from a field of this storage type."""
    if storage == "id":
        return value
    kind, _, element = storage.partition(":")
    if element:
        if kind == "list":
            return [narrow(element, x) for x in value]
        return sorted({narrow(element, x) for x in value})
    if storage == "bool":
        return bool(value)
    if storage == "float64":
        return Float(value)
    if storage == "float32":
        return _float32(as_float(value))
    if isinstance(value, float):
        raise TypeError(f"a float ({value!r}) cannot be stored as {storage}; write int(...)")
    if storage not in LIMITS:
        raise unknown("the reference", storage)
    value = number(int(value))
    low, high = LIMITS[storage]
    if not low <= value <= high:
        raise Fault(f"{int(value)} is outside the range of {storage}")
    return value


def bucket(priority: Any) -> int:
    """Return a priority as an int, rounded down."""
    if isinstance(priority, float) and not -(2.0**63) <= priority < 2.0**63:  # false for nan
        raise Fault(f"{float(priority)!r} is outside the range of int64")
    whole: int = math.floor(priority)
    if not 0 <= whole < 2**63 - 1:
        raise Fault(f"{whole} is outside the range of priorities")
    return whole


def _float32(value: float) -> Float:
    try:
        return Float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return Float(math.copysign(math.inf, value))


# ---- operators -------------------------------------------------------------------------------------


def _divide(a: Any, b: Any) -> Any:
    if not isinstance(b, float):
        if b == 0:
            raise Fault("integer division by zero")
    elif b == 0:
        nan = a == 0 or math.isnan(a)
        return math.nan if nan else math.copysign(math.inf, math.copysign(1, a) * math.copysign(1, b))
    return as_float(a) / as_float(b)


def _floor_divide(a: Any, b: Any) -> Any:
    if isinstance(a, float) or isinstance(b, float):
        return _divide(as_float(a), as_float(b)) if b == 0 else as_float(a) // as_float(b)
    if b == 0:
        raise Fault("integer division by zero")
    return int(a) // int(b)


def _modulo(a: Any, b: Any) -> Any:
    if isinstance(a, float) or isinstance(b, float):
        return math.nan if b == 0 or math.isinf(a) else as_float(a) % as_float(b)
    if b == 0:
        raise Fault("integer division by zero")
    return int(a) % int(b)


def _power(a: Any, b: Any) -> Any:
    if isinstance(a, float) or isinstance(b, float):
        return power(as_float(a), as_float(b))
    return pow(int(a), int(b), 2**64)


def power(a: float, b: float) -> float:
    """Return C's pow."""
    try:
        return math.pow(a, b)
    except OverflowError:
        return math.copysign(math.inf, a) if math.fmod(b, 2) in (1, -1) else math.inf
    except ValueError:
        if a != 0:
            return math.nan
        return math.copysign(math.inf, a) if math.fmod(b, 2) in (1, -1) else math.inf


def _shift(operation: Callable[[int, int], int]) -> Callable[[Any, Any], Any]:
    def shift(a: Any, b: Any) -> Any:
        if not 0 <= b <= 63:
            raise Fault(f"shift by {int(b)}, which is not within 0..63")
        return operation(int(a), int(b))

    return shift


def _plain(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(a: Any, b: Any) -> Any:
        kind = as_float if isinstance(a, float) or isinstance(b, float) else int
        return operation(kind(a), kind(b))

    return apply


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": _plain(operator.add), "sub": _plain(operator.sub), "mul": _plain(operator.mul),
    "truediv": _divide, "floordiv": _floor_divide, "mod": _modulo, "pow": _power,
    "and": _plain(operator.and_), "or": _plain(operator.or_), "xor": _plain(operator.xor),
    "lshift": _shift(operator.lshift), "rshift": _shift(operator.rshift),
}  # fmt: skip


def _method(operation: Callable[[Any, Any], Any], swapped: bool) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        return number(operation(other, self) if swapped else operation(self, other))

    return method


for _name, _operation in _BINARY.items():
    for _kind in (Int, Float):
        setattr(_kind, f"__{_name}__", _method(_operation, swapped=False))
        setattr(_kind, f"__r{_name}__", _method(_operation, swapped=True))
for _kind, _base in ((Int, int), (Float, float)):
    for _name in ("__neg__", "__pos__", "__abs__", "__invert__", "bit_count"):
        _unary = getattr(_base, _name, None)
        if _unary is not None:
            setattr(_kind, _name, lambda self, _unary=_unary: number(_unary(self)))
