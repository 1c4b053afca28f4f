"""Signs of life of a rank, for ``gaslab supervise``.

The supervisor names a folder in GASLAB_HEARTBEAT. A rank that finds the variable writes a small file there,
once a second: where it runs, what it is doing, and in the end its exit code. The supervisor compares what it
reads with what it read before, by its own clock, so no clock of another machine matters.

How a rank ended is known to its parent alone. A launcher does not tell, and kills the other ranks at once. So
the rank is a fork of the process that the launcher has started, its guard, which waits for it, writes how it
ended and in which phase, and ends in the same way. A signal to the guard is one to the rank: it is passed on,
if one kills or stops the guard, the rank dies, or gives no sign of life.

A rank without a supervisor looks for the variable once, and loads nothing more.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from gaslab.parallel import launch
from gaslab.system import leftovers

VARIABLE = "GASLAB_HEARTBEAT"
PERIOD_SECONDS = 1.0
_PASSED_ON = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2")  # by a guard
_PHASE_BYTES = 128


class Heartbeat(NamedTuple):
    """What a rank says of itself."""

    rank: int
    pid: int
    guard: int  # the process that the launcher has started
    host: str
    beat: int = 0  # how often its thread has written
    phase: str = ""  # "in superstep 12", "while loading"
    moves: bool = False  # whether the phase is one of many short ones: a long one is a hang
    progress: int = 0  # how many phases have begun
    code: int | None = None  # the exit code, once the command line has ended
    errors: Sequence[str] = ()  # the classes of the error that ended it, the nearest first
    unfinished: Sequence[str] = ()  # files and folders to remove if the rank is killed


class Death(NamedTuple):
    """What its guard says of a rank that has ended: a status as of ``os.waitpid``, and the last phase."""

    status: int
    phase: str


class _Writer:
    """The heart of this process; *shared* is the memory where its guard finds the last phase."""

    def __init__(self, folder: str, rank: int, shared: Any) -> None:
        self.folder, self.rank, self.pid, self.shared = folder, rank, os.getpid(), shared
        self.guard, self.host = os.getppid(), host()
        self.moves = False
        self.progress = 0
        self.end: tuple[int | None, tuple[str, ...]] = (None, ())
        self._unfinished: list[str] = []
        self._beat = 0
        self._lock = threading.Lock()

    def enter(self, phase: str, moves: bool) -> None:
        """Begin a phase."""
        text = f"{'in' if moves else 'while'} {phase}".encode()[: _PHASE_BYTES - 1]
        self.shared[: len(text) + 1] = text + b"\0"
        self.moves = moves
        self.progress += 1

    def write(self) -> None:
        """Replace the file; on a full disk, overwrite it."""
        import json

        with self._lock, contextlib.suppress(OSError):
            self._beat += 1
            self._unfinished = [path for path in self._unfinished if os.path.lexists(path)]
            said = Heartbeat(
                self.rank, self.pid, self.guard, self.host, self._beat, _phase(self.shared), self.moves,
                self.progress, *self.end, tuple(self._unfinished),
            )  # fmt: skip
            _replace(self.folder, f"rank-{self.rank}", json.dumps(said._asdict()))

    def begun(self, path: str) -> None:
        """Tell the supervisor at once of a file that a kill would leave behind."""
        if os.getpid() == self.pid:
            self._unfinished.append(os.path.abspath(path))
            self.write()

    def output_done(self, path: str) -> None:
        """Let later starts of this job replace an output."""
        import json

        if os.getpid() == self.pid:
            with contextlib.suppress(OSError), open(_outputs(self.folder), "a", encoding="utf-8") as file:
                file.write(f"{json.dumps(path)}\n")

    def go_on(self) -> None:
        """Write once a second, and send this process the signal that the supervisor asks for."""
        from gaslab.system import processes

        asked = os.path.join(self.folder, f"signal-{self.rank}")
        while True:
            time.sleep(PERIOD_SECONDS)
            if not processes.is_stopped(self.guard):
                self.write()
            with contextlib.suppress(OSError, ValueError):
                with open(asked) as file:
                    number = int(file.read())
                os.unlink(asked)
                os.kill(self.pid, number)


_writer: _Writer | None = None


def begin() -> None:
    """Write heartbeats from now on, if a supervisor asks for them; this process goes on as a child of itself.

    A signal to write a checkpoint (SIGUSR1) that comes before the run has begun is ignored.
    """
    global _writer
    folder = os.environ.pop(VARIABLE, None)  # a process that this one starts is no rank
    if folder is None:
        return
    import mmap

    rank = launch.launcher().rank
    launch.started_by = os.getppid()
    shared = mmap.mmap(-1, _PHASE_BYTES)
    _fork_from_guard(folder, rank, shared)
    _empty_input()
    _writer = _Writer(folder, rank, shared)
    _writer.enter("starting", moves=False)
    if signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    _writer.write()
    leftovers.draft_made, leftovers.output_done = _writer.begun, _writer.output_done
    leftovers.earlier_outputs = _earlier_outputs(folder)
    threading.Thread(target=_writer.go_on, name="heartbeat", daemon=True).start()


def _empty_input() -> None:
    """Let standard input end at once: a launcher leaves that of some ranks open."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)


