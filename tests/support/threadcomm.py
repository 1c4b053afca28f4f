"""Ranks as threads of one process: the face of `gaslab.parallel.comm.Comm` without an MPI launcher.

    results = run_ranks(4, lambda comm: comm.allreduce(comm.rank))

runs the function on four ranks and returns their results in rank order. A rank that raises ends the
others at their next collective, and its error is raised here. A rank that waits longer than
`LIMIT` seconds for the others ends all of them, so that a collective only some ranks take is a
failure and not a hang. Arrays are copied on the way, as a network would.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from gaslab.parallel.comm import Comm, Pending

T = TypeVar("T")
LIMIT = 30.0


class _World:
    """What the ranks of one run share."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.meeting = threading.Barrier(size, timeout=LIMIT)
        self.table: list[Any] = [None] * size
        self.queues: dict[tuple[int, int, int], queue.Queue[np.ndarray]] = defaultdict(queue.Queue)
        self.lock = threading.Lock()

    def box(self, source: int, target: int, tag: int) -> queue.Queue[np.ndarray]:
        with self.lock:
            return self.queues[source, target, tag]


class ThreadComm(Comm):
    """One rank of a `run_ranks` run."""

    def __init__(self, shared: _World, rank: int) -> None:
        super().__init__()
        self._shared = shared
        self.rank = rank
        self.size = self.local_ranks = shared.size

    def _exchange(self, value: Any) -> list[Any]:
        """Return every rank's value, in rank order."""
        self._shared.table[self.rank] = value
        self._shared.meeting.wait()
        values = list(self._shared.table)
        self._shared.meeting.wait()
        return values

    def barrier(self) -> None:
        self._exchange(None)

    def bcast(self, value: T, root: int = 0) -> T:
        return self._exchange(value)[root]

    def allgather(self, value: T) -> list[T]:
        return self._exchange(value)

    def allreduce(self, values: Any, op: str = "sum") -> Any:
        combine = {"sum": np.add, "min": np.minimum, "max": np.maximum, "or": np.bitwise_or}[op]
        arrays = self._exchange(np.array(values))
        total = arrays[0].copy()
        for array in arrays[1:]:
            assert (array.shape, array.dtype) == (total.shape, arrays[0].dtype), "ranks disagree on allreduce"
            total = combine(total, array)
        total = np.asarray(total, dtype=arrays[0].dtype)
        return total if total.ndim else total[()]

    def alltoall(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        assert len(parts) == self.size
        assert all(part.shape[1:] == parts[0].shape[1:] and part.dtype == parts[0].dtype for part in parts)
        self.bytes_sent += sum(part.nbytes for p, part in enumerate(parts) if p != self.rank)
        self.messages_sent += self.size - 1
        # Copies are made before the second meeting, after which a sender may change its arrays.
        self._shared.table[self.rank] = parts
        self._shared.meeting.wait()
        came = [np.array(self._shared.table[p][self.rank]) for p in range(self.size)]
        self._shared.meeting.wait()
        assert all(part.dtype == came[0].dtype for part in came), "ranks disagree on alltoall's dtype"
        return came

    def gather_array(self, part: np.ndarray, root: int = 0) -> list[np.ndarray] | None:
        parts = self._exchange(np.array(part))
        return parts if self.rank == root else None

    def begin(self, outgoing: dict[int, np.ndarray], sources: Sequence[int], tag: int = 1) -> Pending:
        for peer, data in outgoing.items():
            self._shared.box(self.rank, peer, tag).put(np.array(data))
            self.bytes_sent += data.nbytes
            self.messages_sent += 1
        return _ThreadPending(self, sources, tag)

    def attempt(self, action: Callable[[], T]) -> T:
        error: Exception | None = None
        value: Any = None
        try:
            value = action()
        except Exception as caught:  # re-raised below, on every rank
            error = caught
        for raised in self._exchange(error):
            if raised is not None:
                raise raised
        return value

    def on_root(self, action: Callable[[], T], long_running: bool = False) -> T:
        value: Any = None
        error: Exception | None = None
        if self.rank == 0:
            try:
                value = action()
            except Exception as caught:  # re-raised below, on every rank
                error = caught
        value, error = self._exchange((value, error))[0]
        if error is not None:
            raise error
        return value

    def meet(self, digest: bytes, call: str) -> list[bytes]:
        return self._exchange(digest)

    def abort(self, code: int = 1) -> None:
        self._shared.meeting.abort()
        raise SystemExit(code)


class _ThreadPending(Pending):
    def __init__(self, comm: ThreadComm, sources: Sequence[int], tag: int) -> None:
        self._comm, self._sources, self._tag = comm, sources, tag

    def receive(self) -> dict[int, np.ndarray]:
        return {source: self._receive_from(source) for source in self._sources}

    def _receive_from(self, source: int) -> np.ndarray:
        shared = self._comm._shared
        box = shared.box(source, self._comm.rank, self._tag)
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                return box.get(timeout=0.05)
            except queue.Empty:
                if shared.meeting.broken or time.monotonic() > deadline:
                    raise threading.BrokenBarrierError(f"nothing came from rank {source}") from None


def run_ranks(size: int, function: Callable[[Any], T]) -> list[T]:
    """Run ``function(comm)`` on *size* ranks; return the results in rank order, or raise the first error."""
    if size == 1:
        return [function(Comm())]
    shared = _World(size)
    results: list[Any] = [None] * size
    errors: list[BaseException | None] = [None] * size

    def rank(r: int) -> None:
        try:
            results[r] = function(ThreadComm(shared, r))
        except BaseException as error:
            errors[r] = error
            shared.meeting.abort()

    threads = [threading.Thread(target=rank, args=(r,), daemon=True) for r in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # An error of a rank's own comes before the broken meetings that it caused elsewhere.
    raised = sorted(
        (error for error in errors if error is not None),
        key=lambda error: isinstance(error, threading.BrokenBarrierError),
    )
    if raised:
        raise raised[0]
    return results
