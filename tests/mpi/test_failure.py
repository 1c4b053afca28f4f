"""A rank that fails ends them all, within a second; ways to leave are in test_exits.py."""

from __future__ import annotations

import time
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import gaslab as gl
from tests.mpi.launcher import run_script

pytestmark = pytest.mark.timed

# The others wait where no signal and no exception reaches them: in a collective that never ends.
SCRIPT = """
import os, sys, time
import gaslab
{start}
if rank == 1:
    open(sys.argv[1], "w").write(str(time.time()))
    {fail}
{wait}
"""
USER_STARTED = """
from mpi4py import MPI
rank = MPI.COMM_WORLD.rank
MPI.COMM_WORLD.Barrier()
"""
GASLAB_STARTED = """
from gaslab.parallel.comm import world
rank = world().rank
world().barrier()
"""
NOT_STARTED = """
from gaslab.parallel.launch import launcher
rank = launcher().rank
"""
WAIT = "from mpi4py import MPI; MPI.COMM_WORLD.Barrier()"
LIMIT = 3.0  # seconds from the failure to the end of mpiexec; 1 is the promise, the rest is a busy machine
RUNNER = ("-m", "gaslab")  # for what is to be there before the first gaslab call


def run(
    tmp_path: Path, start: str, fail: str, ranks: int = 3, runner: tuple[str, ...] = ()
) -> tuple[CompletedProcess[str], float]:
    """Run the script and return what it did and the seconds from the failure to the end."""
    script, mark = tmp_path / "script.py", tmp_path / "failed-at"
    script.write_text(SCRIPT.format(start=start, fail=fail, wait=WAIT))
    done = run_script(ranks, [*runner, str(script), str(mark)], timeout=60)
    return done, time.time() - float(mark.read_text())


STARTS = {"user": USER_STARTED, "gaslab": GASLAB_STARTED, "nobody": NOT_STARTED}


@pytest.mark.parametrize(
    ("start", "runner"), [("gaslab", ()), *((start, RUNNER) for start in STARTS)], ids=lambda x: str(x[-1:])
)
def test_a_rank_that_raises_ends_all(tmp_path: Path, start: str, runner: tuple[str, ...]) -> None:
    done, seconds = run(tmp_path, STARTS[start], "raise ValueError('a bad day')", runner=runner)
    assert done.returncode not in (0, None)
    assert done.stderr.startswith(
        "gaslab: rank 1 of 3 failed; ending all ranks\nTraceback (most recent call last):\n"
        f'  File "{tmp_path}/script.py", line '
    )
    assert "ValueError: a bad day" in done.stderr
    assert seconds < LIMIT


def test_an_interrupt_on_one_rank_ends_all(tmp_path: Path) -> None:
    done, seconds = run(tmp_path, GASLAB_STARTED, "raise KeyboardInterrupt")
    assert done.returncode == 130
    assert seconds < LIMIT


def test_a_thread_that_raises_ends_all(tmp_path: Path) -> None:
    fail = "import threading; threading.Thread(target=lambda: 1 / 0).start(); time.sleep(30)"
    done, seconds = run(tmp_path, GASLAB_STARTED, fail)
    assert done.returncode not in (0, None)
    assert "ZeroDivisionError" in done.stderr
    assert seconds < LIMIT


STRUCK = """
import signal, sys, time
from gaslab.parallel.comm import world
rank = world().rank
world().barrier()
def strike(*_):
    open(sys.argv[1], "w").write(str(time.time()))
    raise {error}
if rank == 1:
    signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
else:
    time.sleep(30)
"""


@pytest.mark.parametrize(("error", "code"), [("RuntimeError('a bad day')", 1), ("KeyboardInterrupt", 130)])
def test_a_rank_that_raises_while_it_waits_to_leave_ends_all(tmp_path: Path, error: str, code: int) -> None:
    script, mark = tmp_path / "script.py", tmp_path / "struck-at"
    script.write_text(STRUCK.format(error=error))
    done = run_script(2, [str(script), str(mark)], timeout=60)
    assert time.time() - float(mark.read_text()) < LIMIT
    assert done.returncode == code
    assert "gaslab: rank 1 of 2 failed; ending all ranks\n" in done.stderr


def test_hooks_of_others_still_run(tmp_path: Path) -> None:
    fail = "sys.stderr.write('')\n    raise ValueError('a bad day')"
    script, mark = tmp_path / "script.py", tmp_path / "failed-at"
    first = "import sys\nsys.excepthook = lambda *_: print('my own hook', flush=True)\n"
    script.write_text(first + SCRIPT.format(start=GASLAB_STARTED, fail=fail, wait=WAIT))
    done = run_script(2, [str(script), str(mark)], timeout=60)
    assert "my own hook" in done.stdout
    assert "Traceback" not in done.stderr
    assert done.returncode not in (0, None)


def test_a_hook_set_later_does_not_keep_the_others_waiting(tmp_path: Path) -> None:
    fail = "sys.excepthook = lambda *_: print('my own hook', flush=True)\n    raise ValueError('a bad day')"
    done, seconds = run(tmp_path, GASLAB_STARTED, fail)
    assert "my own hook" in done.stdout
    assert done.returncode == 1
    assert seconds < LIMIT


