"""Programs that print or stop, and debuggers, are for the reference engine; gathers over no edges."""

from __future__ import annotations

import bdb
import inspect
import io
import math
import pdb
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks


class Talking(gl.VertexProgram):
    class Vertex(gl.Vertex):
        turns: int = 0

    def apply(self, v: Vertex) -> None:
        print("at", v.id, "after", v.turns)
        v.turns += 1


class Alone(gl.VertexProgram):
    """Gathers and scatters over no edges."""

    gather_edges = gl.NONE
    scatter_edges = gl.NONE

    class Vertex(gl.Vertex):
        turns: int = 0
        least: float = 0.0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[float]:
        return nbr.least

    def apply(self, v: Vertex, total: float) -> None:
        v.turns += 1
        v.least = total

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal()


def test_the_reference_engine_prints(capsys: pytest.CaptureFixture[str]) -> None:
    graph = gl.Graph.from_edges([1, 2], [2, 3])
    result = gl.run(Talking(), graph, engine="reference", max_iterations=2)
    assert capsys.readouterr().out.splitlines() == [f"at {v} after {t}" for t in (0, 1) for v in (1, 2, 3)]
    assert result.vertices["turns"].tolist() == [2, 2, 2]


def test_a_compiled_program_says_where_to_print() -> None:
    graph = gl.Graph.from_edges([1, 2], [2, 3])
    with pytest.raises(gl.ProgramError, match="print is not in the language; run with engine='reference'"):
        gl.run(Talking(), graph, max_iterations=2)


def run_alone(comm: Comm, engine: str) -> tuple[list[int], list[float], int]:
    graph = gl.Graph.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 0, 1], comm=comm)
    result = gl.run(Alone(), graph, engine=engine)
    return result.vertices["turns"].tolist(), result.vertices["least"].tolist(), result.iterations


@pytest.mark.parametrize("engine", ["sync", "reference"])
def test_no_edges_to_gather_or_scatter_over(ranks: Ranks, engine: str) -> None:
    assert ranks.run(run_alone, engine) == [([1] * 4, [math.inf] * 4, 1)] * ranks.size


# ---- at a debugger's breakpoint ---------------------------------------------------------------------


class Cooling(gl.VertexProgram):
    """Warmth that flows; `apply` has several lines to step over."""

    rate: float = 0.5

    class Vertex(gl.Vertex):
        heat: float = 8.0
        x: gl.Vector = gl.field(shape=2, init=1.0)

    class Edge(gl.Edge):
        km: float

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        flow = nbr.heat / e.km
        return max(flow, 0.0)

    def apply(self, v: Vertex, total: float) -> None:
        change = self.rate * total
        v.heat = v.heat + change
        v.x[1] = v.heat


def line_of(method: Any, text: str) -> int:
    """Return the line of the file where *method* says *text*."""
    lines, first = inspect.getsourcelines(method)
    return first + next(k for k, line in enumerate(lines) if text in line)


def path() -> gl.Graph:
    return gl.Graph.from_edges(["a", "b"], ["b", "c"], columns={"km": [1.0, 4.0]})


def cool() -> gl.Result:
    return gl.run(Cooling(), path(), max_iterations=2, engine="reference")


@pytest.fixture(autouse=True)
def no_breakpoints() -> Iterator[None]:
    yield
    bdb.Breakpoint.clearBreakpoints()  # all debuggers of a process share them


class Stops(bdb.Bdb):
    """Notes what it sees wherever it stops; steps *steps* lines on from each breakpoint."""

    def __init__(self, steps: int = 0) -> None:
        super().__init__()
        self.steps, self.left, self.seen = steps, 0, list[tuple[int, dict[str, Any]]]()

    def user_line(self, frame: FrameType) -> None:
        if "v" not in frame.f_locals:  # at the very begin
            self.set_continue()
            return
        seen = {"v": frame.f_locals["v"].id, "heat": float(frame.f_locals["v"].heat)}
        seen |= {name: value for name, value in frame.f_locals.items() if name in ("total", "change")}
        self.seen.append((frame.f_lineno, seen))
        at_breakpoint = frame.f_lineno in self.get_file_breaks(frame.f_code.co_filename)
        self.left = self.steps if at_breakpoint else self.left - 1
        if self.left:
            self.set_next(frame)
        else:
            self.set_continue()


