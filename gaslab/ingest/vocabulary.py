"""A vocabulary: a file with one word per line; the word on line k is the id of vertex k on one side."""

from __future__ import annotations

from operator import methodcaller

import numpy as np

from gaslab.errors import InputError
from gaslab.ingest.files import InputFile, blocks, look_at, share
from gaslab.ingest.ids import VertexIds, from_one
from gaslab.ingest.names import Names
from gaslab.ingest.number_ids import number_names
from gaslab.ingest.problems import not_utf8, shown
from gaslab.parallel.comm import Comm


def number_words(path: str, count: int | None, needed: str, comm: Comm) -> tuple[np.ndarray, VertexIds]:
    """Return (the global id of the word of each line, int64; the directory of words) (collective).

    Raises InputError if there are not *count* of them, as *needed* says, for a line that is not a word, and
    for a repeated word. None: any number.
    """
    file = comm.on_root(lambda: look_at(path, "edges"))
    words = comm.attempt(lambda: _read(file, comm))
    faults = comm.allgather((len(words), _fault(words)))
    above = 0
    for lines, fault in faults:
        if fault is not None:
            raise InputError(f"{path}:{above + fault[0] + 1}: {fault[1]}")
        above += lines
    if count is not None and above != count:
        raise InputError(f"{path}: the vocabulary has {above} words, a line each, and {needed}")
    if above == 0:
        return np.empty(0, np.int64), from_one(comm, 0)
    number, known, again = numbered(Names.of([word.decode() for word in words]), comm)
    if again is not None:
        line, first, word = again
        raise InputError(
            f"{path}:{line + 1}: the word {word!r} is in line {first + 1} too; each is a vertex of its own"
        )
    return number, known


def numbered(words: Names, comm: Comm) -> tuple[np.ndarray, VertexIds, tuple[int, int, str] | None]:
    """Return (the global id of every word, int64; the directory; the first word again) (collective).

    Ranks have the words in rank order. A repeated word: its place, its earlier place, the word.
    """
    own, known = number_names(words, comm)
    number = np.concatenate(comm.allgather_array(own))
    if known.num_vertices == number.size:
        return number, known, None
    order = np.argsort(number, kind="stable")
    again = order[1:][number[order[1:]] == number[order[:-1]]]
    place = int(again.min())
    return number, known, (place, int(np.argmax(number == number[place])), known.lookup(number[[place]])[0])


def right_side(path: str | None, count: int, where: str, comm: Comm) -> tuple[np.ndarray | None, VertexIds]:
    """Return (the global id of each of *count* words, None: in order; their directory) (collective).

    The ids of the words are those of the vocabulary *path*, or the numbers from 1 on. *where* is the file.
    """
    if path is None:
        return None, from_one(comm, count, f"{where}: ")
    return number_words(path, count, f"{where} has {count}", comm)


def _read(file: InputFile, comm: Comm) -> list[bytes]:
    """Return this rank's lines without blanks around them (not collective)."""
    lines: list[bytes] = []
    for piece in share([file], comm.rank, comm.size):
        for block in blocks(file, piece):
            lines += block.lines()
    return list(map(methodcaller("strip", b" \t\r"), lines))


def _fault(words: list[bytes]) -> tuple[int, str] | None:
    """Return the first line, from 0, that is not a word, and its error; None if all are words."""
    found = [(words.index(b""), "an empty line; each line of a vocabulary is a word")] if b"" in words else []
    text = b"\n".join(words)
    for byte, what in ((b"\0", "a NUL byte"), (b"\r", "a carriage return inside the line")):
        at = text.find(byte)
        if at >= 0:
            line = text.count(b"\n", 0, at)
            found.append((line, f"{what}: {shown(words[line])}; is it a text file?"))
    try:
        text.decode()
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start)
        found.append((line, not_utf8("the word", text[error.start]).format(shown(words[line]))))
    return min(found, default=None)
