"""Small linear systems in plain Python: the twins of `gaslab.compiler.c.solvers`, to the bit.

Matrices are flat lists, row by row.
"""

from __future__ import annotations

import math
from typing import Any

from gaslab.compiler.python.numerics import SINGULAR, Fault, divide, heed, sum_of_four


def solve_lu(a: list[float], b: list[float], n: int, m: int, site: int) -> None:
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i * n + k]) > abs(a[best * n + k]):
                best = i
        if a[best * n + k] == 0:
            raise Fault(SINGULAR, site)
        if best != k:
            for j in range(k, n):
                a[k * n + j], a[best * n + j] = a[best * n + j], a[k * n + j]
            for j in range(m):
                b[k * m + j], b[best * m + j] = b[best * m + j], b[k * m + j]
        for i in range(k + 1, n):
            f = divide(a[i * n + k], a[k * n + k])
            for j in range(k + 1, n):
                a[i * n + j] -= f * a[k * n + j]
            for j in range(m):
                b[i * m + j] -= f * b[k * m + j]
    _substitute(a, b, n, m)


def solve_spd(a: list[float], b: list[float], n: int, m: int, site: int) -> None:
    for j in range(n):
        for i in range(j):
            a[i * n + j] = a[j * n + i]
    for k in range(n):
        if a[k * n + k] <= 0:
            raise Fault(SINGULAR, site)
        d = math.sqrt(a[k * n + k])
        for j in range(k, n):
            a[k * n + j] = divide(a[k * n + j], d)
        for i in range(k + 1, n):
            f = a[k * n + i]
            for j in range(i, n):
                a[i * n + j] -= f * a[k * n + j]
        for j in range(m):
            b[k * m + j] = divide(b[k * m + j], a[k * n + k])
            for i in range(k + 1, n):
                b[i * m + j] -= a[k * n + i] * b[k * m + j]
    _substitute(a, b, n, m)


def _substitute(a: list[float], b: list[float], n: int, m: int) -> None:
    for i in range(n - 1, -1, -1):
        for j in range(m):
            x = b[i * m + j]
            for k in range(i + 1, n):
                x -= a[i * n + k] * b[k * m + j]
            b[i * m + j] = divide(x, a[i * n + i])


def conjugate_gradient(
    c: Any, a: list[float], b: list[float], x: list[float], n: int, steps: int, site: int
) -> None:
    if not any(b):
        x[:] = [0.0] * n
        return
    r = [one - other for one, other in zip(b, _times(a, x, n), strict=True)]
    unit = _unit(max(0.0, *(abs(one) for pair in zip(b, r, strict=True) for one in pair)))
    r, b = ([one / unit for one in some] for some in (r, b))
    p, square, right = list(r), _dot(r, r), _dot(b, b)
    enough = (right if right > square else square) * 2.0**-104
    for _ in range(steps):
        heed(c, site)
        if square < enough:
            return
        q = _times(a, p, n)
        curvature = _dot(p, q)
        if curvature <= 0:
            raise Fault(SINGULAR, site)
        step, before = square / curvature, square
        for i in range(n):
            x[i] += step * unit * p[i]
            r[i] -= step * q[i]
        square = _dot(r, r)
        turn = square / before
        for i in range(n):
            p[i] = r[i] + turn * p[i]


def _unit(most: float) -> float:
    """Return a power of two near *most*, 1 if none exists."""
    if not 0.0 < most < math.inf:
        return 1.0
    return math.ldexp(1.0, max(-1000, min(1000, math.frexp(most)[1] - 1)))


def _dot(x: list[float], y: list[float]) -> float:
    return sum_of_four([one * other for one, other in zip(x, y, strict=True)])


def _times(a: list[float], x: list[float], n: int) -> list[float]:
    """Return a @ x for a symmetric matrix, as the sum of its rows times the elements."""
    product = [0.0] * n
    for j in range(n):
        for i in range(n):
            product[i] += x[j] * a[j * n + i]
    return product
