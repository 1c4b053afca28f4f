"""Which format a corpus is in: those of graphs that can be one, lda-c, SVMlight, plain text."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from gaslab import arguments
from gaslab._kernels import parser
from gaslab.errors import UsageError
from gaslab.ingest.files import InputFile, Path, named_files
from gaslab.ingest.formats import CALLED, CORPUS_FORMATS, is_bag, known_format

ENDINGS = {
    ".mtx": "matrixmarket", ".ldac": "ldac", ".svmlight": "svmlight", ".libsvm": "svmlight",
}  # fmt: skip
ALONE = ("matrixmarket", "bagofwords")  # a file says how many documents there are
SAMPLE = 100  # lines that a format is found by
_COUNTED = re.compile(rb"[ \t]*(\d+)((?:[ \t]+\d+:\S+)*)[ \t]*")
_LABELLED = re.compile(rb"[ \t]*[^\s:]*(?:[ \t]+(?:\d+|qid):\S+)+[ \t]*(?:#.*)?")


def find_corpus_files(paths: Path | Sequence[Path], wanted: str, lines: bool) -> list[InputFile]:
    """Return the files that *paths* name, globs expanded and sorted, all in one format.

    It is *wanted*, or what their names and first lines show. Files of which some are plain text and the
    others would pass for edge lists are plain text; with *lines*, options of edge lists, they are edge lists.
    Files of blank lines alone are plain text, of documents without words.
    """
    arguments.choice("format", wanted, CORPUS_FORMATS)
    blank = []

    def find(name: str, head: bytes, wanted: str) -> str:
        blank.append(bool(head) and not head.strip())
        return find_corpus_format(name, head, wanted)

    files = named_files(paths, wanted, find)
    if wanted == "auto" and all(blank) and not lines and {file.format for file in files} == {"edges"}:
        return [replace(file, format="text") for file in files]
    known = {file.format for file in files}
    if wanted == "auto" and "text" in known <= {"edges", "text"}:
        return [replace(file, format="edges" if lines else "text") for file in files]
    other = next((file for file in files if file.format != files[0].format), None)
    if other is not None:
        raise UsageError(
            f"{files[0].name} is a {CALLED[files[0].format]} file and {other.name} a {CALLED[other.format]} "
            "file; a corpus has one format, which --format NAME (format=NAME) says"
        )
    if len(files) > 1 and files[0].format in ALONE:
        raise UsageError(
            f"{files[0].name}: a {CALLED[files[0].format]} file is a corpus of its own, and {len(files)} "
            "files were named; read it alone"
        )
    return files


def find_corpus_format(name: str, head: bytes, wanted: str = "auto") -> str:
    """Return the format of the file *name*, whose text begins with *head*: *wanted*, or what it looks like.

    Raises InputError for a format that is not read, and for a MatrixMarket file that is wanted as another.
    """
    known = known_format(name, head, wanted, ENDINGS)
    if known is not None:
        return known
    if os.path.basename(name).lower().startswith("docword.") or is_bag(name, head):
        return "bagofwords"
    lines = _sample(head)
    if lines and all(map(_is_counted, lines)):
        return "ldac"
    if lines and all(map(_LABELLED.fullmatch, lines)):
        return "svmlight"
    return (
        "edges"
        if any(_are_edges(lines, delimiter) for delimiter in (0, 44, 9, 59, 58 + parser.TWICE))
        else "text"
    )


def _sample(head: bytes) -> list[bytes]:
    """Return the first lines that are whole and neither blank nor comments of an edge list."""
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    bare = [line.strip(b" \t\r") for line in (lines[:-1] if len(lines) > 1 else lines)]
    return [line for line in bare if line and line[:1] not in (b"#", b"%")][:SAMPLE]


def _is_counted(line: bytes) -> bool:
    """Return whether a line is one of lda-c: as many pairs as its first field says."""
    found = _COUNTED.fullmatch(line)
    return found is not None and int(found[1]) == len(found[2].split())


def _are_edges(lines: list[bytes], delimiter: int) -> bool:
    """Return whether lines may be those of an edge list, and not sentences.

    They have the same number of fields, two or more. One after the second is a number in all lines below the
    first; or no field for an id has a blank in it, and between blanks there are two fields alone, the first
    of which is a number, or has half as many values as there are lines: documents have several words.
    """
    rows = [parser.fields(line, delimiter) for line in lines]
    widths = {len(row) if row is not None else 0 for row in rows}
    if not rows or len(widths) > 1 or min(widths) < 2:
        return not rows
    width, below = widths.pop(), rows[1:] or rows
    if any(all(parser.is_number(row[k]) for row in below) for k in range(2, width)):
        return True
    if delimiter == 0:
        several = 2 * len({row[0] for row in rows}) <= len(rows)
        return width == 2 and (several or all(row[0].isdigit() for row in below))
    return not any(b" " in one for row in rows for one in row[:2])
