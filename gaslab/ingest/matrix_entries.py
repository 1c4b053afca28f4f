"""A head and one entry per line, ``row column [value]``, with ends from 1: MatrixMarket and bags of words.

Entries are parsed like the lines of an edge list. The first entry that contradicts the head is searched for
once all ranks know that one exists.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gaslab.errors import InputError, UsageError
from gaslab.ingest.files import InputFile, blocks, share
from gaslab.ingest.formats import CALLED
from gaslab.ingest.layout import Layout, Options, comment_table
from gaslab.ingest.problems import BadLine, refusal
from gaslab.ingest.roles import SOURCE, TARGET, find_roles
from gaslab.ingest.text import Parsed, as_of_edges, first_bad, parse_pieces, total_counts
from gaslab.parallel.comm import Comm

LARGEST_COUNT = (1 << 31) - 1  # tokens of an entry
WHOLE = "counts are whole numbers from 1 on; gl.corpus_from rounds those of data in memory"
Fault = tuple[int, str]  # an entry of this rank, and why it is invalid


@dataclass(frozen=True)
class Head:
    """The lines above the entries.

    *sizes* are the numbers of ids of each end, and *fields* the names of an entry's fields: two ends and
    perhaps a value, an integer if *integer*. *says* begins a message about their number, *entries*.
    """

    sizes: tuple[int, int]
    entries: int
    fields: tuple[str, ...]
    integer: bool
    line: int  # from 1, with the number of entries
    at: int  # where the last line starts
    says: str
    comments: str = ""


@dataclass
class Entries:
    """This rank's entries: ends from 0, columns by name, and the counts of the whole file."""

    src: np.ndarray
    dst: np.ndarray
    columns: dict[str, np.ndarray]
    counts: dict[str, int]


def read_entries(
    files: Sequence[InputFile],
    head: Head,
    options: Options,
    comm: Comm,
    faults: Callable[[Parsed], list[Fault]] = lambda parsed: [],
) -> Entries:
    """Read the entries of one file, each rank its own range of lines (collective).

    *faults* finds other invalid ones among this rank's entries, with ends from 0. Raises InputError for the
    first line that is not an entry, and for too few or too many.
    """
    file = files[0]
    layout = _layout(file, head, options)
    pieces = share(files, comm.rank, comm.size)
    parsed = comm.attempt(lambda: parse_pieces(files, pieces, layout, options.threads))
    _check_lines(parsed, file, head, layout, comm)
    _check_entries(parsed, file, head, layout, comm, faults, options.counts)
    counts = total_counts(parsed, comm)
    if counts["edges"] != head.entries:
        raise InputError(
            f"{file.name}:{head.line}: {head.says} {head.entries} entries, and the file has "
            f"{counts['edges']}; it is cut short"
        )
    return Entries(parsed.src, parsed.dst, parsed.named(layout.columns, comm), as_of_edges(counts))


def count_faults(parsed: Parsed, largest: float = LARGEST_COUNT) -> list[Fault]:
    """Return this rank's first entry whose value is not a count of tokens."""
    for run in parsed.runs if parsed.columns else ():
        bits = parsed.columns[0][run.lo : run.hi]
        values = bits.view(np.float64) if run.real[0] else bits
        wrong = no_counts(values, largest)
        if wrong.any():
            at = int(np.argmax(wrong))
            return [(run.lo + at, f"the count is {why_no_count(float(values[at]))}")]
    return []


def no_counts(values: np.ndarray, largest: float = LARGEST_COUNT) -> np.ndarray:
    """Return bool marks: True for values that are not counts of tokens."""
    return np.asarray(~((values >= 1) & (values <= largest)) | (np.floor(values) != values))


def why_no_count(value: float) -> str:
    """Return the error for one of `no_counts`."""
    if not math.isfinite(value) or math.floor(value) != value:
        return "not a whole number"
    return "less than 1" if value < 1 else f"more than {LARGEST_COUNT}"


