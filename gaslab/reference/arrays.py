"""Vectors and matrices of the reference engine: numpy arrays that give numbers of the language."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from gaslab.errors import ProgramError
from gaslab.language import solvers
from gaslab.reference import float32
from gaslab.reference.arithmetic import LIMITS, PRECISION, Fault, number

_WIDE = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}
SINGULAR = "a matrix that cannot be solved: it is singular, or not positive definite where it must be"
OUTSIDE = "an index outside the vector, matrix or list"
UNCOUNTED = (
    "a value that np.bincount cannot count: it is below 0, or not below minlength; count ints from 0 on, "
    "and give minlength= as one more than the largest"
)


class Row(np.ndarray):
    """An array in a method: its elements are numbers of the language; ``x += y`` makes a new one."""

    may_write: Callable[[], bool] | None = None  # for a field: whether a store counts; may raise
    storage = ""

    def __getitem__(self, index: Any) -> Any:
        try:
            return of_language(super().__getitem__(index))
        except IndexError:
            raise Fault(OUTSIDE) from None

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.may_write is not None:
            if not self.may_write():
                return
            if self.storage != "id":
                value = narrowed(self.storage, np.asarray(value))
        try:
            super().__setitem__(index, value)
        except IndexError:
            raise Fault(OUTSIDE) from None

    def __matmul__(self, other: Any) -> Any:
        return of_language(np.matmul(self, other))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        plain = [np.asarray(x) if isinstance(x, Row) else x for x in inputs]
        if ufunc in _COUNTS_BOOLS:
            plain = [x * 1 if isinstance(x, np.ndarray) and x.dtype.kind == "b" else x for x in plain]
        if method == "__call__" and ufunc in _MAY_FAULT:
            _MAY_FAULT[ufunc](*map(np.asarray, plain))
        with np.errstate(all="ignore"):
            if PRECISION.get() == "float32":
                made = float32.operation(ufunc, method, plain, keywords)
            else:
                made = getattr(ufunc, method)(*plain, **keywords)
        return made.view(Row) if isinstance(made, np.ndarray) else made


def _anew(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: operation(self, other)


for _name in (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"),
    *("and_", "or_", "xor", "lshift", "rshift"),
):
    setattr(Row, f"__i{_name.rstrip('_')}__", _anew(getattr(operator, _name)))


def _no_zero(a: np.ndarray, b: np.ndarray) -> None:
    """Raise `Fault` for a division by the int 0, about which numpy only warns."""
    if b.dtype.kind != "f" and not b.all():
        raise Fault("integer division by zero")


def _no_zero_of_ints(a: np.ndarray, b: np.ndarray) -> None:
    if a.dtype.kind != "f":
        _no_zero(a, b)


def _within_64(a: np.ndarray, b: np.ndarray) -> None:
    """Raise `Fault` for a shift that numpy evaluates to 0."""
    for count in b.ravel().tolist():
        if not 0 <= count <= 63:
            raise Fault(f"shift by {count}, which is not within 0..63")


_MAY_FAULT: dict[np.ufunc, Callable[[np.ndarray, np.ndarray], None]] = {
    **{np.true_divide: _no_zero, np.floor_divide: _no_zero_of_ints, np.remainder: _no_zero_of_ints},
    **dict.fromkeys((np.left_shift, np.right_shift), _within_64),
}
_COUNTS_BOOLS = {*_MAY_FAULT, np.add, np.subtract, np.multiply, np.power, np.negative, np.positive}


def rounded_all(value: Any) -> Any:
    """Return an array with floats of the program's precision; anything else unchanged."""
    if isinstance(value, np.ndarray) and PRECISION.get() == "float32":
        return float32.rounded(value)
    return value


def of_language(value: Any) -> Any:
    """Return numpy's results as numbers and arrays of the language."""
    if isinstance(value, np.generic):
        return number(value.item())
    if isinstance(value, np.ndarray):
        return number(value.item()) if value.ndim == 0 else value.view(Row)
    return number(value)


def narrowed(storage: str, values: np.ndarray) -> np.ndarray:
    """Return values as read back from a field of this storage type."""
    if storage == "id":
        return values
    dtype = np.dtype(storage)
    if storage in LIMITS and values.size:
        if values.dtype.kind == "f":
            raise TypeError(f"floats cannot be stored as {storage}")
        low, high = LIMITS[storage]
        for value in (int(values.min()), int(values.max())):
            if not low <= value <= high:
                raise Fault(f"{value} is outside the range of {storage}")
    with np.errstate(all="ignore"):
        return values.astype(dtype).astype(_WIDE[dtype.kind])


