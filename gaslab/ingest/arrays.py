"""`edges_from_arrays`: numpy arrays to edges in global ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gaslab import launch
from gaslab.comm import Comm, world
from gaslab.errors import InputError, UsageError
from gaslab.ingest.assign import number_integers
from gaslab.ingest.edges import EdgeList, assemble
from gaslab.ingest.ids import VertexIds


def edges_from_arrays(
    src: Any,
    dst: Any,
    columns: Mapping[str, Any] | None = None,
    vertices: Any = None,
    *,
    rows: str = "same",
    comm: Comm | None = None,
    directed: bool = True,
    drop_duplicates: bool = False,
    drop_self_loops: bool = False,
    threads: int | None = None,
) -> EdgeList:
    """Make edges of arrays of user ids (collective)."""
    comm = world() if comm is None else comm
    threads = launch.threads_per_rank(comm.local_ranks) if threads is None else threads
    if rows not in ("same", "parts", "root"):
        raise UsageError(f"rows={rows!r}; use 'same', 'parts' or 'root'")
    table = {"source": np.asarray(src), "target": np.asarray(dst)}
    table.update({name: np.asarray(values) for name, values in (columns or {}).items()})
    size = table["source"].size
    lo, hi = (
        (size * comm.rank // comm.size, size * (comm.rank + 1) // comm.size) if rows == "same" else (0, size)
    )
    mine = {name: np.ascontiguousarray(values[lo:hi]) for name, values in table.items()}
    ends = [mine.pop("source").astype(np.int64), mine.pop("target").astype(np.int64)]
    counts = {"edges_read": int(comm.allreduce(ends[0].size))}
    known: VertexIds
    if isinstance(vertices, int):
        if ends[0].size and max(end.max() for end in ends) >= vertices:
            raise InputError(f"vertex {max(end.max() for end in ends)} is not one of vertices={vertices}")
        known = VertexIds(comm, "int", vertices)
    else:
        extra = [np.array(vertices, dtype=np.int64)] if vertices is not None and comm.rank == 0 else []
        parts = [*ends, *extra]
        known = number_integers(
            parts, max((int(p.max()) for p in parts if p.size), default=-1), comm, threads
        )
    return assemble(
        comm, *ends, mine, known, directed=directed, counts=counts, source="arrays", threads=threads,
        drop_self_loops=drop_self_loops, drop_duplicates=drop_duplicates,
    )  # fmt: skip
