"""A job that writes checkpoints and is killed, then started again until it ends, at times on other ranks."""

from __future__ import annotations

import contextlib
import os
import random as randoms
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gaslab.checkpoint.folder import UNFINISHED, complete
from tests.fuzz.faulty_run import SECONDS, alive, shared_by, unknown_of
from tests.mpi.launcher import ROOT, environment, mpiexec

HANGS = 120.0  # seconds without an end; the machine may be busy
FLOW = """
import sys
import gaslab as gl
from tests.programs.edge_fields import Flow

class Endless(Flow):
    def scatter(self, v: Flow.Vertex, e: Flow.Edge, nbr: Flow.Vertex) -> None:
        e.carried = v.level - 0.5 * nbr.level + e.carried / 4
        e.times += 1
        nbr.signal()

graph = gl.read_graph(sys.argv[1], columns=["weight"], strategy="random")
result = gl.run(
    Endless(), graph, threads=1, max_iterations=200,
    checkpoint=sys.argv[2], every=8, resume="auto", on_checkpoint_error="raise",
)
edges = result.collect_edges()
if graph.comm.rank == 0:
    if resumed := result.metrics["checkpoints"]["resumed"]:
        print("resumed", resumed, file=sys.stderr)
    with open(sys.argv[3], "w") as file:
        for level in result.vertices["level"].tolist():
            print(level, file=file)
        for name in ("carried", "times"):
            print(*edges[name].tolist(), sep="\\n", file=file)
"""


@dataclass(frozen=True)
class Job:
    """What is run; `exact` says whether a run on other ranks has the same numbers to 1e-9."""

    graph: str
    words: str  # of the command, empty: the script
    every: str = ""
    near: float = 1e-9  # how far floats may be apart on other ranks
    exact: bool = True  # the same bits on the same ranks
    portable: bool = True  # the same answer on other ranks


JOBS = {
    "pagerank": Job("random", "pagerank --tolerance 0 --max-iterations 150", "10"),
    "components": Job("path", "components", "1"),
    "sssp": Job("path", "sssp --source 0", "60"),
    "gibbs": Job("corpus", "lda --topics 5 --iterations 30 --sampler gibbs", "2", portable=False),
    "metropolis": Job("corpus", "lda --topics 5 --iterations 30 --sampler metropolis-hastings", "2"),
    "chain": Job("corpus", "lda --topics 5 --iterations 30 --mh-sweeps 15", "2", portable=False),
    "async components": Job("path", "components --engine async", "0.02s"),
    "async sssp": Job("path", "sssp --source 0 --engine async", "0.02s"),
    "async pagerank": Job("random", "pagerank --tolerance 1e-10 --engine async", "0.02s", 1e-6, exact=False),
    "stale pagerank": Job(
        "random", "pagerank --tolerance 1e-10 --max-iterations 400 --engine stale --staleness 2", "10", 1e-6,
        exact=False,
    ),
    "edge fields": Job("weighted", ""),
}  # fmt: skip


