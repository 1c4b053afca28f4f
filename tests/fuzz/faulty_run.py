"""A run with one fault: starts the ranks, strikes at a drawn moment, checks how all of them end."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import gaslab as gl
from gaslab.system import segments
from tests.mpi.launcher import ROOT, environment, mpiexec

SECONDS = 5.0  # from the fault to the end of all ranks; 1 is the promise, the rest is a busy machine
HANGS = 40.0  # seconds without an end
# Of a rank that fails before MPI has started, and that the others do not join in time: it dies of an alarm,
# which the launcher sees, and it may report that or how it ended the others.
ALARM = (signal.SIGALRM, signal.SIGTERM)
OPEN_MPI = len(mpiexec()) > 1

# engine -> (options of the command, of a script, vertices)
ENGINES = {
    "sync": ([], {}, 4000),
    "interpreted": (["--compile", "never"], {"compile": "never"}, 300),
    "async": (["--engine", "async"], {"engine": "async"}, 2000),
    "serialisable": (
        ["--engine", "async", "--consistency", "serialisable"],
        {"engine": gl.Async(consistency="serialisable")},
        1000,
    ),
    "stale": (["--engine", "stale", "--staleness", "2"], {"engine": gl.Stale(2)}, 4000),
    "reference": (["--engine", "reference"], {"engine": "reference"}, 150),
}
FAULTS = ("kill", "raise", "int", "term", "stop", "int all", "full", "limit")
OF_FILES = ("full", "limit")  # "limit": no file of one rank grows beyond some kilobytes (RLIMIT_FSIZE)
SCRIPT = """
import sys
import gaslab as gl
from gaslab import Async, Stale
graph = gl.read_graph(sys.argv[1])
for _ in range(2):
    gl.{function}(graph, threads=1, **{options!r})
    gl.components(graph.partitioned("random"), threads=1)
