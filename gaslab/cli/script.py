"""``python -m gaslab SCRIPT.py ...``: a script of the user's, in which a rank that fails ends all ranks.

A plain ``python SCRIPT.py`` has that from its first collective call on. Here MPI runs before the script
begins, and the exit code of every rank is known. The habit is mpi4py's (``python -m mpi4py``).
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence

from gaslab.cli.codes import DONE, USAGE
from gaslab.errors import LaunchError
from gaslab.parallel import failure, heartbeat, launch, polling
from gaslab.parallel.comm import world

OPTIONS = {"-m": "a module", "-c": "code"}  # in place of a file


def execute(words: Sequence[str]) -> int:
    """Run ``SCRIPT.py``, ``-m MODULE`` or ``-c CODE`` with the arguments after it; return its exit code."""
    if words[0] in OPTIONS and len(words) == 1:
        return _usage(f"{words[0]} needs {OPTIONS[words[0]]}")
    if words[0] not in OPTIONS and not os.path.isfile(words[0]):
        return _usage(f"there is no script {words[0]}")
    polling.set_for_job()  # for the processes that the script starts, too
    try:
        world()
    except LaunchError as error:
        return _usage(str(error))
    try:
        _run(words)
    except SystemExit as stop:
        if stop.code is not None and not isinstance(stop.code, int):
            print(stop.code, file=sys.stderr)
        code = failure.exit_code(stop)
    except BaseException as error:
        heartbeat.ended(failure.exit_code(error), error)
        trace = error.__traceback__
        while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        code = failure.exit_code(error)
    else:
        code = DONE
    if code != DONE:
        failure.end_all(code)
    return code


def _usage(text: str) -> int:
    """Print *text* on rank 0 and return the exit code; every rank was given the same words."""
    failure.disarm()
    if launch.launcher().rank == 0:
        print(f"gaslab: {text}", file=sys.stderr)
    return USAGE


def _is_ours(file: str) -> bool:
    """Return whether a frame of *file* is between the command line and the script."""
    return file in (__file__, runpy.__file__) or file.startswith("<frozen runpy")


def _run(words: Sequence[str]) -> None:
    kind, rest = words[0], list(words[1:])
    folder = {"-m": os.getcwd(), "-c": ""}.get(kind, os.path.dirname(os.path.abspath(kind)))
    if not getattr(sys.flags, "safe_path", False):  # of Python 3.11
        sys.path[0] = folder
    if kind == "-m":
        sys.argv[:] = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv[:] = [kind, *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), vars(sys.modules["__main__"]))
    else:
        sys.argv[:] = [kind, *rest]
        runpy.run_path(kind, run_name="__main__")
