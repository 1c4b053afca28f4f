"""The graph people hold: made from arrays and files, cut anew, shown, weighed, on 1 to 4 ranks."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.graph.reading import read_graph
from gaslab.parallel import launch
from gaslab.parallel.comm import Comm
from tests.conftest import Hosts
from tests.mpi.ranks import Ranks
from tests.support.strategies import STRATEGIES
from tests.support.threadcomm import run_ranks

SRC, DST, WEIGHT = [3, 3, 9, 3, 4, 4], [9, 4, 3, 9, 4, 12], [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]


def whole(graph: Graph) -> list[tuple[Any, ...]]:
    """All edges of the graph in the user's ids, with their columns, in an order of no meaning."""
    src, dst = (graph.ids.lookup(end).tolist() for end in graph.edges())
    columns = [graph.edge_columns[name].tolist() for name in sorted(graph.edge_columns)]
    parts = graph.comm.allgather(list(zip(src, dst, *columns, strict=True)))
    return sorted(edge for part in parts for edge in part)


def small(comm: Comm, **options: Any) -> Graph:
    return Graph.from_edges(SRC, DST, columns={"weight": WEIGHT}, vertices=[7, 3], comm=comm, **options)


def rank_of_arrays(comm: Comm, strategy: str, directed: bool) -> tuple[Any, ...]:
    graph = small(comm, strategy=strategy, directed=directed)
    assert graph.directed is directed
    assert strategy in (graph.strategy, graph.strategy_chosen_by)
    assert set(graph.seconds) == {"load", "partition"}
    assert all(seconds > 0 for seconds in graph.seconds.values())
    assert comm.allgather(graph.seconds) == [graph.seconds] * comm.size
    return graph.num_vertices, graph.num_edges, whole(graph), graph.fingerprint, graph.counts["self_loops"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("directed", [True, False])
def test_from_edges(ranks: Ranks, strategy: str, directed: bool) -> None:
    alone = rank_of_arrays(Comm(), "random", directed)
    assert alone[:3] == (5, 6, sorted(zip(SRC, DST, WEIGHT, strict=True)))
    assert alone[4] == 1
    assert ranks.run(rank_of_arrays, strategy, directed) == [alone] * ranks.size


def rank_of_file(comm: Comm, path: Path, strategy: str) -> tuple[Any, ...]:
    graph = read_graph(path, strategy=strategy, comm=comm)
    return graph.num_vertices, graph.counts["comments"], whole(graph), graph.source == str(path)


def test_read_graph(ranks: Ranks, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    src, dst = rng.integers(0, 90, 700), rng.zipf(1.5, 700) % 90
    file = tmp_path / "edges.tsv"
    file.write_text(
        "# made up\n" + "".join(f"{a}\t{b}\t{i}\n" for i, (a, b) in enumerate(zip(src, dst, strict=True)))
    )
    expected = sorted(zip(src.tolist(), dst.tolist(), range(700), strict=True))
    for strategy in STRATEGIES:
        got = ranks.run(rank_of_file, file, strategy)
        assert got == [(np.union1d(src, dst).size, 1, expected, True)] * ranks.size


def rank_of_another_cut(comm: Comm, src: Any, dst: Any, steps: list[str]) -> None:
    columns = {"number": np.arange(len(src)), "odd": np.arange(len(src)) % 2 == 1}
    options: Any = {"columns": columns, "vertices": range(60), "comm": comm}
    first = graph = Graph.from_edges(src, dst, strategy=steps[0], **options)
    before = whole(first), first.local.in_neighbor.copy(), first.local.gid.copy()
    for strategy in steps[1:]:
        graph = graph.partitioned(strategy)
        assert graph.strategy == strategy
    direct = Graph.from_edges(src, dst, strategy=steps[-1], **options)
    # The way there leaves no trace: parallel edges have kept their order.
    for name in ("gid", "in_begin", "in_neighbor", "degree", "mirror_bounds", "send_bounds"):
        assert np.array_equal(getattr(graph.local, name), getattr(direct.local, name)), name
    for name in columns:
        assert np.array_equal(graph.edge_columns[name], direct.edge_columns[name])
    assert (graph.fingerprint, graph.counts, graph.source) == (first.fingerprint, first.counts, first.source)
    # The first graph is what it was.
    assert whole(first) == before[0]
    assert np.array_equal(first.local.in_neighbor, before[1])
    assert np.array_equal(first.local.gid, before[2])


ends = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 59)), max_size=80)


@given(
    ends, st.integers(1, 4), st.lists(st.sampled_from(STRATEGIES), min_size=2, max_size=4)
)
def test_partitioned_is_the_cut_made_directly(edges: Any, size: int, steps: list[str]) -> None:
    src, dst = [a for a, _ in edges], [b for _, b in edges]
    run_ranks(size, lambda comm: rank_of_another_cut(comm, src, dst, steps))


