"""Caches of compiled programs. A library runs with the user's rights, so no other user may have written it.

A library is trusted if only the user and root can change it, its folder and every folder of the path. The
path is walked from ``/``, name by name and link by link, each step from the descriptor of the one before; the
library is opened once, checked and read through that descriptor. So the bytes checked are the bytes loaded,
even if files are renamed meanwhile. Nothing is locked: other processes see a library whole or not at all, on
a network file system too.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import secrets
import stat
import tempfile
from pathlib import Path

from gaslab.errors import CompileError, UsageError
from gaslab.system import leftovers
from gaslab.system.atomic_writes import AtomicFile
from gaslab.system.outputs import Output

_DIGEST = 32  # bytes of sha256 after the library's own: a truncated file is never loaded
_LINKS = 40  # in a chain, as in the kernel
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class Untrusted(CompileError):
    """Another user may have written a compiled program: `what` is the reason, `fix` the way out."""

    def __init__(self, path: str | Path, why: str, fix: str) -> None:
        super().__init__(f"{path} {why}; {fix}")
        self.what, self.fix = f"{path} {why}", fix


class Cache:
    """A folder of compiled programs.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> bytes | None:
        """Return a stored library, None if it is missing or incomplete; raises Untrusted."""
        try:
            folder = self._open(create=False)
        except OSError:
            return None
        try:
            return whole(_read(folder, self.path, name))
        except OSError:
            return None
        finally:
            os.close(folder)

    def write(self, name: str, content: bytes) -> None:
        """Store a library with its digest, replacing one of that name; raises Untrusted and OSError."""
        folder = self._open(create=True)
        beside = f".{name[:24]}.{secrets.token_hex(4)}.incomplete"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            handle = os.open(beside, flags, 0o600, dir_fd=folder)
            leftovers.draft_made(str(self.path / beside))
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content + hashlib.sha256(content).digest())
                os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(beside, dir_fd=folder)
                raise
        finally:
            os.close(folder)

    def prepare(self) -> None:
        """Make the folder if it is missing; raises Untrusted, and OSError if it cannot be written to."""
        os.close(self._open(create=True))
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self.path))

    def _open(self, create: bool) -> int:
        folder = open_way(self.path, 0o700 if create else None)
        try:
            _check_own(os.fstat(folder), self.path)
        except Untrusted:
            os.close(folder)
            raise
        return folder


def whole(content: bytes) -> bytes | None:
    """Return a library without its digest, None if the digest does not match."""
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    return body if hashlib.sha256(body).digest() == digest else None


def prepare_for_others(folder: Path) -> None:
    """Make a folder that the user chose for libraries; raises UsageError if it cannot be written to."""
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(f"cannot write to {folder}: it is not a directory") from None
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"cannot write to {folder}: no permission")


def write_for_others(folder: Path, name: str, content: bytes) -> None:
    """Store a library in a folder that the user chose; it is not loaded from there without `Cache.read`."""
    prepare_for_others(folder)
    with AtomicFile(Output(folder / name, force=True, follow=False)) as draft:
        draft.write(content + hashlib.sha256(content).digest())
        draft.keep(mode=0o644)


def private_folder() -> str:
    """Return a folder for temporary files in which no other user can change ours; raises Untrusted."""
    first: Untrusted | None = None
    for path in (tempfile.gettempdir(), "/dev/shm", "/tmp", "/var/tmp"):
        try:
            os.close(open_way(Path(path)))
        except OSError:
            continue
        except Untrusted as error:
            first = first or error
            continue
        if os.access(path, os.W_OK | os.X_OK):
            return path
    raise first or CompileError("no folder for temporary files was found; set TMPDIR to one of yours")


