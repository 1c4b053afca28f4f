"""Operations of numpy on arrays of float32, which the reference engine keeps in arrays of float64.

Each is computed in float64 and rounded: for ``+ - * /`` and roots that gives the bits of the float32
operation. Sums have the order of the language: eight running sums in turn from eight elements.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gaslab.reference.arithmetic import as_float

SUMS = 8


def rounded(values: np.ndarray) -> np.ndarray:
    """Return an array with its floats rounded to float32."""
    if values.dtype.kind != "f":
        return values
    with np.errstate(all="ignore"):
        return values.astype(np.float32).astype(np.float64)


def one(x: float) -> float:
    """Return a number rounded to float32."""
    with np.errstate(all="ignore"):
        return float(np.float32(x))


def total(values: Sequence[float]) -> float:
    """Return the sum of numbers."""
    whole = len(values) - len(values) % SUMS
    sums = [0.0] * (SUMS if whole else 1)
    for k, x in enumerate(values):
        at = k % SUMS if k < whole else 0
        sums[at] = one(sums[at] + x)
    while len(sums) > 1:
        sums = [one(sums[k] + sums[k + 1]) for k in range(0, len(sums), 2)]
    return sums[0]


def dot(a: Any, b: Any) -> float:
    """Return the product of two vectors."""
    return total([one(x * y) for x, y in zip(_floats(a), _floats(b), strict=True)])


def norm(x: Any) -> float:
    """Return the root of the sum of the squares."""
    return math.sqrt(dot(x, x))


def operation(ufunc: np.ufunc, method: str, inputs: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Return numpy's result for an operation on numbers and arrays."""
    of_floats = any(isinstance(x, float) or getattr(x, "dtype", None) == np.float64 for x in inputs)
    if not of_floats and ufunc is not np.true_divide:
        return getattr(ufunc, method)(*inputs, **keywords)
    if (ufunc, method) == (np.add, "reduce"):
        return np.float64(total(_floats(inputs[0])))
    if method in ("reduce", "accumulate") and ufunc in (np.add, np.multiply):
        running = _running(ufunc, _floats(inputs[0]))
        return np.float64(running[-1]) if method == "reduce" else np.array(running)
    if ufunc is np.matmul:
        return _product(*inputs)
    made = getattr(ufunc, method)(*map(_single, inputs), **keywords)
    return rounded(made) if isinstance(made, np.ndarray) else made


def _running(ufunc: np.ufunc, values: Sequence[float]) -> list[float]:
    made = list(values[:1])
    for x in values[1:]:
        made.append(one(float(ufunc(made[-1], x))))
    return made


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    left, right = np.atleast_2d(a), b[:, None] if b.ndim == 1 else b
    made = np.array([[dot(row, column) for column in right.T] for row in left])
    return made.reshape(a.shape[:-1] + b.shape[1:])


def _floats(x: Any) -> list[float]:
    return [as_float(one) for one in np.asarray(x).reshape(-1).tolist()]


def _single(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x.astype(np.float32).astype(np.float64) if x.dtype.kind in "iu" else x
    return as_float(x) if isinstance(x, int) and not isinstance(x, bool) else x
