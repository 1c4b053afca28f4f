"""`Job`: a program prepared for one graph, which runs often, with other parameters and initial values.

A run has five steps; the result of each is the input of the next: the arguments are checked (`Options`),
the program is compiled, it is bound to the graph (`BoundProgram`), a driver runs it to its end, and the
values of all ranks are collected into a `Result`. A job keeps what does not change from run to run: the
compiled program, the columns it reads, and the plan of its messages.
"""

from __future__ import annotations

import numbers
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from gaslab import errors
from gaslab.cancellation import Cancellation
from gaslab.checkpoint.settings import Spent
from gaslab.compiler import Compiled
from gaslab.engine.bind import shapes_of
from gaslab.engine.bound_program import BoundColumns, bind
from gaslab.engine.engines import Engine, Reference
from gaslab.engine.execute import collect, compile_program, drive, new_driver, threads_of
from gaslab.engine.initial_frontier import Start
from gaslab.engine.observe.observer import Observer
from gaslab.engine.observe.timeline import Timeline
from gaslab.engine.options import Options, check
from gaslab.graph.graph import Graph
from gaslab.language.precision import program_in
from gaslab.parallel import launch
from gaslab.parallel.collective import collective
from gaslab.parallel.fingerprint import fingerprint
from gaslab.program import VertexProgram
from gaslab.replication.exchange import Exchange
from gaslab.results.result import Result

Shapes = tuple[tuple[str, int], ...]


class State(Enum):
    """Whether a job can be run; the value of another than `READY` says why it cannot."""

    READY = ""
    RUNNING = "is running; a job has one run at a time"
    INTERRUPTED = "was interrupted while its ranks exchanged messages; start the ranks again"
    CLOSED = "is closed; prepare another"


@dataclass
class Prepared:
    """What the runs of one program with the same lengths of fields share."""

    compiled: tuple[Compiled, ...]
    engine: Engine  # with the options that follow from the program
    columns: BoundColumns | None = None  # where they are constant, from the first run on

    def shapes(self, values: Mapping[str, int]) -> Shapes:
        """Return the int parameters that are lengths in any phase, with their values among *values*."""
        names = sorted({name for one in self.compiled for name in one.tree.lengths})
        return tuple((name, values[name]) for name in names)


