"""Virtual ranks: more or fewer than the real ones, so that a graph can be built for another number of ranks.

Each real rank hosts a run of them, as threads; the main thread moves their arrays over the real communicator,
since only it calls MPI.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from gaslab.parallel.comm import Comm

T = TypeVar("T")


class Peers(Protocol):
    """The part of `Comm` with which a graph is built; virtual ranks have it, too."""

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    def allgather(self, value: T) -> list[T]: ...

    def alltoall(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]: ...


def hosted(rank: int, ranks: int, virtual: int) -> range:
    """Return the virtual ranks that a real rank hosts.

    >>> [list(hosted(rank, 2, 5)) for rank in range(2)], [list(hosted(rank, 3, 2)) for rank in range(3)]
    ([[0, 1], [2, 3, 4]], [[], [0], [1]])
    """
    return range(virtual * rank // ranks, virtual * (rank + 1) // ranks)


def hosts(ranks: int, virtual: int) -> np.ndarray:
    """Return the int32 real rank that hosts each virtual rank."""
    sizes = [len(hosted(rank, ranks, virtual)) for rank in range(ranks)]
    return np.repeat(np.arange(ranks, dtype=np.int32), sizes)


def run_virtual(comm: Comm, virtual: int, function: Callable[[Peers], T]) -> list[T]:
    """Run *function* on this many virtual ranks (collective); return the results of those hosted here.

    An error on one of them is raised on every rank.
    """
    mine = hosted(comm.rank, comm.size, virtual)
    ranks = [_VirtualRank(rank, virtual) for rank in mine]
    threads = [threading.Thread(target=one.run, args=(function,), daemon=True) for one in ranks]
    for thread in threads:
        thread.start()
    try:
        while True:
            asked = [one.asked.get() for one in ranks]
            comm.attempt(partial(_raise_first, asked))
            # All virtual ranks make the same calls; a real rank without any makes them too.
            wanted = next(kind for kind in comm.allgather(asked[0][0] if asked else None) if kind is not None)
            if wanted == _DONE:
                return [value for _, value in asked]
            values = [value for _, value in asked]
            move = _allgather if wanted == _ALLGATHER else _alltoall
            for one, answer in zip(ranks, move(comm, virtual, values), strict=True):
                one.answers.put(answer)
    finally:
        for one in ranks:
            one.answers.put(_Ended())
        for thread in threads:
            thread.join()


_DONE, _FAILED, _ALLGATHER, _ALLTOALL = range(4)  # a virtual rank's request to its host


class _Ended(Exception):
    """Another rank failed."""


class _VirtualRank:
    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self.asked: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def run(self, function: Callable[[Peers], Any]) -> None:
        try:
            self.asked.put((_DONE, function(self)))
        except _Ended:
            pass
        except BaseException as error:  # raised by the host, on every rank
            self.asked.put((_FAILED, error))

    def allgather(self, value: T) -> list[T]:
        return self._ask(_ALLGATHER, value)  # type: ignore[no-any-return]

    def alltoall(self, parts: Sequence[np.ndarray]) -> list[np.ndarray]:
        return self._ask(_ALLTOALL, parts)  # type: ignore[no-any-return]

    def _ask(self, kind: int, value: Any) -> Any:
        self.asked.put((kind, value))
        answer = self.answers.get()
        if isinstance(answer, _Ended):
            raise answer
        return answer


def _raise_first(asked: list[tuple[int, Any]]) -> None:
    for kind, value in asked:
        if kind == _FAILED:
            raise value


def _allgather(comm: Comm, virtual: int, values: list[Any]) -> list[list[Any]]:
    every = [value for part in comm.allgather(values) for value in part]
    return [list(every) for _ in values]


def _alltoall(comm: Comm, virtual: int, values: list[Sequence[np.ndarray]]) -> list[list[np.ndarray]]:
    """Move 1-D arrays of one dtype: to each real rank those of its virtual ranks, concatenated."""
    spans = [hosted(rank, comm.size, virtual) for rank in range(comm.size)]
    dtype = values[0][0].dtype if values else np.dtype(np.uint8)
    none = np.empty(0, dtype)

    def of(span: range) -> list[np.ndarray]:
        return [parts[target] for parts in values for target in span]

    sizes = comm.alltoall([np.array([part.size for part in of(span)], np.int64) for span in spans])
    data = comm.alltoall([np.concatenate([none, *of(span)]).view(np.uint8) for span in spans])
    answers: list[list[np.ndarray]] = [[] for _ in values]
    for size, received in zip(sizes, data, strict=True):
        pieces = np.split(received.view(dtype), np.cumsum(size)[:-1]) if size.size else []
        for at, piece in enumerate(pieces):  # by sender, then by receiving virtual rank
            answers[at % len(values)].append(piece)
    return answers
