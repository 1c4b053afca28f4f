"""User ids to global ids and back: sorted, spread, found again, and the nearest named when not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab._kernels import names as kernels
from gaslab.errors import VertexNotFound
from gaslab.ingest.arrays import edges_from_arrays
from gaslab.ingest.names import Names, NameTable
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.threadcomm import run_ranks

IDS = st.one_of(
    st.lists(st.integers(0, 60), min_size=2),
    st.lists(st.integers(0, 2**63 - 1), min_size=2),
    st.lists(st.integers(0, 10**6).map(lambda v: v * 1000), min_size=2),
    st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1), min_size=2
    ),
    st.lists(st.text("ab", min_size=6, max_size=12), min_size=2),
)


def round_trip(comm: Comm, ids: list[Any]) -> dict[str, Any]:
    """Number ids given in parts, and look every one of them up again, from every rank."""
    half = len(ids) // 2
    mine = slice(comm.rank, None, comm.size)
    src, dst = ids[:half][mine], ids[half : 2 * half][mine]
    edges = edges_from_arrays(src, dst, comm, rows="parts", vertices=ids[mine], threads=2)
    known = sorted(set(ids))
    every = np.arange(len(known))
    shuffled = np.random.default_rng(comm.rank).permutation(len(known))
    return {
        "src": edges.ids.lookup(edges.src).tolist() == src,
        "dst": edges.ids.lookup(edges.dst).tolist() == dst,
        "sorted": edges.ids.lookup(every).tolist() == known,
        "any order": edges.ids.lookup(shuffled).tolist() == [known[i] for i in shuffled],
        "none": edges.ids.lookup(every[:0]).size == 0,
        "found": edges.ids.find(known).tolist() == every.tolist(),
        "found in parts": edges.ids.find([known[i] for i in shuffled[comm.rank :]], rows="parts").tolist()
        == shuffled[comm.rank :].tolist(),
        "n": edges.num_vertices == len(known),
        "kind": edges.ids.kind == type(known[0]).__name__,
    }


@given(IDS, st.integers(1, 4))
def test_ids_are_numbered_in_sorted_order_and_come_back(ids: list[Any], size: int) -> None:
    for answer in run_ranks(size, lambda comm: round_trip(comm, ids)):
        assert [what for what, right in answer.items() if not right] == []


def test_under_mpi(ranks: Ranks) -> None:
    rng = np.random.default_rng(9)
    for ids in (
        rng.integers(0, 2000, 3000).tolist(),
        rng.integers(0, 2**62, 3000).tolist(),
        [f"v{i}" for i in rng.integers(0, 2000, 3000)],
    ):
        for answer in ranks.run(round_trip, ids):
            assert all(answer.values())


def names_alone(comm: Comm) -> None:
    for ids in ([5, 900, 7, 12, 31], ["d", "a", "c", "b", "e"], [0, 1, 2, 3, 4]):
        graph = gl.Graph.from_edges(ids[:4], ids[1:], comm=comm)
        together = graph.ids.named(np.arange(5))
        for gid, name in enumerate(together):
            alone = graph.ids.named_alone(gid)
            assert alone in (name, f"number {gid} in the order of the ids")
            assert alone == name or gid % comm.size != comm.rank


def test_a_rank_alone_names_what_it_can(ranks: Ranks) -> None:
    ranks.run(names_alone)


def test_large_sparse_integers_outgrow_the_first_hash_table() -> None:
    ids = np.random.default_rng(10).permutation(np.arange(150000) * 997_000_003)
    edges = edges_from_arrays(ids[:-1], ids[1:], Comm())
    assert edges.num_vertices == 150000
    assert (edges.src * 997_000_003 == ids[:-1]).all()
    assert (edges.dst * 997_000_003 == ids[1:]).all()


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize(
    ("ids", "wanted", "answer"),
    [
        ([0, 1, 2, 3], 4, "vertex 4 is not in the graph, whose ids are 0 to 3"),
        ([0, 1, 2, 3], np.int64(4), "vertex 4 is not in the graph, whose ids are 0 to 3"),
        ([0, 1, 2, 3], -1, "vertex -1 is not in the graph, whose ids are 0 to 3"),
        ([0, 1, 2, 3], "1", "vertex '1' is not in the graph, whose ids are integers"),
        ([0, 1, 2, 3], 1.0, "vertex 1.0 is not in the graph, whose ids are integers"),
        ([0, 1, 2, 3], True, "vertex True is not in the graph, whose ids are integers"),
        ([0, 10, 22, 30], 12, "vertex 12 is not in the graph; the nearest ids are 10 and 22"),
        ([0, 10, 22, 30], 2**70, f"vertex {2**70} is not in the graph; the nearest ids are 22 and 30"),
        ([5, 5], 7, "vertex 7 is not in the graph; the nearest id is 5"),
        (["alice", "bob"], "alcie", "vertex 'alcie' is not in the graph; did you mean 'alice'?"),
        (["7", "bob"], 7, "vertex 7 is not in the graph, whose ids are strings; did you mean '7'?"),
        (["aa", "qq"], "kk", "vertex 'kk' is not in the graph; the nearest ids are 'aa' and 'qq'"),
        (["aa", "qq"], "\0", "vertex '\\x00' is not in the graph; the nearest id is 'aa'"),
        ([(1, 2), "x"], "y", "vertex 'y' is not in the graph; its ids are the 2 given nodes"),
    ],
)
def test_ids_that_are_not_there(ids: list[Any], wanted: Any, answer: str, size: int) -> None:
    with pytest.raises(VertexNotFound) as caught:
        run_ranks(size, lambda comm: edges_from_arrays(ids, ids, comm).ids.find([ids[0], wanted]))
    assert str(caught.value) == answer


def test_one_id_and_none() -> None:
    ids = edges_from_arrays(["a", "b"], ["b", "c"], Comm()).ids
    assert ids.find("c").tolist() == [2]
    assert ids.find([]).tolist() == []
    assert ids.find(np.array(["c", "a"])).tolist() == [2, 0]


def test_typed_ids_are_of_the_graphs_kind() -> None:
    assert edges_from_arrays([1], [7], Comm()).ids.from_text("7") == 7
    assert edges_from_arrays(["1"], ["7"], Comm()).ids.from_text("7") == "7"
    with pytest.raises(VertexNotFound, match=r"^vertex 'x' is not in the graph, whose ids are integers$"):
        edges_from_arrays([1], [7], Comm()).ids.from_text("x")


# ---- names in bulk ---------------------------------------------------------------------------------

STRINGS = st.lists(st.one_of(st.text("ab\xe9\u65e5", max_size=20), st.text("a", min_size=6, max_size=10)))


def listed(names: Names) -> list[str]:
    return names.decode().tolist()


@given(STRINGS)
def test_names_sort_as_python_sorts(strings: list[str]) -> None:
    names = Names.of(strings)
    order = names.order()
    assert order.tolist() == sorted(range(len(strings)), key=lambda i: (strings[i].encode(), i))
    assert listed(names.take(order)) == sorted(strings)
    number, first = kernels.number_sorted(names.arena, names.start, order)
    distinct = sorted(set(strings))
    assert [distinct[k] for k in number] == strings
    assert [strings[order[i]] for i in first] == distinct


@given(st.lists(STRINGS, max_size=4))
def test_a_table_keeps_each_name_once(parts: list[list[str]]) -> None:
    table = NameTable()
    index = [table.intern(Names.of(part)).tolist() for part in parts]
    names = listed(table.names())
    assert names == list(dict.fromkeys(one for part in parts for one in part))
    assert [[names[i] for i in part] for part in index] == parts


@given(STRINGS, st.lists(st.text("ab\xe9", max_size=20), max_size=5))
def test_names_are_found_among_sorted_ones(strings: list[str], wanted: list[str]) -> None:
    known = sorted(set(strings))
    found = Names.of(known).find([one.encode() for one in [*wanted, *strings]])
    assert found.tolist() == [known.index(one) if one in known else -1 for one in [*wanted, *strings]]
