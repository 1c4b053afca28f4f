"""Segments of shared memory that killed ranks left behind, and how they differ from live ones.

An MPI that ends by itself removes its segments. One that is aborted or killed does not, and each such job
keeps some megabytes of memory until its files are deleted.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gaslab.errors import GaslabError

FOLDER = "/dev/shm"

# MPICH: mpich_shm_<job>_<node>, mpich_vci_<job>_<node>, mpich_shar_tmp<random>.
# Open MPI: {vader,sm}_segment.<host>.[<user>.]<job>.<rank>, osc_{rdma,sm}.<host>.<job>..., open_mpi.<number>.
_NAMES = re.compile(
    r"mpich_(shm|vci)_[0-9a-f]+_\d+|mpich_shar_tmp\w{6}"
    r"|(vader|sm)_segment\..+\.[0-9a-f]+\.\d+|osc_(rdma|sm)\..+\.[0-9a-f]+(\.\d+)+|open_mpi\.\d+"
)
_INITIAL = {"pid": "pid:[4026531836]", "ipc": "ipc:[4026531839]"}  # the machine's own, of every Linux


class Segment(NamedTuple):
    """A file of shared memory."""

    name: str
    size: int


def dead(folder: str = FOLDER) -> list[Segment]:
    """Return this user's segments of MPICH and Open MPI that no process maps or has open (not collective).

    Raises
    ------
    GaslabError
        Processes that share the memory may be out of sight.
    """
    found = own(folder)  # before the look at processes: a later one can only join a segment of a live one
    if found and not _sees_all():
        raise GaslabError(
            f"this container shares {folder} with its machine and does not see the processes there: "
            "nobody here knows which segments are in use; ask outside of the container"
        )
    names = {segment.name for segment in found}
    for text in _held():
        names -= {name for name in names if name in text}
    return [segment for segment in found if segment.name in names]


def remove(segments: list[Segment], folder: str = FOLDER) -> list[Segment]:
    """Delete segments that `dead` returned; return those that are gone (not collective)."""
    gone = []
    for segment in segments:
        with contextlib.suppress(OSError):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, segment.name))
            gone.append(segment)
    return gone


def own(folder: str = FOLDER) -> list[Segment]:
    """Return this user's segments of MPICH and Open MPI, in use or not (not collective)."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            info = entry.stat(follow_symlinks=False)
            own = stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid()
            if own and _NAMES.fullmatch(entry.name):
                found.append(Segment(entry.name, info.st_blocks * 512))
    return sorted(found)


def _held() -> Iterator[str]:
    """Yield what every process that can be looked at maps, and has open."""
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # it has ended, or is another user's, with no right to our files
            yield (process / "maps").read_text(errors="replace")
        with contextlib.suppress(OSError):
            for name in os.listdir(process / "fd"):
                with contextlib.suppress(OSError):
                    yield os.readlink(process / "fd" / name)


def _sees_all() -> bool:
    """Return whether all processes that may share this memory can be seen from here."""
    try:
        here = {kind: os.readlink(f"/proc/self/ns/{kind}") for kind in _INITIAL}
    except OSError:
        return False
    return not (here["ipc"] == _INITIAL["ipc"] and here["pid"] != _INITIAL["pid"])
