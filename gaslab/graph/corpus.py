"""`read_corpus` and `corpus_from`: the graph of documents and words that topic models take."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from gaslab.graph.graph import Graph
from gaslab.ingest.corpus.files import read_corpus_edges
from gaslab.ingest.corpus.memory import corpus_edges_from
from gaslab.ingest.edges import EdgeList
from gaslab.ingest.read import paths_of
from gaslab.parallel.collective import collective
from gaslab.parallel.comm import Comm, as_comm
from gaslab.storage.load import open_saved


@collective()
def read_corpus(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    format: str = "auto",
    vocabulary: str | os.PathLike[str] | None = None,
    stop_words: str | os.PathLike[str] | Sequence[str] | None = None,
    min_df: int | float = 0,
    max_df: int | float = 1.0,
    columns: Mapping[str, int | str | None] | Sequence[str] | None = None,
    ids: str = "auto",
    comments: str = "#%",
    delimiter: str | None = None,
    header: bool | None = None,
    on_bad_line: str = "error",
    max_bad_lines: int | None = None,
    strategy: str | None = None,
    comm: Any = None,
) -> Graph:
    """Read a corpus as a bipartite graph of documents and words, with the edge column ``count`` (collective).

    Each rank parses its own byte range of a plain file, or its own files of a folder; a gzip file is read by
    one rank. ``docs/corpora.md`` has the formats.

    Parameters
    ----------
    path : path, glob, or sequence of them
        Files, or a folder in which each file is a document of plain text.
    format : {"auto", "bagofwords", "ldac", "svmlight", "matrixmarket", "text", "edges"}
        The file format: UCI's ``docword``, lda-c, SVMlight, a matrix with a row for each document, one
        document per line, or one line per document and word with the count in an optional further field.
        "auto" looks at names and first lines.
    vocabulary : path, optional
        A file with one word per line, for the formats that number words: line 1 is word 1 of a bag of words,
        of a matrix or of SVMlight, and word 0 of lda-c and of SVMlight with a word 0. Without it the ids of
        words are their numbers.
    stop_words : "english", path of a file with a word a line, or sequence of str, optional
        Words to leave out, as written and in lower case.
    min_df, max_df : int or float
        Words in fewer or more documents than this are left out; an int is a number of documents, a float from
        0 to 1 a share of all documents, including empty ones. By default no words are left out, and
        vocabulary words without tokens stay.
    columns : mapping or sequence of str, optional
        As for `gaslab.read_graph`, for an edge list: ``{"count": "n"}`` names the field of counts, by default
        ``count``, the third field, or the only further one. ``{"count": None}``: each entry is one token, in
        any format.
    ids, comments, delimiter, header, on_bad_line, max_bad_lines
        As for `gaslab.read_graph`, for an edge list.

    strategy : str, optional
        The vertex-cut; see `gaslab.partitioning.strategies`.
    comm : Comm or mpi4py communicator, optional
        The ranks; all of them by default.

    Returns
    -------
    Graph
        Documents, including those without words, are left vertices; words are right vertices. Each entry of
        the input is an edge from the document to the word, whose ``count`` (int64, at least 1) is its number
        of tokens. The ids of documents are their numbers, from 1; for files in a folder, their paths in it;
        for an edge list, the ids in it.

    Raises
    ------
    InputError
        A file is missing, damaged, not UTF-8 or in an unsupported format; a line is bad, a count is not a
        whole number of at least 1, or a word is beyond the vocabulary: the error names file, line and text.
        The corpus has no documents.
    UsageError
        Arguments are invalid or do not fit the input; no word is left.

    Examples
    --------
    >>> import gaslab as gl, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "talks.txt")
    >>> _ = open(path, "w").write("The cat and the dog.\\nA bond of the bank, the bank!\\n\\n")
    >>> corpus = gl.read_corpus(path, stop_words="english")
    >>> corpus.num_left, corpus.num_edges, int(corpus.edge_columns["count"].sum())
    (3, 4, 5)
    >>> gl.degrees(corpus).vertices.side(1).ids.tolist()
    ['bank', 'bond', 'cat', 'dog']
    """

    options: dict[str, Any] = {
        "format": format, "vocabulary": vocabulary, "stop_words": stop_words, "min_df": min_df,
        "max_df": max_df, "columns": columns, "ids": ids, "comments": comments, "delimiter": delimiter,
        "header": header, "on_bad_line": on_bad_line, "max_bad_lines": max_bad_lines,
    }  # fmt: skip
    started = time.perf_counter()
    saved = open_saved(paths_of(path), as_comm(comm), options, read_corpus_edges)
    if saved is not None:
        return Graph._from_saved(saved, strategy, started)
    return Graph._ingest(lambda comm: read_corpus_edges(path, comm, **options), strategy, comm)


@collective(exempt=("data",), data=("vocabulary",))
def corpus_from(
    data: Any,
    *,
    vocabulary: Sequence[str] | Mapping[str, int] | None = None,
    document: str = "document",
    word: str = "word",
    count: str | None = "count",
    stop_words: str | os.PathLike[str] | Sequence[str] | None = None,
    min_df: int | float = 0,
    max_df: int | float = 1.0,
    rows: str = "same",
    strategy: str | None = None,
    comm: Any = None,
) -> Graph:
    """Return the corpus for data in memory, as `gaslab.read_corpus` does for files (collective).

    Parameters
    ----------
    data : SciPy sparse matrix or array, 2-D array, pandas.DataFrame, or sequence of str
        Counts with a row for each document and a column for each word, as from CountVectorizer; a frame with
        a row for each document and word; or texts, one per document, split into words like the lines of a
        file.
    vocabulary : sequence of str, or mapping of str to int, optional
        For a matrix: the word of each column, like ``get_feature_names_out()`` and ``vocabulary_`` of a
        CountVectorizer. Without it the ids of words are the columns, from 0.
    document, word, count : str
        The columns of a frame. If *count* is None, or the frame has no ``count``, each row is one token.
    stop_words, min_df, max_df
        As for `gaslab.read_corpus`.
    rows : {"same", "parts", "root"}
        Every rank passes the same data; or each rank its own documents (rows of a matrix and texts are
        numbered rank by rank); or rank 0 all data and the other ranks anything.
    strategy : str, optional
    comm : Comm or mpi4py communicator, optional

    Returns
    -------
    Graph
        As for `gaslab.read_corpus`. The ids of documents are the rows of the matrix or the positions of the
        texts, from 0, or those in the frame. Counts of 0 are no tokens; fractional counts are rounded, with
        one warning.

    Raises
    ------
    InputError
        A count is negative, nan or above 2**31 - 1; the corpus has no documents.
    UsageError
        The data are of another type, the vocabulary has the wrong length, ranks disagree, or no word is left.

    Examples
    --------
    >>> import gaslab as gl, scipy.sparse as sp
    >>> counts = sp.csr_array([[2, 1, 0], [0, 0, 3]])
    >>> corpus = gl.corpus_from(counts, vocabulary=["cat", "dog", "bank"])
    >>> corpus
    <Graph from matrix: 5 vertices, 3 edges, directed; bipartite, 2 + 3; columns: count (int64)>
    >>> gl.lda(corpus, topics=2, iterations=20, seed=1).metrics["figures"]["tokens"]
    6
    """

    def load(comm: Comm) -> EdgeList:
        return corpus_edges_from(
            data, comm, vocabulary=vocabulary, document=document, word=word, count=count,
            stop_words=stop_words, min_df=min_df, max_df=max_df, rows=rows,
        )  # fmt: skip

    return Graph._ingest(load, strategy, comm)
