"""A folder that all ranks write together: beside its final name, to which it is renamed when complete."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from gaslab.errors import GaslabError
from gaslab.parallel.comm import Comm
from gaslab.system.atomic_writes import AtomicFolder
from gaslab.system.outputs import Output

T = TypeVar("T")


def write_folder(
    comm: Comm,
    output: Output,
    write: Callable[[Path], T],
    manifest: str,
    describe: Callable[[list[T]], bytes],
) -> None:
    """Let every rank *write* its files into a folder, and rank 0 the file *manifest* last (collective).

    *write* gets the folder and is not collective; *describe* gets its results from all ranks, and returns the
    bytes of the manifest. Raises GaslabError with the path if something could not be written.
    """
    with contextlib.ExitStack() as ends:
        drafts: list[AtomicFolder] = []  # on rank 0

        def begin() -> Path:
            drafts.append(ends.enter_context(AtomicFolder(output)))
            return drafts[0].beside

        def complete() -> None:
            _named(output, beside, lambda: put(beside / manifest, describe(written)))
            drafts[0].keep()

        beside = comm.on_root(begin)
        written = comm.allgather(comm.attempt(lambda: _named(output, beside, lambda: write(beside))))
        comm.on_root(complete)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Let an OSError in the block name the file; on a full disk it would not."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def put(path: Path, content: bytes) -> None:
    """Write a file of an unfinished folder."""
    with writing(path):
        path.write_bytes(content)


def _named(output: Output, beside: Path, write: Callable[[], T]) -> T:
    """Return the result of *write*; an OSError becomes an error that names the final path."""
    try:
        return write()
    except OSError as error:
        path = output.path / os.path.relpath(error.filename or beside, beside)
        raise GaslabError(f"cannot write {path}: {error.strerror or error}") from None
