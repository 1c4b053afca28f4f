"""Signs of life of a rank, for ``gaslab supervise``.

The supervisor names a folder in GASLAB_HEARTBEAT. A rank that finds the variable writes a small file there,
once a second: where it runs, what it is doing, and in the end its exit code. The supervisor compares what it
reads with what it read before, by its own clock, so no clock of another machine matters. A rank without a
supervisor looks for the variable once, and loads nothing more.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from typing import NamedTuple

from gaslab.parallel import launch
from gaslab.system import leftovers

VARIABLE = "GASLAB_HEARTBEAT"
PERIOD_SECONDS = 1.0


class Heartbeat(NamedTuple):
    """What a rank says of itself."""

    rank: int
    pid: int
    host: str
    beat: int = 0  # how often its thread has written
    phase: str = "starting"
    moves: bool = False  # whether the phase is one of many short ones: a long one is a hang
    progress: int = 0  # how many phases have begun
    code: int | None = None  # the exit code, once the command line has ended
    errors: tuple[str, ...] = ()  # the classes of the error that ended it, the nearest first
    unfinished: tuple[str, ...] = ()  # files and folders to remove if the rank is killed


class _Writer:
    """The heart of this process."""

    def __init__(self, folder: str, rank: int) -> None:
        self.folder, self.rank, self.pid = folder, rank, os.getpid()
        self.host = host()
        self.phase: tuple[str, bool] = ("starting", False)
        self.progress = 0
        self.end: tuple[int | None, tuple[str, ...]] = (None, ())
        self._unfinished: list[str] = []
        self._beat = 0
        self._lock = threading.Lock()

    def write(self) -> None:
        """Replace the file; a disk that is full or gone is for the supervisor to judge."""
        import json

        with self._lock, contextlib.suppress(OSError):
            self._beat += 1
            self._unfinished = [path for path in self._unfinished if os.path.lexists(path)]
            said = Heartbeat(
                self.rank, self.pid, self.host, self._beat, *self.phase, self.progress, *self.end,
                tuple(self._unfinished),
            )  # fmt: skip
            _replace(self.folder, f"rank-{self.rank}", json.dumps(said._asdict()))

    def begun(self, path: str) -> None:
        """Tell the supervisor at once of a file that a kill would leave behind."""
        if os.getpid() == self.pid:
            self._unfinished.append(os.path.abspath(path))
            self.write()

    def go_on(self) -> None:
        """Write once a second, and send this process the signal that the supervisor asks for."""
        asked = os.path.join(self.folder, f"signal-{self.rank}")
        while True:
            time.sleep(PERIOD_SECONDS)
            self.write()
            with contextlib.suppress(OSError, ValueError):
                with open(asked) as file:
                    number = int(file.read())
                os.unlink(asked)
                os.kill(self.pid, number)


_writer: _Writer | None = None


def begin() -> None:
    """Write heartbeats from now on, if a supervisor asks for them.

    A signal to write a checkpoint (SIGUSR1) that comes before the run has begun is ignored.
    """
    global _writer
    folder = os.environ.pop(VARIABLE, None)  # a process that this one starts is no rank
    if folder is None:
        return
    _writer = _Writer(folder, launch.launcher().rank)
    if signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    _writer.write()
    leftovers.tell = _writer.begun
    threading.Thread(target=_writer.go_on, name="heartbeat", daemon=True).start()


def note(phase: str, moves: bool = True) -> None:
    """Say what this rank does from now on; *moves* says that a phase as long as the limit is a hang.

    A phase that moves is a noun (superstep 12), another one says what the rank is doing (loading).
    """
    if _writer is not None:
        _writer.phase = (phase, moves)
        _writer.progress += 1


def ended(code: int, error: BaseException | None = None) -> None:
    """Say that the command line ends with *code*, and by which error; what is said first stands."""
    if _writer is not None and _writer.end[0] is None and os.getpid() == _writer.pid:
        kinds = () if error is None else type(error).__mro__
        _writer.end = (code, tuple(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds))
        _writer.write()


def read(folder: str) -> dict[int, Heartbeat]:
    """Return what the ranks have said, by rank."""
    import json

    found = {}
    for name in os.listdir(folder):
        if name.startswith("rank-"):
            with (
                contextlib.suppress(OSError, ValueError),  # just replaced, on a network file system
                open(os.path.join(folder, name), encoding="utf-8") as file,
            ):
                said = Heartbeat(**json.load(file))
                found[said.rank] = said
    return found


def ask(folder: str, rank: int, number: int) -> None:
    """Ask a rank on another machine to send itself a signal."""
    with contextlib.suppress(OSError):
        _replace(folder, f"signal-{rank}", str(number))


def host() -> str:
    """Return the name of this machine."""
    import socket

    return socket.gethostname()


def _replace(folder: str, name: str, text: str) -> None:
    beside = os.path.join(folder, f".{name}")
    with open(beside, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(beside, os.path.join(folder, name))
