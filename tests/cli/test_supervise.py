"""``gaslab supervise``: jobs whose ranks die, hang, abort or fail, under mpiexec."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mpi.launcher import mpiexec
from tests.support.supervised import Supervised

pytestmark = pytest.mark.slow

# A job with checkpoints of its own: FOLDER, number of supersteps, and what rank 1 does once in the sixth.
JOB = """
import os, signal, sys, time
from pathlib import Path
import gaslab as gl
from gaslab.parallel import heartbeat
from gaslab.parallel.comm import world

folder, steps, what = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
done = sorted(folder.glob("superstep-*"))
first = int(done[-1].name.partition("-")[2]) + 1 if done else 0
comm = world()
comm.allreduce(1)
for step in range(first, steps):
    heartbeat.note(f"superstep {step}")
    if step == 5 and comm.rank == 1 and not (folder / "once").exists():
        (folder / "once").touch()
        exec(what)
    comm.allreduce(1)
    if comm.rank == 0:
        (folder / f"superstep-{step:08}").mkdir()
    time.sleep(0.02)
if comm.rank == 0:
    print("answer", comm.size, first)
"""


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Supervised]:
    with Supervised(tmp_path) as made:
        yield made


def test_a_job_that_ends_well(supervised: Supervised) -> None:
    done = supervised.run(JOB, 3, "pass")
    assert (done.code, done.out, done.err) == (0, "answer 2 0\n", "")
    assert sorted(os.listdir(supervised.folder)) == [f"superstep-{step:08}" for step in range(3)]


KILL = "os.kill(os.getpid(), signal.SIGKILL)"
RESTARTED = {
    KILL: "rank 1 (PID on HOST) was ended by SIGKILL in superstep 5",
    "os.kill(os.getpid(), signal.SIGSEGV)": "rank 1 (PID on HOST) was ended by SIGSEGV in superstep 5",
    "os._exit(7)": "rank 1 (PID on HOST) ended with exit code 7 in superstep 5",
    "raise MemoryError": "rank 1 (PID on HOST) ended with exit code 1 by MemoryError in superstep 5",
}


@pytest.mark.parametrize("what", RESTARTED)
def test_what_may_pass_is_restarted_from_the_last_checkpoint(supervised: Supervised, what: str) -> None:
    done = supervised.run(JOB, 8, what)
    assert (done.code, done.out) == (0, "answer 2 5\n")
    newest = supervised.folder / "superstep-00000004"
    assert done.said == [f"{RESTARTED[what]}; restarting 2 ranks from {newest} (restart 1 of 5)"]


def test_an_mpi_abort_is_restarted(supervised: Supervised) -> None:
    done = supervised.run(JOB, 8, "from mpi4py import MPI; MPI.COMM_WORLD.Abort(13); time.sleep(60)")
    assert (done.code, done.out) == (0, "answer 2 5\n")
    assert len(done.said) == 1
    assert "exit code 13" in done.said[0]
    assert "superstep-00000004 (restart 1 of 5)" in done.said[0]


@pytest.mark.parametrize("whom", ["pid", "guard"])
def test_a_stopped_rank_is_lost(supervised: Supervised, whom: str) -> None:
    stop = f"time.sleep(1.2); os.kill(os.get{'p' * (whom == 'guard')}pid(), signal.SIGSTOP); time.sleep(60)"
    done = supervised.run(JOB, 8, stop, options=["--heartbeat", "4"])
    assert (done.code, done.out) == (0, "answer 2 5\n")
    assert re.fullmatch(
        r"rank 1 \(PID on HOST\) has given no sign of life for \d s, last in superstep 5; restarting .*",
        done.said[0],
    )


def test_a_rank_that_hangs_is_lost_and_one_that_loads_is_not(supervised: Supervised) -> None:
    load = "heartbeat.note('loading', moves=False); time.sleep(4)"
    hang = "heartbeat.note('superstep 5'); time.sleep(60)"
    done = supervised.run(JOB, 8, f"{load}; {hang}", options=["--heartbeat", "3", "-n", "1"], rank=0)
    assert (done.code, done.out) == (0, "answer 1 5\n")
    assert done.said == [
        "rank 0 (PID on HOST) has been in superstep 5 for 3 s (--heartbeat); "
        f"restarting 1 rank from {supervised.folder / 'superstep-00000004'} (restart 1 of 5)"
    ]


FINAL = {
    "raise gl.InputError('bad')": (1, "ended with exit code 1 by InputError in superstep 5"),
    "sys.exit(3)": (3, "ended with exit code 3 in superstep 5"),
}


@pytest.mark.parametrize("what", FINAL)
def test_what_would_come_again_is_not_restarted(supervised: Supervised, what: str) -> None:
    done = supervised.run(JOB, 8, what)
    code, text = FINAL[what]
    assert (done.code, done.out) == (code, "")
    assert done.said == [f"rank 1 (PID on HOST) {text}; this is not restarted"]


def test_a_usage_error_is_not_restarted(supervised: Supervised, tmp_path: Path) -> None:
    done = supervised.words(str(tmp_path / "none.py"))
    assert (done.code, done.out) == (2, "")
    assert f"gaslab: there is no script {tmp_path}/none.py\n" in done.err
    assert not supervised.folder.exists()


ALWAYS = """
import os, signal
from gaslab.parallel import heartbeat
from gaslab.parallel.comm import world
comm = world()
heartbeat.note(f"superstep {comm.size}")
comm.allreduce(1)
if comm.rank == comm.size - 1:
    os.kill(os.getpid(), [signal.SIGABRT, signal.SIGKILL, signal.SIGSEGV][comm.size - 1])
