"""Live totals: each edge sees its table's additions and those of the rounds before; all are summed."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gaslab as gl
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse
from gaslab.parallel.comm import Comm
from gaslab.programs.gibbs import CollapsedGibbs
from tests.mpi.ranks import Ranks


class Numbered(gl.VertexProgram):
    """Every visit takes a number and adds one."""

    ways: int = 1
    visit_ways = "ways"

    class Edge(gl.Edge):
        number: int = 0

    @gl.aggregator(live=True)
    def visits(self, v: gl.Vertex) -> gl.Sum[int]:
        return 0

    def visit(self, u: gl.Vertex, e: Edge, w: gl.Vertex) -> None:
        e.number = self.visits
        self.visits += 1


def numbered(comm: Comm, ways: int, threads: int) -> tuple[list[int], int]:
    ends = np.random.default_rng(4).integers(0, 40, (2, 200)) * 2
    graph = gl.Graph.from_edges(ends[0], ends[1] + 1, comm=comm)
    result = gl.run(Numbered(ways=ways), graph, max_iterations=2, threads=threads, edges=True)
    return sorted(result.edges["number"].tolist()), result.aggregates["visits"]


@pytest.mark.parametrize("threads", [1, 2])
def test_all_additions_are_summed_and_with_one_way_seen_at_once(ranks: Ranks, threads: int) -> None:
    found, total = ranks.run(numbered, 1, threads)[0]
    assert total == 400
    assert found == list(range(200, 400))  # in the second sweep
    found, total = ranks.run(numbered, 4, threads)[0]
    assert total == 400
    assert found[:4] == [200] * 4  # each of four tables begins with the totals of the round's begin
    assert found == numbered(Comm(), 4, 1)[0]


def test_what_is_made_of_a_live_total_is_kept_beside_it() -> None:
    text = emit(parse(CollapsedGibbs, {"topics": 8}))
    (draw,) = (line for line in text.splitlines() if "l_new = (" in line and "c->derived0[l_" in line)
    assert "/" not in draw
    assert "c->aggregate" not in draw  # nor is the prior, which lies in double, converted
    assert text.count("[at] = (((gl_real)1.0) / ") == 2  # at the two additions


@pytest.mark.parametrize("topics", [100, 256, 1000, 4000])
def test_a_draw_along_a_long_row_fetches_the_next_one(topics: int) -> None:
    """One row at once is too many lines; a row as long as a draw's is fetched in one place alone."""
    text = emit(parse(CollapsedGibbs, {"topics": topics}))
    (draw,) = (line for line in text.splitlines() if "GL_ROW gl_real rows" in line)
    at_once = "__builtin_prefetch(&c->f0_counts[next * " in text
    assert (at_once, "__builtin_prefetch" in draw) == {
        100: (True, False), 256: (False, True), 1000: (False, True), 4000: (False, False)
    }[topics]  # fmt: skip


@pytest.mark.parametrize("ways", [1, 8])
def test_topics_of_long_rows_are_those_of_interpreter_and_reference(ways: int) -> None:
    rng = np.random.default_rng(1)
    graph = gl.Graph.from_edges(rng.integers(0, 9, 200), rng.integers(0, 30, 200), bipartite=True)
    counts, *others = (
        gl.run(CollapsedGibbs(topics=300, iterations=3, ways=ways), graph, **how).vertices["counts"]
        for how in ({}, {"compile": "never"}, {"engine": "reference"})
    )
    for other in others:
        np.testing.assert_array_equal(counts, other)


class Tilted(gl.VertexProgram):
    """Every edge draws a colour by an aggregate that no sweep changes, and by what is made of it alone."""

    precision = gl.float32
    colours: int = 19
    visit_ways = 1

    class Edge(gl.Edge):
        colour: int = -1

    class Total(gl.Accumulator):
        tilt: gl.Vector = gl.field(shape="colours")

    @gl.aggregator
    def lean(self, v: gl.Vertex) -> Total:
        return self.Total(tilt=gl.at(v.degree % self.colours, 1.0 / (1 + v.degree + self.superstep)))

    def visit(self, u: gl.Vertex, e: Edge, w: gl.Vertex) -> None:
        e.colour = gl.categorical(self.lean.tilt + 1.0 / (0.01 + self.lean.tilt))


