"""Operands that a condition needs more than once: evaluated once, in Python's order, written once in C."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import gaslab as gl
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse
from gaslab.compiler.python.body import Body
from gaslab.compiler.python.statements import text_of
from gaslab.compiler.tree import Tree
from gaslab.parallel.comm import Comm
from tests.support.agreement import Task, assert_agree, by_reference, from_text, run_task
from tests.support.graphs import hubs
from tests.support.program_text import HEAD, tree_of, with_vertex

NESTED = {  # what is nested in itself, at the @
    "the left side of in": "(@) in (v.degree, 3)",
    "a choice of in": "v.degree in (1, (@), v.id_like)",
    "or under and": "((@) or v.degree) and v.id_like",
    "and under or": "((@) and v.degree) or v.id_like + 1",
    "the middle of a chain": "-1 < (@) < v.degree",
    "a list and a choice": "((@) % 7 or 2) in (1, 2 - v.degree, 3)",
}
FIELDS = "count: int = 0\n        id_like: int = 0\n        score: float = 0.0"
ENGINES: dict[str, dict[str, Any]] = {
    "compiled": {"compile": "require"},
    "interpreted": {"compile": "never"},
    "reference": {"engine": "reference"},
}
HELPERS = "def h0(x):\n    return x * 0.5 + 1.0\n" + "".join(
    f"def h{k}(x):\n    return h{k - 1}(x) + h{k - 1}(x + 1.0)\n" for k in range(1, 31)
)


def nested(form: str, depth: int) -> str:
    text = "v.id_like + v.degree"
    for _ in range(depth):
        text = form.replace("@", text)
    return text


def applied(*statements: str) -> str:
    """Return class P whose apply is *statements*."""
    return (
        with_vertex(fields=FIELDS)
        + "    def apply(self, v):\n"
        + "".join(f"        {s}\n" for s in statements)
    )


def interpreted(tree: Tree) -> str:
    return text_of(Body(tree, tree.functions["apply"]), "def do_apply(c, n, v):")


@pytest.mark.parametrize("form", NESTED.values(), ids=NESTED)
def test_the_text_grows_with_the_source(form: str, tmp_path: Path) -> None:
    trees = [tree_of(tmp_path, applied(f"v.count = int({nested(form, depth)})")) for depth in (5, 10, 20)]
    for write in (emit, interpreted):
        five, ten, twenty = (len(write(tree)) for tree in trees)
        assert ten > five
        assert twenty - ten < 2.5 * (ten - five)


def test_nested_conditions_have_the_values_of_python() -> None:
    lines = []
    for form in NESTED.values():
        lines += [f"v.count = v.count * 3 + int({nested(form, depth)})" for depth in (1, 2, 3, 10)]
    text = HEAD + applied("v.id_like = v.count % 5", *lines)
    task = Task("nested_conditions:P", hubs(9, 24), 4, text)
    expected = by_reference(task)
    assert len(set(expected.vertices["count"].values())) > 2
    for mode in ("require", "never"):
        assert run_task(task, task.graph.build(Comm()), (mode, 1)) == expected


def test_a_chain_of_helpers_is_walked_once_per_helper(tmp_path: Path) -> None:
    assert emit(tree_of(tmp_path, HELPERS + applied("v.score = h30(v.score)")))  # 2 ** 30 calls of h0


DRAWING = [
    "v.count += int(0.2 < gl.uniform() < 0.6)",
    "v.count += int(gl.uniform() < gl.uniform() < gl.uniform() < 0.9)",
    "v.count += int(gl.integers(4) in (1, gl.integers(4), 3, gl.integers(4)))",
    "v.count += gl.integers(2) or 7",
    "v.count += (gl.integers(3) and gl.integers(5)) or 11",
    "v.score += gl.uniform()",
]


def test_each_draw_of_a_condition_is_one_draw() -> None:
    """Were one made twice, or not where Python makes it, those behind it would be others."""
    task = Task("drawing_conditions:P", hubs(9, 24), 3, HEAD + applied(*DRAWING))
    expected = by_reference(task)
    for mode in ("require", "never"):
        assert_agree(run_task(task, task.graph.build(Comm()), (mode, 1)), expected, 1e-9)


FAULTY = {  # an operand a line, and the line of the error
    "the left side comes first": ("1 // v.count in (\n1 // v.count, 2)", 0),
    "all choices before any comparison": ("0 in (\n0,\n1 // v.count,\n1 // v.count)", 2),
    "choices from left to right": ("0 in (v.degree,\n1 % v.count,\n1 // v.count)", 1),
    "a chain from left to right": ("1 // v.count <\n1 % v.count <\n1", 0),
    "the middle of a chain before its end": ("0 <\n1 % v.count <\n1 // v.count", 1),
    "the end of a chain that is broken": ("1 < v.count + 0 <\n1 // v.count", None),
    "the right of a decided or": ("(v.count + 1 or\n1 // v.count) == 1", None),
    "the right of a decided and": ("(v.count * 2 and\n1 // v.count) == 1", None),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", FAULTY)
def test_faults_are_those_of_python_in_its_order(case: str, engine: str) -> None:
    expression, line = FAULTY[case]
    text = HEAD + applied(f"v.id_like = int({expression})")
    program = from_text(f"faulty_condition_{list(FAULTY).index(case)}", text).P()
    graph = gl.Graph.from_edges([0, 1], [1, 0])
    if line is None:
        gl.run(program, graph, max_iterations=1, **ENGINES[engine])
        return
    at = text[: text.index("v.id_like = ")].count("\n") + 1 + line
    with pytest.raises(gl.ExecutionError, match=rf">:{at}: P failed at vertex 0 "):
        gl.run(program, graph, max_iterations=1, **ENGINES[engine])


EVERYWHERE = """
class P(gl.VertexProgram):
    class Vertex(gl.Vertex):
        count: int = 1
        low: int = 50
    @gl.aggregator
    def value(self, v) -> gl.Sum[int]:
        return (v.count * 2 or 1) in (2, v.count + 1)
    def start(self, v) -> bool:
        return 0 <= v.degree % 3 < 2
    def gather(self, v, e, nbr) -> gl.Sum[int]:
        return (nbr.count * 3) % 5 in (v.count + 1, 2) or 2 < nbr.count + v.count < 9
    def apply(self, v, total, message: gl.Min[int]):
        v.low = min(v.low, (message % 50 or 7))
        v.count = (v.count + total) % 17
    def scatter(self, v, e, nbr):
        if nbr.count + 1 in (1, 2, 3, nbr.low - 20) and 1 < v.count + nbr.count < 14:
            nbr.signal(v.count % 7 or 9)
