"""Where drawn command lines run: in a forked process that runs many, or on ranks that wait for the next.

To start a process costs more than most commands. What a command sets in the process that runs it is put back.
A finding counts once a fresh process repeats it.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from gaslab.parallel import failure, launch
from gaslab.parallel.comm import Comm
from tests.mpi.launcher import run_script
from tests.mpi.ranks import Ranks, RanksError

SECONDS = 100.0  # for one command
MEMORY_BYTES = 4 << 30
COMMANDS = 100  # of one process
UNHEARD = 98  # exit code of a command whose error nothing caught
Job = tuple[list[str], str, str, str]  # words, working directory, folder for what is said, cache


def command(comm: Comm, job: Job) -> int:
    """Run a command line here and return its exit code; what it says is in ``out-RANK``, ``err-RANK``."""
    words, work, said, cache = job
    with put_back():
        os.chdir(work)
        for name, number in (("out", 1), ("err", 2)):
            file = os.open(
                os.path.join(said, f"{name}-{comm.rank}"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666
            )
            os.dup2(file, number)
            os.close(file)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as Python's own
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        os.environ |= {"GASLAB_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}
        logging.getLogger("gaslab").setLevel(logging.NOTSET)
        from gaslab.cli import main

        try:
            code = main(words)
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
            code = UNHEARD
        sys.stderr.flush()
        return code


@contextmanager
def put_back() -> Iterator[None]:
    """Put back what a command changes in its process: directory, streams, environment, log, armed hooks."""
    log = logging.getLogger("gaslab")
    kept = os.getcwd(), dict(os.environ), list(sys.path), list(log.handlers), log.propagate, log.level
    streams = sys.stdout, sys.stderr, warnings.showwarning
    numbers = os.dup(1), os.dup(2)
    limit, interrupt = resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGINT)
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # which maps much more than it uses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, limit[1]))
    failure._armed = True
    os.environ.pop(launch.ALLOW_SINGLETON, None)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limit)
        signal.signal(signal.SIGINT, interrupt)
        sys.stdout, sys.stderr, warnings.showwarning = streams
        for number, copy in enumerate(numbers, 1):
            os.dup2(copy, number)
            os.close(copy)
        os.chdir(kept[0])
        for name in set(os.environ) - set(kept[1]):
            del os.environ[name]
        os.environ |= kept[1]
        sys.path[:], log.handlers[:], log.propagate = kept[2], kept[3], kept[4]
        log.setLevel(kept[5])


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
        job = (words, str(work), str(self.said), str(self.cache))
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
