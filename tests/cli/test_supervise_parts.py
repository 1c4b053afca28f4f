"""The parts of ``gaslab supervise``: its words, its launchers, heartbeats, and what it makes of an ending."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gaslab.cli import builtins, main
from gaslab.cli.arguments import Parser
from gaslab.cli.supervise import ending
from gaslab.cli.supervise.watch import Watch
from gaslab.parallel import heartbeat
from gaslab.parallel.heartbeat import Heartbeat
from gaslab.parallel.mpiexec import Mpiexec, find
from gaslab.system import processes, topologies
from tests.mpi.launcher import environment, mpiexec
from tests.support.command_line import Run, gaslab

__all__ = ["gaslab"]  # a fixture


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "missing: -n, --checkpoint; HELP"),
        ("-n 0 --checkpoint DIR -- a.py", "argument -n: 0 is less than 1; HELP"),
        ("-n 2 -- a.py", "missing: --checkpoint; HELP"),
        (
            "-n 2 --checkpoint DIR",
            "there is nothing to run: put a command after --, as in "
            "`gaslab supervise -n 4 --checkpoint DIR -- pagerank GRAPH`",
        ),
        ("-n 2 --checkpoint DIR a.py", "there is no argument 'a.py'; HELP"),
        ("-n 2 --checkpoint DIR --heartbeat 0 -- a.py", "argument --heartbeat: 0 is less than 2.0; HELP"),
        (
            "-n 2 --checkpoint DIR -- info GRAPH",
            "info writes no checkpoints to restart from; run it without supervise",
        ),
        ("-n 2 --checkpoint DIR -- pagernak", "there is no command 'pagernak'; did you mean 'pagerank'?"),
        (
            "-n 2 --checkpoint DIR --every 5s -- a.py",
            "--every is for commands; a script says it in its own words",
        ),
        (
            "-n 2 --checkpoint FILE -- a.py",
            "--checkpoint FILE: File exists; name a folder to write to",
        ),
        (
            "-n 2 --checkpoint DIR --launcher no-such -- a.py",
            "the launcher no-such cannot be run: No such file or directory",
        ),
    ],
)
def test_usage_errors(gaslab: Run, tmp_path: Path, words: str, message: str) -> None:
    (tmp_path / "file").touch()
    places = {"DIR": str(tmp_path / "folder"), "FILE": str(tmp_path / "file")}
    launcher = [] if "--launcher" in words else ["--launcher", mpiexec()[0]]
    done = gaslab("supervise", *launcher, *(places.get(word, word) for word in words.split()))
    help = "`gaslab supervise --help` lists the options"
    message = message.replace("HELP", help).replace("FILE", places["FILE"])
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1] == f"gaslab: {message}"
    assert not (tmp_path / "folder").exists()


def with_checkpoints(name: str) -> Parser:
    made = Parser(name, "", "")
    made.add_argument("--checkpoint")
    return made


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let built-in commands take ``--checkpoint``."""
    monkeypatch.setattr(builtins, "parser", with_checkpoints)


