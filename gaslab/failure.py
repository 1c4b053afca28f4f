"""A rank that fails ends them all.

Under every MPI a rank that raises while the others wait for it leaves them waiting for ever. Here
``sys.excepthook``, ``threading.excepthook`` and ``sys.exit`` are chained so that the traceback is
printed with its rank and the job aborted. If nobody has started MPI, or its world is one, all behave as
they did before.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from types import TracebackType
from typing import Any, NoReturn

from gaslab import launch
from gaslab.errors import GaslabError
from gaslab.mpilib import load_mpi, running_mpi

DRAIN_SECONDS = 0.3  # for the launcher to read what this rank has said, before it is ended
JOIN_SECONDS = 2.0  # for MPI_Init, by a rank that fails before anybody has started MPI

_installed = False
_armed = True
_exit_code = 0


def install() -> None:
    """Chain the hooks, once."""
    global _installed
    if _installed:
        return
    _installed = True
    _chain_main()
    _chain_threads()
    if launch.launcher().parallel:
        _chain_exit()


def disarm() -> None:
    """Let this process end by itself: every rank is known to end in the same way."""
    global _armed
    _armed = False


def _chain_main() -> None:
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        where = _place()
        if where is not None and where[0] > 0 and isinstance(error, GaslabError):
            time.sleep(0.25)  # most likely raised on every rank: rank 0 tells it for all and ends us
        _announce(where)
        previous(kind, error, trace)
        end_all(130 if issubclass(kind, KeyboardInterrupt) else 1)

    sys.excepthook = hook


def _chain_threads() -> None:
    previous = threading.excepthook

    def hook(arguments: Any) -> None:
        if issubclass(arguments.exc_type, SystemExit):
            return  # ends its thread alone
        _announce(_place())
        previous(arguments)
        end_all(1)

    threading.excepthook = hook


class _Exit(SystemExit):
    """What ``sys.exit`` raises. Dying with no Python code below it, it has ended the interpreter.

    Python shows a SystemExit to no hook; but it lets go of it before it runs ``atexit`` functions,
    and those come before MPI_Finalize would wait for the other ranks.
    """

    def __del__(self) -> None:
        global _exit_code
        try:
            sys._getframe(1)
        except ValueError:
            if self.code not in (None, 0):
                _exit_code = self.code if isinstance(self.code, int) else 1


def _chain_exit() -> None:
    def leave(status: Any = None, /) -> NoReturn:
        """Exit the interpreter by raising SystemExit(status)."""
        raise _Exit(status)

    sys.exit = leave
    atexit.register(_last_words)


def _last_words() -> None:
    """End all if this process ends in failure but no hook has seen it.

    Python keeps what ended the main thread in sys.last_value also where somebody replaced our hook.
    """
    code = _exit_code or (1 if getattr(sys, "last_value", None) is not None else 0)
    if code:
        end_all(code)


def _place() -> tuple[int, int] | None:
    """Return this process's rank and the size of the world, None when alone."""
    mpi = running_mpi()
    if mpi is not None:
        size = mpi.COMM_WORLD.Get_size()
        return (mpi.COMM_WORLD.Get_rank(), size) if size > 1 else None
    job = launch.launcher()
    return (job.rank, job.size) if job.size > 1 and not launch.singleton_allowed() else None


def _announce(where: tuple[int, int] | None) -> None:
    if where is not None and _armed:
        print(f"gaslab: rank {where[0]} of {where[1]} failed; ending all ranks", file=sys.stderr, flush=True)


def end_all(code: int) -> None:
    """Abort the job with *code*, from any thread; nothing in a world of one or after `disarm`."""
    if not _armed or _place() is None:
        return
    abort(running_mpi() or _join_to_leave(), code)


def abort(mpi: Any, code: int) -> NoReturn:
    """End every rank, once what was said has reached the launcher; *mpi* is mpi4py.MPI."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        _drain(stream)
    time.sleep(0.05)  # from the launcher's helper on this machine to the launcher itself
    mpi.COMM_WORLD.Abort(code)
    os._exit(code)  # MPICH's Abort may return before the launcher has ended this process


def _drain(stream: Any) -> None:
    """Wait until the other end of a pipe has read it: launchers drop what they have not read at an Abort."""
    try:
        import fcntl
        import termios

        deadline = time.monotonic() + DRAIN_SECONDS
        unread = bytearray(4)
        while time.monotonic() < deadline:
            fcntl.ioctl(stream.fileno(), termios.FIONREAD, unread)
            if not any(unread):
                return
            time.sleep(0.005)
    except (ImportError, OSError, ValueError):  # no pipe: a file, a terminal, a notebook
        return


def _join_to_leave() -> Any:
    """Start MPI, which the others may be waiting in for us, or die of a signal that the launcher sees.

    A process that leaves before MPI_Init, whatever its exit code, is no failure to most launchers.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, JOIN_SECONDS)
    try:
        return load_mpi()
    except Exception:  # no MPI here: the signal is all that is left
        os.kill(os.getpid(), signal.SIGALRM)
