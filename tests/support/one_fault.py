"""Programs that fail at one vertex: every mode and rank names it, the line and the reason."""

from __future__ import annotations

import inspect
from typing import Any

import gaslab as gl
from gaslab.compiler.faults import FAULTS
from gaslab.parallel.comm import Comm
from tests.conftest import Hosts

MODES: list[dict[str, Any]] = [{}, {"compile": "never"}, {"engine": "reference"}]
NAMES = ["compiled", "interpreted", "reference"]


def vertices(n: int) -> gl.Graph:
    """Return a graph of *n* vertices, for programs that look at no edge."""
    return gl.Graph.from_edges([0], [n - 1], vertices=range(n))


def said(comm: Comm, program: type[gl.VertexProgram], init: dict[str, Any], mode: dict[str, Any]) -> str:
    """Return the error of a run."""
    graph = gl.Graph.from_edges([1, 1, 2, 3], [2, 3, 4, 4], comm=comm)
    try:
        gl.run(program(), graph, max_iterations=1, init=init, **mode)
    except gl.ExecutionError as error:
        return str(error)
    return "no fault"


def assert_fault(hosts: Hosts, program: type[gl.VertexProgram], init: dict[str, Any], code: int) -> None:
    """Vertex 4 fails at the last line of the program's apply, in every mode, on one rank and on two."""
    lines, first = inspect.getsourcelines(program.apply)  # type: ignore[attr-defined]
    place = f"{inspect.getsourcefile(program)}:{first + len(lines) - 1}: {program.__name__}"
    expected = f"{place} failed at vertex 4 in superstep 0: {FAULTS[code]}\n    {lines[-1].strip()}"
    for mode in MODES:
        for size in (1, 2) if "engine" not in mode else (1,):
            assert hosts(size).run(said, program, init, mode) == [expected] * size
