"""gl.lda: the same chain everywhere, counts that are the tokens', topics that are known found again."""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import gaslab as gl
from examples.lda import corpus
from gaslab.parallel.comm import Comm, world
from gaslab.programs.lda import _tokens
from tests.mpi.ranks import Ranks
from tests.support.command_line import Run, gaslab
from tests.support.strategies import STRATEGIES

__all__ = ["gaslab"]

TOPICS, SWEEPS = 4, 4
MH = "metropolis-hastings"  # one chain on any ranks
DOCUMENT, WORD, TOPIC = corpus(documents=60, words=40, length=20, topics=TOPICS)


def summary(result: gl.Result) -> dict[str, Any]:
    return {
        "counts": result.vertices["counts"].tolist(),
        "probability": result.vertices["probability"],
        "likelihood": [x for row in result.history if (x := row.get("log_likelihood_per_token")) is not None],
        "tokens": result.aggregates["tokens"].counts.tolist(),
        "figures": sorted(result.metrics["figures"]),
        "end": (result.iterations, result.converged, result.metrics["iterations"]),
    }


def fitted(comm: Comm, strategy: str = "random", **options: Any) -> dict[str, Any]:
    graph = gl.Graph.from_edges(DOCUMENT, WORD, bipartite=True, strategy=strategy, comm=comm)
    options = {"sampler": MH, "evaluate_every": 1, **options}
    return summary(gl.lda(graph, topics=TOPICS, iterations=SWEEPS, seed=3, **options))


@functools.cache
def alone() -> dict[str, Any]:
    return fitted(world())


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    for name in ("counts", "tokens", "figures", "end"):
        assert one[name] == other[name], name
    assert np.array_equal(one["probability"], other["probability"])
    assert one["likelihood"] == pytest.approx(other["likelihood"], rel=1e-12)


def in_every_way(comm: Comm) -> list[dict[str, Any]]:
    ways: list[dict[str, Any]] = [{"threads": 1}, {"threads": 2}, {"compile": "never"}]
    return [fitted(comm, **way) for way in ways] + [fitted(comm, strategy) for strategy in STRATEGIES]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gaslab.PerformanceWarning")
def test_the_chain_is_the_same_on_any_ranks_threads_and_cuts(ranks: Ranks) -> None:
    for found in ranks.run(in_every_way)[0]:
        same(found, alone())


@pytest.mark.slow
def test_the_chain_is_the_reference_engine_s() -> None:
    same(fitted(world(), engine="reference"), alone())


