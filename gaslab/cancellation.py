"""The end of a run from outside: by its timeout or by Ctrl-C.

Kernels and interpreted methods check ``stop`` (abi.h), which all views of a run share, once a block and in
every long loop. A fault that is set there ends the phase as a fault of the program does. A timer sets it at
the timeout, and all ranks raise the same error at their next agreement. Ctrl-C sets it while a kernel runs on
the main thread; it is raised at once, and is Python's own where no kernel runs. Python code of the user's
(the reference engine, ``done``) cannot look: an exception is sent to its thread, and sent again where Python
dropped it, as it does in callbacks of weak references.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from gaslab._kernels.interrupt import Listener
from gaslab._kernels.phase_runner import INTERRUPT, TIMEOUT
from gaslab.compiler.faults import FAULTS
from gaslab.compiler.tree import Site
from gaslab.errors import ExecutionError, Interrupted, OutOfTime, TimeoutExpired

T = TypeVar("T")
_OURS = os.path.dirname(__file__) + os.sep
ARRIVAL_SECONDS = 0.1  # within which an exception that was sent to a thread comes


class TimeLeft(float):
    """What is left of a time that began before the run; errors name the whole of it."""

    whole: float

    def __new__(cls, left: float, whole: float) -> TimeLeft:
        made = super().__new__(cls, left)
        made.whole = whole
        return made


class Cancellation:
    """A context within which a run can be ended by its timeout and by Ctrl-C."""

    def __init__(self, timeout: float | None = None) -> None:
        self.timeout = timeout
        self.stop = np.zeros(2, np.int32)
        self._began = time.perf_counter()
        self._listener: Listener | None = None
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._called: int | None = None  # the thread in which Python code of the user's runs
        self._sent = False
        self._dropped = threading.Event()  # what was sent; or nothing is to be sent any more

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return self.timeout is not None and (
            bool(self.stop[0] == TIMEOUT) or time.perf_counter() - self._began > self.timeout
        )

    @property
    def limit(self) -> str:
        """The timeout as the user wrote it, in words."""
        return f"{getattr(self.timeout, 'whole', self.timeout):g} s"

    def began_earlier(self, seconds: float) -> None:
        """Count *seconds* of an earlier part of the run, before this one enters the context."""
        if self.timeout is not None:
            whole = getattr(self.timeout, "whole", self.timeout)
            self.timeout = TimeLeft(max(self.timeout - seconds, 0.0), whole)

    def __enter__(self) -> Cancellation:
        self._began = time.perf_counter()
        main = threading.current_thread() is threading.main_thread()
        try:
            if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                self._listener = Listener(self.stop)
                self._listener.listen()
            if self.timeout is not None and self.timeout < threading.TIMEOUT_MAX:
                self._timer = threading.Timer(max(self.timeout, 0.0), self._expire)
                self._timer.daemon = True
                self._timer.start()
        except BaseException:  # Ctrl-C, between a thread's start and the block
            self._end()
            raise
        return self

    def _end(self) -> None:
        """Stop the timer, and listen no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._dropped.set()
        if self._listener is not None:
            self._listener.leave()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        self._end()
        if kind is None and self.stop[0] == INTERRUPT:  # heard when there was nothing left to end
            raise KeyboardInterrupt
        if kind is Interrupted:  # Python ends by the signal for KeyboardInterrupt itself only
            raise KeyboardInterrupt(str(error)) from None

    def expired(self, program: str, where: str) -> TimeoutExpired:
        """Return the error of a run whose time is up; *where* it was then."""
        return TimeoutExpired(f"{program} ran out of {self.limit} {where}")

    def fault(self, code: int, program: str, where: str, place: Site) -> BaseException:
        """Return the error of a run that a fault (``gl_fault.code``) has ended, at a line of the user's."""
        what = "failed"
        if code in (INTERRUPT, TIMEOUT):
            what = "was interrupted" if code == INTERRUPT else f"ran out of {self.limit}"
        text = f"{place.file}:{place.line}: {program} {what}{where and ' '}{where}"
        line = f"\n    {place.text.strip()}"
        if code == INTERRUPT:
            return Interrupted(text + line)
        if code == TIMEOUT:
            return TimeoutExpired(text + line)
        return ExecutionError(f"{text}: {FAULTS[code]}{line}")

    # ---- Python code of the user's -----------------------------------------------------------------

    def call(self, program: str, what: str, function: Callable[[], T]) -> T:
        """Return ``function()``, Python code of the user's; raises TimeoutExpired if the time runs out."""
        if self.timeout is None:
            return function()
        with self._hearing_drops():
            return self._call_in_time(program, what, function)

    @contextmanager
    def _hearing_drops(self) -> Iterator[None]:
        """Hear of it where Python drops the exception that was sent."""
        before = sys.unraisablehook

        def hook(dropped: Any) -> None:
            if dropped.exc_type is OutOfTime:
                self._dropped.set()
            else:
                before(dropped)

        sys.unraisablehook = hook
        try:
            yield
        finally:
            if sys.unraisablehook is hook:
                sys.unraisablehook = before

    def _call_in_time(self, program: str, what: str, function: Callable[[], T]) -> T:
        with self._lock:
            if not self.late:
                self._called = threading.get_ident()
        if self._called is None:
            raise self.expired(program, f"before {what}")
        try:
            try:
                value = function()
            except OutOfTime:
                raise
            except BaseException:
                self._leave()
                raise
            self._leave()
            return value
        except OutOfTime as error:
            with self._lock:
                self._called = None
                _send(threading.get_ident(), None)
            frames = traceback.extract_tb(error.__traceback__)
            inner = next((f for f in reversed(frames) if not f.filename.startswith(_OURS)), frames[-1])
            place = error.place or (inner.filename, inner.lineno or 0, inner.line or "")
            where = error.where or f"in {what}"
        raise self.fault(TIMEOUT, program, where, Site(*place))

    def _leave(self) -> None:
        """Let no exception be sent from now on; one that was sent, and has not come, comes here."""
        thread = threading.get_ident()
        with self._lock:
            self._called = None
        until = time.perf_counter() + ARRIVAL_SECONDS
        while self._sent and time.perf_counter() < until:
            time.sleep(0)
        if self._sent:  # the program has caught it itself
            _send(thread, None)

    def _expire(self) -> None:
        with self._lock:
            self.stop[0] = self.stop[0] or TIMEOUT
        assert self._timer is not None
        while self._sent_out() and self._dropped.wait() and not self._timer.finished.is_set():
            self._dropped.clear()

    def _sent_out(self) -> bool:
        """Send the exception to the code of the user's that runs; return whether any does."""
        with self._lock:
            if self._called is not None:
                self._sent = True
                _send(self._called, OutOfTime)
            return self._called is not None


def _send(thread: int, kind: type[BaseException] | None) -> None:
    """Let *kind* be raised in a thread at its next instruction of Python; None takes back what is to come."""
    sent = ctypes.py_object() if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), sent)
