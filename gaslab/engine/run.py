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
    checkpoint: str | os.PathLike[str] | None = None,
    every: str | int | None = None,
    keep: int | None = None,
    resume: str | os.PathLike[str] | None = None,
    on_checkpoint_error: str | None = None,
) -> Result:
    """Run a vertex program on a graph (collective); every rank gets the answer.

    Parameters
    ----------
    program : VertexProgram
        An instance of the program class, which holds its parameters.
    graph : Graph
        Never changed.
    max_iterations : int, optional
        Maximum number of supersteps. Required for a program that neither signals nor has ``done``.
    engine : {"sync", "async", "reference"} or Sync, Async or Stale
        `gaslab.Async` runs without supersteps; `gaslab.Stale` lets a rank read values that are some
        supersteps old; ``"reference"`` runs the class as plain Python on one rank, for debugging. A string
        stands for an engine with its default options.
    strategy : str, optional
        The vertex-cut; short for ``graph.partitioned(strategy)``.
    threads : int, optional
        Threads per rank; by default OMP_NUM_THREADS, else SLURM_CPUS_PER_TASK, else the usable cores divided
        by the number of ranks on this machine.
    init : mapping, Result or path, optional
        Initial values of vertex fields: field name to a dict by vertex id, an array in the order of the
        sorted ids, one number, or a file written by `Result.save`. A result, or such a file, sets all fields
        that it shares with the program. ``init()`` does not overwrite them.
    start : iterable of vertex ids, or mapping, optional
        The vertices that run in superstep 0, overriding the method ``start``; a mapping also gives each
        vertex its message.
    columns : mapping, optional
        Edge or vertex field name to the graph's column; None leaves the field at its default.
    seed : int
        Seed of all random numbers of the program: a seed gives the same draws on any number of ranks and
        threads.
    compile : {"auto", "require", "never"}
        Whether a missing C compiler is a warning (the program runs interpreted) or an error.
    precision : {"float64", "float32"}, optional
        Arithmetic precision, overriding the class's ``precision``; see ``docs/programs.md``.
    timeout : float, optional
        Seconds of computation (a first compilation does not count) after which the run raises TimeoutExpired,
        even in the middle of a method, and names the vertex and line; Ctrl-C raises KeyboardInterrupt in the
        same way. See ``docs/programs.md``.
    progress : bool, "lines" or function
        Show supersteps on stderr, or with ``engine="async"`` the latest figures. "lines": as lines of the log
        "gaslab", one every ten seconds. A function gets each row of the history as it is made and returns
        what to show beside the number of supersteps.
    on : {"all", "root", "local"}
        Which ranks get the answer.
    trace : vertex id, or iterable of them, optional
        Vertices that ``result.trace`` follows, superstep by superstep: with ``engine="reference"`` every call
        of a method, otherwise the values at the vertex before and after.
    timeline : path, optional
        Write a timeline of every rank to this file, for https://ui.perfetto.dev or chrome://tracing; see
        ``docs/timeline.md``. An existing file is replaced.
    edges : bool
        Exchange the edge table between ranks, so that ``result.edges`` can be read; otherwise
        ``result.collect_edges()`` does it later. On one rank the table can be read without this, as long as
        the graph is in memory.
    checkpoint : path, optional
        Save the state of the run to this folder from time to time; see ``docs/recovery.md``. SIGUSR1 saves it
        now; SIGTERM saves it and ends the run by `gaslab.Terminated`.
    every : str or int, optional
        Time between two checkpoints, such as "60s" (the default), "5m" or "1h", or the number of supersteps.
    keep : int, optional
        Number of checkpoints to keep, at least 1; by default 2.
    resume : path or "auto", optional
        Resume from the newest checkpoint in this folder, on any number of ranks and threads and with any
        vertex-cut. Program, parameters, graph, engine and seed must be those of the run that was saved;
        *init* and *start* have no effect. "auto": from the folder of *checkpoint* if it holds a checkpoint,
        otherwise from the beginning.
    on_checkpoint_error : {"warn", "raise"}, optional
        What to do if a checkpoint cannot be written: go on with a `gaslab.CheckpointWarning` (the default) or
        raise GaslabError.

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
        checkpoint=checkpoint, every=every, keep=keep, resume=resume,
        on_checkpoint_error=on_checkpoint_error,
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
    """Prepare a vertex program for many runs on one graph (collective).

    A job does once what does not change between runs: reading and compiling the class, cutting the graph,
    planning the messages between ranks. On small graphs that is most of the time of `gaslab.run`.

    Parameters
    ----------
    program : VertexProgram
        An instance; its parameters are the defaults of every run. Numbers and functions of the module that
        its methods use are read now; the contents of arrays when a run begins.
    graph : Graph
        Never changed.
    max_iterations, engine, strategy, threads, columns, seed, compile, precision, timeout, progress, on, edges
        As for `gaslab.run`, for every run. The timeout applies to each run.

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
