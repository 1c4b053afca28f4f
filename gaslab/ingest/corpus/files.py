"""`read_corpus_edges`: a corpus in files to edges from documents to words."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab._kernels import parser
from gaslab.errors import InputError, UsageError
from gaslab.ingest.corpus.choice import Choice
from gaslab.ingest.corpus.finish import finish
from gaslab.ingest.corpus.formats import find_corpus_files
from gaslab.ingest.corpus.pairs import read_pairs
from gaslab.ingest.corpus.text import read_folder, read_lines
from gaslab.ingest.edges import EdgeList, Numbered
from gaslab.ingest.files import InputFile
from gaslab.ingest.formats import CALLED, CORPUS_FORMATS
from gaslab.ingest.layout import Options, data_lines, find_layout
from gaslab.ingest.matrix_entries import WHOLE, no_counts, why_no_count
from gaslab.ingest.problems import shown
from gaslab.ingest.read import READERS, options_of, paths_of
from gaslab.ingest.roles import Columns
from gaslab.parallel.comm import Comm, as_comm

log = logging.getLogger("gaslab")
COUNTS = ("count", "weight")  # names of a column of counts
OF_LINES = ("ids", "comments", "delimiter", "header", "on_bad_line", "max_bad_lines")  # options of edge lists
NO_COUNT = {"count": None}  # columns= that makes each entry one token


def read_corpus_edges(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    comm: Comm | None = None,
    *,
    format: str = "auto",
    vocabulary: str | os.PathLike[str] | None = None,
    stop_words: Any = None,
    min_df: int | float = 0,
    max_df: int | float = 1.0,
    columns: Columns = None,
    ids: str = "auto",
    comments: str = "#%",
    delimiter: str | None = None,
    header: bool | None = None,
    on_bad_line: str = "error",
    max_bad_lines: int | None = None,
    threads: int | None = None,
) -> EdgeList:
    """Read a corpus (collective): edges from documents to words, with one column ``count``, int64.

    The arguments are those of `gaslab.read_corpus`.
    """
    comm, path = as_comm(comm), paths_of(path)
    arguments.choice("format", format, CORPUS_FORMATS)
    options = options_of(
        comm, ids=ids, columns=columns, comments=comments, delimiter=delimiter, header=header,
        on_bad_line=on_bad_line, max_bad_lines=max_bad_lines, vocabulary=vocabulary, bipartite=True,
        threads=threads, counts=True,
    )  # fmt: skip
    choice = Choice.of(stop_words, min_df, max_df, comm)
    if isinstance(path, str) and comm.on_root(lambda: os.path.isdir(path)):
        if format not in ("auto", "text"):
            raise UsageError(
                f"{path}: format={format!r} (--format {format}) is for files, and this is a folder, in which "
                "each file is a plain-text document; name the files in it"
            )
        found, source = read_folder(path, options, comm), path
    else:
        lines = any(getattr(options, name) != getattr(Options, name) for name in OF_LINES)
        lines |= options.columns not in (None, NO_COUNT)
        files = comm.on_root(lambda: find_corpus_files(path, format, lines))
        if format == "auto" and comm.rank == 0:
            said = "%s: its name and first lines look like %s; --format NAME (format=) overrides this"
            log.info(said, files[0].name, files[0].format)
        found, source = _read(files, options, comm), ", ".join(file.name for file in files)
    return finish(found, choice, source, comm, options.threads)


def _read(files: Sequence[InputFile], options: Options, comm: Comm) -> Numbered:
    """Read the files of one format (collective)."""
    what = files[0].format
    if what == "edges":
        return _read_edges(files, options, comm)
    tokens = options.columns is not None  # each entry is one token
    if tokens and options.columns != NO_COUNT:
        raise UsageError(
            f"{files[0].name}: columns={options.columns!r} (--column) is for edge lists, and this is a "
            f"{CALLED[what]} file; its count can be left out, --column count=none (columns={{'count': None}})"
        )
    reader = {"text": read_lines, "ldac": read_pairs, "svmlight": read_pairs}.get(what) or READERS[what]
    found = reader(files, replace(options, columns=None), comm)
    values = None if tokens else next(iter(found.columns.values()), None)  # a pattern has none
    ones = np.ones(found.src.size, np.int64)
    found.columns = {"count": ones if values is None else values.astype(np.int64, copy=False)}
    return found


def _read_edges(files: Sequence[InputFile], options: Options, comm: Comm) -> Numbered:
    """Read lines of document, word and perhaps a count (collective)."""
    if options.vocabulary is not None:
        raise UsageError(
            f"{files[0].name}: vocabulary={options.vocabulary!r} (--vocabulary) names the words of a file "
            f"that numbers them, and this is an {CALLED['edges']}; pass the format of the file (--format)"
        )
    columns = options.columns
    tokens = isinstance(columns, Mapping) and columns.get("count", "") is None  # each line is one token
    if tokens:
        assert isinstance(columns, Mapping)
        options = replace(options, columns=[] if len(columns) == 1 else {**columns, "weight": None})
    found = READERS["edges"](files, options, comm)
    column = None if tokens else _column_of_counts(list(found.columns), files[0].name)
    if comm.rank == 0:
        known = {None: "each line is one token", "count": "each line has its count"}
        log.info(known.get(column, f"count = column {column!r}"))
    if column is None:
        counts = np.ones(found.src.size, np.int64)
    else:
        values = found.columns[column]
        wrong = no_counts(values)
        if comm.allreduce(int(wrong.any()), "max"):
            comm.on_root(lambda: _refuse_count(files, options, column))
        counts = values.astype(np.int64)
    found.columns = {"count": counts}
    return found


def _column_of_counts(names: list[str], source: str) -> str | None:
    """Return the column of counts: by name, or the only one; None without any."""
    for name in COUNTS:
        if name in names:
            return name
    if len(names) > 1:
        raise UsageError(
            f"{source} has the fields {', '.join(names)}; say which is the count, --column count=NAME "
            "(columns={'count': NAME}), or that each line is one token, --column count=none"
        )
    return names[0] if names else None


def _refuse_count(files: Sequence[InputFile], options: Options, column: str) -> None:
    """Raise InputError for the first line with a bad count (not collective), rereading the lines."""
    layout = find_layout(files, options)
    field = int(np.flatnonzero(layout.role == layout.columns.index(column))[0])
    for file in files:
        for number, _, line in data_lines(file, layout.comment):
            fields = parser.fields(line, layout.delimiter)
            if fields is None or len(fields) != layout.role.size or not parser.is_number(fields[field]):
                continue  # the header, or a line left out
            value = float(fields[field])
            if no_counts(np.array([value])).any():
                raise InputError(
                    f"{file.name}:{number}: {column} is {why_no_count(value)}: {shown(line)}; --column "
                    f"count=NAME names another field; {WHOLE}"
                )
