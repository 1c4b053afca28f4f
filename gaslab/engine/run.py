"""`run` and `prepare`: one vertex program on one graph, once or often; a run is a job that runs once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from gaslab.engine.engines import Engine
from gaslab.engine.initial_frontier import Start
from gaslab.engine.job import Job
from gaslab.engine.observe.progress import Say
from gaslab.engine.options import Options
from gaslab.graph.graph import Graph
from gaslab.parallel.collective import collective
from gaslab.program import VertexProgram
from gaslab.results.result import Result


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
        ``result.collect_edges()`` does it later. On one rank it can be read without, for as long
        as the graph is in memory.

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


@collective(exempt=("threads",))
def prepare(
    program: VertexProgram,
    graph: Graph,
    *,
    max_iterations: int | None = None,
    engine: str | Engine = "sync",
    strategy: str | None = None,
    threads: int | None = None,
    columns: Mapping[str, str | None] | None = None,
    seed: int = 0,
    compile: str = "auto",
    precision: str | None = None,
    timeout: float | None = None,
    progress: bool | str | Say = False,
    on: str = "all",
    edges: bool = False,
) -> Job:
    """Prepare a vertex program for many runs on a graph; collective.

    A run of a job spares what does not change: reading and compiling the class, cutting the graph, planning
    the messages between ranks. On small graphs that is most of `gaslab.run`.

    Parameters
    ----------
    program : VertexProgram
        An instance; its parameters are those of a run that names no others. What its methods read of the
        module, numbers as well as functions, is read now; the content of arrays when a run begins.
    graph : Graph
        Never changed.
    max_iterations, engine, strategy, threads, columns, seed, compile, precision, timeout, progress, on, edges
        As of `gaslab.run`, for every run. The timeout is that of each.

    Returns
    -------
    Job
        ``job.run(rate=0.1)``, ``job.run_many(source=[0, 1])``, ``job.close()``.

    Raises
    ------
    UsageError, ProgramError, CompileError

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> with gl.prepare(gl.programs.PageRank(), graph, max_iterations=50) as job:
    ...     round(job.run(damping=0.5).vertices["score"].sum(), 6)
    np.float64(1.0)
    """
    options = Options(
        max_iterations=max_iterations, engine=engine, strategy=strategy, threads=threads, columns=columns,
        seed=seed, compile=compile, precision=precision, timeout=timeout, progress=progress, on=on,
        edges=edges,
    )  # fmt: skip
    return Job(program, graph, options).ready()


def run_by(options: Options, program: VertexProgram, graph: Graph) -> Result:
    """Run a program on a graph, as `run` does, by `Options` (collective)."""
    return Job(program, graph, options).answer({}, {})
