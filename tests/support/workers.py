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

FEW = 3  # cases: a test of so many, or more, runs each on one number of ranks
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


def without_most_sizes(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return *items* without most of the cases that differ in nothing but the number of ranks.

    A test with fewer than `FEW` other cases keeps one of three and four ranks, by its name, so that either
    number has half of these tests. The others keep one number for each case, by turns in an order that has
    nothing to do with the parameters: else the turns would fall in with those of another parameter.
    """

    def drawn(name: str) -> int:
        return zlib.crc32(name.encode())

    tests: dict[str, dict[str, dict[int, pytest.Item]]] = {}  # test -> case -> ranks
    for item in items:
        name = item.nodeid.replace(f"{ranks_of(item)}ranks", "?ranks")
        if share(item) != TIMED and "?ranks" in name:
            tests.setdefault(name.partition("[")[0], {}).setdefault(name, {})[ranks_of(item)] = item
    left_out: set[str] = set()
    for cases in tests.values():
        for turn, (name, sizes) in enumerate(sorted(cases.items(), key=lambda case: drawn(case[0]))):
            kept = set(sizes)
            if len(cases) >= FEW:
                kept = {sorted(sizes)[turn % len(sizes)]}
            elif {3, 4} <= kept:
                kept.remove(3 + drawn(name) % 2)
            left_out.update(item.nodeid for size, item in sizes.items() if size not in kept)
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
