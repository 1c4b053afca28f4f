"""`Options`: the arguments of a run, checked before it begins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gaslab import arguments
from gaslab._kernels.machine import SCHEDULERS
from gaslab.cancellation import Cancellation
from gaslab.compiler import MODES
from gaslab.engine.initial_frontier import Start, check_start
from gaslab.engine.observe.progress import LINES, Say, Sweeps
from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.language.precision import PRECISIONS
from gaslab.partitioning import strategies
from gaslab.program import VertexProgram
from gaslab.results.result import Result

ENGINES = ("sync", "async", "stale", "reference")
CONSISTENCIES = ("relaxed", "serialisable")


@dataclass(frozen=True)
class Options:
    """The arguments of `gaslab.run` other than the program and the graph; `check` completes them."""

    max_iterations: int | None = None
    engine: str = "sync"
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
    consistency: str | None = None
    scheduler: str | None = None
    max_updates: int | None = None
    staleness: int | None = None
    timeline: str | os.PathLike[str] | None = None
    edges: bool = False
    handed: str | None = None  # an edge field, for a run that follows: see `Result.handed`
    cancellation: Cancellation = field(default_factory=Cancellation)  # by the timeout, or by Ctrl-C


def check(program: Any, graph: Any, options: Options) -> Options:
    """Return the options of a run of *program* on *graph*, checked; raises UsageError."""
    _check_program(program)
    arguments.instance("graph", graph, Graph, arguments.GRAPH)
    options = _check_values(options)
    options = _check_asynchronous(options)
    options = replace(
        options, cancellation=Cancellation(options.timeout), staleness=_check_staleness(options)
    )
    if options.engine == "reference" and options.timeline is not None:
        raise UsageError("timeline= shows what ranks do; engine='reference' is plain Python on one")
    return options


def _check_program(program: Any) -> None:
    if isinstance(program, type) and issubclass(program, VertexProgram):
        raise UsageError(f"run() needs an instance: write {program.__name__}(), with its parameters if any")
    arguments.instance("program", program, VertexProgram, "an instance of a VertexProgram")


def _check_values(options: Options) -> Options:
    """Check each argument by itself, in the order of the signature."""
    found: dict[str, Any] = {
        "max_iterations": arguments.whole("max_iterations", options.max_iterations, 0, optional=True),
        "engine": arguments.choice("engine", options.engine, ENGINES),
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
    return replace(options, **found)


def _check_asynchronous(options: Options) -> Options:
    """Check the options of a run without supersteps; raises UsageError for options of one with supersteps."""
    if options.engine != "async":
        for name in ("consistency", "scheduler", "max_updates"):
            if getattr(options, name) is not None:
                raise _of_another(name, getattr(options, name), "async", options)
        return options
    if options.max_iterations is not None:
        raise UsageError("engine='async' has no supersteps for max_iterations; give max_updates")
    consistency = arguments.choice("consistency", options.consistency, CONSISTENCIES, optional=True)
    return replace(
        options,
        consistency=consistency or CONSISTENCIES[0],
        scheduler=arguments.choice("scheduler", options.scheduler, SCHEDULERS, optional=True),
        max_updates=arguments.whole("max_updates", options.max_updates, 0, optional=True),
    )


def _check_staleness(options: Options) -> int | None:
    staleness: Any = options.staleness
    if options.engine == "stale" and staleness is None:
        raise UsageError("engine='stale' needs staleness=: by how many supersteps values may be too old")
    if options.engine != "stale" and staleness is not None:
        raise _of_another("staleness", staleness, "stale", options)
    found: int | None = arguments.whole("staleness", staleness, 0, optional=True)
    return found


def _of_another(name: str, value: Any, engine: str, options: Options) -> UsageError:
    shown = arguments.shown(value)
    return UsageError(f"{name}={shown} is of engine={engine!r}, and this is engine={options.engine!r}")
