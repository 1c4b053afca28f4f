"""`gaslab.run`: stopping, starting values, edge columns, faults and the figures of a run."""

from __future__ import annotations

import re
import warnings
from unittest import mock

import numpy as np
import pytest

import gaslab as gl
from gaslab.language.annotations import annotations_of


def ring(n: int, **options: object) -> gl.Graph:
    return gl.Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n, **options)


class Count(gl.VertexProgram):
    """Counts the supersteps at every vertex, to a limit of its own."""

    until: int = 5

    class Vertex(gl.Vertex):
        steps: int = 0

    @gl.aggregator
    def least(self, v: Vertex) -> gl.Min[int]:
        return v.steps

    def apply(self, v: Vertex) -> None:
        v.steps += 1

    def done(self) -> bool:
        return self.least >= self.until


class Forever(gl.VertexProgram):
    class Vertex(gl.Vertex):
        steps: int = 0

    def apply(self, v: Vertex) -> None:
        v.steps = self.superstep + 1


class Relay(gl.VertexProgram):
    """Passes a token along; each vertex keeps the superstep in which it came."""

    first: gl.VertexId

    class Vertex(gl.Vertex):
        came: int = -1

    def start(self, v: Vertex) -> bool:
        return v.id == self.first

    def apply(self, v: Vertex) -> None:
        v.came = self.superstep

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.came < 0:
            nbr.signal()


class Weighted(gl.VertexProgram):
    class Vertex(gl.Vertex):
        total: float = 0.0

    class Edge(gl.Edge):
        weight: float

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.weight

    def apply(self, v: Vertex, total: float) -> None:
        v.total = total


class Divide(gl.VertexProgram):
    class Vertex(gl.Vertex):
        part: int = 0

    def apply(self, v: Vertex) -> None:
        v.part = 100 // (v.in_degree - 1)


