"""`TopicModel`: the topics that `gaslab.lda` found, to be kept in a file and used on further documents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import gaslab as gl
from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.parallel import launch
from gaslab.parallel.collective import collective
from gaslab.parallel.comm import Comm, as_comm
from gaslab.programs._samplers import NAMES
from gaslab.results.collect import rows_by_id
from gaslab.results.tables import Table, objects
from gaslab.system.atomic_writes import write_bytes
from gaslab.system.outputs import Output
from gaslab.topics import model_file
from gaslab.topics.continued import drawn_topics
from gaslab.topics.counts import TopicCounts
from gaslab.topics.documents import CORPUS, documents_of
from gaslab.topics.foldin import ITERATIONS, Laid, known_words, rows_of_words

MOST_STEPS = 1 << 20
SETTINGS = ("topic_word_prior", "sampler", "iterations", "tokens", "seed", "history")
LIKELIHOOD = "log_likelihood_per_token"


class TopicModel(TopicCounts):
    """A fitted topic model: token counts of words by topic, and the settings they were found with.

    Every rank has the whole model. Do not change the arrays.

    Parameters
    ----------
    counts : array of shape (words, topics)
        Token counts of each word in each topic: int64, or float64 for averaged samples.
    words : sequence of str or of int
        The ids of the words, all distinct.
    doc_topic_prior : float or array of shape (topics,)
        Dirichlet prior of each topic in a document, 1e-100 to 1e9.
    topic_word_prior : float
        Dirichlet prior of each word in a topic, 1e-100 to 1e9.
    sampler : str
        The sampler of `gaslab.lda` that ran; "auto" if unknown.
    iterations, seed : int
        Its number of sweeps, and its seed.
    tokens : int, optional
        Number of tokens in the corpus: the sum of *counts*.
    history : iterable of mappings
        ``iteration`` and ``log_likelihood_per_token`` of the evaluated sweeps.

    Attributes
    ----------
    counts, words, doc_topic_prior, topic_word_prior, sampler, iterations, tokens, seed, history
        As above; *words* is an array of int64 or an object array of str, *doc_topic_prior* float64 of shape
        (topics,).
    num_topics, num_words : int
    topic_word : float64 array of shape (words, topics)
        The probability of each word in each topic; each column sums to 1.

    Raises
    ------
    UsageError
        A value is invalid.

    Examples
    --------
    >>> import gaslab as gl, os, tempfile
    >>> corpus = gl.corpus_from(["cat dog cat cat", "bond bank bond", "dog cat"])
    >>> model = gl.TopicModel.of(corpus, gl.lda(corpus, topics=2, iterations=20, seed=1))
    >>> model
    <TopicModel: 2 topics, 4 words, 9 tokens>
    >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
    >>> model.save(path)
    >>> gl.TopicModel.load(path).words.tolist()
    ['bank', 'bond', 'cat', 'dog']
    """

    def __init__(
        self,
        counts: Any,
        words: Any,
        *,
        doc_topic_prior: Any,
        topic_word_prior: float,
        sampler: str = "auto",
        iterations: int = 0,
        tokens: int | None = None,
        seed: int = 0,
        history: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(counts, words, doc_topic_prior=doc_topic_prior, topic_word_prior=topic_word_prior)
        self.sampler = arguments.choice("sampler", sampler, NAMES)
        self.iterations = arguments.whole("iterations", iterations, 0)
        self.seed = arguments.whole("seed", seed)
        self.history = _history(history)
        total = float(self.topic_tokens.sum())
        self.tokens = arguments.whole("tokens", round(total) if tokens is None else tokens, 0)
        if not abs(total - self.tokens) <= (
            0 if self.counts.dtype.kind == "i" else 1e-6 * max(self.tokens, 1)
        ):
            raise UsageError(f"tokens={self.tokens}: the sum of counts is {total:.17g}")

    @classmethod
    @collective(name="TopicModel.of")
    def of(cls, graph: gl.Graph, result: gl.Result) -> TopicModel:
        """Return the model for a result of `gaslab.lda` on *graph*, on every rank (collective).

        Raises
        ------
        UsageError
            The result is from another program or graph; words are neither str nor int.
        """
        arguments.instance("graph", graph, gl.Graph, arguments.GRAPH)
        arguments.instance("result", result, gl.Result, "a result of gaslab.lda")
        if "topic_word" not in result.tables:
            raise UsageError(f"result={result!r} is not a result of gaslab.lda")
        if result.fingerprint != graph.fingerprint:
            raise UsageError("the result belongs to another graph; pass the graph given to gaslab.lda")
        counts, words = _gathered(graph.comm, result.vertices.side(1), result.on)
        return cls(counts, words, **_settings(result))

    def recounted(self, counts: np.ndarray, words: Any = None) -> TopicModel:
        """Return this model with other counts; *words*, if given, are new names of the same words."""
        names = ("doc_topic_prior", "topic_word_prior", "sampler", "iterations", "seed", "history")
        settings = {name: getattr(self, name) for name in names}
        return TopicModel(counts, self.words if words is None else words, **settings)

    @collective(name="transform")
    def transform(
        self,
        corpus: gl.Graph,
        *,
        iterations: int = ITERATIONS,
        count: str | None = "auto",
        threads: int | None = None,
        on: str = "all",
    ) -> Table:
        """Infer the topics of documents with the topics of the model held fixed (collective).

        Each document is treated separately: its mixture is found by expectation maximisation under the prior,
        without random numbers, so the same document has the same row, bit for bit, among any other documents
        and on any number of ranks.

        Parameters
        ----------
        corpus : Graph
            Bipartite, as for `gaslab.lda`, with words named as in the model. Words that are not in the model
            are left out, with one warning that counts them.
        iterations : int
            Number of steps, at least 1.
        count : str, optional
            As for `gaslab.lda`.
        threads : int, optional
            Threads per rank.
        on : {"all", "root", "local"}
            Which ranks get the answer, as for `gaslab.run`.

        Returns
        -------
        Table
            A row for each document, by id: ``probability`` (float64, a vector of length *num_topics*), which
            sums to 1. A document without words of the model gets the mean of the prior.

        Raises
        ------
        UsageError
            The graph is not bipartite, a count is not a whole number, or the words of the corpus are numbers
            and those of the model are text.

        Examples
        --------
        >>> import gaslab as gl
        >>> counts, words = [[9, 0], [0, 9]], ["cat", "bank"]
        >>> model = gl.TopicModel(counts, words, doc_topic_prior=0.5, topic_word_prior=0.5)
        >>> model.transform(gl.corpus_from(["cat cat", "bank cat"]))["probability"].round(2)
        array([[0.83, 0.17],
               [0.5 , 0.5 ]])

        References
        ----------
        Wallach, Murray, Salakhutdinov, Mimno: Evaluation Methods for Topic Models. ICML 2009.
        """
        arguments.instance("corpus", corpus, gl.Graph, CORPUS)
        iterations = arguments.whole("iterations", iterations, 1, MOST_STEPS)
        threads, on = arguments.threads(threads), arguments.choice("on", on, arguments.PLACES)
        threads = launch.choose_threads(threads, corpus.comm.local_ranks, corpus.comm.rank)
        documents = documents_of(corpus, count)
        row = rows_of_words(self, corpus)
        documents = documents.kept(known_words(corpus, documents, row))
        laid = Laid.out(self, documents, row[documents.word - (corpus.ids.num_left or 0)])
        mixes = np.ascontiguousarray(laid.mixtures(iterations, threads)[:, : self.num_topics])
        return rows_by_id(corpus, documents.number, {"probability": mixes}, on)

    @collective(name="draw")
    def draw(self, tokens: gl.Graph, *, seed: int = 0) -> np.ndarray:
        """Draw a topic (int32) for each edge of this rank, where every edge is a token (collective).

        A token of word w in document d has topic k with a probability proportional to theta[d, k] phi[w, k]:
        the document's mixture, as from `transform`, and the topics of the model. For a word that is not in
        the model, it is the mixture. The draws are the same on any number of ranks and under any cut.
        """
        arguments.instance("tokens", tokens, gl.Graph, arguments.GRAPH)
        return drawn_topics(self, tokens, arguments.whole("seed", seed))

    @collective(exempt=("self",), name="save")
    def save(self, path: str | os.PathLike[str], *, force: bool = False, comm: Any = None) -> None:
        """Write the model to an ``.npz`` file, whole or not at all (collective).

        Parameters
        ----------
        path : path
            The file name, which ends in ``.npz``.
        force : bool
            Whether to replace an existing file.
        comm : Comm or mpi4py communicator, optional
            The ranks, of which rank 0 writes; all of them by default.
        """
        path, force = arguments.path("path", path), arguments.flag("force", force)
        model_file.check_name("path", os.fspath(path))
        as_comm(comm).on_root(lambda: self._checked(Output(path, force, way="force=True")))

    def _checked(self, output: Output) -> None:
        output.check()
        self.write(output)

    def write(self, output: Output) -> None:
        """Write the model (not collective)."""
        settings = {name: getattr(self, name) for name in SETTINGS}
        write_bytes(output, model_file.packed(self, settings))

    @classmethod
    @collective(name="TopicModel.load")
    def load(cls, path: str | os.PathLike[str], *, comm: Any = None) -> TopicModel:
        """Load a model from a file (collective): one rank reads it, every rank gets the whole model.

        Raises
        ------
        InputError
            The file does not exist or is not a model; the error names what is wrong.
        """
        named: str = arguments.path("path", path)
        comm = as_comm(comm)
        content = model_file.content(named, comm)
        return comm.attempt(lambda: model_file.made(cls, named, content, SETTINGS))  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<TopicModel: {self.num_topics:,} topics, {self.num_words:,} words, {self.tokens:,} tokens>"

    def __fingerprint__(self) -> Any:
        settings = [getattr(self, name) for name in SETTINGS]
        return [self.counts, self.words, self.doc_topic_prior, settings]


def _history(history: Any) -> list[dict[str, Any]]:
    found = []
    for row in arguments.several("history", history, "rows of iteration and likelihood"):
        if not isinstance(row, Mapping) or not {"iteration", LIKELIHOOD} <= row.keys():
            raise arguments.wrong("history", row, f"a row has iteration and {LIKELIHOOD}")
        likelihood = arguments.number(LIKELIHOOD, row[LIKELIHOOD])
        found.append({"iteration": arguments.whole("iteration", row["iteration"], 0), LIKELIHOOD: likelihood})
    return found


def _gathered(comm: Comm, table: Table, on: str) -> tuple[np.ndarray, Any]:
    """Return the counts and ids of all words, in the order of their ids, on every rank (collective)."""
    counts, words = table["counts"], table.ids
    if on == "all" or comm.size == 1:
        return counts, words
    topics = comm.allreduce(counts.shape[1] if counts.ndim == 2 else 0, "max")
    gids = np.concatenate(comm.allgather_array(table.global_ids["id"]))
    counts = np.concatenate(comm.allgather_array(np.ascontiguousarray(counts).reshape(-1))).reshape(
        -1, topics
    )
    ids = [one for part in comm.allgather(words.tolist()) for one in part]
    order = np.argsort(gids)
    return counts[order], objects(ids)[order]


def _settings(result: gl.Result) -> dict[str, Any]:
    """Return the settings of the model that a result of `gaslab.lda` is."""
    known = result.metrics["figures"]
    earlier = result.metrics.get("model", {"iterations": 0, "history": []})
    rows = [row for row in result.history if LIKELIHOOD in row]
    later = [{**row, "iteration": row["iteration"] + earlier["iterations"]} for row in rows]
    return {
        "doc_topic_prior": known["doc_topic_prior"],
        "topic_word_prior": known["topic_word_prior"],
        "sampler": known["sampler"],
        "iterations": result.iterations + earlier["iterations"],
        "tokens": known["tokens"],
        "seed": result.metrics["seed"],
        "history": [*earlier["history"], *later],
    }
