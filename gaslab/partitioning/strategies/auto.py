"""A strategy by estimate: what a cut takes to make, and what its mirrors then exchange.

Under a hash the expected number of mirrors follows from the degrees, as for `random` in Gonzalez et al.,
PowerGraph (OSDI 2012). Cuts that look at more are put at the largest share of `dbh`'s mirrors that they had
on the graphs of docs/partitioning.md.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np

import gaslab._kernels.csr as csr
from gaslab import arguments
from gaslab.partitioning.context import Context
from gaslab.partitioning.gathering import fits
from gaslab.partitioning.registry import find, strategy
from gaslab.partitioning.stateful import MOST_PARTS
from gaslab.partitioning.strategies.hashes import VERTEX_WORK
from gaslab.partitioning.strategies.neighborhood import HEP

log = logging.getLogger("gaslab")

VALUE_BYTES = 8
SAMPLE = 1 << 20  # edges of each rank
SPEED = {"1d": 150e6, "chunk": 280e6, "dbh": 60e6, "hdrf": 12e6, "hep": 1.2e6}  # edges a second, on one core
OF_DBH = {"hdrf": 0.6, "hep": 0.5}


@dataclass
class Estimate:
    """What a strategy is expected to take: seconds to cut, and in each superstep to exchange values."""

    name: str
    cut: float
    exchange: float

    def total(self, iterations: int) -> float:
        """Return the seconds of so many supersteps and the cut."""
        return self.cut + iterations * self.exchange

    def __str__(self) -> str:
        return f"{self.name} (about {self.cut:.2g} s to cut, {self.exchange:.2g} s a superstep to exchange)"


@strategy("auto")
def by_estimate(
    src: np.ndarray, dst: np.ndarray, k: int, context: Context, *, iterations: int = 50,
    bandwidth: float = 1e9,
) -> np.ndarray:  # fmt: skip
    """Cut by the strategy with which so many supersteps end first; the log says why."""
    iterations = arguments.whole("iterations", iterations, 1)
    bandwidth = arguments.number("bandwidth", bandwidth, above=0)
    if k == 1 or context.num_vertices == 0:
        return np.zeros(src.size, np.int32)
    found = sorted(estimates(src, dst, k, context, bandwidth), key=lambda one: one.total(iterations))
    if context.comm.rank == 0:
        log.info("auto: %d parts and %d supersteps: %s, before %s", k, iterations, *found[:2])
    part: np.ndarray = find(found[0].name)[1](src, dst, k, context)
    return part


def estimates(
    src: np.ndarray, dst: np.ndarray, k: int, context: Context, bandwidth: float
) -> list[Estimate]:
    """Return what each strategy is expected to take (collective)."""
    comm, n = context.comm, context.num_vertices
    out_here, in_here = np.zeros(n, np.int32), np.zeros(n, np.int32)
    csr.count_ends(src, dst, out_here, in_here, context.threads)
    out_degree, in_degree = (comm.allreduce(here.astype(np.int64)) for here in (out_here, in_here))
    degree, num_edges = out_degree + in_degree, int(in_degree.sum())
    both = 1 if context.directed else 2  # values of a mirror that has edges of one kind alone
    values = {
        "1d": both * _cut_by_one_end(degree, out_degree, k, context),
        "chunk": both * _across(src, dst, in_degree, k, context),
        "dbh": 2 * _cut_by_degree(degree, k),
    }
    if k <= MOST_PARTS:
        values["hdrf"] = OF_DBH["hdrf"] * values["dbh"]
        if fits(HEP(), k, degree, num_edges, comm):
            values["hep"] = OF_DBH["hep"] * values["dbh"]
    return [
        Estimate(
            name,
            cut=num_edges / SPEED[name] / (1 if name == "hep" else comm.size),
            exchange=VALUE_BYTES * count / k / bandwidth,
        )
        for name, count in values.items()
    ]


def _others(count: np.ndarray, k: int) -> np.ndarray:
    """Return how many of the k - 1 other parts so many edges meet, on average, that each go to any part."""
    met: np.ndarray = (k - 1) * -np.expm1(count * np.log1p(-1 / k))
    return met


def _cut_by_one_end(degree: np.ndarray, out_degree: np.ndarray, k: int, context: Context) -> float:
    """Return the mirrors under `1d`: sources are mirrored, or the smaller side."""
    left = context.num_left
    if left is None:
        return float(_others(out_degree, k).sum())
    return float(_others(degree[left:] if 2 * left > degree.size else degree[:left], k).sum())


def _cut_by_degree(degree: np.ndarray, k: int) -> float:
    """Return the mirrors under `dbh`: of the higher end of an edge, if neighbours have any degrees."""
    ends = np.bincount(degree, weights=degree)
    lesser = np.cumsum(ends) - ends / 2  # ends of edges, at vertices of lesser degree
    return float(_others(degree * (lesser / max(lesser[-1], 1))[degree], k).sum())


def _across(src: np.ndarray, dst: np.ndarray, in_degree: np.ndarray, k: int, context: Context) -> float:
    """Return the edges between chunks, of a sample: about as many mirrors as `chunk` leaves, or more."""
    work = np.cumsum(in_degree + VERTEX_WORK)
    ends = work[-1:] * np.arange(1, k) // k
    bounds = np.searchsorted(work, ends)
    step = max(src.size // SAMPLE, 1)
    chunk = [np.searchsorted(bounds, end[::step], side="right") for end in (src, dst)]
    between = int((chunk[0] != chunk[1]).sum()) * step
    return float(min(context.comm.allreduce(between), (k - 1) * in_degree.size))
