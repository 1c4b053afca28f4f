"""Helpers, methods and constants from outside a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from gaslab import program as gl
from gaslab.compiler.frontend import parse
from tests.support.program_text import only, tree_of, with_vertex
from tests.support.tree_text import function_text, phase_text, typed


def test_constants_of_modules_classes_and_enums_are_baked_in(tmp_path: Path) -> None:
    text = (
        "from enum import Enum, IntEnum\nfrom math import inf, sqrt as root\nimport numpy as np\n"
        "LIMIT = 3\nSCALE = np.float64(0.5)\nCOUNT = np.int32(4)\n"
        "class Kind(IntEnum):\n    RED = 7\n"
        "class Unit(Enum):\n    METRE = 2.5\n"
    ) + with_vertex(
        "FACTOR = 10\n"
        "def init(self, v):\n    v.count = LIMIT + Kind.RED + COUNT\n"
        "    v.score = SCALE * root(Unit.METRE.value) + self.FACTOR + np.inf - inf"
    )
    assert phase_text(tree_of(tmp_path, text), "init") == (
        "v.count = ((3 + 7) + 4)\nv.score = ((((0.5 * math.sqrt(2.5)) + 10.0) + inf) - inf)"
    )


def test_constants_of_enclosing_functions_are_baked_in() -> None:
    def make(limit: int, scale: float) -> type[gl.VertexProgram]:
        def scaled(x: float) -> float:
            return x * scale

        class Inner(gl.VertexProgram):
            class Vertex(gl.Vertex):
                score: float = 0.0

            def init(self, v: Vertex) -> None:
                v.score = scaled(v.degree + limit)

        return Inner

    for limit, scale in ((3, 0.5), (4, 2.0)):
        tree = parse(make(limit, scale))
        assert phase_text(tree, "init") == f"v.score = scaled0((v.degree + {limit}))"
        assert function_text(tree, only(tree.helpers)) == f"return (float(x) * {scale})"


def test_a_helper_is_made_once_per_combination_of_types(tmp_path: Path) -> None:
    text = "def twice(x, k=2):\n    return x * k\n" + with_vertex(
        "def init(self, v):\n    v.score = twice(v.score) + twice(1.5)\n"
        "    v.count = twice(v.count, k=3) + twice(1)"
    )
    tree = tree_of(tmp_path, text)
    assert phase_text(tree, "init") == (
        "v.score = (twice0(v.score, 2) + twice0(1.5, 2))\nv.count = (twice1(v.count, 3) + twice1(1, 2))"
    )
    assert [(typed(h.parameters), h.returns) for h in tree.helpers] == [
        ({"x": "float", "k": "int"}, "float"),
        ({"x": "int", "k": "int"}, "int"),
    ]


def test_a_helper_stands_after_the_helpers_it_calls(tmp_path: Path) -> None:
    text = (
        "def outer(x):\n    return inner(x) + 1\ndef inner(x):\n    return x if x > 0 else 0.5\n"
        + with_vertex("def init(self, v):\n    v.score = outer(v.count)")
    )
    tree = tree_of(tmp_path, text)
    assert [h.name for h in tree.helpers] == ["inner", "outer"]
    assert [h.returns for h in tree.helpers] == ["float", "float"]
    assert function_text(tree, tree.helpers[1]) == "return (inner0(x) + 1.0)"


def test_only_helpers_of_final_types_are_kept(tmp_path: Path) -> None:
    text = "def half(x):\n    return x / 2\n" + with_vertex(
        "def init(self, v):\n    x = 1\n    for i in range(3):\n        x = half(x)\n    v.score = x"
    )
    tree = tree_of(tmp_path, text)
    assert [typed(h.parameters) for h in tree.helpers] == [{"x": "float"}]


def test_a_helper_returns_the_type_that_holds_all_it_returns(tmp_path: Path) -> None:
    text = "def f(x):\n    if x > 3:\n        return 0\n    x = x * 0.5\n    return x\n" + with_vertex(
        "def init(self, v):\n    v.score = f(v.count)"
    )
    helper = only(tree_of(tmp_path, text).helpers)
    assert (typed(helper.parameters), helper.returns) == ({"x": "int"}, "float")
    assert helper.locals == {"x": "int", "x_1": "float"}


def test_a_helper_reads_vertices_edges_and_the_program_through_parameters(tmp_path: Path) -> None:
    text = (
        "def pull(p, a, b, edge, k):\n    return p.damping * distance(a, b) * edge.weight * k "
        "if a.count else b.score\n"
        "def distance(a, b):\n    return abs(a.score - b.score) / a.out_degree\n"
    ) + with_vertex(
        "damping: float = 0.5\nclass Edge(gl.Edge):\n    weight: float = 1.0\n"
        "def gather(self, v, e, nbr) -> gl.Sum[float]:\n    return pull(self, nbr, v, e, 2)\n"
        "def apply(self, v, total):\n    v.score = distance(v, v)"
    )
    tree = tree_of(tmp_path, text)
    assert phase_text(tree, "gather") == (
        "return pull1(2, nbr.count, self.damping, nbr.score, v.score, nbr.out_degree, e.weight)"
    )
    assert tree.functions["gather"].reads == {
        "nbr.score", "v.score", "nbr.out_degree", "e.weight", "nbr.count",
    }  # fmt: skip
    assert phase_text(tree, "apply") == "v.score = distance2(v.score, v.out_degree)"
    assert tree.functions["apply"].reads == {"v.score", "v.out_degree"}
    assert [h.name for h in tree.helpers] == ["distance", "pull", "distance"]
    assert tree.helpers[1].reads == tree.functions["gather"].reads
    assert function_text(tree, tree.helpers[2]) == ("return (abs((v_score - v_score)) / float(v_out_degree))")


def test_methods_and_static_methods_are_helpers(tmp_path: Path) -> None:
    text = with_vertex(
        "damping: float = 0.5\n"
        "def damped(self, x):\n    return self.damping * self.plus(x) / self.num_vertices\n"
        "@staticmethod\ndef plus(x):\n    return x + 1\n"
        "def init(self, v):\n    v.score = self.damped(v.count)\n"
        "def apply(self, v):\n    v.score = self.damped(x=v.score)"
    )
    tree = tree_of(tmp_path, text)
    assert phase_text(tree, "init") == "v.score = damped1(v.count, self.damping, self.num_vertices)"
    assert phase_text(tree, "apply") == "v.score = damped3(v.score, self.damping, self.num_vertices)"
    assert [h.name for h in tree.helpers] == ["plus", "damped", "plus", "damped"]


def test_helpers_of_other_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shapes_of_tests.py").write_text("SIDE = 4.0\ndef area(h):\n    return SIDE * h\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = "import shapes_of_tests as shapes\nfrom shapes_of_tests import area\n" + with_vertex(
        "def init(self, v):\n    v.score = shapes.area(v.score) + area(shapes.SIDE)"
    )
    tree = tree_of(tmp_path, text)
    assert phase_text(tree, "init") == "v.score = (area0(v.score) + area0(4.0))"
    helper = only(tree.helpers)
    assert function_text(tree, helper) == "return (4.0 * h)"
    assert tree.sites[helper.site].file.endswith("shapes_of_tests.py")