@pytest.mark.usefixtures("commands")
def test_a_command_gets_the_options_of_its_checkpoints(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options = ["-n", "3", f"--checkpoint={tmp_path}", "--every", "5m", "--keep=4", "--launcher", "echo"]
    assert main(["supervise", *options, "--", "pagerank", "G", "--top=3"]) == 0
    more = f"--checkpoint={tmp_path} --every=5m --keep=4 --resume=auto"
    assert capfd.readouterr().out == f"3 {sys.executable} -m gaslab pagerank {more} G --top=3"


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize("word", ["--checkpoint=x", "--resume"])
def test_a_command_is_not_told_twice(gaslab: Run, tmp_path: Path, word: str) -> None:
    done = gaslab("supervise", "-n", 2, "--checkpoint", tmp_path, "--", "pagerank", "G", word, "auto")
    said = f"gaslab: {word} stands after --; name the folder before --, and supervise adds both\n"
    assert (done.code, done.err) == (2, said)


def test_each_launcher_hears_what_it_needs() -> None:
    words, variables = ["python", "x.py"], {"A": "1"}
    assert Mpiexec(("srun",)).command(2, words, variables, None) == ["srun", "-n", "2", *words]
    hydra = Mpiexec(("mpiexec", "-f", "hosts"), hydra=True).command(2, words, variables, 7)
    assert hydra == ["mpiexec", "-f", "hosts", "-n", "2", "-outfile-pattern", "/dev/fd/7", *words]
    open_mpi = Mpiexec(("mpirun",), open_mpi=True).command(2, words, variables, None)
    assert open_mpi == ["mpirun", "-n", "2", "-x", "A", *words]
    found = find(" ".join(mpiexec()))
    assert found.hydra != found.open_mpi


# ---- what is made of an ending -------------------------------------------------------------------------

KINDS = {
    "InputError": ("gaslab.errors.InputError", "gaslab.errors.GaslabError"),
    "AbandonedError": ("gaslab.errors.AbandonedError", "gaslab.errors.GaslabError"),
    "TimeoutExpired": ("gaslab.errors.TimeoutExpired", "gaslab.errors.GaslabError", "builtins.OSError"),
    "OSError": ("builtins.OSError",),
    "Exception": ("mpi4py.MPI.Exception", "builtins.RuntimeError"),
    "KeyError": ("builtins.KeyError",),
    "": (),
}


def watched(folder: Path, *ranks: tuple[int | None, str, int | None]) -> Watch:
    """Return the watch over ranks that are gone: the code and error they said, the status of their guards."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    for number, (code, error, status) in enumerate(ranks):
        said = Heartbeat(
            number, 1, gone.pid, heartbeat.host(), phase="in superstep 3", code=code, errors=KINDS[error]
        )
        (folder / f"rank-{number}").write_text(json.dumps(said._asdict()))
        if status is not None:
            (folder / f"death-{number}").write_text(f"{status} in superstep 4")
    watch = Watch(str(folder), len(ranks), 60.0)
    watch.read()
    watch.read()
    return watch


EXIT = 256  # times an exit code is a status
ENDINGS: dict[str, tuple[int, list[tuple[int | None, str, int | None]], int, str | None]] = {
    # launcher's code, ranks, exit code, start of the cause if the job is restarted
    "done": (0, [(0, "", 0), (0, "", 0)], 0, None),
    "usage": (2, [(2, "", 2 * EXIT), (2, "", 2 * EXIT)], 2, None),
    "not converged": (3, [(3, "", 3 * EXIT)], 3, None),
    "timeout": (9, [(124, "TimeoutExpired", 124 * EXIT), (None, "", 9)], 124, None),
    "input": (1, [(None, "", 9), (1, "InputError", EXIT)], 1, None),
    "a program's fault": (1, [(1, "KeyError", EXIT), (1, "AbandonedError", EXIT)], 1, None),
    "a disk": (1, [(1, "OSError", EXIT), (None, "", 9)], 1, "rank 0 ended with exit code 1 by OSError"),
    "killed": (9, [(1, "AbandonedError", EXIT), (None, "", 9)], 137, "rank 1 was ended by SIGKILL"),
    "killed, MPI fails": (9, [(1, "Exception", EXIT), (None, "", 9)], 137, "rank 1 was ended by SIGKILL"),
    "one of two": (9, [(None, "", 15), (None, "", 11)], 139, "rank 1 was ended by SIGSEGV in superstep 4"),
    "MPI": (1, [(1, "Exception", EXIT), (None, "", None)], 1, "rank 0 ended with exit code 1 by Exception"),
    "with its guard": (137, [(None, "", None)], 137, "rank 0 was ended by SIGKILL, last seen in super"),
    "abort": (13, [(None, "", None)], 13, "MPI was aborted with exit code 13, or its launcher failed"),
    "kill -9 mpiexec": (-9, [(None, "", None)], 137, "the launcher was ended by SIGKILL; rank 0 was last"),
    "the launcher": (-9, [(0, "", 120 * EXIT)], 137, "the launcher ended with exit code 137"),
    "killed when it is done": (9, [(0, "", 9), (0, "", 0)], 0, None),
    "the launcher alone": (-9, [(0, "", 0)], 0, None),
    "a launcher that hides it": (0, [(None, "", 9), (None, "", 0)], 137, "rank 0 was ended by SIGKILL in"),
    "_exit(0)": (0, [(None, "", 0), (None, "", 0)], 0, None),
    "alarm": (14, [(None, "", 14)], 142, None),
}  # fmt: skip


@pytest.mark.parametrize("case", ENDINGS)
def test_endings(tmp_path: Path, case: str) -> None:
    launcher, ranks, code, cause = ENDINGS[case]
    ended = ending.of_ended(watched(tmp_path, *ranks), launcher, first=True)
    assert (ended.code, ended.again) == (code, cause is not None)
    if cause is not None:
        assert ended.cause.replace(f" (pid 1 on {heartbeat.host()})", "").startswith(cause)


def test_a_heartbeat_goes_on_without_room_for_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "no room")

    said = Heartbeat(0, 1, 1, "here", beat=10, phase="in superstep 10")
    heartbeat._replace(str(tmp_path), "rank-0", json.dumps(said._asdict()))
    monkeypatch.setattr(os, "replace", full)
    later = said._replace(beat=11, phase="in superstep 9")
    heartbeat._replace(str(tmp_path), "rank-0", json.dumps(later._asdict()))
    beats, _ = heartbeat.read(str(tmp_path))
    assert (beats[0].beat, beats[0].phase) == (11, "in superstep 9")


def test_a_folder_that_is_gone_says_nothing(tmp_path: Path) -> None:
    assert heartbeat.read(str(tmp_path / "gone")) == ({}, {})


def test_a_lost_rank_is_named_before_those_that_wait_for_it(tmp_path: Path) -> None:
    watch = watched(tmp_path, (None, "", None), (None, "", None))
    for rank in watch.ranks.values():
        rank.gone = False
        rank.said = rank.said._replace(moves=True)
    assert watch.lost() is None
    now = time.monotonic()
    for rank in watch.ranks.values():
        rank.moved_at = now - 61
    assert watch.lost() == "the ranks have been in superstep 3 for 60 s (--heartbeat)"
    watch.ranks[1].beat_at = now - 59
    assert "rank 1 (pid 1 " in str(watch.lost())
    assert "has given no sign of life for 59 s, last in superstep 3" in str(watch.lost())
    watch.size = 3
    watch._began -= 61
    assert watch.lost() == "rank 2 has not begun within 60 s"


# ---- heartbeats ----------------------------------------------------------------------------------------


def begin(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start a rank that a supervisor watches."""
    return subprocess.Popen(
        [sys.executable, "-m", "gaslab", *words],
        env=environment(GASLAB_HEARTBEAT=str(folder)),
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_rank_without_a_supervisor_writes_nothing() -> None:
    heartbeat.begin()
    heartbeat.note("superstep 1")
    heartbeat.ended(0)
    assert heartbeat._writer is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "status"), [("sys.exit(5)", 5), ("os.kill(os.getpid(), 11)", -11), ("raise KeyError", 1)]
)
def test_a_guard_tells_how_its_rank_ended_and_ends_so(tmp_path: Path, code: str, status: int) -> None:
    show = "import os, sys; print(os.environ.get('GASLAB_HEARTBEAT'), flush=True)"
    enter = "from gaslab.parallel import heartbeat; heartbeat.note('phase 1')"
    with begin(tmp_path, "-c", f"{show}; {enter}; {code}") as rank:
        out, _ = rank.communicate()
    beats, deaths = heartbeat.read(str(tmp_path))
    assert (out, rank.returncode) == ("None\n", status)
    assert (beats[0].guard, beats[0].host) == (rank.pid, heartbeat.host())
    assert os.waitstatus_to_exitcode(deaths[0].status) == status
    assert deaths[0].phase == "in phase 1"
    assert beats[0].code == (None if status < 0 else status)
    assert beats[0].errors[:1] == (["builtins.KeyError"] if status == 1 else [])


