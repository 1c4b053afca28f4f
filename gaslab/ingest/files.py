"""Files as blocks of whole lines: which rank reads which bytes, and how.

Plain files form one space of bytes, in the order given, and every rank takes an equal range of it: the lines
that *start* in its range. A gzip file cannot be entered in the middle, so one rank reads it whole; the
largest goes first, each to the rank with the least so far.
"""

from __future__ import annotations

import contextlib
import glob
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gaslab import arguments
from gaslab._kernels import parser
from gaslab.errors import InputError, UsageError
from gaslab.ingest.formats import CALLED, FORMATS, HEAD_BYTES, ending_of, find_format

BLOCK_BYTES = 8 << 20  # text of one block: large against a call's cost, small against caches and memory
LONGEST_LINE = 1 << 20  # without its end; beyond it the file is not lines of text
TRUNCATED = "the gzip data ends too early; the file is truncated"
BOM = b"\xef\xbb\xbf"

Path = str | os.PathLike[str]
Finder = Callable[[str, bytes, str], str]  # of name, first bytes and the wanted format


@dataclass(frozen=True)
class InputFile:
    """One file: its stored size in bytes, whether it is gzip, and the format of its text."""

    name: str
    size: int
    gzipped: bool
    format: str = "edges"


@dataclass(frozen=True)
class Piece:
    """One rank's piece of one file: the lines that start at bytes [begin, end) of its text."""

    file: int
    begin: int
    end: int  # -1: to the end of the file


@dataclass
class Block:
    """Whole lines: ``text[begin:end]``, ended by a newline; *offset* is text[0]'s position in the file."""

    text: np.ndarray
    begin: int
    end: int
    offset: int

    def lines(self) -> list[bytes]:
        """Return the lines without their newlines."""
        return bytes(self.text[self.begin : self.end]).split(b"\n")[:-1]


def find_files(paths: Path | Sequence[Path], wanted: str = "auto") -> list[InputFile]:
    """Return the files that *paths* name, globs expanded and sorted, in the format *wanted* or as found.

    All of them are edge lists, or there is one file.
    """
    arguments.choice("format", wanted, FORMATS)
    files = [file for name in expanded(paths) for file in _in(name, wanted)]
    other = next((file for file in files if file.format != "edges"), None)
    if other is not None and len(files) > 1:
        raise UsageError(
            f"{other.name}: a {CALLED[other.format]} file is a graph of its own, and {len(files)} files were "
            "named; read it alone, or pass --format edges (format='edges') if it is an edge list"
        )
    return files


def named_files(paths: Path | Sequence[Path], wanted: str, find: Finder) -> list[InputFile]:
    """Return the files that *paths* name, globs expanded and sorted, in the formats that *find* finds."""
    return [look_at(name, wanted, find) for name in expanded(paths)]


def _in(name: str, wanted: str) -> list[InputFile]:
    """Return the file *name*, or a folder's files, which are all of one kind."""
    if not os.path.isdir(name):
        return [look_at(name, wanted)]
    inside = sorted(os.path.join(name, one) for one in os.listdir(name) if not one.startswith("."))
    if not inside:
        raise InputError(f"{name}: is an empty folder")
    within = next(filter(os.path.isdir, inside), None)
    if within is not None:
        raise InputError(f"{name}: is not a saved graph, and holds the folder {within}; name files")
    files = [look_at(one, wanted) for one in inside]
    for file in files:
        if (ending_of(file.name), file.format) != (ending_of(inside[0]), files[0].format):
            raise InputError(
                f"{name}: is a folder of several kinds of files, such as {os.path.basename(inside[0])} and "
                f"{os.path.basename(file.name)}, and not a saved graph; name those to read"
            )
    return files


def expanded(paths: Path | Sequence[Path]) -> list[str]:
    """Return the names in *paths*, with globs expanded and sorted."""
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not listed:
        raise UsageError("path=[]: at least one input file is needed")
    names: list[str] = []
    for path in [os.fspath(one) for one in listed]:
        if os.path.exists(path) or not glob.has_magic(path):
            names.append(path)
            continue
        found = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))
        if not found:
            raise InputError(f"{path}: no file matches")
        names += found
    return names


def look_at(name: str, wanted: str, find: Finder = find_format) -> InputFile:
    """Return the file *name* in the format that *find* finds; raises InputError if it is unsupported."""
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
            head = file.read(HEAD_BYTES)
        size = os.path.getsize(name)
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from error
    gzipped = head.startswith(b"\x1f\x8b")
    if name.endswith(".gz") and not gzipped and size:
        raise InputError(f"{name}: is named .gz but is not gzip data")
    return InputFile(name, size, gzipped, find(name, text_of(head) if gzipped else head, wanted))


def text_of(head: bytes) -> bytes:
    """Return the beginning of gzip data's text, as far as *head* has it; nothing if damaged."""
    with contextlib.suppress(zlib.error):
        return zlib.decompressobj(31).decompress(head, HEAD_BYTES)
    return b""


def share(files: Sequence[InputFile], rank: int, size: int) -> list[Piece]:
    """Return the pieces that *rank* of *size* reads, in the order of the files."""
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


