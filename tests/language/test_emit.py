"""The range functions of emitted programs on small graphs, compiled and interpreted alike.

`both` runs each phase twice, as a library and in the interpreter, and fails on the first bit that differs;
what the tests here add is what the phase must do. Scatter's are in test_emit_scatter.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaslab.compiler import build
from gaslab.compiler import tree as t
from gaslab.compiler.c import emit
from gaslab.engine.storage import dtype_of
from gaslab.parallel.comm import Comm
from tests.support import hand_trees as h
from tests.support.hand_trees import F, I, assign, binary, const, function, local, program, ret, variable
from tests.support.hand_views import (
    ALL,
    IN,
    OUT,
    N,
    both,
    call,
    edge_lists,
    made,
    masks,
    state,
    walk,
    weights,
)

# ---- gather ----------------------------------------------------------------------------------------


def gathering(op: str, storage: str) -> t.Tree:
    """gather gives ``nbr.a * e.w``; apply stores ``total`` in ``b``."""
    kind = t.STORAGE[storage][0]
    far, weight = t.VertexField("nbr", 0, kind), t.EdgeField(0, kind)
    value = t.Logical("and", (far, weight)) if kind == "bool" else binary("*", far, weight)
    return program(
        [
            function("gather", [ret(value)], kind, reads="nbr.a e.w"),
            function("apply", [assign(t.VertexField("v", 1, kind), local("total", kind))], writes="v.b",
                     parameters={"total": kind}),
        ],
        vertex=(variable("a", storage), variable("b", storage)),
        edge=(variable("w", storage),),
        gather=t.Combiner(op, storage),
    )  # fmt: skip


GATHERING = {
    (op, storage): gathering(op, storage)
    for op in ("sum", "min", "max")
    for storage in ("float64", "float32", "int64", "int32", "uint8", "bool")
}


def folded(combiner: t.Combiner, values: list[Any]) -> Any:
    """Combine in plain Python, floats in the four accumulators that the language promises."""
    fold = {"sum": operator.add, "min": min, "max": max}[combiner.op]
    if combiner.type != "float":
        total = combiner.identity
        for value in values:
            total = fold(total, value)
        return bool(total) if combiner.type == "bool" else total
    sums = [combiner.identity] * 4
    whole = 0
    for part in values:
        for k, value in enumerate(part):
            way = k % 4 if k < len(part) // 4 * 4 else 0
            sums[way] = fold(sums[way], value)
        whole += len(part)
    return fold(fold(sums[0], sums[1]), fold(sums[2], sums[3]))


@pytest.mark.parametrize(("op", "storage"), GATHERING)
@given(edges=edge_lists, mask=masks, seed=st.integers(0, 99))
def test_gather_combines_a_vertex_s_edges(op: str, storage: str, edges: Any, mask: int, seed: int) -> None:
    tree = GATHERING[op, storage]
    s = state(tree, N, edges, [w % 2 if storage == "bool" else w for w in weights(edges)], gather_edges=mask)
    rng = np.random.default_rng(seed)
    s.vertex[0][:] = rng.random(N) if storage[0] == "f" else rng.integers(0, 2, N)
    if storage == "float32":  # the same as a sum in float32, whose order decides
        s.vertex[0][:] = rng.integers(0, 64, N) / 8
    assert both("gl_gather", s) is None
    for v in range(N):
        rows = [walk(s, mask & bit, v) for bit in (IN, OUT)]
        parts = [[s.vertex[0].item(x) * s.edge[0].item(e) for x, e in row] for row in rows]
        values = parts if storage[0] == "f" else [value for part in parts for value in part]
        assert s.total.item(v) == folded(t.Combiner(op, storage), values)


@given(edges=edge_lists, mask=masks, skipped=st.sets(st.integers(0, N - 1)), seed=st.integers(0, 99))
def test_gather_apply_gives_the_bits_of_gather_then_apply(
    edges: Any, mask: int, skipped: set[int], seed: int
) -> None:
    tree = GATHERING["sum", "float64"]
    s, fused = (state(tree, N, edges, weights(edges), gather_edges=mask) for _ in range(2))
    s.vertex[0][:] = fused.vertex[0][:] = np.random.default_rng(seed).random(N)
    both("gl_gather", s)
    both("gl_apply", s)
    fused.skip = np.array([v in skipped for v in range(N)], np.uint8)
    fused.vertex[1][:] = -1.0
    both("gl_gather_apply", fused)
    for v in range(N):
        assert fused.vertex[1][v] == (-1.0 if v in skipped else s.vertex[1][v])


@given(mask=masks, degree=st.integers(0, 40), seed=st.integers(0, 99))
def test_prefetching_on_large_graphs_changes_no_bit(mask: int, degree: int, seed: int) -> None:
    """A gather that prefetches from the first vertex on has the bits of one that never does."""
    tree = GATHERING["sum", "float64"]
    text = emit(tree)
    eager = text.replace("GL_FAR_VERTICES = 1 << 19", "GL_FAR_VERTICES = 1")
    assert eager != text
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, N, (N * degree, 2))
    one, other = (state(tree, N, edges, [0.1] * len(edges), gather_edges=mask) for _ in range(2))
    one.vertex[0][:] = other.vertex[0][:] = rng.random(N)
    assert both("gl_gather", one) is None
    assert call(build.load(eager, Comm()), "gl_gather", other, 0, N) is None
    assert one.total.tobytes() == other.total.tobytes()


def test_lists_choose_vertices_and_totals_stand_by_position() -> None:
    s = state(GATHERING["sum", "int64"], 4, [(0, 1), (0, 2), (2, 3)], [5, 6, 7])
    s.vertex[0][:] = [1, 10, 100, 1000]
    assert both("gl_gather", s, listed=[3, 1]) is None
    assert s.total.tolist()[:2] == [700, 5]
    assert both("gl_apply", s, listed=[3, 1]) is None
    assert s.vertex[1].tolist() == [0, 5, 0, 700]
    s.vertex[1][:] = 0
    assert both("gl_apply", s, lo=1, hi=2, listed=[3, 1]) is None
    assert s.vertex[1].tolist() == [0, 5, 0, 0]


def test_combine_folds_a_peer_s_parts_into_listed_totals() -> None:
    s = state(GATHERING["max", "int32"], 4)
    s.total[:] = [1, 2, 3, 4]
    s.incoming = np.array([9, 0], np.int32)
    assert both("gl_combine", s, listed=[2, 3]) is None
    assert s.total.tolist() == [1, 2, 9, 4]


def test_a_total_outside_its_storage_is_a_fault_of_the_vertex() -> None:
    s = state(GATHERING["sum", "uint8"], 3, [(0, 2), (1, 2)], [1, 1])
    s.vertex[0][:] = [200, 100, 0]
    assert both("gl_gather", s) == (2, 2, 0)
    assert both("gl_gather_apply", s) == (2, 2, 0)


def test_min_and_max_skip_nan_and_begin_at_their_identities() -> None:
    for op, least in (("min", math.inf), ("max", -math.inf)):
        s = state(GATHERING[op, "float64"], 3, [(0, 1), (0, 1), (2, 1)], [1, 1, 1])
        s.vertex[0][:] = [math.nan, 0.0, 4.0]
        both("gl_gather", s)
        assert s.total.tolist() == [least, 4.0, least]


def test_edge_values_are_those_of_the_slot_from_either_side() -> None:
    tree = GATHERING["sum", "int64"]
    s = state(tree, 4, [(2, 0), (1, 0), (0, 3), (0, 1)], [2, 3, 5, 7], gather_edges=ALL)
    s.vertex[0][:] = [1, 10, 100, 1000]
    both("gl_gather", s)
    assert s.total.tolist() == [100 * 2 + 10 * 3 + 1000 * 5 + 10 * 7, 1 * 3 + 1 * 7, 1 * 2, 1 * 5]


# ---- apply, init, start ----------------------------------------------------------------------------


def test_apply_writes_beside_what_gathers_read_and_stores_after_an_early_return() -> None:
    a = t.VertexField("v", 0, I)
    small = t.If(t.Compare("<", local("total", I), const(5)), (ret(),), (), 0)
    tree = program(
        [
            function("gather", [ret(t.VertexField("nbr", 0, I))], I, reads="nbr.a"),
            function("apply", [assign(a, binary("+", a, const(1))), small, assign(a, local("total", I))],
                     reads="v.a", writes="v.a", parameters={"total": I}),
        ],
        vertex=(variable("a", "int64"),),
        gather=t.Combiner("sum", "int64"),
    )  # fmt: skip
    s = state(tree, 3, [(0, 1), (1, 2), (2, 0)])
    s.vertex[0][:] = [3, 7, 10]
    assert both("gl_gather_apply", s) is None
    assert s.vertex[0].tolist() == [3, 7, 10]
    assert s.vertex_next[0].tolist() == [10, 8, 7]


def test_a_fault_names_the_vertex_and_the_site_and_stops_the_block() -> None:
    a = t.VertexField("v", 0, I)
    divide = assign(a, binary("//", const(60), a, 1), 1)
    tree = program([function("apply", [divide], reads="v.a", writes="v.a")], vertex=(variable("a", "int64"),))
    s = state(tree, 4)
    s.vertex[0][:] = [1, 2, 0, 4]
    assert both("gl_apply", s) == (1, 2, 1)
    assert s.vertex[0].tolist() == [60, 30, 0, 4]


def test_init_keeps_initial_values() -> None:
    a, b = t.VertexField("v", 0, I), t.VertexField("v", 1, I)
    body = [assign(a, const(5)), assign(b, binary("+", a, t.VertexAttribute("v", "id", "id")))]
    tree = program(
        [function("init", body, reads="v.a v.id", writes="v.a v.b")],
        vertex=(variable("a", "int64"), variable("b", "int64")),
    )
    s = state(tree, 2)
    s.vertex[0][:] = 70
    s.initial_fields = 1
    assert both("gl_init", s) is None
    assert (s.vertex[0].tolist(), s.vertex[1].tolist()) == ([70, 70], [70, 71])


def test_start_and_active_set_flags() -> None:
    odd = t.Compare("==", binary("%", t.VertexAttribute("v", "out_degree", I), const(2)), const(1))
    late = t.Compare(">", t.Global("superstep"), t.VertexAttribute("v", "in_degree", I))
    tree = program(
        [function("start", [ret(odd)], "bool", reads="v.out_degree"),
         function("active", [ret(late)], "bool", reads="v.in_degree")]
    )  # fmt: skip
    s = state(tree, 3, [(0, 1), (0, 2), (1, 2)])
    s.active[:] = 1
    assert both("gl_start", s) is None
    assert s.active.tolist() == [0, 1, 0]
    s.superstep = 1
    assert both("gl_active", s) is None
    assert s.active.tolist() == [1, 0, 0]


# ---- aggregators -----------------------------------------------------------------------------------


def aggregating() -> t.Tree:
    a = t.VertexField("v", 0, F)
    positive = t.Compare(">", a, const(0.0))
    kinds = {"total": ("sum", "float64", a), "least": ("min", "int32", t.Cast(a, I, 0)),
             "any": ("max", "bool", positive), "all": ("min", "bool", positive)}  # fmt: skip
    return program(
        [function("apply", [assign(a, binary("*", a, const(2.0)))], reads="v.a", writes="v.a")],
        vertex=(variable("a"),),
        aggregators=tuple(
            t.Aggregator(name, t.Combiner(op, storage), function(name, [ret(value)], value.type, reads="v.a"))
            for name, (op, storage, value) in kinds.items()
        ),
    )


def test_aggregators_see_what_apply_wrote_and_add_to_out() -> None:
    s = state(aggregating(), 4)
    s.vertex[0][:] = [1.5, -2.0, 0.25, 8.0]
    out = [100.0, 50, 0, 1]
    assert both("gl_apply", s, listed=[0, 1, 3], out=out) is None
    assert out == [100.0 + 3.0 - 4.0 + 16.0, -4, 1, 0]
    assert s.vertex[0].tolist() == [3.0, -4.0, 0.25, 16.0]
    out = [0.0, 50, 0, 1]
    assert both("gl_aggregate", s, out=out) is None
    assert out == [15.25, -4, 1, 0]


def test_apply_without_out_computes_no_aggregate() -> None:
    s = state(aggregating(), 1)
    s.vertex[0][:] = 1e300  # `least` cannot be an int
    assert both("gl_apply", s) is None
    assert both("gl_apply", s, out=[0.0, 0, 0, 0])[0] == 2


def test_programs_read_parameters_aggregates_and_the_size_of_the_graph() -> None:
    parts: list[t.Expr] = [t.Aggregate(0, "sum", I), t.Param(0, "p", I), t.Global("num_vertices"),
                           t.Global("num_edges"), t.VertexAttribute("v", "degree", I)]  # fmt: skip
    total, tally = parts[0], function("sum", [ret(t.VertexField("v", 0, I))], I, reads="v.a")
    for part in parts[1:]:
        total = binary("+", binary("*", total, const(10)), part)
    a = t.VertexField("v", 0, I)
    tree = program(
        [function("apply", [assign(a, total)], reads="v.degree", writes="v.a")],
        vertex=(variable("a", "int64"),),
        params=(variable("p", "uint8"),),
        aggregators=(t.Aggregator("sum", t.Combiner("sum", "int64"), tally),),
    )
    s = state(tree, 3, [(0, 1), (0, 1)], params=[4])
    s.aggregate = [7]
    assert both("gl_apply", s) is None
    assert s.vertex[0].tolist() == [74322, 74322, 74320]


# ---- the text --------------------------------------------------------------------------------------


def test_emit_is_pure_and_exports_what_the_program_has() -> None:
    assert emit(h.pagerank()) == emit(h.pagerank())
    library, interpreter = made(h.pagerank())
    has = {"gl_init", "gl_gather", "gl_combine", "gl_apply", "gl_gather_apply", "gl_aggregate"}
    every = has | {"gl_start", "gl_active", "gl_scatter_push", "gl_scatter_pull", "gl_combine_messages"}
    assert {name for name in every if library.function(name)} == has
    assert {name for name in every if interpreter.has(name)} == has


def test_names_that_are_no_c_are_spelt_in_c() -> None:
    a = t.VertexField("v", 0, I)
    write = function("apply", [assign(a, const(3))], writes="v.größe")
    tree = program([write], vertex=(variable("größe", "int8"),))
    s = state(tree, 1)
    assert both("gl_apply", s) is None
    assert s.vertex[0].tolist() == [3]


def test_storage_types_are_numpy_s() -> None:
    plain = [name for name in t.STORAGE if not t.is_list(name)]
    assert {name for name in plain if dtype_of(name).itemsize != t.STORAGE[name][2]} == set()