def _fork_from_guard(folder: str, rank: int, shared: Any) -> None:
    """Return in a child; this process waits for it, writes how it ended, and ends in the same way."""
    from gaslab.system import processes

    guard = os.getpid()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)  # a signal to the launcher's group comes from the guard, once
        processes.end_with_parent(signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(128 + signal.SIGKILL)
        return
    for name in _PASSED_ON:
        signal.signal(signal.Signals[name], lambda number, _: processes.send([child], number))
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(OSError):
        _replace(folder, f"death-{rank}", f"{status} {_phase(shared)}")
    if os.WIFSIGNALED(status):
        processes.end_by(os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def _outputs(folder: str) -> str:
    """Return the file of what all starts of this job have written, beside the folders of each."""
    return os.path.join(os.path.dirname(folder), "outputs")


def _earlier_outputs(folder: str) -> set[str]:
    import json

    with contextlib.suppress(OSError, ValueError), open(_outputs(folder), encoding="utf-8") as file:
        return set(map(json.loads, file))
    return set()


def _phase(shared: Any) -> str:
    return bytes(shared[:]).partition(b"\0")[0].decode("utf-8", "replace")


def note(phase: str, moves: bool = True) -> None:
    """Say what this rank does from now on; *moves* says that a phase as long as the limit is a hang.

    A phase that moves is a noun (superstep 12), another one says what the rank is doing (loading).
    """
    if _writer is not None:
        _writer.enter(phase, moves)


def ended(code: int, error: BaseException | None = None) -> None:
    """Say that the command line ends with *code*, and by which error; what is said first stands."""
    if _writer is not None and _writer.end[0] is None and os.getpid() == _writer.pid:
        kinds = () if error is None else type(error).__mro__
        _writer.end = (code, tuple(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds))
        _writer.write()


def read(folder: str) -> tuple[dict[int, Heartbeat], dict[int, Death]]:
    """Return what the ranks and their guards have said, by rank."""
    import json

    beats, deaths = {}, {}
    names: list[str] = []
    with contextlib.suppress(OSError):  # the folder was removed, or its server does not answer
        names = os.listdir(folder)
    for name in names:
        kind, _, rank = name.partition("-")
        with contextlib.suppress(OSError, ValueError):  # just replaced, on a network file system
            if kind in ("rank", "death"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = file.read()
                if kind == "rank":
                    beats[int(rank)] = Heartbeat(**json.loads(text))
                else:
                    status, _, phase = text.partition(" ")
                    deaths[int(rank)] = Death(int(status), phase)
    return beats, deaths


def ask(folder: str, rank: int, number: int) -> None:
    """Ask a rank on another machine to send itself a signal."""
    with contextlib.suppress(OSError):
        _replace(folder, f"signal-{rank}", str(number))


def host() -> str:
    """Return the name of this machine."""
    import socket

    return socket.gethostname()


def _replace(folder: str, name: str, text: str) -> None:
    """Write a small file at once; where there is no room for another one, into the room of the old one."""
    beside, final = os.path.join(folder, f".{name}"), os.path.join(folder, name)
    try:
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, final)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        with open(final, "r+", encoding="utf-8") as file:
            file.write(text)
            file.truncate()
