"""A gather's total is made in the field that apply copies it to, where this changes no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

import gaslab as gl
from gaslab.compiler.c import emit, total_in_field
from gaslab.compiler.frontend import parse
from tests.programs.totals_in_fields import (
    Averages,
    MadeInField,
    NotAtFirst,
    ReadAcross,
    ReadOnTheWay,
    ReadTwice,
)
from tests.support.program_text import tree_of


@pytest.mark.parametrize("program", [MadeInField, Averages])
def test_a_total_that_is_copied_whole_is_made_in_its_field(program: type[gl.VertexProgram]) -> None:
    tree = parse(program)
    field = total_in_field.place(tree)
    assert field.startswith("n->f")
    assert f"gl_total *total = (gl_total *){field};" in emit(tree)


@pytest.mark.parametrize("program", [NotAtFirst, ReadAcross, ReadOnTheWay, ReadTwice])
def test_a_total_that_is_needed_beside_the_field_is_not(program: type[gl.VertexProgram]) -> None:
    tree = parse(program)
    assert total_in_field.place(tree) == ""
    assert "gl_total total;" in emit(tree)


PROGRAM = """
class P(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=4, dtype=gl.{stored})
        s: float = 0.0
    class T(gl.Accumulator):
        x: gl.Vector = gl.field(shape=4)
        {more}
    def gather(self, v, e, nbr) -> T:
        return self.T(x=gl.at(1, 2.0))
    def apply(self, v: Vertex, total: T): {apply}
"""


@pytest.mark.parametrize(
    ("stored", "more", "apply", "made"),
    [
        ("float64", "", "v.x = total.x", True),
        ("float64", "", "v.x = total.x; v.s = v.x[0]", True),
        ("float32", "", "v.x = total.x", False),  # of another size
        ("float64", "n: float", "v.x = total.x", False),  # beside another part
        ("float64", "", "v.x = 2.0 * total.x", False),
        ("float64", "", "v.x = total.x + v.x", False),
        ("float64", "", "v.x[0] = total.x[0]", False),
        ("float64", "", "v.s = total.x[0]", False),
    ],
)
def test_only_a_copy_of_one_vector_counts(
    tmp_path: Path, stored: str, more: str, apply: str, made: bool
) -> None:
    tree = tree_of(tmp_path, PROGRAM.format(stored=stored, more=more, apply=apply))
    assert bool(total_in_field.place(tree)) is made
