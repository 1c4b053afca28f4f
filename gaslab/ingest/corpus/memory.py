"""`corpus_edges_from`: a matrix, a data frame or texts in memory to edges from documents to words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import InputError, UsageError, warn_user
from gaslab.ingest.capacity import check_room
from gaslab.ingest.convert import edges_from_pandas
from gaslab.ingest.corpus.choice import Choice
from gaslab.ingest.corpus.finish import finish
from gaslab.ingest.corpus.pieces import Part
from gaslab.ingest.corpus.text import Counter, as_corpus
from gaslab.ingest.edges import EdgeList, Numbered
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.matrices import entries_of
from gaslab.ingest.matrix_entries import LARGEST_COUNT
from gaslab.ingest.missing import WAY_OUT, is_missing
from gaslab.ingest.names import Names
from gaslab.ingest.rows import object_array, share
from gaslab.ingest.sides import SidedIds
from gaslab.ingest.text import OF_CORPUS
from gaslab.ingest.vocabulary import numbered
from gaslab.parallel import launch
from gaslab.parallel.comm import Comm, as_comm

NEEDED = "a sparse or dense matrix, a data frame or a sequence of texts is needed"


def corpus_edges_from(
    data: Any,
    comm: Comm | None = None,
    *,
    vocabulary: Any = None,
    document: str = "document",
    word: str = "word",
    count: str | None = "count",
    stop_words: Any = None,
    min_df: int | float = 0,
    max_df: int | float = 1.0,
    rows: str = "same",
    threads: int | None = None,
) -> EdgeList:
    """Make a corpus from data in memory (collective): edges with one column ``count``, int64.

    The arguments are those of `gaslab.corpus_from`.
    """
    comm, threads = as_comm(comm), arguments.threads(threads)
    rows = arguments.choice("rows", rows, arguments.ROWS)
    threads = launch.threads_per_rank(comm.local_ranks) if threads is None else threads
    choice = Choice.of(stop_words, min_df, max_df, comm)
    here = comm.rank == 0 or rows != "root"
    kind = _agreed(comm.attempt(lambda: _kind(data) if here else ""), comm)
    comm.attempt(lambda: _check_vocabulary(vocabulary, kind) if here else None)
    if kind == "matrix":
        found = _from_matrix(data if here else None, vocabulary, rows, comm)
    elif kind == "pandas":
        found = _from_frame(data if here else None, document, word, count, rows, comm)
    else:
        found = _from_texts(data if here else None, rows, comm)
    return finish(found, choice, kind, comm, threads)


def _kind(data: Any) -> str:
    if isinstance(data, (str, bytes, Mapping, type)):
        raise arguments.wrong("data", data, f"{NEEDED}, not {type(data).__name__}")
    if hasattr(data, "columns") and hasattr(data, "iloc"):
        return "pandas"
    if hasattr(data, "tocoo") or getattr(data, "ndim", 1) == 2:
        return "matrix"
    if not isinstance(data, Iterable) or getattr(data, "ndim", 1) == 0:
        raise arguments.wrong("data", data, f"{NEEDED}, not {type(data).__name__}")
    return "texts"


def _check_vocabulary(vocabulary: Any, kind: str) -> None:
    if vocabulary is not None and kind != "matrix":
        raise UsageError(
            f"vocabulary= names the columns of a matrix, and the corpus is from {kind}; leave it out"
        )


def _agreed(kind: str, comm: Comm) -> str:
    """Return the value of the ranks with data; UsageError if it differs (collective)."""
    every = comm.allgather(kind)
    for rank, other in enumerate(every):
        if other and other != every[0]:
            raise UsageError(f"rank 0 passed a corpus from {every[0]}, rank {rank} one from {other}")
    return every[0]


def _from_matrix(matrix: Any, vocabulary: Any, rows: str, comm: Comm) -> Numbered:
    """Make a corpus from a matrix with a row for each document and a column for each word (collective)."""
    entries = comm.attempt(lambda: _entries(matrix) if matrix is not None else None)
    shapes = [shape for shape in comm.allgather(None if entries is None else entries[3]) if shape]
    width = shapes[0][1]
    for rank, shape in enumerate(shapes):
        if shape[1] != width or (rows == "same" and shape != shapes[0]):
            raise UsageError(
                f"rank 0 passed a matrix of shape {shapes[0]}, rank {rank} one of {shape}; all "
                "have the same words"
            )
    height = sum(shape[0] for shape in shapes) if rows == "parts" else shapes[0][0]
    check_room(comm, height + width, "the matrix: ")
    above = sum(shape[0] for shape in shapes[: comm.rank]) if rows == "parts" else 0

    def arrays() -> dict[str, np.ndarray]:
        assert entries is not None
        return {"document": entries[0] + above, "word": entries[1], "count": entries[2]}

    mine = share(comm, arrays, rows)
    count = _rounded(mine["count"], lambda at: f"({mine['document'][at]}, {mine['word'][at]})", comm)
    number, words = _vocabulary(vocabulary, width, rows, comm)
    word = mine["word"] if number is None else number[mine["word"]]
    ids = SidedIds(comm, VertexIds(comm, "int", height), words)
    return _with_tokens(mine["document"], word + height, count, ids, comm)


def _entries(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Return (rows, columns, values, shape) of a sparse or dense matrix; entries stored twice are added."""
    if getattr(matrix, "ndim", 2) != 2:
        raise UsageError(f"a matrix of {matrix.ndim} dimensions; use a row per document, a column per word")
    if not hasattr(matrix, "tocoo"):
        dense = np.asarray(matrix)
        row, column = np.nonzero(dense)
        values, shape = dense[row, column], dense.shape
    else:
        entries = entries_of(matrix)
        row, column, values, shape = entries.row, entries.column, entries.value, entries.shape
    if values.dtype.kind not in "biuf":
        raise UsageError(f"the matrix has dtype {values.dtype}; counts are whole numbers")
    if values.dtype.kind == "f":
        values = values.astype(np.float64)
    return row.astype(np.int64), column.astype(np.int64), values, (int(shape[0]), int(shape[1]))


