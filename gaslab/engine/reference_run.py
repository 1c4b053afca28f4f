"""Runs the reference engine on a partitioned graph: gathers it to rank 0, and scatters the answer."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from gaslab.compiler.frontend import parse_phases
from gaslab.compiler.tree import PAYLOAD, Combiner, RecordCombiner, Tree, element_storage, is_list
from gaslab.engine import bind, edge_lists
from gaslab.engine.initial_draws import InitialDraws
from gaslab.engine.initial_frontier import bind_initial_frontier, to_user_ids, to_user_messages
from gaslab.engine.initial_values import bind_initial_values
from gaslab.engine.lists import InitialLists
from gaslab.engine.metrics import run_metrics
from gaslab.engine.options import Options
from gaslab.engine.shared_arrays import bind_arrays
from gaslab.engine.storage import dtype_of
from gaslab.errors import warn_unfinished
from gaslab.graph.graph import Graph
from gaslab.program import NOBODY, VertexProgram
from gaslab.ragged import Rows
from gaslab.reference.run import ReferenceResult, run_reference
from gaslab.results.collect import OUTSIDE, user_ids
from gaslab.results.result import Result
from gaslab.results.tables import objects
from gaslab.results.trace import collect, located


def reference_run(program: VertexProgram, graph: Graph, options: Options) -> Result:
    """Run *program* by the reference engine, for `gaslab.run`."""
    comm, local, began = graph.comm, graph.local, time.perf_counter()
    tree, *_ = trees = parse_phases(type(program), bind.shapes_of(program), debugging=True)
    written = frozenset(name for one in trees for name in one.written_edges())
    bind.check_sides(trees, graph)
    params = bind.bind_parameters(tree, program, graph)
    bind_arrays(trees, program, comm)  # for its errors
    starts_at = InitialDraws(graph, options.seed, program.parameters())
    edge_fields = bind.drawn(bind.bind_edge_fields(tree, graph, options.columns, written, starts_at))
    initial = bind_initial_values(tree, graph, options.init, starts_at)
    initial_frontier = bind_initial_frontier(tree, graph, options.start)
    columned = bind.bind_vertex_fields(tree, graph, options.columns)
    ids = _ids(graph)
    trace = options.trace
    chosen = None if trace is None else [ids[g] for g in graph.ids.find(trace).tolist()]
    # Ids that are neither integers nor strings have no natural order, and an id may be on both sides of a
    # bipartite graph: then the program sees positions, as a compiled one always does.
    named: _Named | None = None
    if graph.ids.kind == "object" or graph.ids.num_left is not None:
        named = _Named(graph)
    plain = {v.name: ids[x] for v, x in zip(tree.params, params, strict=True) if v.storage == "id"}
    program = type(program)(**{**program.parameters(), **plain})

    masters = local.gid[: local.num_masters]
    src, dst = (_on_root(graph, part) for part in graph.edges())
    in_order = np.lexsort((dst, src))  # parallel edges keep their order: the same on any ranks
    src, dst = src[in_order], dst[in_order]
    edge_values = [
        objects(edge_lists.on_root(graph, values))[in_order]
        if isinstance(values, Rows)
        else _on_root(graph, values)[in_order]
        for values in edge_fields
    ]
    order = _on_root(graph, masters)
    began_with: Any = None
    if initial_frontier is not None:
        began_with = [ids[g] for g in initial_frontier.gids.tolist()]
        if initial_frontier.messages is not None:
            assert tree.message is not None
            began_with = dict(
                zip(began_with, to_user_messages(tree.message, initial_frontier.messages, ids), strict=True)
            )
    begins = {name: _on_root(graph, values) for name, values in columned.items()}
    listed = {name: values for name, values in initial.items() if isinstance(values, InitialLists)}
    starts = {name: _on_root(graph, values) for name, values in initial.items() if name not in listed}
    starts |= {name: _lists_on_root(graph, tree, name, values, ids) for name, values in listed.items()}
    built = time.perf_counter()

    storages = {v.name: v.storage for v in tree.vertex_fields}

    def by_id(fields: dict[str, np.ndarray]) -> dict[str, dict[Any, Any]]:
        vertices = [ids[g] for g in order.tolist()]
        return {
            name: dict(zip(vertices, to_user_ids(values, storages[name], ids), strict=True))
            for name, values in fields.items()
        }

    def run() -> ReferenceResult:
        return run_reference(
            program,
            ids,
            [(ids[a], ids[b]) for a, b in zip(src.tolist(), dst.tolist(), strict=True)],
            {
                v.name: to_user_ids(x, v.storage, ids)
                for v, x in zip(tree.edge_fields, edge_values, strict=True)
            },
            graph.directed,
            options.max_iterations,
            by_id(starts),
            options.seed,
            graph.ids.num_left,
            began_with,
            by_id(begins),
            chosen,
            written,
            None if named is None else named.texts,
        )

    with options.cancellation as ended:
        answer = comm.on_root(lambda: ended.call(tree.name, "the reference engine", run), long_running=True)
    if not answer.converged:
        warn_unfinished(tree.name, answer.iterations, comm.rank)
    position = {vertex: k for k, vertex in enumerate(ids)}
    combiners = {a.name: a.combiner for a in tree.aggregators}
    if named is not None:
        for row in (answer.aggregates, answer.initial_aggregates, *answer.history):
            row.update({name: named.value(one, row[name]) for name, one in combiners.items()})
    vertices = {}
    for v in (v for v in tree.vertex_fields if v.lookup is None):
        values = [answer.vertices[v.name][ids[g]] for g in masters.tolist()]
        if is_list(v.storage):
            if named is not None and element_storage(v.storage) == "id32":
                values = [named.row(row) for row in values]
            elif element_storage(v.storage) == "id32":
                outside = OUTSIDE if graph.ids.kind == "int" and not graph.ids.negative else None
                values = [[x if x in position else outside for x in row] for row in values]
            vertices[v.name] = objects(values)  # in the user's ids
            continue
        if v.storage == "id":
            # Min and Max over no vertices are no vertex; in a result, a value outside all ids.
            flat = np.array(values, object).reshape(-1).tolist()
            values = [position.get(x, x if isinstance(x, int) else OUTSIDE) for x in flat]
        vertices[v.name] = np.array(values, dtype_of(v.storage)).reshape(-1, *v.shape)
    first = sum(comm.allgather(local.num_edges)[: comm.rank])
    mine = comm.bcast(np.argsort(in_order))[first : first + local.num_edges].tolist()
    edges = {}
    for v in tree.edge_fields:
        if v.name in answer.edges:
            values = [answer.edges[v.name][k] for k in mine]
            if v.storage == "id":
                values = [position.get(x, OUTSIDE) for x in values]
            edges[v.name] = np.array(values, dtype_of(v.storage)).reshape(-1, *v.shape)
    updates = sum(step["active"] for step in answer.history)
    seconds = {"build": built - began, "compute": time.perf_counter() - built}
    metrics = run_metrics(
        program, graph, replace(options, threads=1), answer.iterations, answer.converged, updates, 0, seconds
    )
    storage = {v.name: v.storage for v in (*tree.vertex_fields, *tree.edge_fields)}
    result = Result.collect(
        graph,
        storage,
        vertices,
        edges,
        metrics,
        answer.history,
        answer.converged,
        answer.iterations,
        options.on,
        options.edges,
    )
    result.aggregates, result.initial_aggregates = answer.aggregates, answer.initial_aggregates
    if options.handed is not None:
        result.handed = edges[options.handed]
    if chosen is not None:
        rows = [((k,), located(row, position)) for k, row in enumerate(answer.trace)]
        result.trace = collect(graph, rows if comm.rank == 0 else [])
    return result


class _Named:
    """The user's names of vertices that the program sees as positions."""

    def __init__(self, graph: Graph) -> None:
        every = np.arange(graph.num_vertices, dtype=np.int64)
        self.marked, self.texts = graph.ids.marked(every), graph.ids.named(every)
        integers = user_ids(graph, every).dtype.kind == "i" and not graph.ids.negative
        self._outside = OUTSIDE if integers else None

    def row(self, positions: list[Any]) -> list[Any]:
        """Return a list of ids as in a result."""
        inside = range(len(self.marked))
        return [self.marked[x] if x in inside else self._outside for x in positions]

    def value(self, combiner: Combiner, value: Any) -> Any:
        """Return an aggregator's value with the user's ids."""
        if not isinstance(combiner, RecordCombiner):
            return self.marked[value] if combiner.type == "id" and value is not None else value
        kinds = {part.name: part.combiner for part in combiner.parts}
        if combiner.is_pair:
            return value[0], self.value(kinds[f"key.{PAYLOAD}"], value[1])
        for name, x in vars(value).items():
            if f"{name}.{PAYLOAD}" in kinds:
                vars(value)[name] = x[0], self.value(kinds[f"{name}.{PAYLOAD}"], x[1])
            else:
                vars(value)[name] = self.value(kinds[name], x)
        return value


