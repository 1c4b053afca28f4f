"""When a checkpoint is due: by time, by supersteps, or because a signal asks for it."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Any

NOTHING, DUE, STOP = 0, 1, 2  # what a rank wants; ranks agree on the largest


class Requests:
    """What this rank wants between two supersteps.

    In the block SIGUSR1 asks for a checkpoint, and SIGTERM for one after which the run ends. Python hears of
    signals in the main thread alone, so a run in another thread knows no signals.
    """

    def __init__(self, seconds: float | None, supersteps: int | None) -> None:
        self._seconds, self._supersteps = seconds, supersteps
        self._stop = False
        self._heard = self._read = self._met = 0  # signals that ask for a checkpoint
        self._before: dict[int, Any] = {}
        self._last_time, self._last_superstep = time.perf_counter(), 0

    def __enter__(self) -> Requests:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGUSR1, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._hear)
        self._last_time = time.perf_counter()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        if self._stop and kind is None:  # the run was over before it could end by the signal
            signal.raise_signal(signal.SIGTERM)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            self._stop = True
        else:
            self._heard += 1

    def wanted(self, superstep: int, writing: bool) -> int:
        """Return what this rank wants after *superstep* supersteps; nothing twice after the same one.

        The time alone asks for nothing while this rank is *writing*.
        """
        self._read = self._heard
        if self._stop:
            return STOP
        if superstep == self._last_superstep:
            return NOTHING
        passed = time.perf_counter() - self._last_time
        due = self._seconds is not None and not writing and passed >= self._seconds
        if self._supersteps is not None:
            due = superstep - self._last_superstep >= self._supersteps
        return DUE if due or self._read != self._met else NOTHING

    def met(self, superstep: int) -> None:
        """Note that a checkpoint begins, as it was wanted; signals that came after that ask for another."""
        self._met = self._read
        self._last_time, self._last_superstep = time.perf_counter(), superstep
