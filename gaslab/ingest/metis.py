"""METIS graph files: a line per vertex with its neighbours, every edge in both ends' lists.

Karypis, "METIS: a software package for partitioning unstructured graphs", version 5.1, 2013, section 4.1.1.

The first line that is not a comment (``%``) is ``n m [fmt [ncon]]``: vertices, edges, and three digits 0 or 1
that say whether vertices have sizes, vertices have weights (ncon of them) and edges have weights. The next
lines belong to vertices 1 to n; a vertex without neighbours has an empty line: ``[size] [weights] neighbour
[weight] neighbour [weight] ...``.

The graph is undirected, its edges are stored once, and the ids are 1 to n. Weights of edges are the column
``weight``. Weights of vertices are the vertex column ``weight``, or ``weight1``, ``weight2``, ... where ncon
is more than 1; sizes are the vertex column ``size``. A vertex that lists itself has a self-loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaslab._kernels import metis as kernels
from gaslab._kernels import parser
from gaslab.errors import InputError, UsageError
from gaslab.ingest import files as source
from gaslab.ingest.edges import Numbered
from gaslab.ingest.files import Block, InputFile, Piece
from gaslab.ingest.formats import IF_EDGES
from gaslab.ingest.ids import from_one
from gaslab.ingest.layout import Options, only_of_edge_lists
from gaslab.ingest.problems import PROBLEMS, BadLine, refusal, shown
from gaslab.ingest.roles import find_roles
from gaslab.ingest.text import RUN_BYTES, Parsed, Run, first_bad, typed
from gaslab.parallel.comm import Comm

LONGEST_LINE = 1 << 30  # a vertex may have many neighbours
MOST_NUMBERS = 255  # of a vertex


@dataclass(frozen=True)
class Head:
    """The first line, and where the lines of vertices begin."""

    vertices: int
    edges: int
    numbers: tuple[str, ...]  # the beginning of each line: the vertex columns
    weighted: bool
    line: int  # from 1
    text: bytes
    body: int  # bytes of text above the vertices


@dataclass
class Lists:
    """The lines read by this rank: edges, numbers of vertices, and the kernel's counters."""

    edges: Parsed
    numbers: list[np.ndarray]  # int64 by column: the bits of the values
    runs: list[tuple[int, int, np.ndarray]]  # of those: rows, and which columns hold bits of float64
    counters: np.ndarray


def read_metis(files: Sequence[InputFile], options: Options, comm: Comm) -> Numbered:
    """Read the vertices of one file, each rank its own range of lines (collective).

    With ``directed=True`` an edge leads from each end to the other. Raises InputError for a file that is not
    such a graph, ends too early or has too many lines, for a line that is not a vertex's, and for an edge
    that is not in both ends' lists.
    """
    file, both, threads = files[0], options.directed is True, options.threads
    only_of_edge_lists(options, file)
    if options.bipartite:
        raise UsageError(
            f"{file.name}: bipartite=True (--bipartite), and a METIS file has vertices of one kind"
        )
    head = comm.on_root(lambda: find_head(file))
    found = find_roles([[b"1"] * (2 + head.weighted)], None, options.columns, file.name)
    pieces = _pieces(file, head, comm)
    first = _first_vertex(file, pieces, head, comm)
    lists = comm.attempt(lambda: _parse(file, pieces, head, first, both, threads))
    counts = _checked(lists, file, pieces, head, first, comm, threads)
    columns = {}
    if head.weighted and found.role[2] >= 0:
        columns = lists.edges.named(found.fields[2:], comm)
    known, vertices = from_one(comm, head.vertices, f"{file.name}:{head.line}: "), None
    if head.numbers:
        values = typed(lists.numbers, lists.runs, comm)
        gids = np.arange(first, min(first + values[0].size, head.vertices), dtype=np.int64)
        vertices = gids, {n: v[: gids.size] for n, v in zip(head.numbers, values, strict=True)}
    return Numbered(
        lists.edges.src, lists.edges.dst, columns, known,
        directed=both, counts=counts, vertices=vertices,
    )  # fmt: skip


# ---- the head, and which rank reads which lines ------------------------------------------------------


def find_head(file: InputFile) -> Head:
    """Read the first line that is neither blank nor a comment (not collective)."""
    for number, at, line in source.numbered_lines(file, LONGEST_LINE):
        bare = line.strip(b" \t\r")
        if bare and not bare.startswith(b"%"):
            return _head(f"{file.name}:{number}: ", bare, number, at + len(line) + 1)
    raise InputError(
        f"{file.name}: a METIS file begins with 'vertices edges [format [weights]]'; this has no line"
    )