def _vocabulary(words: Any, count: int, rows: str, comm: Comm) -> tuple[np.ndarray | None, VertexIds]:
    """Return (the global id of each column, None: in order; the directory of words) (collective)."""
    listed = comm.attempt(lambda: _listed(words, count) if comm.rank == 0 or rows != "root" else None)
    if rows != "same":
        listed = comm.bcast(listed)
    if listed is None or count == 0:
        return None, VertexIds(comm, "int", count)
    mine = listed[count * comm.rank // comm.size : count * (comm.rank + 1) // comm.size]
    number, known, again = numbered(comm.attempt(lambda: _names(mine)), comm)
    if again is not None:
        raise UsageError(
            f"vocabulary={again[2]!r} names column {again[1]} and column {again[0]}; words are distinct"
        )
    return number, known


def _names(words: list[str]) -> Names:
    try:
        return Names.of(words)
    except ValueError as error:
        raise InputError(f"vocabulary: a word cannot be written as UTF-8 without NUL: {error}") from error


def _listed(words: Any, count: int) -> list[str] | None:
    """Return the word of every column, from a sequence of words or a mapping from word to column."""
    if words is None:
        return None
    if isinstance(words, Mapping):
        places = list(words.values())
        if not all(isinstance(one, Integral) for one in places) or sorted(places) != list(range(count)):
            raise UsageError(
                f"vocabulary maps {len(words)} words to columns that are not 0 to {count - 1}, each once"
            )
        words = sorted(words, key=lambda word: int(words[word]))
    listed: list[str] = arguments.texts("vocabulary", words)
    if len(listed) != count:
        raise UsageError(f"vocabulary has {len(listed)} words, and the matrix {count} columns")
    if "" in listed:
        raise UsageError(f"vocabulary[{listed.index('')}] is empty; each is a word")
    return listed


def _from_frame(frame: Any, document: str, word: str, count: str | None, rows: str, comm: Comm) -> Numbered:
    """Make a corpus from a frame with a row for each document and word, and perhaps a count (collective)."""
    known = comm.bcast([str(name) for name in frame.columns] if comm.rank == 0 else [])
    counted = count is not None and (count in known or count != "count")
    kept = [str(count)] if counted else []
    try:
        edges = edges_from_pandas(
            frame, comm, source=document, target=word, columns=kept, bipartite=True, rows=rows
        )
    except (InputError, UsageError) as error:  # on every rank
        said = re.sub(r"^(source|target)\b", lambda found: OF_CORPUS[found[1]], str(error))
        raise type(error)(said) from None
    values = edges.columns[str(count)] if counted else np.ones(edges.src.size, np.int64)
    if values.ndim > 1:
        raise UsageError(f"column {count!r} has rows of shape {values.shape[1:]}; a count is a number")
    place = sum(comm.allgather(edges.src.size)[: comm.rank])
    counts = _rounded(values, lambda at: f"row {place + at}", comm)
    assert isinstance(edges.ids, SidedIds)
    return _with_tokens(edges.src, edges.dst, counts, edges.ids, comm)


def _from_texts(texts: Any, rows: str, comm: Comm) -> Numbered:
    """Make a corpus from texts, each a document (collective)."""
    mine = share(comm, lambda: {"text": _texts(texts)}, rows)["text"]
    sizes = comm.allgather(len(mine))
    counter = Counter()
    part = comm.attempt(lambda: _counted(mine, sum(sizes[: comm.rank]), counter))
    left = VertexIds(comm, "int", sum(sizes))
    document = part.document + sum(sizes[: comm.rank])
    return as_corpus(document, part.word, part.count, left, counter.table.names(), {}, comm)


def _counted(texts: np.ndarray, first: int, counter: Counter) -> Part:
    """Count the words of texts, documents from *first* (not collective)."""
    try:
        return counter.count("".join(text.replace("\n", " ") + "\n" for text in texts) or "\n")
    except UnicodeEncodeError as error:
        lone = error.object[error.start]
        at = next(at for at, text in enumerate(texts) if lone in text)
        raise InputError(
            f"the text of document {first + at} has half of a surrogate pair, {lone!r}, and is not Unicode; "
            "read the file with errors='replace', or in its own encoding"
        ) from None


def _texts(texts: Any) -> np.ndarray:
    listed = list(texts)
    for at, text in enumerate(listed):
        if is_missing(text):
            raise InputError(f"data[{at}] is missing ({text!r}){WAY_OUT}")
        if not isinstance(text, str):
            raise UsageError(f"data[{at}] is of type {type(text).__name__}; each text is a str")
    return object_array(listed)


def _rounded(values: np.ndarray, place: Any, comm: Comm) -> np.ndarray:
    """Return counts as int64, rounded with one warning if they are not whole (collective).

    Raises InputError for the first count that is nan, negative or too large.
    """
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~((values >= 0) & (values <= LARGEST_COUNT)))
    first = f"the count at {place(bad[0])} is {values[bad[0]]}" if bad.size else None
    found = next((one for one in comm.allgather(first) if one is not None), None)
    if found is not None:
        raise InputError(f"{found}; counts are whole numbers from 0 to {LARGEST_COUNT}")
    whole: np.ndarray = np.rint(values).astype(np.int64)
    broken = np.flatnonzero(whole != values)
    said = (int(broken.size), f"{values[broken[0]]} at {place(broken[0])}" if broken.size else None)
    every = comm.allgather(said)
    total = sum(size for size, _ in every)
    if total:
        one = next(text for _, text in every if text is not None)
        warn_user(
            f"{total:,} counts are not whole numbers and are rounded, the first {one}; LDA counts tokens",
            UserWarning,
            comm.rank,
        )
    return whole


def _with_tokens(src: np.ndarray, dst: np.ndarray, count: np.ndarray, ids: SidedIds, comm: Comm) -> Numbered:
    """Return the entries with tokens (collective)."""
    some = count > 0
    counts = {"edges_read": int(comm.allreduce(np.count_nonzero(some)))}
    return Numbered(src[some], dst[some], {"count": count[some]}, ids, directed=True, counts=counts)
