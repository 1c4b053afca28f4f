"""What visit keeps with the graph: made once, used only where it fits, and without a trace in the answers."""

from __future__ import annotations

import gc
import weakref
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.engine.visit.places import Walk
from gaslab.engine.visit.plan import Plan
from gaslab.engine.visit.schedule import BUCKETS, Schedule
from gaslab.language.visit_ways import LEAST, MOST, choose_ways, field_bytes
from gaslab.parallel.comm import Comm
from gaslab.reference.visit import _blocks as reference_blocks
from tests.mpi.ranks import Ranks
from tests.programs.visits import Chain, Sized, Trade

PROGRAMS = (Trade(), Chain(), Sized(), Trade(share=0.5))
WAYS = (LEAST, Chain.visit_ways, LEAST, LEAST)


class Fails(gl.VertexProgram):
    """Ends in the middle of a sweep, when blocks are on their way."""

    class Vertex(gl.Vertex):
        part: int = 1

    def visit(self, u: Vertex, e: gl.Edge, w: Vertex) -> None:
        u.part = 5 // (w.in_degree - 9)


def graph_of(comm: Comm, kind: str, strategy: str = "random") -> gl.Graph:
    rng = np.random.default_rng(7)
    ends = rng.integers(0, 50, (2, 300))
    ends[1, :40] = ends[1, 0]  # a hub
    if kind == "bipartite":
        ends = ends * 2 + np.array([[0], [1]])
    weights = rng.integers(1, 9, 300) / 8
    return gl.Graph.from_edges(
        *ends, columns={"weight": weights}, directed=kind != "undirected", strategy=strategy, comm=comm
    )


def answer(program: gl.VertexProgram, graph: gl.Graph, **options: Any) -> list[bytes]:
    result = gl.run(program, graph, max_iterations=3, edges=True, **options)
    order = np.lexsort(tuple(reversed(result.edges.ids))) if result.edges.columns else []
    columns = [result.vertices[name] for name in result.vertices.columns]
    columns += [result.edges[name][order] for name in result.edges.columns]
    return [values.tobytes() for values in columns]


class Counted:
    """How many plans are made, and for how many ways, while it is entered."""

    def __enter__(self) -> list[int]:
        made: list[int] = []
        real = Plan.__init__

        def counted(plan: Plan, graph: gl.Graph, ways: int) -> None:
            made.append(ways)
            real(plan, graph, ways)

        self._patch = patch.object(Plan, "__init__", counted)
        self._patch.start()
        return made

    def __exit__(self, *_: object) -> None:
        self._patch.stop()


def runs(comm: Comm, kind: str) -> tuple[list[list[bytes]], list[list[bytes]], list[int], list[int]]:
    """Return each program's answer on a new graph and on one that all share, with the plans made."""
    alone, shared = [], []
    with Counted() as each:
        for program in PROGRAMS:
            alone.append(answer(program, graph_of(comm, kind)))
    graph = graph_of(comm, kind)
    with Counted() as made:
        for threads in (1, 2):
            for program in PROGRAMS:
                shared.append(answer(program, graph, threads=threads))
    return alone, shared, each, made


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["any", "undirected", "bipartite"])
def test_runs_that_share_a_plan_have_the_answers_of_runs_that_do_not(ranks: Ranks, kind: str) -> None:
    expected = runs(Comm(), kind)[0]
    for alone, shared, each, made in ranks.run(runs, kind):
        assert alone == expected
        assert shared == 2 * expected
        assert each == list(WAYS)
        assert made == [LEAST, 2, LEAST, 2, LEAST]  # of the last number of ways


def one_after_another(comm: Comm, kind: str) -> list[int]:
    """Run one program again and again, each time with something else that makes no other plan."""
    graph = graph_of(comm, kind)
    with Counted() as made:
        first = answer(Trade(), graph)
        assert answer(Trade(), graph, seed=3) == first
        assert answer(Trade(), graph.with_degrees()) == first
        other = answer(Trade(), graph, columns={"weight": "weight"}, init={"wealth": 2.0})
        assert other != first
        with pytest.raises(gl.ExecutionError):
            answer(Fails(), graph)
        assert answer(Trade(), graph) == first
        assert answer(Trade(share=0.5), graph) != first
        assert answer(Trade(), graph) == first
    return made


