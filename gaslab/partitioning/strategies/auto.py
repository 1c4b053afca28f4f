"""A strategy by estimate: the time of a cut, and of a superstep after it.

Stateless cuts are estimated from a sample. Cuts that look at more are assumed to have the largest share of
`dbh`'s mirrors that they had on the graphs of docs/partitioning.md.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

from gaslab import arguments
from gaslab.partitioning.context import Context
from gaslab.partitioning.gathering import fits
from gaslab.partitioning.metrics import BANDWIDTH, VALUE_BYTES
from gaslab.partitioning.registry import find, strategy
from gaslab.partitioning.stateful import MOST_PARTS
from gaslab.partitioning.strategies.neighborhood import HEP
from gaslab.partitioning.strategies.sample import forecasts, take

log = logging.getLogger("gaslab")

# Edges per second on one core: cut, and gathered over.
SPEED = {
    "1d": 150e6, "chunk": 280e6, "2d": 290e6, "dbh": 60e6, "hybrid": 60e6, "hdrf": 12e6, "hep": 1.2e6,
}  # fmt: skip
GATHERED = 300e6  # by a program that does more per edge than PageRank
SUM = 50e-9  # seconds of a partial sum besides its bytes, on the ranks of mirror and master
OF_DBH = {"hdrf": 0.6, "hep": 0.5}  # maximum mirrors
DOUBT = 1.05  # estimates that differ by less count as equal


@dataclass
class Estimate:
    """A strategy's estimated seconds: for the cut, and for each superstep."""

    name: str
    cut: float
    superstep: float

    def total(self, iterations: int) -> float:
        """Return the seconds of this many supersteps and the cut."""
        return self.cut + iterations * self.superstep

    def __str__(self) -> str:
        return f"{self.name} (about {self.cut:.2g} s to cut, {self.superstep:.2g} s a superstep)"


@strategy("auto")
def by_estimate(
    src: np.ndarray, dst: np.ndarray, k: int, context: Context, *, stateful: int = 1, iterations: int = 50,
    bandwidth: float = BANDWIDTH,
) -> np.ndarray:  # fmt: skip
    """Cut by the strategy with which this many supersteps finish first; the log says why.

    With *stateful* 0 only stateless strategies are considered.
    """
    stateful = arguments.whole("stateful", stateful, 0, 1)
    iterations = arguments.whole("iterations", iterations, 1)
    bandwidth = arguments.number("bandwidth", bandwidth, above=0)
    if k == 1 or context.num_vertices == 0:
        return np.zeros(src.size, np.int32)
    found = estimates(src, dst, k, context, bandwidth, bool(stateful))
    best, next_best = context.comm.on_root(lambda: ranked(found, iterations)[:2])
    if context.comm.rank == 0:
        log.info("auto: %d parts and %d supersteps: %s, then %s", k, iterations, best, next_best)
    context.chosen = best.name
    part: np.ndarray = find(best.name)[1](src, dst, k, context)
    return part


def ranked(found: list[Estimate], iterations: int) -> list[Estimate]:
    """Return estimates, the best first; among nearly equal ones, the first listed."""
    found = sorted(found, key=lambda one: one.total(iterations))
    alike = [one for one in found if one.total(iterations) <= DOUBT * found[0].total(iterations)]
    first = min(alike, key=lambda one: list(SPEED).index(one.name))
    return [first, *(one for one in found if one is not first)]


def estimates(
    src: np.ndarray, dst: np.ndarray, k: int, context: Context, bandwidth: float, stateful: bool = True
) -> list[Estimate]:
    """Return each strategy's estimate on *k* ranks (collective)."""
    comm = context.comm
    sample, counts = take(src, dst, context)
    found = forecasts(sample, counts, k, context)
    num_edges, dbh = counts.num_edges, found["dbh"]
    gathered = GATHERED if context.directed else GATHERED / 2  # without direction from both ends
    if stateful and k <= MOST_PARTS:
        found["hdrf"] = dbh.times(OF_DBH["hdrf"])
        if fits(HEP(), k, comm.allreduce(counts.degree()), num_edges, comm):
            found["hep"] = dbh.times(OF_DBH["hep"])
    return [
        Estimate(
            name,
            cut=num_edges / SPEED[name] / (1 if name == "hep" else k),
            superstep=one.fullest / gathered
            + (VALUE_BYTES / bandwidth * (one.sums + one.updates) + SUM * one.sums) / k,
        )
        for name, one in found.items()
    ]
