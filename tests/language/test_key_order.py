"""Loops over a total's items: which need their keys sorted, and that the others give the same without."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gaslab as gl
from examples.louvain import Moves
from gaslab.compiler import tree as t
from gaslab.compiler.frontend import parse, parse_phases
from tests.programs import key_order, sum_by
from tests.support.agreement import from_text

# ---- which loops -----------------------------------------------------------------------------------

TEXT = """\
import gaslab as gl
import numpy as np

SIZES = np.array([1.0, 2.0, 4.0])


def drawn(x: int) -> float:
    return x * gl.uniform()


class P(gl.VertexProgram):
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        x: int = 0
        y: int = 0
        few: gl.int8 = 0
        label: gl.VertexId
        most: float = 0.0
        narrow: gl.float32 = 0.0
        found: bool = False
        some: gl.List[int]

    class Edge(gl.Edge):
        weight: float

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.SumBy[gl.int16, {value}]:
        return nbr.x, 1

    def apply(self, v: Vertex, total: gl.SumBy[gl.int16, {value}]) -> None:
        best = most = 0
        first, top, last = 0, 0.0, 0.0
        for key, value in total.items():
{loop}
        v.x, v.most = best + most + first, top
"""


def loops_of(tree: t.Tree) -> list[bool]:
    """Return of each loop over a total whether its keys are sorted."""
    return [x.ascending for x in t.nodes(tree.functions["apply"].body) if isinstance(x, t.KeyedLoop)]


def is_sorted(loop: str, value: str = "float", after: str = "") -> bool:
    lines = "".join(f"            {line}\n" for line in loop.split("\n"))
    text = TEXT.format(loop=lines, value=value) + after
    return any(loops_of(parse(from_text(f"key_order_{abs(hash((text, value)))}", text).P)))


FREE = {
    "the first of the greatest": "if value > top:\n    first, top = key, value",
    "the last of the least": "if top >= value:\n    top = value\n    v.y = key",
    "guards": "if key == v.y or value < 0.5:\n    continue\ngain = value - 0.5 * v.narrow\n"
    "if gain > top:\n    first, top = key, gain",
    "an and": "if key != v.y and value > top and key > 2:\n    first, top = key, value",
    "an expression": "if value * 2.0 > top:\n    top = value * 2.0",
    "max and min": "top = max(top, value)\nv.most = min(v.most, value - 1.0)",
    "a conditional": "top = value if value > top else top",
    "ties by hand": "if value > top or (value == top and key < first):\n    first, top = key, value",
    "an index": "gain = value - SIZES[key]\nif gain > top:\n    first, top = key, gain",
    "sums": "best += key\nmost -= key * 3\nv.y = key + v.y - 2\nv.few += 1",
    "bits": "best ^= key\nmost |= key & 3",
    "tests": "v.found = v.found or value > 2.0\nif key == 4:\n    first = 1",
    "either way": "if value > 2.0:\n    gain = 1\nelse:\n    gain = 2\nbest += gain",
    "a narrow best": "if key > v.few:\n    v.few = key",
    "break": "if value > 3.0:\n    v.found = True\n    break",
    "return": "if value > 3.0:\n    v.most = 7.0\n    return",
    "the total": "best += key in total\nif total[key] > top:\n    top = total[key]",
}
SORTED = {
    "a sum of floats": "top += value",
    "the last key": "first = key",
    "one thing of the last round": "if value > 2.0:\n    gain = 1\nelse:\n    gain = 2\nfirst = gain",
    "carried over": "if key - first > 1:\n    best += 1\nfirst = key",
    "two kinds": "best += key\nbest *= 2",
    "a choice and a sum": "if value > top:\n    first, top = key, value\n    best += 1",
    "the two greatest": "if value > top:\n    v.most = top\n    top = value\nelif value > v.most:\n"
    "    v.most = value",
    "another value is kept": "if value > top:\n    top = value + 1.0",
    "the best is read": "if value > top:\n    top = value\nbest += int(top)",
    "a best that is rounded": "if value > v.narrow:\n    v.narrow = value",
    "a narrow sum": "v.few += key",
    "two faults": "best += int(value)\nv.few += 1",
    "a fault of one choice": "if value > top:\n    top = value\n    v.few = int(value)",
    "an index of one choice": "if value > top:\n    top, v.most = value, SIZES[key]",
    "zeros of two signs": "if key > 1:\n    top = 0.0\nelse:\n    top = -0.0",
    "break after a sum": "best += key\nif value > 2.0:\n    break",
    "two breaks": "if value > 2.0:\n    first = 1\n    break\nif key > 2:\n    first = 1\n    break",
    "break with the key": "if value > 2.0:\n    first = key\n    break",
    "a draw": "if gl.uniform() < 0.5:\n    best += key",
    "a draw of a helper": "if drawn(key) < 0.5:\n    best += key",
    "append": "v.some.append(key)",
    "a loop within": "for other, more in total.items():\n    best += other",
    "a guard by the best": "if value <= top:\n    continue\nfirst, top = key, value",
}


@pytest.mark.parametrize("name", FREE)
def test_loops_that_need_no_order(name: str) -> None:
    assert not is_sorted(FREE[name])


@pytest.mark.parametrize("name", SORTED)
def test_loops_that_keep_the_order(name: str) -> None:
    assert is_sorted(SORTED[name])


def test_what_a_round_leaves_behind_is_in_order() -> None:
    loop, head = "last = value\nif last > top:\n    top = last", "        for key, value in total.items():\n"
    assert not is_sorted(loop)
    assert is_sorted(loop, after="        v.most += last if total else 0.0\n")
    assert is_sorted(loop, after=f"{head}            v.y += last > 1.0\n")
    assert not is_sorted(loop, after=f"{head}            last = value\n            v.y += last > 1.0\n")


def test_one_loop_that_needs_the_order_sorts_for_all() -> None:
    second = "        for key, value in total.items():\n            v.y = v.y * 3 + key\n"
    assert is_sorted(FREE["sums"], after=second)


def test_the_loops_of_programs() -> None:
    assert [loops_of(tree) for tree in parse_phases(Moves)] == [[], [False], []]
    assert loops_of(parse(sum_by.WeightedLabels)) == [False]
    assert loops_of(parse(sum_by.Ints)) == [True, True]
    assert loops_of(parse(key_order.Chosen)) == [False] * 4
    assert loops_of(parse(key_order.Added)) == [False] * 3


# ---- the same answers ------------------------------------------------------------------------------

FIELD, LAST = "        x: int = 0\n", "        v.x = (v.x + v.first + v.last) % 7 - 2\n"
ROLLED = "        for key, _weight in total.items():\n            v.rolled = v.rolled * 3 + key\n"


def in_order() -> type[gl.VertexProgram]:
    """Return `Chosen` with a loop more that needs the order: so all keys are sorted."""
    text = inspect.getsource(key_order)
    for before, more in ((FIELD, "        rolled: int = 0\n"), (LAST, ROLLED)):
        assert before in text
        text = text.replace(before, before + more, 1)
    program: type[gl.VertexProgram] = from_text("key_order_sorted", text).Chosen
    assert all(loops_of(parse(program)))
    return program


WEIGHTS = (0.0, 0.25, 0.5, 1.0, 1.0, 2.0, 3.5, -1.0, math.inf, -math.inf)
COUNTS = st.sampled_from([0, 65533])  # of a field of 16 bits
ROWS = st.lists(st.tuples(st.integers(-30, 30), st.sampled_from(WEIGHTS), st.integers(0, 2)), max_size=40)
STARTS = st.tuples(st.sampled_from((*WEIGHTS, -0.0, math.nan)), st.integers(-4, 4))


def bits(result: Any) -> dict[str, list[int]]:
    """Return the fields as whole numbers, of which each nan is one."""
    found = {}
    for name in (v.name for v in parse(key_order.Chosen).vertex_fields):
        values = result.vertices[name]
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), np.nan, values).astype(values.dtype)
            values = values.view(f"i{values.dtype.itemsize}")
        found[name] = values.tolist()
    return found


@settings(max_examples=30)
@given(ROWS, STARTS)
@example([(1, 0.0, 0), (2, 0.0, 0), (3, 0.0, 0)], (-1.0, 2))
@example([(5, math.inf, 1), (5, -math.inf, 1), (14, 1.0, 1), (-3, 1.0, 1)], (math.nan, 0))
def test_choices_are_those_of_the_order(rows: list[tuple[int, float, int]], start: tuple[float, int]) -> None:
    n, (value, kept) = len(rows), start
    columns = {"weight": [row[1] for row in rows]}
    graph = gl.Graph.from_edges(
        np.arange(3, 3 + n), [row[2] for row in rows], columns=columns, vertices=np.arange(3 + n)
    )
    init = {"x": np.array([kept, 0, 1] + [row[0] for row in rows])}
    init |= {name: np.full(3 + n, value) for name in ("high", "wide", "mine")}
    init |= {"own": np.full(3 + n, kept)}
    found = [
        bits(gl.run(program(), graph, max_iterations=2, init=init, **how))
        for program, how in (
            (key_order.Chosen, {"engine": "reference"}), (key_order.Chosen, {"compile": "require"}),
            (in_order(), {"compile": "require"}), (key_order.Chosen, {"compile": "never"}),
        )
    ]  # fmt: skip
    assert all(other == found[0] for other in found[1:])


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.integers(-128, 127), st.integers(0, 2)), max_size=30), st.sampled_from([0, 65533])
)
def test_sums_and_their_faults_are_those_of_the_order(rows: list[tuple[int, int]], count: int) -> None:
    n = len(rows)
    graph = gl.Graph.from_edges(np.arange(3, 3 + n), [row[1] for row in rows], vertices=np.arange(3 + n))
    init = {"x": np.array([4, 0, 1] + [row[0] for row in rows]), "count": np.full(3 + n, count)}
    found = []
    for how in ({"engine": "reference"}, {"compile": "require"}, {"compile": "never"}):
        try:
            result = gl.run(key_order.Added(), graph, max_iterations=1, init=init, **how)
            found.append(
                {v.name: result.vertices[v.name].tolist() for v in parse(key_order.Added).vertex_fields}
            )
        except gl.ExecutionError as error:
            found.append(str(error).partition(" failed at vertex ")[2].partition(":")[0])
    assert all(other == found[0] for other in found[1:])


def test_a_best_beyond_its_storage_ends_the_run_in_any_order() -> None:
    loop = "            if value > v.few:\n                v.few = value\n"
    module = from_text("key_order_beyond", TEXT.format(loop=loop, value="int"))
    assert loops_of(parse(module.P)) == [False]
    for keys in ([1, 2, 3], [3, 2, 1]):
        ends = np.repeat(keys, [200, 5, 3])
        graph = gl.Graph.from_edges(
            np.arange(1, 1 + ends.size), np.zeros(ends.size, int), columns={"weight": np.ones(ends.size)}
        )
        for compiled in ("require", "never"):
            with pytest.raises(gl.ExecutionError, match=r"P failed at vertex 0.*outside the range"):
                gl.run(module.P(), graph, max_iterations=1, init={"x": np.append(0, ends)}, compile=compiled)
