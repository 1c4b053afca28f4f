"""The signals that a supervisor gets, which are for its ranks."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Collection
from types import FrameType
from typing import Any

# what comes -> what the ranks get: a terminal that closes ends the job as an administrator does
STOPS = {signal.SIGINT: signal.SIGINT, signal.SIGTERM: signal.SIGTERM, signal.SIGHUP: signal.SIGTERM}
REQUESTS = {signal.SIGUSR1: signal.SIGUSR1}


class Signals:
    """A context within which signals are noted, not obeyed; those that this process ignores stay so.

    `stop` is what the ranks are to get to end, `stops` how often that came; `requests` are others to pass on.
    """

    def __init__(self) -> None:
        self.stop: int | None = None
        self.stops = 0
        self.requests: list[int] = []
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Signals:
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)
        for number in (*STOPS, *REQUESTS):
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._woken)
        os.close(self._wake)

    def _note(self, number: int, _: FrameType | None) -> None:
        if number in REQUESTS:
            self.requests.append(REQUESTS[signal.Signals(number)])
        else:
            self.stop = self.stop or STOPS[signal.Signals(number)]
            self.stops += 1
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake, b"!")

    def wait(self, seconds: float, descriptors: Collection[int] = ()) -> None:
        """Wait until a signal comes, a descriptor can be read, or *seconds* are over."""
        poll = select.poll()
        for descriptor in (self._woken, *descriptors):
            poll.register(descriptor, select.POLLIN)
        poll.poll(max(seconds, 0.0) * 1000)
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, 4096)
