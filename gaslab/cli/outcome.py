"""How a command ends: one message, the right exit code, and no rank left behind."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gaslab.cli import streams
from gaslab.cli.codes import DONE, FAILED, INTERRUPTED, TIMEOUT, USAGE
from gaslab.errors import ExecutionError, GaslabError, LaunchError, TimeoutExpired, UsageError
from gaslab.parallel import failure, heartbeat, launch
from gaslab.parallel.collective import agree
from gaslab.parallel.mpilib import running_mpi
from gaslab.system import leftovers

if TYPE_CHECKING:
    from gaslab.parallel.comm import Comm

log = logging.getLogger("gaslab")

AGREE_SECONDS = 0.5  # within which all ranks must have come to the same end
GRACE_SECONDS = 1.0  # past --timeout, in which the engine may end by itself


def guarded(module: ModuleType, name: str, words: Sequence[str], began: float) -> int:
    """Run a command's ``execute(arguments)`` and return its exit code; an error becomes one message."""
    try:
        arguments = module.parser(name).parse_args(words)
        arguments.began = began
        set_up_log(arguments)
        with alarm(arguments):
            if name != "doctor":  # which says why ranks cannot talk
                with last_resort(arguments):
                    agree("gaslab", {"comm": None, "command line": [name, *words]}, frozenset({"comm"}))
            code = int(module.execute(arguments))
        streams.flush()
    except SystemExit as stop:  # argparse, after it has said why
        code = stop.code if isinstance(stop.code, int) else USAGE
    except KeyboardInterrupt as stopped:
        heartbeat.ended(INTERRUPTED, stopped)
        return _end(INTERRUPTED, f"gaslab: {stopped}" if str(stopped) else "interrupted")
    except (GaslabError, OSError) as error:
        heartbeat.ended(_code(error), error)
        failure.await_cause(error)
        # Where the user's program failed while it ran, its traceback is shown.
        message = traceback.format_exc() if isinstance(error, ExecutionError) else _message(error)
        return _end(_code(error), message, alike=isinstance(error, LaunchError))
    except Exception as error:  # whatever a program or a bug of ours raises: one rank prints it, and all end
        heartbeat.ended(FAILED, error)
        return _end(FAILED, traceback.format_exc())
    return _end(code, "", alike=True) if code != DONE else code


def _code(error: Exception) -> int:
    if isinstance(error, TimeoutExpired):
        return TIMEOUT
    return USAGE if isinstance(error, UsageError) else FAILED


def _message(error: Exception) -> str:
    return f"gaslab: {error}"


def _end(code: int, message: str, alike: bool = False) -> int:
    """Say *message* once and return *code* if all ranks end so; else say it here and end them all.

    *alike* says that ranks that have not met should: they probably have the same words and the same MPI, but
    one that ends before MPI has started, whatever its exit code, leaves the others waiting there.
    """
    here, separate = _ranks(), failure.alone()
    if here is None and alike and not separate:
        here, separate = _meet()
    rank = here.rank if here is not None else launch.launcher().rank
    together = separate if here is None else here.all_here(AGREE_SECONDS)
    if here is None and not together and rank > 0:
        time.sleep(failure.TOGETHER_SECONDS)  # where rank 0 fails too, it speaks for all
    if message and (rank == 0 or not together):
        prefix = "" if together else f"rank {rank}: "
        print(f"{prefix}{message.rstrip()}", file=sys.stderr, flush=True)
    if not together:
        if here is not None:
            here.abort(code)
        failure.end_all(code)
    failure.disarm()
    return code


def _ranks() -> Comm | None:
    """Return the ranks, None where the command has not asked for them (then nothing was loaded)."""
    comm = sys.modules.get("gaslab.parallel.comm")
    return None if comm is None else comm.current()


def _meet() -> tuple[Comm | None, bool]:
    """Return the ranks once all have come, None without an MPI; and whether there are no other ranks."""
    from gaslab.parallel.comm import world

    try:
        return world(), False
    except launch.SeparateWorldsError:
        return None, True
    except LaunchError:
        return None, False


def set_up_log(arguments: Any) -> None:
    """Send the log "gaslab" and warnings to stderr, from rank 0 (from others only errors)."""
    level = logging.WARNING if getattr(arguments, "quiet", False) else logging.INFO
    named = getattr(arguments, "log_level", None)
    if named:
        level = getattr(logging, named.upper())
    first = launch.launcher().rank == 0
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("gaslab: %(message)s"))
    log.handlers[:] = [handler]
    log.propagate = False
    log.setLevel(level if first else logging.ERROR)

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        log.warning("warning: %s", message)

    warnings.showwarning = show


@contextlib.contextmanager
def alarm(arguments: Any) -> Iterator[None]:
    """Let ``--timeout`` end the whole command meanwhile, also where no kernel looks at the clock."""
    left = _seconds_left(arguments)
    if left is None:
        yield
        return
    rank, seconds = launch.launcher().rank, arguments.timeout

    def expire() -> None:
        said = f"no answer within {seconds:g} s (--timeout)"
        if not failure.alone() and running_mpi() is None:
            said += ", and MPI has not started on all ranks; its launcher may report signal 14 instead"
        print(f"gaslab: {f'rank {rank}: ' if rank else ''}{said}", file=sys.stderr, flush=True)
        heartbeat.ended(TIMEOUT)
        failure.end_all(TIMEOUT)
        leftovers.clear()
        os._exit(TIMEOUT)

    timer = threading.Timer(min(left, threading.TIMEOUT_MAX), expire)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def last_resort(arguments: Any) -> Iterator[None]:
    """Let ``--timeout`` end this rank by a signal meanwhile, where its alarm cannot.

    A rank that waits in MPI_Init for another holds Python's lock, so that no timer runs.
    """
    left = _seconds_left(arguments)
    if left is None or failure.alone() or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, min(left + GRACE_SECONDS, threading.TIMEOUT_MAX))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _seconds_left(arguments: Any) -> float | None:
    """Return how long this rank waits for the command's end, None for ever.

    Rank 0 speaks and ends all; the others only if it can do that no more, or has not begun.
    """
    seconds = getattr(arguments, "timeout", None)
    if seconds is None:
        return None
    grace = (1 if launch.launcher().rank == 0 else 2) * GRACE_SECONDS
    return float(max(seconds - (time.perf_counter() - arguments.began) + grace, 0.0))
