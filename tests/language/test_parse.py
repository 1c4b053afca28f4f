"""From a program class to its typed tree."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gaslab import program as gl
from gaslab.compiler import tree as t
from gaslab.compiler.frontend import parse
from gaslab.programs.pagerank import PageRank
from tests.support.program_text import FIELDS, only, tree_of, with_vertex
from tests.support.tree_text import function_text, phase_text, typed


class ShortestPaths(gl.VertexProgram):
    source: gl.VertexId
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        distance: float

    class Edge(gl.Edge):
        weight: gl.float32
        hops: int = 1

    def init(self, v: Vertex) -> None:
        v.distance = 0.0 if v.id == self.source else math.inf

    def start(self, v: Vertex) -> bool:
        return v.id == self.source

    def apply(self, v: Vertex, message: gl.Min[gl.float32]) -> None:
        v.distance = min(v.distance, message)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.distance + e.weight < nbr.distance:
            nbr.signal(v.distance + e.weight)


# ---- whole programs --------------------------------------------------------------------------------


def test_pagerank() -> None:
    tree = parse(PageRank)
    assert tree.name == "PageRank"
    assert [(p.name, p.storage, p.default) for p in tree.params] == [
        ("damping", "float64", 0.85),
        ("tolerance", "float64", 1e-9),
    ]
    assert [f.name for f in tree.vertex_fields] == ["score", "share", "moved"]
    assert tree.gather == t.Combiner("sum", "float64")
    assert tree.message is None
    assert (tree.gather_edges, tree.scatter_edges, tree.has_done) == (gl.IN, 0, True)
    assert list(tree.functions) == ["init", "gather", "apply"]
    assert [(a.name, a.combiner.op, function_text(tree, a.function)) for a in tree.aggregators] == [
        ("dangling", "sum", "return (v.score if (v.out_degree == 0) else 0.0)"),
        ("change", "sum", "return v.moved"),
    ]
    assert phase_text(tree, "apply") == (
        "d = self.damping\n"
        "score = ((((1.0 - d) + (d * self.dangling)) / float(self.num_vertices)) + (d * total))\n"
        "v.moved = abs((score - v.score))\n"
        "_value = score\n"
        "_value_1 = (score / float(max(v.out_degree, 1)))\n"
        "v.score = _value\n"
        "v.share = _value_1"
    )
    apply = tree.functions["apply"]
    assert typed(apply.parameters) == {"total": "float"}
    assert apply.locals == dict.fromkeys(("total", "d", "score", "_value", "_value_1"), "float")
    assert apply.reads == {"v.score", "v.out_degree"}
    assert apply.writes == {"v.score", "v.share", "v.moved"}
    assert tree.functions["gather"].reads == {"nbr.share"}
    assert not tree.functions["gather"].writes
    assert tree.double_buffered("share")
    assert not tree.double_buffered("score")


def test_shortest_paths() -> None:
    tree = parse(ShortestPaths)
    source = only(tree.params)
    assert (source.name, source.type, source.required) == ("source", "id", True)
    assert only(tree.vertex_fields).required
    assert [(f.name, f.storage, f.default) for f in tree.edge_fields] == [
        ("weight", "float32", t.REQUIRED),
        ("hops", "int64", 1),
    ]
    assert tree.gather is None
    assert tree.message == t.Combiner("min", "float32")
    assert (tree.gather_edges, tree.scatter_edges) == (0, gl.ALL)
    assert typed(tree.functions["apply"].parameters) == {"message": "float"}
    assert tree.functions["start"].returns == "bool"
    assert phase_text(tree, "init") == "v.distance = (0.0 if (v.id == self.source) else inf)"
    assert phase_text(tree, "scatter") == (
        "if ((v.distance + e.weight) < nbr.distance):\n    signal((v.distance + e.weight))"
    )
    assert tree.reads("scatter", "e") == {"weight"}
    assert tree.reads("scatter", "nbr") == {"distance"}
    assert tree.reads("init", "v") == {"id"}


def test_sites_are_the_users_lines() -> None:
    tree = parse(PageRank)
    init = tree.functions["init"]
    lines = [tree.sites[statement.site] for statement in init.body]
    assert [site.text.strip() for site in lines] == [
        "v.score = 1.0 / self.num_vertices",
        "v.share = v.score / max(v.out_degree, 1)",
    ]
    assert lines[0].file == PageRank.init.__code__.co_filename
    assert tree.sites[init.site].line == PageRank.init.__code__.co_firstlineno
    assert tree.params[0].site.text.strip() == "damping: float = 0.85"
    assert tree.vertex_fields[1].site.text.strip().startswith("share: float = 0.0")


def test_a_tree_is_the_same_every_time() -> None:
    assert parse(PageRank) == parse(PageRank)


def test_inherited_methods_fields_and_parameters() -> None:
    class Faster(PageRank):
        damping = 0.5
        extra: int = 2

        class Vertex(PageRank.Vertex):
            seen: bool = False

        def init(self, v: Vertex) -> None:
            v.seen = v.degree > self.extra

    tree = parse(Faster)
    assert [(p.name, p.default) for p in tree.params] == [("damping", 0.5), ("tolerance", 1e-9), ("extra", 2)]
    assert [f.name for f in tree.vertex_fields] == ["score", "share", "moved", "seen"]
    assert tree.vertex_fields[0].site.text.strip() == "score: float = 0.0"
    assert phase_text(tree, "init") == "v.seen = (v.degree > self.extra)"
    assert phase_text(tree, "gather") == "return nbr.share"
    assert [a.name for a in tree.aggregators] == ["dangling", "change"]


def test_a_method_set_to_none_is_gone() -> None:
    class Once(PageRank):
        done = None  # type: ignore[assignment]
        change = None  # type: ignore[assignment]

    tree = parse(Once)
    assert not tree.has_done
    assert [a.name for a in tree.aggregators] == ["dangling"]


# ---- locals and statements -------------------------------------------------------------------------


def init_of(folder: Path, *lines: str, fields: str = FIELDS) -> t.Tree:
    return tree_of(
        folder, with_vertex("def init(self, v):\n" + "\n".join("    " + x for x in lines), fields=fields)
    )


def test_an_int_that_becomes_a_float_is_a_float_throughout(tmp_path: Path) -> None:
    tree = init_of(tmp_path, "x = 0", "y = x", "while y < 3:", "    x = x + 0.5", "    y = x", "v.x = y")
    assert tree.functions["init"].locals == {"x": "float", "y": "float"}
    assert phase_text(tree, "init") == (
        "x = 0.0\ny = x\nwhile (y < 3.0):\n    x = (x + 0.5)\n    y = x\nv.x = y"
    )


def test_a_bool_that_becomes_an_int(tmp_path: Path) -> None:
    tree = init_of(tmp_path, "x = v.b", "if v.c:", "    x = 2", "v.n = x")
    assert phase_text(tree, "init") == "x = int(v.b)\nif v.c:\n    x = 2\nv.n = x"


def test_a_declared_local_has_that_type(tmp_path: Path) -> None:
    tree = init_of(tmp_path, "x: float = v.n", "y: gl.int32", "y = 3", "v.x = x / y")
    assert tree.functions["init"].locals == {"x": "float", "y": "int"}
    assert phase_text(tree, "init") == "x = float(v.n)\ny = 3\nv.x = (x / float(y))"


def test_values_are_computed_before_any_target_of_a_tuple(tmp_path: Path) -> None:
    tree = init_of(tmp_path, "v.n, v.m = v.m, v.n", "a, b = 1, 2.0", "a, v.x = b, a")
    assert phase_text(tree, "init") == (
        "_value = v.m\n_value_1 = v.n\nv.n = _value\nv.m = _value_1\n"
        "a = 1.0\nb = 2.0\n"
        "_value_2 = b\n_value_3 = a\na = _value_2\nv.x = _value_3"
    )


def test_several_targets_take_one_value_from_left_to_right(tmp_path: Path) -> None:
    tree = init_of(tmp_path, "a = v.x = v.n + 1", "v.n = v.m = 0")
    assert phase_text(tree, "init") == "_value = (v.n + 1)\na = _value\nv.x = float(_value)\nv.n = 0\nv.m = 0"


def test_augmented_assignment_reads_and_writes(tmp_path: Path) -> None:
    tree = init_of(tmp_path, "v.n += v.b", "x = 1", "x /= 2")
    assert phase_text(tree, "init") == "v.n = (v.n + int(v.b))\nx = 1.0\nx = (x / 2.0)"
    assert tree.functions["init"].reads == {"v.n", "v.b"}
    assert tree.functions["init"].writes == {"v.n"}


def test_a_field_that_is_only_written_is_not_read(tmp_path: Path) -> None:
    tree = init_of(tmp_path, "v.x = 1.0")
    assert not tree.functions["init"].reads


def test_loops(tmp_path: Path) -> None:
    tree = init_of(
        tmp_path,
        "for i in range(v.n):", "    for j in range(1, 10, -2):", "        if j == i: continue",
        "        v.n += j", "    else_ = i", "    if else_ > 3:", "        break",
        "while True:", "    x = 1.0", "    if v.b: break", "v.x = x",
    )  # fmt: skip
    assert phase_text(tree, "init") == (
        "for i in range(0, v.n, 1):\n"
        "    for j in range(1, 10, -2):\n"
        "        if (j == i):\n"
        "            continue\n"
        "        v.n = (v.n + j)\n"
        "    else_ = i\n"
        "    if (else_ > 3):\n"
        "        break\n"
        "while True:\n"
        "    x = 1.0\n"
        "    if v.b:\n"
        "        break\n"
        "v.x = x"
    )


def test_a_loop_counts_in_ints_though_its_local_is_a_float(tmp_path: Path) -> None:
    tree = init_of(tmp_path, "i = 0.5", "for i in range(3):", "    v.x += i", "v.x += i")
    assert phase_text(tree, "init") == (
        "i = 0.5\nfor _count in range(0, 3, 1):\n    i = float(_count)\n    v.x = (v.x + i)\nv.x = (v.x + i)"
    )


def test_what_is_never_reached_is_left_out(tmp_path: Path) -> None:
    tree = init_of(
        tmp_path, "if v.b:", "    return", "    v.n = 1", "while True:", "    v.n += 1", "v.m = v.n"
    )
    assert phase_text(tree, "init") == "if v.b:\n    return\nwhile True:\n    v.n = (v.n + 1)"
    assert tree.functions["init"].writes == {"v.n"}


@pytest.mark.parametrize(
    "lines",
    [
        ("if v.b:", "    x = 1", "else:", "    x = 2", "v.n = x"),
        ("if v.b:", "    x = 1", "elif v.c:", "    return", "else:", "    x = 3", "v.n = x"),
        ("x = 1", "for i in range(3):", "    x = x + i", "v.n = x"),
        ("while True:", "    x = 1", "    if v.b:", "        break", "v.n = x"),
        (
            "for i in range(3):",
            "    if v.b:",
            "        x = 1",
            "    else:",
            "        continue",
            "    v.n = x",
        ),
        ("i = 0", "for i in range(3):", "    pass", "v.n = i"),
    ],
)
def test_a_local_assigned_on_every_path_may_be_read(lines: tuple[str, ...], tmp_path: Path) -> None:
    assert init_of(tmp_path, *lines).functions["init"].writes == {"v.n"}


def test_docstrings_pass_and_dots_are_no_statements(tmp_path: Path) -> None:
    tree = init_of(tmp_path, '"""What it does."""', "pass", "...", "return None")
    assert phase_text(tree, "init") == "return"


def test_locals_keep_clear_of_the_names_of_the_tree(tmp_path: Path) -> None:
    text = with_vertex(
        "def gather(self, v, e, nbr) -> gl.Sum[float]:\n    return 1.0\n"
        "def apply(self, v, acc):\n    total = acc + 1.0\n    größe = total\n    _value, acc = acc, größe\n"
        "    v.score = acc + _value"
    )
    tree = tree_of(tmp_path, text)
    assert typed(tree.functions["apply"].parameters) == {"total": "float"}
    assert phase_text(tree, "apply") == (
        "total_1 = (total + 1.0)\n_u = total_1\n".replace("_u", "gr_f6_dfe")
        + "_value_1 = total\n_value_2 = gr_f6_dfe\n_value = _value_1\ntotal = _value_2\n"
        "v.score = (total + _value)"
    )
    assert all(name.isascii() and name.isidentifier() for name in tree.functions["apply"].locals)


def test_a_parameter_that_is_assigned_a_wider_type_gets_a_local(tmp_path: Path) -> None:
    text = with_vertex(
        "def gather(self, v, e, nbr) -> gl.Sum[int]:\n    return True\n"
        "def apply(self, v, total: int):\n    total /= 2\n    v.score = total"
    )
    tree = tree_of(tmp_path, text)
    assert phase_text(tree, "gather") == "return 1"
    assert phase_text(tree, "apply") == "total_1 = float(total)\ntotal_1 = (total_1 / 2.0)\nv.score = total_1"
    assert tree.functions["apply"].locals == {"total": "int", "total_1": "float"}
