"""`Timeline`: the work of every rank over time, as a file that a browser's trace viewer opens.

The file is in the Trace Event Format (Chrome's ``chrome://tracing``, https://ui.perfetto.dev): a process for
each rank, with a track for its engine and, unless ranks share supersteps, one for the batches of its
transport and one for its counts.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from gaslab.errors import GaslabError, warn_user
from gaslab.parallel.comm import Comm
from gaslab.parallel.tags import Tag
from gaslab.system.atomic_writes import AtomicFile
from gaslab.system.outputs import Output, check_distinct

MOST = 100_000  # events of one rank; later ones are only counted
ENGINE, TRANSPORT, COUNTS = 0, 1, 2  # tracks
_TRACKS = ("engine", "transport", "counts")
_ROUNDS = 8
_DENSE = 9  # bits


def is_drawn(k: int) -> bool:
    """Return whether event *k* of many is drawn: all of the first 512, then 256 for each doubling of *k*."""
    return k % (1 << max(k.bit_length() - _DENSE, 0)) == 0


class Event(NamedTuple):
    """One entry; times in nanoseconds of this rank's clock."""

    track: int
    begin: int
    order: int  # among events with the same begin: longer spans first
    kind: str  # the format's "ph"
    name: str
    more: dict[str, Any]


class Timeline:
    """Spans, counters and arrows of this rank, from construction to `write` (both collective).

    Parameters
    ----------
    comm : Comm
    path : path
        Where `write` writes; a file of that name is replaced.
    read : iterable of paths
        Files that the graph was read from.

    Raises
    ------
    UsageError
        The path cannot be written, or is a file of *read*.
    """

    def __init__(self, comm: Comm, path: str | os.PathLike[str], read: Iterable[str] = ()) -> None:
        self.comm, self._output = comm, comm.on_root(lambda: Output(path, force=True))
        self.paused = False  # spans are not wanted now
        self.left_out = 0
        comm.on_root(lambda: self._check(read))
        self._events: list[Event] = []
        offset = behind(comm)
        self._zero: int = comm.bcast(time.perf_counter_ns()) - offset

    def _check(self, read: Iterable[str]) -> None:
        self._output.check()
        check_distinct([("timeline=", self._output)], read)

    # ---- recording ---------------------------------------------------------------------------------

    def span(self, name: str, begin: float, end: float, track: int = ENGINE, **figures: Any) -> None:
        """Draw a span from *begin* to *end*, by time.perf_counter."""
        first, last = _nanoseconds(begin), _nanoseconds(end)
        more: dict[str, Any] = {"dur": (last - first) / 1000}
        if figures:
            more["args"] = figures
        self._add(Event(track, first, first - last, "X", name, more))

    def counter(self, name: str, at: float, **values: float) -> None:
        """Draw curves of values."""
        self._add(Event(ENGINE, _nanoseconds(at), 1, "C", name, {"args": values}))

    def arrow(self, begins: bool, name: str, at: float) -> None:
        """Draw an end of the arrow *name* on the span of the transport track that begins or ends now."""
        more: dict[str, Any] = {"cat": "transport", "id": name} | ({} if begins else {"bp": "e"})
        self._add(Event(TRANSPORT, _nanoseconds(at), 1, "s" if begins else "f", "batch", more))

    def _add(self, event: Event) -> None:
        if self.paused:
            return
        if len(self._events) >= MOST:
            self.left_out += 1
            return
        self._events.append(event)

    # ---- writing -----------------------------------------------------------------------------------

    def write(self) -> None:
        """Write the events of all ranks (collective); warns if the file cannot be written."""
        self._events.sort(key=lambda event: (event.track, event.begin, event.order))
        lines = [json.dumps(line) for line in (*self._heads(), *map(self._line, self._events))]
        parts = self.comm.gather_array(np.frombuffer(",\n".join(lines).encode(), np.uint8))
        left_out = int(self.comm.allreduce(self.left_out))
        failed = self.comm.on_root(lambda: self._written(parts or [], left_out))
        if failed is not None:  # the run itself is fine
            warn_user(f"{failed}; the timeline is lost", UserWarning, self.comm.rank)

    def _written(self, parts: list[np.ndarray], left_out: int) -> str | None:
        """Write the file; return an error message, or None."""
        rest = {"displayTimeUnit": "ms", "otherData": {"ranks": self.comm.size, "events_left_out": left_out}}
        events = b",\n".join(part.tobytes() for part in parts)
        try:
            with AtomicFile(self._output) as draft:
                draft.write(b'{"traceEvents": [\n' + events + b"\n],\n")
                draft.write(json.dumps(rest).encode()[1:] + b"\n")
                draft.keep()
        except GaslabError as error:
            return str(error)
        return None

    def _heads(self) -> list[dict[str, Any]]:
        """Return the events that name this rank and its tracks."""
        heads: list[tuple[str, int, dict[str, Any]]] = [
            ("process_name", 0, {"name": f"rank {self.comm.rank} on {platform.node()}"}),
            ("process_sort_index", 0, {"sort_index": self.comm.rank}),
        ]
        heads += [("thread_name", track, {"name": name}) for track, name in enumerate(_TRACKS)]
        return [
            {"ph": "M", "name": what, "pid": self.comm.rank, "tid": track, "ts": 0, "args": figures}
            for what, track, figures in heads
        ]

    def _line(self, event: Event) -> dict[str, Any]:
        return {
            "ph": event.kind,
            "name": event.name,
            "pid": self.comm.rank,
            "tid": event.track,
            "ts": (event.begin - self._zero) / 1000,
            **event.more,
        }


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def behind(comm: Comm) -> int:
    """Return by how many nanoseconds this rank's clock is behind rank 0's (collective).

    The fastest of a few round trips decides. An offset below its error counts as zero: ranks of one machine
    share a clock.
    """
    if comm.rank == 0:
        for peer in range(1, comm.size):
            for _ in range(_ROUNDS):
                comm.begin({}, [peer], Tag.CLOCK).end()
                now = np.array([time.perf_counter_ns()], np.int64)
                comm.begin({peer: now.view(np.uint8)}, [], Tag.CLOCK).end()
        return 0
    found = []
    for _ in range(_ROUNDS):
        asked = time.perf_counter_ns()
        received = comm.begin({0: np.zeros(0, np.uint8)}, [0], Tag.CLOCK).end()
        clock, took = int(received[0].view(np.int64)[0]), time.perf_counter_ns() - asked
        found.append((took, clock - (asked + took // 2)))
    took, offset = min(found)
    return offset if abs(offset) > took // 2 else 0
