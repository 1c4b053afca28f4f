"""Ids that are objects: those that ranks cannot agree on are refused, others are sorted."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.errors import InputError
from gaslab.ingest.object_ids import in_order
from gaslab.parallel.comm import Comm
from tests.mpi import launcher
from tests.mpi.ranks import Ranks
from tests.support.threadcomm import run_ranks


class Plain:
    """Without __eq__: equal to itself alone."""


class OwnHash:
    """Equal by value, with a hash by identity."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnHash) and other.n == self.n

    def __hash__(self) -> int:
        return id(self)


class Kept:
    """With a hash that is kept and pickled, though Python salts that of a text in each process."""

    def __init__(self, name: str) -> None:
        self.name, self.hash = name, hash(name)

    def __repr__(self) -> str:
        return f"Kept({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kept) and other.name == self.name

    def __hash__(self) -> int:
        return self.hash


@dataclass(frozen=True)
class Good:
    n: int


class ByValue(OwnHash):
    """Of objects of such a class a fingerprint has the class alone."""

    def __repr__(self) -> str:
        return f"ByValue({self.n})"

    def __hash__(self) -> int:
        return hash(self.n)


WAY_OUT = (
    "so ranks cannot agree on it; give its class __eq__ and __hash__ that go by its value, or pass ids that "
    "are numbers or text"
)
UNEQUAL = "which is not equal to a pickled copy of itself"
REFUSED: list[tuple[Any, str]] = [
    ("Plain()", f"is <tests.ingest.test_object_ids.Plain object>, a Plain, {UNEQUAL}, {WAY_OUT}"),
    ("(math.nan, 1)", f"is (nan, 1), a tuple, {UNEQUAL}, {WAY_OUT}"),
    ("frozenset([math.nan])", f"is frozenset({{nan}}), a frozenset, {UNEQUAL}, {WAY_OUT}"),
    ("OwnHash(3)", "is <tests.ingest.test_object_ids.OwnHash object>, a OwnHash, whose hash differs from "
     f"that of its pickled copy, {WAY_OUT}"),
    ("lambda: 1", f"is <function <lambda>>, a function, which cannot be pickled, {WAY_OUT}"),
    ("([1], 2)", "is a tuple, which is not hashable"),
    ("[1]", "is a list, which is not hashable"),
    ("''", "is the empty string; leave its row out, or fill it"),
    ("Decimal('sNaN')", "is missing (sNaN); leave its row out, or fill it"),
]  # fmt: skip


def refused(comm: Comm, source: str) -> list[str]:
    """Return what each way to pass an id says, which this rank makes of its source."""
    one = eval(source, {**globals(), "math": math})
    said = []
    for rows in ("same", "parts", "root"):
        for ends in (([2, one], [one, 3]), ([2, 3], [3, one])):
            with pytest.raises(InputError) as caught:
                gl.Graph.from_edges(*ends, rows=rows, comm=comm)
            said.append(str(caught.value))
        with pytest.raises(InputError) as caught:
            gl.Graph.from_edges([2], [3], vertices=[one], rows=rows, comm=comm)
        said.append(str(caught.value))
    return said


@pytest.mark.parametrize(("source", "message"), REFUSED, ids=[source for source, _ in REFUSED])
def test_ids_that_ranks_cannot_agree_on_are_refused_by_all(ranks: Ranks, source: str, message: str) -> None:
    wanted = [f"source[1] {message}", f"target[1] {message}", f"vertices[0] {message}"] * 3
    assert ranks.run(refused, source) == [wanted] * ranks.size


def test_nodes_without_equality_are_refused_on_one_rank_too() -> None:
    graph = nx.Graph([(Plain(), Plain())])
    with pytest.raises(InputError, match=UNEQUAL):
        gl.Graph.from_networkx(graph)


def different(comm: Comm) -> str:
    with pytest.raises(gl.UsageError) as caught:
        gl.Graph.from_edges([ByValue(1)], [ByValue(2 + comm.rank)], comm=comm)
    return str(caught.value)


def test_objects_that_differ_between_ranks_are_not_the_same_rows() -> None:
    said = set(run_ranks(2, different))
    assert said == {
        "rows='same' needs the same rows on every rank, but target[0] is ByValue(2) on rank 0 and ByValue(3) "
        "on rank 1; pass each rank its own rows with rows='parts', or rank 0 all of them with rows='root'"
    }


def test_an_id_that_some_ranks_do_not_find_is_not_there_on_any() -> None:
    def find(comm: Comm) -> list[int]:
        graph = gl.Graph.from_edges([ByValue(1)], [ByValue(2)], comm=comm)
        return graph.ids.locate([ByValue(1), ByValue(2 + comm.rank)]).tolist()

    assert run_ranks(2, find) == [[0, -1]] * 2


def test_a_hash_that_differs_between_processes_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "kept.py"
    script.write_text(
        "import gaslab as gl\n"
        "from tests.ingest.test_object_ids import Kept\n"
        "try:\n"
        "    gl.Graph.from_edges([Kept('a'), Kept('b')], [Kept('b'), Kept('c')])\n"
        "except gl.InputError as error:\n"
        "    print(str(error) + chr(10), end='')\n"
    )
    done = launcher.run_script(2, [str(script)])
    line = (
        "source[0] is Kept('a'), a Kept, whose hash on rank 1 differs from that of its equal on rank 0, so "
        "ranks cannot agree on it; do not pickle a stored hash"
    )
    assert done.stdout.count(line) == 2, done.stderr


# ---- the order of ids ------------------------------------------------------------------------------