@pytest.mark.parametrize("kind", ["any", "bipartite"])
def test_only_the_ways_make_another_plan_and_a_failed_run_leaves_it_whole(ranks: Ranks, kind: str) -> None:
    assert ranks.run(one_after_another, kind) == [[LEAST]] * ranks.size


def partitioned_anew(comm: Comm) -> tuple[list[int], list[int], list[int]]:
    graph = graph_of(comm, "any", "random")
    with Counted() as first:
        expected = answer(Trade(), graph)
    with Counted() as second:
        assert answer(Trade(), graph, strategy="1d") == expected  # of a graph for this run alone
        other = graph.partitioned("2d")
        assert answer(Trade(), other) == expected
    with Counted() as third:
        assert answer(Trade(), graph) == answer(Trade(), other) == expected
    return first, second, third


def test_a_graph_that_is_cut_anew_has_a_plan_of_its_own(ranks: Ranks) -> None:
    assert ranks.run(partitioned_anew) == [([LEAST], [LEAST, LEAST], [])] * ranks.size


def kept_bytes(comm: Comm) -> tuple[int, int]:
    graph = graph_of(comm, "any")
    before = graph.memory_bytes()
    gl.run(Trade(), graph, max_iterations=1)
    return graph.memory_bytes() - before, graph.local.num_masters


def test_what_is_kept_counts_as_memory_of_the_graph(ranks: Ranks) -> None:
    found = ranks.run(kept_bytes)
    edges, vertices = 300, sum(masters for _, masters in found)
    an_edge, a_vertex = (12, 24) if ranks.size == 1 else (16, 24)
    fixed = 8 * (2 * LEAST * (2 * LEAST - 1) + 1) * ranks.size  # the bounds of the tables' edges
    assert 0 < sum(kept for kept, _ in found) <= an_edge * edges + a_vertex * vertices + fixed


def test_it_is_freed_with_the_graph() -> None:
    graph = graph_of(Comm(), "any")
    gl.run(Trade(), graph, max_iterations=1)
    kept = weakref.ref(graph.local._plan[1])
    gc.collect()
    gc.disable()
    try:
        del graph
        assert kept() is None
    finally:
        gc.enable()


def test_ways_grow_with_the_edges_and_with_what_does_not_fit_the_cache() -> None:
    assert choose_ways(0, 0, 0) == choose_ways(1000, 1_000_000, 8) == LEAST
    assert choose_ways(1000, 5_000_000, 8) == 64
    assert choose_ways(20_000, 1_000_000, 600) == 32
    assert choose_ways(10_000_000, 1_000_000, 1 << 20) == LEAST  # few edges of a vertex: no second use
    assert choose_ways(1 << 30, 1 << 40, 8) == MOST
    assert [field_bytes(*one) for one in (("bool", ()), ("int16", ()), ("float64", (3, 3)))] == [1, 2, 72]


SHAPES = {"alike": 0.0, "popular": 1.0, "one above all": 4.0}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ways", [1, 3, 16])
@pytest.mark.parametrize("bipartite", [True, False])
def test_neighbouring_blocks_have_their_share_of_the_edges(shape: str, ways: int, bipartite: bool) -> None:
    schedule = Schedule(ways, bipartite)
    sides = 2 if bipartite else 1
    size = schedule.blocks * BUCKETS // sides
    rng = np.random.default_rng(1)
    shares = np.arange(1, size + 1) ** -SHAPES[shape]
    ends = np.concatenate([rng.permutation(1e9 * shares) for _ in range(sides)])
    block = schedule.block_of_bucket(ends.astype(np.int64))
    assert np.bincount(block[ends >= 1]).max() <= 2 * BUCKETS  # room for vertices
    assert (block >= size // BUCKETS).sum() == (size if bipartite else 0)
    if ways < 16 or shape == "one above all":
        return
    by_block = np.bincount(block, ends, minlength=schedule.blocks)
    for side in np.split(by_block, sides):
        for parts, most in ((2, 1.02), (4, 1.2)):
            assert busiest(side, parts) < most


def busiest(loads: np.ndarray, parts: int) -> float:
    """Return what a run of one in so many neighbouring blocks has at most, by an even share."""
    run = loads.size // parts
    return float(max(np.roll(loads, k)[:run].sum() for k in range(loads.size)) * parts / loads.sum())


@pytest.mark.parametrize(("hub", "most"), [(0.05, 1.01), (0.1, 1.01), (0.2, 1.1), (0.3, 1.25)])
def test_two_ranks_are_even_beside_a_hub_of_up_to_two_shares(hub: float, most: float) -> None:
    """Of 16 blocks a hub of a fifth of all edges has three shares: a second block does not get as many."""
    ends = np.random.default_rng(1).poisson(100, 16 * BUCKETS)
    ends[77] = hub / (1 - hub) * ends.sum()
    block = Schedule(16, True).block_of_bucket(np.concatenate([ends, ends]))[: ends.size]
    assert busiest(np.bincount(block, ends, minlength=16), 2) < most


@given(
    st.integers(1, 20), st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 50)), max_size=80), st.data()
)
def test_the_reference_deals_vertices_to_the_same_blocks(
    count: int, vertices: list[tuple[int, int]], data: st.DataObject
) -> None:
    degree = dict(vertices)
    for hub in data.draw(st.lists(st.sampled_from(sorted(degree)), max_size=3)) if degree else ():
        degree[hub] *= 100
    gid = np.array([*degree], np.int64)
    schedule = Schedule(count, True)
    bucket = schedule.bucket_of(gid, np.zeros(gid.size, bool))
    ends = np.zeros(2 * BUCKETS * count, np.int64)
    np.add.at(ends, bucket, np.array([*degree.values()], np.int64))
    expected = reference_blocks(set(degree), degree, count)
    assert schedule.block_of_bucket(ends)[bucket].tolist() == [expected[v] for v in degree]


