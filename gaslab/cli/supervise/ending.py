"""How an attempt ended, and whether another one makes sense."""

from __future__ import annotations

import signal
from typing import NamedTuple

from gaslab.cli.supervise.watch import Rank, Watch
from gaslab.parallel.heartbeat import Heartbeat
from gaslab.system.processes import name_of

_FINAL = "gaslab.errors.GaslabError"  # wrong input, a fault of the program: it would come again
_FOLLOWS = "gaslab.errors.AbandonedError"  # from the end of another rank
_KILLED = (signal.SIGKILL, 128 + signal.SIGKILL)  # what launchers make of it
_MPI = "mpi4py.MPI.Exception"  # at times from the end of another rank
_PASSING = ("builtins.MemoryError", "builtins.OSError", _MPI)


class Ending(NamedTuple):
    """The exit code of an attempt, its cause in words, and what follows.

    `again`: another attempt may do better. `gone`: a rank has died or is lost.
    """

    code: int
    cause: str = ""
    again: bool = False
    gone: bool = False


def of_stopped(watch: Watch, launcher: int, stop: int) -> Ending:
    """Return the ending of a job that a signal was passed on to."""
    codes = [rank.said.code or 0 for rank in watch.failed()]
    code = 0 if launcher == 0 else next(iter(codes), 128 + stop)
    return Ending(code, f"stopped by {name_of(stop)}")


def of_lost(cause: str) -> Ending:
    """Return the ending of an attempt in which a rank was lost, and all were killed."""
    return Ending(128 + signal.SIGKILL, cause, again=True, gone=True)


def of_ended(watch: Watch, launcher: int, first: bool) -> Ending:
    """Return the ending of an attempt that has ended.

    Parameters
    ----------
    watch : Watch
    launcher : int
        The return code of the launcher, as of `subprocess.Popen`.
    first : bool
        Whether this was the first attempt.
    """
    if watch.done() or (launcher == 0 and not watch.broken()):
        return Ending(0)
    code = 128 - launcher if launcher < 0 else launcher or 1  # some launchers hide the end of a rank
    failed = watch.failed()
    for rank in failed:
        if _is_final(rank.said):
            return Ending(rank.said.code or 0, _words(rank))
    if not watch.ranks and first:
        return Ending(code, f"the launcher ended with exit code {code} before a rank had begun")
    dead = max([*watch.first, *watch.unexplained()], key=_tells, default=None)
    follows = {_FOLLOWS, _MPI} if dead is not None and _tells(dead) else {_FOLLOWS}
    causes = [rank for rank in failed if follows.isdisjoint(rank.said.errors)]
    if dead is not None and (_tells(dead) == 2 or not causes):
        if dead.signal == signal.SIGALRM:  # --timeout, before MPI has started on all ranks
            return Ending(128 + signal.SIGALRM, dead.fate)
        if dead.death is None:
            return _of_killed(dead, launcher)
        return Ending(128 + dead.signal if dead.signal else dead.exit_code or code, dead.fate, True, True)
    if causes:
        return Ending(causes[0].said.code or 0, _words(causes[0]), again=True)
    return Ending(code, f"the launcher ended with exit code {code}", again=True, gone=True)


def _of_killed(rank: Rank, launcher: int) -> Ending:
    """Return the ending of an attempt in which a user, or the launcher, killed a rank and its guard."""
    if launcher < 0:
        code, what = 128 - launcher, f"the launcher was ended by {name_of(-launcher)}; {rank} was last seen"
    elif launcher in _KILLED:
        code, what = 128 + signal.SIGKILL, f"{rank} was ended by SIGKILL, last seen"
    else:
        code = launcher
        what = f"MPI was aborted with exit code {code}, or its launcher failed; {rank} was last seen"
    return Ending(code, f"{what} {rank.phase}", again=True, gone=True)


def _is_final(said: Heartbeat) -> bool:
    """Return whether a rank's own failure would come again."""
    if _FINAL in said.errors:
        return _FOLLOWS not in said.errors
    return not any(kind in said.errors for kind in _PASSING)


def _words(rank: Rank) -> str:
    error = f" by {rank.said.errors[0].rpartition('.')[2]}" if rank.said.errors else ""
    return f"{rank} ended with exit code {rank.said.code}{error} {rank.phase}"


def _tells(rank: Rank) -> int:
    """Return how much the end of a rank tells: launchers send SIGTERM and SIGKILL once one rank has died."""
    if rank.death is None or rank.death.status == 0 or rank.signal == signal.SIGTERM:
        return 0
    return 1 if rank.signal == signal.SIGKILL else 2