class TiltedInDouble(Tilted):
    precision = gl.float64


@pytest.mark.parametrize("program", [Tilted, TiltedInDouble])
def test_weights_of_an_aggregate_that_sweeps_leave_alone(program: type[Tilted]) -> None:
    """They are computed once in a sweep, which sees the aggregate as it is now; no total is live here."""
    graph = gl.Graph.from_edges([1] * 50 + [2] * 50, [3, 4, 5, 6, 7] * 20)
    colours, *others = (
        gl.run(program(), graph, max_iterations=3, edges=True, **how).edges["colour"].tolist()
        for how in ({}, {"compile": "never"}, {"engine": "reference"})
    )
    assert others == [colours, colours]
    (draw,) = (x for x in emit(parse(program, {"colours": 19})).splitlines() if "GL_ROW gl_real rows" in x)
    assert "c->derived0[l_" in draw
    for of_each_edge in ("c->aggregate", "/"):
        assert of_each_edge not in draw


class Polya(gl.VertexProgram):
    """Every edge draws a colour as often as it has been drawn before, and once more."""

    colours: int = 19
    visit_ways = 1

    class Edge(gl.Edge):
        colour: int = -1

    class Total(gl.Accumulator):
        balls: gl.Vector = gl.field(shape="colours", dtype=int)

    @gl.aggregator(live=True)
    def urn(self, v: gl.Vertex) -> Total:
        return self.Total(balls=gl.at(0, 0))

    def visit(self, u: gl.Vertex, e: Edge, w: gl.Vertex) -> None:
        e.colour = gl.categorical(1.0 + self.urn.balls)
        self.urn.balls[e.colour] += 1


def test_weights_of_a_live_total_and_constants_alone() -> None:
    """What is kept is computed of the total, not of what is kept itself."""
    ends = np.random.default_rng(5).integers(0, 40, (2, 300))
    graph = gl.Graph.from_edges(*ends)
    colours, *others = (
        gl.run(Polya(), graph, max_iterations=2, edges=True, **how).edges["colour"].tolist()
        for how in ({}, {"compile": "never"}, {"engine": "reference"})
    )
    assert others == [colours, colours]
    text = emit(parse(Polya, {"colours": 19}))
    assert "= c->derived0[" not in text.split("GL_RANGE(gl_visit)")[1]


class Long(gl.VertexProgram):
    """Many vectors of an aggregate, which together would not fit on a stack."""

    class Vertex(gl.Vertex):
        x: float = 0.0

    class Total(gl.Accumulator):
        tall: gl.Vector = gl.field(shape=65536)

    @gl.aggregator
    def urn(self, v: gl.Vertex) -> Total:
        return self.Total(tall=gl.at(0, 1.0))

    def visit(self, u: Vertex, e: gl.Edge, w: Vertex) -> None:
        w.x += np.sum(2.0 * self.urn.tall) + np.sum(3.0 * self.urn.tall) + np.sum(4.0 * self.urn.tall)
        w.x += np.sum(5.0 * self.urn.tall) + np.sum(6.0 * self.urn.tall) + np.sum(7.0 * self.urn.tall)


def test_derived_vectors_fit_on_a_stack() -> None:
    assert set(re.findall(r"\bderived\d+\b", emit(parse(Long, {})))) == {"derived0", "derived1"}  # of six
    graph = gl.Graph.from_edges([0, 1], [1, 2])
    for how in ({"compile": "require"}, {"engine": "reference"}):
        assert gl.run(Long(), graph, max_iterations=1, **how).vertices["x"].tolist() == [0.0, 81.0, 81.0]


@pytest.mark.parametrize("ways", [-1, 2000])
def test_ways_out_of_range(ways: int) -> None:
    graph = gl.Graph.from_edges([1], [2])
    with pytest.raises(gl.UsageError, match="a whole number from 0 to 1024 is needed"):
        gl.run(Numbered(ways=ways), graph, max_iterations=1)