def test_counts_are_the_tokens_and_probabilities_sum_to_1() -> None:
    found = alone()
    counts = np.array(found["counts"])
    documents, words = counts[:60], counts[60:]
    assert documents.sum(axis=1).tolist() == np.bincount(DOCUMENT).tolist()
    assert words.sum(axis=1).tolist() == np.bincount(WORD).tolist()
    assert documents.sum(axis=0).tolist() == found["tokens"]
    np.testing.assert_allclose(found["probability"][:60].sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(found["probability"][60:].sum(axis=0), 1.0, rtol=1e-12)
    assert found["end"] == (SWEEPS, True, SWEEPS)
    assert found["figures"] == [
        "cpu_seconds", "doc_topic_prior", "log_likelihood_per_token", "sampler", "tokens",
        "tokens_per_cpu_second", "topic_word_prior",
    ]  # fmt: skip


@pytest.mark.slow
def test_known_topics_are_found_again() -> None:
    """Of several chains, one with two topics in one: the likeliest has each apart."""
    document, word, topic = corpus(documents=300, words=200, length=60, topics=10)
    graph = gl.Graph.from_edges(document, word, bipartite=True)
    chains = [
        gl.lda(graph, topics=10, iterations=60, evaluate_every=1, seed=seed, threads=1) for seed in range(4)
    ]
    likelihood = [[row["log_likelihood_per_token"] for row in chain.history] for chain in chains]
    best = max(range(4), key=lambda chain: likelihood[chain][-1])
    found = chains[best].tables["topic_word"]["probability"].T
    known = np.zeros((10, 200))
    known[np.arange(200) % 10, np.arange(200)] = 1 / 20
    cosine = (found @ known.T) / np.outer(*(np.linalg.norm(x, axis=1) for x in (found, known)))
    assert cosine[linear_sum_assignment(-cosine)].mean() > 0.95
    mixes = np.zeros((300, 10))
    np.add.at(mixes, (document, topic), 1 / 60)
    assert likelihood[best][-1] > likelihood[best][0] + 0.3
    assert likelihood[best][-1] == pytest.approx(np.log(mixes[document, topic] / 20).mean(), abs=0.05)


def test_the_likelihood_is_that_of_the_tables() -> None:
    graph = gl.Graph.from_edges(DOCUMENT, WORD, bipartite=True)
    for topics in (3, 50):
        result = gl.lda(graph, topics=topics, iterations=3)
        mix, spread = (result.tables[name]["probability"] for name in ("document_topic", "topic_word"))
        found = np.log((mix[DOCUMENT] * spread[WORD]).sum(axis=1)).mean()
        assert result.history[-1]["log_likelihood_per_token"] == pytest.approx(found, rel=1e-7)


def test_the_last_sweep_is_among_those_with_a_likelihood() -> None:
    graph = gl.Graph.from_edges(DOCUMENT, WORD, bipartite=True)
    every = gl.lda(graph, topics=TOPICS, iterations=6, evaluate_every=1, seed=3)
    for asked, sweeps in ((4, [6]), (1000, [6]), (2, [2, 4, 6])):  # no more often than asked
        seldom = gl.lda(graph, topics=TOPICS, iterations=6, evaluate_every=asked, seed=3)
        assert np.array_equal(seldom.vertices["counts"], every.vertices["counts"])
        rows = [row for row in seldom.history if "log_likelihood_per_token" in row]
        assert [row["iteration"] for row in rows] == sweeps
        for row in rows:
            assert row["log_likelihood_per_token"] == pytest.approx(
                every.history[row["iteration"] - 1]["log_likelihood_per_token"], rel=1e-12
            )
        assert seldom.metrics["figures"]["log_likelihood_per_token"] == rows[-1]["log_likelihood_per_token"]
    with pytest.raises(gl.UsageError, match="evaluate_every=0"):
        gl.lda(graph, evaluate_every=0)


def test_an_undirected_graph_has_the_same_chain() -> None:
    graphs = [
        gl.Graph.from_edges(DOCUMENT, WORD, bipartite=True, directed=directed) for directed in (True, False)
    ]
    one, other = (gl.lda(graph, topics=TOPICS, iterations=3, seed=5, sampler=MH) for graph in graphs)
    assert one.vertices["counts"].tolist() == other.vertices["counts"].tolist()


def test_columns_with_the_names_of_the_program_s_own_fields_are_left_alone() -> None:
    columns = {"_topic": np.full(DOCUMENT.size, 99), "_proposal": np.full(DOCUMENT.size, 99)}
    graph = gl.Graph.from_edges(DOCUMENT, WORD, columns=columns, bipartite=True, comm=world())
    result = gl.lda(graph, topics=TOPICS, iterations=SWEEPS, seed=3, sampler=MH)
    assert result.vertices["counts"].tolist() == alone()["counts"]


def merged(comm: Comm) -> list[Any]:
    """Return the chain of tokens, and that of pairs with how often each is there, under several names."""
    pairs, counts = np.unique(np.stack([DOCUMENT, WORD]), axis=1, return_counts=True)
    found = []
    for name in ("count", "weight", "times"):
        columns = {name: counts.astype(float) if name == "weight" else counts}
        graph = gl.Graph.from_edges(*pairs, columns=columns, bipartite=True, comm=comm)
        option: dict[str, Any] = {"count": name} if name == "times" else {}
        result = gl.lda(graph, topics=TOPICS, iterations=2, seed=3, **option)
        assert set(result.metrics["seconds"]) >= {"load", "partition", "build", "compute"}
        found.append((result.metrics["figures"]["tokens"], result.vertices["counts"].tolist()))
    graph = gl.Graph.from_edges(DOCUMENT, WORD, bipartite=True, comm=comm)
    result = gl.lda(graph, topics=TOPICS, iterations=2, seed=3)
    return [*found, (DOCUMENT.size, result.vertices["counts"].tolist())]


@pytest.mark.slow
def test_a_count_is_so_many_tokens(ranks: Ranks) -> None:
    *found, expected = ranks.run(merged)[0]
    assert found == [expected] * 3


def places(comm: Comm) -> list[Any]:
    graph = gl.Graph.from_edges(DOCUMENT, WORD, bipartite=True, comm=comm)
    found = []
    for on in ("root", "local"):
        result = gl.lda(graph, topics=3, iterations=2, seed=3, on=on)
        tables = [result.tables[name] for name in ("document_topic", "topic_word")]
        found.append([len(table) for table in tables])
        assert all(table["probability"].shape == (len(table), 3) for table in tables)
    return found


@pytest.mark.slow
def test_tables_are_where_the_answer_goes(ranks: Ranks) -> None:
    found = ranks.run(places)
    assert [root for root, _ in found] == [[60, 40]] + [[0, 0]] * (len(found) - 1)
    assert np.sum([local for _, local in found], axis=0).tolist() == [60, 40]


def test_documents_without_words_and_words_without_documents_have_the_prior() -> None:
    graph = gl.Graph.from_edges([0, 1, 1], [5, 5, 5], bipartite=True, vertices=([0, 1, 2], [5, 6]))
    result = gl.lda(graph, topics=4, doc_topic_prior=0.5, topic_word_prior=0.25, iterations=3)
    document_topic, topic_word = (result.tables[n] for n in ("document_topic", "topic_word"))
    assert document_topic.ids.tolist() == [0, 1, 2]
    assert topic_word.ids.tolist() == [5, 6]
    assert document_topic["probability"][2].tolist() == [0.25] * 4
    total = result.vertices.side(1)["counts"].sum(axis=0)
    np.testing.assert_allclose(topic_word["probability"][1], 0.25 / (total + 2 * 0.25))


@pytest.mark.slow
def test_one_topic_and_more_topics_than_tokens() -> None:
    graph = gl.Graph.from_edges([0, 1], [0, 0], bipartite=True)
    one = gl.lda(graph, topics=1, iterations=1)
    assert one.history[-1]["log_likelihood_per_token"] == pytest.approx(0.0, abs=1e-7)
    assert one.tables["topic_word"]["probability"].tolist() == [[1.0]]
    many = gl.lda(graph, topics=300, iterations=2)
    assert many.aggregates["tokens"].counts.sum() == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"topics": 0}, "topics=0"),
        ({"topics": 65537}, "topics=65537"),
        ({"doc_topic_prior": 0.0}, r"doc_topic_prior=0\.0.*0\.1 is usual"),
        ({"topic_word_prior": -1.0}, r"topic_word_prior=-1\.0.*0\.01 is usual"),
        ({"topic_word_prior": float("nan")}, "topic_word_prior=nan"),
        ({"iterations": 0}, "iterations=0"),
        ({"doc_topic_prior": [0.1] * 3}, r"doc_topic_prior=\[0\.1, .*: 20 numbers are needed"),
        ({"doc_topic_prior": [0.1, -1.0], "topics": 2}, r"doc_topic_prior\[1\]=-1\.0.*0\.1 is usual"),
        ({"sampler": "gibs"}, "sampler='gibs' is unknown; did you mean 'gibbs'"),
        ({"mh_steps": 65}, "mh_steps=65"),
        ({"sampler": "gibbs", "mh_steps": 2}, "mh_steps=2 is for sampler='metropolis-hastings'"),
        ({"optimise_priors": 6, "iterations": 5}, "optimise_priors=6"),
        ({"optimise_priors": 2, "topic_word_prior": 1e-31}, r"topic_word_prior=1e-31.*1e-30"),
        ({"optimise_priors": 2, "doc_topic_prior": 1e-31}, r"doc_topic_prior=1e-31.*1e-30"),
        ({"burn_in": 5, "iterations": 5}, "burn_in=5"),
        ({"sample_every": 0}, "sample_every=0"),
        ({"sample_every": 2}, "sample_every=2: without burn_in=N no sweeps are averaged; add it"),
        ({"count": "times"}, "count='times' is not an edge column"),
        ({"max_iterations": 5}, r"^lda runs a fixed number of sweeps: use iterations=, not max_iterations="),
        ({"engine": "async"}, "^lda runs with engine='sync' or 'reference', not engine='async'"),
        (
            {"engine": gl.Stale(1)},
            "^lda runs with engine='sync' or 'reference', not engine='stale'",
        ),
        ({"init": {"counts": 0}}, r"lda\(\) sets init itself"),
        ({"start": [0]}, r"lda\(\) sets start itself"),
        ({"columns": {}}, r"lda\(\) sets columns itself"),
    ],
)
def test_bad_arguments_are_named(options: dict[str, Any], said: str) -> None:
    graph = gl.Graph.from_edges([0, 1], [0, 0], bipartite=True)
    with pytest.raises(gl.UsageError, match=said):
        gl.lda(graph, **options)


