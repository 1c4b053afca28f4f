"""Scatter in emitted programs on small graphs, compiled and interpreted alike: signals, messages, edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaslab.compiler import tree as t
from gaslab.compiler.c import emit
from tests.support import hand_trees as h
from tests.support.hand_trees import I, assign, binary, const, function, local, program, variable
from tests.support.hand_views import N, State, both, edge_lists, made, masks, state, walk, weights

SHORTEST = h.shortest_paths()
MESSAGES = {
    (op, storage): h.messages(op, storage)
    for op, storage in [("min", "float64"), ("sum", "float64"), ("sum", "float32"), ("max", "int64"),
                        ("min", "uint16"), ("sum", "int32")]
}  # fmt: skip


def scattered(s: State, sources: list[int], concurrent: int = 0) -> None:
    s.concurrent = concurrent
    assert both("gl_scatter_push", s, listed=sources) is None


def pulled(s: State, sources: list[int]) -> None:
    s.active_bits[0] = sum(1 << v for v in sources)  # N is below 64
    s.all_active = int(len(sources) == N)
    assert both("gl_scatter_pull", s) is None


@given(edges=edge_lists, mask=masks, sources=st.sets(st.integers(0, N - 1)), seed=st.integers(0, 99))
def test_push_and_pull_signal_whom_scatter_signals(
    edges: Any, mask: int, sources: set[int], seed: int
) -> None:
    distances = np.random.default_rng(seed).integers(0, 12, N)
    one, other = (state(SHORTEST, N, edges, weights(edges), params=[0], scatter_edges=mask) for _ in range(2))
    one.vertex[0][:] = other.vertex[0][:] = distances
    expected = [0] * N
    for v in sources:
        for x, e in walk(one, mask, v):
            expected[x] |= int(distances[v] + one.edge[0][e] < distances[x])
    scattered(one, sorted(sources))
    pulled(other, sorted(sources))
    assert one.signalled.tolist() == other.signalled.tolist() == expected
    assert one.signal_blocks[0] == other.signal_blocks[0] == any(expected)


@pytest.mark.parametrize(("op", "storage"), MESSAGES)
@given(edges=edge_lists, mask=masks, sources=st.sets(st.integers(0, N - 1)), concurrent=st.integers(0, 1))
def test_messages_combine_pushed_or_pulled(
    op: str, storage: str, edges: Any, mask: int, sources: set[int], concurrent: int
) -> None:
    tree = MESSAGES[op, storage]
    one, other = (state(tree, N, edges, weights(edges), scatter_edges=mask) for _ in range(2))
    one.vertex[0][:] = other.vertex[0][:] = np.arange(N) * 3 % 8
    fold = {"sum": np.sum, "min": np.min, "max": np.max}[op]
    came: dict[int, list[Any]] = {}
    for v in sources:
        for x, e in walk(one, mask, v):
            came.setdefault(x, []).append(one.vertex[0][v] + one.edge[0][e])
    scattered(one, sorted(sources), concurrent)
    pulled(other, sorted(sources))
    for v in range(N):
        expected = fold(came[v]) if v in came else tree.message.identity  # type: ignore[union-attr]
        assert one.message[v] == other.message[v] == expected
        assert one.signalled[v] == other.signalled[v] == (v in came)


def test_pull_stops_at_the_first_signal_where_no_edge_can_fault() -> None:
    plain = program([function("scatter", [t.Signal(None, 0)])])
    assert "p < end && !heard" in emit(plain)
    s = state(plain, 3, [(0, 2), (1, 2)])
    s.all_active = 1
    assert both("gl_scatter_pull", s) is None
    assert s.signalled.tolist() == [0, 0, 1]


def test_pull_finds_a_fault_behind_the_first_signal() -> None:
    body = [assign(local("k", I), binary("//", const(1), t.EdgeField(0, I))), t.Signal(None, 0)]
    tree = program([function("scatter", body, reads="e.w", locals={"k": I})], edge=(variable("w", "int64"),))
    assert "!heard" not in emit(tree)
    for divisors, source in (([1, 0], 1), ([0, 1], 0)):
        s = state(tree, 3, [(0, 2), (1, 2)], divisors)
        s.all_active = 1
        assert both("gl_scatter_pull", s) == both("gl_scatter_push", s) == (1, source, 0)


def test_apply_reads_the_message_of_its_vertex_and_peers_messages_combine() -> None:
    s = state(MESSAGES["min", "float64"], 4)
    s.vertex[0][:] = [5.0, 6.0, 7.0, 8.0]
    s.message[1] = 6.5
    s.incoming = np.array([1.0, 9.0])
    assert both("gl_combine_messages", s, listed=[1, 3]) is None
    assert s.message.tolist() == [math.inf, 1.0, math.inf, 9.0]
    assert s.signalled.tolist() == [0, 1, 0, 1]
    assert both("gl_apply", s, listed=[3, 1]) is None
    assert s.vertex[0].tolist() == [5.0, 1.0, 7.0, 8.0]


def test_a_message_outside_its_storage_is_a_fault_of_its_sender() -> None:
    for phase in ("gl_scatter_push", "gl_scatter_pull"):
        s = state(MESSAGES["min", "uint16"], 3, [(0, 2), (1, 2)], [1, 1])
        s.all_active = 1
        s.vertex[0][:] = [3, 65535, 0]
        assert both(phase, s) == (2, 1, 1)


def test_scatter_writes_edges_by_slot_and_then_cannot_be_pulled() -> None:
    own, far = t.VertexField("v", 0, I), t.VertexField("nbr", 0, I)
    write = assign(t.EdgeField(0, I), binary("-", far, own))
    tree = program(
        [function("scatter", [write], reads="v.a nbr.a", writes="e.w")],
        vertex=(variable("a", "int64"),),
        edge=(variable("w", "int8"),),
    )
    s = state(tree, 3, [(0, 1), (0, 2), (1, 2)], [0, 0, 0])
    s.vertex[0][:] = [1, 10, 100]
    assert both("gl_scatter_push", s, listed=[0]) is None
    assert s.edge[0].tolist() == [9, 99, 0]
    library, interpreter = made(tree)
    assert not library.function("gl_scatter_pull")
    assert not interpreter.has("gl_scatter_pull")
