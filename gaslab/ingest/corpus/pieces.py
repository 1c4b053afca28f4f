"""Documents by line: each rank reads its own, numbers them, and reports bad lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gaslab.errors import InputError
from gaslab.ingest.files import Block, InputFile, blocks, share
from gaslab.ingest.problems import BadLine, shown
from gaslab.ingest.text import first_bad
from gaslab.parallel.comm import Comm

LONGEST_DOCUMENT = 1 << 26  # bytes of a line
BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class Part:
    """The content of a block: each entry's document, from 0 in the block, its word and its count."""

    document: np.ndarray
    word: np.ndarray
    count: np.ndarray
    lines: int
    documents: int
    bad: tuple[int, str, bytes] | None = None  # a line of the block from 0, its error, the text


@dataclass
class Documents:
    """This rank's entries; after `number` their documents are numbered over all ranks."""

    document: np.ndarray
    word: np.ndarray
    count: np.ndarray
    total: int  # documents of all ranks
    lines: int  # of all ranks


@dataclass
class _Pieces:
    """The lines read so far by this rank."""

    parts: list[Part] = field(default_factory=list)
    piece: list[int] = field(default_factory=list)  # of each part
    above: list[int] = field(default_factory=list)  # documents of the piece above each part
    pieces: list[tuple[int, int, int, int]] = field(default_factory=list)  # file, begin, lines, documents
    bad: list[BadLine] = field(default_factory=list)


def read_documents(
    files: Sequence[InputFile], parse: Callable[[InputFile, Block], Part], comm: Comm
) -> Documents:
    """Read the lines of files, each rank its own range of bytes; a gzip file is read by one (collective).

    Documents are numbered from 0 through all files. Raises InputError for the first line that *parse*
    rejects.
    """
    read = comm.attempt(lambda: _read(files, parse, comm))
    bad = first_bad(read.pieces, read.bad, comm)
    if bad is not None:
        raise InputError(f"{files[bad.file].name}:{bad.line}: {bad.problem.format(shown(bad.text))}")
    every = sorted(piece for part in comm.allgather(read.pieces) for piece in part)
    first, total, lines = {}, 0, 0
    for file, begin, length, documents in every:
        first[file, begin] = total
        total += documents
        lines += length
    bases = [
        first[read.pieces[piece][:2]] + above for piece, above in zip(read.piece, read.above, strict=True)
    ]
    return Documents(*entries_of(read.parts, bases), total, lines)


def entries_of(parts: Sequence[Part], first: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (document, word, count) of the entries of parts, given each part's first document."""
    nothing = np.empty(0, np.int64)
    return (
        np.concatenate([nothing, *(part.document + base for part, base in zip(parts, first, strict=True))]),
        np.concatenate([nothing, *(part.word for part in parts)]),
        np.concatenate([nothing, *(part.count for part in parts)]),
    )


def _read(files: Sequence[InputFile], parse: Callable[[InputFile, Block], Part], comm: Comm) -> _Pieces:
    """Parse this rank's lines up to the first bad one (not collective)."""
    read = _Pieces()
    for piece in share(files, comm.rank, comm.size):
        lines = documents = 0
        for block in blocks(files[piece.file], piece, BLOCK_BYTES, LONGEST_DOCUMENT):
            part = parse(files[piece.file], block)
            if part.bad is not None:
                line, problem, text = part.bad
                lines += line + 1  # so that bad lines in later pieces come later
                read.bad.append(BadLine(piece.file, lines, problem, 0, text))
                break
            read.parts.append(part)
            read.piece.append(len(read.pieces))
            read.above.append(documents)
            lines, documents = lines + part.lines, documents + part.documents
        read.pieces.append((piece.file, piece.begin, lines, documents))
        if read.bad:
            break
    return read
