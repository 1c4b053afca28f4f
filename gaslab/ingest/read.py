"""`read_edges`: files to edges in global ids."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence

import numpy as np

from gaslab import launch
from gaslab._kernels import ids as kernels
from gaslab.comm import Comm, world
from gaslab.ingest.assign import number_integers, number_names
from gaslab.ingest.edges import EdgeList, assemble
from gaslab.ingest.files import find_files
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.layout import Columns, Options
from gaslab.ingest.names import NameTable
from gaslab.ingest.sides import SidedIds
from gaslab.ingest.text import Parsed, read_text

log = logging.getLogger("gaslab")


def read_edges(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    comm: Comm | None = None,
    *,
    ids: str = "auto",
    columns: Columns = None,
    comments: str = "#%",
    delimiter: str | None = None,
    header: bool | None = None,
    directed: bool = True,
    bipartite: bool = False,
    on_bad_line: str = "error",
    max_bad_lines: int | None = None,
    drop_duplicates: bool = False,
    drop_self_loops: bool = False,
    threads: int | None = None,
) -> EdgeList:
    """Read edges from text, one a line (collective).

    Parameters
    ----------
    path : path or sequence of paths
        Files, plain or gzip (told by content, not by name), or globs. Every rank parses its own range
        of the bytes of the plain ones; a gzip file is read whole by one rank.
    comm : Comm, optional
        The ranks; all of them by default.
    ids : {"auto", "int", "str"}
        ``"int"``: 0 to 2**63 - 1 in digits alone, ``007`` is 7. ``"str"``: any UTF-8, byte for byte.
        ``"auto"``: text if an id of the first data line is not an integer (``+5``, ``1_000`` and ``5.0``
        are not) or any id of the input has a leading zero; else integers, and then a negative, larger
        or other id is a bad line.
    columns : dict or sequence of str, optional
        Which further fields become columns. By default all: fields are called ``weight`` (the third)
        and ``column3``, ``column4``, ... (counted from 0), or as the header names them. A dict binds
        names to fields (``{"cost": 2}``, ``{"cost": "price"}``; ``source`` and ``target`` too) and leaves
        fields out (``{"weight": None}``, and any whose own name is bound to another); a sequence names
        the only ones to keep. A column is int64 if all its values are integers that fit, else float64.
    comments : str
        A line whose first visible character is one of these is a comment.
    delimiter : str, optional
        Between fields: a punctuation character or ``"whitespace"``, ``"tab"``, ``"comma"``, ... By default
        a comma if the first data line has one, else runs of blanks. With a delimiter, blanks around
        fields do not count, and fields may be in double quotes, doubled inside.
    header : bool, optional
        Whether the first data line names the fields. By default it does if it has ``source`` and
        ``target`` (or ``src, dst``; ``from, to``; ``FromNodeId, ToNodeId``), or, with a delimiter, if its
        ids or a further field are text where the next line has integers or a number. A file that
        begins with the same line repeats it.
    directed : bool
        False: a line is one edge between its ends, in both directions.
    bipartite : bool
        The ids of the first column and of the second are of two kinds: 7 on the left is another vertex than
        7 on the right. Either both are integers or both are text.
    on_bad_line : {"error", "skip"}
        A bad line has too few or too many fields (the first data line decides), an id or a number that
        is none, a number that is nan or beyond float64 (``inf`` is fine), an unclosed quote, an empty id,
        a NUL, a carriage return other than before the newline, or ids that are not UTF-8. The first one
        is an error; or bad lines are left out, counted, and warned of once.
    max_bad_lines : int, optional
        With ``"skip"``: more are an error all the same.
    drop_duplicates, drop_self_loops : bool
        Leave out all but the first (by file and line) of the edges with the same ends, in any order
        where edges have no direction; leave out edges from a vertex to itself. Their vertices stay.
    threads : int, optional

    Returns
    -------
    EdgeList
        A byte-order mark is not part of the first line; a last line without newline is a line like
        any other, and so is one that ends in CR LF.

    Raises
    ------
    InputError
        On every rank alike: no such file, a directory, a format other than text and gzip, gzip data
        that is damaged or ends too early, no line end in 1 MiB, a bad line, or no edge at all.
    UsageError
        Options that cannot be or do not fit the input.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "edges.txt")
    >>> _ = open(path, "w").write("# knows\\n3 7 0.5\\n7 9 1\\n")
    >>> edges = read_edges(path)
    >>> edges.num_vertices, edges.src.tolist(), edges.dst.tolist(), edges.columns["weight"].tolist()
    (3, [0, 1], [1, 2], [0.5, 1.0])
    """
    comm = world() if comm is None else comm
    threads = launch.threads_per_rank(comm.local_ranks) if threads is None else threads
    files = comm.on_root(lambda: find_files(path))
    options = Options(ids, columns, comments, delimiter, header)
    parsed, layout, counts = read_text(files, options, comm, threads, on_bad_line, max_bad_lines)
    if comm.rank == 0:
        for said in layout.said:
            log.info(said)
    known = (_number_sides if bipartite else _number)(parsed, layout.strings, comm, threads)
    counts["lines_rejected"] = counts.pop("rejected")
    counts["edges_read"] = counts.pop("edges")
    return assemble(
        comm, parsed.src, parsed.dst, dict(zip(layout.columns, _typed(parsed, comm), strict=True)), known,
        directed=directed, counts=counts, source=", ".join(file.name for file in files), threads=threads,
        drop_self_loops=drop_self_loops, drop_duplicates=drop_duplicates,
        position=_positions(parsed, comm) if drop_duplicates and layout.columns else None,
    )  # fmt: skip


def _number(parsed: Parsed, strings: bool, comm: Comm, threads: int) -> VertexIds:
    """Replace the ends by global ids, in place; return the directory (collective)."""
    if not strings:
        return number_integers([parsed.src, parsed.dst], parsed.largest, comm, threads)
    every, *others = parsed.tables
    index = [None, *(every.intern(table.names()) for table in others)]
    told, known = number_names(every.names(), comm)
    gids = [told if part is None else told[part] for part in index]
    for run in parsed.runs:
        for ends in (parsed.src, parsed.dst):
            kernels.translate(ends[run.lo : run.hi], gids[run.table], threads)
    return known


def _number_sides(parsed: Parsed, strings: bool, comm: Comm, threads: int) -> VertexIds:
    """As `_number`, each column in an id space of its own; the right one's global ids are the later."""
    sides = [_number_side(parsed, ends, strings, comm, threads) for ends in (parsed.src, parsed.dst)]
    parsed.dst += sides[0].num_vertices
    return SidedIds(comm, *sides)


