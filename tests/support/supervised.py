"""Runs jobs under ``gaslab supervise``, and sees that nothing is left of them."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gaslab.system import segments
from tests.mpi.launcher import environment, mpiexec

WAIT_SECONDS = 30.0
MARK = "GASLAB_TEST_MARK"


class Done:
    """How a supervised job ended; `said` are the supervisor's messages, without pids and hosts."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err
        lines = [line.partition("gaslab supervise: ")[2] for line in err.splitlines()]
        host = re.escape(socket.gethostname())
        self.said = [re.sub(rf"\(pid \d+ on {host}\)", "(PID on HOST)", line) for line in lines if line]


class Supervised:
    """A place for supervised jobs; at its end none of their processes and segments is there."""

    def __init__(self, work: Path, launcher: Sequence[str] | None = mpiexec()) -> None:
        self.work, self.folder = work, work / "checkpoints"
        self._launcher = launcher
        self._mark = secrets.token_hex(8)

    def __enter__(self) -> Supervised:
        self._segments = {segment.name for segment in segments.dead()}
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.await_no_processes()
            left = [name for name in os.listdir(self.work) if name.startswith(".")]
            assert left == []
            if self.folder.exists():
                assert [name for name in os.listdir(self.folder) if name.startswith(".")] == []

    def run(self, script: str, *words: object, options: Sequence[str] = (), rank: int = 1) -> Done:
        """Run a script's text to its end; what it does in rank 1 can be in *rank*."""
        with self.start(script, *words, options=options, rank=rank) as process:
            return self.end(process)

    def words(self, *job: str, options: Sequence[str] = ()) -> Done:
        """Run a job of any words to its end."""
        with self.popen(job, options) as process:
            return self.end(process)

    def start(
        self, script: str, *words: object, options: Sequence[str] = (), rank: int = 1
    ) -> contextlib.AbstractContextManager[subprocess.Popen[str]]:
        """Start a script's text, with the folder of checkpoints as its first argument."""
        path = self.work / "job.py"
        path.write_text(script.replace("comm.rank == 1", f"comm.rank == {rank}"))
        return self.popen([str(path), str(self.folder), *map(str, words)], options)

    @contextlib.contextmanager
    def popen(
        self, job: Sequence[str], options: Sequence[str] = (), stderr: Any = subprocess.PIPE
    ) -> Iterator[subprocess.Popen[str]]:
        """Start a job of any words."""
        launcher = [] if self._launcher is None else ["--launcher", shlex.join(self._launcher)]
        command = [sys.executable, "-m", "gaslab", "supervise", "-n", "2", "--checkpoint", str(self.folder)]
        process = subprocess.Popen(
            [*command, *launcher, *options, "--", *job],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            errors="replace",
            start_new_session=True,
            cwd=self.work,
            env=environment(**{MARK: self._mark}),
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def end(self, process: subprocess.Popen[str]) -> Done:
        """Wait for the end of a job."""
        out, err = process.communicate(timeout=WAIT_SECONDS)
        return Done(process.returncode, out, err)

    def await_files(self, *names: str) -> None:
        """Wait until the job has made files in the folder of checkpoints."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not all((self.folder / name).exists() for name in names):
            assert time.monotonic() < deadline, names
            time.sleep(0.01)

    def await_no_processes(self) -> None:
        """Wait until no process of the jobs is there."""
        deadline = time.monotonic() + 5
        while left := self._processes():
            assert time.monotonic() < deadline, left
            time.sleep(0.05)

    def _processes(self) -> list[str]:
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if f"{MARK}={self._mark}".encode() in path.read_bytes():
                    found.append(path.with_name("cmdline").read_text().replace("\0", " "))
        return found
