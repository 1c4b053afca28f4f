"""How an attempt ended, and whether another one makes sense."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import NamedTuple

from gaslab.cli.supervise.watch import Rank, Watch
from gaslab.parallel.heartbeat import Heartbeat

_FINAL = "gaslab.errors.GaslabError"  # wrong input, a fault of the program: it would come again
_FOLLOWS = "gaslab.errors.AbandonedError"  # from the end of another rank
_PASSING = ("builtins.MemoryError", "builtins.OSError", "mpi4py.MPI.Exception")


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
    codes = [rank.said.code for rank in watch.ranks.values() if rank.said.code]
    code = 0 if launcher == 0 else next(iter(codes), 128 + stop)
    return Ending(code, f"stopped by {signal.Signals(stop).name}")


def of_lost(cause: str) -> Ending:
    """Return the ending of an attempt in which a rank was lost, and all were killed."""
    return Ending(128 + signal.SIGKILL, cause, again=True, gone=True)


def of_ended(watch: Watch, launcher: int, dead: Sequence[Rank], first: bool) -> Ending:
    """Return the ending of an attempt that has ended.

    Parameters
    ----------
    watch : Watch
    launcher : int
        The return code of the launcher, as of `subprocess.Popen`.
    dead : sequence of Rank
        The ranks that died first, and have not said why.
    first : bool
        Whether this was the first attempt.
    """
    if launcher == 0 and not dead:
        return Ending(0)
    code = launcher if launcher >= 0 else 128 - launcher
    said = [rank for rank in watch.ranks.values() if rank.said.code]
    for rank in said:
        if _is_final(rank.said):
            return Ending(rank.said.code or 0, _words(rank))
    if dead:
        rank = max(dead, key=_tells)
        if rank.signal == signal.SIGALRM:  # --timeout, before MPI has started on all ranks
            return Ending(128 + signal.SIGALRM, rank.fate)
        if rank.signal is not None:
            code = 128 + rank.signal
        return Ending(rank.exit_code or code or 1, rank.fate, again=True, gone=True)
    if not watch.ranks and first:
        return Ending(code, f"the launcher ended with exit code {code} before a rank began")
    for rank in said:
        if _FOLLOWS not in rank.said.errors:
            return Ending(rank.said.code or 0, _words(rank), again=True)
    return Ending(code, f"the launcher ended with exit code {code}", again=True, gone=True)


def _is_final(said: Heartbeat) -> bool:
    """Return whether a rank's own failure would come again."""
    if _FINAL in said.errors:
        return _FOLLOWS not in said.errors
    return not any(kind in said.errors for kind in _PASSING)


def _words(rank: Rank) -> str:
    error = f" by {rank.said.errors[0].rpartition('.')[2]}" if rank.said.errors else ""
    return f"{rank} ended with exit code {rank.said.code}{error} {rank.phase}"


def _tells(rank: Rank) -> int:
    """Return how much the end of a rank tells: the launcher kills the others once one has died."""
    if rank.wait_status is None or rank.exit_code == 0:
        return 0
    return 1 if rank.signal in (signal.SIGKILL, signal.SIGTERM) else 2
