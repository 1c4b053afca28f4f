"""gl.TopicModel: of a run, in a file, and the topics of new documents, on any ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import gaslab as gl
from benchmarks.quality import Halves, completion, fitted_mixes
from examples.lda import corpus
from gaslab.parallel.comm import Comm, world
from gaslab.topics.holdout import hold_out
from tests.mpi.ranks import Ranks

TOPICS = 4
SAMPLER = "metropolis-hastings"  # one chain on any ranks
DOCUMENT, WORD, _ = corpus(documents=60, words=40, length=20, topics=TOPICS)
NAMES = np.array([f"w{word:02d}" for word in range(40)], object)
COUNTS = np.zeros((60, 40), np.int64)
np.add.at(COUNTS, (DOCUMENT, WORD), 1)


def of_words(comm: Comm) -> gl.Graph:
    return gl.Graph.from_edges(DOCUMENT, NAMES[WORD], bipartite=True, comm=comm)


def learned(comm: Comm, on: str = "all") -> tuple[gl.Graph, gl.Result, gl.TopicModel]:
    graph = of_words(comm)
    result = gl.lda(graph, topics=TOPICS, iterations=2, evaluate_every=1, seed=3, on=on, sampler=SAMPLER)
    return graph, result, gl.TopicModel.of(graph, result)


def content(model: gl.TopicModel) -> list[Any]:
    return [
        model.counts.tolist(), model.words.tolist(), model.doc_topic_prior.tolist(), model.topic_word_prior,
        model.sampler, model.iterations, model.tokens, model.seed,
        [row["iteration"] for row in model.history],
    ]  # fmt: skip


def on_every_way(comm: Comm, folder: Path) -> list[Any]:
    """Return the models that ranks have of answers anywhere, of a file too, and what these do."""
    models = [learned(comm, on)[2] for on in ("root", "local")]
    models[0].save(folder / f"{comm.size}.npz", force=True, comm=comm)
    models.append(gl.TopicModel.load(folder / f"{comm.size}.npz", comm=comm))
    model = models[-1]
    new = gl.corpus_from(
        scipy.sparse.csr_array(COUNTS[:9]), vocabulary=NAMES.tolist(), strategy="random", comm=comm
    )
    table = model.transform(new)
    places = {on: model.transform(new, on=on) for on in ("root", "local")}
    rows = [len(one) for one in places.values()]
    assert places["local"]["probability"].shape == (rows[1], TOPICS)
    assert sum(comm.allgather(rows[1])) == 9
    assert rows[0] == (9 if comm.rank == 0 else 0)
    tokens = of_words(comm)
    drawn = np.stack([*tokens.edges(), model.draw(tokens, seed=2)])
    drawn = np.concatenate([part.reshape(3, -1) for part in comm.allgather_array(drawn.reshape(-1))], axis=1)
    again = gl.lda(tokens, model=model, iterations=1, seed=1)
    return [
        [content(one) for one in models], table.ids.tolist(), table["probability"].tobytes(),
        sorted(map(tuple, drawn.T.tolist())), content(gl.TopicModel.of(tokens, again)),
        model.transform(gl.corpus_from(["", ""], comm=comm))["probability"].tolist(),
    ]  # fmt: skip


@pytest.mark.slow
def test_models_and_what_they_do_are_the_same_on_any_ranks(ranks: Ranks, tmp_path: Path) -> None:
    alone = on_every_way(world(), tmp_path)
    assert all(one == alone[0][0] for one in alone[0])
    for found in ranks.run(on_every_way, tmp_path):
        assert found == alone
    *_, iterations, tokens, seed, history = alone[0][0]
    assert (iterations, tokens, seed, history) == (2, DOCUMENT.size, 3, [1, 2])
    *_, iterations, tokens, seed, history = alone[-2]
    assert (iterations, tokens, seed, history) == (3, DOCUMENT.size, 1, [1, 2, 3])


def test_a_model_has_the_counts_and_probabilities_of_the_result() -> None:
    graph, result, model = learned(world())
    assert repr(model) == "<TopicModel: 4 topics, 40 words, 1,200 tokens>"
    np.testing.assert_allclose(model.topic_word, result.tables["topic_word"]["probability"], rtol=1e-14)
    np.testing.assert_allclose(model.topic_word.sum(axis=0), 1.0, rtol=1e-12)
    other = gl.Graph.from_edges([0], ["w00"], bipartite=True)
    with pytest.raises(gl.UsageError, match="the result belongs to another graph"):
        gl.TopicModel.of(other, result)
    with pytest.raises(gl.UsageError, match=r"is not a result of gaslab\.lda"):
        gl.TopicModel.of(graph, gl.degrees(graph))
    with pytest.raises(gl.UsageError, match="the model has 4"):
        gl.lda(graph, topics=5, model=model)


def test_new_documents_have_the_mixtures_of_the_benchmark() -> None:
    """Bit for bit the same beside other documents, and whatever the threads."""
    model = learned(world())[2]
    expected = fitted_mixes(scipy.sparse.csr_matrix(COUNTS), model.topic_word, 0.1, 30)
    found = model.transform(of_words(world()))["probability"]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    few = gl.corpus_from(scipy.sparse.csr_array(COUNTS[[7, 7, 3]]), vocabulary=NAMES.tolist())
    for threads in (1, 3):
        assert np.array_equal(model.transform(few, threads=threads)["probability"], found[[7, 7, 3]])
    prior = [0.1, 0.2, 0.3, 0.4]
    skewed = gl.TopicModel(model.counts, model.words, doc_topic_prior=prior, topic_word_prior=0.01)
    text = gl.corpus_from(["w00 new new", "new", "w00"])
    with pytest.warns(UserWarning, match="^1 words of the corpus are not in the model; their 3 tokens are"):
        mixes = skewed.transform(text)["probability"]
    assert mixes[1].tolist() == prior
    assert skewed.transform(gl.corpus_from(["", "!"]))["probability"].tolist() == [prior, prior]
    assert np.array_equal(mixes[0], mixes[2])
    with pytest.raises(gl.UsageError, match=r"words of the corpus are numbers.*those of the model texts"):
        model.transform(gl.Graph.from_edges([0], [1], bipartite=True))
    with pytest.raises(gl.UsageError, match="bipartite"):
        model.transform(gl.Graph.from_edges(["a"], ["w00"]))


@pytest.mark.slow
def test_a_resumed_chain_is_as_far_as_a_long_one() -> None:
    document, word, _ = corpus(documents=200, words=200, length=60, topics=10)
    graph = gl.Graph.from_edges(document, word, bipartite=True)
    options: dict[str, Any] = {"evaluate_every": 1, "seed": 3}
    long, half = (gl.lda(graph, topics=10, iterations=n, **options) for n in (60, 30))
    resumed = gl.lda(graph, model=gl.TopicModel.of(graph, half), iterations=30, **options)
    last = [run.history[-1]["log_likelihood_per_token"] for run in (half, long, resumed)]
    assert resumed.history[0]["log_likelihood_per_token"] > last[0] - 0.02
    assert last[2] > last[1] - 0.05


def test_a_model_of_other_words_is_not_resumed() -> None:
    model = gl.TopicModel([[9, 0], [0, 9]], ["cat", "bank"], doc_topic_prior=0.5, topic_word_prior=0.5)
    with pytest.raises(gl.UsageError, match="the model and the corpus have no word in common"):
        gl.lda(gl.corpus_from(["dog dog", "bond"]), model=model, iterations=1)
    with pytest.raises(gl.UsageError, match=r"corpus=\['dog'\]: .*as gaslab.corpus_from makes one"):
        model.transform(["dog"])


def scored(comm: Comm) -> list[Any]:
    held = hold_out(of_words(comm), 0.2, seed=5)
    counts = np.arange(held.train.num_vertices - (held.train.num_left or 0))[:, None] % [3, 5, 7] * 2
    ids = held.train.ids.lookup(np.arange(held.train.num_left or 0, held.train.num_vertices))
    model = gl.TopicModel(counts, ids, doc_topic_prior=0.1, topic_word_prior=0.01)
    halves = []
    for half in (held._first, held._second):
        names = held._corpus.ids.lookup(half.word).tolist()
        rows = np.stack([half.number[half.owners()], [int(name[1:]) for name in names], half.count])
        parts = comm.allgather_array(np.ascontiguousarray(rows, np.int64).reshape(-1))
        halves.append(np.concatenate([part.reshape(3, -1) for part in parts], axis=1).tolist())
    return [
        held.documents,
        held.tokens,
        held.train.num_left,
        halves,
        held.score(model),
        model.topic_word.tolist(),
    ]


def test_held_out_documents_are_completed_as_the_benchmark_completes_them(ranks: Ranks) -> None:
    alone = scored(world())
    assert all(found == alone for found in ranks.run(scored))
    documents, tokens, train, halves, score, topics = alone
    first, second = (
        scipy.sparse.csr_matrix((rows[2], (rows[0], rows[1])), shape=(60, 40)) for rows in halves
    )  # fmt: skip
    assert (documents, train, tokens) == (12, 48, second.sum())
    assert ((first + second).toarray()[np.unique(halves[0][0])] == COUNTS[np.unique(halves[0][0])]).all()
    assert set((first - second).sum(axis=1).A1.tolist()) <= {0, 1}
    assert score == pytest.approx(completion(Halves(first, first, second), np.array(topics), 0.1), rel=1e-12)
    with pytest.raises(gl.UsageError, match="fraction=1e-05 of 60 documents is 0"):
        hold_out(of_words(world()), 1e-5)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"counts": [[1, -1]]}, r"counts\[0, 1\] is -1"),
    ({"counts": [[1.0, np.nan]]}, r"counts\[0, 1\] is nan"),
    ({"counts": [1, 2]}, r"counts have shape \(2,\)"),
    ({"words": ["a", "b"]}, "2 words, and counts of 1"),
    ({"counts": [[1], [1]], "words": ["a", "a"]}, "the word 'a' is there twice"),
    ({"words": [1.5]}, "all str or all int"),
    ({"doc_topic_prior": np.nan}, "doc_topic_prior=nan"),
    ({"doc_topic_prior": [0.1, 0.1, 0.1]}, r"doc_topic_prior has the shape \(3,\)"),
    ({"topic_word_prior": 0}, "topic_word_prior=0"),
    ({"sampler": "gibs"}, "sampler='gibs' is unknown; did you mean 'gibbs'"),
    ({"tokens": 7}, "tokens=7: the sum of counts is 3"),
    ({"history": [{"iteration": 1}]}, "a row has iteration"),
]


@pytest.mark.parametrize(("changed", "said"), BAD)
def test_what_no_model_has_is_named(changed: dict[str, Any], said: str) -> None:
    arguments = {
        "counts": [[1, 2]],
        "words": ["a"],
        "doc_topic_prior": 0.1,
        "topic_word_prior": 0.1,
        **changed,
    }
    with pytest.raises(gl.UsageError, match=said):
        gl.TopicModel(**arguments)