def test_of_ranks_that_fail_together_one_shows_its_traceback(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import gaslab\n{GASLAB_STARTED}\nif rank != 1:\n    1 / 0\n{WAIT}\n")
    done = run_script(4, [str(script)], timeout=60)
    assert done.returncode not in (0, None)
    assert done.stderr.startswith("gaslab: ranks 0, 2, 3 of 4 failed; ending all ranks\nTraceback ")
    assert done.stderr.count("ZeroDivisionError") == 1


MISTAKES = {
    "KeyboardInterrupt": ("os.kill(os.getpid(), signal.SIGINT)", 130),
    "gaslab.errors.UsageError": ("gl.pagerank(gl.Graph.from_edges([0], [1]), damping=2.0)", 1),
}


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_is_shown_at_the_lines_of_the_script_alone(tmp_path: Path, kind: str) -> None:
    words, code = MISTAKES[kind]
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal\nimport gaslab as gl\ngraph = gl.Graph.from_edges([0], [1])\n\n"
        f"class Rows(dict):\n    def items(self):\n        {words}\n        return ()\n\n"
        "gl.Graph.from_edges([0], [1], columns=Rows(a=[1]))\n"
    )
    done = run_script(2, [str(script)], timeout=60)
    assert done.returncode == code
    assert f"\n{kind}" in done.stderr
    files = [line.split('"')[1] for line in done.stderr.splitlines() if line.startswith("  File ")]
    assert files == [str(script)] * 2


EVERYBODY = """
import gaslab as gl
gl.read_graph("there-is-no-such-file")
"""


def test_an_error_that_all_ranks_raise_is_printed_by_one(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(EVERYBODY)
    done = run_script(4, [str(script)], timeout=60)
    assert done.returncode not in (0, None)
    assert done.stderr.count("Traceback") == 1
    assert "gaslab: ranks 0, 1, 2, 3 of 4 failed; ending all ranks\n" in done.stderr
    assert "there-is-no-such-file: no such file" in done.stderr


BEFORE_THE_WORLD = """
import sys
from gaslab.parallel import launch
from gaslab.cli import main, outcome
as_ever = outcome.set_up_log

def fails_on_one(arguments):
    if launch.launcher().rank == {rank}:
        raise {error}
    as_ever(arguments)

outcome.set_up_log = fails_on_one
sys.exit(main(["degrees", {graph!r}]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize(
    ("error", "code"), [("KeyboardInterrupt", 130), ("RuntimeError('a bad day')", 1), ("OSError('no')", 1)]
)
def test_a_command_that_fails_on_one_rank_before_ranks_meet_ends_all(
    tmp_path: Path, rank: int, error: str, code: int
) -> None:
    script, graph = tmp_path / "script.py", tmp_path / "edges.tsv"
    graph.write_text("0 1\n")
    script.write_text(BEFORE_THE_WORLD.format(rank=rank, error=error, graph=str(graph)))
    done = run_script(3, [str(script)], timeout=60)
    assert done.returncode == code
    assert f"rank {rank}: " in done.stderr


IN_AN_ENGINE = """
import sys
import gaslab as gl
from gaslab import Async, Stale

graph = gl.Graph.from_edges(range(50), [(k * 7 + 1) % 50 for k in range(50)], strategy="random")
gl.components(graph, threads=1)
calls = 0

def fails(frame, event, argument):
    global calls
    if event == "call" and "/gaslab/engine/" in frame.f_code.co_filename:
        calls += 1
        if calls == {calls}:
            sys.setprofile(None)
            raise MemoryError("a bad day")

if graph.comm.rank == 1:
    sys.setprofile(fails)
gl.pagerank(graph, threads=1, tolerance=0, **{options!r})
sys.exit("the run has ended")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "calls"),
    [
        ({"max_iterations": 2000}, 60),
        ({"max_iterations": 2000, "compile": "never"}, 150),
        ({"engine": gl.Async(max_updates=200000)}, 150),
        ({"engine": gl.Async(consistency="serialisable", max_updates=200000)}, 60),
        ({"max_iterations": 2000, "engine": gl.Stale(2)}, 150),
    ],
    ids=["sync", "interpreted", "async", "serialisable", "stale"],
)
def test_an_engine_that_raises_on_one_rank_ends_all(
    tmp_path: Path, options: dict[str, object], calls: int
) -> None:
    script = tmp_path / "script.py"
    script.write_text(IN_AN_ENGINE.format(options=options, calls=calls))
    done = run_script(3, [str(script)], timeout=60)
    assert done.returncode == 1
    assert "gaslab: rank 1 of 3 failed; ending all ranks\n" in done.stderr
    assert "MemoryError: a bad day" in done.stderr


AT_THE_END = """
import atexit, os, signal
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))  # run after what gaslab registers
from gaslab.parallel.comm import world
world().barrier()
"""

# A launcher passes a Ctrl-C on that the ranks have had from the terminal.
ONCE_MORE = """
import os, signal, sys
from gaslab.cli import main
code = main(["degrees", "there-is-no-such-file"])
os.kill(os.getpid(), signal.SIGINT)
sys.exit(code)
"""


@pytest.mark.parametrize("size", [2, 4])
def test_ctrl_c_once_all_ranks_have_said_why_they_end_changes_nothing(tmp_path: Path, size: int) -> None:
    script = tmp_path / "script.py"
    script.write_text(ONCE_MORE)
    done = run_script(size, [str(script)], timeout=60)
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["gaslab: there-is-no-such-file: no such file"]


def test_ctrl_c_once_all_ranks_have_left_changes_nothing(tmp_path: Path) -> None:
    # Later, inside MPI_Finalize, it would kill some ranks and not others, with exit code 11 as of a crash.
    script = tmp_path / "script.py"
    script.write_text(AT_THE_END)
    done = run_script(3, [str(script)], timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