comm.allreduce(1)
"""


def test_giving_up_tells_the_first_cause_and_shrinking_stops_at_one_rank(supervised: Supervised) -> None:
    done = supervised.run(ALWAYS, options=["-n", "2", "--shrink", "--max-restarts", "2"])
    assert (done.code, done.out) == (128 + signal.SIGABRT, "")
    first = "rank 1 (PID on HOST) was ended by SIGKILL in superstep 2"
    later = "rank 0 (PID on HOST) was ended by SIGABRT in superstep 1"
    assert done.said == [
        f"{first}; restarting 1 rank from the beginning (restart 1 of 2)",
        f"{later}; restarting 1 rank from the beginning in 1 s (restart 2 of 2)",
        f"{later}; giving up after 2 restarts; the first cause: {first}",
    ]


def test_a_launcher_that_starts_nothing_is_not_restarted(supervised: Supervised, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text("")
    done = supervised.words(str(tmp_path / "job.py"), options=["--launcher", f"{sys.executable} -c exit(9)"])
    assert done.code == 9
    assert done.said == ["the launcher ended with exit code 9 before a rank had begun; this is not restarted"]


COUNTS = """
import os, signal, sys, time
from pathlib import Path
from gaslab.parallel.comm import world
folder, comm, end = Path(sys.argv[1]), world(), []

def note(number, _):
    with open(folder / f"got-{comm.rank}", "a") as file:
        file.write(f"{number} ")
    if number != signal.SIGUSR1:
        end.append(number)

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
    signal.signal(number, note)
comm.allreduce(1)
(folder / f"ready-{comm.rank}").touch()
until = time.monotonic() + 20
while not end and time.monotonic() < until:
    time.sleep(0.01)
