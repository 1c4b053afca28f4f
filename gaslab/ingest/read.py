"""`read_edges`: files to edges in global ids."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab._kernels import ids as kernels
from gaslab.errors import UsageError, warn_user
from gaslab.ingest.bagofwords import read_bag
from gaslab.ingest.edges import EdgeList, Numbered, assemble
from gaslab.ingest.files import InputFile, find_files
from gaslab.ingest.formats import CALLED
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.layout import Options
from gaslab.ingest.matrixmarket import read_matrix
from gaslab.ingest.metis import read_metis
from gaslab.ingest.names import NameTable
from gaslab.ingest.number_ids import number_integers, number_names
from gaslab.ingest.roles import Columns
from gaslab.ingest.sides import SidedIds
from gaslab.ingest.text import Parsed, as_of_edges, read_text
from gaslab.parallel import launch
from gaslab.parallel.comm import Comm, as_comm

KINDS = ("auto", "int", "str")  # of ids
BAD_LINES = ("error", "skip")
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
    directed: bool | None = None,
    bipartite: bool = False,
    on_bad_line: str = "error",
    max_bad_lines: int | None = None,
    drop_duplicates: bool = False,
    drop_self_loops: bool = False,
    format: str = "auto",
    vocabulary: str | os.PathLike[str] | None = None,
    threads: int | None = None,
) -> EdgeList:
    """Read edges from text, one per line, or from a MatrixMarket, METIS or bag-of-words file (collective).

    Parameters
    ----------
    path : path or sequence of paths
        Files, plain or gzip (by content, not by name), or globs. Every rank parses its own byte range of
        plain files; a gzip file is read whole by one rank.
    comm : Comm, optional
        The ranks; all of them by default.
    ids : {"auto", "int", "str"}
        ``"int"``: -2**63 to 2**63 - 1 in digits, ``007`` is 7. ``"str"``: any UTF-8, byte for byte.
        ``"auto"``: text if an id of the first data line is not an integer (``+5``, ``1_000`` and ``5.0`` are
        not) or any id of an edge has a leading zero, as ``-0`` does; else integers, and then a larger or
        non-integer id is a bad line. Bad lines decide nothing.
    columns : dict or sequence of str, optional
        Which further fields become columns. By default all: fields are called ``weight`` (the third) and
        ``column3``, ``column4``, ... (counted from 0), or as the header names them. A dict binds names to
        fields (``{"cost": 2}``, ``{"cost": "price"}``; ``source`` and ``target`` too) and leaves fields out
        (``{"weight": None}``, and any whose own name is bound to another field); a sequence names the only
        ones to keep. Two fields with the same name are an error unless one is renamed or left out. A column
        is int64 if all its values are integers that fit, else float64. One without a number in the first
        lines is text and left out with a warning; any other, and any named here, must have a number in every
        row; the first row without one is a bad line. Between blanks every further field must be a number,
        kept or not, unless a dict leaves it out.
    comments : str
        A line whose first visible character is one of these is a comment.
    delimiter : str, optional
        Between fields: a punctuation character, once or twice (``"::"``), or ``"whitespace"``, ``"tab"``,
        ``"comma"``, ... By default the one of tab, comma, semicolon, ``::`` and runs of blanks that splits
        the first lines equally; see ``docs/graphs.md``. Blanks around fields do not count, and fields may be
        in double quotes, doubled inside.
    header : bool, optional
        Whether the first data line names the fields. By default it does if its ids are text and later ids
        numbers, or if it has typical header words, such as ``source`` and ``target``; a warning names doubts.
        A later file that begins with the same line repeats it.
    directed : bool, optional
        False: a line is one edge between its ends, in both directions. By default True for edge lists; METIS
        files and symmetric MatrixMarket files are not directed. With True their edges lead both ways. The
        edges of a bag of words lead from documents to words.
    bipartite : bool
        The ids of the first column and of the second are of two kinds: 7 on the left and 7 on the right are
        different vertices. Either both are integers or both are text. A bag of words is always bipartite.
    on_bad_line : {"error", "skip"}
        A bad line has too few or too many fields (the first data line decides), an invalid id or number, a
        number that is nan or beyond float64 (``inf`` is fine), an unclosed quote, an empty id, a NUL, a
        carriage return other than before the newline, or ids that are not UTF-8. The first one is an error;
        or bad lines are skipped and counted, with one warning.
    max_bad_lines : int, optional
        With ``"skip"``: more are still an error.
    drop_duplicates, drop_self_loops : bool
        Keep only the first (by file and line) of the edges with the same ends, in any order if edges have no
        direction; drop edges from a vertex to itself. Their vertices stay.
    vocabulary : path, optional
        For a bag-of-words file: a file with one word per line; line k is the id of word k. The words are
        UTF-8, distinct and as many as the head says; surrounding blanks do not count.
    threads : int, optional

    Returns
    -------
    EdgeList
        A byte-order mark is not part of the first line; a last line without newline, or a line that ends in
        CR LF, is like any other.

    Raises
    ------
    InputError
        On every rank: no such file, a directory, an unsupported format, gzip data that is damaged or ends too
        early, no line end in 1 MiB, a bad line, or no edges.
    UsageError
        Options are invalid or do not fit the input.

    Warns
    -----
    UserWarning
        Columns are left out because they are text, or it is doubtful whether the first line is a header.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "edges.txt")
    >>> _ = open(path, "w").write("# knows\\n3 7 0.5\\n7 9 1\\n")
    >>> edges = read_edges(path)
    >>> edges.num_vertices, edges.src.tolist(), edges.dst.tolist(), edges.columns["weight"].tolist()
    (3, [0, 1], [1, 2], [0.5, 1.0])
    """
    comm, path = as_comm(comm), paths_of(path)
    drop_duplicates, drop_self_loops = arguments.flags(
        drop_duplicates=drop_duplicates, drop_self_loops=drop_self_loops
    )
    options = options_of(
        comm, ids=ids, columns=columns, comments=comments, delimiter=delimiter, header=header,
        on_bad_line=on_bad_line, max_bad_lines=max_bad_lines, vocabulary=vocabulary, directed=directed,
        bipartite=bipartite, threads=threads,
    )  # fmt: skip
    files = comm.on_root(lambda: find_files(path, format))
    what = files[0].format
    if options.vocabulary is not None and what != "bagofwords":
        raise UsageError(
            f"vocabulary={options.vocabulary!r} names the words of a bag-of-words file, and the format of "
            f"{files[0].name} is {CALLED[what]}; pass format='bagofwords' (--format bagofwords) if it is one"
        )
    found = READERS[what](files, options, comm)
    made = assemble(
        comm, found.src, found.dst, found.columns, found.ids, directed=found.directed, counts=found.counts,
        source=", ".join(file.name for file in files), threads=options.threads,
        drop_self_loops=drop_self_loops, drop_duplicates=drop_duplicates,
        position=found.position() if drop_duplicates else None,
    )  # fmt: skip
    made.vertices, made.left_out = found.vertices, found.left_out
    return made


def options_of(
    comm: Comm, *, ids: Any, columns: Any, comments: Any, delimiter: Any, header: Any, on_bad_line: Any,
    max_bad_lines: Any, vocabulary: Any, directed: Any = None, bipartite: Any = False, threads: Any = None,
    counts: bool = False,
) -> Options:  # fmt: skip
    """Return the caller's options for the text, checked."""
    threads = arguments.threads(threads)
    return Options(
        ids=arguments.choice("ids", ids, KINDS),
        columns=columns_of(columns),
        comments=arguments.text("comments", comments),
        delimiter=arguments.text("delimiter", delimiter, optional=True),
        header=arguments.flag("header", header, optional=True),
        on_bad_line=arguments.choice("on_bad_line", on_bad_line, BAD_LINES),
        max_bad_lines=arguments.whole("max_bad_lines", max_bad_lines, 0, optional=True),
        vocabulary=arguments.path("vocabulary", vocabulary, optional=True),
        directed=arguments.flag("directed", directed, optional=True),
        bipartite=arguments.flag("bipartite", bipartite),
        threads=launch.threads_per_rank(comm.local_ranks) if threads is None else threads,
        counts=counts,
    )


