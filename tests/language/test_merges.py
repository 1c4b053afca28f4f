"""The program's own merge: faults in it, what the reference engine finds wrong with it, several phases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaslab as gl

pytestmark = pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
HOW: list[dict[str, Any]] = [{"compile": "require"}, {"compile": "never"}, {"engine": "reference"}]


def star() -> gl.Graph:
    return gl.Graph.from_edges([1, 2, 3, 4], [0, 0, 0, 1])


class Ratio(gl.VertexProgram):
    """Divides by what is 0 where three are merged."""

    limit: int = 2

    class Vertex(gl.Vertex):
        n: int = 0

    class Total(gl.Accumulator):
        n: int = 0

    def merge(self, a: Total, b: Total) -> Total:
        n = a.n + b.n
        return self.Total(n=n + 1 // (self.limit - n if n > 0 else 1) * 0)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        return self.Total(n=1)

    def apply(self, v: Vertex, total: Total) -> None:
        v.n = total.n


@pytest.mark.parametrize("how", [*HOW[:2], {"engine": "reference"}])
def test_a_fault_in_merge_names_its_line(how: dict[str, Any]) -> None:
    done = gl.run(Ratio(limit=9), star(), max_iterations=1, **how)
    assert done.vertices["n"].tolist() == [3, 1, 0, 0, 0]
    with pytest.raises(
        gl.ExecutionError, match="Ratio failed at vertex 0 in superstep 0: integer division"
    ) as at:
        gl.run(Ratio(limit=2), star(), max_iterations=1, **how)
    assert "return self.Total(n=n + 1 //" in str(at.value)


class Solves(Ratio):
    """A merge that solves a system, which the third edge of a vertex makes no positive definite one."""

    def merge(self, a: Ratio.Total, b: Ratio.Total) -> Ratio.Total:
        x = gl.solve_spd(np.eye(2) * (1.5 - a.n * b.n), np.ones(2))
        return self.Total(n=a.n + b.n + 0 * int(x[0]))


@pytest.mark.parametrize("how", [*HOW[:2], {"engine": "reference"}])
def test_a_matrix_that_merge_cannot_solve_names_its_line(how: dict[str, Any]) -> None:
    with pytest.raises(gl.ExecutionError, match="Solves failed at vertex 0 in superstep 0: a matrix") as at:
        gl.run(Solves(limit=9), star(), max_iterations=1, **how)
    assert "x = gl.solve_spd" in str(at.value)


class Width(gl.VertexProgram):
    """The range of labels, from an aggregate over the edges whose parts are narrow."""

    class Vertex(gl.Vertex):
        wide: int = 0

    class Ends(gl.Accumulator):
        low: gl.int16 = 1000
        high: gl.int16 = -1000
        both: gl.Vector = gl.field(shape=2, dtype=gl.float32, init=0.5)

    def merge(self, a: Ends, b: Ends) -> Ends:
        return self.Ends(low=min(a.low, b.low), high=max(a.high, b.high), both=np.maximum(a.both, b.both))

    @gl.aggregator
    def ends(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Ends:
        return self.Ends(low=nbr.in_degree, high=nbr.in_degree, both=gl.at(1, v.out_degree))

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Count:
        return True

    def apply(self, v: Vertex, total: int) -> None:
        v.wide = self.ends.high - self.ends.low + int(2 * self.ends.both[0])

    def done(self) -> bool:
        return bool(self.ends.low == 1000)


@pytest.mark.parametrize("how", HOW)
def test_an_aggregate_is_merged(how: dict[str, Any]) -> None:
    done = gl.run(Width(), star(), max_iterations=1, **how)
    assert set(done.vertices["wide"].tolist()) == {3}
    ends = done.history[-1]["ends"]
    assert (ends.low, ends.high, ends.both.tolist()) == (1, 3, [0.5, 1.0])
    alone = gl.run(Width(), gl.Graph.from_edges([], []), **how)
    assert alone.vertices.to_dict("wide") == {}


class First(Ratio):
    """Says who came first."""

    def merge(self, a: Ratio.Total, b: Ratio.Total) -> Ratio.Total:
        return a if a.n > 0 else b

    def gather(self, v: Ratio.Vertex, e: gl.Edge, nbr: Ratio.Vertex) -> Ratio.Total:
        return self.Total(n=1 + nbr.out_degree + nbr.in_degree)


class Shifted(Ratio):
    """Adds more than it is given."""

    def merge(self, a: Ratio.Total, b: Ratio.Total) -> Ratio.Total:
        return self.Total(n=a.n + b.n + 1)


def test_the_reference_engine_tries_the_order() -> None:
    with pytest.raises(gl.ProgramError) as caught:
        gl.run(First(), star(), max_iterations=1, engine="reference")
    assert str(caught.value) == (
        "merge must not depend on the order, but makes Accumulator(n=3) of Accumulator(n=3) "
        "and Accumulator(n=2), and Accumulator(n=2) the other way round"
    )
    with pytest.raises(gl.ProgramError) as caught:
        gl.run(Shifted(), star(), max_iterations=1, engine="reference")
    assert str(caught.value) == (
        "merge with an empty accumulator must return Accumulator(n=1) unchanged, but makes "
        "Accumulator(n=2)"
    )


class Twice(gl.VertexProgram):
    """Two phases that merge."""

    class Vertex(gl.Vertex):
        most: int = 0

    class Top(gl.Accumulator):
        most: int = 0

    def merge(self, a: Top, b: Top) -> Top:
        return a if a.most > b.most else b

    def degrees(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Top:
        return self.Top(most=nbr.degree)

    def found(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Top:
        return self.Top(most=nbr.most)

    def keep(self, v: Vertex, total: Top) -> None:
        v.most = max(v.most, total.most)

    phases = (
        gl.Phase(gather=degrees, apply=keep, gather_edges=gl.ALL, supersteps=1),
        gl.Phase(gather=found, apply=keep, gather_edges=gl.ALL, supersteps=1),
    )


@pytest.mark.parametrize("how", HOW)
def test_every_phase_merges(how: dict[str, Any]) -> None:
    assert gl.run(Twice(), star(), **how).vertices["most"].tolist() == [3, 3, 3, 3, 3]
