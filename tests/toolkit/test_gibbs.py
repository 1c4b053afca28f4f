"""CollapsedGibbs: one chain on any ranks, threads and cuts, no count lost, known topics found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaslab as gl
from examples.lda import corpus
from gaslab.parallel.comm import Comm, world
from gaslab.programs.gibbs import CollapsedGibbs, with_prior
from tests.mpi.ranks import Ranks

TOPICS, ALPHA = 4, (0.1, 0.4, 0.2, 0.3)
DOCUMENT, WORD, TOPIC = corpus(documents=60, words=40, length=20, topics=TOPICS)


def swept(comm: Comm, sweeps: int, strategy: str = "random", **options: Any) -> list[Any]:
    """Return the counts of a run, having compared those of documents, words and topics."""
    graph = gl.Graph.from_edges(DOCUMENT, WORD, bipartite=True, strategy=strategy, comm=comm)
    result = gl.run(
        with_prior(CollapsedGibbs, ALPHA)(topics=TOPICS, iterations=9),
        graph,
        max_iterations=sweeps,
        seed=3,
        **options,
    )
    counts, total = result.vertices["counts"], result.aggregates["tokens"].counts
    assert total.sum() == len(WORD)
    assert (counts[:60].sum(axis=0) == total).all()
    assert (counts[60:].sum(axis=0) == total).all()
    assert (counts.sum(axis=1)[:60] == np.bincount(DOCUMENT)).all()
    assert counts.min() >= 0
    return [counts.tolist(), [row["likelihood"] for row in result.history]]


def in_every_way(comm: Comm) -> list[Any]:
    runs = [swept(comm, sweeps) for sweeps in (1, 2)]  # the counts after every superstep
    return [*runs, swept(comm, 3, "2d", threads=2), swept(comm, 3, compile="never")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gaslab.PerformanceWarning", "ignore::gaslab.ConvergenceWarning")
def test_counts_are_kept_and_the_chain_is_the_same_on_any_ranks_and_threads(ranks: Ranks) -> None:
    alone = [swept(world(), sweeps, threads=1) for sweeps in (1, 2, 3)]
    for (counts, likelihood), known in zip(ranks.run(in_every_way)[0], [*alone, alone[2]], strict=True):
        assert counts == known[0]
        assert likelihood == pytest.approx(known[1], rel=1e-6)


@pytest.mark.parametrize("mean", [{}, {"burn_in": 0}])
def test_history_has_likelihoods_and_the_reference_engine_agrees(mean: dict[str, int]) -> None:
    graph = gl.Graph.from_edges(DOCUMENT, WORD, bipartite=True)
    answers = [
        gl.lda(
            graph,
            topics=TOPICS,
            doc_topic_prior=ALPHA,
            iterations=2,
            evaluate_every=2,
            sampler="gibbs",
            threads=1,
            **mean,
            **options,
        )
        for options in ({}, {"engine": "reference"})
    ]
    assert answers[0].vertices["counts"].tolist() == answers[1].vertices["counts"].tolist()
    assert [list(row) for row in answers[0].history][-1][-1] == "log_likelihood_per_token"
    assert "log_likelihood_per_token" not in answers[0].history[0]


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_topics_that_are_known_are_found(threads: int) -> None:
    """A topic has words to itself here; the best chain's likelihood is as high as that of the true topics."""
    document, word, topic = corpus(documents=200, words=40, length=40, topics=TOPICS)
    graph = gl.Graph.from_edges(document, word, bipartite=True)
    found = [
        gl.lda(graph, topics=TOPICS, iterations=40, sampler="gibbs", threads=threads, seed=seed).history[-1]
        for seed in range(3)  # one chain in ten ends with two topics in one
    ]
    mix, spread = np.full((200, TOPICS), 0.1), np.full((40, TOPICS), 0.01)
    np.add.at(mix, (document, topic), 1.0)
    np.add.at(spread, (word, topic), 1.0)
    mix, spread = mix / mix.sum(axis=1, keepdims=True), spread / spread.sum(axis=0)
    true = np.log((mix[document] * spread[word]).sum(axis=1)).mean()
    assert max(row["log_likelihood_per_token"] for row in found) > true - 0.02


def test_it_goes_on_from_a_model_with_a_prior_for_each_topic() -> None:
    graph = gl.Graph.from_edges(DOCUMENT, WORD, bipartite=True)
    options: dict[str, Any] = {"sampler": "gibbs", "threads": 1}
    model = gl.TopicModel.of(
        graph, gl.lda(graph, topics=TOPICS, doc_topic_prior=ALPHA, iterations=20, **options)
    )
    further = gl.lda(graph, model=model, iterations=2, evaluate_every=2, **options)
    assert further.metrics["figures"]["doc_topic_prior"] == list(ALPHA)
    begun = gl.lda(graph, topics=TOPICS, iterations=2, evaluate_every=2, **options)
    reached = [r.metrics["figures"]["log_likelihood_per_token"] for r in (further, begun)]
    assert reached[0] > reached[1] + 0.05


@pytest.mark.parametrize("option", [{"mh_steps": 2}, {"optimise_priors": 1}])
def test_options_of_the_other_sampler_are_refused(option: dict[str, int]) -> None:
    graph = gl.Graph.from_edges(DOCUMENT, WORD, bipartite=True)
    with pytest.raises(gl.UsageError, match=r"=\d is for sampler='metropolis-hastings', not for"):
        gl.lda(graph, topics=2, iterations=5, sampler="gibbs", **option)