def _read_list(files: Sequence[InputFile], options: Options, comm: Comm) -> Numbered:
    """Read edge lists (collective)."""
    parsed, layout, counts = read_text(files, options, comm)
    if comm.rank == 0:
        for said in layout.said:
            log.info(said)
    for doubt in layout.doubts:
        warn_user(doubt, UserWarning, comm.rank)
    number = number_sides if options.bipartite else number_ends
    known = number(parsed, layout.strings, comm, options.threads)
    columns = parsed.named(layout.columns, comm)
    return Numbered(
        parsed.src, parsed.dst, columns, known,
        directed=options.directed is not False, counts=as_of_edges(counts),
        position=lambda: _positions(parsed, comm) if layout.columns else None,
        left_out=layout.left_out,
    )  # fmt: skip


READERS = {"edges": _read_list, "matrixmarket": read_matrix, "metis": read_metis, "bagofwords": read_bag}


def paths_of(path: Any) -> Any:
    """Return a path, or several as a list."""
    if isinstance(path, (str, os.PathLike)):
        return arguments.path("path", path)
    every = arguments.several("path", path, "a path, or a sequence of them,")
    return [arguments.path("path", one) for one in every]


def columns_of(columns: Any) -> Columns:
    """Return ``columns=`` of `read_edges`: names, or a mapping from name to field."""
    if columns is None:
        return None
    if not isinstance(columns, Mapping):
        return arguments.texts("columns", columns)  # type: ignore[no-any-return]
    for name, field in columns.items():
        is_field = isinstance(field, (int, str, NoneType)) and not isinstance(field, bool)
        if not isinstance(name, str) or not is_field:
            what = f"{arguments.shown(name)}: {arguments.shown(field)} does not bind a name to a field"
            raise arguments.wrong("columns", columns, f"{what}, which is its position or name, or None")
    return columns


