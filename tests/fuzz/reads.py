"""Whole reads by `gaslab.read_graph` on 1 and 3 ranks, against the models of the formats.

The 3 ranks are threads of this process, which wait for each other in no time; for one batch in ten, and for
a case alone, they are processes under MPI.
"""

from __future__ import annotations

import random as randoms
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.fuzz.fuzzer import Fuzzer
from tests.fuzz.on_ranks import Outcome, Together, attempt
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
from tests.support.strategies import STRATEGIES
from tests.support.threadcomm import run_ranks

CUTS = (None, None, *STRATEGIES)


MPI_BATCHES = 10  # of so many batches one is read under MPI
Job = tuple[list[str], dict[str, Any], int]  # files, options, bytes of a block


def read(comm: Comm, job: Job) -> Answer:
    """Read in blocks of the job's size, on every rank of its own process."""
    with small_blocks(job[2]):
        return read_here(comm, job)


def read_here(comm: Comm, job: Job) -> Answer:
    """Read on every rank, and check what each must know of the graph."""
    names, options, _ = job
    graph = gl.read_graph(names, comm=comm, **options)
    assert graph.num_edges == graph.counts["edges"]
    return answer_of(comm, graph)


def read_by_threads(size: int, jobs: list[Job]) -> list[list[Outcome]]:
    """Return of each job what came of it on each rank; the blocks of a process have one size."""
    found = []
    for job in jobs:
        with small_blocks(job[2]):
            found.append(run_ranks(size, lambda comm, job=job: attempt(comm, read_here, job)))  # type: ignore[misc]
    return found


class Reads(Fuzzer):
    name = "reads"
    batch = 50
    sample = 100
    share = 2.0

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gaslab-fuzz-", dir=MEMORY))
        self.together = Together((1, 3))
        self.answers = self.batches = self.by_mpi = 0

    def draw(self, random: randoms.Random) -> dict[str, Any]:
        case = draw(random)
        case["options"] |= {"strategy": random.choice(CUTS)}
        return case

    def check(self, case: dict[str, Any]) -> str | None:
        return self._check([case], True)[0]

    def check_all(self, cases: list[dict[str, Any]]) -> list[str | None]:
        self.batches += 1
        return self._check(cases, self.batches % MPI_BATCHES == 1)

    def _check(self, cases: list[dict[str, Any]], mpi: bool) -> list[str | None]:
        found: list[str | None] = [None] * len(cases)
        fit = [at for at, case in enumerate(cases) if not unreadable(case)]
        names = {at: write(cases[at], self.folder, f"{at}-") for at in fit}
        jobs = [(names[at], options_of(cases[at], names[at]), cases[at]["cut"][1]) for at in fit]
        wanted = [expected(cases[at]) for at in fit]

        def judge(number: int, outcome: Any, size: int) -> str | None:
            self.answers += isinstance(outcome, Answer)
            came = outcome if isinstance(outcome, Answer) else outcome[1:]
            return compare(wanted[number], came, names[fit[number]])

        self.by_mpi += len(jobs) * mpi
        threads = None if mpi else read_by_threads
        for at, what in zip(fit, self.together.check(read, jobs, judge, threads), strict=True):
            found[at] = what
        return found

    def smaller(self, case: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield from smaller_case(case)

    def summary(self) -> str:
        return f"; {self.answers} graphs, at 1 and at 3 ranks, of {self.by_mpi} cases under MPI"

    def close(self) -> None:
        self.together.close()
        shutil.rmtree(self.folder)
