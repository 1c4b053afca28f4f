"""Writes a cut: the edges with their parts as one file, or a folder with a file per part.

Files are the same, byte for byte, on any number of ranks, if the cut is.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from gaslab.cuts.vertices import vertex_table
from gaslab.errors import UsageError
from gaslab.ingest.edges import EdgeList
from gaslab.parallel.comm import Comm
from gaslab.parallel.folders import put, write_folder
from gaslab.partitioning.cut import Cut
from gaslab.partitioning.shuffle import shuffle
from gaslab.ragged import RaggedColumn
from gaslab.results.table_files import TableTarget, cells_of, gathered, write_whole
from gaslab.results.tables import Table, objects
from gaslab.results.writers import MANIFEST, Target, spread, text_of

PART = "part"  # the column
VERTICES = "vertices.tsv"


class CutTarget(TableTarget):
    """Where a cut goes: ``NAME.tsv``, ``NAME.csv`` (``.gz`` or not), ``NAME.parquet``, or ``DIR/``."""

    binary = (".parquet",)
    per, hint = "part of the cut", "in .parquet, "


def check_columns(names: Collection[str]) -> None:
    """Raise UsageError if a graph has a column of the name that the parts get."""
    if PART in names:
        raise UsageError(
            f"the graph has an edge column {PART!r} already; leave it out with --column {PART}=none, or "
            f"gl.read_graph(..., columns={{{PART!r}: None}})"
        )


def write_cut(comm: Comm, target: Target, edges: EdgeList, made: Cut, ordered: bool = False) -> None:
    """Write a cut (collective): edges by source and target if *ordered*, else as they come.

    Parallel edges keep their order.
    """
    ends = [edges.src, edges.dst]
    columns: dict[str, Any] = {**edges.columns, PART: made.part}
    key = edges.src
    if target.directory:
        _moved(comm, ends, columns, made.part.astype(np.int64) * comm.size // made.k, edges.num_vertices)
        key = columns[PART]
    elif ordered:
        _moved(comm, ends, columns, edges.src * comm.size // max(edges.num_vertices, 1), edges.num_vertices)
        key = ends[0]
    if target.directory or ordered:
        order = np.lexsort((ends[1], ends[0], key)) if ordered else np.argsort(key, kind="stable")
        ends = [end[order] for end in ends]
        columns = {name: values[order] for name, values in columns.items()}
    rows = _named(edges, ends, columns)
    if target.directory:
        _write_folder(comm, target, rows, edges, made)
    else:
        write_whole(comm, target, rows)


def write_vertices(comm: Comm, target: Target, edges: EdgeList, made: Cut) -> None:
    """Write the table of vertices to one file, by id (collective)."""
    write_whole(comm, target, spread(comm, _vertices(comm, edges, made), edges.num_vertices))


def _vertices(comm: Comm, edges: EdgeList, made: Cut) -> Table:
    return vertex_table(SimpleNamespace(comm=comm, ids=edges.ids), made, "local")


def _moved(
    comm: Comm, ends: list[np.ndarray], columns: dict[str, Any], rank: np.ndarray, num_vertices: int
) -> None:
    """Bring edges to these ranks, in place (collective)."""
    shuffle(comm, ends, columns, np.ascontiguousarray(rank, np.int32), num_vertices=num_vertices)


def _named(edges: EdgeList, ends: list[np.ndarray], columns: Mapping[str, Any]) -> Table:
    """Return edges with the user's ids (collective)."""
    gids = dict(zip(("source", "target"), (end.astype(np.int64) for end in ends), strict=True))
    keys = {name: edges.ids.lookup(end) for name, end in gids.items()}
    values = {n: objects(x.tolist()) if isinstance(x, RaggedColumn) else x for n, x in columns.items()}
    return Table(keys, values, gids)


# ---- a folder --------------------------------------------------------------------------------------


def _write_folder(comm: Comm, target: Target, rows: Table, edges: EdgeList, made: Cut) -> None:
    """Write a file of edges per part, the vertices, and a manifest; each rank has the edges of some parts."""
    cells = cells_of(rows)
    part = cells.pop(PART)
    vertices = cells_of(spread(comm, _vertices(comm, edges, made), edges.num_vertices))
    lo, hi = (-(-made.k * r // comm.size) for r in (comm.rank, comm.rank + 1))
    begin = np.searchsorted(part, np.arange(lo, hi + 1))

    texts = gathered(comm, comm.attempt(lambda: text_of(vertices, target, header=comm.rank == 0)))

    def write(folder: Path) -> None:
        for p, first, last in zip(range(lo, hi), begin[:-1], begin[1:], strict=True):
            text = text_of({n: x[first:last] for n, x in cells.items()}, target, header=True)
            put(folder / _file(p), text)
        if comm.rank == 0:
            put(folder / VERTICES, b"".join(texts))

    def describe(_: list[None]) -> bytes:
        return json.dumps(_manifest(list(cells), list(vertices), edges, made), indent=2).encode() + b"\n"

    write_folder(comm, target.output, write, MANIFEST, describe)


def _manifest(columns: list[str], of_vertices: list[str], edges: EdgeList, made: Cut) -> dict[str, Any]:
    c = made.census
    counts = zip(c.edges.tolist(), c.replicas.tolist(), c.masters.tolist(), strict=True)
    return {
        "schema_version": 1,
        "strategy": made.strategy,
        "k": made.k,
        "directed": edges.directed,
        "columns": columns,
        "rows": int(c.edges.sum()),
        "parts": [
            {"file": _file(p), "rows": rows, "vertices": vertices, "masters": masters}
            for p, (rows, vertices, masters) in enumerate(counts)
        ],
        "vertices": {"file": VERTICES, "columns": of_vertices, "rows": edges.num_vertices},
    }


def _file(part: int) -> str:
    return f"part-{part:05d}.tsv"
