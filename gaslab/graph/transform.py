"""Plain functions of vertices and edges, compiled and run over the whole graph.

Each value that a function reads is an array, in the order of the masters or of the edge slots; its program
(`compiler.frontend.functions`) runs over the rows of these arrays as it would over vertices.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab._kernels import phase_runner
from gaslab.cancellation import Cancellation
from gaslab.compiler import Compiled, compile_tree
from gaslab.compiler.frontend.functions import SIGNATURE, Input, parse_function, reads_side
from gaslab.compiler.tree import WIDE
from gaslab.errors import UsageError
from gaslab.graph.stored import StoredGraph
from gaslab.ingest.sides import need_sides
from gaslab.parallel import launch
from gaslab.ragged import RaggedColumn
from gaslab.replication.transfer import to_mirrors

BLOCK = 4096  # rows per thread at a time
REDUCE = {"sum": np.add, "min": np.minimum, "max": np.maximum}


def of_vertices(graph: StoredGraph, function: Any, name: str = "function") -> np.ndarray:
    """Return the values of *function* for every master here (collective); errors call it *name*."""
    _check(name, function, "vertex")
    masters = slice(graph.local.num_masters)

    def values(field: Input) -> np.ndarray:
        return _attribute(graph, field.name, masters) if field.name not in graph.vertex_columns else (
            graph.vertex_columns[field.name])  # fmt: skip

    return _evaluate(graph, function, "vertex", graph.local.num_masters, values)


def of_edges(graph: StoredGraph, function: Any, name: str = "function") -> np.ndarray:
    """Return the values of *function* of (source, edge, target) for every edge slot here (collective)."""
    _check(name, function, "edge")
    local = graph.local
    ends = {"v": local.in_neighbor, "nbr": local.targets()}
    known = {name: to_mirrors(graph.comm, local, column) for name, column in graph.vertex_columns.items()}

    def values(field: Input) -> np.ndarray:
        if field.role == "e":
            return np.asarray(graph.edge_columns[field.name])
        rows = ends[field.role]
        return known[field.name][rows] if field.name in known else _attribute(graph, field.name, rows)

    return _evaluate(graph, function, "edge", local.num_edges, values)


def _check(name: str, function: Any, kind: str) -> None:
    needed = f"a function is needed, not {type(function).__name__}; write def f{SIGNATURE[kind]}:"
    if not isinstance(function, FunctionType):
        raise arguments.wrong(name, function, needed)


def _attribute(graph: StoredGraph, name: str, rows: Any) -> np.ndarray:
    return np.asarray(getattr(graph.local, "gid" if name == "id" else name)[rows])


def _types(columns: dict[str, np.ndarray]) -> dict[str, str]:
    return {
        name: str(column.dtype)
        for name, column in columns.items()
        if not isinstance(column, RaggedColumn) and column.ndim == 1
    }


def _evaluate(graph: StoredGraph, function: Any, kind: str, count: int, values: Any) -> np.ndarray:
    vertex, edge = _types(graph.vertex_columns), _types(graph.edge_columns)
    tree, inputs, result = parse_function(function, kind, vertex, edge)
    if reads_side(tree):
        need_sides(graph.ids, f"{tree.name} reads v.side")
    arrays = [np.ascontiguousarray(values(field)) for field in inputs]
    answer = np.zeros(count, WIDE[result])
    compiled = compile_tree(tree, graph.comm)

    def where(row: int) -> list[int]:
        if kind == "vertex":
            return [int(graph.local.gid[row])]
        return [int(end[row]) for end in graph.edges()]

    with Cancellation() as cancellation:
        fault = _sweep(graph, compiled, [*arrays, answer], count, cancellation)
        faults = graph.comm.allgather(None if fault is None else (fault[0], where(fault[1]), fault[2]))
        for one in faults:
            if one is not None:
                code, gids, site = one
                at = f"at {kind} {' -> '.join(graph.ids.named(gids))}"
                raise cancellation.fault(code, tree.name, at, tree.sites[site])
    return answer


def _sweep(
    graph: StoredGraph, compiled: Compiled, arrays: list[np.ndarray], count: int, cancellation: Cancellation
) -> Any:
    """Run ``apply`` over *count* rows of *arrays*, its fields; return the fault, if any, including Ctrl-C."""
    view = phase_runner.View()
    view.stop = cancellation.stop
    view.num_vertices, view.num_edges, view.superstep = graph.num_vertices, graph.num_edges, 0
    view.num_left = graph.num_vertices if graph.ids.num_left is None else graph.ids.num_left
    view.num_masters = view.num_local = count
    view.gather_edges = view.scatter_edges = view.initial_fields = 0
    view.vertex = view.vertex_next = arrays
    view.edge = []
    view.param = view.aggregate = np.zeros(1, np.int64)
    blocks = np.append(np.arange(0, count, BLOCK), count).astype(np.int64)
    if compiled.library is None:
        assert compiled.interpreter is not None
        fault = compiled.interpreter.run(view, "gl_apply", blocks, None, None)
    else:
        threads = launch.threads_per_rank(graph.comm.local_ranks)
        fault = phase_runner.run(view, compiled.library.function("gl_apply"), blocks, None, None, threads)
    if fault is not None and fault[2] < 0:  # noticed between two blocks
        return (*fault[:2], compiled.tree.functions["apply"].site)
    return fault


def reduced(graph: StoredGraph, values: np.ndarray, op: str) -> Any:
    """Return the sum, minimum or maximum of all ranks' values, None without values (collective)."""
    if op == "sum" and values.dtype == bool:
        values = values.astype(np.int64)
    here = REDUCE[op].reduce(values) if values.size or op == "sum" else None
    parts = [part for part in graph.comm.allgather(here) if part is not None]
    return REDUCE[op].reduce(np.array(parts)).item() if parts else None


def folded(graph: StoredGraph, values: np.ndarray, merge: Any) -> Any:
    """Return all ranks' values merged by *merge*, pair by pair, None without values (collective)."""
    _check("merge", merge, "merge")
    kind = {"f": "float", "i": "int", "b": "bool"}[values.dtype.kind]
    tree, _, result = parse_function(merge, "merge", {}, {}, kind)
    if result != kind:
        raise UsageError(f"{tree.name} joins two values of type {kind} but returns {result}; make them agree")
    compiled = compile_tree(tree, graph.comm)
    with Cancellation() as cancellation:
        here, fault = _pairwise(graph, compiled, values, cancellation)
        parts = graph.comm.allgather((here, fault))
        fault = next((one for _, one in parts if one is not None), None)
        whole = values[:0]
        if fault is None:
            whole, fault = _pairwise(
                graph, compiled, np.concatenate([part for part, _ in parts]), cancellation
            )
        if fault is not None:
            raise cancellation.fault(fault[0], tree.name, "", tree.sites[fault[2]])
    return whole.item() if whole.size else None


def _pairwise(
    graph: StoredGraph, compiled: Compiled, values: np.ndarray, cancellation: Cancellation
) -> tuple[np.ndarray, Any]:
    while values.size > 1:
        half = values.size // 2
        left, right = values[:half].copy(), values[half : 2 * half].copy()
        answer = np.zeros(half, values.dtype)
        fault = _sweep(graph, compiled, [left, right, answer], half, cancellation)
        if fault is not None:
            return values[:0], fault
        values = np.concatenate([answer, values[2 * half :]])
    return values, None
