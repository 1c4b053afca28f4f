"""`run(trace=...)`: chosen vertices through the phases; the engines have the same rows, on any ranks."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gaslab as gl
from gaslab.cli import main
from gaslab.parallel.comm import Comm
from tests.language.test_agreement import task_of
from tests.mpi.ranks import Ranks
from tests.programs import CASES, Case
from tests.support.agreement import Task
from tests.support.graphs import STRATEGIES, graphs

EDGES = ([10, 10, 20, 40, 40], [20, 40, 30, 30, 30])
KILOMETRES = {"km": [4.0, 1.0, 2.0, 8.0, 4.0]}


class Spread(gl.VertexProgram):
    class Vertex(gl.Vertex):
        heat: float = 1.0
        by: gl.VertexId

    class Edge(gl.Edge):
        km: float
        far: bool = False

    def init(self, v: Vertex) -> None:
        v.heat = v.degree
        v.by = v.id

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.heat / e.km

    def apply(self, v: Vertex, total: float, message: gl.Min[gl.VertexId]) -> None:
        v.heat = 0.5 * v.heat + total
        v.by = message

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.far = e.km > 3.0
        if self.superstep == 0:
            nbr.signal(v.id)


def traced(comm: Comm, engine: str, chosen: Any = (30, 10)) -> tuple[str, list[dict[str, Any]]]:
    graph = gl.Graph.from_edges(*EDGES, columns=KILOMETRES, comm=comm)
    trace = gl.run(Spread(), graph, engine=engine, trace=chosen).trace
    assert trace is not None
    return str(trace), trace.rows


def test_the_engine_records_what_masters_hold(ranks: Ranks) -> None:
    for text, _ in ranks.run(traced, "sync"):
        assert text.splitlines() == [
            "superstep 0",
            "  10 init: heat 1.0 -> 2.0",
            "  30 init: heat 1.0 -> 3.0, by 10 -> 30",
            "  10 apply: total 0.0; heat 2.0 -> 1.0, by 10 -> None",
            "  30 apply: total 2.125; heat 3.0 -> 3.625, by 30 -> None",
            "superstep 1",
            "  30 apply: total 2.0625; message 20; heat 3.625 -> 3.875, by None -> 20",
        ]


def test_the_reference_engine_records_every_call(ranks: Ranks) -> None:
    for text, rows in ranks.run(traced, "reference"):
        first = text.splitlines()[: text.splitlines().index("superstep 1")]
        assert first[3:6] == [
            "  30 gather 20 -> 30: returned 1.0",
            f"  30 gather 40 -> 30: returned {3 / 8}",
            f"  30 gather 40 -> 30: returned {3 / 4}",
        ]
        assert first[8:] == [
            "  10 scatter 10 -> 20: e.far False -> True; signals 20 with 10",
            "  10 scatter 10 -> 40: signals 40 with 10",
            "  30 signal from 20: message 20",
            "  30 signal from 40: message 40",
            "  30 signal from 40: message 40",
        ]
        gathered = next(row for row in rows if row["method"] == "gather")
        assert [gathered[name] for name in ("source", "target", "neighbor")] == [20, 30, 20]


def test_a_vertex_that_is_not_there(ranks: Ranks) -> None:
    for engine in ("sync", "reference"):
        with pytest.raises(gl.VertexNotFound, match="vertex 31 is not in the graph; the nearest"):
            ranks.run(traced, engine, [31])


def test_one_vertex_a_set_and_nothing_asked() -> None:
    graph = gl.Graph.from_edges(*EDGES, columns=KILOMETRES)
    one = gl.run(Spread(), graph, trace=30).trace
    assert one is not None
    assert [row["vertex"] for row in one] == [30, 30, 30]
    chosen = graph.vertices([10, 30])
    both = gl.run(Spread(), graph, trace=chosen).trace
    assert both is not None
    assert both.of(30).rows == one.rows
    assert len(both.at(0)) == 4
    assert repr(both) == "<Trace: 5 rows of [10, 30]>"
    assert gl.run(Spread(), graph).trace is None


def test_rows_for_pandas() -> None:
    pytest.importorskip("pandas")
    graph = gl.Graph.from_edges(*EDGES, columns=KILOMETRES)
    trace = gl.run(Spread(), graph, engine="reference", trace=[10]).trace
    assert trace is not None
    frame = trace.to_pandas()
    sent = frame[frame["method"] == "scatter"]
    assert sent["neighbor"].tolist() == [20, 40]
    assert sent["signals"].tolist() == [[(20, 10)], [(40, 10)]]
    assert frame["superstep"].dtype == "int64"


def sided(comm: Comm, engine: str) -> list[Any]:
    graph = gl.Graph.from_edges([1, 2], [1, 1], columns={"km": [1.0, 4.0]}, bipartite=True, comm=comm)
    trace = gl.run(Spread(), graph, engine=engine, trace=[gl.right(1)]).trace
    assert trace is not None
    last = trace.at(1).rows[-1]
    return [last["vertex"], last["message"], last["changed"]["by"]]


class Falling(gl.VertexProgram):
    """Nothing but apply and scatter: what one rank alone runs without looking between supersteps."""

    class Vertex(gl.Vertex):
        left: int = 9

    def start(self, v: Vertex) -> bool:
        return v.degree == 1

    def apply(self, v: Vertex, message: gl.Max[int]) -> None:
        v.left = v.left - 1 if self.superstep == 0 else min(v.left, message)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.left < nbr.left:
            nbr.signal(v.left)


def fall(comm: Comm) -> list[tuple[int, Any]]:
    chain = gl.Graph.from_edges(range(6), range(1, 7), comm=comm)
    trace = gl.run(Falling(), chain, trace=[4]).trace
    assert trace is not None
    return [(row["superstep"], row["message"], row["changed"]) for row in trace]


def test_no_superstep_runs_unseen(ranks: Ranks) -> None:
    assert ranks.run(fall) == [[(4, 8, {"left": (9, 8)})]] * ranks.size


def test_both_sides_have_their_own_names(ranks: Ranks) -> None:
    for engine in ("sync", "reference"):
        assert ranks.run(sided, engine) == [[gl.right(1), 1, (None, 1)]] * ranks.size


def both_ways(comm: Comm, task: Task, strategy: str, chosen: list[Any]) -> tuple[Any, Any]:
    """Return the rows of the engine and of the reference, having seen that a trace changes nothing."""
    graph = task.graph.build(comm, strategy)
    options: dict[str, Any] = {
        "max_iterations": task.limit, "columns": task.columns, "init": task.init, "start": task.start,
        "compile": "never",  # the trace is the same, and nothing needs to be compiled
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of limits
        plain = gl.run(task.instance(), graph, **options)
        seen = gl.run(task.instance(), graph, trace=chosen, **options)
        oracle = gl.run(task.instance(), graph, trace=chosen, engine="reference", **options)
    for name in plain.vertices:
        assert repr(plain.vertices[name].tolist()) == repr(seen.vertices[name].tolist()), name
    assert repr(plain.aggregates) == repr(seen.aggregates)
    assert seen.trace is not None
    assert oracle.trace is not None
    return seen.trace.rows, oracle.trace.rows


TRACED = {
    *("Pour", "Owed", "Topics", "Cooling", "Begun", "Carried", "Posted", "Silent", "Throws", "Savings"),
    *("Messaged", "Inbox", "WaysOfAPhase", "Upstream", "Ends", "Singles", "Labels", "Median", "Pairs"),
    *("Tolls", "TollsInPhases", "Messages", "Bundles", "Turns", "Portions", "Normal", "Counted", "Trade"),
    *("Both", "DeltaStepping", "Nearest", "NearestPair", "Enough", "EnoughPairs", "Hooking", "Votes"),
    "Deliveries",
}


@pytest.mark.parametrize("case", [case for case in CASES if str(case) in TRACED], ids=str)
@settings(max_examples=max(settings.default.max_examples // 4, 1))
@given(data=st.data())
def test_the_engine_has_the_rows_of_the_reference(ranks: Ranks, case: Case, data: st.DataObject) -> None:
    graph = data.draw(graphs(directed=True if case.directed_only else None), label="graph")
    task = task_of(case, graph, data)
    chosen = data.draw(st.lists(st.sampled_from(graph.ids), min_size=1, max_size=4), label="chosen")
    strategy = data.draw(st.sampled_from(STRATEGIES), label="strategy")
    of_each_rank = ranks.run(both_ways, task, strategy, chosen)
    for rows, oracle in of_each_rank:
        assert repr(rows) == repr(of_each_rank[0][0])
        assert repr(oracle) == repr(of_each_rank[0][1])
    rows, oracle = of_each_rank[0]
    mine = [row for row in rows if row["method"] in ("init", "apply")]
    theirs = [row for row in oracle if row["method"] in ("init", "apply")]
    assert [key(row) for row in mine] == [key(row) for row in theirs]
    for a, b in zip(mine, theirs, strict=True):
        for name in ("total", "message", "changed"):
            assert close(a[name], b[name], case.tolerance), (name, a, b)


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["superstep"], row["phase"], row["method"], row["vertex"]


def close(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(b, dict):
        # A change within the tolerance may be none to the other.
        return all(close(a.get(k, a), x, tolerance) if k in a else close(*x, tolerance) for k, x in b.items())
    if isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(close(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(b, float) and math.isfinite(b):
        return bool(abs(a - b) <= tolerance * max(1.0, abs(b)))
    return bool(a == b or (a != a and b != b))


def test_the_command_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, edges = tmp_path / "half.py", tmp_path / "edges.tsv"
    program.write_text(
        "import gaslab as gl\n\n\nclass Half(gl.VertexProgram):\n    class Vertex(gl.Vertex):\n"
        "        heat: float = 8.0\n\n    def apply(self, v: Vertex) -> None:\n"
        "        v.heat = v.heat / v.degree\n"
    )
    edges.write_text("a\tb\nb\tc\n")
    words = ["--max-iterations", "2", "--trace", "b", "--trace", "a", "-q"]
    assert main(["run", f"{program}:Half", str(edges), *words]) == 0
    oracle = capsys.readouterr().out
    assert oracle.startswith(
        "superstep 0\n  a apply: changed nothing\n  b apply: heat 8.0 -> 4.0\n"
        "superstep 1\n  a apply: changed nothing\n  b apply: heat 4.0 -> 2.0\n"
    )
