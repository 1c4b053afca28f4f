"""A rank is killed while a job writes checkpoints; started again, the job ends as if nothing had happened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fuzz.kills import Kills

CASES = [
    # job, ranks of each start, rank that is killed, moment
    ("pagerank", [2, 2], 0, "writing"),
    ("pagerank", [2, 2], 1, "written"),
    ("pagerank", [3, 2], 2, "writing"),
    ("components", [2, 2], 1, "writing"),
    ("sssp", [2, 2], 0, "written"),
    ("gibbs", [2, 2], 1, "writing"),
    ("metropolis", [2, 3], 0, "written"),
    ("chain", [2, 2], 1, "written"),
    ("edge fields", [2, 2], 0, "writing"),
    ("async components", [2, 2], 1, "written"),
    ("async sssp", [2, 3], 0, "writing"),
    ("stale pagerank", [2, 2], 1, "written"),
]


@pytest.fixture(scope="module")
def kills() -> Iterator[Kills]:
    made = Kills()
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize(("job", "ranks", "rank", "when"), CASES, ids=lambda x: str(x))
def test_a_killed_job_goes_on(kills: Any, job: str, ranks: list[int], rank: int, when: str) -> None:
    kill = {"rank": rank, "when": when, "after": 1, "delay": 0.0}
    assert kills.check({"job": job, "ranks": ranks, "kills": [kill], "supervised": False}) is None
