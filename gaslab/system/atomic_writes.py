"""All writing of files: whole, or not at all.

A regular file or a folder is written beside its final name, under a name of this job alone, and renamed when
it is complete: a job that is killed or a disk that fills up leaves the earlier file. A device or a pipe is
written to. Nothing here is collective: rank 0 calls it, inside `Comm.on_root`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from pathlib import Path
from typing import IO

from gaslab.errors import GaslabError
from gaslab.system import leftovers
from gaslab.system.outputs import Output, create_new

# What file systems without hard links answer.
_NO_LINK = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


class AtomicFile:
    """A file under way: ``with AtomicFile(output) as draft: draft.write(part); draft.keep()``.

    `write` remembers the first error and `keep` raises it: ranks that are still sending are not left alone.
    Without `keep` nothing stays behind.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._failed: OSError | None = None
        self._file: IO[bytes] | None = None
        self._beside: Path | None = None
        self._ends = contextlib.ExitStack()

    def __enter__(self) -> AtomicFile:
        self._ends.enter_context(leftovers.undone(self._drop))
        try:
            if self._output.stream:
                flags = os.O_WRONLY | os.O_APPEND  # append: of a shell's `> file` nothing is overwritten
                self._file = os.fdopen(os.open(self._output.path, flags | os.O_NOCTTY | os.O_CLOEXEC), "wb")
            else:
                self._beside = self._output.beside()
                self._file = os.fdopen(create_new(self._beside), "wb")
                leftovers.draft_made(str(self._beside))
                _like(self._beside, self._output.real)
        except OSError as error:
            self._failed = error
        return self

    def write(self, part: bytes | memoryview) -> None:
        """Add *part* to the file; after an error nothing is written."""
        if self._failed is not None or self._file is None:
            return
        try:
            self._file.write(part)
        except OSError as error:
            self._failed = error

    def keep(self, mode: int | None = None) -> None:
        """Give the file its name, and *mode*; raises GaslabError with the path if it could not be written."""
        self._close()
        output = self._output
        try:
            if self._failed is not None:
                raise self._failed
            if self._beside is not None:
                if mode is not None:
                    os.chmod(self._beside, mode)
                leftovers.output_done(str(output.real))
                named, beside = _give_name(self._beside, output), self._beside
                self._beside = None
                if not named:
                    raise GaslabError(_appeared(output, beside))
        except OSError as error:
            raise GaslabError(f"cannot write {output.path}: {error.strerror or error}") from None

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    def _close(self) -> None:
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self._failed = self._failed or error
            self._file = None

    def _drop(self) -> None:
        self._close()
        if self._beside is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._beside)


class AtomicFolder:
    """A folder under way; `beside` is where its files are written, by every rank."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self.beside: Path = output.beside()
        self._ends = contextlib.ExitStack()

    def __enter__(self) -> AtomicFolder:
        self._ends.enter_context(leftovers.undone(self._drop))
        try:
            os.mkdir(self.beside)
            leftovers.draft_made(str(self.beside))
        except OSError as error:
            raise GaslabError(f"cannot write {self._output.path}: {error.strerror}") from None
        return self

    def keep(self) -> None:
        """Give the folder its name, in place of an earlier answer where force allows it."""
        output, beside = self._output, self.beside
        moved: list[Path] = []  # more than one where another job puts its answer there just now
        try:
            _like(beside, output.real)
            leftovers.output_done(str(output.real))
            while not _rename_folder(beside, output.real):
                if not output.force:
                    self.beside = Path()
                    raise GaslabError(_appeared(output, beside))
                old = output.beside()
                with contextlib.suppress(FileNotFoundError):
                    os.rename(output.real, old)
                    moved.append(old)
        except OSError as error:
            for old in reversed(moved):
                with contextlib.suppress(OSError):
                    os.rename(old, output.real)
            raise GaslabError(f"cannot write {output.path}: {error.strerror}") from None
        self.beside = Path()
        for old in moved:
            shutil.rmtree(old, ignore_errors=True)

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    def _drop(self) -> None:
        if self.beside != Path():
            shutil.rmtree(self.beside, ignore_errors=True)


def write_bytes(output: Output, content: bytes) -> None:
    """Write a small file; raises GaslabError naming the path if it cannot be written."""
    with AtomicFile(output) as draft:
        draft.write(content)
        draft.keep()


def _like(path: Path, old: Path) -> None:
    """Give *path* the owner and permissions of what it replaces, as far as this user may."""
    with contextlib.suppress(OSError):
        info = os.stat(old)
        with contextlib.suppress(OSError):
            os.chown(path, info.st_uid, info.st_gid)
        os.chmod(path, stat.S_IMODE(info.st_mode) & 0o777)


def _give_name(beside: Path, output: Output) -> bool:
    """Rename *beside*; return False if something has that name by now and may not be replaced."""
    if not output.force:
        try:
            os.link(beside, output.real)  # unlike a rename, never in place of another job's file
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINK:
                raise
            if os.path.lexists(output.real):
                return False
        else:
            os.unlink(beside)
            return True
    os.replace(beside, output.real)
    return True


def _rename_folder(beside: Path, final: Path) -> bool:
    """Rename a folder; return False if there is one of that name that is not empty."""
    try:
        os.rename(beside, final)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True


def _appeared(output: Output, left: Path) -> str:
    return f"{output.path} was written by another job meanwhile; this answer is in {left}"
