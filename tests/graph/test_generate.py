"""Graphs from a seed: the same on any ranks and threads, and what their names promise."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from gaslab.errors import UsageError
from gaslab.ingest.corpus.draw import draw_topics
from gaslab.ingest.generate import generate
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.threadcomm import run_ranks

KINDS: dict[str, dict[str, Any]] = {
    "rmat": {"scale": 9, "edge_factor": 8},
    "powerlaw": {"vertices": 500, "exponent": 2.0},
    "grid": {"rows": 7, "columns": 11},
    "erdos-renyi": {"vertices": 300, "edges": 2000},
    "corpus": {"documents": 700, "words": 90, "topics": 4, "min_length": 3, "max_length": 40},
}


def made(comm: Comm, kind: str, options: dict[str, Any]) -> tuple[Any, ...]:
    """Return (rows in the order of ranks, n, directed, counts, fingerprint)."""
    edges = generate(kind, comm, **options)
    mine = np.stack([edges.src, edges.dst, *edges.columns.values()], axis=1)
    rows = np.concatenate(comm.allgather(mine)).tolist()
    return rows, edges.num_vertices, edges.directed, edges.counts, edges.fingerprint


def alone(kind: str, **options: Any) -> tuple[np.ndarray, int]:
    edges = generate(kind, Comm(), **options)
    return np.stack([edges.src, edges.dst], axis=1), edges.num_vertices


@pytest.mark.parametrize("kind", KINDS)
def test_any_ranks_and_threads_make_the_same_graph(ranks: Ranks, kind: str) -> None:
    options = {**KINDS[kind], "seed": 5, "weights": 9, "threads": 2}
    for got in ranks.run(made, kind, options):
        assert got == made(Comm(), kind, {**options, "threads": 1})


@pytest.mark.parametrize("kind", ["rmat", "powerlaw", "erdos-renyi", "corpus"])
def test_another_seed_is_another_graph(kind: str) -> None:
    one, other = (alone(kind, **KINDS[kind], seed=seed)[0].tolist() for seed in (1, 2))
    assert one != other


def test_a_grid_is_networkx_s() -> None:
    edges, n = alone("grid", rows=4, columns=6)
    ours = nx.Graph(edges.tolist())
    wanted = nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 6), ordering="sorted")
    assert (n, len(edges)) == (24, wanted.number_of_edges())
    assert nx.utils.edges_equal(ours.edges, wanted.edges)


def test_a_grid_of_one_row_or_column_is_a_path() -> None:
    assert alone("grid", rows=1, columns=3)[0].tolist() == [[0, 1], [1, 2]]
    assert alone("grid", rows=3, columns=1)[0].tolist() == [[0, 1], [1, 2]]
    assert alone("grid", rows=1, columns=1)[0].tolist() == []


def test_erdos_renyi_ends_are_uniform() -> None:
    edges, n = alone("erdos-renyi", vertices=20, edges=40000, seed=3)
    assert n == 20
    for ends in edges.T:
        counts = np.bincount(ends, minlength=20)
        assert ((counts - 2000) ** 2 / 2000).sum() < 43.8  # chi-square, 19 degrees of freedom, p = 0.001


def test_rmat_quadrants_have_their_shares() -> None:
    shares = {"a": 0.5, "b": 0.1, "c": 0.15, "d": 0.25}
    edges, _ = alone("rmat", scale=10, edge_factor=40, seed=4, permute=False, **shares)
    for level in range(10):
        quadrant = np.bincount(2 * (edges[:, 0] >> level & 1) + (edges[:, 1] >> level & 1), minlength=4)
        assert np.abs(quadrant / len(edges) - list(shares.values())).max() < 0.01


def test_rmat_permutation_relabels() -> None:
    plain, n = alone("rmat", scale=8, seed=6, permute=False)
    moved, _ = alone("rmat", scale=8, seed=6)
    pairs = set(zip(plain.ravel().tolist(), moved.ravel().tolist(), strict=True))
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs) <= n
    assert plain.tolist() != moved.tolist()


@pytest.mark.parametrize("in_degree", [True, False])
def test_powerlaw_degrees_follow_the_power(in_degree: bool) -> None:
    edges, n = alone("powerlaw", vertices=20000, exponent=2.5, max_degree=50, in_degree=in_degree, seed=7)
    degree = np.bincount(edges[:, int(in_degree)], minlength=n)
    wanted = np.arange(1, 51) ** -2.5
    wanted *= n / wanted.sum()
    assert (degree.min(), degree.max() <= 50) == (1, True)
    assert np.abs(np.bincount(degree, minlength=51)[1:6] - wanted[:5]).max() < 4 * np.sqrt(wanted[0])
    assert (edges[:, 0] != edges[:, 1]).all()


def test_documents_are_of_the_topics_and_lengths() -> None:
    """Each word of a document comes from topics by the document's mix; lengths follow the power."""
    sizes = {"documents": 20_000, "words": 30, "topics": 3}
    edges = generate("corpus", Comm(), **sizes, min_length=10, max_length=100, alpha=0.2, beta=0.5, seed=3)
    count = edges.columns["count"]
    assert (edges.num_vertices, edges.ids.num_left, count.min()) == (20_030, 20_000, 1)
    length = np.bincount(edges.src, count, 20_000)
    assert (length.min(), length.max() <= 100) == (10, True)
    wanted = np.arange(10.0, 101.0) ** -2
    np.testing.assert_allclose((length == 10).mean(), 1 / (wanted * 100).sum(), rtol=0.05)
    topics = draw_topics(30, 3, 0.5, 3)
    np.testing.assert_allclose(topics.sum(axis=0), 1.0)
    found = np.bincount(edges.dst - 20_000, count) / count.sum()
    np.testing.assert_allclose(found, topics.mean(axis=1), atol=0.01)
    bags = np.zeros((20_000, 30))
    bags[edges.src, edges.dst - 20_000] = count
    mix = np.linalg.lstsq(topics, (bags / length[:, None]).T, rcond=None)[0]
    np.testing.assert_allclose(mix.sum(axis=0).mean(), 1.0, atol=0.05)
    assert mix.max(axis=0).mean() > 0.7  # alpha is small: a document has one topic for the most part


