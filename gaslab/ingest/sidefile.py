"""Small text files beside a graph, read by one rank from their start: values, rows, tables of vertices."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, cast

from gaslab.errors import InputError
from gaslab.ingest.files import TRUNCATED, text_of
from gaslab.ingest.formats import HEAD_BYTES
from gaslab.ingest.problems import not_utf8, shown


def check_side_file(path: str) -> None:
    """Raise InputError unless *path* is an existing file or pipe: a device may never end."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"cannot read {path}: it is a directory; name a file in it")
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise InputError(f"cannot read {path}: it is neither a file nor a pipe; copy its text into a file")


@contextmanager
def side_file(path: str) -> Iterator[tuple[bytes, Iterator[str]]]:
    """Open *path*, as gzip data if so named; yield the first bytes of the text, and its lines.

    Raises InputError, also inside the block, for a file that cannot be read, is not text, or is damaged.
    """
    check_side_file(path)
    try:
        with io.BufferedReader(io.FileIO(path), HEAD_BYTES) as raw:
            head, zipped = raw.peek(HEAD_BYTES), path.endswith(".gz")
            data = cast(IO[bytes], gzip.GzipFile(fileobj=raw) if zipped else raw)
            with io.TextIOWrapper(data, "utf-8-sig", "surrogateescape") as text:
                yield text_of(head) if zipped else head, _lines(path, text)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error}") from None
    except EOFError:
        raise InputError(f"cannot read {path}: {TRUNCATED}") from None
    except zlib.error as error:
        raise InputError(f"cannot read {path}: the gzip data is damaged: {error}") from None


def _lines(path: str, text: Iterable[str]) -> Iterator[str]:
    """Yield lines; raise InputError for the first with non-UTF-8 bytes, escaped in *text*."""
    for number, line in enumerate(text, 1):
        try:
            line.encode()
        except UnicodeEncodeError as error:
            said = not_utf8("the text", ord(line[error.start]) & 0xFF)
            raw = line.encode(errors="surrogateescape")
            raise InputError(f"{path}:{number}: {said.format(shown(raw))}") from None
        yield line
