"""A job of many short supersteps, for tests that strike while it runs."""

from __future__ import annotations

import sys
import time
from pathlib import Path

SUPERSTEPS = 400


def words(graph: Path, *more: object) -> list[str]:
    """Return the command line of the job on one rank."""
    found = ["-m", "gaslab", "pagerank", graph, "--tolerance", 0, "--max-iterations", SUPERSTEPS]
    return [sys.executable, *map(str, [*found, "--threads", 1, "--strategy", "random", "--quiet", *more])]


def wait_for(folder: Path, name: str) -> None:
    """Wait until the checkpoint *name*, or a later one, is in a folder."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if any(path.name >= name for path in folder.glob("superstep-*")):
            return
        time.sleep(0.02)
    raise TimeoutError(f"no checkpoint {name} in {folder}")