def test_bad_graphs_are_named() -> None:
    with pytest.raises(gl.UsageError, match=r"^lda needs a bipartite graph"):
        gl.lda(gl.Graph.from_edges([0], [1]))
    half = gl.Graph.from_edges([0], [1], columns={"count": [0.5]}, bipartite=True)
    with pytest.raises(gl.UsageError, match=r"^edge column 'count' is 0\.5 on the edge 0 \(left\) -> 1 \(ri"):
        gl.lda(half)
    empty = gl.Graph.from_edges([0], [1], columns={"count": [0]}, bipartite=True)
    with pytest.raises(gl.UsageError, match=r"^the graph has no tokens; count=.count. is 0 on all"):
        gl.lda(empty)
    with pytest.raises(gl.UsageError, match=r"^the graph has no tokens; pass one with an edge"):
        gl.lda(gl.Graph.from_edges([], [], bipartite=True, vertices=([0], [1])))


def test_the_count_is_the_only_field_or_is_named(gaslab: Run, tmp_path: Any) -> None:
    (tmp_path / "one.csv").write_text("doc,word,n\nd1,cat,3\nd1,dog,1\nd2,cat,2\n")
    (tmp_path / "two.csv").write_text("doc,word,n,page\nd1,cat,3,8\nd1,dog,1,9\nd2,cat,2,7\n")
    options = ("--topics", 2, "--iterations", 1)
    done = gaslab("lda", tmp_path / "one.csv", *options)
    assert "tokens: 6" in done.out
    assert "count = column 'n'" in done.err
    refused = gaslab("lda", tmp_path / "two.csv", *options)
    assert refused.code == 2
    assert "has the fields n, page; say which is the count, --column count=NAME" in refused.err
    assert "tokens: 24" in gaslab("lda", tmp_path / "two.csv", *options, "--column", "count=page").out
    lone = gaslab("lda", tmp_path / "two.csv", *options, "--column", "count=none")
    assert "tokens: 3" in lone.out
    assert "each line is one token" in lone.err
    (tmp_path / "plain.txt").write_text("d1 cat 3\nd1 dog 1\nd2 cat 2\n")
    assert "tokens: 6" in gaslab("lda", tmp_path / "plain.txt", *options).out
    assert "tokens: 3" in gaslab("lda", tmp_path / "plain.txt", *options, "--column", "count=none").out