time.sleep(0.3)
comm.allreduce(1)
sys.exit(128 + end[0])
"""


@pytest.mark.parametrize(("number", "whole_group"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_a_signal_reaches_each_rank_once(supervised: Supervised, number: int, whole_group: bool) -> None:
    with supervised.start(COUNTS) as process:
        supervised.await_files("ready-0", "ready-1")
        process.send_signal(signal.SIGUSR1)
        supervised.await_files("got-0", "got-1")
        (os.killpg if whole_group else os.kill)(process.pid, number)  # a terminal sends to a whole group
        done = supervised.end(process)
    assert done.code == 128 + number
    assert done.said == [f"stopped by {signal.Signals(number).name}; exit code {128 + number}"]
    for rank in range(2):
        assert (supervised.folder / f"got-{rank}").read_text() == f"{int(signal.SIGUSR1)} {number} "


DEAF = """
import signal, sys, time
from pathlib import Path
from gaslab.parallel.comm import world
comm = world()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
comm.allreduce(1)
Path(sys.argv[1], f"ready-{comm.rank}").touch()
time.sleep(60)
"""


@pytest.mark.parametrize("again", [False, True], ids=["the grace ends", "a second signal comes"])
def test_ranks_that_do_not_end_are_killed(supervised: Supervised, again: bool) -> None:
    began = time.monotonic()
    with supervised.start(DEAF, options=["--grace", "60" if again else "0.5"]) as process:
        supervised.await_files("ready-0", "ready-1")
        process.terminate()
        if again:
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
        done = supervised.end(process)
    assert done.code == 143
    assert time.monotonic() - began < 30


def test_a_killed_supervisor_leaves_no_rank_and_the_next_no_file(supervised: Supervised) -> None:
    deaf = DEAF.replace("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n", "")
    with supervised.start(deaf) as process:
        supervised.await_files("ready-0", "ready-1")
        busy = supervised.run(JOB, 3, "pass")
        process.kill()
        process.wait()
        supervised.await_no_processes()
    assert busy.code == 2
    assert "another supervisor is at work there; wait for its end, or name another folder" in busy.err
    assert any(name.startswith(".supervise-") for name in os.listdir(supervised.folder))
    assert supervised.run(JOB, 3, "pass").code == 0


LEAVES = JOB.replace(
    "if comm.rank == 0:\n    print",
    """if not (folder / "again").exists():
    comm.allreduce(1)
    if comm.rank == 0:
        (folder / "again").touch()
        with AtomicFile(Output(folder / "answer", force=True)) as draft, workplace(str(folder)):
            child = subprocess.Popen(["sleep", "60"], start_new_session=True, stdout=subprocess.DEVNULL)
            draft.write(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
    comm.allreduce(1)
if comm.rank == 0:
    print""",
).replace("from pathlib", "import subprocess\nfrom gaslab.compiler.toolchain import workplace\n"
          "from gaslab.system.atomic_writes import AtomicFile\nfrom gaslab.system.outputs import Output\n"
          "from pathlib")  # fmt: skip


def test_nothing_is_left_of_killed_ranks(supervised: Supervised) -> None:
    done = supervised.run(LEAVES, 2, "pass")
    assert done.code == 0
    assert "was ended by SIGKILL" in done.said[0]
    assert sorted(os.listdir(supervised.folder)) == ["again", "superstep-00000000", "superstep-00000001"]


def test_the_folder_of_checkpoints_is_removed(supervised: Supervised) -> None:
    done = supervised.run(JOB, 8, f"import shutil; shutil.rmtree(folder); {KILL}")
    assert done.code == 2
    assert done.err.endswith(
        f"--checkpoint {supervised.folder}: cannot be written to any more: No such file or directory\n"
    )


def test_a_job_goes_on_without_the_folder(supervised: Supervised) -> None:
    """Nobody knows then what its ranks do, so none is taken for lost."""
    goes_on = "import shutil, sys, time; shutil.rmtree(sys.argv[1], True); time.sleep(4); print('answer')"
    done = supervised.run(goes_on, options=["-n", "1", "--heartbeat", "2"])
    assert (done.code, done.out, done.said) == (0, "answer\n", [])


def test_standard_input_is_empty_on_all_ranks(supervised: Supervised) -> None:
    done = supervised.run("import sys; assert sys.stdin.read() == ''")
    assert (done.code, done.out, done.err) == (0, "", "")


WRITES = """
import os, signal, sys
from pathlib import Path
from gaslab.parallel.comm import world
from gaslab.system.atomic_writes import write_bytes
from gaslab.system.outputs import Output

folder, comm = Path(sys.argv[1]), world()
first = comm.allreduce(int((folder / "own").exists())) == 0
if comm.rank == 0:
    for name in sys.argv[2:]:
        output = Output(folder / name)
        output.check()
        write_bytes(output, b"first" if first else b"again")
    if first:
        (folder / "theirs").touch()
        os.kill(os.getpid(), signal.SIGKILL)
comm.allreduce(1)
"""


def test_outputs_of_an_earlier_start_are_replaced(supervised: Supervised) -> None:
    """They alone: a file that another has made meanwhile is left."""
    assert supervised.run(WRITES, "own").code == 0
    assert (supervised.folder / "own").read_bytes() == b"again"
    (supervised.folder / "own").unlink()
    (supervised.folder / "theirs").unlink()
    refused = supervised.run(WRITES.replace("sys.argv[2:]", '["own", "theirs"][:2 - first]'))
    assert refused.code == 1
    assert (supervised.folder / "theirs").read_bytes() == b""


AT_EXIT = """
import atexit, os, signal
from gaslab.parallel.comm import world
if world().allreduce(1) and world().rank == 0:
    print("answer", flush=True)
    atexit.register(os.kill, os.getpid(), signal.SIGKILL)
"""


def test_a_job_that_is_done_is_not_restarted(supervised: Supervised) -> None:
    """Its ranks have said that they end with 0; what happens while Python shuts down does not matter."""
    done = supervised.run(AT_EXIT)
    assert (done.code, done.out, done.said) == (0, "answer\n", [])


def test_a_reader_that_leaves_is_no_failure(supervised: Supervised) -> None:
    with supervised.start(JOB, 3, "pass") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(30) == 0
        process.stdout = None


def test_the_launcher_without_a_word_about_it(tmp_path: Path) -> None:
    """It is the mpiexec beside this Python."""
    beside = Path(sys.executable).with_name("mpiexec")
    if mpiexec() != (str(beside),):
        pytest.skip("mpiexec needs options here")
    with Supervised(tmp_path, launcher=None) as supervised:
        assert supervised.run(JOB, 1, "pass").out == "answer 2 0\n"
