"""Plain text as a corpus: a document is a line of a file, or a file in a folder; its words are counted.

A word is a run of two or more Unicode letters, digits and underscores, in lower case, as in scikit-learn's
CountVectorizer.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Sequence

import numpy as np

from gaslab._kernels import documents as kernels
from gaslab.errors import InputError, UsageError
from gaslab.ingest.corpus.pieces import BLOCK_BYTES, Part, entries_of, read_documents
from gaslab.ingest.edges import Numbered
from gaslab.ingest.files import TRUNCATED, Block, InputFile
from gaslab.ingest.formats import CALLED
from gaslab.ingest.ids import VertexIds, from_one
from gaslab.ingest.layout import Options, only_of_edge_lists
from gaslab.ingest.names import Names, NameTable
from gaslab.ingest.number_ids import number_names
from gaslab.ingest.problems import not_utf8, shown
from gaslab.ingest.sides import SidedIds
from gaslab.parallel.comm import Comm

NUL = "a NUL byte: {}; is it a text file?"


class Counter:
    """Counts the words of documents; words are numbered in order of arrival."""

    def __init__(self) -> None:
        self.table = NameTable()

    def count(self, text: str) -> Part:
        """Return the words and counts of documents, each a line ending in a newline."""
        arena, start, line = kernels.words(np.frombuffer(text.lower().encode(), np.uint8))
        word = self.table.intern(Names(arena, start))
        width = max(self.table.count, 1)
        pair, count = np.unique(line * width + word, return_counts=True)
        lines = text.count("\n")
        return Part(pair // width, pair % width, count.astype(np.int64), lines, lines)


def read_lines(files: Sequence[InputFile], options: Options, comm: Comm) -> Numbered:
    """Read documents as lines, each rank its own range of bytes (collective).

    The ids of documents are their line numbers, from 1, through all files; a blank line is a document without
    words. Raises InputError for a line that is not UTF-8 or has a NUL.
    """
    _no_vocabulary(options, files[0].name, CALLED["text"])
    only_of_edge_lists(options, files[0])
    counter = Counter()

    def parse(file: InputFile, block: Block) -> Part:
        data = bytes(block.text[block.begin : block.end])
        bad = _fault(data)
        if bad is None:
            return counter.count(data.decode())
        nothing = np.empty(0, np.int64)
        return Part(nothing, nothing, nothing, 0, 0, bad)

    found = read_documents(files, parse, comm)
    left = from_one(comm, found.total, f"{files[0].name}: ")
    counts = {"lines": found.lines}
    return as_corpus(found.document, found.word, found.count, left, counter.table.names(), counts, comm)


def _fault(data: bytes) -> tuple[int, str, bytes] | None:
    """Return the first line that is not UTF-8 text: its number from 0, its error, and the line."""
    at = data.find(b"\0")
    problem = NUL
    try:
        (data if at < 0 else data[:at]).decode()
    except UnicodeDecodeError as error:
        at, problem = error.start, not_utf8("the text", data[error.start])
    if at < 0:
        return None
    begin, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
    return data.count(b"\n", 0, at), problem, data[begin:] if end < 0 else data[begin:end]


def as_corpus(
    document: np.ndarray, word: np.ndarray, count: np.ndarray, left: VertexIds, names: Names,
    counts: dict[str, int], comm: Comm,
) -> Numbered:  # fmt: skip
    """Return the corpus of this rank's entries, whose words are indices into its *names* (collective)."""
    counts["edges_read"] = int(comm.allreduce(word.size))
    if counts["edges_read"] == 0:
        right = from_one(comm, 0)
        gids = np.empty(0, np.int64)
    else:
        gids, right = number_names(names, comm)
    return Numbered(
        document, left.num_vertices + gids[word], {"count": count}, SidedIds(comm, left, right),
        directed=True, counts=counts,
    )  # fmt: skip


def read_folder(folder: str, options: Options, comm: Comm) -> Numbered:
    """Read documents from the files below a folder, plain or gzipped, each rank some of them (collective).

    The ids of documents are their files' paths in the folder; files and folders whose names begin with a dot
    are left out. Raises InputError for a folder without files, and for a file that is not UTF-8 text.
    """
    _no_vocabulary(options, folder, "a folder of texts")
    files = comm.on_root(lambda: _listed(folder))
    begin, end = _share([size for _, size in files], comm)
    counter = Counter()
    parts = comm.attempt(lambda: _count(folder, [name for name, _ in files[begin:end]], counter))
    entries = entries_of([part for _, part in parts], [begin + first for first, _ in parts])
    names = Names.of([name for name, _ in files[comm.rank :: comm.size]])
    left = VertexIds(comm, "str", len(files), names)
    return as_corpus(*entries, left, counter.table.names(), {}, comm)


def _no_vocabulary(options: Options, name: str, what: str) -> None:
    if options.vocabulary is not None:
        raise UsageError(
            f"{name}: vocabulary={options.vocabulary!r} (--vocabulary) names words that are numbers, and "
            f"this is {what}, which has words; leave it out"
        )


def _listed(folder: str) -> list[tuple[str, int]]:
    """Return (path in the folder, bytes) of all files below it, in the order of UTF-8."""
    found = []
    for place, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = "" if place == folder else os.path.relpath(place, folder).replace(os.sep, "/") + "/"
        for name in names:
            path = os.path.join(place, name)
            if not name.startswith(".") and os.path.isfile(path):
                found.append((below + name, os.path.getsize(path)))
    if not found:
        raise InputError(f"{folder}: no files are below this folder; each is a document")
    for name, _ in found:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InputError(f"{folder}: the name of a file is not UTF-8: {name!r}; rename it") from None
    return sorted(found, key=lambda pair: pair[0].encode())


def _refuse(error: OSError) -> None:
    raise InputError(f"{error.filename}: cannot be read: {error.strerror}") from error


def _share(sizes: list[int], comm: Comm) -> tuple[int, int]:
    """Return the first file of this rank and of the next: about equal bytes for every rank."""
    ends = np.cumsum(np.array(sizes) + 1)
    return tuple(  # type: ignore[return-value]
        int(np.searchsorted(ends, ends[-1] * rank // comm.size, side="right"))
        if rank < comm.size else len(sizes) for rank in (comm.rank, comm.rank + 1)
    )  # fmt: skip


def _count(folder: str, names: list[str], counter: Counter) -> list[tuple[int, Part]]:
    """Return (the first document, the counts) of several files at a time (not collective)."""
    parts: list[tuple[int, Part]] = []
    texts: list[str] = []
    first, size = 0, 0
    for at, name in enumerate(names):
        texts.append(_text(os.path.join(folder, name)).replace("\n", " "))
        size += len(texts[-1])
        if size >= BLOCK_BYTES or at + 1 == len(names):
            parts.append((first, counter.count("\n".join([*texts, ""]))))
            texts, first, size = [], at + 1, 0
    return parts


def _text(path: str) -> str:
    """Return the text of a file."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
    except EOFError as error:
        raise InputError(f"{path}: {TRUNCATED}") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: the gzip data is damaged: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    bad = _fault(data)
    if bad is not None:
        raise InputError(f"{path}:{bad[0] + 1}: {bad[1].format(shown(bad[2]))}")
    return data.decode()
