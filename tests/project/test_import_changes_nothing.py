"""``import gaslab`` changes nothing in its process, alone and under mpiexec; nor does a call on one rank."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gaslab.parallel import launch
from tests.mpi.launcher import environment, run_script

STATE = """
import atexit, builtins, logging, os, signal, sys, threading, warnings

def state():
    return {
        "hooks": (sys.excepthook, threading.excepthook, sys.unraisablehook, sys.displayhook),
        "functions": (sys.exit, builtins.exit, builtins.print, os.fork),
        "the descriptor of SystemExit.code": vars(SystemExit)["code"],
        "functions at exit": atexit._ncallbacks(),
        "handlers of signals": [signal.getsignal(n) for n in signal.valid_signals()],
        "a timer": signal.getitimer(signal.ITIMER_REAL),
        "environment": dict(os.environ),
        "threads": (threading.active_count(), len(os.listdir("/proc/self/task"))),
        "logging": (logging.root.handlers[:], logging.root.level, logging.getLogger("gaslab").handlers[:]),
        "warnings": (warnings.filters[:], warnings.showwarning),
        "the path": sys.path[:],
    }

def check(before):
    after = state()
    changed = [name for name in before if before[name] != after[name]]
    assert not changed, changed
"""
IMPORT = f"""{STATE}
before = state()
import gaslab
check(before)
assert not {{"numpy", "mpi4py"}} & {{*sys.modules}}
print("nothing ", end="", flush=True)
"""
CALL = f"""{STATE}
import numpy, os
os.environ["OMP_NUM_THREADS"] = "1"
before = state()
import gaslab as gl
gl.pagerank(gl.Graph.from_edges([0, 1], [1, 0]), threads=1)
check(before)
print("nothing ", end="", flush=True)
"""


@pytest.mark.parametrize("code", [IMPORT, CALL], ids=["import", "call"])
def test_nothing_is_changed_alone(code: str) -> None:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("nothing ", "")


@pytest.mark.parametrize("ranks", [2, 8])  # with eight, MPI and OpenMP are to yield the cores
def test_import_changes_nothing_under_mpiexec(ranks: int) -> None:
    done = run_script(ranks, ["-c", IMPORT], OMP_NUM_THREADS="4")
    assert (done.stdout, done.stderr) == ("nothing " * ranks, "")


FIRST = """
import os
for name in [name for name in os.environ if name.startswith(("MPIR_", "OMPI_MCA"))]:
    del os.environ[name]  # the tests set them for their own ranks
from mpi4py import MPI
import gaslab as gl
gl.Graph.from_edges([0, 1], [1, 0])
gl.Graph.from_edges([0, 1], [1, 0])
"""


def test_where_mpi_runs_before_it_could_be_made_to_yield_one_warning_says_so() -> None:
    done = run_script(launch.usable_cores() + 1, ["-c", FIRST])
    assert done.returncode == 0
    assert done.stderr.count("PerformanceWarning") == 1
    assert "start the script with `python -m gaslab SCRIPT.py`" in done.stderr
    done = run_script(launch.usable_cores() + 1, ["-m", "gaslab", "-c", FIRST])
    assert (done.returncode, done.stderr) == (0, "")


LOADED = f"""{STATE}
import gaslab as gl
before = state()["environment"]
from gaslab._kernels import frontier
gl.Graph.from_edges([0, 1], [1, 0])
assert state()["environment"] == before, "variables are set for the moment at which libraries read them"
"""


def test_variables_for_mpi_and_openmp_are_removed_again() -> None:
    done = run_script(8, ["-c", LOADED], OMP_NUM_THREADS="4")
    assert (done.returncode, done.stderr) == (0, "")
