"""Many runs without supersteps over a network that delays: none hangs, all are right.

``GASLAB_SOAK=1700 pytest -s tests/asynchronous/test_soak.py`` has so many runs on each number of
ranks, and shows how many there were of each kind. The same number has the same runs.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

from tests.conftest import LONG
from tests.mpi.ranks import RanksError
from tests.support import soak
from tests.support.graphs import STRATEGIES

RUNS = int(os.environ.get("GASLAB_SOAK", len(STRATEGIES) * len(soak.WAYS)))  # every cut once
SECONDS = 120.0  # of a block at most: eight runs, which take some tenths each


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 4] if LONG else [2, 4])
def test_delayed_runs_of_all_ways_end_and_are_right(hosts: Any, size: int) -> None:
    counts: Counter[soak.Way] = Counter()
    faults = []
    for number in range(-(-RUNS // len(soak.WAYS))):
        try:
            ranks = hosts(size).run(soak.block, number, timeout=SECONDS)
        except RanksError as error:  # the last line of its output is the run that hung
            faults.append(f"block {number} on {size} ranks: {error}")
            continue
        counts.update(run.way for run in ranks[0])
        faults += [f"{run.case}: {run.fault}" for runs in ranks for run in runs if run.fault]
    for way, count in sorted(counts.items()):
        print(f"{size} ranks, {', '.join(way)}: {count} runs")
    assert not faults, "\n".join(faults)
    assert set(counts) == set(soak.WAYS)
