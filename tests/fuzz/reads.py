"""Whole reads by `gaslab.read_graph` on 1 and 3 ranks, against the models of the formats."""

from __future__ import annotations

import random as randoms
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gaslab as gl
from gaslab.comm import Comm
from gaslab.partition.names import NAMES
from tests.fuzz.fuzzer import Fuzzer
from tests.fuzz.on_ranks import Together
from tests.fuzz.plain import Answer
from tests.fuzz.text import (
    MEMORY,
    answer_of,
    compare,
    draw,
    expected,
    options_of,
    small_blocks,
    smaller_case,
    unreadable,
    write,
)

STRATEGIES = (None, None, *NAMES)


def read(comm: Comm, job: tuple[list[str], dict[str, Any], int]) -> Answer:
    """Read on every rank, and check what each must know of the graph."""
    names, options, size = job
    with small_blocks(size):
        graph = gl.read_graph(names, comm=comm, **options)
    assert graph.num_edges == graph.counts["edges"]
    return answer_of(comm, graph)


class Reads(Fuzzer):
    name = "reads"
    batch = 50
    sample = 100
    share = 2.0

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gaslab-fuzz-", dir=MEMORY))
        self.together = Together((1, 3))
        self.answers = 0

    def draw(self, random: randoms.Random) -> dict[str, Any]:
        case = draw(random)
        case["options"] |= {"strategy": random.choice(STRATEGIES)}
        return case

    def check(self, case: dict[str, Any]) -> str | None:
        return self.check_all([case])[0]

    def check_all(self, cases: list[dict[str, Any]]) -> list[str | None]:
        found: list[str | None] = [None] * len(cases)
        fit = [at for at, case in enumerate(cases) if not unreadable(case)]
        names = {at: write(cases[at], self.folder, f"{at}-") for at in fit}
        jobs = [(names[at], options_of(cases[at]), cases[at]["cut"][1]) for at in fit]
        wanted = [expected(cases[at]) for at in fit]

        def judge(number: int, outcome: Any, size: int) -> str | None:
            self.answers += isinstance(outcome, Answer)
            came = outcome if isinstance(outcome, Answer) else outcome[1:]
            return compare(wanted[number], came, names[fit[number]])

        for at, what in zip(fit, self.together.check(read, jobs, judge), strict=True):
            found[at] = what
        return found

    def smaller(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield from smaller_case(case)

    def summary(self) -> str:
        return f"; {self.answers} graphs, at 1 and at 3 ranks"

    def close(self) -> None:
        self.together.close()
        shutil.rmtree(self.folder)
