"""Cleaning up where this process ends at once: unfinished files, a running compiler.

A normal end and an exception clean up by themselves (`undone`). A timeout and an abort end the process from
another thread, with no exception anywhere; they call `clear` before. A killed process cleans up
nothing: its supervisor, if it has one, removes the paths that were given to `draft_made`, and starts the job
again, which may replace the outputs that were given to `output_done`.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

HOLD_SECONDS = 5.0  # for a process that is about to end to be gone

_actions: dict[int, Callable[[], None]] = {}
_cleared_by: int | None = None  # a thread


def _unheard(path: str) -> None:
    pass


draft_made: Callable[[str], None] = _unheard  # a file or folder that a kill would leave behind
output_done: Callable[[str], None] = _unheard  # a complete output, just before it gets its name
earlier_outputs: set[str] = set()  # outputs of earlier starts of this job


@contextlib.contextmanager
def undone(action: Callable[[], None]) -> Iterator[None]:
    """Run *action* at the end of the block, or in `clear`; it may run twice and raises nothing."""
    key = id(action)
    _actions[key] = action
    try:
        yield
    finally:
        _actions.pop(key, None)
        if _cleared_by not in (None, threading.get_ident()):
            time.sleep(HOLD_SECONDS)  # else this thread would take what was undone for a failure, and say so
        action()


def clear() -> None:
    """Undo what is under way in this process, which the calling thread is about to end (not collective)."""
    global _cleared_by
    _cleared_by = threading.get_ident()
    for action in list(_actions.values()):
        action()
