"""`gl.lda`: topics of documents by latent Dirichlet allocation, with a choice of samplers."""

from __future__ import annotations

import logging
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.graph.absent import warn_of_default, why_absent
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._lda_chain import check_one_run, run_chain
from gaslab.programs._lda_settings import SWEEPS, sampler_and_settings
from gaslab.programs._numpy import np
from gaslab.programs._samplers import Settings, stages
from gaslab.programs._sweeps import check_options
from gaslab.programs._tool import Command, Tool

log = logging.getLogger("gaslab")


@collective(options="run", own=("columns", "init", "start"))
def lda(
    graph: gl.Graph,
    *,
    topics: int | None = None,
    doc_topic_prior: Any = None,
    topic_word_prior: float | None = None,
    iterations: int = SWEEPS,
    sampler: str = "auto",
    anneal_sweeps: int | None = None,
    mh_sweeps: int = 0,
    mh_steps: int = 1,
    optimise_priors: int = 0,
    burn_in: int | None = None,
    sample_every: int = 1,
    evaluate_every: int = 10,
    count: str | None = "auto",
    model: gl.TopicModel | None = None,
    **options: Any,
) -> gl.Result:
    """Find topics in documents by latent Dirichlet allocation, ``result.tables["topic_word"]``.

    Parameters
    ----------
    graph : Graph
        Bipartite, documents on the left and words on the right. Documents and words without an edge are in
        the answer, with the probabilities of the prior alone.
    topics : int
        Number of topics, 1 to 65,536; by default 20, or that of *model*.
    doc_topic_prior : float or array of float
        Dirichlet prior of each topic in a document, 1e-100 to 1e9: one for all, or one for each; by default
        0.1, or that of *model*.
    topic_word_prior : float
        Dirichlet prior of each word in a topic, 1e-100 to 1e9; by default 0.01, or that of *model*.
    iterations : int
        Number of sweeps over all tokens, at least 1. After the last, the run is converged.
    sampler : {"auto", "gibbs", "metropolis-hastings"}
        How topics are drawn. "gibbs": by collapsed Gibbs sampling, token after token, exact on one rank and
        thread; in parallel the totals of topics are at most one round of `visit` old, and the chain is
        different. Its weights are float32, unless *precision* says otherwise or a prior is below 1e-9 or
        above 1e6. "metropolis-hastings": by the steps of WarpLDA, which use the counts of half a sweep ago;
        the chain is the same on any number of ranks and threads. It needs more sweeps, whose time hardly
        grows with the number of topics, and only it has *mh_steps* and *optimise_priors*. "auto" is the first
        for up to 500 topics without these options, or with *mh_sweeps*; otherwise the second.
    anneal_sweeps : int, optional
        Number of initial sweeps with a wider prior of words in a topic, 0 to *iterations* - 1: it is 0.1, or
        less if a corpus has few tokens per topic, but not below *topic_word_prior*. Chains then end at topics
        of higher likelihood. By default half of the sweeps, and all of *mh_sweeps*, but no more than
        *burn_in*, since counts are averaged after them; 0 with *model* and with *optimise_priors*, which
        moves that prior itself. The first sweep of "gibbs" only counts.
    mh_sweeps : int
        Number of initial sweeps by "metropolis-hastings", 0 to *iterations* - 1, before "gibbs" continues
        from its topics, which the first sweep of "gibbs" counts: on a large corpus this takes less time than
        "gibbs" alone. These sweeps may have *mh_steps* and *optimise_priors*; the priors stay as they leave
        them.
    mh_steps : int
        Metropolis-Hastings steps per token in each half of a sweep, 1 to 64; each takes two bytes of memory
        per token.
    optimise_priors : int
        Number of sweeps between updates of the priors by Minka's fixed point, with a separate prior in a
        document for each topic; 0: the priors stay as given. They start from 1e-30 or more, and are kept
        between 1e-5 and 1e5; those of the last sweep stay.
    burn_in : int, optional
        Average the counts over the sweeps after this many, 0 (with *mh_sweeps*: that many) to *iterations* -
        1; by default the counts are those of the last sweep alone.
    sample_every : int
        With *burn_in*: average every this many sweeps, at least 1, counted back from the last, which is
        always included.
    evaluate_every : int
        Number of sweeps between log-likelihoods, at least 1; computing one takes the time of a sweep if
        topics are many. It is rounded up to a divisor of *iterations*, so that the last sweep has one; with
        *mh_sweeps* separately for each sampler's sweeps.
    count : str, optional
        Edge column with the number of tokens of each edge, whole numbers; None: each edge is one token.
        "auto" is ``count``, else ``weight`` (the name of the third field of a text file), else None.
    model : TopicModel, optional
        A model to continue from, of this corpus or of another. It does not keep the topics of tokens: they
        are drawn given the topics of the model, which is as good as a sweep, so the chain differs from that
        of one long run, but is as far along.
    **options
        As for `gaslab.run`, without ``max_iterations``, ``columns``, ``init`` and ``start``; ``engine`` is
        ``"sync"`` or ``"reference"``.

    Returns
    -------
    Result
        ``tables["topic_word"]`` has a row for each word, by id; its column ``probability`` (float64, a vector
        of length *topics*) is the probability of the word in each topic: it sums to 1 over the words.
        ``tables["document_topic"]`` has a row for each document: the probability of each topic in it, which
        sums to 1 over the topics. ``vertices`` has both as ``probability``, and the token counts by topic
        behind them as ``counts`` (a vector of length *topics*; int32, with *burn_in* float64); with
        "metropolis-hastings" the counts of words are half a sweep older. ``history`` has a row for each
        sweep; the rows of *evaluate_every* have ``log_likelihood_per_token``: the mean over tokens of the log
        (base e) of the probability of the word in its document, under the counts and priors of that sweep.
        ``metrics["figures"]`` has the last of these, ``tokens``, ``cpu_seconds`` of all ranks and threads,
        ``tokens_per_cpu_second`` (over all sweeps), ``sampler``, and the final priors, ``doc_topic_prior`` (a
        list) and ``topic_word_prior``. ``metrics["parameters"]`` has the arguments.

    Raises
    ------
    UsageError
        The graph is not bipartite or has no tokens, a count is not a whole number, or an argument is out of
        range.

    Examples
    --------
    >>> import gaslab as gl
    >>> documents = ["a", "a", "a", "b", "b", "b"]
    >>> words = ["cat", "dog", "cat", "bond", "bank", "bond"]
    >>> graph = gl.Graph.from_edges(documents, words, bipartite=True)
    >>> result = gl.lda(graph, topics=2, iterations=50, seed=1, threads=1)
    >>> result.tables["document_topic"]["probability"].round(2)
    array([[0.03, 0.97],
           [0.97, 0.03]])
    >>> result.tables["topic_word"].ids.tolist()
    ['bank', 'bond', 'cat', 'dog']

    References
    ----------
    Blei, Ng, Jordan: Latent Dirichlet Allocation. JMLR 2003. Griffiths, Steyvers: Finding Scientific Topics.
    PNAS 2004. Chen, Li, Zhu, Chen: WarpLDA. VLDB 2016.
    Wallach, Mimno, McCallum: Rethinking LDA: Why Priors Matter. NIPS 2009.
    """
    check_graph(graph)
    name, settings = sampler_and_settings(
        topics=topics, doc_topic_prior=doc_topic_prior, topic_word_prior=topic_word_prior,
        iterations=iterations, sampler=sampler, anneal_sweeps=anneal_sweeps, mh_sweeps=mh_sweeps,
        mh_steps=mh_steps, optimise_priors=optimise_priors, burn_in=burn_in, sample_every=sample_every,
        evaluate_every=evaluate_every, model=model, precision=options.get("precision"),
        workers=graph.comm.size * (options.get("threads") or graph.local.threads),
    )  # fmt: skip
    count = arguments.text("count", count, optional=True)
    check_options("lda", graph, options)
    check_one_run(options, settings)
    tokens = _tokens(graph, count)
    settings = settings.annealed(tokens.num_edges, tokens.num_vertices - (tokens.ids.num_left or 0))
    if settings.anneal_sweeps and settings.wide > settings.word:
        log.info("LDA: topic_word_prior = %.3g in the first %d sweeps", settings.wide, settings.anneal_sweeps)
    cut, drawn = tokens, None
    if settings.mh_sweeps and options.get("strategy") is not None:
        cut = tokens.partitioned(options.pop("strategy"))
    if model is not None:
        drawn = model.draw(cut, seed=arguments.whole("seed", options.get("seed", 0)))
    result, last = run_chain(stages(name, settings), cut, drawn, options)
    document, word = _tables(graph, result, last, tokens.num_edges)
    figures = result.metrics["figures"]
    figures["tokens"], figures["sampler"] = tokens.num_edges, name
    figures["tokens_per_cpu_second"] = tokens.num_edges * settings.iterations / figures["cpu_seconds"]
    figures["doc_topic_prior"], figures["topic_word_prior"] = document.tolist(), word
    asked = {"sampler": sampler, "evaluate_every": int(evaluate_every)}
    result.metrics["parameters"] = {**settings.parameters, **asked}  # those of the program count supersteps
    if model is not None:
        result.metrics["model"] = {"iterations": model.iterations, "history": model.history}
    if tokens is not graph:
        result.fingerprint = graph.fingerprint
        result.metrics |= {"source": graph.source, "edges": graph.num_edges, "fingerprint": graph.fingerprint}
        for stage, spent in graph.seconds.items():
            result.metrics["seconds"][stage] += spent
            result.metrics["seconds"]["total"] += spent
    return result