def field_row(
    storage: str, shape: tuple[int, ...], value: Any, may_write: Callable[[], bool] | None = None
) -> Row:
    """Return a field's array with *value*, of its shape or a single number, in its storage type."""
    values = np.array(value, object) if storage == "id" else np.asarray(value)
    if values.shape not in ((), shape):
        raise ProgramError(f"an array of shape {values.shape} cannot be stored in one of shape {shape}")
    row = narrowed(storage, np.array(np.broadcast_to(values, shape))).view(Row)
    row.storage, row.may_write = storage, may_write
    return row


def shared_row(values: np.ndarray) -> Row:
    """Return an array from outside as methods read it: numbers of its dtype, read-only."""
    row: Row = rounded_all(narrowed(values.dtype.name, values)).view(Row)
    row.setflags(write=False)
    return row


class WithArrays:
    """A user's module or class as a program sees it, with arrays of the language."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def __getattr__(self, name: str) -> Any:
        return with_arrays(getattr(self._owner, name))


def with_arrays(value: Any) -> Any:
    """Return an array, or a module or class that may contain one, as a program sees it; else *value*."""
    if isinstance(value, np.ndarray) and value.ndim:
        return shared_row(value)
    is_owner = isinstance(value, types.ModuleType) or (
        isinstance(value, type) and any(isinstance(x, np.ndarray) for x in vars(value).values())
    )
    return WithArrays(value) if is_owner else value


class NumpyModule:
    """The ``np`` or ``np.linalg`` that a program sees."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return translated(getattr(self._module, name))


def _sort(x: np.ndarray) -> np.ndarray:
    """Return a sorted copy in which equal elements, including 0.0 and -0.0, keep their order."""
    return np.sort(x, kind="stable")


def _bincount(x: Any, minlength: int) -> np.ndarray:
    """Return the count of each int below *minlength* in a list or a vector."""
    values, n = np.asarray(x).astype(np.int64), int(minlength)
    if ((values < 0) | (values >= n)).any():
        raise Fault(UNCOUNTED)
    return np.bincount(values, minlength=n)


def _minimum(a: Any, b: Any) -> Any:
    """Return numpy's minimum; of equal elements, including 0.0 and -0.0, the first."""
    a, b = np.asarray(a), np.asarray(b)
    return np.where((a <= b) | (a != a), a, b)


def _maximum(a: Any, b: Any) -> Any:
    """As `_minimum`."""
    a, b = np.asarray(a), np.asarray(b)
    return np.where((a >= b) | (a != a), a, b)


def _min(x: Any) -> Any:
    return functools.reduce(_minimum, np.asarray(x).reshape(-1))


def _max(x: Any) -> Any:
    return functools.reduce(_maximum, np.asarray(x).reshape(-1))


def _bitwise_count(x: Any) -> Any:
    """Return numpy's counts as int64: its own type is narrower, and sums of it would wrap."""
    return np.bitwise_count(x).astype(np.int64)


_INSTEAD: dict[Any, Callable[..., Any]] = {
    np.sort: _sort, np.bincount: _bincount, np.minimum: _minimum, np.maximum: _maximum,
    np.bitwise_count: _bitwise_count,
    np.min: _min, np.amin: _min, np.max: _max, np.amax: _max,
}  # fmt: skip
_SINGLE: dict[Any, Callable[..., Any]] = {np.dot: float32.dot, np.linalg.norm: float32.norm}


def translated(value: Any) -> Any:
    """Return a module or function of numpy as a program sees it."""
    if isinstance(value, types.ModuleType):
        return NumpyModule(value)
    if not callable(value):
        return number(value)
    instead = _INSTEAD | _SINGLE if PRECISION.get() == "float32" else _INSTEAD
    return of_language_always(instead.get(value, value))


def of_language_always(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return *function* with results as numbers and arrays of the language."""

    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                return of_language(rounded_all(function(*arguments, **keywords)))
        except np.linalg.LinAlgError:
            raise Fault(SINGULAR) from None

    return call


class GaslabModule:
    """The ``gaslab`` that a program of float32 sees: solvers in float64 with rounded results."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return of_solvers(getattr(self._module, name))


def of_solvers(value: Any) -> Any:
    """Return gaslab, or one of its solvers, as a program of float32 sees it; anything else unchanged."""
    if isinstance(value, types.ModuleType):
        return GaslabModule(value)
    return of_language_always(value) if getattr(value, "__module__", "") == solvers.__name__ else value
