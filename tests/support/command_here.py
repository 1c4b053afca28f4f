"""A command line in this process: what it says goes to files, and what it sets is put back."""

from __future__ import annotations

import logging
import os
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from gaslab.parallel import failure, launch
from gaslab.parallel.comm import Comm

MEMORY_BYTES = 4 << 30
UNHEARD = 98  # exit code of a command whose error nothing caught
Job = tuple[list[str], str, str, dict[str, str]]  # words, directory, folder for what is said, environment


def command(comm: Comm, job: Job) -> int:
    """Run a command line here and return its exit code; what it says is in ``out-RANK``, ``err-RANK``."""
    words, work, said, variables = job
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
        os.environ |= {**variables, "OMP_NUM_THREADS": "1"}
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
    armed, interrupt = failure._armed, signal.getsignal(signal.SIGINT)
    limit = resource.getrlimit(resource.RLIMIT_AS)
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # which maps much more than it uses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, limit[1]))
    failure._armed = True
    os.environ.pop(launch.ALLOW_SINGLETON, None)
    try:
        yield
    finally:
        failure._armed = armed
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
