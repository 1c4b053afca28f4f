"""The figures of a cut in words, for a page and for the command line."""

from __future__ import annotations

from collections.abc import Callable

from gaslab.partitioning.metrics import PartitionMetrics
from gaslab.system.memory import human

NONE = "–"  # where there is no such number


def _or_none(say: Callable[[float], str], value: float | None) -> str:
    return NONE if value is None else say(value)


def _steps(value: float) -> str:
    return "at once" if value == 0 else f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


# What each figure is called, and how it is said.
FIGURES: dict[str, Callable[[PartitionMetrics], str]] = {
    "replication factor (RF)": lambda m: f"{m.replication_factor:.2f}",
    "RF of random, expected": lambda m: f"{m.random_replication_factor:.2f}",
    "bound of 2d, 2 √k": lambda m: f"{m.grid_bound:.2f}",
    "edge balance (EB)": lambda m: f"{m.edge_balance:.2f}",
    "vertex balance (VB)": lambda m: f"{m.vertex_balance:.2f}",
    "balance of masters": lambda m: f"{m.master_balance:.2f}",
    "balance of mirrors": lambda m: f"{m.mirror_balance:.2f}",
    "vertices cut": lambda m: f"{100 * m.cut_vertex_share:.1f} %",
    "peers of a part, mean": lambda m: _or_none(lambda x: f"{x:.1f}", m.mean_peers),
    "peers of a part, most": lambda m: _or_none(lambda x: f"{x:,.0f}", m.most_peers),
    "sent in a superstep": lambda m: human(m.bytes_per_superstep),
    "by or to the busiest part": lambda m: human(m.busiest_bytes),
    "edges cut in a second": lambda m: f"{m.edges_per_second / 1e6:.2f} M",
    "memory for an edge": lambda m: _or_none(lambda x: f"{x:.1f} B", m.peak_bytes_per_edge),
    "pays against random after": lambda m: _or_none(_steps, m.break_even),
}


def figures_of(metrics: PartitionMetrics) -> dict[str, str]:
    """Return all figures of a cut as text, by name."""
    return {name: say(metrics) for name, say in FIGURES.items()}