class Marks(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: int = 0

    class Edge(gl.Edge):
        mark: int = 0

    def apply(self, v: Vertex) -> None:
        v.x = 1

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.mark = e.mark + 1


# ---- stopping --------------------------------------------------------------------------------------


def test_done_ends_the_run_after_its_superstep() -> None:
    result = gl.run(Count(until=7), ring(4))
    assert (result.iterations, result.converged) == (7, True)
    assert [step["least"] for step in result.history] == list(range(1, 8))


def test_annotations_are_not_evaluated_in_every_superstep() -> None:
    calls = []
    for until in (2, 40):
        with mock.patch("gaslab.program.annotations_of", wraps=annotations_of) as evaluated:
            gl.run(Count(until=until), ring(4))
        calls.append(evaluated.call_count)
    assert 0 < calls[0] == calls[1]


def test_the_limit_ends_a_run_that_is_not_done_and_warns_at_the_caller() -> None:
    with pytest.warns(gl.ConvergenceWarning, match="Count was not done after 3 supersteps") as caught:
        result = gl.run(Count(until=7), ring(4), max_iterations=3)
    assert (result.iterations, result.converged) == (3, False)
    assert caught[0].filename == __file__


def test_a_program_without_an_end_of_its_own_needs_a_limit() -> None:
    with pytest.raises(gl.UsageError, match="Forever would never end: it has no done"):
        gl.run(Forever(), ring(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = gl.run(Forever(), ring(3), max_iterations=4)
    assert result.converged
    assert result.vertices["steps"].tolist() == [4, 4, 4]


def test_a_run_ends_when_nobody_is_signalled() -> None:
    result = gl.run(Relay(first=2), ring(5))
    assert result.vertices["came"].tolist() == [3, 4, 0, 1, 2]
    assert (result.iterations, result.converged) == (5, True)
    assert [step["active"] for step in result.history] == [1] * 5
    assert result.metrics["updates"] == 5


def test_a_limit_that_comes_just_when_nobody_is_left_is_the_program_s_own_end() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gl.run(Relay(first=2), ring(5), max_iterations=5).converged
    with pytest.warns(gl.ConvergenceWarning):
        assert not gl.run(Relay(first=2), ring(5), max_iterations=4).converged


def test_no_time_at_all_is_over_at_once() -> None:
    with pytest.raises(gl.TimeoutExpired, match=r"Count ran out of 0 s"):
        gl.run(Count(until=10**9), ring(3), timeout=0.0)


# ---- what a run starts from ------------------------------------------------------------------------


def test_given_values_are_kept_by_init_and_by_id_or_position() -> None:
    graph = ring(4)
    by_id = gl.run(Count(until=2), graph, init={"steps": {3: 10}})
    assert by_id.vertices["steps"].tolist() == [2, 2, 2, 12]
    by_position = gl.run(Count(until=2), graph, init={"steps": np.array([1, 2, 3, 4])})
    assert by_position.vertices["steps"].tolist() == [2, 3, 4, 5]
    assert gl.run(Count(until=4), graph, init=by_position).vertices["steps"].tolist() == [4, 5, 6, 7]
    assert gl.run(Count(until=9), graph, init={"steps": 8}).vertices["steps"].tolist() == [9] * 4


def test_a_result_starts_a_run_on_another_graph_by_id() -> None:
    before = gl.run(Count(until=2), gl.Graph.from_edges(["b", "c"], ["c", "d"]))
    after = gl.run(Forever(), gl.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"]), max_iterations=0)
    assert after.vertices["steps"].tolist() == [0, 0, 0, 0]
    with pytest.raises(gl.VertexNotFound, match="'d'"):
        gl.run(Count(), gl.Graph.from_edges(["b"], ["c"]), init=before)


@pytest.mark.parametrize(
    ("init", "message"),
    [
        ({"step": 1}, "Count has no vertex field 'step'; did you mean 'steps'?"),
        ({"steps": [1, 2]}, "init={'steps': ...} has shape (2,); one value per vertex, 4, in the order"),
        ({"steps": [0.5] * 4}, "init={'steps': ...} has 0.5 at position 0; the field needs int64"),
        ({"steps": [1, 2, "x", 4]}, "init={'steps': ...} has 'x' at position 2; the field needs int64"),
        ({"steps": {1: 3, 2: "x"}}, "init={'steps': ...} has 'x' for vertex 2; the field needs int64"),
        ({"steps": {1: 3, 2: 2**70}}, f"init={{'steps': ...}} has {2**70} for vertex 2; the field"),
        ({"steps": np.full(4, 0.5)}, "'steps' has values that are not int64, as steps needs"),
    ],
)
def test_starting_values_that_do_not_fit(init: dict[str, object], message: str) -> None:
    with pytest.raises(gl.UsageError, match=re.escape(message)):
        gl.run(Count(), ring(4), init=init)


# ---- edge columns ----------------------------------------------------------------------------------


def test_an_edge_field_takes_the_column_of_its_name_or_the_one_named() -> None:
    graph = ring(3, columns={"weight": [1.0, 2.0, 4.0], "cost": np.array([8, 16, 32])})
    assert gl.run(Weighted(), graph, max_iterations=1).vertices["total"].tolist() == [4.0, 1.0, 2.0]
    named = gl.run(Weighted(), graph, max_iterations=1, columns={"weight": "cost"})
    assert named.vertices["total"].tolist() == [32.0, 8.0, 16.0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (None, "needs the edge field 'weight', which has no default, and the graph has no column"),
        ({"weight": "cast"}, "the graph has no edge column 'cast'; did you mean 'cost'?"),
        ({"wait": "cost"}, "Weighted has no edge field 'wait'; did you mean 'weight'?"),
    ],
)
def test_columns_that_are_not_there(columns: dict[str, str] | None, message: str) -> None:
    with pytest.raises(gl.UsageError, match=re.escape(message)):
        gl.run(Weighted(), ring(3, columns={"cost": [1.0, 2.0, 3.0]}), max_iterations=1, columns=columns)


def test_written_edge_fields_are_answered_and_the_graph_keeps_its_own() -> None:
    graph = ring(3, columns={"mark": np.array([10, 20, 30])})
    result = gl.run(Marks(), graph, max_iterations=1)
    assert result.edges["mark"].tolist() == [11, 21, 31]
    assert sorted(graph.edge_columns["mark"].tolist()) == [10, 20, 30]
    with pytest.raises(gl.UsageError, match="an undirected edge has two ends that would write it; use it"):
        gl.run(Marks(), ring(3, directed=False), max_iterations=1)


class Memory(gl.VertexProgram):
    """A field of the program's own, from gather to scatter."""

    class Vertex(gl.Vertex):
        _seen: int = 0
        received: int = 0

    class Edge(gl.Edge):
        _crossed: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr._seen + 1

    def apply(self, v: Vertex, total: int) -> None:
        v._seen += total
        v.received = v._seen

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e._crossed = v._seen
        if self.superstep < 2:
            nbr.signal()


@pytest.mark.parametrize("engine", ["sync", "reference"])
def test_fields_that_begin_with_an_underscore_are_in_no_result(engine: str) -> None:
    result = gl.run(Memory(), ring(4), engine=engine)
    assert result.vertices.columns == ["received"]
    assert result.edge_fields == []
    assert result.vertices["received"].tolist() == [7] * 4


# ---- faults and figures ----------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["require", "never"])
def test_a_fault_names_the_vertex_the_superstep_and_the_line(how: str) -> None:
    graph = gl.Graph.from_edges(["a", "b", "c"], ["b", "c", "b"])  # only c has one in-edge
    with pytest.raises(gl.ExecutionError) as caught:
        gl.run(Divide(), graph, max_iterations=2, compile=how)
    line = Divide.apply.__code__.co_firstlineno + 1
    assert str(caught.value) == (
        f"{__file__}:{line}: Divide failed at vertex c in superstep 0: integer division or modulo by zero; "
        "test the divisor first, or divide floats\n    v.part = 100 // (v.in_degree - 1)"
    )


def test_arguments_that_cannot_be() -> None:
    with pytest.raises(gl.UsageError, match=r"run\(\) needs an instance: write Count\(\)"):
        gl.run(Count, ring(3))  # type: ignore[arg-type]
    with pytest.raises(gl.UsageError, match="engine='snyc' is unknown; did you mean 'sync'"):
        gl.run(Count(), ring(3), engine="snyc")
    with pytest.raises(gl.UsageError, match=r"Count\(until=1\.5\): a whole number is needed"):
        gl.run(Count(until=1.5), ring(3))  # type: ignore[arg-type]
    with pytest.raises(gl.VertexNotFound, match="99"):
        gl.run(Relay(first=99), ring(3))


def test_the_figures_of_a_run() -> None:
    metrics = gl.run(Count(until=3), ring(6), threads=2, seed=7).metrics
    assert (metrics["vertices"], metrics["edges"], metrics["iterations"]) == (6, 6, 3)
    assert (metrics["updates"], metrics["threads"], metrics["seed"]) == (18, 2, 7)
    assert metrics["parameters"] == {"until": 3}
    assert metrics["seconds"].keys() >= {"load", "partition", "build", "compute", "total"}
    assert metrics["peak_rss_bytes"]["max"] > 1 << 20


@pytest.mark.parametrize("graph", [gl.Graph.from_edges([], []), gl.Graph.from_edges([], [], vertices=[4])])
def test_graphs_without_edges(graph: gl.Graph) -> None:
    n = graph.num_vertices
    assert gl.pagerank(graph).vertices["score"].tolist() == [1.0] * n
    assert gl.components(graph).vertices["component"].tolist() == [4] * n


SCALE = 1.0


class Scaled(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: float = 1.0

    def apply(self, v: Vertex) -> None:
        v.x = v.x * SCALE


@pytest.mark.parametrize("compile", ["auto", "never"])
def test_a_constant_that_has_changed_since_the_last_run_is_read_anew(
    monkeypatch: pytest.MonkeyPatch, compile: str
) -> None:
    graph = gl.Graph.from_edges([0], [1])
    for scale in (0.0, -0.0, 2.0, 0.0):  # 0.0 == -0.0, and yet they are two programs
        monkeypatch.setitem(globals(), "SCALE", scale)
        found = gl.run(Scaled(), graph, max_iterations=1, compile=compile).vertices["x"]
        assert [str(x) for x in found] == [str(scale)] * 2
