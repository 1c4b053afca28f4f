"""Lists and sorted sets: what is given and answered, order, faults, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab import compiler
from gaslab.compiler.c import emit
from gaslab.compiler.c.prelude import HELPERS
from gaslab.compiler.frontend import parse, parse_phases
from gaslab.compiler.tree.uses import field_of_total
from gaslab.programs.triangles import TriangleCount
from tests.language.test_agreement import agree
from tests.mpi.ranks import Ranks
from tests.programs.lists import Circles, Pairs
from tests.support.agreement import Task, from_text
from tests.support.graphs import STRATEGIES, Drawn, graphs


class Meetings(gl.VertexProgram):
    """Sets that the caller gives meet along the edges; gather marks the near one."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        own: gl.SortedSet[gl.VertexId]
        other: gl.SortedSet[gl.VertexId]
        tokens: gl.List[gl.int32]
        kept: gl.List[gl.int32]
        met: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return gl.common(v.own, nbr.own) * 100 + gl.common(nbr.other, v.own) + len(nbr.tokens)

    def apply(self, v: Vertex, total: int) -> None:
        v.met = total
        v.kept = v.tokens
        if self.superstep % 2 == 1:
            v.own = v.other
            v.met = -total


@given(drawn=graphs(), data=st.data())
def test_given_lists_on_any_ranks(ranks: Ranks, drawn: Drawn, data: st.DataObject) -> None:
    some = st.sampled_from(drawn.ids)
    sets = st.dictionaries(some, st.sets(some).map(sorted))
    lists = st.dictionaries(some, st.lists(st.integers(-99, 99), max_size=9))
    init = {"own": data.draw(sets), "other": data.draw(sets), "tokens": data.draw(lists)}
    task = Task("tests.language.test_lists:Meetings", drawn, 3, init=init)
    agree(ranks, task, data.draw(st.sampled_from(STRATEGIES)), 0)


class Collected(gl.VertexProgram):
    """A total that apply begins to keep is made in the field's own rows; the field is not written again."""

    gather_edges = scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        near: gl.List[gl.int32]
        again: gl.List[gl.int32]
        x: gl.int32 = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[gl.int32]:
        return nbr.x + 300 * (v.x % 3)

    def apply(self, v: Vertex, total: gl.List[gl.int32]) -> None:
        v.near = total
        v.x = v.x * 7 + len(v.near) + (v.near[0] if len(v.near) > 0 else 0)
        if v.x % 2 == 0:
            v.again = total

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if (v.x + nbr.x) % 3 > 0:  # so only some are active in the next superstep
            nbr.signal()


class WrittenTwice(Collected):
    """The same, and the field has other values by the time that the total is looked at again."""

    Vertex = Collected.Vertex

    def apply(self, v: Collected.Vertex, total: gl.List[gl.int32]) -> None:
        v.near = total
        v.x = v.x * 7 + len(v.near)
        if self.superstep > 0:
            v.near = v.again
        v.again = total


class ReadByGather(Collected):
    """Gather reads what the rows had before."""

    Vertex = Collected.Vertex

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[gl.int32]:
        return nbr.x + len(v.near) + (v.near[0] if len(v.near) > 0 else 5)


@pytest.mark.parametrize(
    ("program", "made"), [(Collected, True), (WrittenTwice, False), (ReadByGather, False)]
)
@given(drawn=graphs(), data=st.data())
def test_totals_made_in_a_field(
    ranks: Ranks, program: type[gl.VertexProgram], made: bool, drawn: Drawn, data: st.DataObject
) -> None:
    assert (field_of_total(parse(program)) is not None) == made
    some = st.dictionaries(st.sampled_from(drawn.ids), st.integers(-9, 99))
    task = Task(f"tests.language.test_lists:{program.__name__}", drawn, 4, init={"x": data.draw(some)})
    agree(ranks, task, data.draw(st.sampled_from(STRATEGIES)), 0)


