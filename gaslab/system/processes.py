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

_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 1, 36, 37  # prctl(2)
_LOOK_SECONDS = 0.01
_GONE_SECONDS = 10.0  # for a process that was killed: one in the middle of a read from a dead disk stays

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def _look(pid: int) -> tuple[str, int] | None:
    """Return the state and the parent of a process, None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[1])


def is_stopped(pid: int) -> bool:
    """Return whether a process is stopped (SIGSTOP)."""
    found = _look(pid)
    return found is not None and found[0] in "Tt"


def has_ended(pid: int) -> bool:
    """Return whether a process is gone, or only waits for its parent to notice its end."""
    found = _look(pid)
    if found is not None:
        return found[0] in "ZX"
    if os.path.isdir("/proc/self"):
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def descriptor(pid: int) -> int | None:
    """Return a descriptor that can be read once a process has ended; None if it has, or without pidfds."""
    with contextlib.suppress(OSError, AttributeError):  # before Linux 5.3, and elsewhere
        return os.pidfd_open(pid)
    return None


def name_of(number: int) -> str:
    """Return the name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:  # one of the real-time signals
        return f"signal {number}"


def descendants(root: int, but: Collection[int] = ()) -> set[int]:
    """Return the processes that *root* started, those that they started, and so on; none from *but* on."""
    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and (found := _look(int(name))) is not None:
                children.setdefault(found[1], []).append(int(name))
    below: set[int] = set()
    ahead = [root]
    while ahead:
        new = [pid for pid in children.get(ahead.pop(), []) if pid not in but]
        below.update(new)
        ahead += new
    return below


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


def end_with_parent(number: int = signal.SIGTERM) -> None:
    """Let this process get a signal when the process that started it dies; called after a fork."""
    if _libc is not None:
        _libc.prctl(_SET_PARENT_DEATH_SIGNAL, number, 0, 0, 0)


def send(pids: Collection[int], number: int) -> None:
    """Send a signal to each process that is still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def kill_descendants(but: Collection[int]) -> None:
    """Kill what descends from this process, stopped or not, and wait until it is gone; as `descendants`."""
    deadline, before = time.monotonic() + _GONE_SECONDS, {0}
    # A look while a process gets another parent, because its own has died, may find it below neither.
    while (left := descendants(os.getpid(), but)) or before:
        before = left
        send(left, signal.SIGKILL)
        for pid in left:
            with contextlib.suppress(ChildProcessError):  # its parent is another, which is killed too
                os.waitpid(pid, os.WNOHANG)
        if time.monotonic() > deadline:
            return
        time.sleep(_LOOK_SECONDS)


def end_by(number: int) -> None:
    """End this process by a signal, as another one was ended, without a second core dump."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):  # SIGKILL has no handler to put back
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
