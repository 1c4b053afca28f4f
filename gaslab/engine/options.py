"""`Options`: the arguments of a run, checked before it begins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gaslab import arguments
from gaslab.cancellation import Cancellation
from gaslab.checkpoint.settings import Recovery, recovery
from gaslab.compiler import MODES
from gaslab.engine.engines import Async, Engine, Reference, engine_of
from gaslab.engine.initial_frontier import Start, check_start
from gaslab.engine.observe.progress import LINES, Say, Sweeps
from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.language.precision import PRECISIONS
from gaslab.partitioning import strategies
from gaslab.program import VertexProgram
from gaslab.results.result import Result


@dataclass(frozen=True)
class Options:
    """The arguments of `gaslab.run` other than the program and the graph; `check` completes them."""

    max_iterations: int | None = None
    engine: str | Engine = "sync"  # an `Engine`, once checked
    strategy: str | None = None
    threads: int | None = None
    init: Mapping[str, Any] | Result | str | os.PathLike[str] | None = None
    start: Start | None = None
    columns: Mapping[str, str | None] | None = None
    seed: int = 0
    compile: str = "auto"
    precision: str | None = None
    timeout: float | None = None
    progress: bool | str | Say | Sweeps = False
    on: str = "all"
    trace: Any = None
    timeline: str | os.PathLike[str] | None = None
    edges: bool = False
    checkpoint: Any = None
    every: Any = None
    keep: Any = None
    resume: Any = None
    on_checkpoint_error: Any = None
    recovery: Recovery | None = None  # what these five mean, once checked
    notes: Mapping[str, Any] = field(default_factory=dict)  # of the caller, which a checkpoint keeps
    supersteps_before: int = 0  # supersteps that earlier runs of the same call have made
    handed: str | None = None  # an edge field, for a run that follows: see `Result.handed`
    cancellation: Cancellation = field(default_factory=Cancellation)  # by the timeout, or by Ctrl-C


def check(program: Any, graph: Any, options: Options) -> Options:
    """Return the options of a run of *program* on *graph*, checked; raises UsageError."""
    _check_program(program)
    arguments.instance("graph", graph, Graph, arguments.GRAPH)
    options = _checked(options)
    if isinstance(options.engine, Async) and options.max_iterations is not None:
        raise UsageError(
            "engine='async' has no supersteps for max_iterations; give engine=gl.Async(max_updates=...)"
        )
    if options.recovery is not None:
        _check_recovery(options)
    if isinstance(options.engine, Reference) and options.timeline is not None:
        raise UsageError("timeline= shows what ranks do; engine='reference' is plain Python on one")
    return options


def _check_recovery(options: Options) -> None:
    """Raise UsageError where a run cannot be saved."""
    engine = options.engine
    if isinstance(engine, Reference):
        raise UsageError("engine='reference' knows no checkpoint= and resume=; use another engine")
    if isinstance(engine, Async) and options.recovery and options.recovery.supersteps is not None:
        raise UsageError(
            f"engine='async' has no supersteps for every={options.every!r}; give a time, such as '60s'"
        )
    if options.trace is not None:
        raise UsageError(
            "trace= follows a run from its begin, and a checkpoint does not hold it; leave out trace=, or "
            "checkpoint= and resume="
        )


def _check_program(program: Any) -> None:
    if isinstance(program, type) and issubclass(program, VertexProgram):
        raise UsageError(f"run() needs an instance: write {program.__name__}(), with its parameters if any")
    arguments.instance("program", program, VertexProgram, "an instance of a VertexProgram")


def _checked(options: Options) -> Options:
    """Return the options, each checked by itself in the order of the signature, with a new cancellation."""
    found: dict[str, Any] = {
        "max_iterations": arguments.whole("max_iterations", options.max_iterations, 0, optional=True),
        "engine": engine_of(options.engine),
        "strategy": None if options.strategy is None else strategies.find(options.strategy)[0],
        "threads": arguments.threads(options.threads),
        "columns": arguments.bound_columns(options.columns),
    }
    what = "a mapping from field to values"
    if isinstance(options.init, (str, os.PathLike)):
        found["init"] = arguments.path("init", options.init)
    else:
        arguments.instance("init", options.init, (Mapping, Result), what, optional=True)
    found["start"] = check_start(options.start)
    found["seed"] = arguments.whole("seed", options.seed)
    found["compile"] = arguments.choice("compile", options.compile, MODES)
    found["precision"] = arguments.choice("precision", options.precision, PRECISIONS, optional=True)
    arguments.number("timeout", options.timeout, least=0, optional=True)  # may be a `TimeLeft`
    shown = options.progress
    if not (callable(shown) or isinstance(shown, Sweeps) or (isinstance(shown, str) and shown == LINES)):
        found["progress"] = arguments.flag("progress", shown)
    found["on"] = arguments.choice("on", options.on, arguments.PLACES)
    found["edges"] = arguments.flag("edges", options.edges)
    found["timeline"] = arguments.path("timeline", options.timeline, optional=True)
    settings = recovery(
        options.checkpoint, options.every, options.keep, options.resume, options.on_checkpoint_error
    )
    if settings is not None:
        settings = replace(settings, notes=dict(options.notes), before=options.supersteps_before)
    found["recovery"] = settings
    return replace(options, cancellation=Cancellation(options.timeout), **found)
