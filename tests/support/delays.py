"""A slow transport: batches lie about, ranks doze, counts come late; what is sent is not changed."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from gaslab.parallel.comm import Comm
from gaslab.parallel.transport import MPITransport


class SlowTransport(MPITransport):
    """Lets batches lie for a while, in the order in which they came."""

    rng = random.Random()

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._lying: list[tuple[int, np.ndarray]] = []
        self._until = 0.0

    def collect(self) -> list[tuple[int, np.ndarray]]:
        if self.rng.random() < 0.02:
            time.sleep(self.rng.random() / 1000)
        before = len(self._lying)
        self._lying += super().collect()
        if len(self._lying) > before and self.rng.random() < 0.1:  # for longer than a count takes
            self._until = time.perf_counter() + self.rng.random() / 1000
        asleep = time.perf_counter() < self._until
        count = 0 if asleep else self.rng.choice((0, 0, 1, len(self._lying)))
        came, self._lying = self._lying[:count], self._lying[count:]
        self.received -= len(self._lying) - before  # what lies has not come, for all that the engine knows
        return came

    def ready(self) -> bool:
        return bool(self._lying) or super().ready()

    def table(self) -> np.ndarray | None:
        return super().table() if self.rng.random() < 0.5 else None


@contextlib.contextmanager
def slow(comm: Comm, seed: int) -> Iterator[None]:
    """Make the transport of *comm* slow for a while; nobody else is to be at work with it."""
    SlowTransport.rng.seed(1000 * seed + comm.rank)
    transport = comm.transport

    def made() -> Any:
        if comm.size == 1:
            return transport()
        plain: Any = transport()
        return SlowTransport(plain._mpi, plain._world)

    comm.transport = made  # type: ignore[method-assign]
    try:
        yield
    finally:
        comm.transport = transport  # type: ignore[method-assign]