def _head(where: str, text: bytes, number: int, body: int) -> Head:
    found = re.fullmatch(rb"(\d{1,18})[ \t]+(\d{1,18})(?:[ \t]+([01]{1,3})(?:[ \t]+(\d{1,3}))?)?", text)
    if found is None:
        raise InputError(
            f"{where}a METIS file begins with 'vertices edges [format [weights]]', the format of digits 0 "
            f"and 1, not {shown(text)}; {IF_EDGES}"
        )
    sized, heavy, weighted = (digit == 49 for digit in (found[3] or b"0").zfill(3))
    weights = int(found[4] or heavy)
    if weights > MOST_NUMBERS or (weights > 0) != heavy:
        most = f"1 to {MOST_NUMBERS}" if heavy else "no"
        raise InputError(
            f"{where}{weights} weights of each vertex, where the format {_text(found[3])} has {most}"
        )
    names = ("weight",) if weights == 1 else tuple(f"weight{k}" for k in range(1, weights + 1))
    return Head(int(found[1]), int(found[2]), ("size",) * sized + names, weighted, number, text, body)


def _text(word: bytes | None) -> str:
    return (word or b"0").decode()


def _pieces(file: InputFile, head: Head, comm: Comm) -> list[Piece]:
    """Return this rank's piece: an equal range of the bytes below the head, or all of a gzip file."""
    if file.gzipped:
        return [Piece(0, 0, -1)] if comm.rank == 0 else []
    room = file.size - min(head.body, file.size)
    lo, hi = (file.size - room + room * r // comm.size for r in (comm.rank, comm.rank + 1))
    return [Piece(0, lo, hi)] if lo < hi else []


def _blocks(file: InputFile, piece: Piece, head: Head) -> Iterator[Block]:
    """Read the lines of *piece* that are below the head."""
    for block in source.blocks(file, piece, longest=LONGEST_LINE):
        begin = max(block.begin, head.body - block.offset)
        if begin < block.end:
            yield replace(block, begin=begin)


def _first_vertex(file: InputFile, pieces: list[Piece], head: Head, comm: Comm) -> int:
    """Return how many vertices have their lines on lower ranks (collective)."""

    def count() -> int:
        found = 0
        for piece in pieces:
            for block in _blocks(file, piece, head):
                found += int(kernels.count(block.text, np.array([block.begin, block.end])).sum())
        return found

    several = comm.size > 1 and not file.gzipped
    return sum(comm.allgather(comm.attempt(count) if several else 0)[: comm.rank])


# ---- lines to edges ----------------------------------------------------------------------------------


def _parse(file: InputFile, pieces: list[Piece], head: Head, first: int, both: bool, threads: int) -> Lists:
    """Parse this rank's lines; *first* is the first vertex, from 0 (not collective)."""
    empty = np.empty(0, np.int64)
    width = 2 + head.weighted
    edges = Parsed(empty, empty, [empty] * head.weighted)
    blocks: list[list[np.ndarray]] = []
    runs: list[tuple[int, int, np.ndarray]] = []
    total = np.zeros(len(kernels.COUNTERS), np.int64)
    room = [empty] * 3
    vertex = first
    for piece in pieces:
        left = (piece.end if piece.end >= 0 else 0) - piece.begin
        for block in _blocks(file, piece, head):
            size = block.end - block.begin
            bounds, _ = parser.split(
                block.text, block.begin, block.end, max(1, min(threads, size // RUN_BYTES))
            )
            vertices = kernels.count(block.text, bounds)
            if room[0].size < size // 2:
                room = [*(np.empty(size // 2, np.int64) for _ in range(width)), empty][:3]
            blocks.append([np.empty(int(vertices.sum()), np.int64) for _ in head.numbers])
            counters, bad, real = kernels.parse(
                block.text, bounds, vertex + np.cumsum(vertices) - vertices, head.vertices, len(head.numbers),
                head.weighted, both, *room, tuple(blocks[-1]),
            )  # fmt: skip
            _keep(edges, room[:width], bounds, counters, real, int(left / size) if edges.src.size == 0 else 0)
            row, line = vertex - first, int(total[0])
            for run, count in enumerate(vertices.tolist()):
                runs.append((row, row + count, real[run, 1:].astype(bool)))
                for above, offset, length, problem, word in bad[run, : counters[run, -1]].tolist():
                    text = bytes(block.text[offset : offset + length])
                    edges.bad.append(BadLine(0, line + above + 1, PROBLEMS[problem], word, text))
                row, line = row + count, line + int(counters[run, 0])
            total += counters.sum(axis=0)
            vertex += int(vertices.sum())
            left -= size
        edges.pieces.append((0, piece.begin, int(total[0]), 0))
    edges.trim()
    numbers = [np.concatenate([empty, *(block[k] for block in blocks)]) for k in range(len(head.numbers))]
    return Lists(edges, numbers, runs, total)


def _keep(
    edges: Parsed,
    room: list[np.ndarray],
    bounds: np.ndarray,
    counters: np.ndarray,
    real: np.ndarray,
    more: int,
) -> None:
    """Append the edges of a block's runs; *more* such blocks may follow."""
    counts = counters[:, kernels.COUNTERS.index("edges")].tolist()
    edges.reserve(sum(counts) + int(sum(counts) * more * 1.02))
    for run, count in enumerate(counts):
        at = int(bounds[run] - bounds[0]) // 2
        for kept, here in zip((edges.src, edges.dst, *edges.columns), room, strict=True):
            kept[edges.rows : edges.rows + count] = here[at : at + count]
        edges.runs.append(
            Run(edges.rows, edges.rows + count, 0, real[run, : len(edges.columns)].astype(bool))
        )
        edges.rows += count


# ---- whether it is the graph in the head ------------------------------------------------------


def _checked(
    lists: Lists, file: InputFile, pieces: list[Piece], head: Head, first: int, comm: Comm, threads: int
) -> dict[str, int]:
    """Return the counts of the whole file; raise for its first error (collective)."""
    total = dict(zip(kernels.COUNTERS, comm.allreduce(lists.counters).tolist(), strict=True))
    bad = first_bad(lists.edges.pieces, lists.edges.bad, comm)
    if bad is not None:
        bad = replace(bad, line=bad.line + head.line)
        raise InputError(refusal(bad, file.name, [], total["rejected"], "a line", _explained(bad, head)))
    says = f"{file.name}:{head.line}: the first line {shown(head.text)} says"
    # An empty last line without its line end does not count.
    if total["vertices"] < head.vertices - (not head.numbers):
        raise InputError(
            f"{says} {head.vertices} vertices, and {total['vertices']} lines follow; it is cut short"
        )
    if (total["upper"], total["upper_sum"]) != (total["lower"], total["lower_sum"]):
        raise InputError(_one_sided(file, pieces, head, first, comm, threads))
    edges = total["upper"] + total["self_loops"]
    if edges != head.edges:
        raise InputError(f"{says} {head.edges} edges, and the lists of their ends have {edges}")
    return {
        "lines": total["lines"] + head.line, "headers": 1, "comments": total["comments"] + head.line - 1,
        "lines_rejected": 0, "edges_read": edges,
    }  # fmt: skip


def _explained(bad: BadLine, head: Head) -> dict[str, str]:
    """Return the error of a line, by problem."""
    word = f"word {bad.field + 1}"
    no_vertex = f"{word} is not a vertex, 1 to {head.vertices}"
    return {
        "outside": no_vertex, "not_integer": no_vertex, "not_number": f"{word} is not a number",
        "nan": f"{word} is not a number (nan)", "out_of_range": f"{word} is outside float64's range",
        "no_weight": f"the last neighbour has no weight (word {bad.field + 1})",
        "no_number": f"the vertex's {(*head.numbers, '')[min(bad.field, len(head.numbers))]} is missing",
        "extra_line": f"one line more than the {head.vertices} vertices of line {head.line}",
    }  # fmt: skip


def _one_sided(file: InputFile, pieces: list[Piece], head: Head, first: int, comm: Comm, threads: int) -> str:
    """Name the first edge, by its ends, whose two lists differ (collective)."""
    lists = comm.attempt(lambda: _parse(file, pieces, head, first, True, threads))
    edges = lists.edges
    known = edges.named(["weight"] * head.weighted, comm)
    weight = known.get("weight", np.zeros(edges.rows, np.int64))
    ends = np.minimum(edges.src, edges.dst), np.maximum(edges.src, edges.dst)
    rows = np.column_stack([*ends, weight.view(np.int64), np.where(edges.src < edges.dst, 1, -1)])
    rows = rows[ends[0] != ends[1]]
    owner = rows[:, 0] % comm.size
    mine = np.concatenate(comm.alltoall([rows[owner == rank] for rank in range(comm.size)]))
    mine = mine[np.lexsort(mine.T[2::-1])]
    starts = np.flatnonzero(np.r_[True, (np.diff(mine[:, :3], axis=0) != 0).any(axis=1)][: len(mine)])
    odd = np.flatnonzero(np.add.reduceat(mine[:, 3], starts)) if len(mine) else starts
    found = comm.allgather(mine[starts[odd[0]], :2].tolist() if odd.size else None)
    low, high = min(pair for pair in found if pair is not None)
    lines = comm.allgather(comm.attempt(lambda: _line_of(file, pieces, head, low - first)))
    here = next(rank for rank, line in enumerate(lines) if line)
    above = sum(piece[2] for part in comm.allgather(edges.pieces)[:here] for piece in part)
    return (
        f"{file.name}:{head.line + above + lines[here]}: the edge of {low + 1} and {high + 1} is not in the "
        f"lists of both{' with the same weight' if head.weighted else ''}"
    )


def _line_of(file: InputFile, pieces: list[Piece], head: Head, vertex: int) -> int:
    """Return the line, from 1 in its piece, of this rank's vertex number *vertex*; 0 if it is not here."""
    number, seen = 0, -1
    for piece in pieces if vertex >= 0 else []:
        for block in _blocks(file, piece, head):
            for line in block.lines():
                number += 1
                seen += not line.lstrip(b" \t").startswith(b"%")
                if seen == vertex:
                    return number
    return 0
