"""Cases on persistent ranks: many in one task, and those of a task that broke one by one."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import Any

from gaslab.errors import GaslabError
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks, RanksError

Outcome = Any  # of one case on one rank: an answer, or ("error", type, text), or ("crash", type, text)


def attempt_each(comm: Comm, function: Callable[..., Any], jobs: list[Any]) -> list[Outcome]:
    """Return what came of ``function(comm, job)`` for each job."""
    log = logging.getLogger("gaslab")
    kept = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        return [attempt(comm, function, job) for job in jobs]
    finally:
        log.setLevel(kept)


def attempt(comm: Comm, function: Callable[..., Any], job: Any) -> Outcome:
    try:
        return function(comm, job)
    except GaslabError as error:
        return "error", type(error).__name__, str(error)
    except Exception as error:
        return "crash", type(error).__name__, traceback.format_exc()[-2000:]


class Together:
    """Ranks of a few sizes that run batches of cases."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.ranks = [Ranks(size) for size in sizes]

    def outcomes(self, ranks: Ranks, function: Callable[..., Any], jobs: list[Any]) -> list[list[Outcome]]:
        """Return of each job what came of it on each rank; of one that broke the ranks a single crash."""
        try:
            answers = ranks.run(attempt_each, function, jobs, timeout=20 + len(jobs))
            return [list(outcome) for outcome in zip(*answers, strict=True)]
        except RanksError as error:
            if len(jobs) == 1:
                ranks.close()
                return [[("crash", "RanksError", str(error)[:3000])]]
            half = len(jobs) // 2
            ranks.close()
            return self.outcomes(ranks, function, jobs[:half]) + self.outcomes(ranks, function, jobs[half:])

    def check(
        self,
        function: Callable[..., Any],
        jobs: list[Any],
        judge: Callable[[int, Outcome, int], str | None],
        threads: Callable[[int, list[Any]], list[list[Outcome]]] | None = None,
    ) -> list[str | None]:
        """Return what is wrong with each job: on a rank, between ranks, or as *judge* says.

        *judge* takes the number of the job, its outcome and the number of ranks. *threads*, of a number of
        ranks and the jobs, stands in for several ranks under MPI where it is given.
        """
        found: list[str | None] = [None] * len(jobs)
        for ranks in self.ranks:
            if threads is not None and ranks.size > 1:
                outcomes = threads(ranks.size, jobs)
            else:
                outcomes = self.outcomes(ranks, function, jobs)
            for at, outcome in enumerate(outcomes):
                if found[at] is None:
                    what = _of_ranks(outcome) or judge(at, outcome[0], ranks.size)
                    found[at] = None if what is None else f"on {ranks.size} ranks: {what}"
        return found

    def close(self) -> None:
        for ranks in self.ranks:
            ranks.close()


def _of_ranks(outcome: list[Outcome]) -> str | None:
    for rank, one in enumerate(outcome):
        if isinstance(one, tuple) and one[0] == "crash":
            return f"rank {rank} crashed: {one[1]}: {one[2]}"
        if repr(one) != repr(outcome[0]):
            return f"rank {rank} has another outcome than rank 0: {one!r}, {outcome[0]!r}"
    return None
