"""What every rank of a test host runs: take a task from pytest, run it, send back what came of it.

Each rank has its own socket to pytest rather than a broadcast from rank 0: a rank that waits for a
task then sleeps in the kernel instead of polling inside MPI, a rank that raises or dies differs
from one that hangs, and results need no collective of their own.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import sys
import traceback
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import Any

from gaslab.parallel import comm

LAST_RESORT = 20.0  # seconds past a task's timeout: pytest is gone and nobody else ends this rank


def serve(folder: Path) -> None:
    """Run tasks until pytest closes the connection."""
    world = comm.world()
    stacks = open(folder / f"stacks-{world.rank}", "w")  # noqa: SIM115 - faulthandler keeps it open
    faulthandler.enable(stacks)
    faulthandler.register(signal.SIGUSR1, file=stacks, all_threads=True)
    with Client(str(folder / "socket")) as pytest:
        pytest.send((world.rank, os.getpid()))
        while True:
            try:
                task = pytest.recv()
            except EOFError:
                return
            answer(pytest, task)


def answer(pytest: Connection, task: tuple[bytes, int, float, bool]) -> None:
    call, threads, timeout, fresh = task
    if fresh:  # messages of a task that raised may still be under way on the old communicator
        comm._world = None
    faulthandler.dump_traceback_later(timeout + LAST_RESORT, exit=True)
    os.environ["OMP_NUM_THREADS"] = str(threads)
    try:
        function, arguments = pickle.loads(call)
        reply = pickle.dumps((True, function(comm.world(), *arguments)))
    except BaseException as error:  # SystemExit and pytest's outcomes too: the test is to see what was raised
        reply = pickle.dumps((False, (portable(error), traceback.format_exc())))
    finally:
        faulthandler.cancel_dump_traceback_later()
        sys.stdout.flush()
        sys.stderr.flush()
    pytest.send_bytes(reply)


def portable(error: BaseException) -> BaseException:
    """Return *error* if it survives pickling, else its text in a RuntimeError."""
    try:
        copy: Any = pickle.loads(pickle.dumps(error))
    except Exception:  # to copy runs the class's own code, which may raise anything
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error if type(copy) is type(error) and str(copy) == str(error) else RuntimeError(repr(error))


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
