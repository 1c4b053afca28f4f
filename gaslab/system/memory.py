"""Available memory, and numbers of bytes in words."""

from __future__ import annotations

import resource
import sys


def available_memory() -> int:
    """Return the bytes that may still be allocated on this machine (2**62 where it is unknown)."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 1 << 62


def peak_rss_bytes() -> int:
    """Return the most memory this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def human(count: float) -> str:
    """Return a number of bytes in the unit a person would choose."""
    for unit in ("B", "KB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
