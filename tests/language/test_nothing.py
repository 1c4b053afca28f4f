"""``return None`` of gathers and aggregators: it contributes nothing, whatever combines the rest."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import gaslab as gl
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.agreement import from_text

# what combines -> (a contribution of vertex {u}, what apply keeps of the total)
OF = {
    "Sum[int]": ("{u}.n", "v.n = total"),
    "Sum[float]": ("{u}.n * -0.5", "v.x = total"),
    "Sum[gl.int8]": ("{u}.n", "v.n = total"),
    "Prod[int]": ("{u}.n", "v.n = total"),
    "Prod[float]": ("{u}.n * 0.5", "v.x = total"),
    "Min[int]": ("{u}.n", "v.n = total"),
    "Min[gl.int16]": ("{u}.n", "v.n = total"),
    "Max[gl.uint8]": ("{u}.n", "v.n = total"),
    "Max[float]": ("{u}.n * -1.0", "v.x = total"),
    "Min[bool]": ("{u}.n > 2", "v.b = total"),
    "Max[bool]": ("{u}.n > 2", "v.b = total"),
    "Min[gl.VertexId]": ("{u}.id", "v.who = total"),
    "Max[gl.VertexId]": ("{u}.id", "v.who = total"),
    "Any[bool]": ("{u}.n > 2", "v.b = total"),
    "All[bool]": ("{u}.n > 2", "v.b = total"),
    "Count": ("{u}.n > 2", "v.n = total"),
    "BitOr[int]": ("{u}.n", "v.n = total"),
    "ArgMin[int, gl.VertexId]": ("({u}.n, {u}.id)", "v.n, v.who = total"),
    "ArgMax[float, int]": ("({u}.n * 0.5, 3)", "v.x, v.n = total"),
    "List[int]": ("{u}.n", "v.some = total"),
    "SortedSet[gl.VertexId]": ("{u}.id", "v.near = total"),
    "SumBy[int, float]": ("({u}.n % 2, 0.5)", "v.x, v.n = total[1], len(total)"),
    "Parts": ("self.Parts(n={u}.n, low={u}.n, every={u}.n > 2)", "v.n, v.b = total.low, total.every"),
    "Own": ("self.Own(n={u}.n)", "v.n, v.x = total.n, 1.0 * total.merges"),
}  # fmt: skip
COLLECTED = ("List", "SortedSet", "SumBy")
BODY = [
    "if self.all:", "    return None", "if {u}.n % 5 == 0:", "    return", "if {u}.n == 1:",
    "    return None if {u}.b else ({value} if not {u}.b else None)",
    "return {value} if {u}.n % 3 != 0 else None",
]  # fmt: skip
HEAD = """import gaslab as gl

class P(gl.VertexProgram):
    all: bool = False
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        n: int = 0
        x: float = 0.0
        b: bool = False
        who: gl.VertexId = gl.NOBODY
        some: gl.List[int]
        near: gl.SortedSet[gl.VertexId]

    class Parts(gl.Accumulator):
        n: int
        low: gl.Min[gl.int8]
        every: gl.All[bool]

    class Own(gl.Accumulator):
        n: int = 0
        merges: int = 0

    def merge(self, a: Own, b: Own) -> Own:
        nothing = a.n == 0 or b.n == 0
        return self.Own(n=a.n + b.n, merges=a.merges + b.merges + (0 if nothing else 1))

    def init(self, v):
        v.n = v.index % 7
