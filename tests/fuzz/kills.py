"""Jobs with checkpoints of which a rank is killed at a drawn moment, and that are started again.

What must hold: all ranks end within a second of the kill; the job that is started again, by hand or by a
supervisor, ends with the answer of an uninterrupted run, bit for bit on the same ranks where the engine
promises it; nothing stays behind.
"""

from __future__ import annotations

import random as randoms
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.fuzz.fuzzer import Fuzzer
from tests.fuzz.killed_run import JOBS, Figures, KilledRun, write_graphs
from tests.fuzz.supervised_run import SupervisedRun

TOGETHER = 2  # runs at once


class Kills(Fuzzer):
    name = "kills"
    batch = 6
    sample = 12
    share = 2.0

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gaslab-kills-"))
        self.figures = Figures()
        self.number = 0
        write_graphs(self.folder)

    def draw(self, random: randoms.Random) -> dict[str, Any]:
        size = random.choice((2, 2, 2, 3, 4))
        kills = [self._kill(random) for _ in range(random.choice((1, 1, 1, 2)))]
        moves = random.random() < 0.35
        job = random.choice(list(JOBS))
        if random.random() < 0.5:
            return {"job": job, "ranks": [size], "kills": kills, "supervised": True, "shrink": moves}
        sizes = [size, *(random.choice((2, 3, 4)) if moves else size for _ in kills)]
        return {"job": job, "ranks": sizes, "kills": kills, "supervised": False}

    @staticmethod
    def _kill(random: randoms.Random) -> dict[str, Any]:
        return {
            "rank": random.randrange(4),
            "guard": random.random() < 0.2,  # of a supervised rank: its parent, which is to say how it ended
            "when": random.choice(("at once", "writing", "writing", "written", "written")),
            "after": random.randrange(3),
            "delay": random.choice(
                (0.0, 0.0, round(random.random() * 0.05, 4), round(random.random() * 0.3, 3))
            ),
        }

    def check(self, case: dict[str, Any]) -> str | None:
        return self.check_all([case])[0]

    def check_all(self, cases: list[dict[str, Any]]) -> list[str | None]:
        with ThreadPoolExecutor(TOGETHER) as pool:
            return list(pool.map(self._check, cases))

    def _check(self, case: dict[str, Any]) -> str | None:
        self.number += 1
        folder = self.folder / f"run-{self.number}"
        folder.mkdir()
        try:
            kind = SupervisedRun if case["supervised"] else KilledRun
            return kind(self.figures, self.folder, case, folder).check()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def smaller(self, case: dict[str, Any]) -> Any:
        return iter(())  # a moment is not made smaller

    def summary(self) -> str:
        return self.figures.summary()

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
