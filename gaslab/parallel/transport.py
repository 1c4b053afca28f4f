"""Batches of bytes between ranks that do not wait for each other, and tables of their counts.

Used by the asynchronous engine and by bounded staleness. `Transport` is for a world of one; `MPITransport`
has the same methods over MPI, with non-blocking calls only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab.parallel.tags import Tag


class Transport:
    """The transport of a world of one. All methods return at once."""

    rank, size = 0, 1

    def __init__(self) -> None:
        self.sent = 0  # batches, from the start
        self.received = 0
        self.bytes_sent = 0
        self._row: np.ndarray | None = None

    def post(self, peer: int, data: np.ndarray) -> None:
        """Start sending *data* (uint8, not written any more); batches to one peer keep their order."""
        raise AssertionError("there is no other rank")

    def collect(self) -> list[tuple[int, np.ndarray]]:
        """Return the received batches, each with its source rank."""
        return []

    def ready(self) -> bool:
        """Return whether a batch, or the table of `begin_table`, has arrived; cheaper than collecting."""
        return self.table_begun

    def begin_table(self, row: np.ndarray) -> None:
        """Start sending *row* (int64, of equal length everywhere) to all ranks."""
        self._row = row.copy()

    @property
    def table_begun(self) -> bool:
        """Whether a table begun by `begin_table` is still incomplete."""
        return self._row is not None

    def table(self) -> np.ndarray | None:
        """Return the table of all ranks' rows when it is complete, else None; it is returned once."""
        table, self._row = self._row, None
        return None if table is None else table[None, :]

    def close(self) -> None:
        """Receive and drop the batches still under way, so that no later run receives them (collective)."""


class MPITransport(Transport):
    """The transport over its own MPI communicator."""

    def __init__(self, mpi: Any, communicator: Any) -> None:
        super().__init__()
        self._mpi, self._world = mpi, communicator
        self.rank, self.size = communicator.Get_rank(), communicator.Get_size()
        self._requests: list[Any] = []
        self._posted, self._came = np.zeros(self.size, np.int64), np.zeros(self.size, np.int64)  # by peer
        self._table: np.ndarray | None = None
        self._request: Any = None

    def post(self, peer: int, data: np.ndarray) -> None:
        self._requests.append(self._world.Isend(data, dest=peer, tag=Tag.BATCH))  # keeps data alive
        self.sent += 1
        self._posted[peer] += 1
        self.bytes_sent += data.size
        if len(self._requests) > 64:
            self._requests = [r for r in self._requests if not r.Test()]

    def collect(self) -> list[tuple[int, np.ndarray]]:
        found, status = [], self._mpi.Status()
        while (message := self._world.Improbe(tag=Tag.BATCH, status=status)) is not None:
            data = np.empty(status.Get_count(self._mpi.BYTE), np.uint8)
            message.Recv(data)
            found.append((status.Get_source(), data))
            self.received += 1
            self._came[status.Get_source()] += 1
        return found

    def ready(self) -> bool:
        return self._world.Iprobe(tag=Tag.BATCH) or (self._request is not None and self._request.Test())

    def begin_table(self, row: np.ndarray) -> None:
        self._row = row.copy()
        self._table = np.empty((self.size, row.size), row.dtype)
        self._request = self._world.Iallgather(self._row, self._table)

    def table(self) -> np.ndarray | None:
        if self._request is None or not self._request.Test():
            return None
        self._request, self._row = None, None
        return self._table

    def close(self) -> None:
        due = np.empty_like(self._posted)
        self._world.Alltoall(self._posted, due)
        while (self._came < due).any():
            MPITransport.collect(self)
        self._mpi.Request.Waitall(self._requests)
        self._requests = []
