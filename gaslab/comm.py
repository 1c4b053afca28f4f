"""Talk between ranks; the only importer of mpi4py.

`world()` starts MPI at first use, and only where a launcher started several processes, so that a
plain ``python`` or ``gaslab --help`` never loads an MPI library. A `Comm` moves numpy arrays
(buffers, split below 2**31 bytes, every byte counted) and small Python objects for control.
All methods are collective unless they say otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from gaslab import launch
from gaslab.errors import LaunchError

T = TypeVar("T")
CHUNK = 1 << 30  # bytes of one message at most


class Comm:
    """A world of one: every collective is the identity. `MPIComm` is the same face over MPI."""

    rank = 0
    size = 1

    def __init__(self) -> None:
        self.bytes_sent = 0
        self.messages_sent = 0

    def barrier(self) -> None:
        """Wait for every rank."""

    def bcast(self, value: T, root: int = 0) -> T:
        """Return *root*'s small object on every rank."""
        return value

    def allgather(self, value: T) -> list[T]:
        """Return every rank's small object, in rank order."""
        return [value]

    def allreduce(self, values: Any, op: str = "sum") -> Any:
        """Return the elementwise ``sum``, ``min``, ``max`` or ``or`` of a number or array over ranks."""
        array = np.array(values)
        return array if array.ndim else array[()]

    def alltoall(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Send ``parts[p]`` (1-D, one dtype, any lengths) to rank p; return what each rank sent here."""
        return [np.ascontiguousarray(parts[0])]

    def gather_array(self, part: np.ndarray, root: int = 0) -> list[np.ndarray] | None:
        """Return every rank's array on *root* (in rank order), None elsewhere."""
        return [np.ascontiguousarray(part)]

    def begin(self, outgoing: dict[int, np.ndarray], sources: Sequence[int], tag: int = 1) -> Pending:
        """Start sending one array of bytes to each peer; one from each of *sources* is due (not collective)."""
        return Pending()

    def abort(self, code: int = 1) -> None:
        """End every rank at once (not collective)."""
        sys.stdout.flush()
        sys.stderr.flush()
        raise SystemExit(code)

    def attempt(self, action: Callable[[], T]) -> T:
        """Run *action* on every rank; if it raises on some, raise the lowest such rank's error on all."""
        return action()

    def on_root(self, action: Callable[[], T]) -> T:
        """Run *action* on rank 0 and return its small result, or raise its error, on every rank."""
        return action()


class Pending:
    """Messages under way; `end` returns what came, by source rank."""

    def end(self) -> dict[int, np.ndarray]:
        return {}


class MPIComm(Comm):
    """The world of an MPI launcher."""

    def __init__(self, mpi: Any) -> None:
        super().__init__()
        self._mpi = mpi
        self._world = mpi.COMM_WORLD.Dup()
        self.rank = self._world.Get_rank()
        self.size = self._world.Get_size()
        self._ops = {"sum": mpi.SUM, "min": mpi.MIN, "max": mpi.MAX, "or": mpi.BOR}

    def barrier(self) -> None:
        self._world.Barrier()

    def bcast(self, value: T, root: int = 0) -> T:
        return self._world.bcast(value, root=root)  # type: ignore[no-any-return]

    def allgather(self, value: T) -> list[T]:
        return self._world.allgather(value)  # type: ignore[no-any-return]

    def allreduce(self, values: Any, op: str = "sum") -> Any:
        send = np.asarray(values, order="C")  # ascontiguousarray would make a number 1-D
        flat = send.reshape(-1)
        total = np.empty_like(flat)
        step = CHUNK // max(flat.itemsize, 1)
        for lo in range(0, flat.size, step):
            self._world.Allreduce(flat[lo : lo + step], total[lo : lo + step], op=self._ops[op])
        total = total.reshape(send.shape)
        return total if send.ndim else total[()]

    def alltoall(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        dtype = parts[0].dtype
        bytes_out = {p: np.ascontiguousarray(parts[p]).view(np.uint8) for p in range(self.size) if p != self.rank}
        pending = self.begin(bytes_out, [p for p in range(self.size) if p != self.rank], tag=2)
        came = pending.end()
        mine = np.ascontiguousarray(parts[self.rank])
        return [mine if p == self.rank else came[p].view(dtype) for p in range(self.size)]

    def gather_array(self, part: np.ndarray, root: int = 0) -> list[np.ndarray] | None:
        part = np.ascontiguousarray(part)
        if self.rank != root:
            self.begin({root: part.view(np.uint8)}, [], tag=3).end()
            return None
        came = self.begin({}, [p for p in range(self.size) if p != root], tag=3).end()
        return [part if p == root else came[p].view(part.dtype) for p in range(self.size)]

    def begin(self, outgoing: dict[int, np.ndarray], sources: Sequence[int], tag: int = 1) -> Pending:
        requests = []
        for peer in sorted(outgoing, key=lambda p: (p - self.rank) % self.size):
            data = outgoing[peer]
            # Whole chunks, then one that is shorter (maybe empty): its length ends the message.
            for lo in range(0, data.size + 1, CHUNK):
                requests.append(self._world.Isend(data[lo : lo + CHUNK], dest=peer, tag=tag))
            self.bytes_sent += data.size
            self.messages_sent += 1
        return _MPIPending(self._mpi, self._world, requests, sources, tag)

    def abort(self, code: int = 1) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._mpi.COMM_WORLD.Abort(code)

    def attempt(self, action: Callable[[], T]) -> T:
        error: Exception | None = None
        value: Any = None
        try:
            value = action()
        except Exception as caught:  # re-raised below, on every rank
            error = caught
        first = self.allreduce(self.rank if error is not None else self.size, "min")
        if first == self.size:
            return value  # type: ignore[no-any-return]
        told = self.bcast(error if self.rank == first else None, root=int(first))
        if error is not None and self.rank == first:
            raise error
        assert told is not None
        raise told

    def on_root(self, action: Callable[[], T]) -> T:
        value: Any = None
        error: Exception | None = None
        if self.rank == 0:
            try:
                value = action()
            except Exception as caught:  # re-raised below, on every rank
                error = caught
        value, told = self.bcast((value, error))
        if error is not None:
            raise error
        if told is not None:
            raise told
        return value  # type: ignore[no-any-return]


class _MPIPending(Pending):
    def __init__(self, mpi: Any, world: Any, requests: list[Any], sources: Sequence[int], tag: int) -> None:
        self._mpi, self._world, self._requests = mpi, world, requests
        self._sources, self._tag = sources, tag

    def end(self) -> dict[int, np.ndarray]:
        came = {source: self._receive(source) for source in self._sources}
        self._mpi.Request.Waitall(self._requests)
        return came

    def _receive(self, source: int) -> np.ndarray:
        status = self._mpi.Status()
        parts = []
        while True:
            message = self._world.Mprobe(source=source, tag=self._tag, status=status)
            part = np.empty(status.Get_count(self._mpi.BYTE), dtype=np.uint8)
            message.Recv(part)
            parts.append(part)
            if part.size < CHUNK:
                return part if len(parts) == 1 else np.concatenate(parts)


_world: Comm | None = None


def world() -> Comm:
    """Return the communicator of this process; starts MPI at the first call under a launcher."""
    global _world
    if _world is None:
        _world = _start()
    return _world


def _start() -> Comm:
    loaded = sys.modules.get("mpi4py.MPI")
    expected = launch.launched_size()
    if loaded is None and expected <= 1:
        return Comm()
    launch.tune_environment()
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise LaunchError(
            f"the launcher started {expected} processes but MPI cannot be loaded: {error}; "
            "install one with `pip install gaslab[mpich]`, or load your cluster's MPI module"
        ) from error
    size = MPI.COMM_WORLD.Get_size()
    launch.check_world(size)
    return MPIComm(MPI) if size > 1 else Comm()