"""


class Record:
    """How long the runs of a fuzzer took, from a fault to the end of all ranks too, and their exit codes."""

    def __init__(self) -> None:
        self.takes: dict[str, float] = {}  # seconds of a run without a fault, from when its ranks are there
        self.seconds: dict[str, list[float]] = {}  # from each fault to the end of all ranks
        self.codes: dict[str, Counter[int]] = {}  # of the runs with each fault

    def summary(self) -> str:
        """Return a line for each fault."""
        lines = []
        for name, codes in sorted(self.codes.items()):
            listed = ", ".join(f"{code}: {count}" for code, count in sorted(codes.items()))
            line = f"{name}: {codes.total()}; exit codes {listed}"
            if times := sorted(self.seconds.get(name, ())):
                line += (
                    f"; {len(times)} ended by it, median {times[len(times) // 2]:.2f} s, "
                    f"longest {times[-1]:.2f} s, {sum(one > 1 for one in times)} above 1 s"
                )
            lines.append(f"\n  {line}")
        return "".join(lines)


class Run:
    """One run with one fault; *graphs* is the folder of its input, *full* whether its disk fills up."""

    def __init__(self, record: Record, graphs: Path, case: dict[str, Any], folder: Path, full: bool) -> None:
        self.record, self.graphs, self.case, self.folder, self.full = record, graphs, case, folder, full
        self.ranks = case["ranks"]
        self.output = folder / "out" / case["output"].rstrip("/")
        self.key = f"{case['engine']} {self.ranks} {case['command']} {case['function']}"
        self.vertices = ENGINES[case["engine"]][2]

    def words(self) -> list[str]:
        case = self.case
        options, keywords, _ = ENGINES[case["engine"]]
        graph = str(self.graphs / f"{self.vertices}.tsv")
        start = [*mpiexec(), "-n", str(self.ranks)] if self.ranks > 1 else []
        start += [sys.executable, "-m", "tests.fuzz.rank", str(self.folder)]
        if case["command"]:
            out = f"{self.folder}/out"
            outputs = ["-o", f"{out}/{case['output']}", "--json", f"{out}/run.json", "--force"]
            return [*start, "gaslab", case["function"], graph, *outputs, "--threads", "1", *options]
        script = self.folder / "script.py"
        script.write_text(SCRIPT.format(function=case["function"], options=keywords))
        return [*start, str(script), graph]

    def check(self) -> str | None:
        if self.case["there"] and self.case["command"] and not self.full:
            self._put_old()
        process = subprocess.Popen(
            self.words(),
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=open(self.folder / "errors", "w"),  # noqa: SIM115
            start_new_session=True,
        )
        self.pids: dict[int, int] = {}
        try:
            return self._watch(process)
        finally:
            for pid in self.pids.values():
                if alive(pid):
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
            if process.poll() is None:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)

    def _watch(self, process: subprocess.Popen[bytes]) -> str | None:
        until = time.monotonic() + 120
        while len(self.pids) < self.ranks:
            for rank in set(range(self.ranks)) - set(self.pids):
                with contextlib.suppress(FileNotFoundError):
                    self.pids[rank] = int((self.folder / f"pid-{rank}").read_text())
            if process.poll() is not None or time.monotonic() > until:
                return f"the ranks did not start: {self._errors()}"
            time.sleep(0.005)
        began = time.monotonic()
        fault, takes = self.case["fault"], self.record.takes.get(self.key, 1.0)
        while fault == "limit" and self.ranks > 1 and not self._shared() and process.poll() is None:
            time.sleep(0.02)  # MPI could not begin
        if fault != "full":
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self.case["part"] * takes)
        came = process.poll() is None and fault != "full"
        shared = self._shared()
        failed_at = time.time()
        if came:
            self._strike(process)
        try:
            code = process.wait(HANGS + (takes if fault in ("full", "stop") else 0))
        except subprocess.TimeoutExpired:
            live = [rank for rank, pid in self.pids.items() if alive(pid)]
            for rank in live:
                os.kill(self.pids[rank], signal.SIGUSR2)
            time.sleep(1)
            return f"hangs after {fault!r} ({came=}): {live} live: {self._errors()}\n{self._stacks()}"
        raised = list(self.folder.glob("raised-*"))
        if fault == "raise" and came and raised:
            failed_at = float(raised[0].read_text())
        while any(map(alive, self.pids.values())) and time.time() < failed_at + HANGS:
            time.sleep(0.005)
        seconds = time.time() - failed_at
        left = [rank for rank, pid in self.pids.items() if alive(pid)]
        if left:
            return f"ranks {left} live on after {fault!r}"
        ended = code != 0
        if not came or (not ended and fault != "full"):
            took = time.monotonic() - began
            self.record.takes[self.key] = (takes + took) / 2
        what = fault if came or fault == "full" else "none"
        self.record.codes.setdefault(what, Counter())[code] += 1
        if came and ended and fault != "limit":  # which ends a run when it writes
            self.record.seconds.setdefault(fault, []).append(seconds)
            if seconds > SECONDS:
                return f"{seconds:.1f} s from {fault!r} to the end: {self._errors()}"
        return self._code(code, came, bool(raised)) or self._files(code) or self._segments(shared)

    def _strike(self, process: subprocess.Popen[bytes]) -> None:
        """Let the fault happen."""
        fault, pid = self.case["fault"], self.pids[self.case["rank"]]
        numbers = {
            "kill": signal.SIGKILL,
            "raise": signal.SIGUSR1,
            "int": signal.SIGINT,
            "term": signal.SIGTERM,
        }
        with contextlib.suppress(ProcessLookupError):
            if fault == "int all":
                os.kill(process.pid, signal.SIGINT)  # the launcher hands it on
            elif fault == "stop":
                os.kill(pid, signal.SIGSTOP)
                time.sleep(0.5)
                os.kill(pid, signal.SIGCONT)
            elif fault == "limit":
                most = 1024 * self.case["pages"]
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))
            else:
                os.kill(pid, numbers[fault])

    def _code(self, code: int, came: bool, raised: bool) -> str | None:
        """Return what is wrong with the exit code."""
        fault, alone = self.case["fault"], self.ranks == 1
        if not came and fault != "full":
            right = code == 0
        elif fault in ("int", "int all"):
            # Python ends by the signal also where Ctrl-C came in a text that it executes, and was caught
            # (of a dataclass, while modules load); a launcher reports that as 2.
            right = code in (0, 130, -signal.SIGINT) if alone else code in (0, 130, 2, *ALARM) or OPEN_MPI
            right = right or "ImportError" in self._errors(
                most=None
            )  # numpy makes that of an interrupt while it loads
        elif fault == "stop":
            right = code == 0
        elif fault == "raise":
            # While the interpreter ends there is no handler: the signal ends the process.
            unheard = -signal.SIGUSR1 if alone else signal.SIGUSR1
            # A rank that has given up is named by those that come to it (2); a launcher joins codes by or.
            right = code in ((0, 1, 1 | 2, *ALARM) if raised else (0, unheard))
        elif fault in OF_FILES:
            right = code in ((0, 1) if self.full or fault == "limit" else (0,))  # a small answer may fit
            if fault == "limit" and "Fatal error in internal_Init" in self._errors(most=None):
                return None  # MPI itself could not begin
        else:
            number = -signal.SIGKILL if fault == "kill" else -signal.SIGTERM
            right = code == 0 or (code == number if alone else code != 0)
        if not right:
            return f"exit code {code} after {fault!r} ({came=}): {self._errors()}\n{self._stacks()}"
        errors = self._errors(most=None)
        said = "cannot write" in errors or "cannot be loaded" in errors
        if code and fault in OF_FILES and ("Traceback" in errors or not said):
            return f"a file that cannot grow is said so ({fault!r}): {errors}"
        return None

    # ---- files ------------------------------------------------------------------------------------------

    def _put_old(self) -> None:
        if self.case["output"].endswith("/"):
            self.output.mkdir()
            (self.output / "manifest.json").write_text(
                '{"parts": [{"file": "old.tsv", "rows": 1}], "old": true}'
            )
            (self.output / "old.tsv").write_text("old\n")
        else:
            self.output.write_text("old\n")

    def _files(self, code: int) -> str | None:
        """Return which file is neither whole nor as it was."""
        if not self.case["command"]:
            return None
        report = self.folder / "out" / "run.json"
        try:
            if report.exists():
                json.loads(report.read_text())
            said = self._answer()
        except Exception as error:
            return f"half a file: {type(error).__name__}: {error}"
        if said == "half" or (code == 0 and said != "new"):
            return f"exit code {code}, and the answer is {said}"
        rest = [
            path.name
            for path in self.output.parent.iterdir()
            if path.name not in (self.output.name, "run.json")
        ]
        clean = (
            code == 0
            or self.case["fault"] in OF_FILES
            or (self.ranks == 1 and self.case["fault"] in ("int", "raise"))
        )
        if rest and (clean or not all(name.endswith(".incomplete") for name in rest)):
            return f"exit code {code}, and these stay behind: {rest}"
        return None

    def _answer(self) -> str:
        path = self.output
        if not path.exists():
            return "none"
        if path.is_dir():
            listed = json.loads((path / "manifest.json").read_text())
            if listed.get("old"):
                return "old" if sorted(os.listdir(path)) == ["manifest.json", "old.tsv"] else "half"
            rows = [len((path / part["file"]).read_text().splitlines()) for part in listed["parts"]]
            fine = sum(rows) == self.vertices and rows == [part["rows"] for part in listed["parts"]]
            return "new" if fine and listed["rows"] == self.vertices else "half"
        if path.read_bytes() == b"old\n":
            return "old"
        data = path.read_bytes()
        lines = (gzip.decompress(data) if path.suffix == ".gz" else data).decode().splitlines(keepends=True)
        return (
            "new"
            if len(lines) == self.vertices + (path.suffix == ".gz") and lines[-1][-1] == "\n"
            else "half"
        )

    # ---- shared memory ----------------------------------------------------------------------------------

    def _shared(self) -> set[str]:
        return shared_by(self.pids.values())

    def _segments(self, shared: set[str]) -> str | None:
        return unknown_of(shared)

    def _stacks(self) -> str:
        paths = sorted(self.folder.glob("stacks-*"))
        return "".join(f"{path.name}: {path.read_text(errors='replace')[:2000]}\n" for path in paths)

    def _errors(self, most: int | None = 1500) -> str:
        text = (self.folder / "errors").read_text(errors="replace")
        return text if most is None else text[-most:]


def shared_by(pids: Iterable[int]) -> set[str]:
    """Return the names of the shared memory that processes map."""
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
            found |= {line.split("/dev/shm/")[1].split(" ")[0] for line in lines if "/dev/shm/" in line}
    return found


def unknown_of(shared: set[str]) -> str | None:
    """Return which shared memory stays and is not known; remove what stays."""
    left = {name for name in shared if Path("/dev/shm", name).exists()}
    if not left:
        return None
    known = [segment for segment in segments.dead() if segment.name in left]
    segments.remove(known)
    unknown = left - {segment.name for segment in known}
    return f"shared memory that doctor --clean does not know: {unknown}" if unknown else None


def alive(pid: int) -> bool:
    """Whether a process lives; one that only waits to be seen off does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False
