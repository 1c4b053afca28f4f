"""Standard output of a command, where all answers go, and standard streams that are closed.

A reader that has seen enough (``gaslab ... | head``) is no error; a full disk or a closed standard output is.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gaslab.errors import GaslabError

if TYPE_CHECKING:
    from gaslab.parallel.comm import Comm

# What takes the place of a closed standard input, output or error, so that no file of ours gets its number.
# Messages are dropped, answers are not: nothing can be written to the second, nor to its path (/dev/stdout).
_PLACES = (("stdin", os.devnull, os.O_RDONLY), ("stdout", "/dev/full", os.O_RDONLY),
           ("stderr", os.devnull, os.O_WRONLY))  # fmt: skip


def reopen() -> None:
    """Open those of the three standard streams that are closed (``>&-``)."""
    for number, (name, path, flags) in enumerate(_PLACES):
        if getattr(sys, name) is None:
            with contextlib.suppress(OSError):
                os.fstat(number)
                continue  # some file has the number already
            opened = os.open(path, flags)  # the lowest number that is free, so this one
            setattr(sys, name, open(opened, "w" if number else "r", closefd=False))  # noqa: SIM115


def say(comm: Comm, answer: Sequence[str | bytes]) -> None:
    """Print rank 0's *answer* as `write` does; raises GaslabError on all ranks if that fails (collective)."""
    comm.on_root(lambda: write(answer))


def write(answer: Sequence[str | bytes]) -> None:
    """Print lines, and bytes as they are, at once (not collective)."""
    with _writing():
        for part in answer:
            if isinstance(part, str):
                print(part)
            else:
                sys.stdout.buffer.write(part)
        sys.stdout.flush()


def flush() -> None:
    """Print what the user's program has left in the buffer (not collective)."""
    with _writing():
        sys.stdout.flush()


@contextlib.contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # where Python writes the rest, at its end
        if isinstance(error, BrokenPipeError):
            return
        why = "it is closed" if error.errno == errno.EBADF else error.strerror
        raise GaslabError(f"cannot write to standard output: {why}; redirect it to a file (> FILE)") from None
