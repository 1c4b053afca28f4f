"""A rank that fails ends all ranks.

Under every MPI a rank that raises while the others wait for it leaves them waiting for ever. So in a world of
several ranks the first collective call, or the command line, chains ``sys.excepthook`` and
``threading.excepthook``: the traceback is printed with its rank, and the job is aborted. Of ranks that fail
together the first prints it. A rank that leaves in another way is found by the ranks that wait for it in a
collective call (`gaslab.parallel.rendezvous`). Without MPI, and in a world of one, nothing is chained.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn

from gaslab.errors import AbandonedError, GaslabError, users_frames
from gaslab.parallel import heartbeat, launch
from gaslab.parallel.mpilib import load_mpi, running_mpi
from gaslab.system import leftovers

DRAIN_SECONDS = 0.3  # for the launcher to read what this rank has written, before it is ended
JOIN_SECONDS = 2.0  # for MPI_Init, by a rank that fails before any rank has started MPI

TOGETHER_SECONDS = 0.25  # within which ranks that fail alike have failed
PLACED_SECONDS = 0.4  # for a rank that Ctrl-C found in a method to print its line
SPOKEN_SECONDS = 2.0  # for the first of them to end the others
CAUSE_SECONDS = 1.0  # for a rank that fails to end those whose errors follow from its own

_installed = False
_armed = True
_leave: Callable[[], int] | None = None
_failed_ranks: Callable[[float], list[int]] | None = None


def install() -> None:
    """Chain the hooks, once; for a job of several ranks."""
    global _installed
    if _installed:
        return
    _installed = True
    _chain_main()
    _chain_threads()
    atexit.register(_at_exit)


def disarm() -> None:
    """Let this process end by itself: every rank is known to end in the same way."""
    global _armed
    _armed = False
    _ignore_interrupts()


def know_others(leave: Callable[[], int], failed: Callable[[float], list[int]]) -> None:
    """Note functions that reach other ranks, now that MPI runs, and chain the hooks.

    *leave* waits until all ranks may end, and returns the exit code for all of them if this one has left
    them waiting. *failed* posts that this rank has failed, and returns the ranks that fail within so many
    seconds.
    """
    global _leave, _failed_ranks
    _leave, _failed_ranks = leave, failed
    install()


def _chain_main() -> None:
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        where = _place()
        if where is not None and _armed:
            await_cause(error)
            if isinstance(error, KeyboardInterrupt) and not error.args:
                time.sleep(PLACED_SECONDS)
            _announce(where, _await_first(where))
        if isinstance(error, (KeyboardInterrupt, GaslabError)):  # a mistake is shown at the user's own lines
            trace = users_frames(trace) or trace
            error = error.with_traceback(trace)
        previous(kind, error, trace)
        end_all(exit_code(error))

    sys.excepthook = hook


def exit_code(error: BaseException) -> int:
    """Return the exit code of a process that *error* ends; 0 only for an exit without one."""
    if isinstance(error, SystemExit):
        code = error.code
        return 0 if code is None else int(code) & 0xFF if isinstance(code, int) else 1
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def _await_first(where: tuple[int, int]) -> list[int]:
    """Return, on the first of ranks that fail together, all of them; the others wait until it ends them."""
    rank, _ = where
    if _failed_ranks is None or running_mpi() is None:
        if rank > 0:
            time.sleep(TOGETHER_SECONDS)  # where rank 0 fails too, it speaks for all
        return [rank]
    failed = _failed_ranks(TOGETHER_SECONDS)
    if rank != failed[0]:
        time.sleep(SPOKEN_SECONDS)
        return [rank]
    return failed


def await_cause(error: BaseException) -> None:
    """Wait for the rank whose failure has caused *error*, if one has, to end this one."""
    if isinstance(error, AbandonedError):
        time.sleep(CAUSE_SECONDS)


def _chain_threads() -> None:
    previous = threading.excepthook

    def hook(arguments: Any) -> None:
        if issubclass(arguments.exc_type, SystemExit):
            return  # ends its thread alone
        where = _place()
        if where is not None and _armed:
            _announce(where, [where[0]])
        previous(arguments)
        end_all(1)

    threading.excepthook = hook


def _at_exit() -> None:
    """Leave with the other ranks; end them if an exception ends this process.

    Python keeps the exception that ended the main thread in sys.last_value, even with another hook.
    """
    last = getattr(sys, "last_value", None)
    if last is not None:
        end_all(exit_code(last))
    elif _armed and _leave is not None and running_mpi() is not None:
        try:
            code = _leave()
        except BaseException as error:  # of a signal's handler: Python would print it and let this rank go
            sys.excepthook(type(error), error, error.__traceback__)
            code = exit_code(error)  # where other code replaced our hook
        if code:
            end_all(code)
    _ignore_interrupts()


def _ignore_interrupts() -> None:
    """Let no Ctrl-C reach a rank that has done all: Python would give it back to the system.

    It would kill some ranks on their way through MPI_Finalize; launchers make any code of that, one of a
    crash too. A launcher passes a Ctrl-C on to ranks that have had it from the terminal already.
    """
    if _place() is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _place() -> tuple[int, int] | None:
    """Return this process's rank and the size of the world, None when alone."""
    mpi = running_mpi()
    if mpi is not None:
        size = mpi.COMM_WORLD.Get_size()
        return (mpi.COMM_WORLD.Get_rank(), size) if size > 1 else None
    job = launch.launcher()
    return (job.rank, job.size) if job.size > 1 and not launch.singleton_allowed() else None


def alone() -> bool:
    """Return whether there are no other ranks, as far as this process can know without starting MPI."""
    return _place() is None


def _announce(where: tuple[int, int], failed: list[int]) -> None:
    ranks = f"rank{'s' * (len(failed) > 1)} {', '.join(map(str, failed))} of {where[1]} failed"
    print(f"gaslab: {ranks}; ending all ranks", file=sys.stderr, flush=True)


def end_all(code: int) -> None:
    """Abort the job with *code*, from any thread; does nothing in a world of one or after `disarm`."""
    if not _armed or _place() is None:
        return
    abort(running_mpi() or _join_to_leave(), code)


def abort(mpi: Any, code: int) -> NoReturn:
    """End every rank, after all output has reached the launcher; *mpi* is mpi4py.MPI."""
    heartbeat.ended(code)
    leftovers.clear()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # None where the descriptor was closed when Python started
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
