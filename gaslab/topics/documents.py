"""`Documents`: the documents of a corpus dealt out to the ranks, each whole on one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import gaslab as gl
from gaslab import arguments
from gaslab.errors import UsageError, nearest
from gaslab.ingest.sides import need_sides

CORPUS = "a gaslab.Graph of documents and words, as gaslab.corpus_from makes one,"


@dataclass(frozen=True)
class Documents:
    """Documents in order of their numbers; the words of document d are ``begin[d]`` to ``begin[d + 1]``.

    Attributes
    ----------
    number : int64 array (documents,)
        Of each among all documents of the corpus; a rank has consecutive ones.
    begin : int64 array (documents + 1,)
    word, count : int64 arrays
        The words of each document, ascending and distinct, and how often each is there, at least once.
    """

    number: np.ndarray
    begin: np.ndarray
    word: np.ndarray
    count: np.ndarray

    @classmethod
    def of_entries(
        cls, number: np.ndarray, document: np.ndarray, word: np.ndarray, count: np.ndarray
    ) -> Documents:
        """Return the documents *number* by entries in order of document and word, which may be repeated."""
        new = np.ones(word.size, bool)
        new[1:] = (word[1:] != word[:-1]) | (document[1:] != document[:-1])
        first = np.flatnonzero(new)
        sums = np.add.reduceat(count, first) if first.size else count[:0]
        begin = np.searchsorted(document[first], np.append(number, number[-1:] + 1) if number.size else [0])
        return cls(number, begin.astype(np.int64), word[first], sums.astype(np.int64))

    @property
    def tokens(self) -> int:
        return int(self.count.sum())

    def owners(self) -> np.ndarray:
        """Return, for each of the words of documents, the position of its document."""
        return np.repeat(np.arange(self.number.size), np.diff(self.begin))

    def kept(self, mask: np.ndarray) -> Documents:
        """Return the documents with some of their words only, by a flag for each."""
        begin = np.concatenate([[0], np.cumsum(mask)])[self.begin]
        return Documents(self.number, begin, self.word[mask], self.count[mask])


Back = Callable[[np.ndarray], np.ndarray]  # values of the rows received to values of the rows sent


def documents_of(graph: gl.Graph, count: str | None = "auto") -> Documents:
    """Return the documents of a bipartite graph (collective); words are global ids.

    Rank r of n has the r-th of n equal ranges of them.
    """
    column = count_column(graph, count)
    tokens = np.ones(graph.local.in_neighbor.size, np.int64) if column is None else _whole(graph, column)
    some = tokens > 0
    document, word = ends(graph)
    (document, word, tokens), _ = sent(graph, document[some], word[some], tokens[some])
    order = np.lexsort((word, document))
    low, high = bounds(graph)[graph.comm.rank : graph.comm.rank + 2].tolist()
    return Documents.of_entries(np.arange(low, high), document[order], word[order], tokens[order])


def ends(graph: gl.Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the global ids of the document and the word of each edge of this rank."""
    src, dst = graph.edges()
    return np.minimum(src, dst), np.maximum(src, dst)  # those of documents come first


def bounds(graph: gl.Graph) -> np.ndarray:
    """Return the first document of every rank, and the number of all."""
    need_sides(graph.ids, "topics are of documents and words")
    return np.arange(graph.comm.size + 1, dtype=np.int64) * (graph.ids.num_left or 0) // graph.comm.size


def sent(graph: gl.Graph, document: np.ndarray, *columns: np.ndarray) -> tuple[list[np.ndarray], Back]:
    """Send entries to the ranks of their documents (collective).

    Returns the rows received, and a collective function that sends a value of each of these back.
    """
    comm = graph.comm
    owner = np.searchsorted(bounds(graph), document, side="right") - 1
    order = np.argsort(owner, kind="stable")
    cuts = np.searchsorted(owner[order], np.arange(comm.size + 1))

    def exchanged(values: np.ndarray, at: np.ndarray) -> list[np.ndarray]:
        return comm.alltoall([values[at[p] : at[p + 1]] for p in range(comm.size)])

    parts = [exchanged(values[order], cuts) for values in (document, *columns)]
    received = np.cumsum([0, *(part.size for part in parts[0])])

    def back(values: np.ndarray) -> np.ndarray:
        found = np.empty(document.size, values.dtype)
        found[order] = np.concatenate(exchanged(values, received))
        return found

    return [np.concatenate(part) for part in parts], back


def count_column(graph: gl.Graph, count: str | None) -> str | None:
    """Return the edge column of tokens that ``count=`` means, as of `gaslab.lda`; None: an edge is one."""
    count, known = arguments.text("count", count, optional=True), graph.edge_columns
    if count == "auto":
        return next((name for name in ("count", "weight") if name in known), None)
    if count is not None and count not in known:
        raise UsageError(f"count={count!r} is not an edge column{nearest(count, known)}")
    return count


def _whole(graph: gl.Graph, column: str) -> np.ndarray:
    """Return an edge column as whole numbers; raises UsageError where they are none (collective)."""
    graph.check_column(column, 0.0, finite=True)
    values: Any = graph.edge_columns[column]
    bad = np.flatnonzero((values != np.floor(values)) | (values > np.iinfo(np.int32).max))
    found = graph.first_edge((int(bad[0]), values[bad[0]].item()) if bad.size else None)
    if found is not None:
        raise UsageError(
            f"edge column {column!r} is {found[1]!r} on the edge {found[0]}; a whole number is needed"
        )
    return np.asarray(values).astype(np.int64)
