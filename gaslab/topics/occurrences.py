"""In how many documents, or windows of a text, the top words of topics are, alone and with each other.

Documents of a graph are cut over the ranks: a rank sends its occurrences of top words to the rank that counts
the document, and the counts are summed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gaslab._kernels import documents as kernels
from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.ingest.names import Names, NameTable
from gaslab.ragged import RaggedColumn

BLOCK = 1 << 19  # characters of texts whose tokens are held at once


class Occurrences(NamedTuple):
    """How many documents or windows there are, and how many have two top words of a topic.

    Attributes
    ----------
    total : int
    together : float64 array [topics, count, count]
        Whole numbers; on the diagonal those with the word.
    """

    total: int
    together: np.ndarray


def of_graph(graph: Graph, top: np.ndarray) -> Occurrences:
    """Count the documents of a corpus (collective); *top* are positions among the words."""
    left, comm = graph.num_left, graph.comm
    document, word = edge_ends(graph)
    wanted = _wanted(top, graph.num_vertices - left)[word] & (token_counts(graph) > 0)
    document, word = document[wanted], word[wanted]
    owner = document % comm.size
    sent = [(document[owner == rank], word[owner == rank]) for rank in range(comm.size)]
    received = [np.concatenate(comm.alltoall([part[column] for part in sent])) for column in (0, 1)]
    together = comm.allreduce(_together(received[0], received[1], top))
    return Occurrences(left, together)


def of_matrix(matrix: Any, top: np.ndarray) -> Occurrences:
    """Count the rows of a document-word matrix, dense or SciPy's sparse; *top* are columns."""
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocoo()
        rows, columns = entries.nonzero()
    else:
        matrix = np.asarray(matrix)
        if matrix.ndim != 2:
            raise UsageError(f"corpus= needs counts by document and word, not an array of {matrix.ndim} axes")
        rows, columns = np.nonzero(matrix)
    wanted = _wanted(top, matrix.shape[1])[columns]
    return Occurrences(matrix.shape[0], _together(rows[wanted], columns[wanted], top))


def of_texts(texts: Sequence[str], top: np.ndarray, window: int | None) -> Occurrences:
    """Count texts, or their windows of so many words in a row; *top* are words."""
    names, place = np.unique(np.asarray(top).astype(str), return_inverse=True)
    place = place.reshape(top.shape)
    table = NameTable()
    table.intern(Names.of(names.tolist()))
    total, together = 0, np.zeros((*top.shape, top.shape[1]))
    for line, index in _tokens(texts, table):
        lines = int(line[-1]) + 1
        length = np.bincount(line[:-1], minlength=lines)
        windows = np.ones(lines, np.int64) if window is None else np.maximum(length - window + 1, 1)
        first = np.cumsum(length) - length
        at = np.arange(index.size) - first[line[:-1]]
        wanted = np.flatnonzero(index < names.size)
        line, index, at = line[wanted], index[wanted], at[wanted]
        begin = np.zeros_like(at) if window is None else np.maximum(at - window + 1, 0)
        end = np.minimum(at, windows[line] - 1) + 1
        offset = np.cumsum(windows) - windows
        spread = end - begin  # windows that have the token
        steps = np.arange(spread.sum()) - np.repeat(np.cumsum(spread) - spread, spread)
        together += _together(
            np.repeat(offset[line] + begin, spread) + steps, np.repeat(index, spread), place
        )
        total += int(windows.sum())
    return Occurrences(total, together)


def edge_ends(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the documents (global ids) and words (positions among the words) of this rank's edges."""
    ends = graph.edges()
    return np.minimum(*ends), np.maximum(*ends) - graph.num_left


def token_counts(graph: Graph) -> np.ndarray:
    """Return the tokens of each of this rank's edges, as `gaslab.lda` counts them with ``count="auto"``."""
    for name in ("count", "weight"):
        values = graph.edge_columns.get(name)
        if values is not None and not isinstance(values, RaggedColumn):
            return np.asarray(values)
    return np.ones(graph.local.num_edges, np.int64)


def _wanted(top: np.ndarray, words: int) -> np.ndarray:
    if top.size and not (top.min() >= 0 and top.max() < words):
        raise UsageError(f"top= has the word {int(top.max())}; the corpus has {words:,} words, from 0 on")
    wanted = np.zeros(words, bool)
    wanted[top] = True
    return wanted


def _together(document: np.ndarray, word: np.ndarray, top: np.ndarray) -> np.ndarray:
    """Return in how many documents two top words of each topic are; parallel entries count once."""
    topics, count = top.shape
    order = np.argsort(word, kind="stable")
    document, sorted_word = document[order], word[order]
    begin = np.searchsorted(sorted_word, top)
    size = np.searchsorted(sorted_word, top, side="right") - begin
    found = np.zeros((topics, count, count))
    for topic in range(topics):
        rows = [document[lo : lo + n] for lo, n in zip(begin[topic], size[topic], strict=True)]
        known, place = np.unique(np.concatenate(rows), return_inverse=True)
        has = np.zeros((known.size, count))
        has[place, np.repeat(np.arange(count), size[topic])] = 1.0
        found[topic] = has.T @ has
    return found


def _tokens(texts: Sequence[str], table: NameTable) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the line and the name of every token of some texts after others; the last line stands alone."""
    block: list[str] = []
    size = 0
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise UsageError(f"corpus= needs texts, and number {number} is {type(text).__name__}, not str")
        block.append(" ".join(text.lower().split("\n")))
        size += len(text)
        if size >= BLOCK or number == len(texts) - 1:
            data = "\n".join([*block, ""]).encode("utf-8", "replace")
            arena, start, line = kernels.words(np.frombuffer(data, np.uint8))
            yield np.append(line, len(block) - 1), table.intern(Names(arena, start))
            block, size = [], 0
