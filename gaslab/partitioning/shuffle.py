"""The single all-to-all of the edges: each to its part's rank."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import gaslab._kernels.pairs as pairs
import gaslab._kernels.partition as kernels
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.ragged import RaggedColumn

INT32_LIMIT = (1 << 31) - 1  # local edges and vertices are numbered in 32 bits


def shuffle(
    comm: Comm,
    ends: list[np.ndarray],
    columns: dict[str, Any],
    part: np.ndarray,
    *,
    num_vertices: int,
    threads: int = 1,
) -> None:
    """Send every edge to rank ``part`` (collective): *ends* and *columns* become this rank's.

    *ends* are the sources and the targets. Edges arrive ordered by sending rank and, from one rank, in their
    order there: edges read from a file in byte ranges keep the file's order. Ids travel and arrive as int32
    if the graph has fewer than 2**31 vertices.
    """
    counts = np.zeros((max(threads, 1), comm.size), dtype=np.int64)
    kernels.count_parts(part, counts)
    check_limit(comm.allreduce(counts.sum(axis=0)), "edges")
    bounds = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    # Where chunk t writes the edges of part p: after the earlier parts, then after the earlier chunks.
    starts = bounds[:-1] + np.cumsum(counts, axis=0) - counts

    def exchange(pack: Callable[..., None], values: np.ndarray, dtype: np.dtype) -> np.ndarray:
        packed = np.empty(values.size, dtype=dtype)
        pack(values, part, starts.copy(), packed)
        return np.concatenate(comm.alltoall([packed[bounds[p] : bounds[p + 1]] for p in range(comm.size)]))

    wire = np.dtype(np.int32 if num_vertices <= INT32_LIMIT else np.int64)
    for end, ids in enumerate(ends):
        ends[end] = exchange(kernels.pack_ids, ids, wire)
    for name, values in columns.items():
        if isinstance(values, RaggedColumn):
            parts = [values[part == p] for p in range(comm.size)]
            columns[name] = RaggedColumn.joined(RaggedColumn.exchange(comm, parts))
            continue
        bits, shape, dtype = np.dtype(f"uint{8 * values.itemsize}"), values.shape[1:], values.dtype
        flat = values.reshape(len(values), math.prod(shape))
        elements = [np.ascontiguousarray(flat[:, k]).view(bits) for k in range(flat.shape[1])]
        moved = [exchange(kernels.pack_items, element, bits).view(dtype) for element in elements]
        columns[name] = np.stack(moved, axis=1).reshape(-1, *shape) if shape else moved[0]


def send_back(comm: Comm, values: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Return to each rank the int32 values of the edges that `shuffle` took from it, in their old order.

    *values* belong to the edges that this rank received, *part* is `shuffle`'s argument (collective).
    """
    if comm.size == 1:
        return values
    sent = np.bincount(part, minlength=comm.size)
    received = np.array(comm.allgather(sent))[:, comm.rank]
    back = np.concatenate(comm.alltoall(np.split(values, np.cumsum(received)[:-1])))
    found = np.empty(part.size, np.int32)
    pairs.unpack(back, part, np.cumsum(sent) - sent, found)
    return found


def check_limit(per_rank: np.ndarray, what: str) -> None:
    """Raise the same error on every rank if a rank would get more than 32 bits can number."""
    fullest = int(np.argmax(per_rank))
    most = int(per_rank[fullest])
    if most > INT32_LIMIT:
        enough = max(-(-int(np.sum(per_rank)) // (INT32_LIMIT // 2)), len(per_rank) + 1)
        raise UsageError(
            f"rank {fullest} would hold {most:,} {what}, more than the {INT32_LIMIT:,} a rank can "
            f"number; use more ranks (mpiexec -n {enough}) or another strategy"
        )