def number_ends(parsed: Parsed, strings: bool, comm: Comm, threads: int) -> VertexIds:
    """Replace the ends by global ids, in place; return the directory (collective)."""
    if not strings:
        return number_integers([parsed.src, parsed.dst], parsed.largest, comm, threads, parsed.least)
    every, *others = parsed.tables
    index = [None, *(every.intern(table.names()) for table in others)]
    numbers, known = number_names(every.names(), comm)
    gids = [numbers if part is None else numbers[part] for part in index]
    for run in parsed.runs:
        for ends in (parsed.src, parsed.dst):
            kernels.translate(ends[run.lo : run.hi], gids[run.table], threads)
    return known


def number_sides(parsed: Parsed, strings: bool, comm: Comm, threads: int) -> VertexIds:
    """As `number_ends`, with separate id spaces for the columns; the right one's global ids come later."""
    sides = [_number_side(parsed, ends, strings, comm, threads) for ends in (parsed.src, parsed.dst)]
    parsed.dst += sides[0].num_vertices
    return SidedIds(comm, *sides)


def _number_side(parsed: Parsed, ends: np.ndarray, strings: bool, comm: Comm, threads: int) -> VertexIds:
    if not strings:
        return number_integers([ends], parsed.largest, comm, threads, parsed.least)
    every = NameTable()
    index = []  # for each of the run's tables: the places in *every* of this column's names
    for number, table in enumerate(parsed.tables):
        used = np.zeros(table.count, bool)
        for run in parsed.runs:
            if run.table == number:
                used[ends[run.lo : run.hi]] = True
        place = np.zeros(table.count, np.int64)
        place[used] = every.intern(table.names().take(np.flatnonzero(used)))
        index.append(place)
    numbers, known = number_names(every.names(), comm)
    for run in parsed.runs:
        kernels.translate(ends[run.lo : run.hi], numbers[index[run.table]], threads)
    return known


def _positions(parsed: Parsed, comm: Comm) -> np.ndarray | None:
    """Return each edge's place in the order of files and lines; None if ranks follow it (collective)."""
    rows = [first for *_, first in parsed.pieces] + [parsed.rows]
    here = [(file, begin, rows[k + 1] - rows[k]) for k, (file, begin, *_) in enumerate(parsed.pieces)]
    pieces = [piece for part in comm.allgather(here) for piece in part]
    if pieces == sorted(pieces):
        return None
    place, base = {}, 0
    for file, begin, count in sorted(pieces):
        place[file, begin] = base
        base += count
    return np.concatenate(
        [np.empty(0, dtype=np.int64), *(place[file, begin] + np.arange(count) for file, begin, count in here)]
    )
