"""Fields looked up by id: across ranks in any number, of vertices far away, of nobody."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from tests.mpi.ranks import Ranks

MODES: list[dict[str, Any]] = [{"threads": 2}, {"compile": "never"}, {"engine": "reference"}]


class Roots(gl.VertexProgram):
    """Everybody finds the root of its tree and what the way there sums to, over ways that double."""

    class Vertex(gl.Vertex):
        parent: gl.VertexId
        length: float = 0.0
        weight: gl.int8 = 3
        heavy: bool = False
        _climbs: bool = True
        _further: gl.VertexId = gl.lookup("parent.parent")
        _length: float = gl.lookup("parent.length")
        _weight: gl.int8 = gl.lookup("parent.weight")
        _heavy: bool = gl.lookup("parent.heavy")

    def init(self, v: Vertex) -> None:
        v.length = 0.0 if v.parent == v.id else 1.0
        v.heavy = v.parent == v.id

    def active(self, v: Vertex) -> bool:
        return v._climbs

    def apply(self, v: Vertex) -> None:
        v._climbs = v._further != v.parent
        if v._climbs:
            v.length = v.length + v._length
            v.weight = (v.weight + v._weight) % 50
        v.heavy = v.heavy or v._heavy
        v.parent = v._further


def tree(count: int) -> np.ndarray:
    """Return the parent of every vertex: a long way, with branches."""
    draws = np.random.default_rng(count)
    back = np.minimum(draws.integers(1, 4, count), np.arange(count))
    return np.arange(count) - back


def roots(comm: Comm, count: int, strategy: str, modes: list[dict[str, Any]]) -> list[Any]:
    parent = tree(count)
    graph = gl.Graph.from_edges(np.arange(count), parent[::-1].copy(), strategy=strategy, comm=comm)
    found = []
    for mode in modes:
        result = gl.run(Roots(), graph, init={"parent": parent}, **mode)
        assert "_further" not in result.vertices.columns
        table = [result.vertices[name].tolist() for name in ("parent", "length", "weight", "heavy")]
        found.append([*table, result.iterations])
    return found


@pytest.mark.parametrize("strategy", ["random", "chunk"])
def test_ways_to_the_root(ranks: Ranks, strategy: str) -> None:
    parent = tree(300)
    depth = np.zeros(300)
    for k in range(1, 300):
        depth[k] = depth[parent[k]] + 1
    for found in ranks.run(roots, 300, strategy, MODES):
        assert found[0] == found[1] == found[2]
        assert found[0][0] == [0] * 300
        assert found[0][1] == depth.tolist()
        assert found[0][4] <= 12


def test_more_than_one_thread_looks_up(ranks: Ranks) -> None:
    """In parallel from 16,384 lookups on."""
    known = roots(world(), 60_000, "random", [{"threads": 1}])
    for found in ranks.run(roots, 60_000, "random", [{"threads": 2}]):
        assert found == known


class Named(gl.VertexProgram):
    """Reads of the smallest in-neighbour, and of nobody where there is none, in the second of two phases."""

    class Vertex(gl.Vertex):
        chosen: gl.VertexId = gl.NOBODY
        theirs: gl.VertexId = gl.NOBODY
        age: int = 7
        theirs_age: int = 0
        _theirs: gl.VertexId = gl.lookup("chosen.chosen")
        _age: int = gl.lookup("chosen.age")

    def init(self, v: Vertex) -> None:
        v.age = v.degree

    def near(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[gl.VertexId]:
        return nbr.id

    def choose(self, v: Vertex, total: gl.VertexId) -> None:
        v.chosen = total

    def is_odd(self, v: Vertex) -> bool:
        return v.age % 2 == 1 or v.chosen == gl.NOBODY

    def take(self, v: Vertex) -> None:
        v.age = 100  # the others see what it was
        v.theirs, v.theirs_age = v._theirs, v._age

    phases = (
        gl.Phase(gather=near, apply=choose, supersteps=1),
        gl.Phase(active=is_odd, apply=take, supersteps=1),
    )


class NamedLargest(Named):
    """With what `gl.Max` makes of nothing, which is before all vertices, in place of `gl.NOBODY`."""

    def near(self, v: Named.Vertex, e: gl.Edge, nbr: Named.Vertex) -> gl.Max[gl.VertexId]:  # type: ignore[override]
        return nbr.id


PROGRAMS: dict[str, type[gl.VertexProgram]] = {"smallest": Named, "largest": NamedLargest}


def named(comm: Comm, program: str, kind: str, mode: dict[str, Any]) -> tuple[dict[Any, Any], dict[Any, Any]]:
    ids = np.array([f"v{k:02}" for k in range(40)]) if kind == "text" else np.arange(40) * 7
    draws = np.random.default_rng(1)
    ends = draws.integers(0, 40, (2, 60))
    graph = gl.Graph.from_edges(ids[ends[0]], ids[ends[1]], vertices=ids, comm=comm)
    vertices = gl.run(PROGRAMS[program](), graph, **mode).vertices
    return vertices.to_dict("theirs"), vertices.to_dict("theirs_age")


@pytest.mark.parametrize(
    ("program", "kind"), [("smallest", "text"), ("smallest", "numbers"), ("largest", "numbers")]
)
def test_of_nobody_and_in_one_phase(ranks: Ranks, program: str, kind: str) -> None:
    known = named(world(), program, kind, {"engine": "reference"})
    assert 7 in known[1].values()  # the default, of nobody
    assert len(set(known[0].values())) > 3
    for mode in MODES:
        for found in ranks.run(named, program, kind, mode):
            assert found == known


def test_init_and_explain_know_them() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2], comm=world())
    with pytest.raises(gl.UsageError, match="Roots has no vertex field '_further'"):
        gl.run(Roots(), graph, init={"_further": 1})
    rows = [row for row in gl.explain(Roots(), graph).travels if row["what"] == "_further"]
    assert rows[0]["bytes"] == 16
    assert rows[0]["why"] == "parent.parent, asked for by id where its master is elsewhere"


@pytest.mark.parametrize(
    ("engine", "why"),
    [
        ({"engine": "async"}, "no signals decide which vertices run"),
        (
            {"engine": gl.Stale(staleness=1)},
            "fields that it looks up by id are asked for and answered within",
        ),
    ],
    ids=["async", "stale"],
)
def test_engines_without_a_moment_for_it_refuse(engine: dict[str, Any], why: str) -> None:
    with pytest.raises(gl.UsageError, match=why):
        gl.run(Roots(), gl.Graph.from_edges([0, 1], [1, 2], comm=world()), **engine)


HEAD = """
import gaslab as gl
class P(gl.VertexProgram):
    class Vertex(gl.Vertex):
        link: gl.VertexId
        n: int = 0
        x: gl.Vector = gl.field(shape=2)
