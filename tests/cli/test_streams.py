"""Standard streams that are closed, full, or read no further, on one rank and on two."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.mpi.launcher import environment, mpiexec

CLOSED = "gaslab: cannot write to standard output: it is closed; redirect it to a file (> FILE)\n"
FULL = "gaslab: cannot write to standard output: No space left on device; redirect it to a file (> FILE)\n"
ANSWER = "   id  in_edges  out_edges  edges\n1  0          1          1      2\n"


@pytest.fixture(params=[1, pytest.param(2, marks=pytest.mark.slow)], ids=["1rank", "2ranks"])
def size(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def run(size: int, folder: Path, words: str) -> CompletedProcess[str]:
    """Run ``gaslab WORDS`` in a shell on each rank; *words* may have redirections."""
    (folder / "edges.txt").write_text("0 1\n1 0\n")
    shell = ["sh", "-c", f"{shlex.quote(sys.executable)} -m gaslab {words}"]
    command = [*mpiexec(), "-n", str(size), *shell] if size > 1 else shell
    variables = environment()
    variables.pop("PYTHONUNBUFFERED", None)  # what stays in a buffer fails again at the end of Python
    return subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, cwd=folder,
        env=variables, check=False,
    )  # fmt: skip


PRINTING = ("degrees edges.txt", "info edges.txt", "partition edges.txt -k 2", "convert edges.txt",
            "degrees edges.txt -o out.tsv --top 1")  # fmt: skip


@pytest.mark.parametrize("command", PRINTING)
@pytest.mark.parametrize(("closed", "said"), [(">&-", CLOSED), (">/dev/full", FULL)])
def test_an_answer_that_cannot_be_printed_is_an_error(
    command: str, closed: str, said: str, size: int, tmp_path: Path
) -> None:
    done = run(size, tmp_path, f"{command} --quiet {closed}")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(said)
    assert "Traceback" not in done.stderr
    assert done.stderr.count("gaslab:") == 1


@pytest.mark.parametrize("command", ["--help", "--version", "degrees --help", "doctor"])
@pytest.mark.parametrize(("closed", "said"), [(">&-", CLOSED), (">/dev/full", FULL)])
def test_what_needs_no_graph_is_no_exception(command: str, closed: str, said: str, tmp_path: Path) -> None:
    done = run(1, tmp_path, f"{command} {closed}")
    assert (done.returncode, done.stderr) == (1, said)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-", ">/dev/full"])
def test_an_answer_in_a_file_needs_no_standard_output(closed: str, size: int, tmp_path: Path) -> None:
    done = run(size, tmp_path, f"degrees edges.txt -o out.tsv {closed}")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "out.tsv").read_text() == "0\t1\t1\t2\n1\t1\t1\t2\n"
    if "2>&-" in closed:
        assert done.stderr == ""


def test_without_standard_error_an_answer_is_printed_and_a_message_is_not(size: int, tmp_path: Path) -> None:
    done = run(size, tmp_path, "degrees edges.txt --top 1 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, ANSWER, "")
    if size == 1:  # mpiexec has messages of its own for a rank that fails
        done = run(size, tmp_path, "degrees missing.txt 2>&-")
        assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_a_closed_standard_output_under_its_path_is_an_error(size: int, tmp_path: Path) -> None:
    done = run(size, tmp_path, "convert edges.txt -o /dev/stdout --quiet >&-")
    assert done.returncode == 1
    assert done.stderr.startswith("gaslab: cannot write /dev/stdout: ")


def test_without_standard_input_nothing_changes(size: int, tmp_path: Path) -> None:
    done = run(size, tmp_path, "degrees edges.txt --top 1 --quiet <&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, ANSWER, "")


def test_a_reader_that_has_seen_enough_leaves_the_file_to_be_written(size: int, tmp_path: Path) -> None:
    done = run(size, tmp_path, "degrees edges.txt -o out.tsv --top 2 --quiet | true")
    assert done.stderr == ""
    assert (tmp_path / "out.tsv").exists()


def test_a_script_has_a_closed_standard_output_as_python_makes_it(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import sys\nprint('lost')\nassert sys.stdout is None\n")
    done = run(1, tmp_path, "script.py >&-")
    assert (done.returncode, done.stderr) == (0, "")