"""


def source(what: str) -> str:
    """Return a program whose gather, and aggregator where there is one, contribute nothing here and there."""
    value, keeps = OF[what]
    name = what if what in ("Parts", "Own") else f"gl.{what}"
    method = [f"    def {{head}} -> {name}:", *(f"        {line}" for line in BODY), ""]
    text = "\n".join(method)
    lines = HEAD + "\n" + text.format(head="gather(self, v, e, nbr)", u="nbr", value=value.format(u="nbr"))
    lines += f"\n    def apply(self, v, total):\n        {keeps}\n"
    if not what.startswith(COLLECTED):
        for head, u in (("whole(self, v)", "v"), ("over(self, v, e, nbr)", "nbr")):
            lines += "\n    @gl.aggregator\n" + text.format(head=head, u=u, value=value.format(u=u))
    return lines


def plain(value: Any) -> Any:
    return vars(value) if isinstance(value, gl.Accumulator) else value


def program(what: str) -> Any:
    return from_text(f"nothing_{list(OF).index(what)}", source(what)).P


def answer(comm: Comm, what: str, every: bool, mode: dict[str, Any]) -> Any:
    sources, targets = [k * 3 % 17 for k in range(40)], [k * 5 % 19 for k in range(40)]
    graph = gl.Graph.from_edges(sources, targets, comm=comm, rows="same")
    result = gl.run(program(what)(all=every), graph, max_iterations=2, **mode)
    rows = [result.initial_aggregates, *result.history]
    found = [{k: plain(row[k]) for k in ("whole", "over") if k in row} for row in rows]
    return {k: result.vertices[k].tolist() for k in result.vertices.columns}, found


MODES: list[dict[str, Any]] = [{"threads": 1}, {"threads": 2}, {"compile": "never"}]


def answers(comm: Comm, what: str) -> list[Any]:
    return [[answer(comm, what, every, mode) for mode in MODES] for every in (False, True)]


PART = [pytest.param(what, marks=[pytest.mark.slow] * (k % 3 > 0)) for k, what in enumerate(OF)]


@pytest.mark.parametrize("what", PART)
def test_none_contributes_nothing(ranks: Ranks, what: str) -> None:
    expected = [answer(Comm(), what, every, {"engine": "reference"}) for every in (False, True)]
    merges = what == "Own"  # how often two meet depends on the ranks
    for found in ranks.run(answers, what):
        for modes, (vertices, rows) in zip(found, expected, strict=True):
            for its_vertices, its_rows in modes:
                assert repr(its_vertices) == repr(vertices) or (merges and its_vertices["n"] == vertices["n"])
                assert repr(its_rows) == repr(rows) or merges


SOME = {"Sum[float]": "x", "Min[gl.int16]": "n", "Max[gl.VertexId]": "who", "ArgMin[int, gl.VertexId]": "n"}


@pytest.mark.parametrize("what", SOME)
def test_where_nothing_contributes_a_total_is_that_of_no_edges(what: str) -> None:
    """An aggregate, too, which is kept in eight bytes."""
    vertices, rows = answer(Comm(), what, True, {})
    alone = gl.Graph.from_edges([], [], vertices=range(19))
    empty = gl.run(program(what)(all=True), alone, max_iterations=1)
    assert repr(rows[0]["over"]) == repr(rows[0]["whole"]) == repr(empty.initial_aggregates["over"])
    assert {repr(x) for x in vertices[SOME[what]]} == {repr(x) for x in empty.vertices[SOME[what]].tolist()}


class Chosen(gl.VertexProgram):
    """The guard of a list that is read of the far end: None spares reading it."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        near: gl.SortedSet[gl.VertexId]
        common: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int] | None:
        return gl.common(v.near, nbr.near) if v.id < nbr.id else None

    def apply(self, v: Vertex, total: int) -> None:
        v.common = total


class Zero(Chosen):
    def gather(self, v: Chosen.Vertex, e: gl.Edge, nbr: Chosen.Vertex) -> gl.Sum[int]:
        return gl.common(v.near, nbr.near) if v.id < nbr.id else 0


def test_none_of_a_sum_is_the_same_c_as_zero() -> None:
    lines = [emit(parse(one)).replace(one.__name__, "P") for one in (Chosen, Zero)]
    kept = [[x for x in text.splitlines() if not x.startswith(("#line", "/*", "//"))] for text in lines]
    assert kept[0] == kept[1]
    assert "None" in inspect.getsource(Chosen.gather)


class Async(gl.VertexProgram):
    """The least id around and its own, without supersteps and with stale values."""

    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        least: int = 0
        fell: bool = True

    def init(self, v: Vertex) -> None:
        v.least = v.index

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[int]:
        return nbr.least if nbr.least < v.least else None  # type: ignore[return-value]

    def apply(self, v: Vertex, total: int) -> None:
        v.fell = total < v.least or v.least == v.index
        v.least = min(v.least, total)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.least < nbr.least:
            nbr.signal()


def by_engine(comm: Comm, engine: Any) -> list[int]:
    graph = gl.Graph.from_edges(range(30), [k * k % 30 for k in range(30)], comm=comm)
    found: list[int] = gl.run(Async(), graph, engine=engine).vertices["least"].tolist()
    return found


@pytest.mark.parametrize("engine", ["async", gl.Stale(2), gl.Stale(0)], ids=str)
def test_none_without_supersteps(ranks: Ranks, engine: Any) -> None:
    expected = by_engine(Comm(), "reference")
    assert ranks.run(by_engine, engine) == [expected] * ranks.size
