"""docs/python.md: what it calls refused is refused, and what it says to write instead compiles."""

from __future__ import annotations

import linecache
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import gaslab as gl
from gaslab.errors import ProgramError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
ROWS = re.findall(r"^\| `([^`]+)` \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
HEAD = """\
import math
import gaslab as gl
import numpy as np
class Try(gl.VertexProgram):
    k: int = 3
    rate: float = 0.5
    class Vertex(gl.Vertex):
        n: int = 12
        score: float = 1.5
        x: gl.Vector = gl.field(shape=3, init=1.0)
        m: gl.Matrix = gl.field(shape=(3, 3), init=1.0)
        near: gl.List[int]
    def init(self, v: Vertex) -> None:
        for i in range(3):
            v.m[i, i] = 2.0 + i
    def apply(self, v: Vertex) -> None:
        s = 0.0
        """


def run(statement: str, name: str) -> None:
    """Run a program whose apply ends in *statement*."""
    text = f"{HEAD}{statement}\n"
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, file, "exec"), vars(module))
    gl.run(module.Try(), gl.Graph.from_edges([0], [1]), max_iterations=1, compile="never")


def test_the_page_has_its_tables() -> None:
    assert len(ROWS) > 40


@pytest.mark.parametrize("refused", [row[0] for row in ROWS])
def test_what_the_page_calls_refused_is_refused(refused: str) -> None:
    with pytest.raises(ProgramError):
        run(refused, "refused")


@pytest.mark.parametrize("instead", [row[1] for row in ROWS if row[1].startswith("`")])
@pytest.mark.filterwarnings("ignore::gaslab.PerformanceWarning")
def test_what_the_page_says_to_write_instead_runs(instead: str) -> None:
    run(instead[1:].partition("`")[0], "instead")
