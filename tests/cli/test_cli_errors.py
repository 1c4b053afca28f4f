"""Errors at the command line: what is said, the exit code, and that commands end."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from gaslab.cli import main
from gaslab.parallel.mpilib import mpi_family
from tests.mpi.launcher import ROOT, environment, mpiexec
from tests.support.command_line import Run, by_mpiexec, edges, gaslab

__all__ = ["edges", "gaslab"]  # fixtures


def test_no_words_is_a_usage_error(gaslab: Run) -> None:
    done = gaslab()
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: gaslab COMMAND")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("pagernak", "there is no command 'pagernak'; did you mean 'pagerank'?"),
        ("pagerank EDGES --dampng 0.5", "there is no option '--dampng'; did you mean '--damping'?; HELP"),
        ("degrees EDGES --zzz", "there is no option '--zzz'; HELP"),
        (
            "pagerank EDGES --engine snyc",
            "argument --engine: 'snyc' is unknown; did you mean 'sync' or 'async'?; HELP",
        ),
        (
            "pagerank EDGES --scheduler fifo",
            "--scheduler applies only to --engine async, not to --engine sync",
        ),
        (
            "pagerank EDGES --engine async --staleness 1",
            "--staleness applies only to --engine stale, not to --engine async",
        ),
        (
            "pagerank EDGES --engine stale",
            "--engine stale needs --staleness S: by how many supersteps values may lag",
        ),
        (
            "pagerank EDGES --strategy random2",
            "argument --strategy: 'random2' is unknown; did you mean 'random'?; HELP",
        ),
        ("sssp EDGES", "missing: --source; HELP"),
        (
            "pagerank EDGES --max-iterations -1",
            "argument --max-iterations/--iterations: -1 is less than 0; HELP",
        ),
        ("pagerank EDGES --top many", "argument --top: 'many' is not a whole number; HELP"),
        ("pagerank EDGES --timeout inf", "argument --timeout: 'inf' is not a finite number; HELP"),
        ("pagerank EDGES --tolerance nan", "argument --tolerance: 'nan' is not a finite number; HELP"),
        ("pagerank EDGES --seed 1.5", "argument --seed: '1.5' is not a whole number; HELP"),
        ("pagerank EDGES --threads 0", "argument --threads: 0 is less than 1; HELP"),
        ("pagerank EDGES --threads 99999", "threads=99999: a whole number from 1 to 32768 is needed"),
        (
            "cdlp EDGES --iterations x",
            "argument --max-iterations/--iterations: 'x' is not a whole number; HELP",
        ),
        ("generate rmat --scale 99", "scale=99: a whole number from 0 to 40 is needed"),
        ("pagerank EDGES --init ranks.tsv", "argument --init: 'ranks.tsv' is not NAME=VALUE; HELP"),
        (
            "pagerank EDGES --damping 1.5",
            "damping=1.5: a number of at least 0 and below 1 is needed; 0.85 is usual",
        ),
        ("sssp EDGES --source x", "'x' is not a vertex id: the ids of this graph are integers"),
        ("pagerank EDGES --fields scor", "there is no vertex field 'scor'; did you mean 'score'?"),
        ("convert EDGES --map x.tsv", "--map goes with --relabel: without it the ids stay as they are"),
        ("partition EDGES -k 2 -o x.tsv", "--output writes one cut; name it with --strategy"),
    ],
)
def test_usage_errors(gaslab: Run, edges: Path, words: str, message: str) -> None:
    command = words.split()
    done = gaslab(*(str(edges) if word == "EDGES" else word for word in command))
    assert (done.code, done.out) == (2, "")
    help = f"`gaslab {command[0]} --help` lists the options"
    assert done.err.splitlines()[-1] == "gaslab: " + message.replace("HELP", help)
    assert "Traceback" not in done.err


def test_input_errors_say_one_thing(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    missing = gaslab("degrees", tmp_path / "nothing.tsv")
    assert (missing.code, missing.out, missing.err) == (
        1,
        "",
        f"gaslab: {tmp_path}/nothing.tsv: no such file\n",
    )
    edges.write_text("1 2\n1 x\n")
    bad = gaslab("degrees", edges)
    assert bad.code == 1
    assert f"{edges}" in bad.err
    assert "'x'" in bad.err or "1 x" in bad.err
    assert "Traceback" not in bad.err


def test_an_absent_source_is_an_input_error(gaslab: Run, edges: Path) -> None:
    done = gaslab("sssp", edges, "--source", 41)
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("gaslab: vertex 41 is not in the graph")


@pytest.mark.slow
def test_errors_on_all_ranks_are_printed_once_and_end_cleanly(edges: Path, tmp_path: Path) -> None:
    done = by_mpiexec(3, "degrees", tmp_path / "nothing.tsv")
    assert (done.code, done.out, done.err) == (1, "", f"gaslab: {tmp_path}/nothing.tsv: no such file\n")
    usage = by_mpiexec(3, "pagernak")
    assert usage.code == 2
    assert usage.err == "gaslab: there is no command 'pagernak'; did you mean 'pagerank'?\n"
    option = by_mpiexec(3, "degrees", edges, "--thread", 2)
    assert option.code == 2
    assert option.err.count("gaslab: ") == 1
    assert by_mpiexec(2, "--help").out.count("usage:") == 1


@pytest.mark.slow
@pytest.mark.skipif(mpi_family() == "", reason="mpi4py has one MPI and loads no other")
@pytest.mark.parametrize("setting", ["MPI4PY_LIBMPI=/no/such.so", "OMP_NUM_THREADS=abc"])
def test_a_rank_that_cannot_begin_ends_all(edges: Path, setting: str) -> None:
    """The others wait for it in MPI_Init, where an exit code alone is no failure to a launcher."""
    gaslab = [sys.executable, "-m", "gaslab", "degrees", str(edges)]
    words = [*mpiexec(), "-n", "1", *gaslab, ":", "-n", "1", "env", setting, *gaslab]
    began = time.monotonic()
    done = subprocess.run(
        words, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=30, check=False
    )
    assert time.monotonic() - began < 10
    assert done.returncode not in (0, 2)
    assert "rank 1: gaslab: " in done.stderr
    assert ("MPI cannot be loaded" if "MPI" in setting else "OMP_NUM_THREADS='abc'") in done.stderr


def test_not_converged(gaslab: Run, edges: Path) -> None:
    done = gaslab("pagerank", edges, "--max-iterations", 2)
    assert done.code == 0
    assert "gaslab: warning: PageRank was not done after 2 supersteps; raise max_iterations" in done.err
    assert gaslab("pagerank", edges, "--iterations", 2, "--require-converged").code == 3
    assert gaslab("pagerank", edges, "--require-converged").code == 0


@pytest.mark.slow
def test_not_converged_under_mpiexec(edges: Path) -> None:
    done = by_mpiexec(2, "pagerank", edges, "--iterations", 2, "--require-converged", "-q")
    assert done.code == 3
    assert "Abort" not in done.err
    assert done.err.count("PageRank was not done") == 1


SLOW = """
import gaslab as gl
class Slow(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 0
    def apply(self, v: Vertex) -> None:
        v.n += 1
    def done(self) -> bool:
        {done}
        return False
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(
    "done", ["pass", "import time; time.sleep(60)"], ids=["between supersteps", "in the middle of one"]
)
def test_timeout(edges: Path, tmp_path: Path, size: int, done: str) -> None:
    (tmp_path / "slow.py").write_text(SLOW.format(done=done))
    ended = by_mpiexec(size, "run", f"{tmp_path}/slow.py:Slow", edges, "--timeout", 1, "-q")
    assert ended.code == 124
    assert re.search("ran out of 1 s |no answer within 1 s ", ended.err)
    assert "Traceback" not in ended.err


LATE = """
import sys, time
from gaslab.cli import main, outcome
outcome.agree = lambda *_: time.sleep(60)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize("waits", ["in Python", "in MPI_Init"])
def test_a_timeout_before_all_ranks_have_begun(edges: Path, tmp_path: Path, waits: str, late: int) -> None:
    """The ranks that are there can only die of a signal, which the launcher reports."""
    (tmp_path / "late.py").write_text(LATE)
    program = str(tmp_path / "late.py") if waits == "in Python" else "-mgaslab"
    begin = [sys.executable, program, "degrees", str(edges), "--timeout", "0.25"]
    ranks = [begin, begin]
    ranks[late] = ["sh", "-c", f"sleep 30; {' '.join(begin)}"]
    words = [*mpiexec(), "-n", "1", *ranks[0], ":", "-n", "1", *ranks[1]]
    began = time.monotonic()
    done = subprocess.run(
        words, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert time.monotonic() - began < 25
    assert done.returncode not in (0, 2)
    speaker = "" if late else "rank 1: "
    said = f"gaslab: {speaker}no answer within 0.25 s (--timeout), and MPI has not started"
    assert (said in done.stderr) == (waits == "in Python")


def test_outputs_are_checked_before_the_work(gaslab: Run, tmp_path: Path, edges: Path) -> None:
    (tmp_path / "there.tsv").write_text("precious")
    for words in (["-o", tmp_path / "there.tsv"], ["--json", tmp_path / "there.tsv"]):
        done = gaslab("pagerank", edges, *words)
        assert done.code == 2
        assert "there.tsv exists; --force" in done.err
        assert "vertices" not in done.err  # nothing was read yet
    assert (tmp_path / "there.tsv").read_text() == "precious"
    assert gaslab("pagerank", edges, "-o", tmp_path / "there.tsv", "--force").code == 0
    assert (tmp_path / "there.tsv").read_text() != "precious"


def test_a_reader_that_leaves_is_no_error(edges: Path) -> None:
    import subprocess
    import sys

    from tests.mpi.launcher import environment

    command = f"{sys.executable} -m gaslab generate rmat --scale 14 | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env=environment(), timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_numbers_of_the_wrong_kind(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    (tmp_path / "restart.txt").write_text("3 much\n")
    done = gaslab("pagerank", edges, "--personalization", tmp_path / "restart.txt")
    assert done.code == 1
    assert done.err.splitlines()[-1] == (
        f"gaslab: {tmp_path}/restart.txt, line 1: 'much' is not a number; id first, value last"
    )
    (tmp_path / "empty.txt").write_text("3\n")
    done = gaslab("pagerank", edges, "--init", f"score={tmp_path}/empty.txt")
    assert done.err.splitlines()[-1] == f"gaslab: {tmp_path}/empty.txt, line 1: '3' has an id but no value"
    assert np.isfinite(done.code)


@pytest.mark.parametrize("word", ["--output=--", "-o--", "-qo--", "--parameter=--"])
def test_two_dashes_are_no_value(gaslab: Run, edges: Path, word: str) -> None:
    done = gaslab("run", "here.py", edges, word)
    assert (done.code, done.err.splitlines()[-1]) == (
        2, f"gaslab: {word}: -- ends the options and is not a value; `gaslab run --help` lists the options"
    )  # fmt: skip
    assert "is not a value" not in gaslab("run", "here.py", edges, "--parameter=x=--").err


def test_a_timeout_that_is_not_reached_is_forgotten(edges: Path) -> None:
    before = threading.active_count()
    assert main(["degrees", str(edges), "--timeout", "60", "--quiet"]) == 0
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before  # else it would end this process later


WHERE = [":", ":A", ".", "..a:A", "a..b:A", "no/where:A", " :A", "1a:A", "no_such.module:A"]


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("command", ["run", "explain", "compile"])
def test_what_names_no_module_is_a_usage_error(gaslab: Run, edges: Path, command: str, where: str) -> None:
    done = gaslab(command, where, *([edges] if command == "run" else []))
    assert done.code == 2
    assert "gaslab: there is no module" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_the_root_is_not_written(gaslab: Run, edges: Path, force: list[str]) -> None:
    for option in ("-o", "--json", "--timeline"):
        done = gaslab("degrees", edges, option, "/", *force)
        assert done.code == 2
        assert "cannot write /: " in done.err
        assert "Traceback" not in done.err


@pytest.mark.parametrize("seconds", ["1e9", "1e10", "9e30", "1e308"])
def test_a_timeout_of_any_length(gaslab: Run, edges: Path, seconds: str) -> None:
    done = gaslab("pagerank", edges, "--timeout", seconds)
    assert done.code == 0
    assert "Error" not in done.err
