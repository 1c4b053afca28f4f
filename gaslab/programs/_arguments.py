"""What functions of the toolkit check of their arguments before they look at the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.engine.engines import Async, Reference, Stale, Sync, engine_of

RECOVERY = ("checkpoint", "every", "keep", "resume", "on_checkpoint_error")  # options of `gaslab.run`


def unsaved(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for a short run beside the one that checkpoints are of."""
    return {name: value for name, value in options.items() if name not in RECOVERY}


def resumed_notes(graph: gl.Graph, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``notes=`` of the checkpoint that the options resume, {} of none (collective)."""
    from gaslab.checkpoint.loader import notes_of
    from gaslab.checkpoint.settings import recovery

    asked = recovery(*(options.get(name) for name in RECOVERY))
    return {} if asked is None else notes_of(graph.comm, asked)


def check_graph(graph: Any) -> None:
    """Raise UsageError unless *graph* is a graph."""
    arguments.instance("graph", graph, gl.Graph, arguments.GRAPH)


def is_async(options: Mapping[str, Any]) -> bool:
    """Return whether the options ask for a run without supersteps."""
    engine = options.get("engine")
    return isinstance(engine, Async) or (isinstance(engine, str) and engine == Async.name)


def check_counts_supersteps(name: str, options: Mapping[str, Any]) -> None:
    """Raise UsageError for an engine whose ranks are in different supersteps, which *name* counts."""
    engine = engine_of(options.get("engine", Sync.name))
    if isinstance(engine, Stale) and engine.staleness:
        raise gl.UsageError(
            f"{name} counts the supersteps that all ranks take together, which {engine!r} does not; "
            "use engine='sync'"
        )


def in_supersteps(options: Mapping[str, Any]) -> bool:
    """Return whether the options ask for supersteps that all ranks take together."""
    return isinstance(engine_of(options.get("engine", Sync.name)), Sync | Reference)
