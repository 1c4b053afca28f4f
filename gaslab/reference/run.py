"""The reference engine: the meaning of a vertex program in plain Python, on one whole graph.

The compiled and the interpreted programs are tested against it, and it is the place for a breakpoint: it
calls the user's own methods, one vertex and one edge at a time, with plain objects. It shares nothing with
the other engines but the words of `gaslab.program`; one superstep is `supersteps.Run.superstep`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gaslab import program as words
from gaslab.language.precision import named_precision
from gaslab.reference.arithmetic import PRECISION, number
from gaslab.reference.records import plain, shown
from gaslab.reference.supersteps import Run
from gaslab.reference.trace import TracedRun


@dataclass
class ReferenceResult:
    """The result of a run: fields by vertex id, written edge fields in the order of the edges."""

    vertices: dict[str, dict[Any, Any]]
    edges: dict[str, list[Any]]
    aggregates: dict[str, Any]
    initial_aggregates: dict[str, Any]  # after init
    history: list[dict[str, Any]]  # per superstep: superstep, active, and every aggregator
    converged: bool
    iterations: int
    trace: list[dict[str, Any]] = dataclasses.field(default_factory=list)


def run_reference(
    program: words.VertexProgram,
    vertices: Sequence[Any],
    edges: Sequence[tuple[Any, Any]],
    columns: Mapping[str, Sequence[Any]] | None = None,
    directed: bool = True,
    max_iterations: int | None = None,
    init: Mapping[str, Mapping[Any, Any]] | None = None,
    seed: int = 0,
    num_left: int | None = None,
    start: Sequence[Any] | Mapping[Any, Any] | None = None,
    vertex_columns: Mapping[str, Mapping[Any, Any]] | None = None,
    trace: Sequence[Any] | None = None,
    written: Collection[str] = (),
    names: Sequence[str] | None = None,
) -> ReferenceResult:
    """Run *program* on one graph, vertex by vertex, in plain Python.

    Parameters
    ----------
    program
        An instance; its methods are called as they stand, so breakpoints in them work.
    vertices
        The ids of all vertices, ascending: all ints, or all strs.
    edges
        (source id, target id) of every edge; parallel edges and self-loops count.
    columns
        Values of edge fields by field name, in the order of *edges*.
    max_iterations
        The limit on supersteps; None runs until the program is done.
    init
        Earlier values: field name -> {vertex id: value}; other vertices keep the default.
    seed
        The seed of the program's draws.
    num_left
        For a bipartite graph: the first this many of *vertices* are on side 0.
    start
        The ids of the vertices that run in superstep 0, or their messages by id.
    vertex_columns
        As *init*, but ``init`` may overwrite them: field name -> {vertex id: value}.
    trace
        The ids of vertices whose calls are all recorded.
    written
        Edge fields that the result has even if nothing wrote them.
    names
        The vertices' names in errors, in order, if *vertices* are not the user's ids.

    Raises
    ------
    UsageError
        A field of *init* is unknown, or a required edge field has no column.
    VertexNotFound
        A vertex id among the parameters is not in the graph.
    ExecutionError
        The program failed: names the method, the vertex and the line.
    """
    before = PRECISION.set(named_precision(type(program).precision) or "float64")
    try:
        plan = (program, vertices, edges, columns or {}, directed, seed)
        rest = (max_iterations, init or {}, num_left, start, vertex_columns or {}, trace, written, names)
        return _run(plan, *rest)
    finally:
        PRECISION.reset(before)


def _run(
    plan: Any, max_iterations: Any, init: Any, num_left: Any, start: Any, vertex_columns: Any, trace: Any,
    written: Any, names: Any,
) -> ReferenceResult:  # fmt: skip
    vertices = plan[1]
    run = Run(*plan) if trace is None else TracedRun(*plan, trace)
    for place, v in enumerate(run.vertices if num_left is not None else ()):
        vars(v)["side"] = number(int(place >= (num_left or 0)))
    run.start = start
    run.names = None if names is None else dict(zip(vertices, names, strict=True))
    run.initialise(init, vertex_columns)
    initial_aggregates = {name: shown(value) for name, value in run.aggregates.items()}
    converged = run.supersteps(max_iterations)
    written = {name: [getattr(e, name) for e in run.edges] for name in sorted({*run.written, *written})}
    return ReferenceResult(
        {
            name: {v.id: plain(getattr(v, name)) for v in run.vertices}
            for name, field in run.vertex_fields.items()
            if not field.lookup
        },
        {name: [plain(value) for value in values] for name, values in written.items()},
        {name: shown(value) for name, value in run.aggregates.items()},
        initial_aggregates,
        run.history,
        converged,
        run.superstep_number,
        run.rows,
    )
