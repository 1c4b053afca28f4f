"""Expressions in the typed tree: what is written, what it becomes, and its type."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gaslab.compiler import tree as t
from tests.support.program_text import FIELDS, only, tree_of, with_vertex
from tests.support.tree_text import phase_text

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
