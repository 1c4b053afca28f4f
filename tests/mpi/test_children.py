"""A child of a rank is a world of its own: it neither starts MPI nor talks in its parent's name."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.conftest import LONG
from tests.mpi.launcher import run_script

pytestmark = pytest.mark.slow

LIMIT = 300.0  # seconds for what takes three: the machine may be busy
CHILD = """
import multiprocessing, os, signal, sys
import gaslab as gl

def answer(graph=None):
    graph = graph or gl.Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 1])
    return graph.comm.size, gl.degrees(graph).vertices.to_dict()

def refused():
    try:
        answer(graph)
    except gl.UsageError as error:
        return str(error)

def say(text):
    sys.stdout.write(text + "\\n")  # at once: ranks share the pipe
    sys.stdout.flush()
"""


def run(tmp_path: Path, text: str, *words: str) -> list[str]:
    """Run a script on two ranks and return the lines that they printed, in alphabetical order."""
    script = tmp_path / "script.py"
    script.write_text(CHILD + text)
    done = run_script(2, [str(script), *words], timeout=LIMIT)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(done.stdout.splitlines())


@pytest.mark.parametrize(
    ("method", "first"),
    itertools.product(("fork", "forkserver", "spawn"), ("first", "later"))
    if LONG
    else [("fork", "first"), ("fork", "later"), ("forkserver", "later"), ("spawn", "first")],
)
def test_a_child_computes_alone_before_and_after_its_parents_first_call(
    method: str, first: str, tmp_path: Path
) -> None:
    """It would start MPI as its parent, from the variables of the launcher, and wait for ever."""
    script = """
if __name__ == "__main__":
    method, first = sys.argv[1:]
    if first == "first":
        assert answer()[0] == 2
    with multiprocessing.get_context(method).Pool(1) as pool:
        size, child = pool.apply_async(answer).get(120)
    assert size == 1
    assert answer() == (2, child)
    say("done")
"""
    assert run(tmp_path, script, method, first) == ["done"] * 2


def test_a_child_that_imports_a_script_without_a_guard_computes_alone(tmp_path: Path) -> None:
    """The method spawn imports the script before it says who the parent is."""
    script = """
graph = gl.Graph.from_edges([0, 1], [1, 2])
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(answer).get(120)[0] == 1
    say(f"{graph.comm.size} ranks")
"""
    assert run(tmp_path, script) == ["2 ranks"] * 2


@pytest.mark.parametrize("first", ["import gaslab", "from mpi4py import MPI"])
def test_a_graph_of_the_ranks_is_refused_in_a_child(first: str, tmp_path: Path) -> None:
    script = """
exec(sys.argv[1])
graph = gl.Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 1])
answer(graph)
if not (pid := os.fork()):
    signal.alarm(60)  # a child that hangs
    said = refused()
    assert answer()[0] == 1
    say(said)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
with multiprocessing.get_context("fork").Pool(1) as pool:
    said = pool.apply_async(refused).get(60)
say(said)
assert answer(graph)[0] == 2
"""
    assert run(tmp_path, script, first) == [
        f"degrees(): this process is a child of rank {rank} and cannot call in its place; make the call in "
        "the rank, or pass a graph that the child has made itself"
        for rank in (0, 0, 1, 1)
    ]


def test_a_child_of_a_fork_that_fails_ends_no_rank(tmp_path: Path) -> None:
    script = """
answer()
if not (pid := os.fork()):
    try:
        sys.excepthook(ValueError, ValueError("a bad day"), None)
    finally:
        os._exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
say(f"{answer()[0]} ranks")
"""
    assert run(tmp_path, script) == ["2 ranks"] * 2