@pytest.mark.parametrize("ways", [1, 2, 3, 16, 64])
@pytest.mark.parametrize("bipartite", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_walk_knows_the_tables_that_blocks_leave(ways: int, bipartite: bool, size: int) -> None:
    schedule = Schedule(ways, bipartite)
    rank_of_table = (np.arange(ways) * size // ways).astype(np.int32)
    for rank in range(size):
        comm = Comm()
        comm.rank = rank
        walk = Walk(schedule, rank_of_table, np.ones(schedule.blocks, np.int64), comm)
        for turn in range(schedule.rounds):
            after = walk.rank_at[(turn + 1) % schedule.rounds]
            moving = (walk.rank_at[turn] == rank) & (after != rank)
            expected = np.unique(schedule.seats[turn, moving])
            assert np.array_equal(np.flatnonzero(walk.leaves[turn]), expected)


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("ways", [16, 64])
def test_targets_change_the_rank_only_as_often_as_there_are_ranks(ways: int, size: int) -> None:
    rank_of_table = np.arange(ways) * size // ways
    at = rank_of_table[Schedule(ways, True).seats]
    changes = at != np.roll(at, -1, axis=0)
    assert changes[:, :ways].sum() == 0
    assert changes[:, ways:].sum(axis=0).tolist() == [size if size > 1 else 0] * ways


def looked_up(comm: Comm, chunk: int) -> list[bytes]:
    """Return what a plan has that is made of so many edges at a time."""
    graph = graph_of(comm, "directed")
    with patch("gaslab.engine.visit.edges.CHUNK", chunk):
        edges = Plan(graph, LEAST).edges
    return [edges.source.tobytes(), edges.target.tobytes(), edges.bounds(0)[0].tobytes()]


def test_a_plan_is_the_same_however_many_edges_are_looked_up_at_a_time(ranks: Ranks) -> None:
    assert ranks.run(looked_up, 7) == ranks.run(looked_up, 1 << 16)


class Heavy(gl.VertexProgram):
    """Seven tables, which ranks have unequal numbers of, and blocks that no rank takes before it waits."""

    visit_ways = 7

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=64, init=0.0)

    @gl.aggregator(live=True)
    def met(self, v: Vertex) -> gl.Sum[int]:
        return 0

    def visit(self, u: Vertex, e: gl.Edge, w: Vertex) -> None:
        w.x[0] += u.x[0] + 1.0
        self.met += 1


def heavy(comm: Comm) -> tuple[float, int]:
    source, target = np.random.default_rng(1).integers(0, 5000, (2, 20000))
    graph = gl.Graph.from_edges(source, target + 5000, comm=comm)
    result = gl.run(Heavy(), graph, max_iterations=2)
    return float(result.vertices["x"].sum()), result.aggregates["met"]


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_ranks_with_unequal_numbers_of_tables_do_not_wait_for_each_other(ranks: Ranks) -> None:
    assert ranks.run(heavy, timeout=60) == [(40000.0, 40000)] * ranks.size
