"""The steps of a run: compile the program for a graph, make a driver, drive it, collect the answer."""

from __future__ import annotations

from gaslab import errors
from gaslab.compiler import Compiled, compile_phases
from gaslab.engine import lists
from gaslab.engine.asynchronous.check import check_program as check_asynchronous
from gaslab.engine.asynchronous.driver import AsynchronousDriver
from gaslab.engine.bind import check_ends, check_sides, shapes_of
from gaslab.engine.bound_program import BoundProgram
from gaslab.engine.build import build_stale, build_synchronous
from gaslab.engine.engines import Async, Engine, Stale, Sync
from gaslab.engine.metrics import run_metrics
from gaslab.engine.observe.observer import Observer
from gaslab.engine.options import Options
from gaslab.engine.stale.driver import StaleDriver
from gaslab.engine.stale.step import check_program as check_stale
from gaslab.engine.sync.driver import SyncDriver
from gaslab.graph.graph import Graph
from gaslab.parallel import launch
from gaslab.program import VertexProgram
from gaslab.replication.exchange import Exchange
from gaslab.results.result import Result
from gaslab.results.trace import collect as collect_trace

Driver = SyncDriver | AsynchronousDriver | StaleDriver


def threads_of(graph: Graph, options: Options) -> int:
    """Return the threads per rank; warns where the engine cannot use the number asked for."""
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
) -> tuple[tuple[Compiled, ...], Engine]:
    """Return the compiled phases, checked for the graph and the engine; and the engine with its scheduler."""
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
        return compiled, check_asynchronous(trees, has_libraries, options.engine)
    assert not isinstance(options.engine, str)
    return compiled, options.engine


def new_driver(
    bound: BoundProgram, options: Options, observe: Observer, exchange: Exchange | None = None
) -> Driver:
    """Return the driver that runs the program to its end; *exchange* is of an earlier run on the graph."""
    if exchange is None:
        exchange = Exchange(bound.graph.local, observe.comm(bound.graph.comm))
    if isinstance(options.engine, Stale):
        stale = build_stale(bound, options, options.engine.staleness, observe, exchange)
        return StaleDriver(stale, bound, observe)
    engines = build_synchronous(bound, options, observe, exchange)
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


def collect(
    driver: Driver,
    bound: BoundProgram,
    options: Options,
    observe: Observer,
    sent: int,
    seconds: dict[str, float],
    given: Graph,
) -> Result:
    """Return the result of all ranks, on the ranks of ``on=`` (collective).

    *given* is the graph that the caller holds, of any cut.
    """
    tree, state, graph, comm = bound.tree, driver.state, bound.graph, bound.graph.comm
    written = bound.columns.written
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
        {v.name: state.edge_fields[k] for k, v in enumerate(tree.edge_fields) if v.name in written},
        metrics, observe.history, driver.converged, state.superstep, options.on, options.edges,
        given,
    )  # fmt: skip
    result.aggregates, result.initial_aggregates = state.named_aggregates(), observe.initial_aggregates
    for field, values in zip(tree.edge_fields, state.edge_fields, strict=True):
        if field.name == options.handed:
            result.handed = values
    if observe.trace is not None:
        result.trace = collect_trace(graph, observe.trace.rows)
    return result
