"""Processes of this machine: a process and its descendants, how one ended, and the end of all of them.

Read from ``/proc``; where there is none, a tree of processes is the group that its root leads.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection, Iterator
from typing import NamedTuple

_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 1, 36, 37  # prctl(2)
_LOOK_SECONDS = 0.01
_GONE_SECONDS = 10.0  # for a process that was killed: one in the middle of a read from a dead disk stays

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class Process(NamedTuple):
    """A row of the process table."""

    pid: int
    state: str
    parent: int
    wait_status: int  # as of waitpid, of a process that has ended and waits to be noticed by its parent


def look(pid: int) -> Process | None:
    """Return a process, None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return Process(pid, fields[0], int(fields[1]), int(fields[-1]))


def has_ended(pid: int) -> bool:
    """Return whether a process is gone, or only waits for its parent to notice its end."""
    process = look(pid)
    if process is not None:
        return process.state in "ZX"
    if os.path.isdir("/proc/self"):
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def descendants(root: int, but: Collection[int] = ()) -> set[int]:
    """Return the processes that *root* started, those that they started, and so on; none from *but* on."""
    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and (process := look(int(name))) is not None:
                children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    ahead = [root]
    while ahead:
        new = [pid for pid in children.get(ahead.pop(), []) if pid not in but]
        found.update(new)
        ahead += new
    return found


@contextlib.contextmanager
def orphans_adopted() -> Iterator[None]:
    """Let descendants whose parent ends become children of this process meanwhile, not of the system's."""
    if _libc is None:
        yield
        return
    before = ctypes.c_int()
    _libc.prctl(_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        _libc.prctl(_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)


def end_with_parent() -> None:
    """Let this process get SIGTERM when the process that started it dies; called between fork and exec."""
    if _libc is not None:
        _libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)


def send(pids: Collection[int], number: int) -> None:
    """Send a signal to each process that is still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def kill_descendants(but: Collection[int]) -> None:
    """Kill what descends from this process, stopped or not, and wait until it is gone; as `descendants`."""
    deadline = time.monotonic() + _GONE_SECONDS
    while left := descendants(os.getpid(), but):
        send(left, signal.SIGKILL)
        for pid in left:
            with contextlib.suppress(ChildProcessError):  # its parent is another, which is killed too
                os.waitpid(pid, os.WNOHANG)
        if time.monotonic() > deadline:
            return
        time.sleep(_LOOK_SECONDS)
