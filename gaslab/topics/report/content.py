"""What a page of topics shows, gathered from the ranks to rank 0."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gaslab.graph.graph import Graph
from gaslab.results.result import Result
from gaslab.results.tables import Table
from gaslab.topics.occurrences import edge_ends, token_counts

FIGURES = (
    *("tokens", "sampler", "log_likelihood_per_token", "held_out_log_likelihood_per_token"),
    *("coherence", "diversity"),
)


@dataclass(frozen=True)
class Document:
    """A document: which words it has, how often, and its topics."""

    name: str
    words: np.ndarray  # int64: rows of topic_word
    counts: np.ndarray  # tokens of each
    mixture: np.ndarray  # float64 [topics]


@dataclass(frozen=True)
class Content:
    """What a page shows.

    Attributes
    ----------
    topic_word : float64 array [words, topics]
        Probability of each word in each topic.
    words : sequence
        The ids of words: str, or int where the corpus has no vocabulary.
    sizes : float64 array [topics]
        Share of each topic in all tokens.
    documents : sequence of Document
    history : sequence of mapping
        Rows with ``iteration`` and some of them with ``log_likelihood_per_token``.
    facts : mapping of str to str
        What stands under the title: name and value.
    coherence : float array [topics], optional
    title : str
    """

    topic_word: np.ndarray
    words: Sequence[Any]
    sizes: np.ndarray
    documents: Sequence[Document] = ()
    history: Sequence[Mapping[str, Any]] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    coherence: np.ndarray | None = None
    title: str = "Topics"


def topics_and_words(graph: Graph, result: Result) -> tuple[np.ndarray, np.ndarray]:
    """Return ``topic_word`` and the sizes of topics on rank 0, empty ones elsewhere (collective)."""
    table = result.tables["topic_word"]
    rows = _to_root(graph, result, table, np.arange(len(table)), table["probability"])[1]
    counts = np.asarray(result.aggregates["tokens"].counts, np.float64)
    return rows, counts / counts.sum()


def gather(
    graph: Graph, result: Result, most: int = 200, coherence: np.ndarray | None = None
) -> Content | None:
    """Return the content of a page on rank 0, None elsewhere (collective).

    Parameters
    ----------
    graph : Graph
        The corpus.
    result : Result
        Of `gaslab.lda` on it.
    most : int
        Documents on the page at most: of each topic those with the largest share of it. A corpus of fewer
        has all of its documents there.
    coherence : array [topics], optional
    """
    topic_word, sizes = topics_and_words(graph, result)
    here = graph.comm.rank == 0
    words = graph.ids.lookup(np.arange(graph.num_left, graph.num_vertices if here else graph.num_left))
    documents = _documents(graph, result, _chosen(graph, result, sizes, most))
    if not here:
        return None
    facts = {
        "documents": f"{graph.num_left:,}",
        "words": f"{graph.num_vertices - graph.num_left:,}",
        "topics": f"{sizes.size:,}",
        "sweeps": f"{result.iterations:,}",
        **_figures(result),
    }
    return Content(
        topic_word, words.tolist(), sizes, documents, result.history, facts, coherence,
        title=f"Topics of {os.path.basename(graph.source)}",
    )  # fmt: skip


def _figures(result: Result) -> dict[str, str]:
    """Return the figures of a run that are the same whenever it is run, as text."""
    figures, said = result.metrics.get("figures", {}), {}
    for name in FIGURES:
        value = figures.get(name)
        if isinstance(value, (str, int)):
            said[name.replace("_", " ")] = value if isinstance(value, str) else f"{value:,}"
        elif isinstance(value, float):
            said[name.replace("_", " ")] = f"{value:,.4g}".replace("-", "−")
    return said


def _to_root(
    graph: Graph, result: Result, table: Table, rows: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return global ids and values of rows of all ranks' tables on rank 0, by id (collective).

    *values* has a row for each of *rows*.
    """
    width = values.shape[1]
    if result.on == "all" and graph.comm.rank > 0:
        rows, values = rows[:0], values[:0]
    gids = graph.comm.gather_array(table.global_ids["id"][rows])
    parts = graph.comm.gather_array(np.ascontiguousarray(values, np.float64).reshape(-1))
    if gids is None or parts is None:
        return np.empty(0, np.int64), np.empty((0, width))
    ids = np.concatenate(gids)
    order = np.argsort(ids)
    return ids[order], np.concatenate(parts).reshape(-1, width)[order]


def _chosen(graph: Graph, result: Result, sizes: np.ndarray, most: int) -> np.ndarray:
    """Return the global ids of the documents to show, on every rank (collective)."""
    if graph.num_left <= most:
        return np.arange(graph.num_left)
    table = result.tables["document_topic"]
    share, ids = table["probability"], table.global_ids["id"]
    each = max(most // sizes.size, 1)
    topics = np.argsort(-sizes, kind="stable")[:most]
    best = []
    for topic in topics.tolist():
        rows = np.lexsort((ids, -share[:, topic]))[:each]
        best.append(list(zip((-share[rows, topic]).tolist(), ids[rows].tolist(), strict=True)))
    parts = graph.comm.allgather(best)
    first = (sorted({row for part in parts for row in part[k]})[:each] for k in range(topics.size))
    return np.array(sorted({gid for rows in first for _, gid in rows}), np.int64)


def _documents(graph: Graph, result: Result, chosen: np.ndarray) -> list[Document]:
    """Return these documents, by global id, on rank 0; elsewhere none (collective)."""
    table = result.tables["document_topic"]
    rows = np.flatnonzero(np.isin(table.global_ids["id"], chosen))
    ids, mixtures = _to_root(graph, result, table, rows, table["probability"][rows])
    document, word = edge_ends(graph)
    tokens = token_counts(graph)
    own = np.flatnonzero(np.isin(document, chosen) & (tokens > 0))
    parts = [graph.comm.gather_array(values[own].astype(np.int64)) for values in (document, word, tokens)]
    names = graph.ids.lookup(ids)
    if parts[0] is None:
        return []
    document, word, tokens = (np.concatenate(part or []) for part in parts)
    pair, place = np.unique(np.stack([document, word], axis=1), axis=0, return_inverse=True)
    counts = np.bincount(place.reshape(-1), tokens, minlength=len(pair)).astype(np.int64)
    begin, end = (np.searchsorted(pair[:, 0], ids, side) for side in ("left", "right"))
    return [
        Document(str(name), pair[lo:hi, 1], counts[lo:hi], mixture)
        for name, lo, hi, mixture in zip(names.tolist(), begin, end, mixtures, strict=True)
    ]
