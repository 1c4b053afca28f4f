"""`run`: one vertex program on one graph, from parameters to a `Result`."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from typing import Any

from gaslab import arguments, launch
from gaslab.collective import collective
from gaslab.compiler import MODES, compile_phases
from gaslab.ending import Ending
from gaslab.engine import lists
from gaslab.engine.async_options import CONSISTENCIES, SCHEDULERS, Options, check_program
from gaslab.engine.asynchronous import Asynchronous
from gaslab.engine.bind import (
    bind_edge_fields,
    bind_parameters,
    bind_vertex_fields,
    check_ends,
    check_sides,
    shapes_of,
)
from gaslab.engine.bounded import Bounded
from gaslab.engine.chance import Starts
from gaslab.engine.drawn import draw
from gaslab.engine.given import bind_given
from gaslab.engine.metrics import run_metrics
from gaslab.engine.progress import Progress, Supersteps, Updates
from gaslab.engine.sequence import Sequence
from gaslab.engine.stale import Stale
from gaslab.engine.stale import check_program as check_stale
from gaslab.engine.start import Start, bind_start, check_start
from gaslab.engine.timeline import Timeline
from gaslab.engine.trace import Watch
from gaslab.errors import (
    ExecutionError,
    PerformanceWarning,
    TimeoutExpired,
    UsageError,
    warn_unfinished,
    warn_user,
)
from gaslab.graph import Graph
from gaslab.partition import strategies
from gaslab.program import VertexProgram
from gaslab.result import Result
from gaslab.trace import collect

log = logging.getLogger("gaslab")
ENGINES = ("sync", "async", "stale", "reference")


@collective(exempt=("threads",))
def run(
    program: VertexProgram,
    graph: Graph,
    *,
    max_iterations: int | None = None,
    engine: str = "sync",
    strategy: str | None = None,
    threads: int | None = None,
    init: Mapping[str, Any] | Result | None = None,
    start: Start | None = None,
    columns: Mapping[str, str | None] | None = None,
    seed: int = 0,
    compile: str = "auto",
    timeout: float | None = None,
    progress: bool = False,
    on: str = "all",
    trace: Any = None,
    consistency: str | None = None,
    scheduler: str | None = None,
    max_updates: int | None = None,
    staleness: int | None = None,
    timeline: str | os.PathLike[str] | None = None,
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
    engine : {"sync", "async", "stale", "reference"}
        ``"async"`` runs without supersteps, see ``docs/asynchronous.md``; ``"stale"`` lets a rank be ahead of
        the others, see ``docs/staleness.md``; ``"reference"`` runs the class as plain Python on one rank,
        for debugging.
    strategy : str, optional
        Short for ``graph.partitioned(strategy)``.
    threads : int, optional
        Threads of each rank; by default OMP_NUM_THREADS, else SLURM_CPUS_PER_TASK, else the usable
        cores divided by the ranks on this machine.
    init : mapping or Result, optional
        Vertex fields to start from: field name to a dict by vertex id, an array in the order of the
        sorted ids, or one number. ``init()`` does not overwrite them.
    start : iterable of vertex ids, or mapping, optional
        Who runs in superstep 0, instead of what the method ``start`` says; a mapping gives each its
        message too.
    columns : mapping, optional
        Edge or vertex field name to the graph's column; None leaves the field at its default.
    seed : int
        Of everything random in the program: the same seed gives the same draws on any ranks and threads.
    compile : {"auto", "require", "never"}
        Whether a missing C compiler is a warning (the program runs interpreted) or an error.
    timeout : float, optional
        Seconds of computation (a first compilation does not count) after which the run raises TimeoutExpired,
        also in the middle of a method, naming vertex and line; as Ctrl-C raises KeyboardInterrupt. See
        ``docs/programs.md``.
    progress : bool
        Show supersteps on stderr, or with ``engine="async"`` the figures of the last moment.
    on : {"all", "root", "local"}
        Where the answer goes.
    trace : vertex id, or iterable of them, optional
        Of these vertices ``result.trace`` tells what the methods did, superstep by superstep: with
        ``engine="reference"`` every call, else the values at the vertex before and after.
    consistency : {"relaxed", "serialisable"}, optional
        Of ``engine="async"``: whether adjacent vertices may run at once (by default they may).
    scheduler : {"fifo", "priority", "sweep", "random"}, optional
        Of ``engine="async"``: who runs next; by default by priority where signals have one, else fifo.
    max_updates : int, optional
        Of ``engine="async"``: begin no more vertices once so many have run; on several ranks up to a fortieth
        and 500 a rank more.
    staleness : int, optional
        Of ``engine="stale"``, which needs it: by how many supersteps what a rank reads may be too old.
    timeline : path, optional
        Write there what every rank did when, for https://ui.perfetto.dev or chrome://tracing; see
        ``docs/timeline.md``. A file of that name is replaced.

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
    _check_program(program)
    arguments.instance("graph", graph, Graph, arguments.GRAPH)
    max_iterations = arguments.whole("max_iterations", max_iterations, 0, optional=True)
    engine = arguments.choice("engine", engine, ENGINES)
    strategy = None if strategy is None else strategies.find(strategy)[0]
    threads = arguments.threads(threads)
    columns = arguments.bound_columns(columns)
    arguments.instance("init", init, (Mapping, Result), "a mapping from field to values", optional=True)
    start = check_start(start)
    seed = arguments.whole("seed", seed)
    compile = arguments.choice("compile", compile, MODES)
    arguments.number("timeout", timeout, least=0, optional=True)  # may be a `TimeLeft`
    progress = arguments.flag("progress", progress)
    on = arguments.choice("on", on, arguments.PLACES)
    timeline = arguments.path("timeline", timeline, optional=True)
    options = _options(engine, consistency, scheduler, max_updates, max_iterations)
    ending = Ending(timeout)
    staleness = _check_staleness(engine, staleness)
    if strategy is not None and strategy != graph.strategy:
        graph = graph.partitioned(strategy)
    if engine == "reference":
        if timeline is not None:
            raise UsageError("timeline= shows what ranks do; engine='reference' is plain Python on one")
        from gaslab.engine.oracle import run_on_graph

        return run_on_graph(program, graph, max_iterations, init, columns, seed, on, start, trace, ending)
    drawing = None if timeline is None else Timeline(graph.comm, timeline, graph.source.split(", "))
    comm, began, bytes_before = graph.comm, time.perf_counter(), graph.comm.bytes_sent
    if options is not None and (threads or 1) > 1:
        warn_user(
            f"engine='async' runs a rank's vertices on one thread: of threads={threads} only init and the "
            f"aggregators have any use; for more cores start more ranks (mpiexec -n {threads})",
            PerformanceWarning,
            comm.rank,
        )
    threads = launch.choose_threads(threads, comm.local_ranks, comm.rank)
    compiled = compile_phases(type(program), comm, compile, shapes_of(program))
    tree = compiled[0].tree
    written = frozenset(name for one in compiled for name in one.tree.written_edges())
    check_ends([one.tree for one in compiled], graph.directed)
    check_sides([one.tree for one in compiled], graph)
    if trace is not None and engine not in ("sync", "reference"):
        raise UsageError("trace= follows supersteps; give it to engine='sync' or engine='reference'")
    if staleness is not None:
        check_stale([one.tree for one in compiled])
    if options is not None:
        check_program([one.tree for one in compiled], all(one.library is not None for one in compiled))
        options = options.check(tree)
    phases = Sequence(compiled, program, graph, max_iterations, ending)
    params = bind_parameters(tree, program, graph)
    starts = Starts(graph, seed, program.parameters())
    edges = bind_edge_fields(tree, graph, columns, written, starts)
    columned = bind_vertex_fields(tree, graph, columns)
    watch = None if trace is None else Watch(graph, graph.ids.find(trace))
    given = bind_given(tree, graph, init, starts)
    phases.prepare(params, edges, given, starts, threads, columned, watch, staleness)
    phases.begin_with(bind_start(tree, graph, start))
    built = time.perf_counter()

    history: list[dict[str, Any]] = []
    runner: Any = phases
    if options is not None:
        runner = Asynchronous(phases.first, program, graph, compiled[0].library, options, seed)
    elif isinstance(phases.first, Stale):
        runner = Bounded(phases.first, phases.stopping, program, graph)
    if drawing is not None:
        drawing.span("prepare", began, built)
        draw(runner, drawing)
    with ending, _progress(progress and comm.rank == 0, options, max_iterations) as shown:
        try:
            for row in runner.rows():
                history.append(row)
                shown.see(row)
        except (ExecutionError, TimeoutExpired):  # on every rank
            if drawing is not None:
                drawing.write()
            raise
    state, converged = runner.state, runner.converged
    computed = time.perf_counter()
    bytes_sent = comm.bytes_sent - bytes_before + runner.bytes_posted
    if not converged:
        if options is None:
            warn_unfinished(tree.name, state.superstep, comm.rank)
        else:
            warn_unfinished(tree.name, state.updates, comm.rank, "updates", "max_updates")
    metrics = run_metrics(
        program, graph, engine, seed, threads, state.superstep, converged, state.updates,
        bytes_sent, {"build": built - began, "compute": computed - built},
    )  # fmt: skip
    if options is None and (gathers := phases.gathers()) is not None:
        metrics["gathers"] = gathers
    if isinstance(runner, Asynchronous):
        metrics["asynchronous"] = runner.figures()
    if isinstance(runner, Bounded):
        metrics["staleness"] = runner.figures
    if drawing is not None:
        drawing.write()
    result = Result.collect(
        graph,
        {v.name: v.storage for v in (*tree.vertex_fields, *tree.edge_fields)},
        lists.answers(graph, tree, state.fields),
        {v.name: state.edge_fields[k] for k, v in enumerate(tree.edge_fields) if v.name in written},
        metrics, history, converged, state.superstep, on,
    )  # fmt: skip
    result.aggregates = dict(zip((a.name for a in tree.aggregators), state.aggregates, strict=True))
    if watch is not None:
        result.trace = collect(graph, watch.rows)
    return result


def _check_program(program: Any) -> None:
    if isinstance(program, type) and issubclass(program, VertexProgram):
        raise UsageError(f"run() needs an instance: write {program.__name__}(), with its parameters if any")
    arguments.instance("program", program, VertexProgram, "an instance of a VertexProgram")


def _options(
    engine: str,
    consistency: str | None,
    scheduler: str | None,
    max_updates: int | None,
    max_iterations: int | None,
) -> Options | None:
    """Return how to run without supersteps, None to run with them; raises on options of the other way."""
    given = {"consistency": consistency, "scheduler": scheduler, "max_updates": max_updates}
    for name, value in given.items():
        if value is not None and engine != "async":
            shown = arguments.shown(value)
            raise UsageError(f"{name}={shown} is of engine='async', and this is engine={engine!r}")
    if engine != "async":
        return None
    if max_iterations is not None:
        raise UsageError("engine='async' has no supersteps for max_iterations; give max_updates")
    return Options(
        arguments.choice("consistency", consistency, CONSISTENCIES, optional=True) or CONSISTENCIES[0],
        arguments.choice("scheduler", scheduler, SCHEDULERS, optional=True),
        arguments.whole("max_updates", max_updates, 0, optional=True),
    )


def _check_staleness(engine: str, staleness: int | None) -> Any:
    if engine == "stale" and staleness is None:
        raise UsageError("engine='stale' needs staleness=: by how many supersteps values may be too old")
    if engine != "stale" and staleness is not None:
        shown = arguments.shown(staleness)
        raise UsageError(f"staleness={shown} is of engine='stale', and this is engine={engine!r}")
    return arguments.whole("staleness", staleness, 0, optional=True)


def _progress(show: bool, options: Options | None, max_iterations: int | None) -> Progress:
    if not show:
        return Progress()
    return Supersteps(max_iterations) if options is None else Updates(options.max_updates)
