"""The C compiler as a process: nothing stays of it behind an interrupt; files, whose names are text to it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import gaslab as gl
from gaslab.cli.custom import load_class
from gaslab.compiler import build, toolchain
from gaslab.compiler.c import emit
from gaslab.compiler.c.names import c_string
from gaslab.compiler.frontend import parse_phases
from gaslab.errors import CompileError
from tests.mpi.launcher import command, environment, run_script
from tests.support.command_line import Run, edges, gaslab

__all__ = ["edges", "gaslab"]  # fixtures

PROGRAM = """
import gaslab as gl
class Count(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 0
    def apply(self, v: Vertex) -> None:
        v.n += {step}
"""

# A compiler of two processes, as cc and cc1 are, with a temporary file of its own.
SLOW = """#!/bin/sh
case "$*" in *--version*) echo slow; exit;; esac
cat > /dev/null
echo object > "${{TMPDIR:-/tmp}}/ccSLOW.o"
sleep 600 &
echo $PPID $$ $! > {note}.new
mv {note}.new {note}
wait
"""


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """A compiler that never ends; the file returned gets the processes: rank, compiler, its child."""
    note, script = tmp_path / "processes", tmp_path / "slow-cc"
    script.write_text(SLOW.format(note=note))
    script.chmod(0o755)
    (tmp_path / "slow.py").write_text(PROGRAM.format(step=f"{time.time_ns() % 1_000_003}"))
    (tmp_path / "scratch").mkdir()
    return note


def start(size: int, folder: Path, *words: str) -> subprocess.Popen[str]:
    changes = environment(
        CC=str(folder / "slow-cc"), TMPDIR=str(folder / "scratch"), GASLAB_CACHE_DIR=str(folder / "cache")
    )
    arguments = ["-m", "gaslab", "run", f"{folder}/slow.py:Count", f"{folder}/edges.tsv", "-q"]
    arguments += ["--max-iterations", "2", *words]
    return subprocess.Popen(
        [sys.executable, *arguments] if size == 1 else command(size, *arguments),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=changes,
        start_new_session=True,
    )  # fmt: skip


def wait_for(what: Callable[[], bool], seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"


def ended(process: subprocess.Popen[str], note: Path, folder: Path) -> int:
    """Return the exit code of a run whose compiler hangs, once all of it is gone."""
    try:
        process.communicate(timeout=20)
        others = [int(word) for word in note.read_text().split()]
        assert wait_for(lambda: not any(map(runs, others)), 5), "the compiler still runs"
    finally:
        for group in {process.pid, *map(int, note.read_text().split()[1:2])}:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
    left = [str(path) for path in (folder / "scratch").rglob("*") if not path.name.startswith("mpi")]
    assert left == []
    return process.returncode


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2])
def test_an_interrupt_ends_the_compiler_too(edges: Path, tmp_path: Path, slow: Path, size: int) -> None:
    process = start(size, tmp_path)
    assert wait_for(slow.exists)
    rank = int(slow.read_text().split()[0])
    os.kill(rank, signal.SIGINT)  # this process alone, as a notebook's stop button does
    assert ended(process, slow, tmp_path) == 130


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2])
def test_a_timeout_ends_the_compiler_too(edges: Path, tmp_path: Path, slow: Path, size: int) -> None:
    process = start(size, tmp_path, "--timeout", "12" if toolchain.SANITIZE in os.environ else "3")
    assert wait_for(slow.exists)
    assert ended(process, slow, tmp_path) == 124


def test_what_the_compiler_keeps_for_itself_is_removed_with_its_folder(
    tmp_path: Path, slow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "slow-cc"
    script.write_text(script.read_text().split("sleep")[0] + "exit 3\n")
    monkeypatch.setenv("CC", str(script))
    monkeypatch.setattr(build.tempfile, "tempdir", str(tmp_path / "scratch"))
    with pytest.raises(CompileError, match="exit code 3"):
        build.compiled("int x;\n", toolchain.levels()[0])
    assert list((tmp_path / "scratch").iterdir()) == []


# ---- names of files --------------------------------------------------------------------------------

NAMES = [
    'quote".py',
    "back\\slash\\n.py",
    "trail\\",
    "a\n#error injected\n.py",
    'a"\n#error injected\n#line 1 "b.py',
    "return\r#error injected\r.py",
    "u\u2028#error injected\u2028\u0085\x0c\x0b.py",
    "trigraph??/\n#error injected.py",
    "percent%s %n.py",
    "schön 😀.py",
    "raw\udcff.py",
    "\ud800.py",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_the_name_of_a_file_is_no_code(name: str) -> None:
    tree = parse_phases(gl.programs.Degrees)[0]
    plain = emit(tree)
    text = emit(replace(tree, sites=tuple(replace(site, file=name) for site in tree.sites)))
    lines = re.split(r"[\n\r]", text)
    assert [line for line in lines if "injected" in line and not line.startswith("#line")] == []
    assert text.count("\n") == plain.count("\n")
    assert build.key(text) == build.key(plain)
    build.open_bytes(build.compiled(text, toolchain.levels()[0]), cached=False)


def test_the_compiler_s_words_name_the_file_as_it_is_called() -> None:
    name = 'dir/a "b"\t\\ ä.py'
    text = f"#line 7 {c_string(name)}\nno C at all;\n"
    with pytest.raises(CompileError) as caught:
        build.compiled(text, toolchain.levels()[0])
    assert f"{name}:7:" in str(caught.value) or f"{c_string(name)[1:-1]}:7:" in str(caught.value)


@pytest.mark.parametrize("name", ['a"b.py', "a\n#error injected\n.py"], ids=ascii)
def test_a_program_runs_from_a_file_of_any_name(gaslab: Run, edges: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(PROGRAM.format(step=f"{time.time_ns() % 1_000_003}"))
    done = gaslab("run", f"{path}:Count", edges, "--max-iterations", 1, "--compile", "require", "--top", 1)
    assert done.code == 0, done.err
    assert gaslab("explain", f"{path}:Count").code == 0
    assert load_class(f"{path}:Count").__name__ == "Count"


@pytest.mark.slow
def test_a_library_that_may_not_be_written_anywhere_is_named(tmp_path: Path) -> None:
    """Neither into a folder nor into memory, under a limit on the size of files."""
    text = """
import resource
import gaslab as gl
graph = gl.Graph.from_edges([0], [1])
resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
try:
    gl.pagerank(graph)
except gl.CompileError as error:
    print(error)
"""
    script = tmp_path / "script.py"
    script.write_text(text)
    out = run_script(1, [str(script)], TMPDIR=str(tmp_path)).stdout
    assert re.match(r"a compiled program of [\d,]+ bytes cannot be loaded, neither through \S+ \(", out)
    assert str(tmp_path) in out
    assert out.count("File too large") == 2
    assert "ulimit -f" in out
    assert "--compile never" in out
    assert not list(tmp_path.glob("gaslab-*"))
