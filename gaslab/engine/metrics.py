"""The figures of a run, for `Result.metrics` and the command line's JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab.engine.engines import engine_of
from gaslab.engine.options import Options
from gaslab.graph.graph import Graph
from gaslab.program import VertexProgram
from gaslab.system.memory import peak_rss_bytes


def run_metrics(
    program: VertexProgram,
    graph: Graph,
    options: Options,
    iterations: int,
    converged: bool,
    updates: int,
    bytes_sent: int,
    seconds: dict[str, float],
) -> dict[str, Any]:
    """Return the figures of one run (collective): counts are of all ranks, times of the slowest."""
    comm = graph.comm
    figures = comm.allgather_row(np.array([bytes_sent, peak_rss_bytes(), *seconds.values()], np.float64))
    sent, total_peak = (int(x) for x in figures[:, :2].sum(axis=0))
    slowest = {**graph.seconds, **dict(zip(seconds, figures[:, 2:].max(axis=0).tolist(), strict=True))}
    return {
        "program": type(program).__name__,
        "parameters": {
            name: {"dtype": str(x.dtype), "shape": x.shape} if isinstance(x, np.ndarray) else x
            for name, x in program.parameters().items()
        },
        "seed": options.seed,
        "engine": engine_of(options.engine).name,
        "source": graph.source,
        "fingerprint": graph.fingerprint,
        "vertices": graph.num_vertices,
        "edges": graph.num_edges,
        "lines_rejected": graph.counts.get("lines_rejected", 0),
        "ranks": comm.size,
        "threads": options.threads,
        "strategy": graph.strategy,
        "strategy_chosen_by": graph.strategy_chosen_by,
        "replication_factor": graph.replication_factor,
        "edge_balance": graph.edge_balance,
        "vertex_balance": graph.vertex_balance,
        "iterations": iterations,
        "converged": converged,
        "updates": updates,
        "bytes_sent": sent,
        "bytes_per_iteration": sent // max(iterations, 1),
        "seconds": {**slowest, "total": sum(slowest.values())},
        "peak_rss_bytes": {"sum": total_peak, "max": int(figures[:, 1].max())},
    }
