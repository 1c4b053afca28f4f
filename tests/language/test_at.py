"""gl.at in every engine: which element it names, and the line that a fault of it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gaslab as gl
from gaslab.compiler.faults import FAULTS
from tests.conftest import Hosts
from tests.support.one_fault import MODES, NAMES, said

EDGES = [1, 1, 2, 3], [2, 3, 4, 4]  # only vertex 4 has two in-edges


class Counted(gl.VertexProgram):
    """Places an element by a number of its own, in a gather, an aggregator and a message."""

    class Vertex(gl.Vertex):
        place: int = 0
        gathered: gl.Vector = gl.field(shape=3, dtype=int)
        told: gl.Vector = gl.field(shape=3, dtype=int)

    class Bins(gl.Accumulator):
        of: gl.Vector = gl.field(shape=3, dtype=int)

    @gl.aggregator
    def all(self, v: Vertex) -> Bins:
        return self.Bins(of=gl.at(v.place, 10))

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Bins:
        return self.Bins(of=gl.at(nbr.place))

    def apply(self, v: Vertex, total: Bins, message: Bins) -> None:
        v.gathered = total.of
        v.told = message.of

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal(self.Bins(of=gl.at(v.place, v.in_degree + 1)))


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_a_negative_index_counts_from_the_end(mode: dict[str, Any]) -> None:
    graph = gl.Graph.from_edges(*EDGES)
    result = gl.run(Counted(), graph, max_iterations=2, init={"place": {1: -1, 2: -3, 3: -2, 4: 2}}, **mode)
    assert result.aggregates["all"].of.tolist() == [10, 10, 20]
    assert result.vertices.to_dict("gathered") == {1: [0, 0, 0], 2: [0, 0, 1], 3: [0, 0, 1], 4: [1, 1, 0]}
    assert result.vertices.to_dict("told")[4] == [2, 2, 0]


class Truths(gl.VertexProgram):
    class Vertex(gl.Vertex):
        counted: gl.Vector = gl.field(shape=2, dtype=int)

    class Bins(gl.Accumulator):
        of: gl.Vector = gl.field(shape=2, dtype=int)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Bins:
        return self.Bins(of=gl.at(nbr.in_degree > 0))

    def apply(self, v: Vertex, total: Bins) -> None:
        v.counted = total.of


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_a_bool_is_the_index_0_or_1(mode: dict[str, Any]) -> None:
    table = gl.run(Truths(), gl.Graph.from_edges(*EDGES), max_iterations=1, **mode).vertices
    assert table.to_dict("counted") == {1: [0, 0], 2: [1, 0], 3: [1, 0], 4: [0, 2]}


class Faulty(gl.VertexProgram):
    """Fails at vertex 4, which alone has two in-edges."""

    class Vertex(gl.Vertex):
        x: int = 0

    class Bins(gl.Accumulator):
        of: gl.Vector = gl.field(shape=2, dtype=gl.int8)
        n: gl.int8

    def apply(self, v: Vertex) -> None:
        v.x = 1


class InGather(Faulty):
    def gather(self, v: Faulty.Vertex, e: gl.Edge, nbr: Faulty.Vertex) -> Faulty.Bins:
        return self.Bins(
            n=1,
            of=gl.at(  # here
                v.in_degree,
            ),
        )

    def apply(self, v: Faulty.Vertex, total: Faulty.Bins) -> None:
        v.x = total.n


class Negative(InGather):
    def gather(self, v: Faulty.Vertex, e: gl.Edge, nbr: Faulty.Vertex) -> Faulty.Bins:
        return self.Bins(of=gl.at(-1 - v.in_degree))  # here


class InAggregator(Faulty):
    @gl.aggregator
    def bins(self, v: Faulty.Vertex) -> Faulty.Bins:
        if v.in_degree < 2:
            return self.Bins(n=1)
        return self.Bins(of=gl.at(2))  # here


class InMessage(Faulty):
    def apply(self, v: Faulty.Vertex, message: Faulty.Bins) -> None:
        v.x = message.n

    def scatter(self, v: Faulty.Vertex, e: gl.Edge, nbr: Faulty.Vertex) -> None:
        if nbr.in_degree == 2:
            nbr.signal(
                self.Bins(of=gl.at(2)),  # here
            )


class InMerged(Faulty):
    class Best(gl.Accumulator):
        of: gl.Vector = gl.field(shape=2, dtype=int)

    def merge(self, a: Best, b: Best) -> Best:
        return self.Best(of=a.of + b.of)

    def gather(self, v: Faulty.Vertex, e: gl.Edge, nbr: Faulty.Vertex) -> Best:
        return self.Best(of=gl.at(v.in_degree))  # here

    def apply(self, v: Faulty.Vertex, total: Best) -> None:
        v.x = total.of[0]


class OfWeight(InGather):
    def gather(self, v: Faulty.Vertex, e: gl.Edge, nbr: Faulty.Vertex) -> Faulty.Bins:
        weight = 64 * v.in_degree
        return self.Bins(of=gl.at(0, weight))  # here


class OfNumber(InGather):
    def gather(self, v: Faulty.Vertex, e: gl.Edge, nbr: Faulty.Vertex) -> Faulty.Bins:
        number = 64 * v.in_degree
        return self.Bins(n=number)  # here


@pytest.mark.parametrize("program", Faulty.__subclasses__() + InGather.__subclasses__())
def test_a_fault_names_the_line_of_the_contribution(hosts: Hosts, program: type[gl.VertexProgram]) -> None:
    lines = Path(__file__).read_text().splitlines()
    begin = next(k for k, line in enumerate(lines) if line.startswith(f"class {program.__name__}("))
    at = next(k for k in range(begin, len(lines)) if lines[k].endswith("# here"))
    what = FAULTS[2] if program in (OfWeight, OfNumber) else FAULTS[5]
    sender = "2" if program is InMessage else "4"
    place = f"{__file__}:{at + 1}: {program.__name__} failed at vertex {sender} in superstep 0: "
    for mode in MODES:
        for size in (1, 2) if "engine" not in mode else (1,):
            for text in hosts(size).run(said, program, {}, mode):
                assert text.startswith(place)
                assert text.endswith(f"\n    {lines[at].strip()}")
                assert what in text or ("engine" in mode and "is outside the range of int8" in text)
