"""`generate`: graphs from a seed, the same on any number of ranks and threads."""

from __future__ import annotations

from typing import Any

from gaslab import launch
from gaslab._kernels import generate as kernels
from gaslab.comm import Comm, world
from gaslab.errors import UsageError, nearest
from gaslab.ingest.edges import EdgeList, assemble
from gaslab.ingest.ids import VertexIds


def generate(
    kind: str,
    comm: Comm | None = None,
    *,
    seed: int = 0,
    drop_duplicates: bool = False,
    drop_self_loops: bool = False,
    threads: int | None = None,
    **size: Any,
) -> EdgeList:
    """Make a graph (collective)."""
    comm = world() if comm is None else comm
    threads = launch.threads_per_rank(comm.local_ranks) if threads is None else threads
    if kind != "rmat":
        raise UsageError(f"there is no generator {kind!r}{nearest(kind, ['rmat'])}")
    scale, factor = int(size.pop("scale")), int(size.pop("edge_factor", 16))
    edges = factor << scale
    lo, hi = edges * comm.rank // comm.size, edges * (comm.rank + 1) // comm.size
    src, dst = kernels.rmat(
        lo, hi - lo, scale, 0.57, 0.19, 0.19, bool(size.pop("permute", True)), seed, threads
    )
    return assemble(
        comm, src, dst, {}, VertexIds(comm, "int", 1 << scale), directed=True, counts={"edges_read": edges},
        source=f"rmat(scale={scale}, edge_factor={factor}, seed={seed})", threads=threads,
        drop_self_loops=drop_self_loops, drop_duplicates=drop_duplicates,
    )  # fmt: skip