def _number_side(parsed: Parsed, ends: np.ndarray, strings: bool, comm: Comm, threads: int) -> VertexIds:
    if not strings:
        return number_integers([ends], parsed.largest, comm, threads)
    every = NameTable()
    index = []  # for each of the run's tables: the place in *every* of the names that this column has
    for number, table in enumerate(parsed.tables):
        used = np.zeros(table.count, bool)
        for run in parsed.runs:
            if run.table == number:
                used[ends[run.lo : run.hi]] = True
        place = np.zeros(table.count, np.int64)
        place[used] = every.intern(table.names().take(np.flatnonzero(used)))
        index.append(place)
    told, known = number_names(every.names(), comm)
    for run in parsed.runs:
        kernels.translate(ends[run.lo : run.hi], told[index[run.table]], threads)
    return known


def _positions(parsed: Parsed, comm: Comm) -> np.ndarray | None:
    """Return each edge's place in the order of files and lines; None if ranks are in it (collective)."""
    rows = [first for *_, first in parsed.pieces] + [parsed.rows]
    here = [(file, begin, rows[k + 1] - rows[k]) for k, (file, begin, *_) in enumerate(parsed.pieces)]
    told = [piece for part in comm.allgather(here) for piece in part]
    if told == sorted(told):
        return None
    place, base = {}, 0
    for file, begin, count in sorted(told):
        place[file, begin] = base
        base += count
    return np.concatenate(
        [np.empty(0, dtype=np.int64), *(place[file, begin] + np.arange(count) for file, begin, count in here)]
    )


def _typed(parsed: Parsed, comm: Comm) -> list[np.ndarray]:
    """Return the columns: int64 where all values of the input are integers, else float64 (collective)."""
    count = len(parsed.columns)
    real = np.zeros(count, dtype=np.int64)
    for run in parsed.runs:
        real |= run.real
    if count:
        real = comm.allreduce(real, "max")
    for k in np.flatnonzero(real):
        bits = parsed.columns[k]
        for run in parsed.runs:
            if not run.real[k]:
                bits[run.lo : run.hi].view(np.float64)[:] = bits[run.lo : run.hi]
        parsed.columns[k] = bits.view(np.float64)
    return parsed.columns
