"""`read_parted`: edges with their parts, from text or Parquet as `gaslab partition -o FILE` writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from gaslab._kernels import parser
from gaslab.errors import InputError, UsageError
from gaslab.ingest.arrays import edges_from_arrays
from gaslab.ingest.files import InputFile, look_at, share
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.layout import Layout, Options, comment_table, data_lines, find_layout
from gaslab.ingest.problems import refusal, shown
from gaslab.ingest.read import number_ends, number_sides
from gaslab.ingest.text import first_bad, parse_pieces
from gaslab.parallel.comm import Comm
from gaslab.system.extras import need_pyarrow

if TYPE_CHECKING:
    import pyarrow.parquet

ENDS, PART = ("source", "target"), "part"  # columns
NEEDED = f"a file of parts has the columns {', '.join(ENDS)} and {PART}"


@dataclass
class PartedEdges:
    """This rank's rows of a file, in the order of ranks.

    Attributes
    ----------
    src, dst : int64 arrays
        The ends, in global ids of the file's own vertices.
    ids : VertexIds
        The file's vertices.
    part : int64 or float64 array
        As in the file: unchecked.
    first : int
        The position in the file of this rank's first row.
    row : function of int
        Returns, for the position of a row, its place and its content (not collective).
    """

    src: np.ndarray
    dst: np.ndarray
    ids: VertexIds
    part: np.ndarray
    first: int
    row: Callable[[int], tuple[str, str]]


def read_parted(path: str, kind: str, sided: bool, comm: Comm, threads: int) -> PartedEdges:
    """Read a file of edges and their parts (collective); each rank reads a share of it.

    Text begins with a line that names its columns, and has no comments. The columns ``source``, ``target``
    and ``part`` are read. *kind*, ``"int"`` or ``"str"``, is the kind of ids in text. With *sided* the two
    ends have separate id spaces.

    Raises
    ------
    InputError
        On every rank: no such file, missing columns, a bad line, a missing id.
    UsageError
        The file is Parquet and pyarrow is not installed.
    """
    read = _read_parquet if comm.on_root(lambda: _is_parquet(path)) else _read_text
    return read(path, kind, sided, comm, threads)


def _first(comm: Comm, rows: int) -> int:
    return sum(comm.allgather(rows)[: comm.rank])


# ---- text ------------------------------------------------------------------------------------------


def _read_text(path: str, kind: str, sided: bool, comm: Comm, threads: int) -> PartedEdges:
    options = Options(ids=kind, columns=[PART], comments="", header=True, bipartite=sided, threads=threads)
    file = comm.on_root(lambda: look_at(path, "edges"))
    layout = comm.on_root(lambda: _layout(file, options))
    pieces = share([file], comm.rank, comm.size)
    parsed = comm.attempt(lambda: parse_pieces([file], pieces, layout, threads))
    bad = first_bad(parsed.pieces, parsed.bad, comm)
    if bad is not None:
        rejected = int(comm.allreduce(parsed.counts["rejected"]))
        raise InputError(refusal(bad, path, layout.fields, rejected, "the first data line"))
    ids = (number_sides if sided else number_ends)(parsed, layout.strings, comm, threads)
    part = parsed.named(layout.columns, comm).get(PART, np.empty(0, np.int64))
    first = _first(comm, parsed.rows)
    return PartedEdges(parsed.src, parsed.dst, ids, part, first, lambda position: _line(file, position))


def _layout(file: InputFile, options: Options) -> Layout:
    """Return the layout of the lines; the first must name the part."""
    try:
        layout = find_layout([file], options)
        header = layout.header or b""
        if PART.encode() in (parser.fields(header, layout.delimiter) or []):
            return layout
    except UsageError:  # no such column
        pass
    raise InputError(f"{file.name}: the first line does not name a column {PART!r}; {NEEDED}")


def _line(file: InputFile, position: int) -> tuple[str, str]:
    number, _, line = next(islice(data_lines(file, comment_table("")), position + 1, None))
    return f"{file.name}:{number}", shown(line)


# ---- Parquet ---------------------------------------------------------------------------------------


def _is_parquet(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return False  # `look_at` reports the error


def _read_parquet(path: str, kind: str, sided: bool, comm: Comm, threads: int) -> PartedEdges:
    comm.on_root(lambda: need_pyarrow(f"reading {path}"))
    columns = comm.attempt(lambda: _columns(path, comm.rank, comm.size))
    try:
        src, dst = (columns[end] for end in ENDS)
        edges = edges_from_arrays(src, dst, comm, rows="parts", bipartite=sided, threads=threads, source=path)
    except (InputError, UsageError) as error:
        raise InputError(f"{path}: {error}") from None
    part = columns[PART]
    first = _first(comm, part.size)
    return PartedEdges(edges.src, edges.dst, edges.ids, part, first, lambda position: _record(path, position))


def _opened(path: str) -> pyarrow.parquet.ParquetFile:
    import pyarrow
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(path)
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None


def _columns(path: str, rank: int, size: int) -> dict[str, np.ndarray]:
    """Return this rank's rows: those of a run of the file's groups of rows."""
    import pyarrow

    file = _opened(path)
    lost = next((name for name in (*ENDS, PART) if name not in file.schema_arrow.names), None)
    if lost is not None:
        raise InputError(f"{path}: there is no column {lost!r}; {NEEDED}")
    lo, hi = (file.num_row_groups * r // size for r in (rank, rank + 1))
    try:
        table = file.read_row_groups(range(lo, hi), columns=[*ENDS, PART])
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    found = {}
    for name in ENDS:
        column = table.column(name)
        if column.null_count:
            before = sum(file.metadata.row_group(group).num_rows for group in range(lo))
            at = before + int(np.argmax(column.is_null().to_numpy()))
            raise InputError(f"{path}: row {at + 1}: the {name} id is missing")
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        found[name] = column.to_numpy()
    part = table.column(PART).to_numpy()  # with nan for null
    if part.dtype.kind not in "iuf":
        kind = table.column(PART).type
        raise InputError(f"{path}: the column {PART!r} is {kind}; whole numbers are needed")
    return {**found, PART: part.astype(np.float64 if part.dtype.kind == "f" else np.int64)}


def _record(path: str, position: int) -> tuple[str, str]:
    file, left = _opened(path), position
    for group in range(file.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        if left < rows:
            table = file.read_row_group(group, columns=[*ENDS, PART])
            record = table.slice(left, 1).to_pylist()[0]
            return f"{path}: row {position + 1}", ", ".join(repr(record[name]) for name in (*ENDS, PART))
        left -= rows
    raise InputError(f"{path}: became shorter while it was read")
