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
    on_bad_line: str = "error",
    max_bad_lines: int | None = None,
    drop_duplicates: bool = False,
    drop_self_loops: bool = False,
    threads: int | None = None,
) -> EdgeList:
    """Read an edge list from text (collective)."""
    comm = world() if comm is None else comm
    threads = launch.threads_per_rank(comm.local_ranks) if threads is None else threads
    files = comm.on_root(lambda: find_files(path))
    options = Options(ids, columns, comments, delimiter, header)
    parsed, layout, counts = read_text(files, options, comm, threads, on_bad_line, max_bad_lines)
    if comm.rank == 0:
        for said in layout.said:
            log.info(said)
    known = _number(parsed, layout.strings, comm, threads)
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