def test_the_command(gaslab: Run, tmp_path: Any) -> None:
    rows = np.unique(np.stack([DOCUMENT, WORD]), axis=1, return_counts=True)
    lines = [f"{d} w{w} {n}\n" for (d, w), n in zip(rows[0].T.tolist(), rows[1].tolist(), strict=True)]
    (tmp_path / "corpus.txt").write_text("".join(lines))
    done = gaslab("lda", tmp_path / "corpus.txt", "--topics", TOPICS, "--iterations", 5, "--top", 3,
                  "--seed", 3, "--topic-word", tmp_path / "words.tsv", "--document-topic",
                  tmp_path / "documents.csv", "--json", tmp_path / "run.json", "--sampler",
                  "metropolis-hastings", "--doc-topic-prior", "0.1,0.2,0.1,0.1", "--topic-word-prior", 0.05,
                  "--optimise-priors", 2, "--mh-steps", 2, "--burn-in", 3)  # fmt: skip
    assert done.code == 0, done.err
    assert "5 sweeps on 1 rank" in done.err
    assert "not converged" not in done.err
    topics = [line for line in done.out.splitlines() if line.startswith("topic ")]
    assert len(topics) == TOPICS
    assert all(len(line.split()) == 3 + 3 for line in topics)
    assert f"tokens: {DOCUMENT.size}" in done.out
    report = json.loads((tmp_path / "run.json").read_text())
    assert report["tokens"] == DOCUMENT.size
    assert report["tokens_per_cpu_second"] == pytest.approx(5 * DOCUMENT.size / report["cpu_seconds"])
    assert report["sampler"] == "metropolis-hastings"
    assert len(set(report["doc_topic_prior"])) == TOPICS  # each moved
    assert report["topic_word_prior"] != 0.05
    assert report["iterations"] == len(report["history"]) == 5
    parameters = {"burn_in": 3, "sample_every": 1, "optimise_priors": 2, "evaluate_every": 10}
    assert {name: report["parameters"][name] for name in parameters} == parameters
    assert report["parameters"].keys().isdisjoint({"slots", "likelihood_every", "priors_every", "uniform"})
    assert report["log_likelihood_per_token"] == report["history"][-1]["log_likelihood_per_token"]
    words = np.array([line.split("\t")[1:] for line in (tmp_path / "words.tsv").read_text().splitlines()])
    np.testing.assert_allclose(words.astype(float).sum(axis=0), 1.0)
    head, *rows_of = (tmp_path / "documents.csv").read_text().splitlines()
    assert head == "id," + ",".join(f"probability[{k}]" for k in range(TOPICS))
    assert len(rows_of) == 60
    both = tmp_path / "x.tsv"
    clash = gaslab("lda", tmp_path / "corpus.txt", "--topic-word", both, "-o", both)
    assert clash.code == 2
    assert "--output and --topic-word both write" in clash.err


def test_priors_of_the_least_size_move() -> None:
    rng = np.random.default_rng(0)
    graph = gl.Graph.from_edges(rng.integers(0, 30, 500), rng.integers(0, 40, 500), bipartite=True)
    least = {"doc_topic_prior": 1e-30, "topic_word_prior": 1e-30}
    moved = gl.lda(graph, topics=3, iterations=12, optimise_priors=2, **least).metrics["figures"]
    assert 1e-5 <= moved["topic_word_prior"] <= 1e5
    assert all(1e-5 <= prior <= 1e5 for prior in moved["doc_topic_prior"])


def test_a_run_keeps_no_count_beside_each_token() -> None:
    graph = gl.Graph.from_edges(
        [0, 0, 1], [0, 1, 1], columns={"count": [3, 1, 2], "page": [1, 2, 3]}, bipartite=True
    )
    tokens = _tokens(graph, "auto")
    assert tokens.num_edges == 6
    assert tokens.edge_columns.keys() == {"page"}
    assert graph.edge_columns.keys() == {"count", "page"}