"""


@pytest.mark.slow
def test_every_method_has_such_conditions_and_a_pull_looks_at_its_target_first() -> None:
    task = Task("conditions_everywhere:P", hubs(30, 200), 6, HEAD + EVERYWHERE)
    text = emit(parse(type(task.instance())))
    assert re.search(r"if \(!\(.*once1 = .*\)\) continue;", text)
    expected = by_reference(task)
    assert expected.iterations > 3
    for mode in (("require", 1), ("require", 2), ("never", 1)):
        assert run_task(task, task.graph.build(Comm()), mode) == expected


MOST = """import numpy as np

def most(x):
    return np.max(x)

def total(x):
    return np.sum(x)

"""
LOOPS = {  # what takes statements of its own, where Python may not come to it
    "and": "v.degree > 2 and total(np.ones(3) * v.score) > 1.0",
    "or": "v.degree > 6 or most(np.ones(3) * v.score) < 3.0 or total(np.ones(5)) > v.degree",
    "and of an index that fails": "v.degree < 3 and total(np.ones(3) * np.ones(3)[v.degree]) < 4.0",
    "a chain": "0 < v.degree < total(np.ones(3) * v.score)",
    "a long chain": "0 < v.degree % 5 <= total(np.ones(3)) < v.degree * 2.0 < total(np.ones(9)) * v.score",
    "a chain of draws": "0 < gl.integers(5) < total(np.ones(3)) and gl.uniform() < 0.5",
    "a chain of draws and a drawn loop": "0 < gl.integers(5) < total(np.ones(3) * gl.uniform()) * 2.0",
    "draws behind a loop": "v.degree > 1 and total(np.ones(3) * v.score) > 1.0 and gl.uniform() < 0.5",
    "not": "not (v.degree > 2 and total(np.ones(3) * v.score) > 1.0)",
    "inner": "(v.degree > 1 or total(np.ones(3)) > 4) and not (v.degree > 5 or most(np.ones(2)) > 1)",
}


@pytest.mark.parametrize("condition", LOOPS.values(), ids=LOOPS)
def test_a_loop_in_a_condition_is_run_where_python_comes_to_it(condition: str) -> None:
    lines = [f"if {condition}:", "    v.count += 1", "else:", "    v.count += 5"]
    lines += [f"v.id_like = 3 if {condition} else 4"]
    check_counts("loops_in_conditions", *lines)


def check_counts(name: str, *lines: str) -> None:
    """Hold an apply of these lines, compiled and interpreted, against the reference."""
    task = Task(f"{name}:P", hubs(9, 24), 4, HEAD + MOST + applied("v.score = v.degree * 0.75", *lines))
    expected = by_reference(task)
    assert len(set(expected.vertices["count"].values())) > 1
    for mode in ("require", "never"):
        assert run_task(task, task.graph.build(Comm()), (mode, 1)) == expected


OPERANDS = {  # one of which is the value
    "the second": "v.degree % 3 and total(np.ones(3) * v.degree)",
    "the first that is true": "v.degree % 2 or int(v.score) % 2 or int(most(np.ones(3) * v.degree))",
    "of two kinds": "v.degree % 3 and total(np.ones(3) * v.score) and v.degree > 4",
    "an index that fails": "v.degree < 3 and total(np.ones(3) * np.ones(3)[v.degree])",
    "draws": "gl.integers(3) and total(np.ones(3) * gl.uniform()) or gl.uniform()",
}


@pytest.mark.parametrize("value", OPERANDS.values(), ids=OPERANDS)
def test_a_loop_in_an_operand_is_run_where_python_comes_to_it(value: str) -> None:
    check_counts("loops_in_operands", f"v.count += int(8 * ({value}))")
