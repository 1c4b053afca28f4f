"""How workers of pytest-xdist share the tests: those that want the cores to themselves come last, on one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling


def is_worker() -> bool:
    """Return whether this process is a worker, whose cache directory is that of its parent."""
    return "PYTEST_XDIST_WORKER" in os.environ


def is_alone(item: pytest.Item) -> bool:
    """Return whether *item* runs on more ranks than two, or is marked as a test that looks at the time."""
    fixtures: tuple[str, ...] = getattr(item, "fixturenames", ())
    callspec: Any = getattr(item, "callspec", None)
    sizes = callspec.params if callspec else {}
    return item.get_closest_marker("alone") is not None or ("hosts" in fixtures and sizes.get("ranks", 3) > 2)


def shared_count_path() -> Path:
    """Return the file in which the workers write how many of the tests, the first ones, are shared."""
    return Path(os.environ["GASLAB_CACHE_DIR"]) / "shared-tests"


class SharedThenAlone(LoadScopeScheduling):
    """Deal the shared tests one at a time to whichever worker is free, then all others to one worker."""

    def schedule(self) -> None:
        if self.collection is None:
            collected = next(iter(self.registered_collections.values()))
            self._shared = set(collected[: int(shared_count_path().read_text())])
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if nodeid in self._shared else "alone"
