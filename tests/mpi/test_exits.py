"""How a rank leaves, before, in and after a collective call: no other rank waits for it for ever."""

from __future__ import annotations

import re
import time
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.conftest import LONG
from tests.mpi.launcher import run_script
from tests.mpi.test_failure import LIMIT, RUNNER

pytestmark = pytest.mark.timed

SCRIPT = """
import os, signal, sys, time, warnings
import gaslab as gl
from gaslab.parallel.launch import launcher

rank = launcher().rank
warnings.simplefilter("ignore")  # of the limit on supersteps


def leave():
    open(sys.argv[1], "w").write(str(time.time()))
    {way}


def in_a_call(frame, event, argument):
    global frames
    if event == "call" and "/gaslab/engine/" in frame.f_code.co_filename:
        frames += 1
        if frames == 400:  # the others wait inside MPI: they have met for this call
            sys.setprofile(None)
            leave()


if rank == 1 and {moment!r} == "before":
    leave()
graph = gl.Graph.from_edges(range(50), [(k * 7 + 1) % 50 for k in range(50)], strategy="random")
frames = 0
if rank == 1 and {moment!r} == "in":
    sys.setprofile(in_a_call)
gl.pagerank(graph, threads=1, tolerance=0, max_iterations=200)
if rank == 1:
    leave()
gl.pagerank(graph, threads=1)
"""
WAYS = {
    "raise": ("raise ValueError('a bad day')", 1),
    "sys.exit": ("sys.exit(3)", 3),
    "exit": ("exit(3)", 3),
    "SystemExit": ("raise SystemExit(3)", 3),
    "os._exit": ("os._exit(3)", None),  # what a launcher makes of these two is its own affair, and not 0
    "kill": ("os.kill(os.getpid(), signal.SIGKILL)", None),
}


def cases(*moments: str) -> list[tuple[str, str]]:
    """Return every way at every moment; but for the long profile, every way at one of them."""
    every = [(moment, way) for way in WAYS for moment in moments]
    return every if LONG else [(moments[k % len(moments)], way) for k, way in enumerate(WAYS)]


def leave(
    tmp_path: Path, moment: str, way: str, runner: tuple[str, ...], ranks: int = 3
) -> tuple[CompletedProcess[str], float]:
    """Return what a job did in which rank 1 left, and the seconds from then to its end."""
    script, mark = tmp_path / "script.py", tmp_path / "left-at"
    script.write_text(SCRIPT.format(moment=moment, way=way))
    done = run_script(ranks, [*runner, str(script), str(mark)], timeout=60)
    return done, time.time() - float(mark.read_text())


@pytest.mark.parametrize(("moment", "way"), cases("before", "in", "after"))
def test_under_the_runner_a_rank_that_leaves_ends_all(tmp_path: Path, moment: str, way: str) -> None:
    words, code = WAYS[way]
    done, seconds = leave(tmp_path, moment, words, RUNNER, ranks=2 + len(way) % 2)
    assert done.returncode == code if code else done.returncode != 0
    assert ("Traceback" in done.stderr) == (way == "raise")
    assert seconds < LIMIT


@pytest.mark.parametrize(("moment", "way"), cases("in", "after"))
def test_in_a_plain_script_a_rank_that_leaves_ends_all(tmp_path: Path, moment: str, way: str) -> None:
    done, seconds = leave(tmp_path, moment, WAYS[way][0], (), ranks=2 + len(way) % 2)
    assert done.returncode != 0
    assert seconds < LIMIT
    if moment == "after" and "exit" in way and way != "os._exit":
        assert "rank 1 has ended, but rank 0 called pagerank() at " in done.stderr


def test_a_rank_that_catches_its_error_in_a_call_and_leaves_ends_all(tmp_path: Path) -> None:
    script, mark = tmp_path / "script.py", tmp_path / "left-at"
    text = SCRIPT.format(moment="in", way="raise MemoryError")
    call = "gl.pagerank(graph, threads=1, tolerance=0, max_iterations=200)"
    assert call in text
    script.write_text(text.replace(call, f"try:\n    {call}\nexcept MemoryError:\n    sys.exit(0)"))
    done = run_script(3, [str(script), str(mark)], timeout=60)
    assert time.time() - float(mark.read_text()) < LIMIT
    assert done.returncode == 1
    assert "gaslab: rank 1 left the program PageRank by MemoryError, and other ranks are still in it\n" in (
        done.stderr
    )


APART = """
import sys, time
import gaslab as gl
graph = gl.Graph.from_edges([0, 1], [1, 2])
for _ in range(300):
    try:
        gl.pagerank(graph, damping=2.0)
    except gl.UsageError as error:
        pass
if graph.comm.rank == 1:
    sys.exit({code})
time.sleep(2.0)
print("done%d " % graph.comm.rank, end="", flush=True)
"""


@pytest.mark.parametrize("code", [0, 3])
def test_an_error_that_all_ranks_catch_lets_one_leave_early(tmp_path: Path, code: int) -> None:
    script = tmp_path / "script.py"
    script.write_text(APART.format(code=code))
    done = run_script(3, [str(script)], timeout=60)
    assert sorted(re.findall(r"done(\d)", done.stdout)) == ["0", "2"]
    assert (done.returncode != 0) == (code != 0)


def test_sys_exit_with_a_message_prints_it(tmp_path: Path) -> None:
    done, seconds = leave(tmp_path, "before", "sys.exit('no more of this')", RUNNER)
    assert done.returncode == 1
    assert done.stderr.startswith("no more of this\n")
    assert seconds < LIMIT


FINE = {
    "an exit code of 0": "sys.exit(0)",
    "an exit that is caught": "exec('try: sys.exit(3)\\nexcept SystemExit: pass')",
    "an exception that is caught": "exec('try: 1 / 0\\nexcept ZeroDivisionError: pass')",
    "a thread that exits": "import threading; threading.Thread(target=lambda: sys.exit(3)).start()",
}


@pytest.mark.parametrize("what", FINE)
@pytest.mark.parametrize("runner", [(), RUNNER], ids=["plain", "runner"])
def test_what_is_no_failure_ends_nobody(tmp_path: Path, what: str, runner: tuple[str, ...]) -> None:
    script = tmp_path / "script.py"
    begin = "import sys\nfrom gaslab.parallel.comm import world\n"
    script.write_text(f"{begin}if world().rank == 1:\n    {FINE[what]}\n")
    done = run_script(2, [*runner, str(script)], timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_rank_that_waits_for_one_that_never_begins_writes_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys\nfrom gaslab.parallel import comm, launch, reminder\nreminder.SECONDS = 1.0\n"
        "if launch.launcher().rank == 0:\n    import time; time.sleep(2.5)\ncomm.world()\n"
    )
    done = run_script(2, [str(script)], timeout=60)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith(  # rank 0 may follow, where MPI itself takes a second to start
        "gaslab: rank 1 of 2 has waited 1 s for the other ranks to make their first gaslab call; if one has "
        "ended, start the job with `python -m gaslab SCRIPT.py` to see why\n"
    )
