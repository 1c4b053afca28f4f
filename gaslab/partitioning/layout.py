"""The order of a rank's vertices in memory: hubs first, or in the order of ids.

Hubs are read again and again; numbered one after another they share cache lines, and a row of neighbours
begins with them. Without hubs, and if edges join nearby ids, as in road networks, the order of ids keeps
neighbours together. The degrees and edges of this rank decide, whatever their order.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import gaslab._kernels.csr as kernels

log = logging.getLogger("gaslab")

HUBS = 1.5  # spread of degrees from which hubs come first
NEAR = 64  # an edge is near if its ends are within this part of the ids
MOST_NEAR = 0.5  # of the edges, from which the order of ids is kept
ROWS = 1 << 20  # edges examined at once


@dataclass(frozen=True)
class Layout:
    """The figures that decide the order of the vertices on a rank."""

    spread: float  # mean degree of the ends of edges, divided by the vertices': 1 if all are equal
    near: float | None  # share of the edges that are near, if there are no hubs

    @classmethod
    def of(cls, ends: Sequence[np.ndarray], degree: np.ndarray) -> Layout:
        """Return the layout for edges (as positions in the order of ids) and their vertices' degrees here."""
        edges = int(degree.sum())
        spread = float(degree @ degree) * degree.size / edges**2 if edges else 1.0
        if spread >= HUBS or not edges:
            return cls(spread, None)
        most, near = degree.size // NEAR, 0
        for begin in range(0, ends[0].size, ROWS):
            source, target = (end[begin : begin + ROWS] for end in ends)
            near += int(np.count_nonzero(np.abs(source - target) <= most))
        return cls(spread, near / ends[0].size)

    @property
    def keeps_ids(self) -> bool:
        """Whether vertices keep the order of their ids."""
        return self.near is not None and self.near >= MOST_NEAR

    def say(self) -> None:
        """Write the layout to the detailed log."""
        order = "in the order of ids" if self.keeps_ids else "by falling degree"
        near = "" if self.near is None else f", {self.near:.0%} of the edges within 1/{NEAR} of the ids"
        log.debug("vertices lie %s: spread of degrees %.2f%s", order, self.spread, near)

    def order(self, group: np.ndarray, degree: np.ndarray) -> np.ndarray:
        """Return the int32 order of vertices by rising *group*, and then as the layout says.

        Those without edges here come last.
        """
        return order_by_group(group, np.minimum(degree, 1) if self.keeps_ids else degree)


def order_by_group(group: np.ndarray, degree: np.ndarray) -> np.ndarray:
    """Return the int32 order by rising group, then falling degree (int64), then position."""
    most = int(degree.max(initial=0))
    key = (group * (most + 1) + (most - degree)).astype(np.uint64)
    order, spare = np.arange(key.size, dtype=np.int32), np.empty(key.size, dtype=np.int32)
    counts = np.empty(2049, dtype=np.int64)
    for shift in range(0, int(key.max(initial=0)).bit_length(), 11):
        kernels.radix_pass(key, order, shift, counts, spare)
        order, spare = spare, order
    return order
