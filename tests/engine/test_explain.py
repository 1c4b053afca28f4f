"""What `explain` says of a program: its fields, what travels and why, and the C beside its lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.cli import main
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks


class Both(gl.VertexProgram):
    """A field for each way to travel; one that never does."""

    class Vertex(gl.Vertex):
        near: float = 0.0
        far: gl.int16 = 0
        ends: bool = False
        counted: int = 0
        home: float = 0.0

    class Edge(gl.Edge):
        weight: float = 1.0

    @gl.aggregator
    def balance(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return v.counted

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Max[float]:
        return v.near * e.weight + nbr.far

    def apply(self, v: Vertex, total: float, message: gl.Sum[int]) -> None:
        v.home = total
        v.far = message % 7

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.ends or nbr.ends:
            nbr.signal(3)


def test_totals_with_parts_and_pairs_travel() -> None:
    for program, name in [(Parts, "Total"), (Pairs, "gl.ArgMin[float64, int16]")]:
        (found,) = (t for t in gl.explain(program).travels if t["what"] == "total of gather")
        assert found["bytes"] == 16
        assert found["why"] == f"{name} of what the edges there give, combined there first"


class Parts(gl.VertexProgram):
    class Total(gl.Accumulator):
        a: float
        b: gl.Min[gl.int16]

    def gather(self, v: gl.Vertex, e: gl.Edge, nbr: gl.Vertex) -> Total:
        return self.Total(a=1.0, b=nbr.degree)

    def apply(self, v: gl.Vertex, total: Total) -> None:
        pass


class Pairs(gl.VertexProgram):
    def gather(self, v: gl.Vertex, e: gl.Edge, nbr: gl.Vertex) -> gl.ArgMin[float, gl.int16]:
        return 1.0, nbr.degree

    def apply(self, v: gl.Vertex, total: tuple[float, int]) -> None:
        pass


def test_every_way_to_travel_has_its_reason() -> None:
    found = gl.explain(Both)
    ways = {t["what"]: (t["bytes"], t["to"], t["why"]) for t in found.travels}
    once = "; sent once, since apply does not write it"
    assert ways == {
        "near": (8, "to mirrors with in-edges", "gather reads it of the vertex itself" + once),
        "far": (2, "to mirrors with out-edges", "gather reads it of the neighbour"),
        "ends": (1, "to all mirrors with edges",
                 "scatter reads it of the vertex itself; scatter reads it of the neighbour" + once),
        "counted": (8, "to mirrors with out-edges",
                    "aggregator balance reads it of an edge's source" + once),
        "total of gather": (8, "from mirrors with in-edges",
                            "gl.Max[float64] of what the edges there give, combined there first"),
        "message": (8, "from mirrors with in-edges",
                    "gl.Sum[int64] of what the edges there give, combined there first"),
    }  # fmt: skip


class Sizes(gl.VertexProgram):
    """Fields of every size that travel."""

    k: int = 3

    class Vertex(gl.Vertex):
        four: gl.Vector = gl.field(shape=4)
        table: gl.Matrix = gl.field(shape=("k", 2), dtype=gl.float32)
        near: gl.SortedSet[gl.VertexId]
        best: gl.VertexId = gl.NOBODY
        one: gl.int8 = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        here = nbr.four[1] + nbr.table[0, 1] > len(nbr.near) + nbr.one
        return nbr.best if here and nbr.best != v.id else None

    def apply(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v.four[2] = 1.0
        v.near = total


def test_arrays_travel_whole_and_lists_by_the_number() -> None:
    sizes = {t["what"]: (t["bytes"], t["list"]) for t in gl.explain(Sizes).travels}
    assert sizes == {
        "four": (32, False), "table": (24, False), "near": (4, True), "best": (8, False), "one": (1, False),
        "total of gather": (4, True),
    }  # fmt: skip
    wider = {t["what"]: t["bytes"] for t in gl.explain(Sizes(k=5)).travels}
    assert wider["table"] == 40
    text = str(gl.explain(Sizes))
    assert "  four (32 bytes) to mirrors with out-edges" in text
    assert "  near (at most 4 bytes for each in the list) to mirrors with out-edges" in text
    assert "gl.SortedSet[id] of what the edges there give" in text
    assert "id32" not in text


def test_a_default_is_what_a_program_writes() -> None:
    found = {f["name"]: f["default"] for f in gl.explain(Sizes).fields}
    assert found == {"four": " = 0.0", "table": " = 0.0", "near": "", "best": " = gl.NOBODY", "one": " = 0"}


def test_fields_name_who_reads_and_writes_them() -> None:
    found = {f["name"]: f for f in gl.explain(Both()).fields}
    assert (found["home"]["read_by"], found["home"]["written_by"]) == ([], ["apply"])
    assert (found["weight"]["of"], found["weight"]["read_by"]) == ("Edge", ["gather"])
    assert found["ends"]["read_by"] == ["scatter"]
    assert found["counted"]["read_by"] == ["balance"]


def test_every_line_stands_beside_its_c() -> None:
    code = gl.explain(Both).code
    assert list(code) == ["gather", "apply", "balance", "scatter"]
    lines = Path(__file__).read_text().splitlines()
    for rows in code.values():
        for number, text, c in rows:
            assert lines[number - 1] == text
            assert c
    (row,) = code["gather"]
    assert row[1].strip() == "return v.near * e.weight + nbr.far"
    assert "n->f0_near" in row[2]
    assert "c->f1_far[x]" in row[2]


def test_what_is_printed_has_all_parts() -> None:
    text = str(gl.explain(Both))
    assert text.startswith("Both: gathers over gl.IN, scatters over gl.OUT\n\nfields\n  Vertex.near: float64")
    assert "\n\nwhat travels between ranks\n  near (8 bytes) to mirrors with in-edges: " in text
    assert "| v.home = total\n       |     n->f4_home = l_total;\n" in text


def count(comm: Comm) -> Any:
    graph = gl.Graph.from_edges([0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0], strategy="random", comm=comm)
    found = {t["what"]: t["values"] for t in gl.explain(Both, graph).travels}
    bounds = graph.local.mirror_bounds
    mirrors = int(comm.allreduce(int((bounds[:, 3] - bounds[:, 0]).sum()))) if comm.size > 1 else 0
    return found["ends"], mirrors, found["near"] <= found["ends"]


def test_a_graph_adds_how_many_values_travel(ranks: Ranks) -> None:
    for values, mirrors, fewer in ranks.run(count):
        assert values == mirrors
        assert fewer


class Turns(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: int = 0

    def up(self, v: Vertex) -> None:
        v.x += 1

    def down(self, v: Vertex) -> None:
        v.x -= 1

    phases = (gl.Phase(apply=up, supersteps=1), gl.Phase(apply=down, supersteps=1))


def test_phases_are_shown_one_by_one() -> None:
    found = gl.explain(Turns)
    assert found.title == "Turns: 2 phases"
    assert [rows[0][1].strip() for rows in found.code.values()] == ["v.x += 1", "v.x -= 1"]


def test_something_else_is_refused() -> None:
    with pytest.raises(gl.UsageError, match="a VertexProgram class or instance is needed, not int"):
        gl.explain(3)  # type: ignore[arg-type]


def test_the_command_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "warm.py"
    file.write_text(
        "import gaslab as gl\n\n\nclass Warm(gl.VertexProgram):\n    class Vertex(gl.Vertex):\n"
        "        heat: float = 1.0\n\n"
        "    def apply(self, v: Vertex) -> None:\n        v.heat = v.heat / 2.0\n"
    )
    assert main(["explain", f"{file}:Warm"]) == 0
    printed = capsys.readouterr().out
    assert "what travels between ranks\n  nothing\n" in printed
    assert "   9 | v.heat = v.heat / 2.0\n" in printed


class Loops(gl.VertexProgram):
    """A loop for each edge of every kind: over elements, by range, in a helper, within a loop, while."""

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=8)
        y: gl.Vector = gl.field(shape=8)

    class Total(gl.Accumulator):
        squares: gl.Matrix = gl.field(shape=(8, 8))

    @gl.aggregator
    def closeness(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return nearness(v, nbr) + v.degree

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        return self.Total(squares=np.outer(nbr.x, nbr.x))

    def apply(self, v: Vertex, total: Total) -> None:
        v.x = v.x + total.squares[0]

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        n = 0.0
        for k in range(2, 5):
            n += np.sum(v.y) + k
        while n > 1.0:
            n /= 2.0
        if v.x[0] > n:
            nbr.signal()


def nearness(v: Loops.Vertex, nbr: Loops.Vertex) -> float:
    return np.dot(v.x, nbr.x)


def test_loops_at_each_edge_are_shown() -> None:
    found = gl.explain(Loops)
    rounds = {(loop["method"], loop["text"].strip()): loop["rounds"] for loop in found.edge_loops}
    assert rounds == {
        ("closeness", "return np.dot(v.x, nbr.x)"): 8,
        ("gather", "return self.Total(squares=np.outer(nbr.x, nbr.x))"): 36,
        ("scatter", "for k in range(2, 5):"): 3,
        ("scatter", "n += np.sum(v.y) + k"): 24,
        ("scatter", "while n > 1.0:"): None,
    }
    shown = str(found)
    assert ", 36 times: return self.Total(" in shown
    assert ", a run decides how often: while n > 1.0:" in shown
    assert "loops at each edge" not in str(gl.explain(gl.programs.PageRank))
