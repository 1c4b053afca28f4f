"""What gather and scatter compute of their own vertex alone is computed once, before its first edge."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse, parse_phases
from gaslab.parallel.comm import Comm
from gaslab.programs._lda_settings import MOST_TOPICS
from tests.conftest import Hosts
from tests.programs.near_vectors import Ordered, Tallies, Weighed
from tests.support.one_fault import MODES, NAMES
from tests.support.program_text import tree_of


@pytest.mark.parametrize(
    ("program", "method", "vectors"),
    [
        (Tallies, "scatter", {"counts", "upto"}),
        (Ordered, "gather", {"low"}),
        (Ordered, "scatter", {"sums"}),  # the other changes at each edge
        (Weighed, "gather", {"weights"}),
    ],
)
def test_vectors_of_the_near_vertex_are_shared(
    program: type[gl.VertexProgram], method: str, vectors: set[str]
) -> None:
    found = parse(program).near_vectors(method)
    assert found is not None
    assert {name for name in found.vectors if not name.startswith("_")} == vectors
    text = emit(parse(program))
    assert len(re.findall(rf"\bgl_near_{method}\(c, n\);", text)) == 2  # before either row
    assert len(re.findall(rf"void gl_near_{method}\(", text)) == 1


PROGRAM = """
import numpy as np
class P(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=64)
        s: float = 0.0
    def gather(self, v, e, nbr) -> gl.Sum[float]:
        {statements}
    def apply(self, v, total): v.s = total
"""


@pytest.mark.parametrize(
    "statements",
    [
        "y = v.x + nbr.x; return y[0]",  # of the far end too
        "a = nbr.s; y = v.x * 2.0; return y[0] + a",  # only what stands first
        "y = v.x * 2.0; y[0] = nbr.s; return y[1]",  # changed at an edge
        "y = v.x * gl.uniform(); return y[0]",  # another at each edge
        "return v.s",
    ],
)
def test_what_an_edge_has_a_part_in_is_not_shared(tmp_path: Path, statements: str) -> None:
    assert tree_of(tmp_path, PROGRAM.format(statements=statements)).near_vectors("gather") is None


@pytest.mark.parametrize(
    ("statements", "least"),
    [
        ("y = v.x * 2.0; return y[0]", 24),
        ("y = np.cumsum(v.x); return y[0]", 6),
        ("y = np.sort(v.x); return y[0]", 3),
    ],
)
def test_short_vectors_are_computed_at_each_edge(tmp_path: Path, statements: str, least: int) -> None:
    for size, shared in ((least - 1, False), (least, True)):
        text = PROGRAM.format(statements=statements).replace("shape=64", f"shape={size}")
        assert (tree_of(tmp_path, text).near_vectors("gather") is not None) is shared


def test_the_counts_of_all_topics_that_there_may_be_are_shared() -> None:
    word, document = parse_phases(gl.programs.LDA, {"topics": MOST_TOPICS, "slots": 2})
    assert word.near_vectors("scatter") is not None
    assert document.near_vectors("scatter") is not None


def test_a_vector_of_more_than_a_stack_holds_is_not_shared(tmp_path: Path) -> None:
    text = PROGRAM.replace("shape=64", "shape=65536")
    one, two = "y = v.x + 1.0; return y[0]", "y = v.x + 1.0; z = y * 2.0; x = z - y; return x[0]"
    assert tree_of(tmp_path, text.format(statements=one)).near_vectors("gather") is not None
    assert tree_of(tmp_path, text.format(statements=two)).near_vectors("gather") is None


class Fails(gl.VertexProgram):
    """Its vector has a fault wherever it is computed: at every vertex but those without edges."""

    class Vertex(gl.Vertex):
        near: gl.List[int]
        seen: int = 0

    class Edge(gl.Edge):
        at: int = 0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.List[int]:
        return 5

    def apply(self, v: Vertex, total: gl.List[int]) -> None:
        v.near = total
        v.seen = len(total)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        counts = np.bincount(v.near, minlength=5)
        e.at = counts[0]


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_a_fault_is_met_where_there_is_an_edge(mode: dict[str, Any]) -> None:
    graph = gl.Graph.from_edges([0, 0], [1, 2])  # who gathers 5 has no edge to scatter to
    assert gl.run(Fails(), graph, max_iterations=1, **mode).vertices["seen"].tolist() == [0, 1, 1]
    with pytest.raises(gl.ExecutionError, match=r"vertex 1 in superstep 0: a value that np.bincount"):
        gl.run(Fails(), gl.Graph.from_edges([0, 1], [1, 2]), max_iterations=1, **mode)


def test_explain_tells_the_loops_of_edges_alone() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2])
    assert [loop["method"] for loop in gl.explain(Ordered, graph).edge_loops] == ["scatter"]  # of `changed`
    assert gl.explain(Tallies, graph).edge_loops == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2])
def test_a_large_graph_with_hubs_has_numpy_s_counts(hosts: Hosts, size: int) -> None:
    """More blocks than one, rows of no edge and of thousands, on threads and ranks."""
    random = np.random.default_rng(2)
    n, kinds = 4000, 30
    source, target = (random.integers(0, n, 20_000) ** 3 // n**2 for _ in range(2))
    label = random.integers(0, kinds, n)
    counts = np.zeros((n, kinds), np.int64)
    np.add.at(counts, (target, label[source]), 1)
    heard = np.zeros(n, np.int64)
    np.add.at(heard, target, counts[source, label[target]])
    for found in hosts(size).run(looked_up, source, target, label):
        assert found == [heard.tolist()] * 3


class LookedUp(gl.VertexProgram):
    """Each target hears how often its label is around each source."""

    class Vertex(gl.Vertex):
        label: gl.uint8 = 0
        near: gl.List[gl.uint8]
        heard: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[gl.uint8]:
        return nbr.label

    def apply(self, v: Vertex, total: gl.List[gl.uint8], message: gl.Sum[int]) -> None:
        v.near = total
        v.heard = message

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        counts = np.bincount(v.near, minlength=30)
        nbr.signal(counts[nbr.label])


def looked_up(comm: Comm, source: Any, target: Any, label: Any) -> list[list[int]]:
    graph = gl.Graph.from_edges(source, target, vertices=range(label.size), comm=comm)
    ways: list[dict[str, Any]] = [{"threads": 1}, {"threads": 2}, {"compile": "never"}]
    return [
        gl.run(LookedUp(), graph, max_iterations=2, init={"label": label}, **way).vertices["heard"].tolist()
        for way in ways
    ]
