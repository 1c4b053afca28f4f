"""`BoundProgram`: a compiled program's values on one graph, ready to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gaslab.compiler import Compiled
from gaslab.compiler.tree import Tree
from gaslab.engine.bind import bind_edge_fields, bind_parameters, bind_vertex_fields
from gaslab.engine.initial_draws import InitialDraws
from gaslab.engine.initial_frontier import InitialFrontier, bind_initial_frontier
from gaslab.engine.initial_values import bind_initial_values
from gaslab.engine.observe.trace import VertexTrace
from gaslab.engine.options import Options
from gaslab.engine.shared_arrays import bind_arrays
from gaslab.engine.stopping import Stopping
from gaslab.graph.graph import Graph
from gaslab.language.counts import count_of
from gaslab.language.phases import phases_of
from gaslab.program import VertexProgram

Done = Callable[[Any], Any]


@dataclass(frozen=True)
class BoundColumns:
    """The graph's columns from which fields start, and the other edge fields."""

    edge_fields: list[Any]  # draws are functions
    of_vertices: dict[str, np.ndarray]
    written: frozenset[str]  # the edge fields that the program writes

    @property
    def constant(self) -> bool:
        """Whether another run of the program can use the same arrays."""
        return not self.written and not any(map(callable, self.edge_fields))


@dataclass
class BoundProgram:
    """The values for the phases of one program, on one rank."""

    compiled: tuple[Compiled, ...]  # its phases
    program: VertexProgram
    graph: Graph
    stopping: list[Stopping]  # of each phase
    done: Done | None  # of a program of several phases, which may restart them
    repeats: int | None  # their maximum number of runs
    params: list[Any]
    arrays: list[list[np.ndarray]]  # from outside, of each phase
    columns: BoundColumns
    initial_values: dict[str, Any]  # of vertex fields, from the caller
    starts: InitialDraws
    initial_frontier: InitialFrontier | None
    trace: VertexTrace | None

    @property
    def tree(self) -> Tree:
        """The tree of the first phase: all have the same fields and parameters."""
        return self.compiled[0].tree


def bind_columns(
    compiled: tuple[Compiled, ...], graph: Graph, options: Options, starts: InitialDraws
) -> BoundColumns:
    """Return the columns of *graph* that a program reads (collective)."""
    tree = compiled[0].tree
    written = frozenset(name for one in compiled for name in one.tree.written_edges())
    edge_fields = bind_edge_fields(tree, graph, options.columns, written, starts)
    return BoundColumns(edge_fields, bind_vertex_fields(tree, graph, options.columns), written)


def bind(
    compiled: tuple[Compiled, ...],
    program: VertexProgram,
    graph: Graph,
    options: Options,
    columns: BoundColumns | None = None,
) -> BoundProgram:
    """Return the program's values on *graph*: its parameters, columns and initial values (collective).

    *columns* are an earlier run's, if constant.
    """
    tree = compiled[0].tree
    dones, done = _done_functions(program)
    stopping = [
        Stopping(one.tree, own, program, graph, options.max_iterations, options.cancellation)
        for one, own in zip(compiled, dones, strict=True)
    ]
    params = bind_parameters(tree, program, graph)
    arrays = bind_arrays([one.tree for one in compiled], program, graph.comm)
    starts = InitialDraws(graph, options.seed, program.parameters())
    columns = columns or bind_columns(compiled, graph, options, starts)
    trace = None if options.trace is None else VertexTrace(graph, graph.ids.find(options.trace))
    values = bind_initial_values(tree, graph, options.init, starts)
    initial = bind_initial_frontier(tree, graph, options.start)
    return BoundProgram(
        compiled, program, graph, stopping, done, count_of(program, program.repeat_phases), params, arrays,
        columns, values, starts, initial, trace,
    )  # fmt: skip


def _done_functions(program: VertexProgram) -> tuple[list[Done | None], Done | None]:
    """Return each phase's own ``done``, and the program's if it has several phases."""
    cls = type(program)
    done: Done | None = getattr(cls, "done", None)
    if not phases_of(cls):
        return [done], None
    return [phase.methods(cls).get("done") for phase in phases_of(cls)], done
