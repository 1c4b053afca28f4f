"""`run`: one vertex program on one graph, from parameters to a `Result`.

A run has five steps; the result of each is the input of the next: the arguments are checked (`Options`), the
program is compiled, it is bound to the graph (`BoundProgram`), a driver runs it to its end, and the values of
all ranks are collected into a `Result`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gaslab import errors
from gaslab.compiler import Compiled, compile_phases
from gaslab.engine import lists
from gaslab.engine.asynchronous.check import check_program as check_asynchronous
from gaslab.engine.asynchronous.driver import AsynchronousDriver
from gaslab.engine.bind import check_ends, check_sides, shapes_of
from gaslab.engine.bound_program import BoundProgram, bind
from gaslab.engine.build import build_stale, build_synchronous
from gaslab.engine.engines import Async, Engine, Reference, Stale, Sync
from gaslab.engine.initial_frontier import Start
from gaslab.engine.metrics import run_metrics
from gaslab.engine.observe.observer import Observer
from gaslab.engine.observe.progress import Say
from gaslab.engine.observe.timeline import Timeline
from gaslab.engine.options import Options, check
from gaslab.engine.stale.driver import StaleDriver
from gaslab.engine.stale.step import check_program as check_stale
from gaslab.engine.sync.driver import SyncDriver
from gaslab.graph.graph import Graph
from gaslab.language.precision import program_in
from gaslab.parallel import launch
from gaslab.parallel.collective import collective
from gaslab.program import VertexProgram
from gaslab.results.result import Result
from gaslab.results.trace import collect as collect_trace

Driver = SyncDriver | AsynchronousDriver | StaleDriver


@collective(exempt=("threads",))
def run(
    program: VertexProgram,
    graph: Graph,
    *,
    max_iterations: int | None = None,
    engine: str | Engine = "sync",
    strategy: str | None = None,
    threads: int | None = None,
    init: Mapping[str, Any] | Result | str | os.PathLike[str] | None = None,
    start: Start | None = None,
    columns: Mapping[str, str | None] | None = None,
    seed: int = 0,
    compile: str = "auto",
    precision: str | None = None,
    timeout: float | None = None,
    progress: bool | str | Say = False,
    on: str = "all",
    trace: Any = None,
    timeline: str | os.PathLike[str] | None = None,
    edges: bool = False,
) -> Result:
    """Run a vertex program on a graph; collective, every rank gets the answer.

    Parameters
    ----------
    program : VertexProgram
        An instance: the class with its parameters.
    graph : Graph
        Never changed.
    max_iterations : int, optional
        Supersteps at most. Needed for a program that neither signals nor has ``done``.
    engine : {"sync", "async", "reference"} or Sync, Async or Stale
        `gaslab.Async` runs without supersteps; `gaslab.Stale` lets a rank read values some supersteps old;
        ``"reference"`` runs the class as plain Python on one rank, for debugging. A word is short for an
        engine without options.
    strategy : str, optional
        Short for ``graph.partitioned(strategy)``.
    threads : int, optional
        Threads of each rank; by default OMP_NUM_THREADS, else SLURM_CPUS_PER_TASK, else the usable
        cores divided by the ranks on this machine.
    init : mapping, Result or path, optional
        Vertex fields to start from: field name to a dict by vertex id, an array in the order of the
        sorted ids, one number, or a file that `Result.save` wrote. A result, or such a file, gives all its
        fields that the program has. ``init()`` does not overwrite them.
    start : iterable of vertex ids, or mapping, optional
        The vertices that run in superstep 0, in place of those of the method ``start``; a mapping also gives
        each its message.
    columns : mapping, optional
        Edge or vertex field name to the graph's column; None leaves the field at its default.
    seed : int
        Seeds all random numbers of the program: the same seed gives the same draws on any ranks and threads.
    compile : {"auto", "require", "never"}
        Whether a missing C compiler is a warning (the program runs interpreted) or an error.
    precision : {"float64", "float32"}, optional
        What the program computes in, in place of its class's ``precision``; see ``docs/programs.md``.
    timeout : float, optional
        Seconds of computation (a first compilation does not count) after which the run raises TimeoutExpired,
        also in the middle of a method, naming vertex and line; as Ctrl-C raises KeyboardInterrupt. See
        ``docs/programs.md``.
    progress : bool, "lines" or function
        Show supersteps on stderr, or with ``engine="async"`` the figures of the last moment. "lines": as
        lines of the log "gaslab", one in ten seconds. A function gets every row of the history as it
        comes and returns what to show beside their number.
    on : {"all", "root", "local"}
        Which ranks get the answer.
    trace : vertex id, or iterable of them, optional
        Vertices whose course ``result.trace`` shows, superstep by superstep: with ``engine="reference"``
        every call of a method, else the values at the vertex before and after.
    timeline : path, optional
        Write a timeline of every rank there, for https://ui.perfetto.dev or chrome://tracing; see
        ``docs/timeline.md``. A file of that name is replaced.
    edges : bool
        Exchange the edge table of several ranks, so that ``result.edges`` can be read; else
        ``result.collect_edges()`` does it later. On one rank it can always be read.

    Returns
    -------
    Result
        ``.vertices``, ``.edges``, ``.metrics``, ``.history``, ``.converged``, ``.iterations``, ``.trace``.

    Raises
    ------
    UsageError, ProgramError, CompileError, ExecutionError, TimeoutExpired, VertexNotFound, KeyboardInterrupt

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> gl.run(gl.programs.PageRank(), graph, max_iterations=50).vertices["score"].sum().round(6)
    np.float64(1.0)

    References
    ----------
    Gonzalez, Low, Gu, Bickson, Guestrin: PowerGraph: Distributed Graph-Parallel Computation on
    Natural Graphs. OSDI 2012.
    """
    options = Options(
        max_iterations=max_iterations, engine=engine, strategy=strategy, threads=threads, init=init,
        start=start, columns=columns, seed=seed, compile=compile, precision=precision, timeout=timeout,
        progress=progress, on=on, trace=trace, timeline=timeline, edges=edges,
    )  # fmt: skip
    return run_by(options, program, graph)


def run_by(options: Options, program: VertexProgram, graph: Graph) -> Result:
    """Run a program on a graph, as `run` does, by `Options` (collective)."""
    options = check(program, graph, options)
    program = program_in(program, options.precision)
    if options.strategy is not None:
        graph = graph.partitioned(options.strategy)
    if isinstance(options.engine, Reference):
        from gaslab.engine.reference_run import reference_run

        return reference_run(program, graph, options)
    drawing = None
    if options.timeline is not None:
        drawing = Timeline(graph.comm, options.timeline, graph.source.split(", "))
    began, sent_before = time.perf_counter(), graph.comm.bytes_sent
    options = replace(options, threads=_threads(graph, options))
    launch.say_small(graph.num_edges, graph.comm.size, graph.comm.rank)
    compiled, options = compile_program(program, graph, options)
    bound = bind(compiled, program, graph, options)
    observe = Observer(graph.comm, options, drawing, bound.trace)
    built = time.perf_counter()
    observe.prepared(began, built)
    driver = new_driver(bound, options, observe)
    drive(driver, options, observe)
    seconds = {"build": built - began, "compute": time.perf_counter() - built}
    sent = graph.comm.bytes_sent - sent_before + driver.bytes_posted
    return _collect(driver, bound, options, observe, sent, seconds)


# ---- before the run --------------------------------------------------------------------------------


def _threads(graph: Graph, options: Options) -> int:
    """Return the threads of each rank; warns where the engine cannot use the number asked for."""
    threads, comm = options.threads, graph.comm
    if isinstance(options.engine, Async) and (threads or 1) > 1:
        errors.warn_user(
            f"engine='async' runs a rank's vertices on one thread: of threads={threads} only init and the "
            f"aggregators have any use; for more cores start more ranks (mpiexec -n {threads})",
            errors.PerformanceWarning,
            comm.rank,
        )
    return launch.choose_threads(threads, comm.local_ranks, comm.rank)


def compile_program(
    program: VertexProgram, graph: Graph, options: Options
) -> tuple[tuple[Compiled, ...], Options]:
    """Return the compiled phases, checked for the graph and the engine; and the completed options."""
    compiled = compile_phases(type(program), graph.comm, options.compile, shapes_of(program), graph.num_edges)
    trees = [one.tree for one in compiled]
    check_ends(trees, graph.directed)
    check_sides(trees, graph)
    if options.trace is not None and not isinstance(options.engine, Sync):
        raise errors.UsageError("trace= follows supersteps; give it to engine='sync' or engine='reference'")
    if isinstance(options.engine, Stale):
        check_stale(trees)
    if isinstance(options.engine, Async):
        has_libraries = all(one.library is not None for one in compiled)
        options = replace(options, engine=check_asynchronous(trees, has_libraries, options.engine))
    return compiled, options


# ---- the run ---------------------------------------------------------------------------------------


def new_driver(bound: BoundProgram, options: Options, observe: Observer) -> Driver:
    """Return the driver that runs the program to its end."""
    if isinstance(options.engine, Stale):
        return StaleDriver(build_stale(bound, options, options.engine.staleness, observe), bound, observe)
    engines = build_synchronous(bound, options, observe)
    if isinstance(options.engine, Async):
        return AsynchronousDriver(engines[0], bound, options.engine, options.seed, observe)
    return SyncDriver(engines, bound, options, observe)


def drive(driver: Driver, options: Options, observe: Observer) -> None:
    """Run the program to its end; a run that fails still writes its timeline."""
    with options.cancellation, observe:
        try:
            driver.run()
        except (errors.ExecutionError, errors.TimeoutExpired):  # on every rank
            observe.write()
            raise


# ---- after the run ---------------------------------------------------------------------------------


def _collect(
    driver: Driver,
    bound: BoundProgram,
    options: Options,
    observe: Observer,
    sent: int,
    seconds: dict[str, float],
) -> Result:
    """Return the result of all ranks, on the ranks of ``on=`` (collective)."""
    tree, state, graph, comm = bound.tree, driver.state, bound.graph, bound.graph.comm
    if not driver.converged:
        if isinstance(options.engine, Async):
            errors.warn_unfinished(tree.name, state.updates, comm.rank, "updates", "max_updates")
        else:
            errors.warn_unfinished(tree.name, state.superstep, comm.rank)
    metrics = run_metrics(
        bound.program, graph, options, state.superstep, driver.converged, state.updates, sent, seconds
    )
    metrics |= driver.figures()
    observe.write()
    result = Result.collect(
        graph,
        {v.name: v.storage for v in (*tree.vertex_fields, *tree.edge_fields)},
        lists.answers(graph, tree, state.fields),
        {v.name: state.edge_fields[k] for k, v in enumerate(tree.edge_fields) if v.name in bound.written},
        metrics, observe.history, driver.converged, state.superstep, options.on, options.edges,
    )  # fmt: skip
    result.aggregates, result.initial_aggregates = state.named_aggregates(), observe.initial_aggregates
    for field, values in zip(tree.edge_fields, state.edge_fields, strict=True):
        if field.name == options.handed:
            result.handed = values
    if observe.trace is not None:
        result.trace = collect_trace(graph, observe.trace.rows)
    return result
