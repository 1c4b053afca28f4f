"""Faults at drawn moments: a rank that is killed, stopped, interrupted, terminated, that raises; a full disk;
files that may not grow, which needs no root.

What must hold: all ranks end within a second of the fault, the exit code says so, what the final names hold
is whole or as it was before, and what shared memory stays is known to ``gaslab doctor --clean``.
"""

from __future__ import annotations

import random as randoms
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.fuzz.faulty_run import ENGINES, FAULTS, OF_FILES, Record, Run
from tests.fuzz.fuzzer import Fuzzer

TOGETHER = 3  # runs at once


class Faults(Fuzzer):
    name = "faults"
    batch = 12
    sample = 12
    share = 2.0

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gaslab-faults-"))
        self.record = Record()
        self.number = 0
        self.can_mount = self._mount(self.folder / "try", 16)
        if self.can_mount:
            subprocess.run(["umount", str(self.folder / "try")], check=True)
        for size in {vertices for *_, vertices in ENGINES.values()}:
            random = randoms.Random(size)
            lines = [f"{k}\t{random.randrange(size)}\n" for k in range(size) for _ in range(4)]
            (self.folder / f"{size}.tsv").write_text("".join(lines))

    @staticmethod
    def _mount(folder: Path, pages: int) -> bool:
        folder.mkdir()
        words = ["mount", "-t", "tmpfs", "-o", f"size={4 * pages}k", "tmpfs", str(folder)]
        try:
            return subprocess.run(words, capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            return False

    def draw(self, random: randoms.Random) -> dict[str, Any]:
        ranks = random.choice((1, 2, 2, 3, 3, 4))
        fault = random.choice(FAULTS)
        engine = random.choice(list(ENGINES))
        functions = ("pagerank", "components") if engine != "stale" else ("pagerank",)  # of one phase
        return {
            "ranks": ranks,
            "engine": engine,
            "fault": fault,
            "command": fault in OF_FILES or random.random() < 0.6,
            "rank": random.randrange(ranks),
            "part": round(random.random(), 3),
            "output": random.choice(("answer.tsv", "answer.csv.gz", "answer/")),
            "there": random.random() < 0.5,
            "pages": random.choice((2, 3, 6)),
            "function": random.choice(functions),
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
        full = case["fault"] == "full" and self.can_mount and self._mount(folder / "out", case["pages"])
        if not full:
            (folder / "out").mkdir()
        try:
            return Run(self.record, self.folder, case, folder, full).check()
        finally:
            if full:
                subprocess.run(["umount", "-l", str(folder / "out")], check=False)
            shutil.rmtree(folder, ignore_errors=True)

    def smaller(self, case: dict[str, Any]) -> Any:
        return iter(())  # a moment is not made smaller

    def summary(self) -> str:
        return self.record.summary()

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
