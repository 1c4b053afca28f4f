"""The folder of a run's checkpoints: which are there, the one that is being written, the lock.

Rank 0 alone makes, renames and removes folders; its errors are raised on every rank.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import shutil
import socket
from pathlib import Path

from gaslab.checkpoint.manifest import NAME
from gaslab.errors import UsageError
from gaslab.system.outputs import Output

LOCK = "lock"
COMPLETE = re.compile(r"(superstep|updates)-(\d+)")
UNFINISHED = re.compile(r"\.(superstep|updates)-(\d+)\.[0-9a-f]{8}\.incomplete")


def complete(folder: Path) -> list[Path]:
    """Return the checkpoints in a folder, the newest first; raises OSError if it cannot be read."""
    found = [(int(match[2]), path) for path in folder.iterdir() if (match := COMPLETE.fullmatch(path.name))]
    return [path for _, path in sorted(found, reverse=True)]


def check_folder(folder: Path, resumes: bool) -> None:
    """Raise UsageError where a run may not write its checkpoints to a folder."""
    try:
        Output(folder, force=True, folder=True).check()
    except UsageError as error:
        raise UsageError(f"checkpoint={str(folder)!r}: {error}") from None
    try:
        there = complete(folder) if folder.is_dir() else []
    except OSError as error:
        raise UsageError(f"checkpoint={str(folder)!r}: cannot be read: {error.strerror}") from None
    if there and not resumes:
        raise UsageError(
            f"{folder} holds checkpoints of an earlier run, the newest {there[0].name}; "
            "resume='auto' (--resume auto) resumes it, or name another folder"
        )


class CheckpointFolder:
    """A folder to which this job, and no other, writes checkpoints; on rank 0."""

    def __init__(self, folder: Path, keep: int, resumes: bool) -> None:
        """Make the folder if there is none, and lock it; raises UsageError if checkpoints cannot go there."""
        self.path, self._keep = folder, keep
        check_folder(folder, resumes)
        try:
            folder.mkdir(exist_ok=True)
            self._lock = self._locked()
        except OSError as error:
            raise UsageError(f"cannot write checkpoints to {folder}: {error.strerror}") from None
        for path in folder.iterdir():
            if UNFINISHED.fullmatch(path.name):  # by a job that was killed
                with contextlib.suppress(OSError):
                    _remove(path)

    def _locked(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(self.path / LOCK, flags, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 200, 0).decode(errors="replace").strip() or "another process"
            os.close(lock)
            raise UsageError(
                f"another job ({holder}) writes checkpoints to {self.path}; name another folder"
            ) from None
        except OSError:  # a file system without locks
            pass
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        return lock

    def close(self) -> None:
        """Let other jobs write to the folder."""
        os.close(self._lock)

    def begin(self, name: str) -> Path:
        """Make the folder of a checkpoint that is being written, and return it; raises OSError."""
        beside = self.path / f".{name}.{secrets.token_hex(4)}.incomplete"
        beside.mkdir()
        return beside

    def drop(self, beside: Path) -> None:
        """Remove the folder of a checkpoint that was not written."""
        shutil.rmtree(beside, ignore_errors=True)

    def finish(self, beside: Path, name: str, manifest: bytes) -> None:
        """Write the manifest, give a checkpoint its name, and remove the oldest ones; raises OSError."""
        with open(beside / NAME, "xb") as file:
            file.write(manifest)
            file.flush()
            os.fsync(file.fileno())
        _flush(beside)
        final = self.path / name
        _remove(final)  # of the run before this one was resumed from an earlier checkpoint
        os.rename(beside, final)
        _flush(self.path)
        there = complete(self.path)
        newest = there.index(final)  # those before it were damaged, or this run would have resumed them
        for old in there[:newest] + there[newest + self._keep :]:
            old_name = self.path / f".{old.name}.{secrets.token_hex(4)}.incomplete"
            with contextlib.suppress(OSError):  # renamed first: what is left of it is no checkpoint
                os.rename(old, old_name)
                _remove(old_name)


def _remove(path: Path) -> None:
    """Remove a checkpoint, or what has its name, if it is there; raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _flush(folder: Path) -> None:
    """Flush the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError:  # some file systems do not flush folders
        pass
    finally:
        os.close(descriptor)