def _tables(graph: gl.Graph, result: gl.Result, settings: Settings, tokens: int) -> tuple[np.ndarray, float]:
    """Give the result its tables, from the counts of all samples; return the priors (collective)."""
    priors = result.aggregates.get("priors")
    document, word = (settings.document, settings.word) if priors is None else (priors.document, priors.word)
    name = "summed" if "summed" in result.vertices.columns else "counts"
    sides = [result.vertices.side(side)[name] for side in (0, 1)]
    counted = _whole(graph, result, sides[1].sum(axis=0, dtype=np.int64))
    for side in (int(_whole(graph, result, sides[0].sum(dtype=np.int64))), int(counted.sum())):
        if side != settings.samples * tokens:
            raise gl.ExecutionError(
                f"{side} of {settings.samples * tokens} tokens are counted; please report it"
            )
    counts = result.vertices[name]
    if settings.burn_in is not None:
        counts, counted = counts / settings.samples, counted / settings.samples
    documents = len(sides[0])
    probability = np.empty(counts.shape)
    mixed, spread = probability[:documents], probability[documents:]
    np.add(counts[:documents], document, out=mixed)
    mixed /= mixed.sum(axis=1, keepdims=True)
    np.add(counts[documents:], word, out=spread)
    spread /= counted + (graph.num_vertices - (graph.ids.num_left or 0)) * word
    vertices = result.vertices
    keys = {name: vertices[name] for name in vertices.keys}
    columns = {"counts": counts, "probability": probability}
    result.vertices = gl.Table(keys, columns, vertices.global_ids)
    result.tables = {"document_topic": _table(result, 0), "topic_word": _table(result, 1)}
    return document, float(word)


