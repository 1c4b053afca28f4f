"""Communicators.

`world()` starts MPI at first use, and only if a launcher started several processes, so that a plain
``python`` or ``gaslab --help`` never loads an MPI library. A `Comm` moves numpy arrays (buffers, split below
2**31 bytes, every byte counted) and small Python objects for control. All methods are collective unless
stated otherwise.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from gaslab.errors import GaslabError, UsageError
from gaslab.parallel import children, failure, launch
from gaslab.parallel.mpilib import load_mpi, mpi_family
from gaslab.parallel.reminder import remind
from gaslab.parallel.rendezvous import Rendezvous, pauses
from gaslab.parallel.tags import Tag
from gaslab.parallel.transport import MPITransport, Transport

T = TypeVar("T")
CHUNK = 1 << 30  # bytes of one message at most
SUM_CHUNK = 1 << 16  # floats of every rank summed at once


class Comm:
    """A world of one: every collective is the identity. `MPIComm` has the same methods over MPI."""

    rank = 0
    size = 1
    local_ranks = 1  # ranks on this machine

    def __init__(self) -> None:
        self.bytes_sent = 0
        self.messages_sent = 0

    def __reduce__(self) -> Any:
        return Comm, ()  # unpickled, it is alone

    def __deepcopy__(self, memo: dict[int, Any]) -> Comm:
        return self

    def barrier(self) -> None:
        """Wait for every rank."""

    def bcast(self, value: T, root: int = 0) -> T:
        """Return *root*'s small object on every rank."""
        return value

    def allgather(self, value: T) -> list[T]:
        """Return every rank's small object, in rank order."""
        return [value]

    def allgather_row(self, row: np.ndarray) -> np.ndarray:
        """Return every rank's short row (one dtype and length) as a table [size, length]."""
        return row[None, :]

    def allreduce(self, values: Any, op: str = "sum") -> Any:
        """Return the elementwise ``sum``, ``min``, ``max`` or ``or`` of a number or array over ranks.

        Floats are added in rank order, so that the same job gives the same bits.
        """
        array = np.array(values)
        return array if array.ndim else array[()]

    def alltoall(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Send ``parts[p]`` (rows of one shape and dtype, any number) to rank p; return this rank's parts."""
        return [np.ascontiguousarray(parts[0])]

    def gather_array(self, part: np.ndarray, root: int = 0) -> list[np.ndarray] | None:
        """Return every rank's 1-D array on *root* (in rank order), None elsewhere."""
        return [np.ascontiguousarray(part)]

    def allgather_array(self, part: np.ndarray) -> list[np.ndarray]:
        """Return every rank's 1-D array (one dtype, any lengths) on every rank, in rank order."""
        return self.alltoall([part] * self.size)

    def begin(self, outgoing: dict[int, np.ndarray], sources: Sequence[int], tag: int = Tag.PLAIN) -> Pending:
        """Start sending one array of bytes to each peer; one from each of *sources* is due (not collective).

        With one tag, the first begun must be the first ended.
        """
        return Pending()

    def transport(self) -> Transport:
        """Return the transport of batches between ranks that do not wait for each other."""
        return Transport()

    def abort(self, code: int = 1) -> None:
        """End every rank at once (not collective)."""
        sys.stdout.flush()
        sys.stderr.flush()
        raise SystemExit(code)

    def attempt(self, action: Callable[[], T]) -> T:
        """Run *action* on every rank; if it raises on some, raise the lowest such rank's error on all.

        *action* must not be collective: the others would wait for the one that raised.
        """
        return action()

    def on_root(self, action: Callable[[], T], long_running: bool = False) -> T:
        """Run *action* on rank 0 and return its small result, or raise its error, on every rank.

        With *long_running* the other ranks wait outside MPI: they yield a core shared with rank 0, and react
        to signals. That costs up to 0.2 ms.
        """
        return action()

    def is_here(self) -> bool:
        """Return whether this process is a rank of this communicator, not a child forked from one."""
        return True

    def all_here(self, seconds: float) -> bool:
        """Return whether every rank calls this within *seconds* (so not a collective if one is lost)."""
        return True

    def meet(self, digest: bytes, call: str) -> list[bytes]:
        """Return every rank's *digest* once all ranks are here, for *call*.

        Raises an error if a rank cannot come: see `gaslab.parallel.rendezvous`.
        """
        return [digest]

    def break_off(self, error: BaseException) -> None:
        """Note that *error* took this rank out of the call of its last meeting (not collective)."""


class Pending:
    """Messages under way: `receive` those due, `finish` those sent; `end` does both."""

    def receive(self) -> dict[int, np.ndarray]:
        """Wait for the messages due, and return them by source rank."""
        return {}

    def finish(self) -> None:
        """Wait until the peers have their messages: the arrays may then be written again."""

    def end(self) -> dict[int, np.ndarray]:
        received = self.receive()
        self.finish()
        return received


class MPIComm(Comm):
    """The ranks of an MPI communicator (a duplicate is used, separate from other messages)."""

    def __init__(self, mpi: Any, communicator: Any) -> None:
        super().__init__()
        self._mpi = mpi
        self._process = os.getpid()
        self._world = communicator.Dup()
        self._entrance = communicator.Dup()  # for all_here, while some may still be communicating
        self._rendezvous = Rendezvous(mpi, communicator)
        self._batches: Any = None
        self.rank = self._world.Get_rank()
        self.size = self._world.Get_size()
        machine = self._world.Split_type(mpi.COMM_TYPE_SHARED)
        self.local_ranks = machine.Get_size()
        machine.Free()
        self._ops = {"sum": mpi.SUM, "min": mpi.MIN, "max": mpi.MAX, "or": mpi.BOR}

    def barrier(self) -> None:
        self._world.Barrier()

    def bcast(self, value: T, root: int = 0) -> T:
        return self._world.bcast(value, root=root)  # type: ignore[no-any-return]

    def allgather(self, value: T) -> list[T]:
        return self._world.allgather(value)  # type: ignore[no-any-return]

    def allgather_row(self, row: np.ndarray) -> np.ndarray:
        table = np.empty((self.size, row.size), row.dtype)
        self._world.Allgather(row, table)
        return table

    def allreduce(self, values: Any, op: str = "sum") -> Any:
        send = np.asarray(values, order="C")  # ascontiguousarray would make a number 1-D
        flat = send.reshape(-1)
        if flat.dtype == np.bool_:
            if op == "sum":
                raise UsageError("a sum of bools over ranks: make them integers first")
            flat = flat.view(np.uint8)  # MPI's own bool knows no BOR
        total = np.empty_like(flat)
        ordered = op == "sum" and flat.dtype.kind in "fc"
        step = SUM_CHUNK if ordered else CHUNK // max(flat.itemsize, 1)
        for lo in range(0, flat.size, step):
            part = flat[lo : lo + step]
            if ordered:
                every = np.empty((self.size, part.size), part.dtype)
                self._world.Allgather(part, every)
                total[lo : lo + step] = every[0]
                for one in every[1:]:
                    total[lo : lo + step] += one
            else:
                self._world.Allreduce(part, total[lo : lo + step], op=self._ops[op])
        result = total.view(send.dtype).reshape(send.shape)
        return result if send.ndim else result[()]

    def alltoall(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        dtype, row = parts[0].dtype, parts[0].shape[1:]
        others = [p for p in range(self.size) if p != self.rank]
        received = self.begin({p: _bytes_of(parts[p]) for p in others}, others, tag=Tag.ALLTOALL).end()
        mine = np.ascontiguousarray(parts[self.rank])
        return [
            mine if p == self.rank else received[p].view(dtype).reshape(-1, *row) for p in range(self.size)
        ]

    def gather_array(self, part: np.ndarray, root: int = 0) -> list[np.ndarray] | None:
        if self.rank != root:
            self.begin({root: _bytes_of(part)}, [], tag=Tag.GATHER).end()
            return None
        received = self.begin({}, [p for p in range(self.size) if p != root], tag=Tag.GATHER).end()
        part = np.ascontiguousarray(part)
        return [part if p == root else received[p].view(part.dtype) for p in range(self.size)]

    def begin(self, outgoing: dict[int, np.ndarray], sources: Sequence[int], tag: int = Tag.PLAIN) -> Pending:
        requests = []
        # Each rank starts with its successor, so that they do not all contact the same one.
        for peer in sorted(outgoing, key=lambda p: (p - self.rank) % self.size):
            data = outgoing[peer]
            # Whole chunks, then a shorter one (maybe empty), which ends the message.
            for lo in range(0, data.size + 1, CHUNK):
                requests.append(self._world.Isend(data[lo : lo + CHUNK], dest=peer, tag=tag))
            self.bytes_sent += data.size
            self.messages_sent += 1
        return _MPIPending(self._mpi, self._world, requests, sources, tag)

    def transport(self) -> Transport:
        if self._batches is None:
            self._batches = self._world.Dup()  # once; a communicator is too costly to make for every run
        return MPITransport(self._mpi, self._batches)

    def abort(self, code: int = 1) -> None:
        failure.abort(self._mpi, code)

    def attempt(self, action: Callable[[], T]) -> T:
        error: Exception | None = None
        value: Any = None
        try:
            value = action()
        except Exception as caught:  # re-raised below, on every rank
            error = caught
        first = int(self.allreduce(self.rank if error is not None else self.size, "min"))
        if first == self.size:
            return value  # type: ignore[no-any-return]
        shared = self.bcast(_portable(error) if self.rank == first else None, root=first)
        if error is not None and self.rank == first:
            raise error
        assert shared is not None
        raise shared

    def on_root(self, action: Callable[[], T], long_running: bool = False) -> T:
        value: Any = None
        error: Exception | None = None
        if self.rank == 0:
            try:
                value = action()
            except Exception as caught:  # re-raised below, on every rank
                error = caught
        if long_running:
            request = self._world.Ibarrier()
            for _ in pauses():
                if request.Test():
                    break
        value, root_error = self.bcast((value, _portable(error)))
        if error is not None:
            raise error
        if root_error is not None:
            raise root_error
        return value  # type: ignore[no-any-return]

    def is_here(self) -> bool:
        return self._process == os.getpid()

    def all_here(self, seconds: float) -> bool:
        request = self._entrance.Ibarrier()
        deadline = time.monotonic() + seconds
        while not request.Test():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.001)
        return True

    def meet(self, digest: bytes, call: str) -> list[bytes]:
        return self._rendezvous.meet(digest, call)

    def break_off(self, error: BaseException) -> None:
        self._rendezvous.break_off(error)


class _MPIPending(Pending):
    def __init__(self, mpi: Any, world: Any, requests: list[Any], sources: Sequence[int], tag: int) -> None:
        self._mpi, self._world, self._requests = mpi, world, requests
        self._sources, self._tag = sources, tag

    def receive(self) -> dict[int, np.ndarray]:
        return {source: self._receive_from(source) for source in self._sources}

    def finish(self) -> None:
        self._mpi.Request.Waitall(self._requests)

    def _receive_from(self, source: int) -> np.ndarray:
        status = self._mpi.Status()
        parts = []
        while True:
            message = self._world.Mprobe(source=source, tag=self._tag, status=status)
            part = np.empty(status.Get_count(self._mpi.BYTE), dtype=np.uint8)
            message.Recv(part)
            parts.append(part)
            if part.size < CHUNK:
                return part if len(parts) == 1 else np.concatenate(parts)


def _bytes_of(part: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(part).reshape(-1).view(np.uint8)


def _portable(error: Exception | None) -> Exception | None:
    """Return *error*, or its text if it cannot be sent to another rank."""
    if error is None:
        return None
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # copying runs the class's own code (__reduce__, __init__), which may raise anything
        return GaslabError(f"{type(error).__name__}: {error}")
    return error


_world: Comm | None = None
_key: int | None = None  # of the attribute in which a communicator keeps its `Comm`


def world() -> Comm:
    """Return the communicator of this process; starts MPI at the first call under a launcher.

    A child of a rank is a world of one (see `gaslab.parallel.children`).
    """
    global _world
    if _world is None or not _world.is_here():
        _world = _start()
    return _world


def current() -> Comm | None:
    """Return the result of `world`, None if it has not been called (not collective)."""
    return _world


def as_comm(comm: Any) -> Comm:
    """Return *comm* as a `Comm`: None is the world, an mpi4py communicator is wrapped."""
    if comm is None:
        return world()
    if isinstance(comm, Comm):
        return comm
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and isinstance(comm, mpi.Comm):
        return _of_communicator(mpi, comm)
    raise UsageError(f"comm={comm!r} is neither None, a gaslab.parallel.comm.Comm nor an mpi4py communicator")


def _of_communicator(mpi: Any, communicator: Any) -> Comm:
    """Return the `Comm` of a communicator, the same each time: MPI has room for few duplicates."""
    global _key
    if communicator.Get_size() == 1:
        return Comm()
    if _key is None:
        _key = mpi.Comm.Create_keyval()
    known = communicator.Get_attr(_key)
    if known is None:
        known = MPIComm(mpi, communicator)
        communicator.Set_attr(_key, known)
    return known  # type: ignore[no-any-return]


def _start() -> Comm:
    if children.is_child():
        return Comm()
    if "mpi4py.MPI" not in sys.modules and not launch.launcher().parallel:
        return Comm()
    if launch.launcher().name == "Open MPI" and mpi_family() == "mpich":
        launch.check_world(1)  # MPICH itself would end this process in C, over a PMI it does not know
        return Comm()
    with remind("the other ranks to make their first gaslab call"):
        mpi = load_mpi()
        size = mpi.COMM_WORLD.Get_size()
        launch.check_world(size)
        return MPIComm(mpi, mpi.COMM_WORLD) if size > 1 else Comm()
