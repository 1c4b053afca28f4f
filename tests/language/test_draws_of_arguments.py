"""Draws that are arguments of a call: the order in which they are drawn is Python's."""

from __future__ import annotations

import pytest

import gaslab as gl
from tests.support.one_fault import MODES


def less(a: float, b: float) -> float:
    return a - 2.0 * b


class ByName(gl.VertexProgram):
    """Draws that are arguments by place and by name, in the order of the parameters."""

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=4)

    def apply(self, v: Vertex) -> None:
        v.x[0] = less(gl.uniform(), gl.uniform())
        v.x[1] = less(a=gl.uniform(), b=gl.uniform())
        v.x[2] = less(gl.uniform(), b=less(b=0.5, a=gl.uniform()))
        v.x[3] = gl.uniform(low=gl.uniform(), high=1.0 + gl.uniform())


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_arguments_by_name_draw_in_turn() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2])
    compiled, *others = (
        gl.run(ByName(), graph, max_iterations=1, seed=5, **mode).vertices["x"].tolist() for mode in MODES
    )
    assert others == [compiled] * 2
    assert len({number for row in compiled for number in row}) == 12
