"""A small part of the fuzzing of the compiler, and all that it found; `tests.fuzz.sources` has the rest."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

import pytest

from gaslab.errors import ProgramError
from tests.fuzz import source_check
from tests.fuzz.source_check import PARSE, RUN, Wrong, check
from tests.fuzz.source_texts import seeds
from tests.fuzz.sources import CORPUS, Checker, Sources

TEXTS = 60
FOUND = {path.stem: path.read_text(encoding="utf-8") for path in sorted(CORPUS.glob("*.txt"))}
PLAIN = """
from gaslab import program as gl
class P(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 1
    def apply(self, v):
        v.n = v.n + 1
"""


@pytest.fixture(scope="module")
def sources() -> Iterator[Sources]:
    made = Sources()
    yield made
    made.close()


def quiet(*_: str) -> None:
    """Nobody asks which stage a text is at."""


@pytest.mark.slow
def test_drawn_texts_have_an_answer_or_an_error_with_its_place(sources: Sources) -> None:
    for run in range(TEXTS):
        case = sources.draw(random.Random(f"sources of the tests {run}"))
        assert sources.check(case) is None, case
    assert {"accepted", "refused"} <= sources.kinds.keys()


def test_the_same_seed_draws_the_same_text(sources: Sources) -> None:
    first, again, other = (sources.draw(random.Random(seed)) for seed in ("1", "1", "2"))
    assert first == again != other


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_once(name: str, sources: Sources) -> None:
    assert sources.verdict(FOUND[name], RUN) is None


@pytest.mark.slow
def test_the_programs_that_are_changed_are_right_before() -> None:
    assert len(seeds()) > 100
    for module, name in seeds():
        assert check(ast.unparse(module) + "\n", PARSE, quiet) == ["accepted", ""], name


@pytest.mark.parametrize(
    ("stage", "mistake", "words"),
    [
        ("parse_phases", KeyError("x"), "parse: KeyError"),
        ("parse_phases", RecursionError(), "parse: RecursionError"),
        ("parse_phases", ProgramError("p.py:1: no column"), "an error without a place"),
        ("parse_phases", ProgramError("nowhere.py:1:1: a\nb\n^"), "an error at no line of the file"),
        (
            "parse_phases",
            ProgramError("fuzzed_program.py:7:3: a\n        v.n = v.n + 1\n^"),
            "whose caret is off",
        ),
        ("emit", AssertionError("y"), "emit: AssertionError"),
    ],
)
def test_a_mistake_of_the_compiler_is_a_finding(
    stage: str, mistake: Exception, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise mistake

    monkeypatch.setattr(source_check, stage, fail)
    with pytest.raises(Wrong, match=words):
        check(PLAIN, PARSE, quiet)


def test_c_that_does_not_compile_and_answers_that_differ_are_findings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert check(PLAIN, RUN, quiet) == ["ran", "answer"]
    outcomes = iter([("answer", 1), ("error", "no")])
    monkeypatch.setattr(source_check, "_outcome", lambda *_: next(outcomes))
    with pytest.raises(Wrong, match="compiled answer 1 but interpreted error no"):
        check(PLAIN, RUN, quiet)
    monkeypatch.setattr(source_check, "emit", lambda tree: "int f(void) { return undeclared(); }")
    with pytest.raises(Wrong, match=r"C that does not compile: .*undeclared"):
        check(PLAIN, RUN, quiet)


@pytest.mark.slow
def test_a_text_that_ends_or_holds_the_process_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.sources.SECONDS", 5.0)
    checker = Checker()
    deadly = "import gaslab.compiler.frontend.method as m, os\nm.method = lambda *_: os._exit(3)\n"
    endless = "import gaslab.compiler.frontend.method as m, time\nimport gaslab.compiler.frontend as p\n"
    endless += "p.method = lambda *_: time.sleep(60)\n"
    deadly += "import gaslab.compiler.frontend as p\np.method = m.method\n"
    try:
        assert checker.check("import os\nos._exit(3)\n", PARSE) == ("python", "ended the process")
        assert checker.check(deadly + PLAIN, PARSE) == ("wrong", "parse: the process died (3)")
        assert checker.check(endless + PLAIN, PARSE) == ("wrong", "parse: no answer")
        assert checker.check(PLAIN, PARSE) == ("accepted", "")
    finally:
        checker.close()


def test_a_finding_is_shrunk(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    more = (
        PLAIN
        + "    def helper(self, x):\n        return x + 1\n    def start(self, v):\n        return v.n > 0\n"
    )
    monkeypatch.setattr(sources, "verdict", lambda case, deep: "wrong" if "v.n > 0" in case else None)
    small = sources.shrunk(more, "wrong")
    assert "v.n > 0" in small
    assert len(small) < len(more) / 2
