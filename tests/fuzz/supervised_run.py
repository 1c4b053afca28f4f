"""A job under ``gaslab supervise`` whose ranks are killed, and that is started again without being asked."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

from gaslab.parallel import heartbeat
from gaslab.parallel.heartbeat import Heartbeat
from tests.fuzz.faulty_run import shared_by
from tests.fuzz.killed_run import HANGS, KilledRun, is_time, names_of
from tests.support.supervised import Supervised


class SupervisedRun(KilledRun):
    """One case: a job, the ranks of its first start, and the moment of each kill; maybe with --shrink."""

    def run(self) -> str | None:
        """Supervise the job until it ends; return what is wrong."""
        self.size, self.shared = self.case["ranks"][0], set[str]()
        self.struck: list[str] = []  # the ranks that were killed, as a supervisor names them
        errors = self.folder / "errors"
        with open(errors, "w") as file:
            try:
                with Supervised(self.folder) as supervised:
                    self._supervise(supervised, file, errors)
            except AssertionError as error:
                return f"there stays behind: {error}"
        said = errors.read_text()
        if self.process.returncode != 0:
            return f"exit code {self.process.returncode} after the kills of {self.struck}: {said[-1500:]}"
        if left := [name for name in self.shared if Path("/dev/shm", name).exists()]:
            return f"shared memory stays behind: {left}"
        restarts = said.count("; restarting ")
        self.used = {self.size - k * self.case["shrink"] for k in range(restarts + 1)}
        self.figures.came["none, it had ended"] += len(self.case["kills"]) - restarts
        for kill in self.case["kills"][:restarts]:
            self.figures.came[f"{kill['when']}, supervised"] += 1
        causes = [line for line in said.splitlines() if "; restarting " in line]
        if restarts > len(self.struck) or any(map(_is_other, causes, self.struck)):
            return f"other causes than the kills of {self.struck}: {causes}"
        return None if self.answer.exists() else f"no answer: {said[-1500:]}"

    def _supervise(self, supervised: Supervised, file: object, errors: Path) -> None:
        options = ["-n", str(self.size), *(["--shrink"] if self.case["shrink"] else [])]
        if self.job.words:
            options += ["--every", self.job.every]
        with supervised.popen(self.words(supervised.folder), options, stderr=file) as self.process:
            until, killed_at = time.monotonic() + HANGS, None
            before = names_of(self.checkpoints)
            while self.process.poll() is None:
                assert time.monotonic() < until, f"it hangs: {errors.read_text()[-1500:]}"
                if self._strikes(before):
                    killed_at = time.monotonic() if len(self.struck) == 1 else None
                    before = names_of(self.checkpoints)
                if killed_at is not None and "resumed " in errors.read_text():
                    self.figures.restarted.append(time.monotonic() - killed_at)
                    killed_at = None
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(0.001)

    def _strikes(self, before: set[str]) -> bool:
        """Kill a rank or its guard if the moment has come; return whether it had."""
        kills = self.case["kills"]
        number = len(self.struck)
        if number == len(kills):
            return False
        kill, size = kills[number], max(self.size - number * self.case["shrink"], 1)
        ranks = self._ranks()
        if len(ranks) < size or not is_time(kill, self.checkpoints, before):
            return False
        time.sleep(kill["delay"])
        self.shared |= shared_by(one.pid for one in ranks.values())
        one = ranks[kill["rank"] % size]
        with contextlib.suppress(ProcessLookupError):
            os.kill(one.guard if kill["guard"] else one.pid, signal.SIGKILL)
        # Nothing records how a rank ended whose guard was killed: the supervisor may name another rank.
        self.struck.append("rank " if kill["guard"] else f"rank {one.rank} (pid {one.pid} ")
        return True

    def _ranks(self) -> dict[int, Heartbeat]:
        """Return what the ranks of the start that is to be struck have said."""
        for folder in self.checkpoints.glob(f".supervise-*/{len(self.struck)}"):
            with contextlib.suppress(OSError):
                return heartbeat.read(str(folder))[0]
        return {}


def _is_other(cause: str, rank: str) -> bool:
    """Whether a supervisor gave another cause for a restart than the end of a rank."""
    return f"supervise: {rank}" not in cause
