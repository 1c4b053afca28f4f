"""Ctrl-C as a user presses it: in a script, under mpiexec, in a notebook."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager

from tests.mpi.launcher import ROOT, command, environment, mpiexec

pytestmark = pytest.mark.timed

OPEN_MPI = len(mpiexec()) > 1  # see there
SOON = 5.0  # seconds from Ctrl-C to the end; 1 is the promise, the rest is a busy machine
SCRIPT = """
import pathlib, sys
import numpy as np
import gaslab as gl
from tests.support import endless_programs as programs
a = np.arange(24)
graph = gl.Graph.from_edges(np.r_[a, a], np.r_[(a + 1) % 24, (a + 5) % 24])
program, options = getattr(programs, sys.argv[1]), eval(sys.argv[2])
try:
    gl.run(program(at=3), graph, timeout=0.1, threads=1, **options)
except gl.TimeoutExpired:
    pathlib.Path(sys.argv[3]).touch()
gl.run(program(at=3), graph, threads=1, **options)
"""
WAYS = {
    "sync": "{'max_iterations': 3}",
    "interpreted": "{'max_iterations': 3, 'compile': 'never'}",
    "stale": "{'engine': gl.Stale(1)}",
    "async": "{'engine': 'async'}",
    "serialisable": "{'engine': gl.Async(consistency='serialisable')}",
    "reference": "{'engine': 'reference'}",
}


def ctrl_c(words: list[str], mark: Path, *, group: bool = False) -> tuple[int, str, float]:
    """Start a command, press Ctrl-C once it is in its endless method; return its code, errors, seconds."""
    process = subprocess.Popen(
        words, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while not mark.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)  # from the mark to the method
        began = time.monotonic()
        (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        return process.returncode, errors, time.monotonic() - began
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


@pytest.fixture
def script(tmp_path: Path) -> tuple[Path, Path]:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    return file, tmp_path / "mark"


def test_a_script_ends_as_python_does(script: tuple[Path, Path]) -> None:
    words = [sys.executable, str(script[0]), "InApply", WAYS["sync"], str(script[1])]
    code, errors, seconds = ctrl_c(words, script[1])
    assert code == -signal.SIGINT
    assert "InApply was interrupted at vertex 3 in superstep 0\n    while not self.ends" in errors
    assert errors.count("\n  File ") <= 3, "the user's line, and no more than the door of ours"
    assert seconds < SOON


@pytest.mark.slow
@pytest.mark.parametrize(("way", "size"), [(way, 2 + k % 2) for k, way in enumerate(WAYS)])
def test_the_first_ctrl_c_ends_all_ranks(script: tuple[Path, Path], way: str, size: int) -> None:
    program = "InGather" if size == 2 else "InScatter"
    words = command(size, str(script[0]), program, WAYS[way], str(script[1]))
    code, errors, seconds = ctrl_c(words, script[1], group=way == "stale")  # as a terminal does
    print(f"{way}, {size} ranks: {seconds:.2f} s")
    assert seconds < SOON
    if OPEN_MPI:  # its mpiexec ends the ranks itself
        assert code != 0
        return
    assert code == 130, errors
    moment = "turn" if way in ("async", "serialisable") else "superstep"
    assert f"{program} was interrupted at vertex 3 in {moment}" in errors


ENDLESS = """
import gaslab as gl
class Endless(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 0
    def apply(self, v: Vertex) -> None:
        while v.n >= 0:
            v.n = (v.n + 1) % 7
"""


@pytest.fixture
def endless(tmp_path: Path) -> list[str]:
    """Return the command that runs an endless program."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    (tmp_path / "edges.tsv").write_text("".join(f"{k}\t{k + 1}\n" for k in range(200)))
    words = ["-m", "gaslab", "run", f"{tmp_path}/endless.py:Endless", f"{tmp_path}/edges.tsv"]
    return [*words, "--max-iterations", "2"]


@pytest.mark.slow
def test_the_command_line_ends_with_124(endless: list[str]) -> None:
    for limit in (3, 12):  # a busy machine comes late to the method
        limited = subprocess.run(
            [sys.executable, *endless, "--timeout", str(limit)], cwd=ROOT, env=environment(),
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert limited.returncode == 124, limited.stderr
        if f"Endless ran out of {limit} s at vertex" in limited.stderr:
            break
    assert f"Endless ran out of {limit} s at vertex" in limited.stderr


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2])
def test_the_command_line_ends_with_130(endless: list[str], size: int) -> None:
    words = [*endless, "--timeout", "60"]
    start = command(size, *words) if size > 1 else [sys.executable, *words]
    process = subprocess.Popen(
        start, cwd=ROOT, env=environment(), stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stderr is not None
    assert any(": 201 vertices, " in line for line in process.stderr), "the run begins"
    time.sleep(2.0)  # for the compiler
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert time.monotonic() - began < SOON
    assert "Traceback" not in errors
    if OPEN_MPI and size > 1:
        assert process.returncode != 0
        return
    assert process.returncode == 130, errors
    assert "Endless was interrupted at vertex" in errors


def test_a_notebook_keeps_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(60)
        prepare = f"{ENDLESS}graph = gl.Graph.from_edges([1, 2, 3], [2, 3, 1])\n"
        prepare += "try: gl.run(Endless(), graph, max_iterations=2, timeout=0.1)\n"
        prepare += "except gl.TimeoutExpired: print('at its timeout')"
        assert client.execute_interactive(prepare, timeout=60)["content"]["status"] == "ok"
        client.execute("gl.run(Endless(), graph, max_iterations=2)")
        time.sleep(1)
        began = time.monotonic()
        manager.interrupt_kernel()
        reply = client.get_shell_msg(timeout=20)
        seconds = time.monotonic() - began
        while reply["content"]["status"] == "ok":  # of the cell before
            reply = client.get_shell_msg(timeout=20)
        assert reply["content"]["ename"] == "KeyboardInterrupt"
        assert "Endless was interrupted at vertex" in reply["content"]["evalue"]
        assert seconds < SOON
        status = "aborted"  # for a moment after an error the kernel takes no cell
        while status == "aborted":
            after = client.execute_interactive("gl.pagerank(graph).vertices['score'].sum()", timeout=60)
            status = after["content"]["status"]
        assert status == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
