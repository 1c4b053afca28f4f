"""Programs that are nested deeply: one answer both ways or an error at the line, and never a long wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse
from gaslab.compiler.python import Interpreter
from gaslab.compiler.tree.depth import TOO_DEEP
from gaslab.errors import ProgramError
from gaslab.parallel.comm import Comm
from tests.support.agreement import Outcome, Task, assert_agree, by_reference, run_task
from tests.support.graphs import hubs
from tests.support.program_text import HEAD, load, tree_of, with_vertex

ELIFS = "".join(f"\n        elif v.count == {k}:\n            v.count = {k} + v.degree" for k in range(150))
FORMS = {
    "signs": "v.score = " + "-" * 900 + "v.score",
    "a sum": "v.score = v.score" + " + 1.0" * 900,
    "choices": "v.count = " + "v.count if v.count else " * 400 + "v.count",
    "powers": "v.score = v.score" + " ** 1.0" * 900,
    "branches": "if v.count: v.count = 0" + "\n        elif v.count: v.count = 1" * 900,
    "a long max": f"v.count = max({', '.join(['v.count'] * 900)})",
}


def applied(statement: str) -> str:
    """Return class P whose apply is *statement*."""
    return with_vertex() + f"    def apply(self, v):\n        {statement}\n"


def both_ways(task: Task) -> list[Outcome]:
    """Return what *task* gives compiled and interpreted."""
    return [run_task(task, task.graph.build(Comm()), (mode, 1)) for mode in ("require", "never")]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_nested_too_deeply_is_refused_at_its_line(form: str, tmp_path: Path) -> None:
    program = load(tmp_path, applied(FORMS[form])).P
    with pytest.raises(ProgramError, match=rf"program.py:\d+:\d+: {TOO_DEEP}\n") as caught:
        emit(parse(program))
    _, line, caret = str(caught.value).split("\n")
    assert line.strip()
    assert caret.strip() == "^"
    assert line[len(caret) - 1] != " "


def test_a_long_chain_of_helpers_is_refused_at_one_of_them(tmp_path: Path) -> None:
    chain = "".join(f"def h{k}(x):\n    return h{k + 1}(x)\n" for k in range(400))
    text = chain + "def h400(x):\n    return x\n" + applied("v.score = h0(v.score)")
    with pytest.raises(ProgramError, match=rf"program.py:\d+:\d+: {TOO_DEEP}\n +return h\d+\(x\)\n"):
        parse(load(tmp_path, text).P)


@pytest.mark.parametrize("form", ["-", "abs(", "+", "~"])
def test_each_operand_is_walked_once(form: str, tmp_path: Path) -> None:
    name, count = ("v.count", 60) if form == "~" else ("v.score", 60)
    text = f"{name} = {form * count}{name}{')' * count * (form[-1] == '(')}"
    assert emit(tree_of(tmp_path, applied(text)))  # where each level doubles the work, this has no end


def test_the_steps_of_a_loop_are_counted_once(tmp_path: Path) -> None:
    loops = "\n        ".join("    " * k + f"for i{k} in range(2):" for k in range(19))
    assert emit(tree_of(tmp_path, applied(loops + " v.count += 1")))  # as above


def test_a_draw_under_a_sign_is_one_draw() -> None:
    body = "v.score = -gl.uniform() + abs(gl.normal())\n        v.count = gl.integers(1000)"
    text = HEAD + applied(body)
    task = Task("signs_of_draws:P", hubs(9, 24), 2, text)
    compiled, interpreted = both_ways(task)
    assert compiled == interpreted
    assert_agree(compiled, by_reference(task), 1e-9)


def test_many_branches_run_both_ways() -> None:
    """Python itself ends at a hundred levels of indentation, which `elif` has not."""
    text = HEAD + applied("if v.count < 0:\n            v.count = 1" + ELIFS)
    task = Task("many_branches:P", hubs(9, 24), 4, text)
    compiled, interpreted = both_ways(task)
    assert compiled == interpreted
    assert max(compiled.vertices["count"].values()) > 0


def test_what_python_cannot_nest_is_an_error_of_the_program_when_interpreted(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, applied("v.score = " + "-" * 250 + "v.score"))
    assert emit(tree)
    with pytest.raises(ProgramError, match=TOO_DEEP):
        Interpreter(tree)
