"""The drawings of a page, as SVG: the map of topics, the course of the likelihood."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

WIDTH, HEIGHT = 640, 440
AREA = 0.16  # of the map that all circles cover together
LABELLED = 9.0  # radius from which a circle has its number in it
LABEL = (24, 13)  # room of a number, across and down; a circle whose number has none goes without


def draw_map(places: np.ndarray, sizes: np.ndarray, names: Sequence[int], words: Sequence[str]) -> str:
    """Return the map of topics, the largest at the back.

    Parameters
    ----------
    places : float64 array [topics, 2]
    sizes : float64 array [topics]
        Shares of the tokens: areas of the circles.
    names : sequence of int
        The number of each topic.
    words : sequence of str
        What the tooltip of each says.
    """
    radii = np.sqrt(np.maximum(sizes, 1e-6) / max(sizes.sum(), 1e-6) * AREA * WIDTH * HEIGHT / math.pi)
    radii = np.clip(radii, 2.5, HEIGHT / 5)
    spread = np.ptp(places, axis=0)
    margin = float(radii.max()) + 8
    room = np.array([WIDTH, HEIGHT]) - 2 * margin
    with np.errstate(divide="ignore"):
        factor = float(np.min(np.where(spread > 1e-9, room / spread, np.inf)))
    middle = (places.max(axis=0) + places.min(axis=0)) / 2
    at = (places - middle) * (factor if math.isfinite(factor) else 0.0) * [1, -1] + [WIDTH / 2, HEIGHT / 2]
    circles, numbers = [], []
    numbered = np.empty((0, 2))
    for k in np.argsort(-radii, kind="stable").tolist():
        (x, y), r, name = at[k], radii[k], names[k]
        title = f"<title>topic {name}: {escape(words[k])}</title>"
        circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"/>'
        circles.append(f'<g data-topic="{name}">{title}{circle}</g>')
        if r >= LABELLED and not (np.abs(numbered - at[k]) < LABEL).all(axis=1).any():
            numbered = np.vstack([numbered, at[k]])
            numbers.append(f'<text x="{x:.1f}" y="{y:.1f}">{name}</text>')
    parts = circles + numbers
    return _svg("map", WIDTH, HEIGHT, "Map of the topics; the list of topics has the same topics", parts)


def draw_curve(history: Sequence[Mapping[str, Any]]) -> str:
    """Return the log-likelihood per token by sweep; "" where no sweep has one."""
    points = likelihoods(history)
    if not points:
        return ""
    left, right, top, bottom = 62, WIDTH - 16, 16, 270
    sweeps, values = [x for x, _ in points], [y for _, y in points]
    low, high = min(values), max(values)
    pad = (high - low) * 0.06 or 0.5
    ticks, places = _ticks(low - pad, high + pad)
    lo, hi = min(low - pad, ticks[0]), max(high + pad, ticks[-1])
    last = max(sweeps[-1], 1)

    def x(sweep: float) -> float:
        return left + (right - left) * sweep / last

    def y(value: float) -> float:
        return bottom - (bottom - top) * (value - lo) / (hi - lo)

    parts = []
    for tick in ticks:
        parts.append(f'<path class="grid" d="M{left} {y(tick):.1f}H{right}"/>')
        parts.append(
            f'<text class="tick end" x="{left - 8}" y="{y(tick):.1f}">{minus(f"{tick:.{places}f}")}</text>'
        )
    for tick in _ticks(0, last, whole=True)[0]:
        parts.append(f'<text class="tick" x="{x(tick):.1f}" y="{bottom + 18}">{int(tick)}</text>')
    parts.append(f'<text class="tick" x="{(left + right) / 2}" y="{bottom + 38}">sweep</text>')
    line = " ".join(f"{x(sweep):.1f},{y(value):.1f}" for sweep, value in points)
    parts.append(f'<polyline points="{line}"/>')
    for sweep, value in points if len(points) <= 60 else points[-1:]:
        title = f"<title>sweep {sweep}: {minus(f'{value:.4f}')}</title>"
        parts.append(f'<circle cx="{x(sweep):.1f}" cy="{y(value):.1f}" r="3.5">{title}</circle>')
    ends = (f"{values[k]:.4f} at sweep {sweeps[k]}" for k in (0, -1))
    said = f"Log-likelihood per token: {' to '.join(ends)}"
    return _svg("curve", WIDTH, bottom + 48, said, parts)


def likelihoods(history: Sequence[Mapping[str, Any]]) -> list[tuple[int, float]]:
    """Return (sweep, log-likelihood per token) of the sweeps that have one."""
    known = ((int(row["iteration"]), row.get("log_likelihood_per_token")) for row in history)
    return [(sweep, float(value)) for sweep, value in known if value is not None and math.isfinite(value)]


def _ticks(low: float, high: float, whole: bool = False) -> tuple[list[float], int]:
    """Return about five round numbers from *low* to *high*, and how many decimals they have."""
    rough = max(high - low, 1e-9) / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(m * unit for m in (1, 2, 2.5, 5, 10) if m * unit >= rough * 0.999)
    step = max(math.ceil(step), 1) if whole else step
    places = next(n for n in range(20) if n == 19 or abs(step * 10**n - round(step * 10**n)) < 1e-6)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)], places


def minus(number: str) -> str:
    """Return a number as text with a minus sign for its hyphen."""
    return number.replace("-", "−")


def _svg(name: str, width: int, height: int, said: str, parts: Sequence[str]) -> str:
    head = f'<svg class="{name}" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(said)}">'
    return "\n".join([head, *parts, "</svg>"])
