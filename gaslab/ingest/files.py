"""Files as blocks of whole lines: which rank reads which bytes, and how they come in.

Plain files form one space of bytes, in the order given, and every rank takes an equal range of it:
the lines that *start* in its range. A gzip file cannot be entered in the middle, so each is read
whole by one rank, the largest first to the rank with the least so far.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gaslab._kernels import parser
from gaslab.errors import InputError, UsageError

BLOCK_BYTES = 8 << 20  # text of one block: large against the cost of a call, small against caches and memory
LONGEST_LINE = 1 << 20  # beyond it the file is not lines of text
BOM = b"\xef\xbb\xbf"

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class InputFile:
    """One file: its size in bytes as stored, and whether those are gzip's."""

    name: str
    size: int
    gzipped: bool


@dataclass(frozen=True)
class Piece:
    """What one rank reads of one file: the lines that start at bytes [begin, end) of its text."""

    file: int
    begin: int
    end: int  # -1: to the end of the file


@dataclass
class Block:
    """Whole lines: ``text[begin:end]``, ended by a newline; *offset* is where text[0] is in the file."""

    text: np.ndarray
    begin: int
    end: int
    offset: int


def find_files(paths: Path | Sequence[Path]) -> list[InputFile]:
    """Return the files that *paths* name, globs expanded and sorted."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given:
        raise UsageError("no input file was given")
    names: list[str] = []
    for path in [os.fspath(one) for one in given]:
        if os.path.exists(path) or not glob.has_magic(path):
            names.append(path)
            continue
        found = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))
        if not found:
            raise InputError(f"{path}: no file matches")
        names += found
    return [_look_at(name) for name in names]


_OTHER_FORMATS = {
    b"BZh": "bzip2 data; decompress it first (bunzip2)",
    b"\xfd7zXZ": "xz data; decompress it first (unxz)",
    b"\x28\xb5\x2f\xfd": "zstd data; decompress it first (unzstd)",
    b"PK\x03\x04": "a zip archive; unpack it first (unzip)",
    b"\xff\xfe": "UTF-16 text; convert it first (iconv -f utf-16 -t utf-8)",
    b"\xfe\xff": "UTF-16 text; convert it first (iconv -f utf-16 -t utf-8)",
}


def _look_at(name: str) -> InputFile:
    try:
        if os.path.isdir(name):
            raise InputError(
                f"{name}: is a directory; name its files, for instance {os.path.join(name, '*.txt')!r}"
            )
        if not os.path.isfile(name):
            if os.path.exists(name):
                raise InputError(f"{name}: is not a regular file; every rank reads its own part of a file")
            raise InputError(f"{name}: no such file")
        with open(name, "rb") as file:
            head = file.read(8)
        size = os.path.getsize(name)
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from error
    for magic, what in _OTHER_FORMATS.items():
        if head.startswith(magic):
            raise InputError(f"{name}: is {what}")
    gzipped = head.startswith(b"\x1f\x8b")
    if name.endswith(".gz") and not gzipped and size:
        raise InputError(f"{name}: is named .gz but is not gzip data")
    return InputFile(name, size, gzipped)


def share(files: Sequence[InputFile], rank: int, size: int) -> list[Piece]:
    """Return what *rank* of *size* reads, in the order of the files."""
    plain = sum(file.size for file in files if not file.gzipped)
    lo, hi = plain * rank // size, plain * (rank + 1) // size
    pieces = []
    start = 0
    for index, file in enumerate(files):
        if file.gzipped:
            continue
        begin, end = max(lo - start, 0), min(hi - start, file.size)
        if begin < end:
            pieces.append(Piece(index, begin, end))
        start += file.size
    load = [0] * size
    zipped = [index for index, file in enumerate(files) if file.gzipped]
    for index in sorted(zipped, key=lambda i: (-files[i].size, i)):
        reader = load.index(min(load))
        load[reader] += files[index].size
        if reader == rank:
            pieces.append(Piece(index, 0, -1))
    return sorted(pieces, key=lambda piece: piece.file)


def blocks(file: InputFile, piece: Piece, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
    """Read the lines of *piece*, block by block; a block's memory is used again for the next.

    A byte-order mark is left out, and a missing last newline is put in.
    """
    try:
        with open(file.name, "rb", buffering=0) as raw:
            if piece.end >= 0:
                begin = _line_start(file, raw, piece.begin)
                end = _line_start(file, raw, piece.end)
                raw.seek(begin)
                yield from _blocks(file.name, raw, begin, end - begin, block_bytes)
            else:
                with gzip.GzipFile(fileobj=raw) as unzipped:
                    yield from _blocks(file.name, unzipped, 0, -1, block_bytes)
    except EOFError as error:
        raise InputError(f"{file.name}: the gzip data ends too early; the file is truncated") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{file.name}: the gzip data is damaged: {error}") from error
    except OSError as error:
        raise InputError(f"{file.name}: cannot be read: {error.strerror or error}") from error


def _line_start(file: InputFile, raw: io.FileIO, at: int) -> int:
    """Return where the first line that starts at byte *at* or later does start."""
    if at == 0 or at >= file.size:
        return min(at, file.size)
    raw.seek(at - 1)
    window = 4096
    for start in range(at - 1, at + LONGEST_LINE, window):
        part = raw.read(window)
        newline = part.find(b"\n")
        if newline >= 0:
            return start + newline + 1
        if len(part) < window:
            return file.size
    raise _too_long(file.name, at)


def _blocks(
    name: str, stream: io.FileIO | gzip.GzipFile, offset: int, remaining: int, block_bytes: int
) -> Iterator[Block]:
    """Read *remaining* bytes of whole lines (-1: to the end); the first is byte *offset* of the text."""
    text = np.zeros(block_bytes + parser.PADDING, dtype=np.uint8)
    held = 0
    while True:
        room = text.size - parser.PADDING - 1 - held  # one byte for a newline put in
        wanted = room if remaining < 0 else min(room, remaining)
        came = _fill(stream, text[held : held + wanted].data)
        held += came
        if remaining >= 0:
            if came < wanted:
                raise InputError(f"{name}: became shorter while it was read")
            remaining -= came
        finished = came < wanted or remaining == 0
        if finished and held and text[held - 1] != 10:
            text[held] = 10
            held += 1
        end = _last_newline(text, held) + 1
        begin = len(BOM) if offset == 0 and bytes(text[:3]) == BOM and end > len(BOM) else 0
        if end > begin:
            yield Block(text, begin, end, offset)
            text[: held - end] = text[end:held].copy()
            offset, held = offset + end, held - end
        elif held > LONGEST_LINE:
            raise _too_long(name, offset)
        elif not finished:
            text = np.concatenate([text, np.zeros(text.size, dtype=np.uint8)])
        if finished:
            return


def _fill(stream: io.FileIO | gzip.GzipFile, room: memoryview) -> int:
    """Read until *room* is full or the stream ends; return the number of bytes."""
    held = 0
    while held < len(room):
        came = stream.readinto(room[held:])
        if not came:
            break
        held += came
    return held


def _last_newline(text: np.ndarray, held: int) -> int:
    window = 1 << 16
    for stop in range(held, 0, -window):
        start = max(stop - window, 0)
        found = bytes(text[start:stop]).rfind(b"\n")
        if found >= 0:
            return start + found
    return -1


def _too_long(name: str, offset: int) -> InputError:
    return InputError(
        f"{name}: no line end in {LONGEST_LINE} bytes from byte {offset} on; is it a text file?"
    )
