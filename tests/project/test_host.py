"""A program that uses gaslab keeps what is its own: handlers, hooks, workers, kernels.

A host program is a script that prints what it does. It runs without gaslab, with ``import gaslab``, and after
a call of gaslab's; its output and its exit code stay the same.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import nbformat
import pytest
from nbclient import NotebookClient

from tests.mpi.launcher import environment

IMPORT = "import gaslab as gl\n"
CALL = f"{IMPORT}gl.pagerank(gl.Graph.from_edges([0, 1, 2], [1, 2, 0]), threads=2)\n"
USES = {"import": IMPORT, "call": CALL}
LIMIT = 120.0  # seconds: the machine may be busy


def run(folder: Path, text: str, *options: str) -> CompletedProcess[str]:
    """Run a host program."""
    script = folder / "host.py"
    script.write_text(text)
    return subprocess.run(
        [sys.executable, *options, script.name], capture_output=True, text=True, timeout=LIMIT, cwd=folder,
        env=environment(OMP_NUM_THREADS="2"), stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip


HOSTS = {
    "a handler of Ctrl-C": """
import os, signal, sys
def handler(number, frame):
    print("heard", number, flush=True)
signal.signal(signal.SIGINT, handler)
{use}
assert signal.getsignal(signal.SIGINT) is handler
os.kill(os.getpid(), signal.SIGINT)
print("goes on")
""",
    "Python's Ctrl-C": """
import os, signal, sys
{use}
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted", flush=True)
os.kill(os.getpid(), signal.SIGINT)
""",
    "Ctrl-C ignored": """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
{use}
os.kill(os.getpid(), signal.SIGINT)
print("goes on")
""",
    "Ctrl-C at exit": """
import atexit, signal
atexit.register(lambda: print(signal.getsignal(signal.SIGINT)))
{use}
""",
    "faulthandler": """
import ctypes, faulthandler, resource
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
faulthandler.enable()
{use}
assert faulthandler.is_enabled()
def crash():
    ctypes.string_at(0)
crash()
""",
    "faulthandler.dump_traceback_later": """
import faulthandler, sys, time
faulthandler.dump_traceback_later(50, exit=True, file=sys.stdout)
{use}
def wait():
    time.sleep(60)
faulthandler.dump_traceback_later(0.5, exit=True)
wait()
""",
    "an unraisablehook": """
import sys
def hook(dropped):
    print("dropped", dropped.exc_type.__name__, dropped.exc_value, flush=True)
sys.unraisablehook = hook
{use}
class Dropped:
    def __del__(self):
        raise ValueError("late")
Dropped()
assert sys.unraisablehook is hook
""",
    "an excepthook": """
import sys
def hook(kind, error, trace):
    print("host saw", kind.__name__, error, flush=True)
sys.excepthook = hook
{use}
assert sys.excepthook is hook
raise ValueError("a bad day")
""",
    "an excepthook of later": """
{use}
import sys
before = sys.excepthook
assert before is sys.__excepthook__
def hook(kind, error, trace):
    print("host saw", kind.__name__, error, flush=True)
    before(kind, error, None)
sys.excepthook = hook
raise ValueError("a bad day")
""",
    "an excepthook of threads": """
import threading
def hook(arguments):
    print("host saw", arguments.exc_type.__name__, arguments.exc_value, flush=True)
threading.excepthook = hook
{use}
assert threading.excepthook is hook
def fail():
    raise ValueError("a bad day")
thread = threading.Thread(target=fail)
thread.start()
thread.join()
""",
    "SystemExit": """
import sys
{use}
sys.exit(7)
""",
    "multiprocessing, fork": """
import multiprocessing
{use}
def square(x):
    return x * x
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(square, range(4)))
""",
    "multiprocessing, spawn": """
import multiprocessing
{use}
def square(x):
    return x * x
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(square, range(4)))
""",
    "a child that fails": """
