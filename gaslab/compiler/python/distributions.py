"""Draws by weights and from other distributions, in plain Python.

The twins of ``distributions.h`` and of `gaslab.compiler.c.distributions`, to the bit.
"""

from __future__ import annotations

import itertools
import math
import sys
from typing import Any

from gaslab.compiler.python.numerics import Fault, float32, math_function
from gaslab.compiler.tree import SUMS

WEIGHTS, PARAMETER = 8, 14  # gl_fault.code
# functions of a `Random`, the draw's arguments and its site
SCALARS = ("normal", "exponential", "gamma", "poisson")


def categorical(random: Any, weights: list[float], site: int) -> int:
    rounded = float32 if random.precision == "float32" else float

    def add(a: float, b: float) -> float:
        return rounded(a + b)

    sums = [list(itertools.accumulate(weights[k::SUMS], add)) or [0.0] for k in range(SUMS)]
    half = SUMS // 2  # of the sums are added separately
    ends, more = (
        list(itertools.accumulate((one[-1] for one in some), add)) for some in (sums[:half], sums[half:])
    )
    ends += [add(ends[-1], end) for end in more]
    whole = ends[-1]
    if not 0.0 < whole <= sys.float_info.max or not all(weight >= 0.0 for weight in weights):
        raise Fault(WEIGHTS, site)
    rest = rounded(whole * random.point())
    k = next(k for k, end in enumerate(ends) if end > rest or end == whole)
    rest = rounded(rest - (ends[k - 1] if k else 0.0))
    return k + SUMS * next(j for j, at in enumerate(sums[k]) if at > rest or at == sums[k][-1])


def normal(random: Any, scale: float, site: int) -> float:
    return _parameter(scale, site) * random.normal()  # type: ignore[no-any-return]


def exponential(random: Any, scale: float, site: int) -> float:
    return _parameter(scale, site) * _exponential(random)


def gamma(random: Any, shape: float, scale: float, site: int) -> float:
    shape, scale = _parameter(shape, site), _parameter(scale, site)
    if shape >= 1 or shape == 0:
        return scale * (_large_gamma(random, shape) if shape else 0.0)
    large = _large_gamma(random, shape + 1.0)
    return scale * (large * math_function("exp")(-_exponential(random) / shape))  # type: ignore[no-any-return]


def dirichlet(random: Any, parameters: list[float], site: int) -> list[float]:
    logs = [_log_gamma(random, _parameter(x, site)) for x in parameters]
    most = max(logs)
    if most == -math.inf:
        raise Fault(PARAMETER, site)
    draws = [math_function("exp")(x - most) for x in logs]
    whole = draws[0]
    for x in draws[1:]:
        whole += x
    return [x / whole for x in draws]


def poisson(random: Any, mean: float, site: int) -> int:
    mean = _parameter(mean, site, 2.0**52)
    if mean < 10:
        u = (random.word() >> 11) * 2.0**-53
        all_ = one = math_function("exp")(-mean)
        k = 0
        while u >= all_ and one > 2.0**-60:
            k += 1
            one *= mean / k
            all_ += one
        return k
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse, sure = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2.0)
    while True:
        first, second = random.words()
        u, v = _positive(first) - 0.5, _positive(second)
        end = 0.5 - abs(u)
        count = math.floor((2.0 * a / end + b) * u + mean + 0.43)
        if end >= 0.07 and v <= sure:
            return count
        if count < 0 or (end < 0.013 and v > end):
            continue
        if math_function("log")(v * inverse / (a / (end * end) + b)) <= _log_poisson(float(count), mean):
            return count


def _parameter(x: float, site: int, most: float = sys.float_info.max) -> float:
    if not 0.0 <= x <= most:
        raise Fault(PARAMETER, site)
    return x


def _positive(word: int) -> float:
    return ((word >> 12) + 0.5) * 2.0**-52


def _exponential(random: Any) -> float:
    return -math_function("log")(_positive(random.word()))  # type: ignore[no-any-return]


def _large_gamma(random: Any, shape: float) -> float:
    log, d = math_function("log"), shape - 1.0 / 3.0
    deviation = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = random.normal()
        t = 1.0 + deviation * x
        if t <= 0.0:
            continue
        v, u, square = t * t * t, _positive(random.word()), x * x
        if u < 1.0 - 0.0331 * (square * square) or log(u) < 0.5 * square + d * (1.0 - v + log(v)):
            return d * v  # type: ignore[no-any-return]


def _log_gamma(random: Any, shape: float) -> float:
    log = math_function("log")
    if shape >= 1 or shape == 0:
        return log(_large_gamma(random, shape)) if shape else -math.inf
    large = log(_large_gamma(random, shape + 1.0))
    return large - _exponential(random) / shape  # type: ignore[no-any-return]


def _log_poisson(k: float, mean: float) -> float:
    log = math_function("log")
    if k < 10:
        return k * log(mean) - mean - log(float(math.factorial(int(k))))  # type: ignore[no-any-return]
    square = k * k
    series = (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / square) / square) / square) / k
    near = k * math_function("log1p")((mean - k) / k) + (k - mean)
    return near - 0.5 * log(6.283185307179586 * k) - series  # type: ignore[no-any-return]
