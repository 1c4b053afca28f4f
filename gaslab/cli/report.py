"""What a run was and what it took: a few lines for people, one JSON document for scripts."""

from __future__ import annotations

import json
import logging
import math
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

import gaslab as gl
from gaslab.parallel.comm import Comm
from gaslab.system.atomic_writes import write_bytes
from gaslab.system.memory import human, peak_rss_bytes
from gaslab.system.outputs import Output
from gaslab.version import __version__

log = logging.getLogger("gaslab")

SCHEMA_VERSION = 1
BESIDE = (  # of some commands
    "answer", "asynchronous", "staleness", "checkpoints", "coherence_by_topic", "comparison",
)  # fmt: skip
# Options that say where things go or that the document names elsewhere.
_NOT_PARAMETERS = {
    *("command", "began", "input", "output", "json", "force", "quiet", "log_level", "top", "fields"),
    *("allow_singleton", "save", "timeout", "seed", "strategy", "threads", "timeline", "tables", "report"),
    *("own_files", "checkpoint", "every", "keep", "resume", "on_checkpoint_error"),
}


def describe(command: str, graph: gl.Graph, result: gl.Result) -> None:
    """Log the run in two lines, on rank 0."""
    if graph.comm.rank > 0:
        return
    metrics, seconds = result.metrics, result.metrics.get("seconds", {})
    ranks, threads = graph.comm.size, metrics.get("threads", 1)
    stepped, step = "asynchronous" not in metrics, "sweep" if "figures" in metrics else "superstep"
    log.info(
        "%s: %s on %s x %s, %s",
        metrics.get("program", command) if command == "run" else command,
        _many(result.iterations, step) if stepped else _many(metrics["updates"], "update"),
        _many(ranks, "rank"),
        _many(threads, "thread"),
        "converged" if result.converged else "not converged",
    )
    phases = [name for name in ("load", "partition", "build", "compute") if name in seconds]
    times = ", ".join(f"{name} {duration(seconds[name])}" for name in phases)
    cut = ""
    if ranks > 1:
        sent = human(metrics.get("bytes_per_iteration" if stepped else "bytes_sent", 0))
        cut = f"; {graph.replication_factor:.2f} replicas a vertex, {sent} sent" + f" a {step}" * stepped
    log.info("%s%s", times, cut)


def document(arguments: Any, graph: gl.Graph, result: gl.Result | None) -> dict[str, Any]:
    """Return the JSON document of a run (collective)."""
    comm = graph.comm
    peak = peak_rss_bytes()
    metrics: Mapping[str, Any] = {} if result is None else result.metrics
    seconds = dict(metrics.get("seconds", graph.seconds))
    seconds["total"] = float(comm.allreduce(time.perf_counter() - arguments.began, "max"))
    elsewhere = {*_NOT_PARAMETERS, *getattr(arguments, "tables", ())}
    options = {name: value for name, value in vars(arguments).items() if name not in elsewhere}
    return {
        "schema_version": SCHEMA_VERSION,
        "versions": versions(),
        "command": arguments.command,
        "parameters": {**options, **metrics.get("parameters", {})},
        "seed": getattr(arguments, "seed", 0),
        "input": metrics.get("source", graph.source),
        "input_fingerprint": graph.fingerprint,
        "vertices": graph.num_vertices,
        "edges": graph.num_edges,
        "lines_rejected": graph.counts.get("lines_rejected", 0),
        "ranks": comm.size,
        "threads": metrics.get("threads", getattr(arguments, "threads", None)),
        "strategy": graph.strategy,
        "strategy_chosen_by": graph.strategy_chosen_by,
        "replication_factor": graph.replication_factor,
        "edge_balance": graph.edge_balance,
        "vertex_balance": graph.vertex_balance,
        "iterations": None if result is None else result.iterations,
        "converged": None if result is None else result.converged,
        "seconds": seconds,
        "updates": metrics.get("updates"),
        "bytes_sent": metrics.get("bytes_sent", 0),
        "bytes_per_iteration": metrics.get("bytes_per_iteration", 0),
        **{name: metrics[name] for name in BESIDE if name in metrics},
        **_of_sweeps(result),
        "history": [] if result is None else _history(comm, result.history),
        "peak_rss_bytes": {"sum": int(comm.allreduce(peak)), "max": int(comm.allreduce(peak, "max"))},
    }


def _of_sweeps(result: gl.Result | None) -> dict[str, Any]:
    """Return what a program of sweeps measured: its figures, and those of every sweep."""
    if result is None or "figures" not in result.metrics:
        return {}
    return dict(result.metrics["figures"])


def _history(comm: Comm, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of supersteps or sweeps: bytes of all ranks, seconds of the slowest (collective)."""
    found = [dict(row) for row in rows]
    for name, op in (("bytes_sent", "sum"), ("seconds", "max")):
        counted = [k for k, row in enumerate(found) if isinstance(row.get(name), Real)]
        if comm.allreduce(len(counted), "min") != comm.allreduce(len(counted), "max"):
            continue  # ranks that do not wait for each other have rows of their own
        whole = comm.allreduce(np.array([found[k][name] for k in counted]), op)
        for k, value in zip(counted, whole.tolist(), strict=True):
            found[k][name] = value
    return found


def versions() -> dict[str, str]:
    """Return the versions that an answer may depend on."""
    from importlib import metadata  # takes time to load, and few commands ask

    found = {"gaslab": __version__, "python": platform.python_version()}
    for name in ("numpy", "mpi4py"):
        found[name] = metadata.version(name)
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None:
        found["mpi"] = mpi.Get_library_version().splitlines()[0].rstrip("\0").strip()
    return found


def write_json(output: Output, report: Mapping[str, Any]) -> None:
    """Write a document, replacing what JSON cannot say (not collective)."""
    text = json.dumps(_plain(report), indent=2, allow_nan=False) + "\n"
    write_bytes(output, text.encode())


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, gl.Accumulator):
        value = vars(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def duration(seconds: float) -> str:
    """Return a time in the unit a person would choose."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 60 else f"{int(seconds // 60)} min {seconds % 60:.0f} s"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"
