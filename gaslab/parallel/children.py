"""Child processes of a process that has used threads, and of a rank.

OpenMP's threads end before a fork; parent and child can then start new ones (`gaslab._kernels.forks`). A
child of a rank has the launcher's variables and, after a fork, MPI in its memory. It is not a rank, but a
world of one.
"""

from __future__ import annotations

import os
import sys

_first: int | None = None  # the process of the first collective call; a fork copies its number


def note_process() -> bool:
    """Note this process, and return whether this is its or a parent's first collective call."""
    global _first
    first = _first is None
    if first:
        _first = os.getpid()
    return first


def is_child() -> bool:
    """Return whether multiprocessing started this process, or a fork after the first collective call did."""
    if _first not in (None, os.getpid()):
        return True
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return False
    if process.parent_process() is not None:
        return True
    # Spawn and forkserver import the script before they name the parent; multiprocessing tests this, too.
    return bool(getattr(process.current_process(), "_inheriting", False))