def write_graphs(folder: Path) -> None:
    """Write the graphs of all jobs."""
    random = randoms.Random(1)
    path = "".join(f"{k}\t{k + 1}\t1\n" for k in range(600))
    edges = [(k, random.randrange(500)) for k in range(500) for _ in range(4)]
    (folder / "path.tsv").write_text(path)
    (folder / "random.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in edges))
    (folder / "weighted.tsv").write_text("".join(f"{a}\t{b}\t{random.random()}\n" for a, b in edges))
    tokens = [f"{random.randrange(100)}\t{random.randrange(80)}\n" for _ in range(2000)]
    (folder / "corpus.tsv").write_text("".join(tokens))


@dataclass
class Figures:
    """What the runs of a fuzzer have in common."""

    whole: dict[tuple[str, int], str] = field(default_factory=dict)  # answers of uninterrupted runs
    came: Counter[str] = field(default_factory=Counter)  # the moments of the kills
    ended: list[float] = field(default_factory=list)  # seconds from a kill to the end of all ranks
    again: list[float] = field(default_factory=list)  # to the end of the resumed checkpoint's reading
    restarted: list[float] = field(default_factory=list)  # the same, of a supervisor's first restart

    def summary(self) -> str:
        """Return a line for the kills and one for each time."""
        lines = [f"; kills: {', '.join(f'{name} {n}' for name, n in sorted(self.came.items()))}"]
        of_all = {
            "all ranks had ended": self.ended,
            "it ran again": self.again,
            "it ran again, under a supervisor": self.restarted,
        }
        for words, times in of_all.items():
            if times:
                median, longest = sorted(times)[len(times) // 2], max(times)
                lines.append(
                    f"\n  from the kill until {words}: median {median:.2f} s, longest {longest:.2f} s"
                )
        return "".join(lines)


class KilledRun:
    """One case: a job, the ranks of each start, and the moment of each kill."""

    def __init__(self, figures: Figures, graphs: Path, case: dict[str, Any], folder: Path) -> None:
        self.figures, self.graphs, self.case, self.folder = figures, graphs, case, folder
        self.job = JOBS[case["job"]]
        self.checkpoints = folder / "checkpoints"
        self.answer = folder / "answer.tsv"

    def check(self) -> str | None:
        """Return what is wrong, None where nothing is."""
        key = self.case["job"], self.case["ranks"][0]
        if key not in self.figures.whole:
            what = self._start(key[1], self.folder / "whole", None)
            if what is not None:
                return f"without a kill: {what}"
            self.figures.whole[key] = self.answer.read_text()
            self.answer.unlink()
        what = self.run()
        if what is not None:
            return what
        left = [path.name for path in self.checkpoints.iterdir() if UNFINISHED.fullmatch(path.name)]
        if left:
            return f"these stay behind: {left}"
        return self._differs(self.answer.read_text(), self.figures.whole[key], len(self.used) == 1)

    def run(self) -> str | None:
        """Start the job until it ends by itself, on the ranks `used`; return what is wrong."""
        killed_at = None
        sizes = self.case["ranks"]
        for number, size in enumerate(sizes):
            kills = self.case["kills"]
            kill = kills[number] if number < len(kills) else None
            what = self._start(size, self.checkpoints, kill, killed_at)
            if what is not None:
                return f"start {number} on {size} ranks: {what}"
            if self.answer.exists():
                self.used = set(sizes[: number + 1])
                return None
            killed_at = self.killed_at
        return "no start ended by itself"

    def words(self, checkpoints: Path) -> list[str]:
        """Return the words of the job, without its options for checkpoints if it is a command."""
        graph, job = str(self.graphs / f"{self.job.graph}.tsv"), self.job
        if not job.words:
            script = self.folder / "script.py"
            script.write_text(FLOW)
            return [str(script), graph, str(checkpoints), str(self.answer)]
        command, *options = job.words.split()
        options += ["--on-checkpoint-error", "raise", "-o", str(self.answer), "--threads", "1"]
        return [command, graph, *options]

    def _words(self, size: int, checkpoints: Path, marks: Path) -> list[str]:
        start = [*mpiexec(), "-n", str(size), sys.executable, "-m", "tests.fuzz.rank", str(marks)]
        words = self.words(checkpoints)
        if not self.job.words:
            return [*start, *words]
        saving = ["--checkpoint", str(checkpoints), "--every", self.job.every, "--resume", "auto"]
        return [*start, "gaslab", *words, *saving]

    def _start(
        self, size: int, checkpoints: Path, kill: dict[str, Any] | None, killed_at: float | None = None
    ) -> str | None:
        marks = Path(f"{self.folder}/marks-{time.monotonic_ns()}")
        marks.mkdir()
        errors = marks / "errors"
        with open(errors, "w") as file:
            process = subprocess.Popen(
                self._words(size, checkpoints, marks), cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=file, start_new_session=True,
            )  # fmt: skip
        try:
            return self._watch(process, size, checkpoints, kill, killed_at, marks)
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)
            for pid in _pids(marks).values():
                if alive(pid):
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)

    def _watch(
        self, process: subprocess.Popen[bytes], size: int, checkpoints: Path, kill: dict[str, Any] | None,
        killed_at: float | None, marks: Path,
    ) -> str | None:  # fmt: skip
        until = time.monotonic() + HANGS
        errors, shared, struck = marks / "errors", set[str](), False
        before = names_of(checkpoints)
        while process.poll() is None and time.monotonic() < until:
            pids = _pids(marks)
            if killed_at is not None and "resumed" in errors.read_text():
                self.figures.again.append(time.monotonic() - killed_at)
                killed_at = None
            if kill is not None and not struck and len(pids) == size and is_time(kill, checkpoints, before):
                time.sleep(kill["delay"])
                shared = shared_by(pids.values())
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pids[kill["rank"] % size], signal.SIGKILL)
                struck, self.killed_at = True, time.monotonic()
            time.sleep(0.001 if struck or kill is None or len(pids) < size else 0.0002)
        if process.poll() is None:
            return f"hangs ({struck=}): {errors.read_text()[-1500:]}"
        pids = _pids(marks)
        while any(map(alive, pids.values())) and time.monotonic() < until:
            time.sleep(0.005)
        if left := [rank for rank, pid in pids.items() if alive(pid)]:
            return f"ranks {left} live on"
        if struck and not self.answer.exists():
            self.figures.came[kill["when"]] += 1  # type: ignore[index]
            seconds = time.monotonic() - self.killed_at
            self.figures.ended.append(seconds)
            if seconds > SECONDS:
                return f"{seconds:.1f} s from the kill to the end of all ranks"
        elif process.returncode and not struck:
            return f"exit code {process.returncode}: {errors.read_text()[-1500:]}"
        elif not self.answer.exists():
            return f"no answer: {errors.read_text()[-1500:]}"
        else:
            self.figures.came["none, it had ended"] += kill is not None
        return unknown_of(shared)

    def _differs(self, found: str, whole: str, same: bool) -> str | None:
        """Return how an answer differs from that of an uninterrupted run."""
        if same and self.job.exact:
            return None if found == whole else "other bits on the same ranks"
        mine, wanted = (np.array(text.split(), float) for text in (found, whole))
        if mine.shape != wanted.shape:
            return f"{mine.size} numbers, not {wanted.size}"
        if not self.job.portable:
            return None if np.isfinite(mine).all() else "a number that is none"
        far = float(np.abs(mine - wanted).max())
        return None if far <= self.job.near * max(1.0, np.abs(wanted).max()) else f"{far} away"


def _pids(marks: Path) -> dict[int, int]:
    return {int(path.name[4:]): int(path.read_text()) for path in marks.glob("pid-*")}


def names_of(checkpoints: Path) -> set[str]:
    return {path.name for path in complete(checkpoints)} if checkpoints.is_dir() else set()


def is_time(kill: dict[str, Any], checkpoints: Path, before: set[str]) -> bool:
    """Whether what the kill waits for has come: a checkpoint under way, a new one, or nothing."""
    if kill["when"] == "at once":
        return True
    if not checkpoints.is_dir():
        return False
    names = os.listdir(checkpoints)
    if kill["when"] == "writing":
        written = len(names_of(checkpoints) - before) >= kill["after"]
        return written and any(map(UNFINISHED.fullmatch, names))
    return bool(names_of(checkpoints) - before)
