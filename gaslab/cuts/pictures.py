"""The pictures of a cut, drawn by matplotlib without touching its global state.

Colours are those of Okabe and Ito, which people who see colours differently tell apart; lines differ by their
marks as well.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator, ScalarFormatter

from gaslab.partitioning.census import Census
from gaslab.partitioning.metrics import CutMetrics, PartitionMetrics

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F")
LINES = ("-", "--", "-.")  # where two run together, both are seen
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
QUIET = "#6b737c"
SIZE = (6.4, 4.2)  # inches
WIDE_BARS = 64  # parts up to which each has a bar of its own, with gaps
LABELLED = 10  # parts up to which each cell of the traffic has its number


def svg(figure: Figure) -> str:
    """Return a figure as SVG, the same text for the same figure."""
    out = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "gaslab", "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    return out.getvalue()


def draw_replication(
    by_k: Mapping[str, Sequence[tuple[int, float]]],
    expected: Sequence[tuple[int, float]],
    bound: Sequence[tuple[int, float]],
) -> Figure:
    """Return RF against the number of parts, a line per strategy, with random's expectation and the bound."""
    figure, axes = _axes("parts k", "replication factor RF")
    axes.plot(*zip(*bound, strict=True), color=QUIET, linestyle=":", label="2 √k, about 2d's bound")
    axes.plot(*zip(*expected, strict=True), color="black", linestyle="--", linewidth=1,
              zorder=4, label="random, exact expectation")  # fmt: skip
    for (name, points), style in zip(by_k.items(), _lines(), strict=False):
        axes.plot(*zip(*points, strict=True), markersize=5, label=name, **style)
    ticks = sorted({k for points in by_k.values() for k, _ in points})
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(ticks, [f"{k:,}" for k in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_formatter(NullFormatter())
    _legend(axes)
    return figure


def draw_balance(cuts: Mapping[str, CutMetrics]) -> Figure:
    """Return RF against vertex balance, a mark per strategy: both are best at 1."""
    figure, axes = _axes("replication factor RF", "vertex balance VB")
    for (name, m), (colour, mark) in zip(cuts.items(), _styles(), strict=False):
        axes.scatter(m.replication_factor, m.vertex_balance, s=60, color=colour, marker=mark, label=name,
                     zorder=3)  # fmt: skip
    for limits, setter in ((axes.get_xlim(), axes.set_xlim), (axes.get_ylim(), axes.set_ylim)):
        high = max(limits[1], 1.05)
        setter(1 - 0.04 * (high - 1), high + 0.05 * (high - 1))
    axes.annotate("better", (0.02, 0.03), (0.14, 0.14), xycoords="axes fraction", color=QUIET,
                  arrowprops={"arrowstyle": "->", "color": QUIET})  # fmt: skip
    _legend(axes)
    return figure


def draw_parts(census: Census) -> Figure:
    """Return the edges and the replicas, masters and mirrors, of each part as bars, with their means."""
    figure = Figure(figsize=(SIZE[0], 5.0), layout="constrained")
    _bars(census, *figure.subplots(2, 1, sharex=True))
    return figure


def draw_traffic(census: Census) -> Figure | None:
    """Return how many mirrors each part holds for the masters of each other; None above 1,024 parts."""
    if census.traffic is None:
        return None
    figure = Figure(figsize=(5.6, 4.8), layout="constrained")
    _matrix(census.traffic, figure.subplots())
    return figure


def draw_by_degree(cuts: Mapping[str, Census]) -> Figure:
    """Return the mean number of replicas of vertices by their degree, a line per strategy."""
    figure, axes = _axes()
    _curves(cuts, axes)
    _legend(axes)
    return figure


def draw_cut(strategy: str, census: Census, metrics: PartitionMetrics) -> Figure:
    """Return one figure of a cut: edges and replicas of each part, traffic, replicas by degree."""
    figure = Figure(figsize=(11, 8), layout="constrained")
    figure.suptitle(
        f"{strategy}, k = {census.k:,}: RF {metrics.replication_factor:.2f}, "
        f"EB {metrics.edge_balance:.2f}, VB {metrics.vertex_balance:.2f}"
    )
    grid = figure.subplots(2, 2)
    _bars(census, grid[0, 0], grid[1, 0])
    if census.traffic is None:
        grid[0, 1].remove()
    else:
        _matrix(census.traffic, grid[0, 1])
    _curves({strategy: census}, grid[1, 1])
    grid[1, 1].legend(frameon=False, fontsize=9)
    return figure


def _bars(census: Census, edges: Any, replicas: Any) -> None:
    _bar(edges, census.edges, 0, color=COLOURS[0])
    _bar(replicas, census.masters, 0, color=COLOURS[2], label="masters")
    _bar(replicas, census.mirrors, census.masters, color=COLOURS[4], label="mirrors")
    for axes, values, what in ((edges, census.edges, "edges"), (replicas, census.replicas, "replicas")):
        _plain(axes)
        axes.axhline(values.mean(), color="black", linewidth=1, linestyle="--", label=f"mean {what}")
        axes.set_xlabel("part")
        axes.set_ylabel(f"{what} of a part")
        axes.set_xlim(-0.6, census.k - 0.4)
        axes.set_ylim(0, max(float(values.max()), 1.0) * 1.28)  # the legend stands above the bars
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter(FuncFormatter(_short))
        axes.legend(loc="upper right", ncols=3, frameon=False, fontsize=9)


def _bar(axes: Any, heights: np.ndarray, bottom: np.ndarray | int, **look: str) -> None:
    """Draw a bar for each part, from *bottom* up; of many parts, whose bars touch, one outline."""
    k = len(heights)
    if k <= WIDE_BARS:
        axes.bar(np.arange(k), heights, 0.85, bottom, **look)
    else:  # thousands of bars take a minute
        axes.stairs(bottom + heights, np.arange(k + 1) - 0.5, baseline=bottom, fill=True, **look)


def _matrix(traffic: np.ndarray, axes: Any) -> None:
    counts = np.ma.masked_equal(traffic, 0)
    image = axes.imshow(counts, cmap="cividis", vmin=0, interpolation="nearest")
    axes.set_facecolor("#eceff2")
    axes.set_xlabel("part of the mirror")
    axes.set_ylabel("part of the master")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    bar = axes.figure.colorbar(image, ax=axes, label="mirrors", shrink=0.9)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(_short))
    k = len(traffic)
    if k > LABELLED:
        return
    for row, column in zip(*np.nonzero(traffic), strict=True):
        value = int(traffic[row, column])
        colour = "black" if value > 0.55 * traffic.max() else "white"
        axes.text(column, row, _short(value), ha="center", va="center", fontsize=8,
                  color=colour)  # fmt: skip


def _curves(cuts: Mapping[str, Census], axes: Any) -> None:
    _plain(axes)
    for (name, census), style in zip(cuts.items(), _lines(), strict=False):
        low, vertices, replicas = census.by_degree
        axes.plot(low, replicas / vertices, markersize=4, label=name, **style)
    k = max(census.k for census in cuts.values())
    axes.axhline(k, color=QUIET, linestyle=":", label=f"all {k:,} parts")
    axes.set_xlabel("degree, from each power of 2 to the next")
    axes.set_ylabel("mean replicas of a vertex")
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}" if x < 1e5 else _short(x)))
    axes.set_ylim(bottom=0)


def _axes(x: str = "", y: str = "") -> tuple[Figure, Any]:
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    _plain(axes)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return figure, axes


def _plain(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#d9dee4", linewidth=0.8)
    axes.set_axisbelow(True)


def _legend(axes: Any) -> None:
    axes.figure.legend(loc="outside right upper", frameon=False, fontsize=9)


def _lines() -> Iterator[dict[str, str]]:
    """Yield how each line is drawn."""
    for (colour, mark), line in zip(_styles(), cycle(LINES), strict=False):
        yield {"color": colour, "marker": mark, "linestyle": line}


def _styles() -> Iterator[tuple[str, str]]:
    """Yield colour and mark of one line after the other; beyond eight the pairs differ."""
    for turn in cycle(range(len(MARKS))):
        for place, colour in enumerate(COLOURS):
            yield colour, MARKS[(place + turn) % len(MARKS)]


def _short(value: float, _: int | None = None) -> str:
    """Return a count in a few characters.

    >>> _short(950), _short(12_500), _short(3_000_000)
    ('950', '12.5k', '3M')
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"
