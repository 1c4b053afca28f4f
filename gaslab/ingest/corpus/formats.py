"""The format of a corpus: graph formats that can hold one, lda-c, SVMlight, plain text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gaslab import arguments
from gaslab._kernels import parser
from gaslab.errors import UsageError
from gaslab.ingest.files import InputFile, Path, named_files
from gaslab.ingest.formats import CALLED, CORPUS_FORMATS, is_bag, known_format

ENDINGS = {
    ".mtx": "matrixmarket", ".ldac": "ldac", ".svmlight": "svmlight", ".libsvm": "svmlight",
}  # fmt: skip
ALONE = ("matrixmarket", "bagofwords")  # a file gives its number of documents
SAMPLE = 100  # lines by which a format is found
MOST = 0.9  # of them, at least, fit that format
_COUNTED = re.compile(rb"[ \t]*(\d+)((?:[ \t]+\d+:\S+)*)[ \t]*")
_LABELLED = re.compile(rb"[ \t]*[^\s:]*(?:[ \t]+(?:\d+|qid):\S+)+[ \t]*(?:#.*)?")


def find_corpus_files(paths: Path | Sequence[Path], wanted: str, lines: bool) -> list[InputFile]:
    """Return the files that *paths* name, globs expanded and sorted, all in one format.

    It is *wanted*, or shown by their names and first lines. If some files are plain text and the others could
    be edge lists, all are plain text; with *lines*, options of edge lists, they are edge lists. Files of only
    blank lines are plain text: documents without words.
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
            "file; a corpus has one format; choose it with --format NAME (format=NAME)"
        )
    if len(files) > 1 and files[0].format in ALONE:
        raise UsageError(
            f"{files[0].name}: a {CALLED[files[0].format]} file is a corpus of its own, and {len(files)} "
            "files were named; read it alone"
        )
    return files


def find_corpus_format(name: str, head: bytes, wanted: str = "auto") -> str:
    """Return the format of the file *name*, whose text begins with *head*: *wanted*, or its apparent format.

    Raises InputError for an unsupported format, and for a MatrixMarket file if another is wanted.
    """
    known = known_format(name, head, wanted, ENDINGS)
    if known is not None:
        return known
    if os.path.basename(name).lower().startswith("docword.") or is_bag(name, head):
        return "bagofwords"
    lines = _sample(head)
    if _mostly(map(_is_counted, lines[:SAMPLE])):
        return "ldac"
    if _mostly(_LABELLED.fullmatch(line) is not None for line in lines[:SAMPLE]):
        return "svmlight"
    return (
        "edges"
        if any(_are_edges(lines, delimiter) for delimiter in (0, 44, 9, 59, 58 + parser.TWICE))
        else "text"
    )


def _sample(head: bytes) -> list[bytes]:
    """Return the complete lines of the head that are neither blank nor comments of an edge list."""
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    bare = [line.strip(b" \t\r") for line in (lines[:-1] if len(lines) > 1 else lines)]
    return [line for line in bare if line and line[:1] not in (b"#", b"%")]


def _is_counted(line: bytes) -> bool:
    """Return whether a line is lda-c: as many pairs as its first field says."""
    found = _COUNTED.fullmatch(line)
    return found is not None and int(found[1]) == len(found[2].split())


def _mostly(found: Iterable[bool]) -> bool:
    """Return whether nearly all are true: a bad line is an error in its place, not another format."""
    listed = list(found)
    return bool(listed) and sum(listed) >= MOST * len(listed)


def _are_edges(lines: list[bytes], delimiter: int) -> bool:
    """Return whether lines may be an edge list, not sentences.

    Nearly all have the same number of fields, and a field after the second is a number below the first line.
    Or all have, no id field has a blank in or before it, and those between blanks `_are_pairs`.
    """
    rows = [parser.fields(line, delimiter) or [] for line in lines[:SAMPLE]]
    if not rows:
        return True
    widths = [len(row) for row in rows]
    width, below = max(widths, key=widths.count), rows[1:] or rows
    if any(_mostly(len(row) == width and parser.is_number(row[k]) for row in below) for k in range(2, width)):
        return True
    if width < 2 or set(widths) != {width}:
        return False
    if delimiter == 0:
        return width == 2 and _are_pairs(lines)
    spaced = any(bytes([delimiter % parser.TWICE]) + b" " in line for line in lines)
    return not spaced and not any(b" " in one for row in rows for one in row[:2])


def _are_pairs(lines: list[bytes]) -> bool:
    """Return whether two fields between blanks are a document and a word, not two words.

    Documents are numbers; or a document or a word has several lines, and none is both.
    """
    rows = [row for line in lines if len(row := parser.fields(line, 0) or []) == 2]
    if all(row[0].isdigit() for row in rows[1:] or rows):
        return True
    documents, words = map(set, zip(*rows, strict=True))
    several = 2 * min(len(documents), len(words)) <= len(rows)
    return several and documents.isdisjoint(words) and len(rows) >= MOST * len(lines)