class Job:
    """A program that is ready to run on a graph any number of times; `gaslab.prepare` makes one.

    It holds memory of the graph's size until it is closed: ``with gl.prepare(...) as job:``. It can be run
    again after an error or a timeout, and on one rank also after Ctrl-C.

    Attributes
    ----------
    program : VertexProgram
        Its parameters are the defaults of a run.
    graph : Graph
    """

    def __init__(self, program: VertexProgram, graph: Graph, options: Options) -> None:
        self._options = options = check(program, graph, options)
        self.program = program_in(program, options.precision)
        self.graph = graph if options.strategy is None else graph.partitioned(options.strategy)
        self._given = graph  # which outlives a run; a cut that was made for it does not
        self._prepared: dict[Shapes, Prepared] = {}
        self._threads = 0  # of each rank, once chosen
        self._exchange: Exchange | None = None
        self._state = State.READY
        self._mark = b""

    # ---- the public face ---------------------------------------------------------------------------

    @collective()
    def run(
        self,
        *,
        init: Mapping[str, Any] | Result | str | os.PathLike[str] | None = None,
        start: Start | None = None,
        seed: int | None = None,
        max_iterations: int | None = None,
        **parameters: Any,
    ) -> Result:
        """Run the program once (collective), as `gaslab.run` with the same arguments.

        Parameters
        ----------
        init, start
            As for `gaslab.run`. A result must be from a run on this graph.
        seed, max_iterations : int, optional
            Override those given to `gaslab.prepare`.
        **parameters
            Parameters of the program, overriding those of its instance. A new value for the length of a field
            compiles new machine code, which is kept, too. A parameter called ``seed`` or ``max_iterations``
            takes precedence over the argument of that name.

        Returns
        -------
        Result
            Its ``metrics["seconds"]`` are those of this run alone.

        Raises
        ------
        UsageError
            The job is closed or is running; an argument is invalid; ``init=`` is a result of another graph.
        ExecutionError, TimeoutExpired, VertexNotFound, KeyboardInterrupt
            As for `gaslab.run`.

        Examples
        --------
        >>> import gaslab as gl
        >>> graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0])
        >>> with gl.prepare(gl.programs.Levels(source=0), graph) as job:
        ...     [job.run(source=s).vertices["level"].tolist() for s in (0, 1)]
        [[0, 1, 2], [2, 0, 1]]
        """
        own = self._own({"seed": seed, "max_iterations": max_iterations}, parameters)
        return self.answer({"init": init, "start": start, **own}, parameters)

    @collective()
    def run_many(
        self,
        *,
        init: Any = None,
        start: Sequence[Any] | None = None,
        seed: int | Sequence[int] | None = None,
        max_iterations: int | Sequence[int] | None = None,
        **parameters: Sequence[Any],
    ) -> list[Result]:
        """Run the program several times; return the results in order (collective).

        All sequences have the same length: run k gets the k-th value of each.

        Parameters
        ----------
        init : list or tuple, optional
            Initial values of each run; anything else holds for all runs.
        start : sequence, optional
            The first vertices of each run, as in `run`.
        seed, max_iterations : int or sequence of int, optional
            One value for all runs, or one per run.
        **parameters
            Sequences of values of the program's parameters.

        Raises
        ------
        UsageError
            No sequence was given, or their lengths differ; as `run`.

        Examples
        --------
        >>> import gaslab as gl
        >>> graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0])
        >>> job = gl.prepare(gl.programs.Levels(source=0), graph)
        >>> [result.vertices["level"].tolist() for result in job.run_many(source=[0, 2])]
        [[0, 1, 2], [1, 2, 0]]
        """
        numbers = {"seed": seed, "max_iterations": max_iterations}
        own = self._own({"init": init, "start": start, **numbers}, parameters)
        of_all = {name: own.pop(name) for name in list(own) if not _is_by_run(name, own[name])}
        rows = _rows({**own, **parameters})
        return [self.answer({**of_all, **{name: row.pop(name) for name in own}}, row) for row in rows]

    def close(self) -> None:
        """Free the memory of the job, which cannot be run again; results stay valid. Not collective."""
        self._prepared, self._exchange, self._state = {}, None, State.CLOSED

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __fingerprint__(self) -> Any:
        if not self._mark:
            own = ("threads", "cancellation", "progress")  # which ranks may have otherwise
            options = {name: x for name, x in vars(self._options).items() if name not in own}
            self._mark = fingerprint([self.program, self.graph, options])
        return self._mark

    def __repr__(self) -> str:
        return f"<Job of {self.program!r}{' (closed)' if self._state is State.CLOSED else ''}>"

    # ---- one run -----------------------------------------------------------------------------------

    def ready(self) -> Job:
        """Compile the program, so that its errors are raised now (collective)."""
        if not isinstance(self._options.engine, Reference):
            self._of_shapes(self.program, self._options)
        return self

    def answer(self, changes: Mapping[str, Any], parameters: Mapping[str, Any]) -> Result:
        """Run the program with changed options and parameters (collective)."""
        if self._state is not State.READY:
            raise errors.UsageError(f"this job of {type(self.program).__name__} {self._state.value}")
        program = self.program.__replace__(**parameters) if parameters else self.program
        options = self._options
        if changes:
            options = check(program, self.graph, replace(options, **changes))
            self._refuse_another_graph(options.init)
        else:
            options = replace(options, cancellation=Cancellation(options.timeout))
        self._state, after = State.RUNNING, State.READY
        try:
            return self._result(program, options)
        except BaseException as error:
            self._exchange = None  # a message may have been left in it
            if isinstance(error, KeyboardInterrupt) and self.graph.comm.size > 1:
                after = State.INTERRUPTED
            raise
        finally:
            if self._state is State.RUNNING:  # else it was closed meanwhile
                self._state = after

    def _result(self, program: VertexProgram, options: Options) -> Result:
        graph = self.graph
        if isinstance(options.engine, Reference):
            from gaslab.engine.reference_run import reference_run

            return reference_run(program, graph, options)
        drawing = None
        if options.timeline is not None:
            drawing = Timeline(graph.comm, options.timeline, graph.source.split(", "))
        began, sent_before = time.perf_counter(), graph.comm.bytes_sent
        prepared = self._of_shapes(program, options)
        self._threads = self._threads or threads_of(graph, options)
        options = replace(options, engine=prepared.engine, threads=self._threads)
        bound = bind(prepared.compiled, program, graph, options, prepared.columns)
        if bound.columns.constant:
            prepared.columns = bound.columns
        observe = Observer(graph.comm, options, drawing, bound.trace)
        built = time.perf_counter()
        observe.prepared(began, built)
        if self._exchange is None or drawing is not None:
            self._exchange = Exchange(graph.local, observe.comm(graph.comm))
        driver = new_driver(bound, options, observe, self._exchange)

        def spent() -> Spent:
            sent = graph.comm.bytes_sent - sent_before + driver.bytes_posted
            return Spent(time.perf_counter() - built, sent, time.process_time() - cpu)

        cpu, checkpoints = time.process_time(), None
        if options.recovery is None:
            drive(driver, options, observe)
        else:
            from gaslab.engine.checkpoints import Checkpoints

            checkpoints = Checkpoints(bound, options, options.recovery)
            with checkpoints.of(driver, spent):
                drive(driver, options, observe)
        own = spent() + (Spent() if checkpoints is None else checkpoints.spent)
        seconds = {"build": built - began, "compute": own.seconds}
        result = collect(driver, bound, options, observe, int(own.bytes_sent), seconds, self._given)
        if checkpoints is not None:
            result.metrics["checkpoints"] = checkpoints.figures()
        return result

    def _of_shapes(self, program: VertexProgram, options: Options) -> Prepared:
        """Return the program compiled for its lengths of fields (collective)."""
        values = shapes_of(program)
        known = next(iter(self._prepared.values()), None)
        found = None if known is None else self._prepared.get(known.shapes(values))
        if found is None:
            launch.say_small(self.graph.num_edges, self.graph.comm.size, self.graph.comm.rank)
            compiled, engine = compile_program(program, self.graph, options)
            found = Prepared(compiled, engine)
            self._prepared[found.shapes(values)] = found
        return found

    def _own(self, options: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the options that a run was given; those that are parameters of the program go to them."""
        declared = self.program.parameters()
        given = {name: value for name, value in options.items() if value is not None}
        parameters.update({name: given.pop(name) for name in list(given) if name in declared})
        return given

    def _refuse_another_graph(self, init: Any) -> None:
        for one in init.values() if isinstance(init, Mapping) else [init]:
            if isinstance(one, Result) and one.fingerprint != self.graph.fingerprint:
                raise errors.UsageError(
                    f"init= is a result of another graph ({one!r}); a job starts from results of its own "
                    "graph: use gaslab.run, or give init={field: values by vertex id}"
                )


def _is_by_run(name: str, value: Any) -> bool:
    """Return whether an option of `Job.run_many` has a value for each run."""
    if name == "init":
        return isinstance(value, (list, tuple))
    return name == "start" or not isinstance(value, numbers.Integral)


def _rows(parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the parameters of each run, of sequences of values; raises UsageError for other lengths."""
    if not parameters:
        raise errors.UsageError("run_many() needs values for each run: run_many(source=[0, 1])")
    lengths = {name: _length(values) for name, values in parameters.items()}
    for name, length in lengths.items():
        if length is None:
            said = f"run_many({name}={parameters[name]!r})"
            raise errors.UsageError(f"{said} needs a sequence, a value for each run")
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise errors.UsageError(f"run_many() needs sequences of one length, a value for each run; {said}")
    return [dict(zip(parameters, row, strict=True)) for row in zip(*parameters.values(), strict=True)]


def _length(values: Any) -> int | None:
    """Return the length of a sequence; None for text, a mapping, a number or an array without dimensions."""
    if isinstance(values, (str, bytes, Mapping)):
        return None
    try:
        return len(values)
    except TypeError:
        return None