def blocks(
    file: InputFile, piece: Piece, block_bytes: int = BLOCK_BYTES, longest: int = LONGEST_LINE
) -> Iterator[Block]:
    """Read the lines of *piece*, block by block; a block's memory is reused for the next.

    A byte-order mark is dropped, and a missing last newline added. A line of more than *longest* bytes is an
    InputError.
    """
    try:
        with open(file.name, "rb", buffering=0) as raw:
            if piece.end >= 0:
                begin = _line_start(file, raw, piece.begin, longest)
                end = _line_start(file, raw, piece.end, longest)
                raw.seek(begin)
                yield from _blocks(file.name, raw, begin, end - begin, block_bytes, longest)
            else:
                with gzip.GzipFile(fileobj=raw) as unzipped:
                    yield from _blocks(file.name, unzipped, 0, -1, block_bytes, longest)
    except EOFError as error:
        raise InputError(f"{file.name}: {TRUNCATED}") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{file.name}: the gzip data is damaged: {error}") from error
    except OSError as error:
        raise InputError(f"{file.name}: cannot be read: {error.strerror or error}") from error


def numbered_lines(file: InputFile, longest: int = LONGEST_LINE) -> Iterator[tuple[int, int, bytes]]:
    """Yield (number from 1, offset in the text, line without its newline) of all lines."""
    number = 0
    for block in blocks(file, Piece(0, 0, -1 if file.gzipped else file.size), 1 << 16, longest):
        at = block.offset + block.begin
        for line in block.lines():
            number += 1
            yield number, at, line
            at += len(line) + 1


def _line_start(file: InputFile, raw: io.FileIO, at: int, longest: int) -> int:
    """Return where the first line that starts at byte *at* or later starts.

    The line before it may be too long to find its end: then the answer is so far after *at* that the rank on
    which that line starts detects it while reading.
    """
    if at == 0 or at >= file.size:
        return min(at, file.size)
    raw.seek(at - 1)
    start, stop, window = at - 1, min(at + longest, file.size), 4096
    while start < stop:
        part = raw.read(window)
        newline = part.find(b"\n")
        if newline >= 0:
            return start + newline + 1
        if not part:
            break
        start += len(part)
        window = min(2 * window, 1 << 20)
    return stop


def _blocks(
    name: str, stream: io.FileIO | gzip.GzipFile, offset: int, remaining: int, block_bytes: int, longest: int
) -> Iterator[Block]:
    """Read *remaining* bytes of whole lines (-1: to the end); the first is byte *offset* of the text."""
    size = block_bytes if remaining < 0 else min(block_bytes, remaining + 1)  # a newline may be put in
    text = np.zeros(size + parser.PADDING, dtype=np.uint8)
    filled = 0
    while True:
        room = text.size - parser.PADDING - 1 - filled  # one byte for a newline put in
        wanted = room if remaining < 0 else min(room, remaining)
        count = _fill(stream, text[filled : filled + wanted].data)
        filled += count
        if remaining >= 0:
            if count < wanted:
                raise InputError(f"{name}: became shorter while it was read")
            remaining -= count
        finished = count < wanted or remaining == 0
        if finished and offset == 0 and bytes(text[:filled]) == BOM:
            return  # a mark alone is no line
        if finished and filled and text[filled - 1] != 10:
            text[filled] = 10
            filled += 1
        end = _last_newline(text, filled) + 1
        begin = len(BOM) if offset == 0 and bytes(text[:3]) == BOM and end > len(BOM) else 0
        if end > begin:
            _check_lines(name, text, begin, end, offset, longest)
            yield Block(text, begin, end, offset)
            text[: filled - end] = text[end:filled].copy()
            offset, filled = offset + end, filled - end
        elif filled > longest + len(BOM):
            raise _too_long(name, offset, longest)
        elif not finished:
            text = np.concatenate([text, np.zeros(text.size, dtype=np.uint8)])
        if finished:
            return


def _fill(stream: io.FileIO | gzip.GzipFile, room: memoryview) -> int:
    """Read until *room* is full or the stream ends; return the number of bytes."""
    filled = 0
    while filled < len(room):
        count = stream.readinto(room[filled:])
        if not count:
            break
        filled += count
    return filled


def _last_newline(text: np.ndarray, filled: int) -> int:
    window = 1 << 16
    for stop in range(filled, 0, -window):
        start = max(stop - window, 0)
        found = bytes(text[start:stop]).rfind(b"\n")
        if found >= 0:
            return start + found
    return -1


def _check_lines(name: str, text: np.ndarray, begin: int, end: int, offset: int, longest: int) -> None:
    """Raise for a line of ``text[begin:end]`` (whole lines) that is too long.

    Such a line fills a window of half its length; there are few such windows, and others show a newline in
    their first bytes.
    """
    window = max(longest // 2, 1)
    for start in range(begin, end - window, window):
        if (text[start : start + 64] == 10).any() or (text[start : start + window] == 10).any():
            continue
        first = max(_last_newline(text, start) + 1, begin)
        last = start + window + int(np.argmax(text[start + window : end] == 10))
        if last - first > longest:
            raise _too_long(name, offset + first, longest)


def _too_long(name: str, offset: int, longest: int) -> InputError:
    return InputError(f"{name}: no line end in {longest} bytes from byte {offset} on; is it a text file?")
