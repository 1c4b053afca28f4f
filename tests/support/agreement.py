"""One program on one graph by the engine on ranks and by the reference, in a form that compares."""

from __future__ import annotations

import importlib
import linecache
import math
import sys
import types
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from gaslab.language.nobody import Nobody
from gaslab.parallel.comm import Comm
from gaslab.program import Accumulator, VertexProgram
from gaslab.reference.run import run_reference
from tests.support.graphs import Drawn

if TYPE_CHECKING:
    from gaslab.graph.graph import Graph

Mode = tuple[str, int]  # run(compile=, threads=)
LOCAL = ("seconds", "bytes_sent", "delivery")  # of a rank's history: not the same on all


@dataclass(frozen=True)
class Task:
    """A program (``module:Class``, or source text and the class in it) and how to run it on a graph."""

    program: str
    graph: Drawn
    limit: int | None
    text: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    init: dict[str, dict[Any, Any]] | None = None
    start: Any = None

    def instance(self) -> VertexProgram:
        module, name = self.program.split(":")
        loaded = from_text(module, self.text) if self.text else importlib.import_module(module)
        made: VertexProgram = getattr(loaded, name)(**self.parameters)
        return made


@dataclass(frozen=True)
class Outcome:
    """Vertex fields by id; written edge fields as sorted (source, target, value); how it ended."""

    vertices: dict[str, dict[Any, Any]]
    edges: dict[str, list[tuple[Any, Any, Any]]]
    iterations: int
    converged: bool
    history: list[dict[str, Any]]


def from_text(name: str, text: str) -> types.ModuleType:
    """Return a module made of *text*, its source where tracebacks and the compiler look for it."""
    filename, lines = f"<{name}>", text.splitlines(keepends=True)
    if linecache.cache.get(filename, ())[2:3] != (lines,):  # none yet, or of another text
        linecache.cache[filename] = (len(text), None, lines, filename)
        module = sys.modules[name] = types.ModuleType(name)
        module.__file__ = filename
        exec(compile(text, filename, "exec"), vars(module))
    return sys.modules[name]


def on_ranks(comm: Comm, task: Task, strategy: str, modes: Sequence[Mode]) -> list[Outcome]:
    """Run *task* with the engine in each of the modes, on one graph; for `Ranks.run`."""
    graph = task.graph.build(comm, strategy)
    return [run_task(task, graph, mode) for mode in modes]


def run_task(task: Task, graph: Graph, mode: Mode, **options: Any) -> Outcome:
    """Run *task* with the engine in one mode, with further options of `gaslab.run`.

    Small frontiers of the small graphs here are pulled like those of large graphs.
    """
    from gaslab.engine import delivery
    from gaslab.engine.run import run

    compile, threads = mode
    with warnings.catch_warnings(), patch.object(delivery, "ALWAYS_PUSHED", 0):
        warnings.simplefilter("ignore")  # of limits, and of running interpreted: asked for here
        result = run(
            task.instance(),
            graph,
            max_iterations=task.limit,
            columns=task.columns,
            init=task.init,
            start=task.start,
            threads=threads,
            compile=compile,
            edges=True,
            **options,
        )
    ids = list(result.vertices.ids)
    vertices = {
        name: dict(zip(ids, list(result.vertices[name]), strict=True)) for name in result.vertices.columns
    }
    edges = {
        name: sorted(
            zip(*map(list, result.edges.ids), result.edges[name].tolist(), strict=True),
            key=lambda row: (row[0], row[1], row[2] is None, row[2]),
        )
        for name in result.edge_fields
    }
    history = [{k: x for k, x in row.items() if k not in LOCAL} for row in result.history]
    return Outcome(
        _plain(vertices), _plain(edges), int(result.iterations), bool(result.converged), _plain(history)
    )


def by_reference(task: Task) -> Outcome:
    """Run *task* with the reference engine."""
    program, graph = task.instance(), task.graph
    columns = {**graph.columns, **{name: graph.columns[column] for name, column in task.columns.items()}}
    result = run_reference(
        program, graph.ids, graph.edges, columns, graph.directed, task.limit, task.init, start=task.start
    )

    def shown(x: Any) -> Any:
        if isinstance(x, list):
            return [shown(y) for y in x]
        return (-1 if isinstance(graph.ids[0], int) else None) if isinstance(x, Nobody) else x

    edges = {
        name: sorted(
            ((s, t, shown(x)) for (s, t), x in zip(graph.edges, values, strict=True)),
            key=lambda row: (row[0], row[1], row[2] is None, row[2]),
        )
        for name, values in result.edges.items()
    }
    vertices = {name: {v: shown(x) for v, x in values.items()} for name, values in result.vertices.items()}
    return Outcome(vertices, edges, result.iterations, result.converged, _plain(result.history))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_plain(k): _plain(x) for k, x in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(x) for x in value)
    if isinstance(value, Accumulator):
        return [x for part in vars(value).values() for x in np.ravel(part).tolist()]
    if getattr(value, "ndim", 0):
        return value.tolist()
    return value.item() if hasattr(value, "item") else value


def assert_agree(found: Outcome, expected: Outcome, tolerance: float) -> None:
    """Assert that two outcomes are the same: floats within *tolerance* of the largest of their field."""
    assert found.iterations == expected.iterations
    assert found.converged == expected.converged
    assert found.vertices.keys() == expected.vertices.keys()
    for name, values in expected.vertices.items():
        assert list(found.vertices[name]) == list(values), f"ids of {name}"
        _assert_close(name, list(found.vertices[name].values()), list(values.values()), tolerance)
    assert found.edges.keys() == expected.edges.keys()
    for name, rows in expected.edges.items():
        assert [row[:2] for row in found.edges[name]] == [row[:2] for row in rows]
        _assert_close(name, [row[2] for row in found.edges[name]], [row[2] for row in rows], tolerance)
    assert len(found.history) == len(expected.history)
    for mine, theirs in zip(found.history, expected.history, strict=True):
        for name, value in theirs.items():
            _assert_close(f"{name} after superstep {theirs['superstep']}", [mine[name]], [value], tolerance)


def _assert_close(name: str, found: list[Any], expected: list[Any], tolerance: float) -> None:
    if any(isinstance(x, (list, tuple)) for x in expected):
        assert [len(x) for x in found] == [len(x) for x in expected], name
        found, expected = [x for row in found for x in row], [x for row in expected for x in row]
        _assert_close(name, found, expected, tolerance)
        return
    assert [type(x) for x in found] == [type(x) for x in expected], name
    scale = max([1.0, *(abs(x) for x in expected if isinstance(x, float) and math.isfinite(x))])
    for x, y in zip(found, expected, strict=True):
        if isinstance(y, float) and math.isfinite(y):
            assert abs(x - y) <= tolerance * scale, (name, found, expected)
        else:
            assert x == y or (x != x and y != y), (name, found, expected)