def _tokens(graph: gl.Graph, count: str | None) -> gl.Graph:
    """Return the graph with an edge for every token."""
    known = graph.edge_columns
    if count == "auto":
        usual = ("count", "weight")
        count = next((name for name in usual if name in known), None)
        instead = "each edge is one token" if count is None else f"count = column {count!r}"
        for name in usual[: 2 if count is None else usual.index(count)]:
            warn_of_default(graph, name, instead)
    if count is not None and count not in known:
        raise gl.UsageError(f"count={count!r} is not an edge column{why_absent(graph, count)}")
    if graph.comm.rank == 0:
        log.info("LDA: %s", "each edge is one token" if count is None else f"count = column {count!r}")
    tokens = graph
    if count is not None:
        tokens = graph.repeat_edges(count)
        del tokens.edge_columns[count]  # eight bytes a token, which nothing reads
    if tokens.num_edges == 0:
        why = "pass one with an edge from a document to each of its words"
        if graph.num_edges > 0:
            why = f"count={count!r} is 0 on all of its edges; with count=None each edge is a token"
        raise gl.UsageError(f"the graph has no tokens; {why}")
    return tokens


def _whole(graph: gl.Graph, result: gl.Result, part: Any) -> Any:
    """Return the sum over all vertices of which this rank's result has a part (collective)."""
    return part if result.on == "all" else graph.comm.allreduce(part)


def _table(result: gl.Result, side: int) -> gl.Table:
    return result.vertices.side(side).select("probability")


TOOL = Tool(
    lda, order=150,
    command=Command(
        "topics of documents (latent Dirichlet allocation)",
        "Topics of documents: latent Dirichlet allocation. CORPUS is a UCI bag of words (docword.*.txt),\n"
        "an lda-c, SVMlight or MatrixMarket file, plain text with a document a line, a folder of texts, or\n"
        "has a line for each document and word, with the count in the third field if there is one.\n"
        "--top N prints N words of each topic (10). --load MODEL --transform NEW gives the documents of NEW\n"
        "the topics of a model that --save MODEL wrote.",
        fields=("probability",), also=("counts",), tables=("document_topic", "topic_word"),
        iterations="sweeps over all tokens (200)", sweeps=True, bipartite=True, corpus=True,
    ),
    answer="`topic_word`, `document_topic`",
    definition="topics of documents, [a page of its own](topics-and-factors.md)",
    source="Blei, Ng, Jordan 2003; Chen, Li, Zhu, Chen 2016; priors Minka 2000; "
    "Wallach, Mimno, McCallum 2009",
)  # fmt: skip