import multiprocessing, sys
{use}
def fail():
    sys.exit(5)
process = multiprocessing.get_context("fork").Process(target=fail)
process.start()
process.join()
print(process.exitcode)
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("host", HOSTS)
def test_a_host_does_the_same_with_gaslab(host: str, use: str, tmp_path: Path) -> None:
    lines = USES[use].count("\n")
    alone = run(tmp_path, HOSTS[host].format(use="pass\n" * lines))  # as many lines: tracebacks name them
    with_gaslab = run(tmp_path, HOSTS[host].format(use=USES[use]))
    assert "SyntaxError" not in alone.stderr
    assert with_gaslab.stdout == alone.stdout
    assert with_gaslab.returncode == alone.returncode
    assert said(with_gaslab.stderr) == said(alone.stderr)


def said(errors: str) -> list[str]:
    """Return the lines of standard error, without those that name a thread or a module that is loaded."""
    return [
        line for line in errors.splitlines()
        if line and not line.startswith(("Current thread", "Thread 0x", "Extension modules:"))
    ]  # fmt: skip


# A run that lasts until Ctrl-C is left to the handler that the host has set.
DURING = """
import os, signal, threading, time
import gaslab as gl
graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0])

class Endless(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 0

    def apply(self, v: Vertex) -> None:
        v.n += 1

class Heard(Exception):
    pass

def handler(number, frame):
    raise Heard

signal.signal(signal.SIGINT, handler)
timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
timer.start()
try:
    gl.run(Endless(), graph, max_iterations=10**9, timeout=60)
except Heard:
    print("heard")
assert signal.getsignal(signal.SIGINT) is handler
signal.signal(signal.SIGINT, signal.default_int_handler)
timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
timer.start()
try:
    gl.run(Endless(), graph, max_iterations=10**9, timeout=60)
except KeyboardInterrupt:
    print("interrupted")
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


@pytest.mark.slow
def test_a_run_leaves_ctrl_c_to_the_hosts_handler_and_puts_pythons_back(tmp_path: Path) -> None:
    done = run(tmp_path, DURING)
    assert (done.returncode, done.stdout) == (0, "heard\ninterrupted\n"), done.stderr


XDIST = """
import pytest
{use}
@pytest.mark.parametrize("n", range(6))
def test_small(n):
    assert n < 5, "five is too many"
"""


@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
def test_pytest_xdist_runs_a_projects_tests(use: str, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_small.py").write_text(XDIST.format(use=USES[use]))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider"], capture_output=True,
        text=True, timeout=LIMIT, cwd=tmp_path, env=environment(), stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "1 failed, 5 passed" in done.stdout
    assert "five is too many" in done.stdout
    assert done.stderr == ""


CELLS = (
    "import signal, sys, threading\n"
    "before = (sys.excepthook, threading.excepthook, sys.unraisablehook, signal.getsignal(signal.SIGINT))",
    "raise ValueError('a bad day')",
    "after = (sys.excepthook, threading.excepthook, sys.unraisablehook, signal.getsignal(signal.SIGINT))\n"
    "before == after",
    "try:\n    signal.raise_signal(signal.SIGINT)\nexcept KeyboardInterrupt:\n    print('interrupted')",
)


@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
def test_a_jupyter_kernel_stays_as_it_is(use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    cells = [CELLS[0], USES[use], *CELLS[1:]]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    client = NotebookClient(book, timeout=int(LIMIT), allow_errors=True, kernel_name="python3")
    client.execute(cwd=str(tmp_path))
    _, used, failed, same, interrupted = book.cells
    assert not [one for one in used.outputs if one.output_type == "error"]
    assert [(one.ename, one.evalue) for one in failed.outputs] == [("ValueError", "a bad day")]
    assert [one.data["text/plain"] for one in same.outputs] == ["True"]
    assert [one.text for one in interrupted.outputs] == ["interrupted\n"]
