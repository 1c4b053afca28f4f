"""Every public call in a child process: ``python -m tests.support.child_calls METHOD FOLDER``.

The parent makes all calls first, on two threads; a child of a fork makes them with the parent's objects, too.
The name of each call is printed before it begins: the last name is that of the call that hangs.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import warnings
from pathlib import Path

import gaslab as gl
from tests.support.public_calls import Call, calls

LIMIT = 240.0  # seconds; a child that hangs does so within the first


def make(every: list[Call]) -> None:
    """Make all calls."""
    for call in every:
        print(call.name, flush=True)
        with contextlib.suppress(gl.TimeoutExpired):  # a busy machine
            call.make()


def child(folder: Path, inherited: list[Call] | None) -> None:
    """Make all calls with objects of this process, and with those that a fork has copied."""
    warnings.simplefilter("ignore")
    make(inherited or [])
    make(calls(folder))
    assert threads() >= 2, "the child has used one thread"
    print("done", flush=True)


def threads() -> int:
    """Return the number of this process's threads."""
    return len(os.listdir("/proc/self/task"))


def main(method: str, folder: Path) -> None:
    warnings.simplefilter("ignore")
    ours, theirs = folder / "ours", folder / "theirs"
    ours.mkdir()
    theirs.mkdir()
    every = calls(ours)
    make(every)
    assert threads() >= 2, "the parent has used one thread"
    context = multiprocessing.get_context(method)
    process = context.Process(target=child, args=(theirs, every if method == "fork" else None))
    process.start()
    process.join(LIMIT)
    if process.is_alive():
        process.kill()
        sys.exit("the child hangs")
    sys.exit(process.exitcode)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