def _layout(file: InputFile, head: Head, options: Options) -> Layout:
    """Return how to read the lines of entries."""
    called = ["source", "target", *head.fields[2:]]
    found = find_roles([[b"1"] * len(called)], called, options.columns, file.name)
    if (found.role[0], found.role[1]) != (SOURCE, TARGET):
        first, second = head.fields[:2]
        raise UsageError(
            f"columns={options.columns!r}: the source is the {first} and the target the {second} in a "
            f"{CALLED[file.format]} file; the reverse() of a graph has its edges reversed"
        )
    fields = [*head.fields[:2], *found.fields[2:]]
    return Layout(0, comment_table(head.comments), found.role, fields, found.columns, False, head=head.at)


def _check_lines(parsed: Parsed, file: InputFile, head: Head, layout: Layout, comm: Comm) -> None:
    """Raise for the first line that is not an entry in any file (collective)."""
    bad = first_bad(parsed.pieces, parsed.bad, comm)
    if bad is not None:
        rejected = int(comm.allreduce(parsed.counts["rejected"]))
        raise InputError(refusal(bad, file.name, layout.fields, rejected, "an entry"))


def _check_entries(
    parsed: Parsed,
    file: InputFile,
    head: Head,
    layout: Layout,
    comm: Comm,
    faults: Callable[[Parsed], list[Fault]],
    counts: bool,
) -> None:
    """Count the ends from 0; raise for the first line that is not an entry of this file (collective)."""
    before = sum(comm.allgather(parsed.rows)[: comm.rank])
    for ends in (parsed.src, parsed.dst):
        ends -= 1
    wrong: list[BadLine] = []

    def look() -> None:
        at, what = min([*_outside(parsed, head, before), *faults(parsed)], default=(0, ""))
        integers = head.integer and any(run.real.any() for run in parsed.runs)
        if what or integers:
            bad = _find(file, head, layout, comm, at, what, integers)
            wrong.extend([bad] if bad is not None else [])

    comm.attempt(look)
    bad = first_bad(parsed.pieces, wrong, comm)
    if bad is not None:
        way_out = f"; {WHOLE}" if counts and "count" in bad.problem else ""
        raise InputError(refusal(bad, file.name, layout.fields, 1, "an entry") + way_out)


def _outside(parsed: Parsed, head: Head, before: int) -> list[Fault]:
    """Return this rank's first entries with nonexistent ends, and the first one too many."""
    found: list[Fault] = []
    for ends, size, name in zip((parsed.src, parsed.dst), head.sizes, head.fields, strict=False):
        distance = ends.view(np.uint64)  # 0 in the file is 2**64 - 1 here
        if distance.size and int(distance.max()) >= size:
            found.append((int(np.argmax(distance >= size)), f"the {name} is not from 1 to {size}"))
    if before + parsed.rows > head.entries:
        what = f"one entry more than the {head.entries} of line {head.line}"
        found.append((max(head.entries - before, 0), what))
    return found


def _find(
    file: InputFile, head: Head, layout: Layout, comm: Comm, at: int, what: str, integers: bool
) -> BadLine | None:
    """Return the line of this rank's entry *at*, or the first before it whose value is not an integer.

    This rereads the lines: slow, but only for an error.
    """
    entry = 0
    for piece in share([file], comm.rank, comm.size):
        number = 0
        for block in blocks(file, piece):
            start = block.offset + block.begin
            for line in block.lines():
                number += 1
                bare, below = line.strip(b" \t\r"), start > head.at
                start += len(line) + 1
                if not below or not bare or layout.comment[bare[0]]:
                    continue
                if integers and not _is_integer(bare.split()[2]):
                    return BadLine(0, number, f"{layout.columns[0]} is not a 64-bit integer", 0, line)
                if what and entry == at:
                    return BadLine(0, number, what, 0, line)
                entry += 1
    return None


def _is_integer(word: bytes) -> bool:
    return re.fullmatch(rb"[+-]?\d{1,30}", word) is not None and -(1 << 63) <= int(word) < 1 << 63
