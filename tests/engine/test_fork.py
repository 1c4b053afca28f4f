"""A child process computes as its parent does, however it is started; it waits for no thread that is gone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LONG
from tests.mpi.launcher import ROOT, environment

LIMIT = 300.0  # seconds for what takes a few: the machine may be busy


def run(script: str, folder: Path, *words: str, **variables: str) -> str:
    """Run a script with two threads for OpenMP and one for BLAS; return what it printed."""
    path = folder / "script.py"
    path.write_text(script)
    variables = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", **variables}
    done = subprocess.run(
        [sys.executable, str(path), *words], capture_output=True, text=True, timeout=LIMIT, cwd=folder,
        env=environment(**variables), stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"] if LONG else ["fork"])
def test_every_public_call_ends_in_a_child(method: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.child_calls", method, str(tmp_path)], cwd=ROOT, timeout=LIMIT,
        capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
        env=environment(OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1"),
    )  # fmt: skip
    assert done.returncode == 0, f"after {done.stdout.splitlines()[-1:]}: {done.stderr}"
    assert done.stdout.splitlines()[-1] == "done"


ANSWERS = """
import concurrent.futures, multiprocessing, os, signal, sys
import gaslab as gl

def threads():
    return len(os.listdir("/proc/self/task"))

def made():
    weights = [1.0, 2.0, 3.0, 4.0, 5.0]
    return gl.Graph.from_edges([0, 1, 2, 3, 5], [1, 2, 0, 1, 4], columns={"weight": weights})

def answers(given=None):
    graph = given or made()
    found = []
    for one in (graph, gl.read_graph("edges.txt")):
        for result in (gl.components(one), gl.kcore(one), gl.sssp(one, 0), gl.pagerank(one, threads=2)):
            found.append(result.vertices.to_dict())
    return repr(found), result.metrics["threads"], threads()

def in_fork(given=None):
    read, write = os.pipe()
    if not (pid := os.fork()):
        signal.alarm(60)  # a child that hangs
        os.write(write, repr(answers(given)).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        text = file.read()
    assert os.waitpid(pid, 0)[1] == 0, "the child hangs"
    return eval(text)
"""
FORKS = {
    "os.fork": "child = in_fork()",
    "os.fork of a fork": """
if not (pid := os.fork()):
    gl.Graph.from_edges([0], [1])
    assert in_fork()[1:] == (2, 2)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
child = in_fork()""",
    "pool": """
with multiprocessing.get_context("fork").Pool(2) as pool:
    child, other = (pool.apply_async(answers).get(60) for _ in range(2))
assert child == other""",
    "executor": """
with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
    child = pool.submit(answers).result(60)""",
    "a graph of the parent's": "child = in_fork(graph)",
}


@pytest.mark.slow
@pytest.mark.parametrize("way", FORKS)
def test_a_child_of_a_fork_gives_its_parents_answers_on_as_many_threads(way: str, tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("0 1 1.5\n1 2 2.5\n2 0 0.5\n4 5 1\n")
    end = f"""
graph = made()
before = answers()
{FORKS[way]}
assert before == child == answers(), (before, child)
assert child[1:] == (2, 2)
"""
    run(ANSWERS + end, tmp_path)


def test_a_fork_before_the_first_call_leaves_both_their_threads(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n")
    run(ANSWERS + "assert in_fork() == answers()\nassert answers()[1:] == (2, 2)", tmp_path)


def test_without_a_way_to_end_threads_a_child_has_one(tmp_path: Path) -> None:
    """As with the OpenMP of GCC 8, which has no omp_pause_resource_all."""
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n")
    end = """
from unittest.mock import patch
from gaslab._kernels import forks
with patch.object(forks, "handle", lambda handle=forks.handle: handle(ending=False)):
    before = answers()
child = in_fork()
assert child[0] == before[0]
assert (before[2], child[2]) == (2, 1)
assert answers() == before
"""
    run(ANSWERS + end, tmp_path)


def test_forks_are_handled_from_the_first_call_on(tmp_path: Path) -> None:
    script = """
import sys
import gaslab as gl
from gaslab import Graph, pagerank
assert "gaslab._kernels.forks" not in sys.modules
graph = Graph.from_edges([0], [1])
assert "gaslab._kernels.forks" in sys.modules
"""
    run(script, tmp_path)
