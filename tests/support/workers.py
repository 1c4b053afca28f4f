"""How workers of pytest-xdist share the tests.

One worker begins with all tests of more than two ranks, so that no other starts so many; the others take the
rest, one test each. What looks at the time comes last, when nothing but such tests is beside it.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from gaslab.parallel import polling

SHARES = MANY, SHARED, TIMED = "many ranks", "shared", "timed"  # in the order in which they run


def is_worker() -> bool:
    """Return whether this process is a worker, whose cache directory is that of its parent."""
    return "PYTEST_XDIST_WORKER" in os.environ


def wait_politely() -> None:
    """Make MPI and OpenMP leave the core while they wait: the ranks of all workers outnumber the cores."""
    for name, value in {**polling._MPI, "OMP_WAIT_POLICY": "passive"}.items():
        os.environ.setdefault(name, value)


def ranks_of(item: pytest.Item) -> int:
    """Return the number of ranks that *item* runs on: 0 where it asks for none, 3 where it says itself."""
    callspec: Any = getattr(item, "callspec", None)
    asks = "hosts" in getattr(item, "fixturenames", ())
    return (callspec.params if callspec else {}).get("ranks", 3) if asks else 0


def share(item: pytest.Item) -> str:
    """Return how *item* is dealt: by the mark `timed`, or by the number of its ranks."""
    if item.get_closest_marker("timed") is not None:
        return TIMED
    return MANY if ranks_of(item) > 2 else SHARED


def is_quick(item: pytest.Item) -> bool:
    """Return whether *item* is for `make quick`; of tests on any ranks the case of two is."""
    return share(item) == SHARED and ranks_of(item) != 1 and item.get_closest_marker("slow") is None


def one_of_three_and_four(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return *items* without one case of each test that is there on three ranks and on four.

    Which one is left out follows from the test's name, so that either number has half of the tests.
    """

    def name(item: pytest.Item) -> str:
        return item.nodeid.replace(f"{ranks_of(item)}ranks", "?ranks")

    many = [item for item in items if share(item) == MANY]
    there = {item.nodeid for item in many}

    def has_both(item: pytest.Item) -> bool:
        return "?ranks" in name(item) and {name(item).replace("?ranks", f"{n}ranks") for n in (3, 4)} <= there

    def falls_to(item: pytest.Item) -> int:
        return 3 + zlib.crc32(name(item).encode()) % 2

    left_out = {item.nodeid for item in many if has_both(item) and ranks_of(item) != falls_to(item)}
    return [item for item in items if item.nodeid not in left_out]


def put_in_order(items: list[pytest.Item]) -> None:
    """Sort *items* by `share`; workers write down how many are of many ranks, for `InShares`."""
    items.sort(key=lambda item: SHARES.index(share(item)))
    if is_worker():
        _count_path().write_text(str(sum(share(item) == MANY for item in items)))


def _count_path() -> Path:
    return Path(os.environ["GASLAB_CACHE_DIR"]) / "tests-of-many-ranks"


class InShares(LoadScopeScheduling):
    """Deal the tests in their order: those of many ranks together, each other by itself."""

    def schedule(self) -> None:
        if self.collection is None:
            collected = next(iter(self.registered_collections.values()))
            many = int(_count_path().read_text()) if collected else 0  # nothing where a path is wrong
            self._many = set(collected[:many])
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return MANY if nodeid in self._many else nodeid
