"""The table of pairs: how many runs of each agreed, and how the others were refused."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

from tests.pairs import features

if TYPE_CHECKING:
    from tests.pairs.judge import Verdict
    from tests.pairs.runs import Task

CORE = (
    "gather",
    "message",
    "direction",
    "caching",
    "additive",
    "method",
    "signal",
    "engine",
    "scheduler",
    "fault",
)
ENGINES = ("engine", "scheduler")  # features of these slots are of the runs by the task's own engine


class Table:
    """Runs that agreed, by pair of features, and runs that were refused."""

    def __init__(self, path: Path | None = None) -> None:
        self.agreed: dict[str, int] = {}
        self.refused: dict[str, int] = {}
        self.programs = self.runs = 0
        self.pairs = list(features.pairs())
        self.core = [p for p in self.pairs if all(features.BY_NAME[x].group in CORE for x in p)]

    @classmethod
    def read(cls, path: Path | None) -> Table:
        table = cls()
        if path is not None and path.exists():
            vars(table).update(json.loads(path.read_text()))
        return table

    def write(self, path: Path | None) -> None:
        if path is not None:
            kept = {k: v for k, v in vars(self).items() if k not in ("pairs", "core")}
            path.write_text(json.dumps(kept))

    @staticmethod
    def key(a: str, b: str) -> str:
        return " + ".join(sorted((a, b)))

    def add(self, task: Task, verdict: Verdict, new: bool = True) -> None:
        """Count a task's runs for every pair of its features; *new* says that its program is another one."""
        self.programs += new
        self.runs += verdict.runs + verdict.engine_runs
        if verdict.differs:
            return
        for a, b in itertools.combinations(sorted(task.features), 2):
            of_engine = any(features.BY_NAME[x].slot in ENGINES for x in (a, b))
            refused = verdict.engine_refused if of_engine else verdict.refused
            runs = verdict.engine_runs if of_engine else verdict.runs
            expected = features.conflict(a, b)
            if refused and expected and expected[1] in refused:
                self.refused[self.key(a, b)] = self.refused.get(self.key(a, b), 0) + runs
            elif not refused and not expected:
                self.agreed[self.key(a, b)] = self.agreed.get(self.key(a, b), 0) + runs

    def count(self, pair: tuple[str, str]) -> int:
        key = self.key(*pair)
        return self.agreed.get(key, 0) + self.refused.get(key, 0)

    def rarest(self, draws: random.Random) -> tuple[str, str]:
        """Return a pair that few runs had; every second time of features that decide which vertices run."""
        if draws.random() < 0.5:
            return min(draws.sample(self.core, 200), key=self.count)
        return min(draws.sample(self.pairs, min(len(self.pairs), 400)), key=self.count)
