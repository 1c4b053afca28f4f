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

BLOCK = 1 << 16  # numbers drawn at a time, eight bytes each


class InitialDraws:
    """Draws the random initial values of fields on one rank, from the seed of the run."""

    def __init__(self, graph: Graph, seed: int, parameters: Mapping[str, Any]) -> None:
        self._local, self._parameters = graph.local, dict(parameters)
        self.seed = int(seed) & (1 << 64) - 1  # of any size; only its lowest 64 bits count

    def of_vertices(self, draw: Draw, index: int, dtype: np.dtype, shape: tuple[int, ...] = ()) -> np.ndarray:
        """Return the start of vertex field *index*, [num_local, *shape]: the same on all replicas."""
        units = self._local.gid.view(np.uint64)
        made = np.empty((units.size, *shape), dtype)
        self._fill(made, draw.kind, self._arguments(draw, dtype), index << 4 | FIELD, units)
        return made

    def of_edges(self, draw: Draw, index: int, dtype: np.dtype, shape: tuple[int, ...] = ()) -> np.ndarray:
        """Return the initial values of edge field *index*, [edges here, *shape]."""
        local, arguments = self._local, self._arguments(draw, dtype)
        made = np.empty((local.num_edges, *shape), dtype)
        ends = np.searchsorted(local.in_begin, np.arange(0, local.num_edges, BLOCK), side="right") - 1
        rows = np.append(np.unique(ends), local.num_local)
        for first, last in zip(rows[:-1].tolist(), rows[1:].tolist(), strict=True):
            units = kernels.edge_keys(local.gid, local.in_begin, local.in_neighbor, first, last)
            here = made[local.in_begin[first] : local.in_begin[last]]
            self._fill(here, draw.kind, arguments, index << 4 | EDGE_FIELD, units)
        return made

    def _arguments(self, draw: Draw, dtype: np.dtype) -> tuple[float, ...]:
        """Return the arguments of a draw; UsageError if its values may not fit *dtype*."""
        arguments: tuple[float, ...] = draw.values(self._parameters)
        if draw.kind == "integers":
            arguments = (int(arguments[0]),)
        whole = TYPES[draw.kind] == "int" and dtype.kind in "iu"
        if whole and _largest(draw.kind, arguments[0]) > np.iinfo(dtype).max:
            raise UsageError(f"{draw!r} does not fit {dtype}; choose a wider type")
        return arguments

    def _fill(
        self, made: np.ndarray, kind: str, arguments: tuple[float, ...], moment: int, units: np.ndarray
    ) -> None:
        """Draw the values *made* of units."""
        length = math.prod(made.shape[1:])
        block = max(BLOCK // max(length, 1), 1)
        for begin in range(0, units.size, block):
            some = units[begin : begin + block]
            wide = np.empty((some.size, length), np.int64 if TYPES[kind] == "int" else np.float64)
            getattr(kernels, kind)(self.seed, moment, some, *arguments, wide)
            made[begin : begin + block] = wide.reshape(some.size, *made.shape[1:])


def _largest(kind: str, argument: float) -> float:
    """Return the largest int that can be drawn; for a Poisson distribution, one not reached in 1e25 draws."""
    return argument - 1 if kind == "integers" else argument + 12 * math.sqrt(argument) + 64
