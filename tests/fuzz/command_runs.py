"""Where drawn command lines run: in a forked process that runs many, or on ranks that wait for the next.

To start a process costs more than most commands. A finding counts once a fresh process repeats it.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from gaslab.parallel.comm import Comm
from tests.mpi.launcher import run_script
from tests.mpi.ranks import Ranks, RanksError
from tests.support.command_here import UNHEARD, Job, command

SECONDS = 100.0  # for one command
COMMANDS = 100  # of one process


def _serve(jobs: Connection, parent: Connection) -> None:
    """Run what comes until nothing more does."""
    parent.close()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    while True:
        try:
            job = jobs.recv()
        except EOFError:
            return
        jobs.send(command(Comm(), job))


class Server:
    """A process that runs command lines, one after another; started anew where one has ended it."""

    def __init__(self) -> None:
        self._process: BaseProcess | None = None
        self._jobs: Any = None
        self._left = 0

    def run(self, job: Job) -> int | None:
        """Return the exit code of a command, minus a signal, None where it does not end."""
        if self._process is None or not self._left:
            self.close()
            self._start()
        assert self._process is not None
        self._left -= 1
        self._jobs.send(job)
        if not self._jobs.poll(SECONDS):
            self._process.kill()
            self.close()
            return None
        try:
            code: int = self._jobs.recv()
        except (EOFError, ConnectionError):  # the command has ended its process, as a timeout does
            self._process.join()
            code = self._process.exitcode or 0
            self.close()
        return code

    def _start(self) -> None:
        forks = multiprocessing.get_context("fork")
        self._jobs, theirs = forks.Pipe()
        self._process = forks.Process(target=_serve, args=(theirs, self._jobs), daemon=True)
        self._process.start()
        theirs.close()
        self._left = COMMANDS

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            self._jobs.close()
            process.join(5)
            process.kill()
            process.join()


class Runs:
    """Runs the command lines of cases, where each asks for."""

    def __init__(self, folder: Path) -> None:
        self.said, self.cache = folder / "said", folder / "cache"
        for made in (self.said, self.cache):
            made.mkdir()
        self.server, self.ranks = Server(), Ranks(2)

    @staticmethod
    def shared(case: dict[str, Any]) -> bool:
        """Whether the process that runs *case* runs others as well."""
        return not case.get("start", True)

    def run(self, case: dict[str, Any], work: Path) -> tuple[int | None, str, str]:
        """Return the exit code of a command, what rank 0 printed, and what all ranks said."""
        words, ranks, shared = case["words"], case["ranks"], self.shared(case)
        job = (words, str(work), str(self.said), {"GASLAB_CACHE_DIR": str(self.cache)})
        if any("\udcff" in word for word in words):
            ranks = 1  # mpiexec hands on no such bytes
        if ranks > 1:
            return (self._on_ranks(job) if shared else None) or self._by_mpiexec(words, work)
        if not shared:
            self.server.close()
        code = self.server.run(job)
        if not shared:
            self.server.close()
        return code, self._text("out-0"), self._text("err-0")

    def _on_ranks(self, job: Job) -> tuple[int, str, str] | None:
        """Run on ranks that wait; None where the command has ended them, as a timeout does."""
        try:
            codes = self.ranks.run(command, job, timeout=SECONDS)
        except RanksError:
            self.ranks.close()
            return None
        errors = "".join(self._text(f"err-{rank}") for rank in range(len(codes)))
        if len({*codes}) > 1:
            return UNHEARD, "", f"exit codes {codes}: {errors}"
        if self._text("out-1"):
            return UNHEARD, "", f"rank 1 printed {self._text('out-1')}"
        return codes[0], self._text("out-0"), errors

    def _by_mpiexec(self, words: list[str], work: Path) -> tuple[int | None, str, str]:
        try:
            done = run_script(
                2, ["-m", "gaslab", *words], cwd=work, timeout=SECONDS, GASLAB_CACHE_DIR=str(self.cache)
            )
        except subprocess.TimeoutExpired as late:
            return None, "", str(late.stderr)
        return done.returncode, done.stdout, done.stderr

    def _text(self, name: str) -> str:
        path = self.said / name
        return path.read_text(errors="replace") if path.exists() else ""

    def close(self) -> None:
        """End the processes."""
        self.server.close()
        self.ranks.close()
