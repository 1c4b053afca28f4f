"""Where a program may live: files, notebook cells, scripts, functions, other modules."""

from __future__ import annotations

import doctest
import gc
import linecache
import os
import subprocess
import sys
import textwrap
import threading
import types
from pathlib import Path
from typing import Any

import pytest

from gaslab import program as gl
from gaslab.compiler.frontend import parse
from gaslab.compiler.frontend.source import SourceFile
from gaslab.errors import ProgramError
from gaslab.language.annotations import annotations_of
from tests.support.program_text import load
from tests.support.tree_text import phase_text

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
class P(gl.VertexProgram):
    scale: gl.float32 = 2.0
    class Vertex(gl.Vertex):
        score: gl.float32 = 0.0
    def init(self, v: Vertex) -> None:
        v.score = self.scale
    def apply(self, v: Vertex, message: gl.Min[gl.float32]) -> None:
        v.score = message
    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal(v.score)
"""
FUTURE = "from __future__ import annotations\n"
HEAD = "from gaslab import program as gl\n"


def run_cell(text: str, number: int, module: types.ModuleType) -> None:
    """Run *text* as a notebook does: the text in linecache, no file, names in one module."""
    name = f"/tmp/ipykernel_1/{number}.py"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec", dont_inherit=True), vars(module))


@pytest.fixture
def notebook() -> types.ModuleType:
    return types.ModuleType("__main__")


@pytest.mark.parametrize("future", ["", FUTURE])
def test_a_notebook_cell(future: str, notebook: types.ModuleType) -> None:
    run_cell(future + HEAD + PROGRAM, 1, notebook)
    tree = parse(notebook.P)
    assert phase_text(tree, "init") == "v.score = self.scale"
    assert tree.params[0].storage == tree.vertex_fields[0].storage == "float32"
    assert tree.params[0].site.text == "    scale: gl.float32 = 2.0"
    assert tree.vertex_fields[0].site.text == "        score: gl.float32 = 0.0"
    assert tree.message is not None
    assert tree.message.storage == "float32"


def test_a_cell_run_again_is_read_anew(notebook: types.ModuleType) -> None:
    run_cell(HEAD + PROGRAM, 1, notebook)
    parse(notebook.P)
    run_cell(HEAD + PROGRAM.replace("self.scale", "self.scale + 1.0"), 1, notebook)
    assert phase_text(parse(notebook.P), "init") == "v.score = (self.scale + 1.0)"


def test_bases_and_helpers_in_other_cells(notebook: types.ModuleType) -> None:
    run_cell("def half(x):\n    return x / 2\n", 1, notebook)
    run_cell(HEAD + PROGRAM, 2, notebook)
    run_cell(
        "class Q(P):\n    class Vertex(P.Vertex):\n        extra: float = 0.0\n"
        "    def init(self, v):\n        v.extra = half(v.score)\n",
        3, notebook,
    )  # fmt: skip
    tree = parse(notebook.Q)
    assert phase_text(tree, "init") == "v.extra = half0(v.score)"
    assert phase_text(tree, "apply") == "v.score = message"
    assert [(f.name, f.site.file[-4:]) for f in tree.vertex_fields] == [("score", "2.py"), ("extra", "3.py")]


def test_an_error_in_a_cell_shows_the_cells_line(notebook: types.ModuleType) -> None:
    run_cell(HEAD + PROGRAM.replace("= self.scale", "= self.scael"), 7, notebook)
    with pytest.raises(ProgramError) as caught:
        parse(notebook.P)
    assert str(caught.value) == (
        "/tmp/ipykernel_1/7.py:8:24: P has no parameter or aggregator 'scael'; did you mean 'scale'?\n"
        "        v.score = self.scael\n"
        "                       ^"
    )


@pytest.mark.parametrize("future", ["", FUTURE])
def test_a_script(future: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    tail = "from gaslab.compiler.frontend import parse\nprint(parse(P).vertex_fields[0].site.line)\n"
    script.write_text(future + HEAD + PROGRAM + tail)
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == 6 + bool(future)


def test_an_ipython_session(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    script = tmp_path / "session.py"
    script.write_text(
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        f"for cell in ({HEAD + PROGRAM!r},\n"
        "    'from gaslab.compiler.frontend import parse\\nprint(parse(P).params[0].site.text)'):\n"
        "    shell.run_cell(cell).raise_error()\n"
    )
    env = {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "    scale: gl.float32 = 2.0"


def test_a_doctest() -> None:
    lines = [
        ">>> from gaslab import program as gl", ">>> from gaslab.compiler.frontend import parse",
        ">>> class P(gl.VertexProgram):", "...     class Vertex(gl.Vertex):", "...         n: int = 0",
        "...     def init(self, v):", "...         v.n = v.degree", 
        ">>> [f.name for f in parse(P).vertex_fields]", "['n']",
    ]  # fmt: skip
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, "example", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test) == (0, 4)


def test_a_class_in_a_function_that_alone_knows_the_language(tmp_path: Path) -> None:
    text = (
        FUTURE + "def make():\n    from gaslab import program as words\n" + textwrap.indent(PROGRAM, "    ")
    )
    file = tmp_path / "inner.py"
    file.write_text(text.replace("gl.", "words.") + "    return P\n")
    module = types.ModuleType("inner")
    exec(compile(file.read_text(), str(file), "exec", dont_inherit=True), vars(module))
    tree = parse(module.make())
    assert tree.vertex_fields[0].storage == "float32"
    assert tree.message is not None
    assert tree.message.op == "min"


def test_two_classes_of_one_name_in_one_file(tmp_path: Path) -> None:
    module = load(tmp_path, PROGRAM + "First = P\n" + PROGRAM.replace("2.0", "3.0"))
    assert parse(module.First).params[0].site.text == "    scale: gl.float32 = 2.0"
    assert parse(module.P).params[0].site.text == "    scale: gl.float32 = 3.0"


def test_a_base_in_another_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "base_of_tests.py").write_text(FUTURE + HEAD + PROGRAM)
    monkeypatch.syspath_prepend(tmp_path)
    module = load(tmp_path, "import base_of_tests\nclass Q(base_of_tests.P):\n    scale = 4\n")
    tree = parse(module.Q)
    assert tree.name == "Q"
    assert tree.params[0].default == 4.0
    assert {Path(site.file).name for site in tree.sites} == {"base_of_tests.py"}


def test_the_same_function_under_two_names(tmp_path: Path) -> None:
    text = "def zero(self, v):\n    v.score = 0.0\n" + PROGRAM + "    init = zero\n"
    assert phase_text(parse(load(tmp_path, text).P), "init") == "v.score = 0.0"


def test_text_without_a_file_is_refused() -> None:
    module = types.ModuleType("typed")
    exec(compile(HEAD + PROGRAM, "<typed>", "exec", dont_inherit=True), vars(module))
    with pytest.raises(ProgramError) as caught:
        parse(module.P)
    assert str(caught.value) == (
        "<typed>:9: the source of P.apply cannot be read; define the program in a file or a notebook cell, "
        "or put its text into linecache.cache"
    )


TYPED = HEAD + PROGRAM + """
from gaslab.compiler.frontend import parse
print(*parse(P).functions)
"""


@pytest.mark.parametrize("how", ["-c", "file", "argument", "pipe"])
def test_a_main_program_that_is_in_no_file(tmp_path: Path, how: str) -> None:
    file, python = tmp_path / "typed.py", [sys.executable]
    file.write_text(TYPED)
    options: dict[str, Any] = {"capture_output": True, "text": True}
    options["env"] = os.environ | {"PYTHONPATH": str(ROOT)}
    if how == "-c":
        ended = subprocess.run([*python, "-Bc", TYPED, "-c", "x"], **options, check=False)
    elif how == "pipe":
        ended = subprocess.run([*python, "-"], **options, input=TYPED, check=False)
    else:
        with file.open() as text:
            more = ["-", "x"] if how == "argument" else []
            ended = subprocess.run([*python, *more], **options, stdin=text, check=False)
    if how == "pipe":  # its text is gone
        assert "<stdin>:9: the source of P.apply cannot be read; define the program in a file" in ended.stderr
    else:
        assert ended.stdout.split() == ["init", "apply", "scatter"], ended.stderr


def test_a_file_that_changed_since_is_refused(tmp_path: Path) -> None:
    module = load(tmp_path, PROGRAM)
    file = tmp_path / "program.py"
    file.write_text("# a new line\n" + file.read_text())
    with pytest.raises(ProgramError) as caught:
        parse(module.P)
    assert (
        str(caught.value) == f"{file}:10: P.apply is no longer at this line; reload the changed file"
    )


def test_a_lambda_is_refused(tmp_path: Path) -> None:
    module = load(tmp_path, PROGRAM + "    init = lambda self, v: None\n")
    with pytest.raises(ProgramError, match=r"program.py:14:12: a lambda is not in the language; write a def"):
        parse(module.P)


@pytest.mark.parametrize("thing", [3, int, gl.Vertex])
def test_what_is_no_program_is_refused(thing: object) -> None:
    with pytest.raises(
        ProgramError, match=r"is not a vertex program; write class Name\(gl.VertexProgram\):$"
    ):
        parse(thing)  # type: ignore[arg-type]


def test_annotations_that_name_nothing_are_kept_as_written(tmp_path: Path) -> None:
    module = load(tmp_path, "class P(gl.VertexProgram):\n    x: 'nowhere.at_all' = 1\n    y: float = 2.0\n")
    found = annotations_of(module.P, gl.VertexProgram)
    assert list(found) == ["x", "y"]
    assert found["x"].text == "nowhere.at_all"
    assert module.P(x=5).x == 5


def test_the_caret_stands_under_the_column_behind_tabs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "tabs.py"
    file.write_text(HEAD + "class P(gl.VertexProgram):\n\tdef init(self, v):\n\t\tv.score = 1.0\n")
    module = types.ModuleType("tabs")
    exec(compile(file.read_text(), str(file), "exec", dont_inherit=True), vars(module))
    with pytest.raises(ProgramError) as caught:
        parse(module.P)
    assert str(caught.value) == (
        "tabs.py:4:5: Vertex has no field 'score'; known: degree, id, in_degree, index, out_degree, side\n"
        "\t\tv.score = 1.0\n\t\t  ^"
    )


class Late:
    """Runs Python when it is collected, wherever that happens: also in the middle of parsing."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        sum(range(200))


@pytest.mark.slow
def test_threads_may_parse_at_once() -> None:
    """CPython 3.10 and early 3.11 count the depth of all trees that are being made together."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines(keepends=True)
    failed: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(20):
                garbage = [Late() for _ in range(20)]
                del garbage
                SourceFile("this", lines)
        except SystemError as error:
            failed.append(error)

    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*threshold)
    assert not failed


@pytest.mark.slow
def test_an_error_in_an_ipython_session_is_its_message_alone(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    script = tmp_path / "session.py"
    wrong = HEAD + PROGRAM.replace("self.scale", "self.scal")
    script.write_text(
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        f"shell.run_cell({wrong!r})\n"
        "print('----')\n"
        "shell.run_cell('import gaslab\\ngaslab.explain(P)')\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True, check=True)
    lines = done.stdout.partition("----\n")[2].splitlines()
    assert lines[0].startswith("ProgramError: ")
    assert any("^" in line for line in lines)
    assert len(lines) < 8
    assert "Traceback" not in done.stdout
