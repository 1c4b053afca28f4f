"""The picture of `gap.py`: how gaslab's times compare with the peer's, a row for each class of graph."""

from __future__ import annotations

from pathlib import Path

from gap_kernels import KERNELS

MARKS = dict(zip(KERNELS, "osD^vPX", strict=True))
PALETTE = ["#1f5fa8", "#7fb2e5", "#e08214", "#2e8b57", "#b2182b", "#7b3294", "#4d4d4d"]
COLOURS = dict(zip(KERNELS, PALETTE, strict=True))


def draw(ratios: dict[tuple[str, str], float], path: Path) -> None:
    """Draw each ratio as a mark on a logarithmic axis; the same ratios give the same file."""
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "gap", "font.family": "sans-serif"})
    classes = list(dict.fromkeys(name for name, _ in ratios))
    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.75 * len(classes)), layout="constrained")
    for kernel, title in KERNELS.items():
        offset = 0.1 * (list(KERNELS).index(kernel) - 3)  # so that equal ratios do not cover each other
        own = [(ratio, classes.index(name) + offset) for (name, of), ratio in ratios.items() if of == kernel]
        if own:
            style = {"marker": MARKS[kernel], "color": COLOURS[kernel], "label": title}
            axes.scatter(*zip(*own, strict=True), s=38, **style)
    for border in range(1, len(classes)):
        axes.axhline(border - 0.5, color="0.85", linewidth=0.8)
    axes.axvline(1, color="0.3", linewidth=1)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(range(len(classes)), classes)
    axes.set_ylim(len(classes) - 0.5, -0.5)
    axes.set_xlabel("seconds of gaslab / seconds of the peer (left of 1: gaslab is faster)")
    figure.legend(loc="outside right center", frameon=False)
    figure.savefig(path, metadata={"Date": None})