ORDERS: list[tuple[list[Any], list[Any]]] = [
    ([3, -5], [-5, 3]),
    ([2**63 - 1, -(2**63), 0, -1, 2**32 + 1], [-(2**63), -1, 0, 2**32 + 1, 2**63 - 1]),
    ([True, False], [False, True]),
    ([2.5, -1, True], [-1, True, 2.5]),
    ([Decimal("0.5"), 2, -1.5], [-1.5, Decimal("0.5"), 2]),
    ([(1, "b"), (1, "a"), (0, "z")], [(0, "z"), (1, "a"), (1, "b")]),
    ([b"b", b"a"], [b"a", b"b"]),
    ([date(2020, 2, 1), date(2020, 1, 1)], [date(2020, 1, 1), date(2020, 2, 1)]),
    (["b", 1, "a"], ["b", 1, "a"]),  # first seen: a text and a number have no order
    ([frozenset([1, 2]), frozenset([1])], [frozenset([1, 2]), frozenset([1])]),
    ([(1, "a"), (1, 2), (0, 0)], [(1, "a"), (1, 2), (0, 0)]),
    ([Good(2), Good(1)], [Good(2), Good(1)]),
]


def orders(comm: Comm, ids: list[Any]) -> list[list[Any]]:
    """Return the ids in global order, however they are passed, and the name of their component."""
    src, dst = ids, ids[1:] + ids[:1]
    found = []
    for rows in ("same", "root"):
        graph = gl.Graph.from_edges(src, dst, rows=rows, comm=comm)
        found.append(graph.ids.lookup(np.arange(graph.num_vertices)).tolist())
        found.append(list(dict.fromkeys(gl.components(graph).vertices["component"].tolist())))
        assert graph.ids.find(ids).tolist() == [found[0].index(one) for one in ids]
    ring = gl.Graph.from_networkx(nx.DiGraph(list(zip(src, dst, strict=True))), comm=comm)
    found.append(ring.ids.lookup(np.arange(ring.num_vertices)).tolist())
    return found


@pytest.mark.parametrize(("ids", "order"), ORDERS, ids=[str(ids) for ids, _ in ORDERS])
def test_the_smallest_id_is_the_least_value(ranks: Ranks, ids: list[Any], order: list[Any]) -> None:
    assert ranks.run(orders, ids) == [[order, order[:1], order, order[:1], order]] * ranks.size


NUMBERS = st.one_of(st.integers(), st.booleans(), st.floats(allow_nan=False), st.decimals(allow_nan=False))
LEAVES = st.one_of(NUMBERS, st.text(max_size=2), st.binary(max_size=2), st.dates(), st.datetimes())
IDS = st.lists(st.one_of(LEAVES, st.tuples(NUMBERS, LEAVES), st.tuples(NUMBERS)), unique=True, max_size=6)


@given(st.one_of(st.lists(NUMBERS, unique=True), IDS), st.randoms())
def test_an_order_by_value_does_not_depend_on_the_order_of_arrival(ids: list[Any], random: Any) -> None:
    mixed = ids[:]
    random.shuffle(mixed)
    ordered, again = in_order(ids), in_order(mixed)
    assert set(ordered) == set(ids)
    assert (ordered == again) if ordered != ids else (again in (ordered, mixed))
    for one, following in itertools.pairwise(again) if again != mixed else ():
        assert one < following


# ---- negative integers -----------------------------------------------------------------------------


def negative(comm: Comm) -> list[Any]:
    graph = gl.Graph.from_edges([-1, -1, 5, 8], [2, 5, 2, 9], comm=comm)
    found = gl.bfs(graph, -1, parents=True).vertices
    part = graph.subgraph(graph.vertices([-1, 5, 2]))
    both = gl.Graph.from_edges([-1, 3], [3, -1], bipartite=True, comm=comm)
    again = gl.bfs(graph, -1, parents=True, init=gl.bfs(graph, -1, parents=True))
    return [
        found.to_dict("parent"),
        again.vertices.to_dict("parent"),
        gl.bfs(part, 5, parents=True).vertices.to_dict("parent"),
        both.ids.find([-1, gl.right(-1)]).tolist(),
        gl.distances(both, [3]).vertices["nearest"].tolist(),
        graph.ids.locate([-1, -2, 2**63, -(2**64), True, "a"]).tolist(),
        graph.ids.from_text("-1"),
    ]


def test_where_ids_may_be_negative_no_vertex_is_none(ranks: Ranks) -> None:
    parents = {-1: None, 2: -1, 5: -1, 8: None, 9: None}
    for found in ranks.run(negative):
        assert found == [
            parents,
            parents,
            {-1: None, 2: 5, 5: None},
            [0, 2],
            [None, 3, 3, None],
            [0, -1, -1, -1, -1, -1],
            -1,
        ]


@given(st.lists(st.tuples(*[st.integers(-(2**63), 2**63 - 1) | st.integers(-4, 4)] * 2), min_size=1))
def test_integers_of_64_bits_are_kept_in_numeric_order(edges: list[tuple[int, int]]) -> None:
    src, dst = zip(*edges, strict=True)
    order = sorted({*src, *dst})

    def numbered(comm: Comm) -> list[int]:
        graph = gl.Graph.from_edges(list(src), np.array(dst, np.int64), comm=comm)
        assert graph.ids.find(order).tolist() == list(range(len(order)))
        return graph.ids.lookup(np.arange(graph.num_vertices)).tolist()

    for size in (1, 3):
        assert run_ranks(size, numbered) == [order] * size


def test_an_id_that_is_not_there_is_named_with_the_nearest() -> None:
    graph = gl.Graph.from_edges([-5, 3], [3, 7])
    with pytest.raises(
        gl.VertexNotFound, match=r"^vertex -7 is not in the graph; the nearest ids are -5 and 3$"
    ):
        graph.ids.find(-7)
    with pytest.raises(gl.VertexNotFound, match="the nearest ids are -5 and 3"):
        graph.ids.find(-(2**70))
