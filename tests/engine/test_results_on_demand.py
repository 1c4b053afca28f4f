"""What of a result is made when it is asked for: no rank waits for it, and nothing is kept in vain."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import gaslab as gl
from gaslab.engine import bind
from gaslab.parallel.comm import Comm
from gaslab.partitioning import local_graph
from gaslab.results import collect
from gaslab.results.columns import Columns, LazyArray
from tests.mpi.ranks import Ranks

PLACES = ("all", "root", "local")
ENDS = {
    "numbers": ([30, 100, 9, 30, 100, 9, 9], [100, 9, 30, 9, 9, 100, 9]),
    "compact": ([0, 1, 2, 0, 1, 2, 2], [1, 2, 0, 2, 2, 1, 2]),
    "names": (list("cabcabb"), list("abcbbab")),
}


class Answers(gl.VertexProgram):
    """Every kind of column: numbers, ids, sets of ids, and on edges numbers and ids."""

    class Vertex(gl.Vertex):
        score: float = 0.5
        odd: bool = False
        low: gl.VertexId = gl.NOBODY
        near: gl.SortedSet[gl.VertexId]
        _own: int = 3

    class Edge(gl.Edge):
        worth: float = 0.0
        top: gl.VertexId = gl.NOBODY
        _own: int = 3

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        return nbr.id

    def apply(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v.score += v.degree
        v.odd = v.in_degree % 2 == 1
        v.near = total
        if v.in_degree > 1:
            v.low = v.id

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.worth = v.score * 10.0 + nbr.score
        e.top = nbr.low
        e._own += 1


def graph_of(comm: Comm, kind: str, bipartite: bool = False) -> gl.Graph:
    return gl.Graph.from_edges(*ENDS[kind], bipartite=bipartite, strategy="random", comm=comm)


def answered(comm: Comm, kind: str = "numbers", bipartite: bool = False, **options: Any) -> gl.Result:
    return gl.run(Answers(), graph_of(comm, kind, bipartite), max_iterations=1, **options)


def content(table: Any) -> list[Any]:
    """Return all that a table holds; of parallel edges in any order."""
    names = [*table.keys, *table.columns]
    rows = zip(*(table[name].tolist() for name in names), strict=True)
    gids = zip(*(table.global_ids[name].tolist() for name in table.global_ids), strict=True)
    return [names, [str(table[name].dtype) for name in names], sorted(rows, key=repr), sorted(gids)]


def everything(comm: Comm, kind: str, bipartite: bool, on: str, edges: bool) -> list[Any]:
    result = answered(comm, kind, bipartite, on=on, edges=edges)
    shown = repr(result)
    table = result.edges if edges else result.collect_edges()
    assert table is result.edges is result.collect_edges()
    assert result.edges.columns == table.columns
    return [shown, content(result.vertices), content(table)]


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("bipartite", [False, True])
def test_edges_collected_later_are_those_of_run(ranks: Ranks, kind: str, bipartite: bool) -> None:
    alone = everything(Comm(), kind, bipartite, "all", False)
    for on in PLACES:
        during, after = (ranks.run(everything, kind, bipartite, on, edges) for edges in (True, False))
        assert during == after
        if on == "all":
            assert during == [alone] * ranks.size
        elif on == "root":
            assert during[0] == alone
            assert all(one[1][2] == one[2][2] == [] for one in during[1:])
        else:
            for table in (1, 2):
                assert sorted((row for one in during for row in one[table][2]), key=repr) == alone[table][2]


def reading(comm: Comm, on: str, engine: str) -> str:
    result = answered(comm, on=on, engine=engine)
    try:
        found = str(len(result.edges))
    except gl.UsageError as error:
        found = str(error)
    return f"{found} {result!r}"


@pytest.mark.parametrize("engine", ["sync", "reference"])
@pytest.mark.parametrize("on", PLACES)
def test_edges_that_are_still_spread_are_an_error_with_the_way_out(hosts: Any, on: str, engine: str) -> None:
    fields = "fields: score, odd, low, near, worth, top"
    (alone,) = hosts(1).run(reading, on, engine)
    assert alone == f"7 <Result of Answers: 3 vertices, 1 superstep, converged; {fields}>"
    for size in (2, 3):
        for one in hosts(size).run(reading, on, engine):
            assert one.startswith("every rank still has its own part of the edge table")
            assert "write run(..., edges=True), or call result.collect_edges() on every rank before" in one
            assert one.endswith(f"{fields}>")


def on_rank_0(comm: Comm, kind: str, on: str) -> Any:
    """Read all of the vertices, and of the edges that were exchanged, on one rank alone."""
    result = answered(comm, kind, on=on, edges=True)
    plain = gl.degrees(graph_of(comm, kind), on=on)
    if comm.rank == 0:
        assert len(plain.vertices.to_pandas()) == len(result.vertices.to_dict())
        assert repr(result.edges)
        return len(result.vertices), len(result.edges.to_dict("top")) > 0
    return None


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("on", PLACES)
def test_one_rank_reads_a_result_alone(ranks: Ranks, kind: str, on: str) -> None:
    first, *others = ranks.run(on_rank_0, kind, on)
    assert first[0] == 3 or on == "local"
    assert others == [None] * (ranks.size - 1)


def collect_on_rank_0(comm: Comm) -> None:
    result = answered(comm)
    if comm.rank == 0:
        result.collect_edges()
    gl.degrees(graph_of(comm, "numbers"))


def test_a_rank_that_collects_alone_gets_an_error(hosts: Any) -> None:
    with pytest.raises(gl.UsageError, match=r"ranks disagree on what to do: rank 0 called collect_edges\(\)"):
        hosts(2).run(collect_on_rank_0)


def parts(comm: Comm) -> list[Any]:
    """Go on with a result of which each rank has a part, also on another graph of the same vertices."""
    found = []
    for on in PLACES:
        before = answered(comm, "names", on=on)
        for strategy in ("random", "1d"):
            graph = graph_of(comm, "names").partitioned(strategy)
            again = gl.run(Answers(), graph, max_iterations=0, init=before)
            found.append([again.vertices["score"].tolist(), again.vertices["near"].tolist()])
            turned = gl.run(Answers(), graph.reverse(), max_iterations=0, init=before)
            assert len(turned.vertices) == 3
    return found


@pytest.mark.filterwarnings("ignore:Answers was not done")
def test_a_result_of_parts_with_lists_starts_a_run(ranks: Ranks) -> None:
    whole, same, *_ = (found := ranks.run(parts))[0]
    assert whole == same == [[4.5, 7.5, 3.5], [["b", "c"], ["a", "b", "c"], ["b"]]]
    assert all(one[:2] == [whole, same] for one in found)


# ---- what is kept with the graph instead of made in every run ------------------------------------------


def again(comm: Comm, dtype: str) -> list[Any]:
    """Run twice on one column; return the answers, and what each run converted and put by source."""
    weights = np.array([3, 1, 4, 1, 5, 9, 2]).astype(dtype)
    graph = gl.Graph.from_edges(*ENDS["numbers"], columns={"weight": weights}, strategy="random", comm=comm)
    found, before, kernels = [], graph.memory_bytes(), local_graph.kernels
    for _ in range(2):
        with (
            patch.object(bind, "converted", wraps=bind.converted) as converted,
            patch.object(kernels, "take_slots", wraps=kernels.take_slots) as by_source,
        ):
            paths = gl.run(gl.programs.ShortestPaths(source=9), graph)
        answer = paths.vertices["distance"].tolist()
        found.append([answer, converted.call_count, by_source.call_count])
    copies = 1 + (dtype != "float64")
    assert graph.memory_bytes() - before >= copies * 8 * graph.local.num_edges
    return found


@pytest.mark.parametrize("dtype", ["float64", "int64", "bool"])
def test_a_column_is_converted_and_put_by_source_once(ranks: Ranks, dtype: str) -> None:
    for first, second in ranks.run(again, dtype):
        assert first[0] == second[0]
        assert first[1:] == [1, 1]
        assert second[1:] == [int(dtype == "float64"), 0]


# ---- copies of a result ------------------------------------------------------------------------------


def copied(comm: Comm, edges: bool) -> list[Any]:
    result = answered(comm, "names", edges=edges)
    sent = pickle.loads(pickle.dumps(result))
    assert content(sent.vertices) == content(result.vertices)
    assert repr(sent) == repr(result)
    assert sent.history == result.history
    changed = result.replaced(converged=True)
    assert changed.vertices is result.vertices
    twin = copy.deepcopy(result)
    tables = [content(one.collect_edges()) for one in (changed, twin, result)]
    assert tables[0] == tables[1] == tables[2]
    return [sent, tables[0]]


@pytest.mark.parametrize("edges", [True, False])
def test_copies_of_a_result(ranks: Ranks, edges: bool) -> None:
    for sent, table in ranks.run(copied, edges):
        if edges or ranks.size == 1:
            assert content(sent.edges) == table
            continue
        with pytest.raises(gl.UsageError, match="every rank still has its own part"):
            _ = sent.edges
        with pytest.raises(gl.UsageError, match=r"pickled before its edges were collected, .*edges=True"):
            sent.collect_edges()


def passed_on(comm: Comm, differ: bool) -> int:
    """Pass results on, of which rank 0 has read some columns already."""
    graph, found = graph_of(comm, "names"), 0
    for edges in (False, True):
        result = answered(comm, "names", edges=edges)
        if comm.rank == 0:
            assert result.vertices["near"].size == 3
        if differ and comm.rank == 0:
            result.vertices["score"][0] += 1.0
        found += gl.run(Answers(), graph, max_iterations=1, init=result).iterations
    return found


def test_ranks_compare_what_results_hold(ranks: Ranks) -> None:
    assert ranks.run(passed_on, False) == [2] * ranks.size
    if ranks.size > 1:
        with pytest.raises(gl.UsageError, match=r"ranks disagree on init of run\(\)"):
            ranks.run(passed_on, True)


# ---- one rank: made at first sight, and once ----------------------------------------------------------


def test_an_array_is_made_once_and_what_it_was_made_of_is_let_go() -> None:
    class Source:
        made = 0

        def make(self) -> np.ndarray:
            self.made += 1
            if self.made == 1:
                raise MemoryError
            return np.arange(3)

    source = Source()
    kept, lazy = weakref.ref(source), LazyArray(3, source.make)
    assert len(lazy) == Columns({"x": lazy}).rows == 3
    with pytest.raises(MemoryError):
        _ = lazy.array
    assert lazy.array is lazy.array
    assert source.made == 2
    del source
    assert kept() is None
    assert lazy.array.tolist() == pickle.loads(pickle.dumps(lazy)).tolist() == [0, 1, 2]


def test_nothing_is_sorted_before_it_is_asked_for() -> None:
    with (
        patch.object(np, "lexsort", side_effect=AssertionError),
        patch.object(collect, "objects", side_effect=AssertionError),
    ):
        result = answered(Comm(), "names")
        assert len(result.vertices) == 3
        assert len(result.edges) == 7
        assert result.vertices.columns == ["score", "odd", "low", "near"]
        assert result.edges.columns == ["worth", "top"]
        assert result.vertices.select("score")["score"].tolist() == [4.5, 7.5, 3.5]
    assert result.edges["source"].tolist() == sorted("cabcabb")


def test_a_result_keeps_no_graph_alive() -> None:
    graph = graph_of(Comm(), "names")
    local = weakref.ref(graph.local)
    result = gl.run(Answers(), graph, max_iterations=1)
    del graph
    gc.collect()
    assert local() is None
    assert result.edges["worth"].size == 7


def test_memory_is_looked_at_before_a_copy_is_made() -> None:
    result = answered(Comm())
    with patch.object(collect, "SMALL", 0), patch.object(collect, "available_memory", return_value=100):
        for table, name in ((result.vertices, "score"), (result.vertices, "id"), (result.edges, "worth")):
            with pytest.raises(gl.UsageError, match="100 B of memory are free"):
                _ = table[name]
    assert result.vertices["score"].size == 3
    assert result.edges["worth"].size == 7


# ---- the graph's own edges ---------------------------------------------------------------------------


class Marks(gl.VertexProgram):
    """Writes a field that the graph has a column for, and one of its own."""

    class Edge(gl.Edge):
        weight: float
        mark: int = 0

    def apply(self, v: gl.Vertex) -> None:
        pass

    def scatter(self, v: gl.Vertex, e: Edge, nbr: gl.Vertex) -> None:
        e.weight = e.weight * 2.0
        e.mark = v.index * 10 + nbr.index


SHUFFLED = ["c", "a", "b", "a", "a"], ["a", "c", "c", "b", "c"]
COLUMNS = {"weight": [1.0, 2.0, 3.0, 4.0, 5.0], "kept": [True, False, True, False, True],
           "near": [[1, 2], [], [3], [4, 5, 6], [7]]}  # fmt: skip


def columned(comm: Comm) -> gl.Graph:
    return gl.Graph.from_edges(*SHUFFLED, columns=COLUMNS, comm=comm, strategy="random")


def own_columns(comm: Comm, engine: str, later: bool) -> list[Any]:
    graph = columned(comm)
    found: list[Any] = []
    for program, limit in ((Marks(), 1), (gl.programs.PageRank(), 2)):
        result = gl.run(program, graph, max_iterations=limit, engine=engine, edges=not later)
        table = result.collect_edges() if later else result.edges
        rows = zip(*(table[name].tolist() for name in (*table.keys, *table.columns)), strict=True)
        found.append((result.edge_fields, table.columns, list(rows)))
        frame = table.to_pandas()
        assert list(frame.columns)[:2] == ["source", "target"]
        assert frame["kept"].tolist() == table["kept"].tolist()
    return found


@pytest.mark.parametrize("engine", ["sync", "reference"])
@pytest.mark.parametrize("later", [False, True])
def test_the_graphs_own_columns_are_beside_those_written(ranks: Ranks, engine: str, later: bool) -> None:
    edges = sorted(zip(*SHUFFLED, *COLUMNS.values(), strict=True), key=lambda row: row[:2])
    places = {"a": 0, "b": 1, "c": 2}
    written = [(s, t, 2 * w, kept, near, places[s] * 10 + places[t]) for s, t, w, kept, near in edges]
    expected = [
        (["weight", "mark"], ["weight", "kept", "near", "mark"], written),
        ([], ["weight", "kept", "near"], edges),
    ]
    for size in ranks.run(own_columns, engine, later):
        assert size == expected


def test_a_result_of_vertices_alone_keeps_no_edges_in_memory() -> None:
    graph = columned(Comm())
    kept, gone = gl.pagerank(graph), gl.pagerank(columned(Comm()))
    gc.collect()
    assert len(kept.edges) == 5
    cut_for_it = gl.run(gl.programs.PageRank(), graph, max_iterations=1, strategy="random")
    gc.collect()
    assert cut_for_it.edges.to_dict("weight") == kept.edges.to_dict("weight")
    with pytest.raises(gl.UsageError, match="its graph is no longer in memory; keep the graph"):
        _ = gone.edges
    assert len(gone.vertices) == 3
    asked = gl.run(gl.programs.PageRank(), columned(Comm()), max_iterations=1, edges=True)
    assert asked.edges["kept"].size == 5


def test_what_is_pickled_of_the_graphs_own_edges() -> None:
    """None, unless they were read: pickles of results of vertices stay small."""
    graph = columned(Comm())
    read, unread = (gl.run(gl.programs.PageRank(), graph, max_iterations=1) for _ in range(2))
    assert len(read.edges) == len(pickle.loads(pickle.dumps(read)).edges) == 5
    with pytest.raises(gl.UsageError, match="pickled before its edges were collected"):
        _ = pickle.loads(pickle.dumps(unread)).edges
    assert len(unread.edges) == 5
