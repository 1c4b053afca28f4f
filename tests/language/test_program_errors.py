"""The errors of programs outside the language: exact place, text and remedy.

The cases are in ``program_errors/*.txt``: under a line ``## name`` stands a program in which a line
``   ^ message`` is below the line at fault. The caret's column, and the message, are what the error
must say.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gaslab.compiler.frontend import parse
from gaslab.errors import ProgramError
from tests.support.program_text import load, marked

CASES = {
    f"{file.stem}: {name}": text
    for file in sorted((Path(__file__).parent / "program_errors").glob("*.txt"))
    for name, _, text in (case.partition("\n") for case in file.read_text().split("## ")[1:])
}


def test_there_are_cases() -> None:
    assert len(CASES) > 100


@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # `is` with a literal
@pytest.mark.parametrize("case", CASES)
def test_the_error_says_where_what_and_the_way_out(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text, expected = marked(CASES[case])
    program = load(tmp_path, text).P
    with pytest.raises(ProgramError) as caught:
        parse(program)
    assert str(caught.value) == expected