"""
APPLY = """
    def apply(self, v: Vertex) -> None:
        v.n = v.far
"""
REFUSED = [
    ('far: int = gl.lookup("link")', "looks up 'link'; write gl.lookup(\"ID.FIELD\")"),
    ("far: int = gl.lookup(3)", 'looks up 3; write gl.lookup("ID.FIELD")'),
    ('far: int = gl.lookup("link.m")', "looks up 'link.m', with no field 'm'; known: "),
    ('far: int = gl.lookup("lnik.n")', "with no field 'lnik'; did you mean 'link'?"),
    ('far: int = gl.lookup("n.n")', "and 'n' is int; declare it gl.VertexId"),
    ('far: int = gl.lookup("link.x")', "only numbers and ids can be looked up"),
    ('far: float = gl.lookup("link.n")', "is not of the type of 'n'; declare both the same"),
    (
        'far: int = gl.lookup("link.n")\n        on: int = gl.lookup("link.far")',
        "and 'far' is looked up itself; copy it first",
    ),
]


def refusal(tmp_path: Any, text: str) -> str:
    path = tmp_path / "refused.py"
    path.write_text(text)
    scope: dict[str, Any] = {"__name__": "refused"}
    exec(compile(text, str(path), "exec"), scope)
    with pytest.raises(gl.ProgramError) as error:
        gl.run(scope["P"](), gl.Graph.from_edges([0], [1], comm=world()), max_iterations=1)
    return str(error.value)


@pytest.mark.parametrize(("line", "message"), REFUSED, ids=[line[:40] for line, _ in REFUSED])
def test_paths_that_lead_nowhere(tmp_path: Any, line: str, message: str) -> None:
    assert message in refusal(tmp_path, f"{HEAD}        {line}\n{APPLY}")


METHODS = [
    ("    def start(self, v: Vertex) -> bool:\n        return v.far > 0\n    def scatter(self, v: Vertex, "
     "e: gl.Edge, nbr: Vertex) -> None:\n        nbr.signal()\n", "v.far is looked up only for apply"),
    ("    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:\n        if nbr.far > 1:\n"
     "            nbr.signal()\n", "nbr.far is looked up only for apply; copy it into a field there"),
    ("    @gl.aggregator\n    def most(self, v: Vertex) -> gl.Max[int]:\n        return v.far\n",
     "v.far is looked up only for apply"),
    ("    def init(self, v: Vertex) -> None:\n        v.far = 3\n",
     "v.far is looked up; write to a field of your own"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "message"), METHODS, ids=["start", "scatter", "aggregator", "init"])
def test_apply_alone_reads_them_and_nobody_writes_them(tmp_path: Any, method: str, message: str) -> None:
    line = 'far: int = gl.lookup("link.n")'
    assert message in refusal(tmp_path, f"{HEAD}        {line}\n{APPLY}{method}")


def test_edges_and_parameters_are_not_looked_up(tmp_path: Any) -> None:
    edge = '    class Edge(gl.Edge):\n        far: int = gl.lookup("link.n")\n'
    assert "only fields of Vertex can be" in refusal(tmp_path, f"{HEAD}{edge}{APPLY.replace('v.far', '1')}")
