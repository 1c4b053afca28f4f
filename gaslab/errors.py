"""Every error gaslab raises on purpose.

::

    GaslabError
    ├── UsageError (ValueError)         an argument or option that cannot be used
    │   └── AbandonedError              a call that another rank has given up
    ├── InputError (ValueError)         a file or table that cannot be read as a graph
    ├── VertexNotFound (KeyError)       an id that is not in the graph
    ├── ProgramError                    a vertex program outside the language (at the user's line)
    ├── CompileError                    the C compiler refused or is missing
    ├── ExecutionError                  a vertex program failed while running (vertex and line)
    ├── LaunchError                     MPI, launcher or threads are not what they claim
    └── TimeoutExpired (TimeoutError)   ``timeout=`` ran out

    InternalError                       a bug in gaslab itself: please report it
    Terminated (SystemExit)             SIGTERM ended a run that writes checkpoints
    CheckpointWarning (UserWarning)     a checkpoint could not be written, and the run goes on
    ConvergenceWarning (UserWarning)    the limit was reached before the program was done
    PerformanceWarning (UserWarning)    a slow path is taken
"""

from __future__ import annotations

import contextlib
import sys
import threading
import warnings
from collections.abc import Iterable
from types import TracebackType
from typing import Any, NoReturn

__all__ = [
    "AbandonedError", "CheckpointWarning", "CompileError", "ConvergenceWarning", "ExecutionError",
    "GaslabError", "InputError", "LaunchError", "PerformanceWarning", "ProgramError", "Terminated",
    "TimeoutExpired", "UsageError", "VertexNotFound",
]  # fmt: skip


class GaslabError(Exception):
    """The base of all errors that gaslab raises on purpose."""


class InternalError(Exception):
    """A bug in gaslab itself, which no argument and no program should cause."""


class UsageError(GaslabError, ValueError):
    """An argument or option that cannot be used as given."""


class AbandonedError(UsageError):
    """A rank reached a call that another rank gave up; that rank's own error, if it raises one, says why."""


class InputError(GaslabError, ValueError):
    """A file or table that cannot be read as a graph."""


class VertexNotFound(GaslabError, KeyError):
    """An id that is not a vertex of the graph."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0]) if self.args else ""


class ProgramError(GaslabError):
    """A vertex program that is outside the language; the message shows the user's line and a caret.

    Its arguments are the messages, one for each mistake.
    """

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows: the message, which has the line, and none of the compiler's frames."""
        return f"{type(self).__name__}: {self}".splitlines()


class CompileError(GaslabError):
    """The C compiler is missing or refused the emitted program."""


class ExecutionError(GaslabError):
    """A vertex program failed while running; the message names the vertex and the user's line."""


class LaunchError(GaslabError):
    """MPI, the launcher or the threads are not what they claim to be."""


class TimeoutExpired(GaslabError, TimeoutError):
    """The time given by ``timeout=`` ran out."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a method; the message says where. The run raises KeyboardInterrupt."""


class Terminated(SystemExit):
    """SIGTERM ended a run, after its last checkpoint; the process exits with code 143 unless it is caught."""

    def __init__(self, text: str) -> None:
        super().__init__(143)
        self.text = text

    def __str__(self) -> str:
        return self.text


class OutOfTime(BaseException):
    """Raised in the user's Python code when ``timeout=`` ran out; the run raises TimeoutExpired."""

    where = ""  # at which vertex it came, where a method of one was called
    place: tuple[str, int, str] | None = None  # the user's file, line and its text there


class ConvergenceWarning(UserWarning):
    """The limit on supersteps was reached before the program was done."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; the run goes on, and the checkpoint before it stays valid."""


class PerformanceWarning(UserWarning):
    """A slow path is taken; the message says why and how to avoid it."""


_warning = threading.RLock()  # held by the thread that warns


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"``, or what is known, for an undeclared *name*.

    The case of letters makes no difference to how near a name is.

    >>> nearest("weight", ["WEIGHT", "km"]), nearest("weight", ["km"])
    ("; did you mean 'WEIGHT'?", '; known: km')
    """
    import difflib  # slow to load, and most runs make no mistake

    known = sorted(set(known))
    spelled: dict[str, list[str]] = {}
    for one in known:
        spelled.setdefault(one.casefold(), []).append(one)
    close = difflib.get_close_matches(name.casefold(), spelled, n=2, cutoff=0.6)
    if close:
        return "; did you mean " + " or ".join(repr(one) for c in close for one in spelled[c]) + "?"
    return "; known: " + (", ".join(known) if known else "none")


def warn_user(message: str, category: type[Warning], rank: int) -> None:
    """Warn at the line, outside gaslab, that called into it; every rank calls this, and rank 0 shows it.

    Where the user's filters make the warning an error, every rank raises it.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "gaslab":
        frame, level = frame.f_back, level + 1
    # Recorded, a warning is shown nowhere, but the filters stand. They belong to the whole process.
    with _warning, contextlib.nullcontext() if rank == 0 else warnings.catch_warnings(record=True):
        warnings.warn(message, category, stacklevel=level)


def users_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback that is not in this package, None where all of it is."""
    kept: list[TracebackType] = []
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] != "gaslab":
            kept.append(trace)
        trace = trace.tb_next
    shown: TracebackType | None = None
    for one in reversed(kept):
        shown = TracebackType(shown, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return shown


def warn_unfinished(
    program: str, count: int, rank: int, what: str = "supersteps", limit: str = "max_iterations"
) -> None:
    """Warn that a program reached the limit before it was done; as `warn_user`, on every rank."""
    warn_user(f"{program} was not done after {count} {what}; raise {limit}", ConvergenceWarning, rank)


def unknown(where: str, value: Any) -> InternalError:
    """Return the error for a node or a name of a kind that *where* has no case for."""
    return InternalError(f"{where} does not know {value!r}; this is a fault of gaslab, please report it")


def unknown_node(where: str, node: NoReturn) -> InternalError:
    """Return `unknown` for what stands after the last case; a type checker sees that no kind is left."""
    return unknown(where, node)