def test_partitioned_over_mpi(ranks: Ranks) -> None:
    rng = np.random.default_rng(1)
    src, dst = rng.integers(0, 60, 500), rng.zipf(1.6, 500) % 60
    ranks.run(rank_of_another_cut, src, dst, ["1d", "dbh", "random", "2d"])


def test_partitioned_alike_is_the_same_graph() -> None:
    graph = small(Comm(), strategy="2d")
    assert graph.partitioned("2d") is graph


def test_edges_are_in_the_order_of_the_columns() -> None:
    graph = small(Comm())
    src, dst = graph.edges()
    assert src.dtype == dst.dtype == np.int64
    named = dict(zip(WEIGHT, zip(SRC, DST, strict=True), strict=True))
    user = zip(graph.ids.lookup(src).tolist(), graph.ids.lookup(dst).tolist(), strict=True)
    assert [named[w] for w in graph.edge_columns["weight"].tolist()] == list(user)
    # Two edges 3 -> 9: the first given comes first.
    assert [w for w in graph.edge_columns["weight"] if named[w] == (3, 9)] == [1.5, 4.5]


def rank_of_edges(comm: Comm) -> None:
    graph = small(comm, strategy="random")
    local, everywhere, root = (graph.edges(on=on) for on in ("local", "all", "root"))
    for end in range(2):
        assert local[end].size == graph.local.num_edges
        together = np.concatenate(comm.allgather(local[end]))
        assert np.array_equal(everywhere[end], together)
        assert np.array_equal(root[end], together if comm.rank == 0 else [])
    with pytest.raises(UsageError, match="on='everywhere' is unknown; known: all, local, root"):
        graph.edges(on="everywhere")


def test_edges_of_all_ranks(ranks: Ranks) -> None:
    ranks.run(rank_of_edges)


def test_memory_counts_columns() -> None:
    with_column = small(Comm())
    bare = Graph.from_edges(SRC, DST, vertices=[7])
    assert with_column.memory_bytes() == bare.memory_bytes() + 6 * 8
    assert bare.memory_bytes() == bare.local.memory_bytes()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Graph.from_edges([0], [1], strategy="rnadom"),
        lambda: Graph.generate("no such kind", strategy="rnadom"),
        lambda: read_graph("no such file", strategy="rnadom"),
    ],
    ids=["arrays", "generator", "file"],
)
def test_unknown_strategy_is_refused_before_the_input_is_read(make: Callable[[], Graph]) -> None:
    message = "strategy='rnadom' is unknown; did you mean 'random'?"
    with pytest.raises(UsageError, match=re.escape(message)):
        make()


def test_repr() -> None:
    assert repr(small(Comm())) == (
        "<Graph from arrays: 5 vertices, 6 edges, directed; columns: weight (float64)>"
    )
    one = Graph.from_edges([5], [5], directed=False)
    assert repr(one) == "<Graph from arrays: 1 vertex, 1 edge, undirected>"
    texts = run_ranks(
        2, lambda comm: repr(Graph.generate("rmat", scale=6, seed=1, strategy="dbh", comm=comm))
    )
    assert texts[0] == texts[1]
    assert re.fullmatch(
        r"<Graph from rmat\(.*\): 64 vertices, 1,024 edges, directed; "
        r"2 ranks by dbh, replication 1\.\d\d, edge balance 1\.\d\d>",
        texts[0],
    )


def rank_on_threads(comm: Comm) -> tuple[Any, ...]:
    graph = Graph.generate("rmat", scale=11, seed=3, comm=comm)
    begin, neighbor, slot = graph.local.out()
    return (
        launch.threads_per_rank(comm.local_ranks), graph.local.gid.tolist(), graph.local.in_neighbor.tolist(),
        begin.tolist(), neighbor.tolist(), slot.tolist(),
    )  # fmt: skip


def test_threads_change_nothing(ranks: Ranks) -> None:
    one, three = (ranks.run(rank_on_threads, threads=threads) for threads in (1, 3))
    assert [got[0] for got in one] == [1] * ranks.size
    assert [got[0] for got in three] == [3] * ranks.size
    assert [got[1:] for got in one] == [got[1:] for got in three]


def test_arrays_given_are_left_alone() -> None:
    src, dst, weight = np.array(SRC), np.array(DST), np.array(WEIGHT)
    Graph.from_edges(src, dst, columns={"weight": weight})
    assert (src.tolist(), dst.tolist(), weight.tolist()) == (SRC, DST, WEIGHT)


def rank_on_half_of_the_ranks(comm: Comm) -> tuple[int, int, int]:
    from mpi4py import MPI

    half = MPI.COMM_WORLD.Split(comm.rank % 2, comm.rank)
    graph = Graph.from_edges(SRC, DST, comm=half)
    return graph.comm.size, graph.num_edges, len(whole(graph))


def test_on_a_communicator_of_mpi4py(hosts: Hosts) -> None:
    assert hosts(3).run(rank_on_half_of_the_ranks) == [(2, 6, 6), (1, 6, 6), (2, 6, 6)]


