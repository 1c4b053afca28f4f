"""Descriptions of the machine that MPICH's launcher writes to /tmp, and leaves there when a rank aborts."""

from __future__ import annotations

import contextlib
import glob
import os
import stat
import time

_PATTERN = "/tmp/hydra_hwloc_xmlfile_" + "[A-Za-z0-9]" * 6
_PROXY = "hydra_pmi_proxy"
_START_SECONDS = 30.0  # after which the ranks of a job have read its file


def remove(since: float) -> None:
    """Delete this user's files that were written after *since*, a time, and that no starting job may need."""
    starts = None
    for path in glob.glob(_PATTERN):
        with contextlib.suppress(OSError):
            info = os.lstat(path)
            if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid() or info.st_mtime < since:
                continue
            starts = _starts() if starts is None else starts
            if not any(-1.0 <= info.st_mtime - start <= _START_SECONDS for start in starts):
                os.unlink(path)


def _starts() -> list[float]:
    """Return when the launcher's processes on this machine have started."""
    found = []
    with contextlib.suppress(OSError):
        with open("/proc/uptime") as file:
            boot = time.time() - float(file.read().split()[0])
        for name in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", errors="replace") as file:
                command, _, rest = file.read().partition("(")[2].rpartition(")")
                if command == _PROXY:
                    found.append(boot + int(rest.split()[19]) / os.sysconf("SC_CLK_TCK"))
    return found
