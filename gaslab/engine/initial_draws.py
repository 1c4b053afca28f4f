"""Random initial values of fields: `gaslab.language.rng.Draw` for every vertex or edge of a rank."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gaslab._kernels import philox as kernels
from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.language.rng import EDGE_FIELD, FIELD, TYPES, Draw

BLOCK = 1 << 16  # numbers that are drawn at a time, in eight bytes each


class InitialDraws:
    """Draws the random initial values of fields on one rank, from the seed of the run."""

    def __init__(self, graph: Graph, seed: int, parameters: Mapping[str, Any]) -> None:
        self._local, self._parameters = graph.local, dict(parameters)
        self.seed = int(seed) & (1 << 64) - 1  # of any size, it counts by its lowest 64 bits

    def of_vertices(self, draw: Draw, index: int, dtype: np.dtype, shape: tuple[int, ...] = ()) -> np.ndarray:
        """Return the start of vertex field *index*, [num_local, *shape]: the same on all replicas."""
        return self._numbers(draw, index << 4 | FIELD, self._local.gid.view(np.uint64), dtype, shape)

    def of_edges(self, draw: Draw, index: int, dtype: np.dtype, shape: tuple[int, ...] = ()) -> np.ndarray:
        """Return the initial values of edge field *index*, [edges here, *shape]."""
        local = self._local
        units = kernels.edge_keys(local.gid, local.in_begin, local.in_neighbor)
        return self._numbers(draw, index << 4 | EDGE_FIELD, units, dtype, shape)

    def _numbers(
        self, draw: Draw, moment: int, units: np.ndarray, dtype: np.dtype, shape: tuple[int, ...]
    ) -> np.ndarray:
        arguments: tuple[float, ...] = draw.values(self._parameters)
        whole = TYPES[draw.kind] == "int"
        if draw.kind == "integers":
            arguments = (int(arguments[0]),)
        if whole and dtype.kind in "iu" and _largest(draw.kind, arguments[0]) > np.iinfo(dtype).max:
            raise UsageError(f"{draw!r} does not fit {dtype}; choose a wider type")
        made = np.empty((units.size, *shape), dtype)
        length = math.prod(shape)
        block = max(BLOCK // max(length, 1), 1)
        for begin in range(0, units.size, block):
            some = units[begin : begin + block]
            wide = np.empty((some.size, length), np.int64 if whole else np.float64)
            getattr(kernels, draw.kind)(self.seed, moment, some, *arguments, wide)
            made[begin : begin + block] = wide.reshape(some.size, *shape)
        return made


def _largest(kind: str, argument: float) -> float:
    """Return the largest int that is drawn; of a Poisson distribution one that is not in 1e25 draws."""
    return argument - 1 if kind == "integers" else argument + 12 * math.sqrt(argument) + 64
