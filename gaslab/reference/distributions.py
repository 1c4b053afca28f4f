"""Random words as draws from distributions, for the reference engine, each following its paper.

Shares nothing with ``distributions.h`` and its twin in `compiler.python`, so that each tests the other.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gaslab.errors import unknown
from gaslab.reference.arithmetic import Fault

Words = Callable[[int], tuple[int, int]]  # gives the next two words, of which this many will be used
WEIGHTS = "weights that gl.categorical cannot draw by: one is below 0 or nan, or they add up to 0 or infinity"
PARAMETER = (
    "a distribution whose parameter is negative, infinite or nan, a mean above 2**52, or an alpha that "
    "is all but 0"
)


def drawn(
    kind: str, arguments: tuple[Any, ...], words: Words, rounded: Callable[[float], float] = float
) -> Any:
    """Return a draw: a number, or an array for a vector; *rounded* rounds a float to its precision."""
    if kind in _CHECKED:
        flat = arguments[0] if kind == "dirichlet" else arguments
        most = 2.0**52 if kind == "poisson" else sys.float_info.max
        if not all(0.0 <= x <= most for x in flat):
            raise Fault(PARAMETER)
        return _CHECKED[kind](words, *map(_floats, arguments))
    if kind == "categorical":
        return categorical(words, arguments[0], rounded)
    if kind == "integers":
        if arguments[0] < 1:
            raise Fault(f"gl.integers({int(arguments[0])}): n must be at least 1")
        return words(1)[0] * int(arguments[0]) >> 64
    if kind != "uniform":
        raise unknown("the reference", kind)
    low, high = arguments
    return low + (high - low) * point(words, rounded)


def _floats(x: Any) -> Any:
    return [float(one) for one in x] if isinstance(x, list) else float(x)


def point(words: Words, rounded: Callable[[float], float] = float) -> float:
    """A number in [0, 1): of 53 bits, or as many as a float of its precision has."""
    whole = words(1)[0] >> 11
    bits = 53 if rounded(2.0**53 - 1.0) == 2.0**53 - 1.0 else 24
    return math.ldexp(whole >> (53 - bits), -bits)


def normal(words: Words) -> float:
    """Box and Muller, 1958."""
    one, other = words(2)
    radius = math.sqrt(-2.0 * math.log(math.ldexp((one >> 11) + 1, -53)))
    return radius * math.cos(2.0 * math.pi * math.ldexp(other >> 11, -53))


def categorical(words: Words, weights: Sequence[float], rounded: Callable[[float], float] = float) -> int:
    """An index by weights, which go to eight running sums in turn; their ends are added in two halves."""
    sums: list[list[float]] = [[] for _ in range(8)]
    for k, weight in enumerate(weights):
        sums[k % 8].append(rounded(weight + (sums[k % 8][-1] if k >= 8 else 0.0)))
    ends = [0.0]
    for one in sums[:4]:
        ends.append(rounded(ends[-1] + (one[-1] if one else 0.0)))
    more = 0.0
    for one in sums[4:]:
        more = rounded(more + (one[-1] if one else 0.0))
        ends.append(rounded(ends[4] + more))
    if not all(weight >= 0.0 for weight in weights) or not 0.0 < ends[8] < math.inf:
        raise Fault(WEIGHTS)
    at = rounded(ends[8] * point(words, rounded))
    chosen = next(k for k in range(8) if ends[k + 1] > at or ends[k + 1] == ends[8])
    rest, one = rounded(at - ends[chosen]), sums[chosen]
    return chosen + 8 * next(row for row, end in enumerate(one) if end > rest or end == one[-1])


def within_0_and_1(word: int) -> float:
    """A number of 52 bits and a half, so that it is neither 0 nor 1."""
    return math.ldexp(2 * (word >> 12) + 1, -53)


def unit_exponential(words: Words) -> float:
    return -math.log(within_0_and_1(words(1)[0]))


def unit_gamma(words: Words, shape: float) -> tuple[float, float]:
    """Marsaglia and Tsang, 2000: a draw as a factor, and the logarithm of another."""
    if shape == 0.0:
        return 1.0, -math.inf
    if shape < 1.0:
        large, _ = unit_gamma(words, shape + 1.0)
        return large, -unit_exponential(words) / shape
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(words)
        if 1.0 + c * x <= 0.0:
            continue
        v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x)
        u = within_0_and_1(words(1)[0])
        if u < 1.0 - 0.0331 * (x * x * (x * x)):
            return d * v, 0.0
        if math.log(u) < 0.5 * (x * x) + d * (1.0 - v + math.log(v)):
            return d * v, 0.0


def gamma(words: Words, shape: float, scale: float) -> float:
    factor, log = unit_gamma(words, shape)
    return scale * (factor * math.exp(log))


def dirichlet(words: Words, alpha: list[float]) -> np.ndarray:
    """Draws from gamma distributions, as logarithms, divided by their sum."""
    parts = [unit_gamma(words, shape) for shape in alpha]
    logs = [math.log(factor) + log for factor, log in parts]
    if max(logs) == -math.inf:
        raise Fault(PARAMETER)
    points = [math.exp(log - max(logs)) for log in logs]
    whole = 0.0
    for point in points:
        whole += point
    return np.array([point / whole for point in points])


def poisson(words: Words, mean: float) -> int:
    """Inversion, or Hoermann's PTRS, 1993."""
    if mean < 10.0:
        u, k, probability = math.ldexp(words(1)[0] >> 11, -53), 0, math.exp(-mean)
        cumulated = probability
        while cumulated <= u and probability > 2.0**-60:
            k += 1
            probability = probability * (mean / k)
            cumulated = cumulated + probability
        return k
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    while True:
        u, v = (within_0_and_1(word) for word in words(2))
        u -= 0.5
        us = 0.5 - abs(u)
        k = math.floor((2.0 * a / us + b) * u + mean + 0.43)
        if us >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2.0):
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        hat = 1.1239 + 1.1328 / (b - 3.4)
        if math.log(v * hat / (a / (us * us) + b)) <= log_probability(float(k), mean):
            return k


def log_probability(k: float, mean: float) -> float:
    """log(mean**k * exp(-mean) / k!), from k = 10 on with Stirling's series for k!."""
    if k < 10.0:
        return k * math.log(mean) - mean - math.log(math.factorial(int(k)))
    error = 0.0
    for term in (1680, 1260, 360, 12):
        error = 1.0 / term - error / (k * k)
    stirling = 0.5 * math.log(6.283185307179586 * k)
    return k * math.log1p((mean - k) / k) + (k - mean) - stirling - error / k


_CHECKED: dict[str, Callable[..., Any]] = {
    "normal": lambda words, scale: scale * normal(words),
    "exponential": lambda words, scale: scale * unit_exponential(words),
    "gamma": gamma, "poisson": poisson, "dirichlet": dirichlet,
}  # fmt: skip