def wait_for(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


WAITS = """
import signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(6))
print('ready', flush=True)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["the folder", "the guard"])
def test_a_signal_comes_to_a_rank(tmp_path: Path, way: str) -> None:
    with begin(tmp_path, "-c", WAITS) as rank:
        assert rank.stdout is not None
        assert rank.stdout.readline() == "ready\n"
        if way == "the folder":  # from another machine
            heartbeat.ask(str(tmp_path), 0, signal.SIGUSR1)
        else:
            rank.send_signal(signal.SIGUSR1)
        assert rank.wait(20) == 6


@pytest.mark.slow
def test_a_rank_dies_with_its_guard(tmp_path: Path) -> None:
    with begin(tmp_path, "-c", WAITS) as rank:
        assert rank.stdout is not None
        assert rank.stdout.readline() == "ready\n"
        said = heartbeat.read(str(tmp_path))[0][0]
        rank.kill()
        wait_for(lambda: processes.has_ended(said.pid))


# ---- processes and files -------------------------------------------------------------------------------


@pytest.mark.slow
def test_descendants_are_killed_with_their_own(tmp_path: Path) -> None:
    """Also those that are stopped, whose parent has ended, or that one look does not find."""
    script = f"""
import os, subprocess, sys
from gaslab.system import processes
with processes.orphans_adopted():
    kept = subprocess.Popen(["sleep", "60"])
    words = "sh -c 'sleep 60 & sleep 60 & kill -STOP $!; echo > {tmp_path}/ready; exit' & wait"
    tree = subprocess.Popen(["sh", "-c", words])
    while not os.path.exists("{tmp_path}/ready") or tree.poll() is None: pass
    print(len(processes.descendants(os.getpid())), len(processes.descendants(os.getpid(), [kept.pid])))
    found, blind = processes.descendants, [True]
    processes.descendants = lambda *of: set() if blind and blind.pop() else found(*of)
    processes.kill_descendants([kept.pid])
    print(found(os.getpid()) == {{kept.pid}})
    kept.kill()
"""
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, env=environment(), check=True, timeout=30)
    assert done.stdout == "3 2\nTrue\n"


def test_what_a_starting_job_may_need_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topologies, "_PATTERN", f"{tmp_path}/file-?")
    now = time.time()
    for name, written in (("file-a", now - 100), ("file-b", now - 50), ("file-c", now)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (written, written))
    monkeypatch.setattr(topologies, "_starts", lambda: [now - 200, now - 5])
    topologies.remove(since=now - 60)
    assert sorted(os.listdir(tmp_path)) == ["file-a", "file-c"]
