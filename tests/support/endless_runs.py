"""Runs of the endless programs, in every way that a run can be ended in."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.support import endless_programs as programs

N, AT = 24, 3
SOON = 5.0  # seconds past its time in which a run must be over; 1 is the promise, the rest is a busy machine
SYNC: list[dict[str, Any]] = [{}, {"compile": "never"}, {"engine": "reference"}]
UNORDERED: list[dict[str, Any]] = [
    {"engine": gl.Stale(1)},
    {"engine": gl.Async()},
    {"engine": gl.Async(consistency="serialisable")},
]


def ring(comm: Comm | None = None) -> gl.Graph:
    a = np.arange(N)
    return gl.Graph.from_edges(np.r_[a, a, a], np.r_[(a + 1) % N, (a + 5) % N, (a + 7) % N], comm=comm)


def run(program: Any, graph: gl.Graph, way: dict[str, Any], **more: Any) -> gl.Result:
    limit = {} if isinstance(way.get("engine"), gl.Async) else {"max_iterations": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gl.run(program, graph, **way, **limit, **more)


def said(program: type[gl.VertexProgram], what: str) -> str:
    place = rf"^\S*endless_programs\.py:\d+: {program.__name__} {what} "
    merges = program is programs.InMerge  # of no vertex
    return place if merges else rf"{place}at vertex {AT} in (superstep|turn) \d+\n    \S"
