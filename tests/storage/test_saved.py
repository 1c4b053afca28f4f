"""A graph goes into a folder and comes back: the same on as many ranks, equal on any others."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.storage.saved import folder, kinds, reloaded
from tests.support.graphs import described
from tests.support.threadcomm import run_ranks

ARRAYS = ("gid", "degree", "in_degree", "out_degree", "in_begin", "in_neighbor", "mirror_bounds",
          "send_bounds")  # fmt: skip


def the_same(graph: Graph, other: Graph) -> None:
    """Assert that two graphs are the same on this rank, array for array."""
    for name in ARRAYS:
        mine, found = getattr(graph.local, name), getattr(other.local, name)
        assert mine.dtype == found.dtype, name
        assert np.array_equal(mine, found), name
    for mine, found in zip(graph.local.send_list, other.local.send_list, strict=True):
        assert np.array_equal(mine, found)
    assert (graph.local.degree is graph.local.in_degree) == (other.local.degree is other.local.in_degree)
    for kind in ("edge_columns", "vertex_columns"):
        columns, others = getattr(graph, kind), getattr(other, kind)
        assert list(columns) == list(others)
        for name, values in columns.items():
            assert values.dtype == others[name].dtype
            assert values.tolist() == others[name].tolist()
    known = ("num_vertices", "num_edges", "directed", "strategy", "fingerprint", "counts", "left_out",
             "bipartite", "replication_factor", "edge_balance", "vertex_balance")  # fmt: skip
    for name in known:
        assert getattr(graph, name) == getattr(other, name), name


def a_way_through_a_folder(comm: Comm) -> None:
    for graph in kinds(comm).values():
        found = reloaded(graph)
        the_same(graph, found)
        assert described(graph) == described(found)
        every = graph.ids.marked(np.arange(graph.num_vertices))
        assert found.ids.marked(np.arange(graph.num_vertices)) == every
        assert found.ids.find(every).tolist() == list(range(len(every)))
        the_same(graph, reloaded(found))


def test_a_saved_graph_is_the_same_on_as_many_ranks(ranks: Ranks) -> None:
    ranks.run(a_way_through_a_folder)


@pytest.mark.parametrize("strategy", ["1d", "dbh", "hdrf"])
@pytest.mark.parametrize(("before", "after"), [(1, 3), (2, 1), (3, 2), (5, 2), (4, 3), (2, 5)])
def test_a_saved_graph_is_equal_on_other_ranks(
    before: int, after: int, strategy: str, tmp_path: Path
) -> None:
    names = list(kinds(Comm()))

    def save(comm: Comm) -> list[Any]:
        made = {name: graph.partitioned(strategy) for name, graph in kinds(comm).items()}
        for name, graph in made.items():
            graph.save(tmp_path / f"graph{names.index(name)}")
        return [described(graph) for graph in made.values()]

    def load(comm: Comm) -> list[Any]:
        every = [gl.load_graph(tmp_path / f"graph{k}", comm=comm) for k in range(len(names))]
        assert {graph.strategy for graph in every} == {strategy}
        for graph in every:
            ids = graph.ids.marked(np.arange(graph.num_vertices))
            assert graph.ids.find(ids).tolist() == list(range(len(ids)))
        return [described(graph) for graph in every]

    saved = run_ranks(before, save)[0]
    assert run_ranks(after, load)[0] == saved


def test_another_strategy_cuts_anew_and_the_same_starts_at_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "gaslab")

    def save(comm: Comm) -> None:
        kinds(comm)["columns"].partitioned("dbh").save(tmp_path / "graph")

    def load(comm: Comm, strategy: str | None) -> tuple[str, float]:
        graph = gl.load_graph(tmp_path / "graph", strategy=strategy, comm=comm)
        return graph.strategy, graph.seconds["partition"]

    run_ranks(2, save)
    caplog.clear()  # of what the graph was cut by before
    assert run_ranks(2, lambda comm: load(comm, "dbh")) == [("dbh", 0.0)] * 2
    assert run_ranks(1, lambda comm: load(comm, None)) == [("dbh", 0.0)]
    assert not caplog.messages
    assert run_ranks(2, lambda comm: load(comm, "2d"))[0][0] == "2d"
    assert run_ranks(3, lambda comm: load(comm, None))[0][0] == "dbh"
    assert caplog.messages == [
        f"{tmp_path}/graph is cut anew for strategy 2d; it was saved in 2 parts by dbh",
        f"{tmp_path}/graph is cut anew for 3 ranks; it was saved in 2 parts by dbh",
    ]


def test_columns_are_chosen_and_named(tmp_path: Path) -> None:
    graph = kinds(Comm())["columns"]
    graph.save(tmp_path / "graph")
    for columns, expected in (
        ([], []),
        (["small"], ["small"]),
        ({"cost": "weight"}, ["is it/so", "small", "pair", "some", "cost"]),
        ({"weight": None, "some": None}, ["is it/so", "small", "pair"]),
    ):
        for read in (gl.load_graph, gl.read_graph):
            assert list(read(tmp_path / "graph", columns=columns).edge_columns) == expected
    with pytest.raises(UsageError, match="was saved without an edge column 'wieght'; did you mean 'weight'"):
        gl.load_graph(tmp_path / "graph", columns=["wieght"])


def test_what_is_saved_is_refused_by_name(tmp_path: Path) -> None:
    graph = Graph.from_edges([(1, 2), (3, 4)], [(3, 4), (5, 6)])
    with pytest.raises(UsageError, match=r"the ids are objects \(tuple\), and a saved graph has"):
        graph.save(tmp_path / "graph")
    assert not list(tmp_path.iterdir())
    Graph.from_edges([1], [2]).save(tmp_path / "graph")
    with pytest.raises(UsageError, match="graph exists; force=True replaces it"):
        Graph.from_edges([1], [3]).save(tmp_path / "graph")
    Graph.from_edges([1], [3]).save(tmp_path / "graph", force=True)
    assert gl.load_graph(tmp_path / "graph").ids.find([3]).tolist() == [1]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match="holds other files, no saved graph; it is not replaced"):
        Graph.from_edges([1], [3]).save(tmp_path / "other", force=True)
    assert (tmp_path / "other" / "letter.txt").read_text() == "dear"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ids": "str"}, r"ids='str' is of text, and \S+graph is a saved graph, which is read as it is;"),
        ({"directed": False}, "directed=False is of text, and .* as directed, which is read as it is"),
        ({"bipartite": True}, "bipartite=True is of text, and .* not bipartite, which is read as it is"),
        ({"format": "metis"}, "format='metis' is of text"),
        ({"drop_self_loops": True}, "drop_self_loops=True is of text"),
    ],
)
def test_options_of_text_are_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    Graph.from_edges([1], [2]).save(tmp_path / "graph")
    with pytest.raises(UsageError, match=message):
        gl.read_graph(tmp_path / "graph", **options)
    with pytest.raises(UsageError, match="is a saved graph, and 2 paths were named; read it alone"):
        gl.read_graph([tmp_path / "graph", tmp_path / "graph"])
    assert gl.read_graph([tmp_path / "graph"], directed=True).num_edges == 1


def test_a_corpus_is_saved_and_read(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("the cat\nthe dog\n")
    corpus = gl.read_corpus(tmp_path / "texts.txt")
    corpus.save(tmp_path / "corpus")
    assert described(gl.read_corpus(tmp_path / "corpus")) == described(corpus)
    with pytest.raises(UsageError, match="min_df=2 is of text"):
        gl.read_corpus(tmp_path / "corpus", min_df=2)


def degrees_of(graph: Graph) -> list[int]:
    found: list[int] = gl.degrees(graph).vertices["edges"].tolist()
    return found


def test_pickle_copy_and_multiprocessing_of_a_graph_that_has_run() -> None:
    for graph in kinds(Comm()).values():
        before = degrees_of(graph)  # a graph keeps what is made of it
        for made in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), copy.copy(graph)):
            the_same(graph, made)
            assert described(made) == described(graph)
            assert degrees_of(made) == before
    objects = Graph.from_edges([(1, 2), (3, 4)], [(3, 4), (5, 6)])
    assert described(pickle.loads(pickle.dumps(objects))) == described(objects)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(degrees_of, [graph]) == [before]


def refused_on_ranks(comm: Comm) -> None:
    graph = kinds(comm)["text"]
    for take in (pickle.dumps, copy.deepcopy):
        with pytest.raises(UsageError, match=r"on \d ranks cannot be pickled.*graph.save\(DIR\) writes it"):
            take(graph)
    the_same(graph, copy.copy(graph))


@pytest.mark.parametrize("ranks", [3], indirect=True)
def test_pickle_on_several_ranks_names_save(ranks: Ranks) -> None:
    ranks.run(refused_on_ranks)


def disagree(comm: Comm) -> None:
    with folder(comm) as place, pytest.raises(UsageError, match="ranks disagree on path of save"):
        kinds(comm)["text"].save(place / f"graph{comm.rank}")


@pytest.mark.parametrize("ranks", [2], indirect=True)
def test_ranks_that_disagree_on_the_folder_are_told(ranks: Ranks) -> None:
    ranks.run(disagree)