@pytest.mark.parametrize("program", [Meetings, Circles, Pairs, TriangleCount])
def test_prefetching_lists_changes_no_answer(
    program: type[gl.VertexProgram], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that prefetches from the first edge on has the answer of the reference."""
    always = HELPERS["GL_FAR_VERTICES"].replace("GL_FAR_VERTICES = 1 << 19", "GL_FAR_VERTICES = 1")
    assert always != HELPERS["GL_FAR_VERTICES"]
    monkeypatch.setitem(HELPERS, "GL_FAR_VERTICES", always)
    monkeypatch.setattr(compiler, "_emitted_from", compiler._emitted_from.__wrapped__)  # which remembers
    assert any("gl_prefetch_list(" in emit(tree) for tree in parse_phases(program))
    random = np.random.default_rng(3)
    graph = gl.Graph.from_edges(*random.integers(0, 60, (2, 900)), directed=False, drop_duplicates=True)
    init = {}
    if program is Meetings:
        init = {
            "own": [sorted(set(random.integers(0, 60, 9).tolist())) for _ in range(graph.num_vertices)],
            "tokens": [[1] * k for k in random.integers(0, 4, graph.num_vertices)],
        }
    one, other = (
        gl.run(program(), graph, max_iterations=3, init=init, compile="require", engine=engine)
        for engine in ("sync", "reference")
    )
    for name in one.vertices.columns:
        assert [*map(str, one.vertices[name])] == [*map(str, other.vertices[name])], name


class Fewer(gl.VertexProgram):
    """Looks at the lists of some neighbours only, by a test that is a fault where a divisor is 0."""

    class Vertex(gl.Vertex):
        own: gl.SortedSet[gl.VertexId]
        divisor: int = 1
        met: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return gl.common(v.own, nbr.own) if 7 // nbr.divisor > v.divisor else 0

    def apply(self, v: Vertex, total: int) -> None:
        v.met = total


def test_a_list_is_prefetched_where_gather_looks_at_it() -> None:
    close = [emit(tree) for tree in parse_phases(TriangleCount)][-1]
    fetches = [line for line in close.splitlines() if "gl_prefetch_list(c" in line]
    higher = "if (h0_is_higher(c, n->degree, c->degree[x], n->id, c->id[x])) gl_prefetch_list("
    assert len(fetches) == 8
    assert all(higher in line for line in fetches)
    text = emit(parse(Fewer))  # whose test may fail
    fetches = [line for line in text.splitlines() if "gl_prefetch_list(c" in line]
    assert len(fetches) == 8
    assert all("if (" not in line for line in fetches)


class Order(gl.VertexProgram):
    """Floats as they come sorted: the first, the last and the signs of zeros."""

    class Vertex(gl.Vertex):
        value: float = 0.0
        all: gl.List[float]

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[float]:
        return nbr.value

    def apply(self, v: Vertex, total: gl.List[float]) -> None:
        v.all = total


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 40, 333])
@pytest.mark.parametrize("engine", ["require", "never", "reference"])
def test_a_gathered_list_ascends(count: int, engine: str) -> None:
    random = np.random.default_rng(count)
    values = random.integers(-9, 9, count) / 4
    values[random.random(count) < 0.2] = -0.0
    values[random.random(count) < 0.1] = math.nan
    values[random.random(count) < 0.1] = math.inf
    graph = gl.Graph.from_edges(np.arange(count), np.full(count, count))
    how = {"engine": engine} if engine == "reference" else {"compile": engine}
    init = {"value": np.append(values, 0.0)}
    result = gl.run(Order(), graph, max_iterations=1, init=init, **how)
    found = result.vertices["all"][-1]
    expected = sorted(values.tolist(), key=lambda x: (x != x, 0.0 if x != x else x, math.copysign(1, x)))
    assert [str(x) for x in found] == [str(abs(x) if x != x else x) for x in expected]


TEXT = """\
import gaslab as gl


class P(gl.VertexProgram):
    class Vertex(gl.Vertex):
        near: gl.SortedSet[gl.VertexId]
        bag: gl.List[int]
        x: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[int]:
        return nbr.x

    def apply(self, v: Vertex, total: gl.List[int]) -> None:
        {line}
"""


def program(line: str) -> Any:
    text = TEXT.format(line=line)
    return from_text(f"lists_{abs(hash(line))}", text).P


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("v.x = total[2]", "an index outside the vector, matrix or list"),
        ("v.x = total[-3]", "an index outside the vector, matrix or list"),
        ("v.x = gl.mode(v.bag)", "the mode of an empty list; test len(x) first"),
    ],
)
@pytest.mark.parametrize("engine", ["require", "never", "reference"])
def test_faults_name_the_vertex_and_the_line(line: str, message: str, engine: str) -> None:
    graph = gl.Graph.from_edges([5, 6], [7, 7])
    how = {"engine": engine} if engine == "reference" else {"compile": engine}
    with pytest.raises(gl.ExecutionError) as caught:
        gl.run(program(line)(), graph, max_iterations=1, **how)
    assert ":14: P failed at vertex " in str(caught.value)
    if engine != "reference":
        assert message in str(caught.value)


WORDS = "a list is only read through x[i], len(x), y in x, for y in x, gl.mode(x)"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bag = v.bag", "a local cannot hold a list; read the field or the total itself"),
        ("v.x = v.bag", "v.x is int but this is a list of ints"),
        ("v.bag.clear()", f"a list has no 'clear'; {WORDS}"),
        ("v.x = v.bag + 1", f"this is a list of ints; {WORDS}"),
        ("v.x = abs(v.bag)", f"this is a list of ints; {WORDS}"),
        ("v.x = 1 if v.bag == total else 0", f"this is a list of ints; {WORDS}"),
        ("v.x = v.bag[0:2]", "a list cannot be sliced; write for i in range(...) and x[i]"),
        ("v.bag[0] = 3", "a list is assigned as a whole; gather it again"),
        ("v.bag = [1, 2]", "gather one into a field of type gl.List[...]"),
        ("v.near = total", "v.near is a sorted set of vertex ids but this is a list of ints"),
        ("v.bag, v.x = total, 1", "a local cannot hold a list; read the field or the total itself"),
        ("v.x = gl.common(v.bag, total)", "gl.common takes sorted sets but this is a list of ints"),
        ("v.x = gl.mode(3)", "gl.mode takes a list but this is int"),
        ("v.x = gl.mex(v.near)", "gl.mex takes a list of ints but this is a sorted set of vertex ids"),
        ("v.x = 1 if 3 in v.near else 0", "an element of a sorted set of vertex ids is a vertex id but"),
    ],
)
def test_what_is_refused(line: str, message: str) -> None:
    with pytest.raises(gl.ProgramError) as caught:
        parse(program(line))
    assert message in str(caught.value)
    assert f"        {line}\n" in str(caught.value)


def test_declarations_that_are_refused() -> None:
    class Floats(gl.VertexProgram):
        class Vertex(gl.Vertex):
            near: gl.SortedSet[float]

        def apply(self, v: Vertex) -> None:
            v.near = []

    class Parameter(gl.VertexProgram):
        sizes: gl.List[int]

        def apply(self, v: gl.Vertex) -> None: ...

    class Message(gl.VertexProgram):
        def apply(self, v: gl.Vertex, message: gl.SortedSet[float]) -> None: ...

        def scatter(self, v: gl.Vertex, e: gl.Edge, nbr: gl.Vertex) -> None:
            nbr.signal(1)

    for cls, message in (
        (Floats, "Vertex field 'near' is a sorted set of floats; a sorted set holds ints or vertex ids"),
        (Parameter, "parameter 'sizes' is a list of ints; only vertices and edges have such fields"),
        (Message, "a sorted set holds ints or vertex ids; write gl.List"),
    ):
        with pytest.raises(gl.ProgramError, match=message):
            parse(cls)
