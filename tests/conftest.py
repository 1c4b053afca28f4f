"""What all tests share: the ranks, how much hypothesis tries, a compile cache of the session's own."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from tests.mpi.ranks import Ranks
from tests.support.workers import (
    InShares,
    is_quick,
    is_worker,
    put_in_order,
    wait_politely,
    without_most_sizes,
)

SIZES = (1, 2, 3, 4)

for _name, _examples in {"quick": 2, "full": 4, "long": 500}.items():
    hypothesis.settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,  # ranks share few cores
        # The same examples on every machine: `make fuzz` is what draws new ones, and the long profile.
        derandomize=_name != "long" or "CI" in os.environ,
        print_blob=True,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
PROFILE = os.environ.get("GASLAB_HYPOTHESIS", "full")
LONG = PROFILE == "long"  # then all cases run on all numbers of ranks
hypothesis.settings.load_profile(PROFILE)


class Hosts:
    """Every number of ranks that a test asked for, started at first use, kept for the session."""

    def __init__(self) -> None:
        self._ranks: dict[int, Ranks] = {}

    def __call__(self, size: int) -> Ranks:
        """Return the host of *size* ranks."""
        return self._ranks.setdefault(size, Ranks(size))

    def close(self) -> None:
        for ranks in self._ranks.values():
            ranks.close()


HOSTS = Hosts()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true",
        help="what takes two minutes: no test marked slow or timed, two ranks at most, few examples",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("quick"):
        hypothesis.settings.load_profile("quick")
    # A shell that starts a job in the background lets it ignore Ctrl-C, and so all that the job starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "slow: half a second or more a case; left out of `make quick`")
    config.addinivalue_line("markers", "timed: looks at the time; runs last, beside nothing but such tests")
    if not is_worker():
        # Set before any host starts, so that ranks share it and nothing compiled earlier is found.
        os.environ["GASLAB_CACHE_DIR"] = tempfile.mkdtemp(prefix="gaslab-cache-")
        if getattr(config.option, "numprocesses", None):
            wait_politely()


def pytest_unconfigure(config: pytest.Config) -> None:
    HOSTS.close()
    if not is_worker():
        shutil.rmtree(os.environ["GASLAB_CACHE_DIR"], ignore_errors=True)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("quick"):
        kept = [item for item in items if is_quick(item)]
    else:
        kept = items[:] if LONG else without_most_sizes(items)
    config.hook.pytest_deselected(items=list(set(items) - set(kept)))
    items[:] = kept
    put_in_order(items)


@pytest.hookimpl(optionalhook=True)  # unknown where xdist is left out
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> InShares:
    return InShares(config, log)


@pytest.fixture(autouse=True)
def log_as_it_was() -> Iterator[None]:
    """Undo what a command that ran in this process made of the log."""
    log = logging.getLogger("gaslab")
    kept, level = (log.handlers[:], log.propagate), log.level
    yield
    log.handlers[:], log.propagate = kept
    log.setLevel(level)  # which forgets what was enabled, too


@pytest.fixture(autouse=True)
def ctrl_c_as_it_was() -> Iterator[None]:
    """Let no test leave a handler of its own: a run that finds one leaves Ctrl-C to it."""
    yield
    left = signal.signal(signal.SIGINT, signal.default_int_handler)
    assert left is signal.default_int_handler, f"SIGINT is left to {left}"


@pytest.fixture
def without_collector() -> Iterator[None]:
    """Python drops what is raised in a callback of the garbage collector, and hypothesis has one."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="session")
def hosts() -> Hosts:
    """Ranks of any number: ``hosts(8).run(function, ...)``."""
    return HOSTS


@pytest.fixture(scope="session", params=SIZES, ids=lambda size: f"{size}ranks")
def ranks(request: pytest.FixtureRequest, hosts: Hosts) -> Ranks:
    """1, 2, 3 and 4 ranks in turn: ``ranks.run(function, *arguments) -> [of each rank]``."""
    return hosts(request.param)
