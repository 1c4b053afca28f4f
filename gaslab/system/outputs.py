"""Which files a job may write: where a path leads, and whether what is there may be replaced.

A link stays, and the file that it leads to is written; `atomic_writes` writes it. Nothing here is collective:
rank 0 calls it, inside `Comm.on_root`.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from gaslab.errors import UsageError
from gaslab.system import leftovers

_LINKS = 40  # that may lead from one to the next, as in the kernel


class Output:
    """A file or folder that a job is to write.

    Parameters
    ----------
    path : path
        As the user named it.
    force : bool
        Whether what is there may be replaced.
    folder : bool
        Whether it is a folder.
    way : str
        How *force* is said, for errors.
    follow : bool
        Whether what a link leads to is written; else the link itself is replaced.

    Attributes
    ----------
    real : Path
        What *path* leads to, through links.
    stream : bool
        A device, a pipe, or a descriptor of this process (``/dev/stdout``): it is written to, not replaced.
    force : bool
        True, too, if an earlier start of this job has written it.

    Raises
    ------
    UsageError
        The name is empty.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        force: bool = False,
        folder: bool = False,
        way: str = "--force",
        follow: bool = True,
    ) -> None:
        text = os.fspath(path)
        if not text:
            raise UsageError("an output has an empty name; name a file")
        if "\0" in text:
            raise UsageError(f"cannot write {text!r}: a name holds no zero byte")
        self.path, self.folder, self._way = Path(text), folder, way
        self._planted = _planted(text)  # before links are followed: what is exchanged meanwhile is noticed
        real = os.path.realpath(text if follow else self.path.parent)
        self.real = Path(real) if follow else Path(real, self.path.name)
        self.force = force or str(self.real) in leftovers.earlier_outputs
        self.stream = not folder and follow and _is_stream(text)

    def check(self) -> None:
        """Raise UsageError if nothing can or may be written there."""
        there = self._look()
        planted = self._planted or _planted(str(self.path))
        if planted is not None:
            raise UsageError(
                f"cannot write {self.path}: {planted} belongs to another user, "
                "and all may write to its folder"
            )
        if self.stream:
            if not os.access(self.path, os.W_OK):
                raise UsageError(f"cannot write {self.path}: no permission")
            return
        self._check_folder()
        if there is None and not os.path.lexists(self.path):
            return
        if there is not None and stat.S_ISDIR(there.st_mode) != self.folder:
            what = "is not a directory" if self.folder else "is a directory"
            raise UsageError(f"cannot write {self.path}: it {what}")
        if there is not None and stat.S_ISSOCK(there.st_mode):
            raise UsageError(f"cannot write {self.path}: it is a socket")
        if not self.force:
            raise UsageError(f"{self.path} exists; {self._way} replaces it")

    def _look(self) -> os.stat_result | None:
        try:
            return os.stat(self.path)
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            raise UsageError(
                f"cannot write {self.path}: {_first_file(self.path)} is not a directory"
            ) from None
        except OSError as error:  # a name that is too long, links in a circle, no permission to look
            raise UsageError(f"cannot write {self.path}: {error.strerror}") from None

    def _check_folder(self) -> None:
        """Raise UsageError if nothing can be written beside the file."""
        linked = self.path.is_symlink()
        if not self.real.name:
            raise UsageError(f"cannot write {self.path}: it is the root of all directories")
        parent = self.real.parent if linked else self.path.parent
        if not parent.is_dir():
            raise UsageError(f"cannot write {self.path}: there is no directory {parent}")
        if not os.access(parent, os.W_OK | os.X_OK):
            raise UsageError(f"cannot write {self.path}: no permission to write in {parent}")
        probe = self.beside()
        try:  # what no look at permissions says: a quota, an exporting server that maps root to nobody
            os.close(create_new(probe))
            os.unlink(probe)
        except OSError as error:
            raise UsageError(f"cannot write {self.path}: {error.strerror} (in {parent})") from None

    def beside(self) -> Path:
        """Return a name, of this job alone, for the unfinished file."""
        return self.real.with_name(f".{self.real.name[:24]}.{secrets.token_hex(4)}.incomplete")

    @property
    def identity(self) -> tuple[int, int] | str:
        """What all names of the file have in common."""
        return _identity(self.path)


def check_distinct(
    outputs: Iterable[tuple[str, Output]], inputs: Iterable[str | os.PathLike[str]] = ()
) -> None:
    """Raise UsageError if two outputs are one file, one lies in another, or one is an input.

    Parameters
    ----------
    outputs : iterable of (option, Output)
        With the option that named each, for the error. Streams may be named more than once.
    inputs : iterable of paths
        Files that are read; those that do not exist are passed over.
    """
    kept = [(option, output) for option, output in outputs if not output.stream]
    for k, (option, output) in enumerate(kept):
        for other, earlier in kept[:k]:
            if output.identity == earlier.identity:
                raise UsageError(f"{other} and {option} both write {output.path}; name two files")
            for inside, outside in ((output, earlier), (earlier, output)):
                if outside.folder and outside.real in inside.real.parents:
                    raise UsageError(f"{inside.path} lies in {outside.path}, which is written as a whole")
    for path in filter(os.path.exists, inputs):
        for option, output in kept:
            if output.identity == _identity(path):
                raise UsageError(f"{option} {output.path} is read too; write to another file")
            if output.folder and output.real in Path(os.path.realpath(path)).parents:
                raise UsageError(f"{option} {output.path} holds {path}, which is read; write elsewhere")
            if os.path.isdir(path) and Path(os.path.realpath(path)) in output.real.parents:
                raise UsageError(f"{option} {output.path} lies in {path}, which is read; write elsewhere")


def create_new(path: Path) -> int:
    """Return a descriptor of a new, empty file; raises OSError where there is one of that name."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)


def _identity(path: str | os.PathLike[str]) -> tuple[int, int] | str:
    try:
        info = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return (info.st_dev, info.st_ino)


def _planted(path: str) -> str | None:
    """Return what another user put at *path*, in a folder open to all users: a link, a pipe, a file."""
    path = path.rstrip("/")  # else a link to a folder would be followed here
    for _ in range(_LINKS):
        try:
            info, folder = os.lstat(path), os.stat(os.path.dirname(path) or ".")
        except OSError:
            return None
        if folder.st_mode & stat.S_IWOTH and info.st_uid not in (0, os.geteuid()):
            return path
        if not stat.S_ISLNK(info.st_mode):
            return None
        try:
            path = os.path.join(os.path.dirname(path), os.readlink(path))
        except OSError:
            return None
    return None


def _first_file(path: Path) -> Path:
    """Return the part of *path* that should be a directory and is a file."""
    return next((part for part in reversed(path.parents) if part.exists() and not part.is_dir()), path)


def _is_stream(path: str) -> bool:
    """Return whether *path* leads to a device or pipe, or is a descriptor of a process."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISFIFO(mode):
        return True
    for _ in range(_LINKS):
        folder = os.path.realpath(os.path.dirname(path) or ".")
        if re.fullmatch(r"/proc/\d+(/task/\d+)?/fd", folder):
            return not stat.S_ISDIR(mode)
        if not os.path.islink(path):
            return False
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return False