def rank_of_networkx(comm: Comm, strategy: str) -> None:
    import networkx as nx

    for made in (nx.DiGraph(), nx.MultiDiGraph(), nx.Graph(), nx.MultiGraph()):
        made.add_nodes_from(["lonely", "d"])
        for u, v, w in [("a", "b", 1), ("b", "a", 2), ("b", "c", 3), ("c", "c", 4)]:
            made.add_edge(u, v, weight=w)
        graph = Graph.from_networkx(made, strategy=strategy, comm=comm)
        assert graph.directed == made.is_directed()
        assert (graph.num_vertices, graph.num_edges) == (5, made.number_of_edges())
        # An undirected edge comes back one way or the other.
        expected = [(min(u, v), max(u, v), w) for u, v, w in made.edges(data="weight")]
        assert sorted((min(u, v), max(u, v), w) for u, v, w in whole(graph)) == sorted(expected)
        names = graph.ids.lookup(graph.local.gid)
        degrees = dict(zip(list(names), graph.local.degree.tolist(), strict=True))
        assert degrees == {name: made.degree(name) for name in names}


@pytest.mark.slow
def test_from_networkx(ranks: Ranks) -> None:
    for strategy in STRATEGIES:
        ranks.run(rank_of_networkx, strategy)


def rank_of_scipy(comm: Comm) -> None:
    import scipy.sparse as sp

    matrix = sp.random_array((40, 40), density=0.05, rng=np.random.default_rng(0), format="csr")
    entries = matrix.tocoo()
    graph = Graph.from_scipy(matrix, comm=comm)
    triples = zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)
    assert (graph.num_vertices, whole(graph)) == (40, sorted(triples))
    both = sp.csr_array(matrix + matrix.T)
    undirected = Graph.from_scipy(both, directed=False, weight=None, comm=comm)
    assert undirected.edge_columns == {}
    assert undirected.num_edges == sp.triu(both).nnz
    assert undirected.num_vertices == 40


def test_from_scipy(ranks: Ranks) -> None:
    ranks.run(rank_of_scipy)


def rank_of_pandas(comm: Comm) -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {"from": ["x", "y", "x"], "to": ["y", "z", "z"], "km": [3, 4, 5], "note": ["p", "q", "r"]}
    )
    graph = Graph.from_pandas(frame, "from", "to", comm=comm)
    assert list(graph.edge_columns) == ["km"]
    assert whole(graph) == [("x", "y", 3), ("x", "z", 5), ("y", "z", 4)]
    on_root = Graph.from_pandas(
        frame if comm.rank == 0 else None, "from", "to", columns=[], rows="root", comm=comm
    )
    assert whole(on_root) == [("x", "y"), ("x", "z"), ("y", "z")]


def test_from_pandas(ranks: Ranks) -> None:
    ranks.run(rank_of_pandas)


def rank_of_objects(comm: Comm, strategy: str) -> None:
    src, dst = [(0, "a"), (1, "b"), (0, "a")], [(1, "b"), (0, "a"), (2, None)]
    graph = Graph.from_edges(src, dst, strategy=strategy, comm=comm)
    looked_up = [list(graph.ids.lookup(end)) for end in graph.edges()]
    edges = [edge for part in comm.allgather(list(zip(*looked_up, strict=True))) for edge in part]
    assert sorted(edges, key=repr) == sorted(zip(src, dst, strict=True), key=repr)


@pytest.mark.parametrize("strategy", ["1d", "random"])
def test_ids_of_any_kind(ranks: Ranks, strategy: str) -> None:
    ranks.run(rank_of_objects, strategy)


def rank_of_dropping(comm: Comm) -> None:
    graph = small(comm, drop_duplicates=True, drop_self_loops=True)
    assert whole(graph) == [(3, 4, 2.5), (3, 9, 1.5), (4, 12, 6.5), (9, 3, 3.5)]
    assert graph.num_vertices == 5


def test_duplicates_and_self_loops_dropped(ranks: Ranks) -> None:
    ranks.run(rank_of_dropping)


def rank_of_check_column(comm: Comm) -> str:
    graph = Graph.from_edges(SRC, DST, columns={"weight": [1.0, 2.0, -0.5, 3.0, 0.0, 4.0]}, comm=comm)
    graph.check_column("weight", -1.0)
    with pytest.raises(UsageError) as caught:
        graph.check_column("weight", 0.0)
    return str(caught.value)


def test_a_column_below_its_minimum_names_the_edge(ranks: Ranks) -> None:
    message = "edge column 'weight' is -0.5 on the edge 9 -> 3; at least 0 is needed"
    assert ranks.run(rank_of_check_column) == [message] * ranks.size


def test_names_read_from_a_file(ranks: Ranks, tmp_path: Path) -> None:
    file = tmp_path / "names.csv"
    file.write_text("source,target,weight\nmünchen,köln,575\nköln,bonn,30.5\n")
    expected = [("köln", "bonn", 30.5), ("münchen", "köln", 575.0)]
    assert ranks.run(rank_of_file, file, "dbh") == [(3, 0, expected, True)] * ranks.size
