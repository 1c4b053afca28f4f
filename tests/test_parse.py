"""From a program class to its typed tree."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gaslab import program as gl
from gaslab.compiler import tree as t
from gaslab.compiler.parse import parse
from tests.program_text import only, tree_of, with_vertex
from tests.tree_text import function_text, phase_text


class PageRank(gl.VertexProgram):
    damping: float = 0.85
    tolerance: float = 1e-9

    class Vertex(gl.Vertex):
        score: float = 0.0
        share: float = 0.0
        moved: float = 0.0

    @gl.aggregator
    def dangling(self, v: Vertex) -> gl.Sum[float]:
        return v.score if v.out_degree == 0 else 0.0

    @gl.aggregator
    def change(self, v: Vertex) -> gl.Sum[float]:
        return v.moved

    def init(self, v: Vertex) -> None:
        v.score = 1.0 / self.num_vertices
        v.share = v.score / max(v.out_degree, 1)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.share

    def apply(self, v: Vertex, total: float) -> None:
        d = self.damping
        score = (1.0 - d + d * self.dangling) / self.num_vertices + d * total
        v.moved = abs(score - v.score)
        v.score, v.share = score, score / max(v.out_degree, 1)

    def done(self) -> bool:
        return self.change < self.tolerance


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
    assert apply.parameters == (("total", "float"),)
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
    assert tree.functions["apply"].parameters == (("message", "float"),)
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
    assert lines[0].file == __file__
    assert tree.sites[init.site].line == PageRank.init.__code__.co_firstlineno
    assert tree.params[0].site.text.strip() == "damping: float = 0.85"
    assert tree.vertex_fields[1].site.text.strip() == "share: float = 0.0"


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


# ---- expressions -----------------------------------------------------------------------------------

FIELDS = (
    "x: float = 0.0\n        n: int = 0\n        m: int = 0\n        b: bool = False\n        c: bool = True"
)
EXPRESSIONS = {
    # what is written: what the tree has, and its type
    "v.n + 1": ("(v.n + 1)", "int"),
    "v.n + 1.5": ("(float(v.n) + 1.5)", "float"),
    "v.b + v.c": ("(int(v.b) + int(v.c))", "int"),
    "v.n * v.x": ("(float(v.n) * v.x)", "float"),
    "2 * v.x": ("(2.0 * v.x)", "float"),
    "v.n / v.m": ("(float(v.n) / float(v.m))", "float"),
    "v.n // v.m": ("(v.n // v.m)", "int"),
    "v.n % 3": ("(v.n % 3)", "int"),
    "v.x // v.n": ("(v.x // float(v.n))", "float"),
    "v.n ** 2": ("(v.n ** 2)", "int"),
    "v.x ** 2": ("(v.x ** 2.0)", "float"),
    "v.n ** 0.5": ("(float(v.n) ** 0.5)", "float"),
    "v.n << 3 | v.m": ("((v.n << 3) | v.m)", "int"),
    "v.b & v.c": ("(v.b & v.c)", "bool"),
    "v.b ^ v.n": ("(int(v.b) ^ v.n)", "int"),
    "~v.b": ("(~ int(v.b))", "int"),
    "-v.n": ("(- v.n)", "int"),
    "-v.b": ("(- int(v.b))", "int"),
    "+v.x": ("v.x", "float"),
    "-3": ("-3", "int"),
    "-(1.5)": ("-1.5", "float"),
    "-9223372036854775808": ("-9223372036854775808", "int"),
    "not v.n": ("(not bool(v.n))", "bool"),
    "v.n < v.x": ("(float(v.n) < v.x)", "bool"),
    "v.n == 1": ("(v.n == 1)", "bool"),
    "v.b == v.c": ("(v.b == v.c)", "bool"),
    "v.b == 1": ("(int(v.b) == 1)", "bool"),
    "0 < v.n <= v.x": ("((0 < v.n) and (float(v.n) <= v.x))", "bool"),
    "v.n in (1, 2)": ("((v.n == 1) or (v.n == 2))", "bool"),
    "v.n not in [7]": ("(not (v.n == 7))", "bool"),
    "v.b and v.n > 1 or v.c": ("((v.b and (v.n > 1)) or v.c)", "bool"),
    "v.n or v.m": ("(v.n if bool(v.n) else v.m)", "int"),
    "v.n and v.x": ("(v.x if bool(v.n) else float(v.n))", "float"),
    "v.n if v.x else 1.0": ("(float(v.n) if bool(v.x) else 1.0)", "float"),
    "1 if v.n and v.m else 0": ("(1 if (bool(v.n) and bool(v.m)) else 0)", "int"),
    "abs(v.n)": ("abs(v.n)", "int"),
    "abs(v.b)": ("abs(int(v.b))", "int"),
    "min(v.n, 2, v.x)": ("min(float(min(v.n, 2)), v.x)", "float"),
    "max(v.n, 1)": ("max(v.n, 1)", "int"),
    "int(v.x)": ("int(v.x)", "int"),
    "int(2.9)": ("2", "int"),
    "int(v.n)": ("v.n", "int"),
    "float(v.n)": ("float(v.n)", "float"),
    "float('-inf')": ("-inf", "float"),
    "bool(v.x)": ("bool(v.x)", "bool"),
    "bool(3)": ("True", "bool"),
    "math.sqrt(v.n)": ("math.sqrt(float(v.n))", "float"),
    "math.floor(v.x)": ("int(math.floor(v.x))", "int"),
    "math.ceil(v.n)": ("v.n", "int"),
    "math.trunc(v.x)": ("int(v.x)", "int"),
    "math.isnan(v.x)": ("math.isnan(v.x)", "bool"),
    "math.log(v.x)": ("math.log(v.x)", "float"),
    "math.log(v.x, 2)": ("(math.log(v.x) / math.log(2.0))", "float"),
    "math.atan2(v.x, v.n)": ("math.atan2(v.x, float(v.n))", "float"),
    "math.ldexp(v.n, v.b)": ("math.ldexp(float(v.n), int(v.b))", "float"),
    "math.degrees(v.x)": (f"(v.x * {180.0 / math.pi!r})", "float"),
    "math.pi": ("3.141592653589793", "float"),
    "self.num_edges": ("self.num_edges", "int"),
    "self.superstep % 2 == 0": ("((self.superstep % 2) == 0)", "bool"),
    "v.in_degree + v.out_degree": ("(v.in_degree + v.out_degree)", "int"),
    "v.id < v.id": ("(v.id < v.id)", "bool"),
    "min(v.id, v.id) == v.id": ("(min(v.id, v.id) == v.id)", "bool"),
}


@pytest.mark.parametrize("written", EXPRESSIONS)
def test_an_expression_and_its_type(written: str, tmp_path: Path) -> None:
    text, kind = EXPRESSIONS[written]
    tree = tree_of(tmp_path, with_vertex(f"def init(self, v):\n    y = {written}", fields=FIELDS))
    assert phase_text(tree, "init") == f"y = {text}"
    assert tree.functions["init"].locals == {"y": kind}


def test_what_may_fault_has_its_site(tmp_path: Path) -> None:
    body = "def init(self, v):\n" + "\n".join(
        f"    v.x = {line}"
        for line in (
            "1.0 / v.n",
            "v.n // v.m",
            "v.n % v.m",
            "v.n << v.m",
            "int(v.x)",
            "math.floor(v.x)",
            "1 / v.x",
        )
    )
    tree = tree_of(tmp_path, with_vertex(body, fields=FIELDS))
    seen = []
    for statement in tree.functions["init"].body:
        assert isinstance(statement, t.Assign)
        node = statement.value
        while isinstance(node, t.Cast) and node.site < 0:
            node = node.operand
        assert isinstance(node, t.Binary | t.Cast)
        seen.append(tree.sites[node.site].text.split("= ")[1] if node.site >= 0 else "-")
    assert seen == ["1.0 / v.n", "v.n // v.m", "v.n % v.m", "v.n << v.m", "int(v.x)", "math.floor(v.x)", "-"]


@pytest.mark.parametrize(
    ("divisor", "checked"),
    [("v.n", True), ("v.b", True), ("v.x", False), ("2", False), ("max(v.n, 1)", False),
     ("max(v.n, 0)", True), ("self.num_vertices", False), ("self.num_edges", True)],
)  # fmt: skip
def test_an_int_divisor_is_checked_unless_it_cannot_be_zero(
    divisor: str, checked: bool, tmp_path: Path
) -> None:
    tree = tree_of(tmp_path, with_vertex(f"def init(self, v):\n    v.x = 1.0 / {divisor}", fields=FIELDS))
    statement = only(tree.functions["init"].body)
    assert statement.value.int_divisor is checked
    assert (statement.value.site >= 0) is checked


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
    assert tree.functions["apply"].parameters == (("total", "float"),)
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


# ---- what comes from outside -----------------------------------------------------------------------


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


# ---- helpers ---------------------------------------------------------------------------------------


def test_a_helper_is_made_once_per_combination_of_types(tmp_path: Path) -> None:
    text = "def twice(x, k=2):\n    return x * k\n" + with_vertex(
        "def init(self, v):\n    v.score = twice(v.score) + twice(1.5)\n"
        "    v.count = twice(v.count, k=3) + twice(1)"
    )
    tree = tree_of(tmp_path, text)
    assert phase_text(tree, "init") == (
        "v.score = (twice0(v.score, 2) + twice0(1.5, 2))\nv.count = (twice1(v.count, 3) + twice1(1, 2))"
    )
    assert [(h.parameters, h.returns) for h in tree.helpers] == [
        ((("x", "float"), ("k", "int")), "float"),
        ((("x", "int"), ("k", "int")), "int"),
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
    assert [h.parameters for h in tree.helpers] == [(("x", "float"),)]


def test_a_helper_returns_the_type_that_holds_all_it_returns(tmp_path: Path) -> None:
    text = "def f(x):\n    if x > 3:\n        return 0\n    x = x * 0.5\n    return x\n" + with_vertex(
        "def init(self, v):\n    v.score = f(v.count)"
    )
    helper = only(tree_of(tmp_path, text).helpers)
    assert (helper.parameters, helper.returns) == ((("x", "int"),), "float")
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
