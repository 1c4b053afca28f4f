"""gl.lda's Metropolis-Hastings: conserved counts, several steps, priors that differ and move, mean counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import digamma
from scipy.stats import chisquare

import gaslab as gl
from examples.lda import corpus
from gaslab.parallel.comm import Comm, world
from gaslab.programs import metropolis_hastings
from gaslab.programs._samplers import FEW_TOPICS
from tests.conftest import Hosts
from tests.mpi.ranks import Ranks

TOPICS = 4
DOCUMENT, WORD, _ = corpus(documents=30, words=20, length=15, topics=TOPICS)
EVERYTHING: dict[str, Any] = {
    "doc_topic_prior": [0.1, 0.4, 0.2, 0.3], "mh_steps": 3, "optimise_priors": 2, "burn_in": 2,
    "iterations": 5,
}  # fmt: skip


class Counted(gl.programs.LDA):
    """LDA with what its vertices have counted, by side."""

    class Sides(gl.Accumulator):
        documents: gl.Vector = gl.field(shape="topics", dtype=gl.int64)
        words: gl.Vector = gl.field(shape="topics", dtype=gl.int64)

    @gl.aggregator
    def counted(self, v: gl.programs.LDA.Vertex) -> Sides:
        counts = np.bincount(v._topics, minlength=self.topics)
        return self.Sides(documents=(1 - v.side) * counts, words=v.side * counts)


def fitted(comm: Comm, **options: Any) -> gl.Result:
    graph = gl.Graph.from_edges(DOCUMENT, WORD, bipartite=True, strategy="random", comm=comm)
    chosen = {"sampler": "metropolis-hastings", "topics": TOPICS, "iterations": 3, "seed": 3, **options}
    return gl.lda(graph, **chosen)


def at_every_superstep(comm: Comm) -> list[list[list[int]]]:
    graph = gl.Graph.from_edges(DOCUMENT, WORD, bipartite=True, strategy="random", comm=comm)
    result = gl.run(Counted(topics=TOPICS, iterations=3, slots=3), graph, seed=3)
    rows = [(row["tokens"].counts, row["counted"].documents, row["counted"].words) for row in result.history]
    return [[np.asarray(counts).tolist() for counts in row] for row in rows]


@pytest.mark.slow
def test_no_token_is_lost_in_any_superstep(ranks: Ranks) -> None:
    found = ranks.run(at_every_superstep)
    assert len(found[0]) == 6
    for superstep, (tokens, *sides) in enumerate(found[0]):
        assert sides[1 - superstep % 2] == tokens  # words in even ones
        assert sum(tokens) == DOCUMENT.size
        assert all(sum(counts) == DOCUMENT.size for counts in sides[1 - superstep :])


def everything(comm: Comm, **options: Any) -> tuple[Any, ...]:
    result = fitted(comm, **EVERYTHING, **options)
    figures = result.metrics["figures"]
    return result.vertices["counts"].tolist(), figures["doc_topic_prior"], figures["topic_word_prior"]


def in_every_way(comm: Comm) -> list[tuple[Any, ...]]:
    return [everything(comm), everything(comm, threads=2), everything(comm, compile="never")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gaslab.PerformanceWarning")
def test_all_at_once_is_the_same_everywhere(ranks: Ranks) -> None:
    expected = everything(world(), engine="reference")
    for found in ranks.run(in_every_way)[0]:
        assert found == expected


def moved_priors(comm: Comm) -> tuple[list[float], float]:
    """Return the priors after steps over enough documents that their sums in another order would differ."""
    draws = np.random.default_rng(3)
    document, word = draws.integers(0, 400, 30_000), (900 * draws.random(30_000) ** 2).astype(int)
    graph = gl.Graph.from_edges(document, word, bipartite=True, strategy="random", comm=comm)
    figures = gl.lda(
        graph, topics=12, sampler="metropolis-hastings", iterations=12, optimise_priors=1, seed=4
    ).metrics["figures"]
    return figures["doc_topic_prior"], figures["topic_word_prior"]


def test_priors_move_alike_on_any_ranks(ranks: Ranks) -> None:
    """To the bit: sums of floats do not mind the order in which ranks add them."""
    expected = moved_priors(world())
    assert ranks.run(moved_priors) == [expected] * ranks.size


@pytest.mark.slow
def test_a_step_of_the_priors_is_minka_s() -> None:
    prior = np.array([0.1, 0.4, 0.2, 0.3])
    after = fitted(world(), doc_topic_prior=prior, iterations=2, optimise_priors=1).metrics["figures"]
    counts = fitted(world(), doc_topic_prior=prior, iterations=1).vertices["counts"]
    documents, words = counts[:30], counts[30:]
    length, whole, spread = documents.sum(axis=1), prior.sum(), 0.01 * len(words)
    up = (digamma(documents + prior) - digamma(prior)).sum(axis=0)
    assert after["doc_topic_prior"] == pytest.approx(
        prior * up / (digamma(length + whole) - digamma(whole)).sum(), rel=1e-7
    )
    up = (digamma(words + 0.01) - digamma(0.01)).sum()
    down = len(words) * (digamma(words.sum(axis=0) + spread) - digamma(spread)).sum()
    assert after["topic_word_prior"] == pytest.approx(0.01 * up / down, rel=1e-7)


def test_digamma_is_scipy_s() -> None:
    for x in (1e-100, 1e-5, 0.3, 1.0, 1.4616321449683622, 7.99, 8.0, 300.5, 1e9):
        assert metropolis_hastings.digamma(x) == pytest.approx(digamma(x), rel=1e-13, abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.1, [0.1, 0.4, 0.2, 0.3]])
@pytest.mark.parametrize("sampler", ["gibbs", "metropolis-hastings"])
def test_counts_are_averaged_after_the_burn_in(sampler: str, prior: Any) -> None:
    asked = {"sampler": sampler, "doc_topic_prior": prior, "threads": 1, "anneal_sweeps": 1}
    chain = {n: fitted(world(), **asked, iterations=n).vertices["counts"] for n in (2, 3, 4, 5)}
    mean = fitted(world(), **asked, iterations=5, burn_in=1, sample_every=2)
    assert mean.vertices["counts"].tolist() == ((chain[3] + chain[5]) / 2).tolist()
    last = fitted(world(), **asked, iterations=5, burn_in=4)
    assert last.vertices["counts"].tolist() == chain[5].tolist()
    counts = fitted(world(), **asked, iterations=5, burn_in=1).vertices["counts"]
    np.testing.assert_allclose(counts, sum(chain.values()) / 4)
    table = mean.tables["topic_word"]["probability"]
    np.testing.assert_allclose(table.sum(axis=0), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 3])
def test_a_lone_token_has_each_topic_as_often_as_its_prior_says(steps: int) -> None:
    """Every document has one token, of a word of its own, whose prior leaves other tokens no weight."""
    prior = np.array([1.0, 2.0, 5.0])
    graph = gl.Graph.from_edges(np.arange(4000), np.arange(4000), bipartite=True)
    result = gl.lda(
        graph, topics=3, doc_topic_prior=prior, topic_word_prior=1e6, iterations=4, mh_steps=steps, seed=1,
        sampler="metropolis-hastings",
    )  # fmt: skip
    found = result.vertices["counts"][:4000].sum(axis=0)
    assert chisquare(found, 4000 * prior / prior.sum()).pvalue > 1e-4


@pytest.mark.parametrize("asked", [{}, EVERYTHING, {"sampler": "gibbs", "evaluate_every": 2}])
def test_the_parameters_are_the_arguments(asked: dict[str, Any]) -> None:
    usual = {"doc_topic_prior": 0.1, "topic_word_prior": 0.01, "mh_sweeps": 0, "mh_steps": 1,
             "optimise_priors": 0, "burn_in": None, "sample_every": 1, "evaluate_every": 10,
             "anneal_sweeps": 0 if "optimise_priors" in asked else 1}  # fmt: skip
    of_test = {"topics": TOPICS, "iterations": 3, "sampler": "metropolis-hastings"}
    assert fitted(world(), **asked).metrics["parameters"] == {**usual, **of_test, **asked}


def test_priors_that_are_alike_are_one_number() -> None:
    one, three = fitted(world(), doc_topic_prior=0.2), fitted(world(), doc_topic_prior=np.full(TOPICS, 0.2))
    assert one.vertices["counts"].tolist() == three.vertices["counts"].tolist()
    assert one.metrics["figures"]["doc_topic_prior"] == [0.2] * TOPICS


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "gibbs"),
        ({"topics": FEW_TOPICS}, "gibbs"),
        ({"topics": FEW_TOPICS + 1}, "metropolis-hastings"),
        ({"mh_steps": 2}, "metropolis-hastings"),
        ({"burn_in": 1}, "gibbs"),
        ({"optimise_priors": 2}, "metropolis-hastings"),
    ],
)
def test_auto_is_by_the_topics_and_by_what_is_asked_for(options: dict[str, int], name: str) -> None:
    assert fitted(world(), sampler="auto", **options).metrics["figures"]["sampler"] == name


def of_gibbs(comm: Comm, threads: int) -> list[list[int]]:
    graph = gl.Graph.generate("corpus", documents=30, words=40, topics=3, seed=2, comm=comm)
    result = gl.lda(graph, topics=3, iterations=6, sampler="gibbs", seed=4, threads=threads)
    return result.vertices["counts"].tolist()


@pytest.mark.slow
def test_gibbs_has_one_chain_on_several_ranks_or_threads(hosts: Hosts) -> None:
    """The order of visits is the same from two workers on; one alone goes document by document."""
    expected = hosts(1).run(of_gibbs, 2)[0]
    for size, threads in [(2, 1), (2, 2), (3, 1), (4, 1), (4, 2)]:
        assert hosts(size).run(of_gibbs, threads) == [expected] * size
    assert hosts(1).run(of_gibbs, 1)[0] != expected
