"""What the documentation says is so: its blocks run, its names exist, its links lead somewhere."""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import linecache
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import numpy as np
import pytest

import gaslab as gl
from gaslab.errors import GaslabError
from gaslab.parallel.comm import Comm
from gaslab.partitioning.strategies import STRATEGIES
from tests.conftest import Hosts
from tests.mpi.launcher import environment, run_script

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "datasets" / "README.md"])
FENCE = re.compile(r"^```(\w*) ?(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


@dataclass
class Block:
    """A fenced Python block; `shown` is the text block that follows it at once, if there is one."""

    line: int
    code: str
    raises: bool
    shown: str | None


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text()
    fences = list(FENCE.finditer(text))
    for here, after in zip(fences, [*fences[1:], None], strict=False):
        if here[1] == "python":
            follows = (
                after is not None and after[1] == "text" and not text[here.end() : after.start()].strip()
            )
            shown = after[3] if after is not None and follows else None
            yield Block(text.count("\n", 0, here.start()) + 2, here[3], here[2] == "error", shown)


def run_block(block: Block, name: str, module: ModuleType) -> str:
    """Run a block in *module* as if it stood in the file *name*; return what it printed or the error."""
    linecache.cache[name] = (len(block.code), None, block.code.splitlines(keepends=True), name)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = compile(block.code, name, "exec")
        if block.raises:
            with pytest.raises(GaslabError) as caught:
                exec(code, vars(module))
            return f"{type(caught.value).__name__}: {caught.value}\n"
        exec(code, vars(module))
    return printed.getvalue()


def run_page(page: Path) -> list[tuple[Block, str]]:
    """Run all Python blocks of *page*, in order, in one module; return what each gave."""
    module = ModuleType("page_" + page.stem)
    sys.modules[module.__name__] = module
    return [(block, run_block(block, f"<{page.stem}-{block.line}>", module)) for block in blocks(page)]


def anonymous(text: str) -> str:
    """Leave out what changes from page to page: the block's name and line."""
    return re.sub(r"<\w+-\d+>", "my.py", text)


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if any(blocks(p))], ids=page_id)
@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_python_blocks_do_what_is_shown(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with patch.dict(STRATEGIES):  # a page may register one
        ran = run_page(page)
    for block, gave in ran:
        if block.shown is not None:
            assert anonymous(gave) == block.shown, f"{page.name}:{block.line}"
        else:
            assert gave == "", f"{page.name}:{block.line} prints something that the page does not show"


def consoles(page: Path) -> list[tuple[str, str]]:
    """Return the command after each ``$`` of the console blocks of *page*, and the output shown below it."""
    found = re.findall(r"^```console\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    parts = [part for block in found for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def run_console(command: str, folder: Path) -> str:
    """Run ``[mpiexec -n N] python|gaslab ...`` in *folder* and return what it prints."""
    words = shlex.split(command)
    ranks = int(words[2]) if words[0] == "mpiexec" else 1
    program, *arguments = words[3:] if words[0] == "mpiexec" else words
    if program == "gaslab":
        arguments = ["-m", "gaslab", *arguments]
    else:
        assert program == "python"
    done = run_script(ranks, arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if consoles(p)], ids=page_id)
def test_console_blocks_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    """A Python block that begins with ``# NAME.py`` is the file of that name."""
    (tmp_path / "datasets").symlink_to(ROOT / "datasets")
    for block in blocks(page):
        if named := re.match(r"# (\w+\.py)\n", block.code):
            (tmp_path / named[1]).write_text(block.code)
    for command, shown in consoles(page):
        assert run_console(command, tmp_path) == shown, command


def test_the_quick_start_runs_on_four_ranks() -> None:
    commands = [command for command, _ in consoles(ROOT / "docs" / "quickstart.md")]
    assert sum(command.startswith("mpiexec -n 4 ") for command in commands) == 2


def test_programs_page_shows_errors_with_their_text() -> None:
    errors = [block for block in blocks(ROOT / "docs" / "programs.md") if block.raises]
    assert len(errors) >= 4
    assert all(block.shown for block in errors)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_every_notebook_is_linked_from_a_page() -> None:
    text = "".join(page.read_text() for page in PAGES)
    for notebook in ROOT.glob("examples/*.ipynb"):
        assert f"examples/{notebook.name})" in text, notebook


def definitions(source: Path) -> set[str]:
    """Return the functions, classes and methods of a Python, Cython or C file."""
    if source.suffix == ".py":
        names = set()
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names.add(node.name)
                if isinstance(node, ast.ClassDef):
                    names |= {
                        f"{node.name}.{item.name}" for item in node.body if isinstance(item, ast.FunctionDef)
                    }
        return names
    text = source.read_text()
    names = set(re.findall(r"^(?:cp?def|def|typedef|#define)\b.*?\b(\w+)\s*\(", text, re.MULTILINE))
    for name, body in re.findall(r"^cdef class (\w+).*?:\n((?:    .*\n|\n)*)", text, re.MULTILINE):
        names |= {f"{name}.{method}" for method in re.findall(r"^    def (\w+)\(", body, re.MULTILINE)}
    return names


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_files_and_functions_that_are_named_exist(page: Path) -> None:
    for name, function in re.findall(r"`([\w/.]+\.(?:py|pyx|h|sh|ipynb))(?::([\w.]+))?`", page.read_text()):
        if "/" not in name:
            continue  # my.py and the like
        path = ROOT / name
        assert path.exists(), name
        if function:
            assert function in definitions(path), f"{name}:{function}"


def test_road_names_a_function_for_every_step() -> None:
    named = re.findall(r"`[\w/]+\.pyx?:\w+", (ROOT / "docs" / "road.md").read_text())
    assert len(named) >= 20


def edge_of_the_road(comm: Comm) -> tuple[bool, list[str]]:
    """Return whether the road's edge is on this rank, and what its ends are here."""
    graph = gl.read_graph(ROOT / "datasets" / "stdlib-imports.tsv", comm=comm)
    assert graph.ids.lookup(np.array([764, 652])).tolist() == ["urllib.parse", "re"]
    src, dst = graph.edges()
    place = {int(gid): k < graph.local.num_masters for k, gid in enumerate(graph.local.gid)}
    ends = [{True: "master", False: "mirror", None: "absent"}[place.get(gid)] for gid in (764, 652)]
    return bool(((src == 764) & (dst == 652)).any()), ends


def test_the_edge_goes_the_way_that_the_road_tells(hosts: Hosts) -> None:
    data = (ROOT / "datasets" / "stdlib-imports.tsv").read_bytes()
    assert data.index(b"\nurllib.parse\tre\t1\n") > len(data) / 2
    (on_0, ends_on_0), (on_1, ends_on_1) = hosts(2).run(edge_of_the_road)
    assert (on_0, ends_on_0) == (True, ["mirror", "master"])
    assert not on_1
    assert ends_on_1[0] == "master"


def commands() -> list[tuple[str, str]]:
    """Return every indented or inline command line that calls gaslab, with its page."""
    found = []
    for page in PAGES:
        for line in re.findall(r"^    .*|`[^`\n]+`", page.read_text(), re.MULTILINE):
            words = line.strip("` ").split("#")[0]
            if re.match(r"(mpiexec -n \d+ |srun |mpirun .*)?gaslab [a-z]", words):
                first, _, job = words[words.index("gaslab") :].partition(" -- ")
                jobs = [f"gaslab {job}"] if job and ".py" not in job else []  # of gaslab supervise
                found += [(page_id(page), command) for command in (first, *jobs)]
    return sorted(set(found))


@functools.cache
def help_of(command: str) -> str:
    """Return what ``gaslab COMMAND --help`` prints."""
    words = [sys.executable, "-m", "gaslab", command, "--help"]
    return subprocess.run(words, capture_output=True, text=True, env=environment(), check=True).stdout


@pytest.mark.parametrize(("page", "command"), commands())
def test_commands_use_options_that_exist(page: str, command: str) -> None:
    words = shlex.split(command)
    options = help_of(words[1]).replace(",", " ")
    for word in words[2:]:
        if word.startswith("-"):
            assert re.search(rf"(?<!\S){re.escape(word)}\b", options), word
