"""What scatter asks of one end alone is asked before its edges, unless something before it may fail."""

from __future__ import annotations

import pytest

from gaslab import program as gl
from gaslab.compiler.c.guard import guard, names
from gaslab.compiler.c.pull import choice
from gaslab.compiler.frontend import parse


class Base(gl.VertexProgram):
    most: int = 3

    class Vertex(gl.Vertex):
        a: int = 0
        b: float = 0.0

    class Edge(gl.Edge):
        w: float = 1.0


class OneEnd(Base):
    def scatter(self, v: Base.Vertex, e: Base.Edge, nbr: Base.Vertex) -> None:
        if v.a < self.most and nbr.b > 0.5 and v.b + e.w < nbr.b and nbr.in_degree > 1:
            nbr.signal()


class MayFail(Base):
    def scatter(self, v: Base.Vertex, e: Base.Edge, nbr: Base.Vertex) -> None:
        if v.a > 0 and 1 // v.a > 0 and nbr.a > 0:
            nbr.signal()


class Listed(gl.VertexProgram):
    class Vertex(gl.Vertex):
        a: int = 0
        seen: gl.List[int]

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.a > 0 and len(v.seen) > nbr.a and gl.mode(v.seen) > 1 and nbr.seen[0] > 1:
            nbr.signal()


class Otherwise(Base):
    def scatter(self, v: Base.Vertex, e: Base.Edge, nbr: Base.Vertex) -> None:
        if nbr.a > 0:
            nbr.signal()
        else:
            e.w = 2.0


class Either(Base):
    def scatter(self, v: Base.Vertex, e: Base.Edge, nbr: Base.Vertex) -> None:
        if nbr.a > 0 or v.a > 0:
            nbr.signal()


@pytest.mark.parametrize(
    ("program", "of_v", "of_nbr"),
    [
        (OneEnd, {"a"}, {"b", "in_degree"}),
        (MayFail, {"a"}, set()),
        (Listed, {"a"}, set()),
        (Otherwise, set(), set()),
        (Either, set(), set()),
    ],
)
def test_guards(program: type, of_v: set[str], of_nbr: set[str]) -> None:
    tree = parse(program)
    assert names(guard(tree, "v"), tree) == of_v
    assert names(guard(tree, "nbr"), tree) == of_nbr


class Found(gl.VertexProgram):
    class Vertex(gl.Vertex):
        near: gl.List[int]
        limit: int = 2

    def apply(self, v: Vertex, message: gl.Min[int]) -> None:
        v.limit = message

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if 7 in nbr.near:
            nbr.signal(1)


class Short(Found):
    def scatter(self, v: Found.Vertex, e: gl.Edge, nbr: Found.Vertex) -> None:
        if len(nbr.near) > v.limit:
            nbr.signal(v.limit)


def test_a_scatter_that_searches_lists_is_no_choice_without_checks_for_the_end() -> None:
    assert choice(parse(Found)) is None
    assert choice(parse(Short)) is not None