def test_weights_are_drawn_from_one_to_the_most() -> None:
    edges = generate("erdos-renyi", Comm(), vertices=5, edges=1000, weights=7)
    assert set(edges.columns["weight"].tolist()) == set(range(1, 8))


def test_drops_are_counted() -> None:
    edges = generate(
        "erdos-renyi", Comm(), vertices=10, edges=300, drop_duplicates=True, drop_self_loops=True
    )
    kept = set(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))
    every, _ = alone("erdos-renyi", vertices=10, edges=300)
    assert kept == {(u, v) for u, v in every.tolist() if u != v}
    assert edges.counts == {
        "edges_read": 300,
        "self_loops": int((every[:, 0] == every[:, 1]).sum()),
        "duplicates": 300 - len(np.unique(every, axis=0)),
        "edges": len(kept),
    }


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("rmatt", {}, "kind='rmatt' is unknown; did you mean 'rmat'?"),
        ("rmat", {}, "rmat needs scale"),
        ("grid", {"rows": 2, "column": 3}, "grid takes no column; did you mean 'columns'?"),
        ("grid", {"rows": 0, "columns": 3}, "rows=0: a whole number from 1 to 2147483648 is needed"),
        ("rmat", {"scale": 3, "a": 0.9},
         "a=0.9, b=0.19, c=0.19, d=0.05: shares are not negative and add up to 1"),
        ("erdos-renyi", {"vertices": 3, "edges": 2.5},
         "edges=2.5: a whole number is needed, not float"),
        ("grid", {"rows": 2, "columns": 3, "seed": -1},
         "seed=-1: a whole number from 0 to 18446744073709551615 is needed"),
        ("grid", {"rows": 2, "columns": 3, "weights": 0},
         "weights=0: a whole number from 1 to 9223372036854775807 is needed"),
    ],
)  # fmt: skip
def test_arguments_that_cannot_be(kind: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        run_ranks(2, lambda comm: generate(kind, comm, **options))
    assert str(caught.value) == message