def open_way(path: Path, mode: int | None = None) -> int:
    """Return the descriptor of a folder whose path no other user can change.

    Parameters
    ----------
    path : Path
    mode : int, optional
        With it, folders that are missing are made, with these permissions.

    Raises
    ------
    OSError
        The folder does not exist.
    Untrusted
        Another user can replace a part of the path.
    """
    parts = _parts(os.path.join(os.getcwd(), path))
    here, way, links = os.open("/", _STEP), "/", 0
    try:
        while parts:
            _check_way(os.fstat(here), way)
            name = parts.pop(0)
            target = _link(here, name, os.path.join(way, name))
            if target is None:
                step = _step(here, name, mode)
                way = os.path.join(way, name)
            else:
                links += 1
                if links > _LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
                parts[:0] = _parts(target)
                if not target.startswith("/"):
                    continue
                step, way = os.open("/", _STEP), "/"
            os.close(here)
            here = step
        _check_way(os.fstat(here), way)
    except BaseException:
        os.close(here)
        raise
    return here


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _step(here: int, name: str, mode: int | None) -> int:
    """Open the folder *name* in the folder *here*; make it first if it is missing and *mode* is given."""
    try:
        return os.open(name, _STEP, dir_fd=here)
    except FileNotFoundError:
        if mode is None:
            raise
    with contextlib.suppress(FileExistsError):  # another process was faster
        os.mkdir(name, mode, dir_fd=here)
    return os.open(name, _STEP, dir_fd=here)


def _link(here: int, name: str, shown: str) -> str | None:
    """Return the target of the link *name*, None if it is not a link."""
    try:
        target = os.readlink(name, dir_fd=here)
    except OSError:
        return None
    owner = os.stat(name, dir_fd=here, follow_symlinks=False).st_uid
    if owner not in _owners_of_ways():
        raise Untrusted(shown, f"is a link owned by {_user(owner)}", _ELSEWHERE)
    return target


def _read(folder: int, path: Path, name: str) -> bytes:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe must not hold us up
    with os.fdopen(os.open(name, flags, dir_fd=folder), "rb") as file:
        info = os.fstat(file.fileno())
        if not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path / name))
        _check_own(info, path / name)
        return file.read()


_ELSEWHERE = "set GASLAB_CACHE_DIR to a folder of yours"


def _check_own(info: os.stat_result, path: Path) -> None:
    """Raise Untrusted unless a file or folder is the user's (or root's) and no other user can write to it."""
    if info.st_uid not in (0, os.geteuid()):
        raise Untrusted(path, f"belongs to {_user(info.st_uid)}", _ELSEWHERE)
    if info.st_mode & _OTHERS:
        raise _open_to_others(info, path)


def _check_way(info: os.stat_result, path: str) -> None:
    """Raise Untrusted if another user can replace what is in a folder; in a sticky one only its owner can."""
    if info.st_uid not in _owners_of_ways():
        raise Untrusted(path, f"belongs to {_user(info.st_uid)}", _ELSEWHERE)
    others = info.st_mode & _OTHERS
    if others == stat.S_IWGRP and info.st_gid == _own_group():
        return
    if others and not info.st_mode & stat.S_ISVTX:
        raise _open_to_others(info, path)


def _open_to_others(info: os.stat_result, path: str | Path) -> Untrusted:
    own = info.st_uid == os.geteuid() and not info.st_mode & stat.S_ISVTX
    why = f"can be written by others (mode {stat.S_IMODE(info.st_mode):o})"
    return Untrusted(path, why, f"chmod go-w {path}" if own else _ELSEWHERE)


def _owners_of_ways() -> set[int]:
    """Return the users whose folders a path may have: this one, root, and root as a container shows it.

    In a user namespace with few users, all others, including the machine's root, share one number.
    """
    owners = {0, os.geteuid()}
    try:
        first, _, count = Path("/proc/self/uid_map").read_text().split()[:3]
        if int(first) > 0 or int(count) < 2**32 - 1:
            owners.add(int(Path("/proc/sys/kernel/overflowuid").read_text()))
    except (OSError, ValueError):
        pass
    return owners


@functools.cache
def _own_group() -> int:
    """Return the group with the user's name and no other member (many systems make one), else -1."""
    import grp
    import pwd

    try:
        user = pwd.getpwuid(os.geteuid())
        group = grp.getgrgid(user.pw_gid)
    except KeyError:
        return -1
    own = group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
    return group.gr_gid if own else -1


def _user(number: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"user {number}"
