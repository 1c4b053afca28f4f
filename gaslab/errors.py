"""Every error gaslab raises on purpose.

::

    GaslabError
    ├── UsageError (ValueError)         an argument or option that cannot be used
    ├── InputError (ValueError)         a file or table that cannot be read as a graph
    ├── VertexNotFound (KeyError)       an id that is not in the graph
    ├── ProgramError                    a vertex program outside the language (at the user's line)
    ├── CompileError                    the C compiler refused or is missing
    ├── ExecutionError                  a vertex program failed while running (vertex and line)
    ├── LaunchError                     MPI, launcher or threads are not what they say
    └── TimeoutExpired (TimeoutError)   ``timeout=`` ran out

    ConvergenceWarning (UserWarning)    the limit came before the program was done
    PerformanceWarning (UserWarning)    a slow path is taken
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable


class GaslabError(Exception):
    """The base of all errors that gaslab raises on purpose."""


class UsageError(GaslabError, ValueError):
    """An argument or option that cannot be used as given."""


class InputError(GaslabError, ValueError):
    """A file or table that cannot be read as a graph."""


class VertexNotFound(GaslabError, KeyError):
    """An id that is not a vertex of the graph."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0]) if self.args else ""


class ProgramError(GaslabError):
    """A vertex program that is outside the language; the message shows the user's line and a caret."""


class CompileError(GaslabError):
    """The C compiler is missing or refused the emitted program."""


class ExecutionError(GaslabError):
    """A vertex program failed while running; the message names the vertex and the user's line."""


class LaunchError(GaslabError):
    """MPI, the launcher or the threads are not what they say they are."""


class TimeoutExpired(GaslabError, TimeoutError):
    """The time given by ``timeout=`` ran out."""


class ConvergenceWarning(UserWarning):
    """The limit on supersteps came before the program was done."""


class PerformanceWarning(UserWarning):
    """A slow path is taken; the message says why and how to leave it."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"``, or what is known, for an undeclared *name*."""
    import difflib  # slow to load, and most runs make no mistake

    known = sorted(set(known))
    close = difflib.get_close_matches(name, known, n=2, cutoff=0.6)
    if close:
        return "; did you mean " + " or ".join(repr(c) for c in close) + "?"
    return "; known: " + (", ".join(known) if known else "none")


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line, outside gaslab, that called into it."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "gaslab":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_unfinished(
    program: str, count: int, what: str = "supersteps", limit: str = "max_iterations"
) -> None:
    """Warn that a program came to the limit before its own end."""
    warn_user(f"{program} was not done after {count} {what}; raise {limit}", ConvergenceWarning)
