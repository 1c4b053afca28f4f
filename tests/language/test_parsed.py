"""A built-in program is parsed once, whatever its parameters; any other program for every run."""

from __future__ import annotations

import pytest

import gaslab as gl
from gaslab.compiler import frontend
from gaslab.compiler.frontend import parse_phases, parsed

SCALE = 2.0


class Scaled(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: float = 1.0

    def apply(self, v: Vertex) -> None:
        v.x *= SCALE


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that begins."""
    monkeypatch.setattr(parsed, "_trees", {})
    monkeypatch.setattr(parsed, "_lengths", {})


def test_a_program_of_one_s_own_is_parsed_for_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 0])
    for scale in (2.0, 3.0):
        monkeypatch.setitem(globals(), "SCALE", scale)
        result = gl.run(Scaled(), graph, max_iterations=1, compile="never")
        assert result.vertices["x"].tolist() == [scale, scale]
    assert not parsed.stays(Scaled)
    assert not parsed._trees


def test_one_that_is_derived_from_a_built_in_is_one_s_own() -> None:
    class Mine(gl.programs.PageRank):
        pass

    assert parsed.stays(gl.programs.PageRank)
    assert not parsed.stays(Mine)


def test_a_built_in_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[type] = []
    parse = frontend._parse
    monkeypatch.setattr(frontend, "_parse", lambda cls, *rest: asked.append(cls) or parse(cls, *rest))
    graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0])
    for source in (0, 1):
        assert gl.bfs(graph, source).vertices["level"][source] == 0
    assert asked == [gl.programs.Levels]
    first, *_ = parse_phases(gl.programs.Levels)
    assert parse_phases(gl.programs.Levels)[0] is first


def test_a_length_makes_another_tree_and_other_numbers_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (parse_phases(gl.programs.ALS, {"factors": n}) for n in (2, 3))
    assert [tree.vertex_fields for tree in one] != [tree.vertex_fields for tree in two]
    assert parse_phases(gl.programs.ALS, {"factors": 2, "another": 9}) is one
    monkeypatch.setattr(parsed, "MOST", 2)
    parse_phases(gl.programs.ALS, {"factors": 4})
    assert len(parsed._trees) == 2
    assert parse_phases(gl.programs.ALS, {"factors": 2}) is not one
