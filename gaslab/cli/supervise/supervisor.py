"""A job that is restarted: how often, after what wait, and what is said of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from pathlib import Path

from gaslab.checkpoint.folder import complete
from gaslab.cli.supervise.attempt import Attempt, Job
from gaslab.cli.supervise.signals import Signals
from gaslab.errors import UsageError
from gaslab.system import processes, topologies

QUICK_SECONDS = 10.0  # a restart that ends within this time has not helped
LONGEST_SECONDS = 30.0  # between restarts
_FOLDER = ".supervise-"


class Supervisor:
    """Runs *job* on *size* ranks until it ends well, or has been restarted *most* times."""

    def __init__(self, job: Job, size: int, checkpoints: str, most: int, shrink: bool) -> None:
        self._job, self._size, self._checkpoints = job, size, checkpoints
        self._most, self._shrink = most, shrink

    def run(self) -> int:
        """Return the exit code of the last attempt."""
        with Signals() as signals, processes.orphans_adopted(), contextlib.ExitStack() as ends:
            folder = _take(self._checkpoints, ends)
            ends.callback(topologies.remove, since=time.time())
            return self._run(folder, signals)

    def _run(self, folder: str, signals: Signals) -> int:
        size, restarts, delay, cause = self._size, 0, 0.0, ""
        while True:
            began, newest = time.monotonic(), self._newest()
            attempt_folder = os.path.join(folder, str(restarts))
            try:
                os.mkdir(attempt_folder)
            except OSError as error:
                raise UsageError(
                    f"--checkpoint {self._checkpoints}: cannot be written to any more: {error.strerror}"
                ) from None
            ended = Attempt(self._job, size, attempt_folder, signals).run(first=restarts == 0)
            if signals.stop is not None:
                _say(f"{ended.cause}; exit code {ended.code}")
                return ended.code
            if not ended.again:
                if ended.code:
                    _say(f"{ended.cause}; this is not restarted")
                return ended.code
            cause = cause or ended.cause
            if restarts == self._most:
                first = f"; the first cause: {cause}" if restarts else ""
                _say(f"{ended.cause}; giving up after {_times(restarts, 'restart')}{first}")
                return ended.code
            helped = time.monotonic() - began > QUICK_SECONDS and self._newest() != newest
            delay = 0.0 if helped or not restarts else min(max(2 * delay, 1.0), LONGEST_SECONDS)
            if self._shrink and ended.gone:
                size = max(size - 1, 1)
            restarts += 1
            where = self._newest()
            source = "from the beginning" if where is None else f"from {where}"
            after = f" in {delay:g} s" if delay else ""
            _say(f"{ended.cause}; restarting {_times(size, 'rank')} {source}{after} "
                 f"(restart {restarts} of {self._most})")  # fmt: skip
            until = time.monotonic() + delay
            while signals.stop is None and time.monotonic() < until:
                signals.wait(until - time.monotonic())
            if signals.stop is not None:
                return 128 + signals.stop

    def _newest(self) -> str | None:
        """Return the path of the newest checkpoint, None without one."""
        there: list[Path] = []
        with contextlib.suppress(OSError):
            there = complete(Path(self._checkpoints))
        return str(there[0]) if there else None


def _take(checkpoints: str, ends: contextlib.ExitStack) -> str:
    """Make a folder for the supervisor in that of the checkpoints, and remove what a killed one has left.

    Raises UsageError if that cannot be written, or if another supervisor is at work there.
    """
    import fcntl

    try:
        new = not os.path.isdir(checkpoints)
        os.makedirs(checkpoints, exist_ok=True)
        if new:  # a job that did not get far leaves no empty folder
            ends.callback(_remove_empty, checkpoints)
        for name in os.listdir(checkpoints):
            if name.startswith(_FOLDER):
                _remove_old(os.path.join(checkpoints, name))
        folder = os.path.join(os.path.abspath(checkpoints), f"{_FOLDER}{os.getpid()}-{time.time_ns():x}")
        os.mkdir(folder, 0o700)
        ends.callback(shutil.rmtree, folder, ignore_errors=True)
        lock = os.open(os.path.join(folder, "lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"--checkpoint {checkpoints}: {error.strerror}; name a folder to write to") from None
    ends.callback(os.close, lock)
    with contextlib.suppress(OSError):  # a file system without locks: nobody is found at work
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return folder


def _remove_old(folder: str) -> None:
    import fcntl

    with contextlib.suppress(FileNotFoundError), open(os.path.join(folder, "lock")) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"--checkpoint {os.path.dirname(folder)}: another supervisor is at work there; "
                "wait for its end, or name another folder"
            ) from None
        except OSError:
            pass
    shutil.rmtree(folder, ignore_errors=True)


def _remove_empty(folder: str) -> None:
    with contextlib.suppress(OSError):
        os.rmdir(folder)


def _times(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _say(text: str) -> None:
    print(f"gaslab supervise: {text}", file=sys.stderr, flush=True)