def _ids(graph: Graph) -> list[Any]:
    """Return the ids of vertices as the program reads them, by global id."""
    if graph.ids.kind == "object" or graph.ids.num_left is not None:
        return list(range(graph.num_vertices))
    ids = graph.ids.lookup(np.arange(graph.num_vertices, dtype=np.int64))
    return list(ids.tolist())


def _lists_on_root(graph: Graph, tree: Tree, name: str, lists: InitialLists, ids: list[Any]) -> np.ndarray:
    """Return on rank 0 all ranks' initial lists of a field, as the program sees them."""
    storage = next(v.storage for v in tree.vertex_fields if v.name == name)
    values = _on_root(graph, lists.values).tolist()
    if element_storage(storage) == "id32":
        values = [ids[x] if x < len(ids) else NOBODY for x in values]
    lengths = _on_root(graph, lists.lengths).tolist()
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    return objects([values[end - n : end] for n, end in zip(lengths, ends, strict=True)])


def _on_root(graph: Graph, part: np.ndarray) -> np.ndarray:
    """Return all ranks' parts, in rank order, on rank 0; an empty array elsewhere."""
    parts = graph.comm.gather_array(np.ascontiguousarray(part).reshape(-1))
    return np.concatenate(parts).reshape(-1, *part.shape[1:]) if parts else part[:0]