def test_a_breakpoint_in_apply_stops_at_every_vertex() -> None:
    debugger, line = Stops(), line_of(Cooling.apply, "v.heat = v.heat + change")
    debugger.set_break(__file__, line)
    result = debugger.runcall(cool)
    assert [at for at, _ in debugger.seen] == [line] * 6  # three vertices, two supersteps
    assert [seen["v"] for _, seen in debugger.seen] == ["a", "b", "c"] * 2
    assert debugger.seen[1][1] == {"v": "b", "heat": 8.0, "total": 8.0, "change": 4.0}
    assert debugger.seen[4][1] == {"v": "b", "heat": 12.0, "total": 8.0, "change": 4.0}
    assert result.vertices.to_dict("heat") == cool().vertices.to_dict("heat") == {"a": 8, "b": 16, "c": 10.5}


def test_stepping_goes_from_line_to_line() -> None:
    debugger, line = Stops(steps=2), line_of(Cooling.apply, "change = self.rate * total")
    debugger.set_break(__file__, line)
    debugger.runcall(cool)
    assert [at - line for at, _ in debugger.seen] == [0, 1, 2] * 6
    assert [seen["heat"] for _, seen in debugger.seen[3:6]] == [8.0, 8.0, 12.0]


def test_a_breakpoint_in_gather_sees_the_edge() -> None:
    debugger = Stops()
    debugger.set_break(__file__, line_of(Cooling.gather, "return max"), cond="e.km == 4.0 and flow > 2.0")
    debugger.runcall(cool)
    assert [seen["v"] for _, seen in debugger.seen] == ["c"]  # in the second superstep alone


def test_pdb_shows_fields_and_changes_them() -> None:
    words = [
        "c",
        "p v",
        "p v.heat, total, self.superstep",
        "n",
        "v.heat = 100.0",
        "p v.x",
        "up",
        "down",
        "where",
        "c",
        "c",
    ]
    said = io.StringIO()
    typed = io.StringIO("\n".join([*words, "c", "c", ""]))
    debugger = pdb.Pdb(stdin=typed, stdout=said, readrc=False, nosigint=True)
    debugger.set_break(__file__, line_of(Cooling.apply, "change = self.rate"), cond="v.id == 'c'")
    result = debugger.runcall(cool)
    printed = said.getvalue()
    assert "-> change = self.rate * total" in printed
    assert "<vertex c: heat=8.0, x=" in printed
    assert "(8.0, 2.0, 0)" in printed
    assert "-> v.heat = v.heat + change" in printed
    assert "[1., 1.]" in printed
    assert f"{__file__}({line_of(Cooling.apply, 'v.heat = v.heat')})apply()" in printed
    assert result.vertices.to_dict("heat")["c"] == 101.0 + 1.5  # what was typed, and both supersteps


class Pausing(Cooling):
    where: gl.VertexId

    def apply(self, v: Cooling.Vertex, total: float) -> None:
        if v.id == self.where:
            breakpoint()
        v.heat = total


def test_breakpoint_in_the_program_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[str] = []

    def pause() -> None:
        frame = inspect.currentframe()
        assert frame is not None
        assert frame.f_back is not None
        stopped.append(frame.f_back.f_locals["v"].id)

    monkeypatch.setattr("sys.breakpointhook", pause)
    result = gl.run(Pausing(where="b"), path(), max_iterations=1, engine="reference")
    assert stopped == ["b"]
    assert result.vertices.to_dict("heat") == {"a": 0.0, "b": 8.0, "c": 2.0}
