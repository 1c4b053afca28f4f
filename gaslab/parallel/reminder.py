"""A line on standard error from a rank that waits long for the others to start."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from gaslab.parallel import launch

SECONDS = 10.0


@contextlib.contextmanager
def remind(what: str) -> Iterator[None]:
    """Write, once the block has taken `SECONDS`, that this rank waits for *what*.

    MPI_Init holds Python's lock, so a C thread writes it, not a Python thread.
    """
    job = launch.launcher()
    if not job.parallel:
        yield
        return
    from gaslab._kernels.reminder import Reminder  # only under a launcher: a kernel takes time to load

    line = f"gaslab: rank {job.rank} of {job.size} has waited {SECONDS:g} s for {what}"
    way_out = "if one has ended, start the job with `python -m gaslab SCRIPT.py` to see why"
    reminder = Reminder(SECONDS, f"{line}; {way_out}\n".encode())
    try:
        yield
    finally:
        reminder.cancel()
