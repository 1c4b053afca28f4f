"""Makes the `View`, through which a program's functions access the graph and the run's state."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab._kernels import phase_runner
from gaslab.compiler.tree import Tree
from gaslab.compiler.tree.uses import by_source
from gaslab.engine.state import RunState
from gaslab.engine.storage import scalars
from gaslab.graph.graph import Graph
from gaslab.partitioning.local_graph import LocalGraph


def make_view(
    state: RunState, graph: Graph, params: list[Any], arrays: list[np.ndarray]
) -> phase_runner.View:
    """Return the program's view of *graph* and *state*, with its parameters and its arrays from outside."""
    local, tree = graph.local, state.tree
    view = phase_runner.View()
    view.num_vertices, view.num_edges, view.superstep = graph.num_vertices, graph.num_edges, 0
    view.seed = state.seed
    view.num_left = graph.num_vertices if graph.ids.num_left is None else graph.ids.num_left
    view.num_masters, view.num_local = local.num_masters, local.num_local
    view.gather_edges, view.scatter_edges = _directions(tree, graph)
    view.gid, view.degree = local.gid, local.degree
    view.in_degree, view.out_degree = local.in_degree, local.out_degree
    view.in_begin, view.in_neighbor = local.in_begin, local.in_neighbor
    view.out_begin = view.out_neighbor = view.out_slot = None
    if walks_out_rows(tree, graph):
        view.out_begin, view.out_neighbor, view.out_slot = local.out()
    view.vertex, view.vertex_next, view.edge = state.fields, state.next_fields, state.edge_fields
    set_by_source(view, state, graph.local)
    view.param, view.aggregate = scalars([*params, state.entered]), state.aggregate_row
    view.shared = arrays
    view.initial_fields, view.concurrent, view.all_active = 0, 0, 0
    view.total = view.incoming = view.skip = None
    view.active, view.signalled, view.signal_blocks = state.active, state.signalled, state.signal_blocks
    view.active_bits, view.message = state.active_bits, state.message
    view.message_next, view.priority = state.message_next, state.priority
    view.gather_way, view.scatter_way = state.gather_way, state.scatter_way
    return view


def note_begin(view: phase_runner.View, state: RunState) -> None:
    """Write the phase's first superstep after the parameters, for ``self.phase_step``."""
    view.param[-1] = state.entered


def walks_out_rows(tree: Tree, graph: Graph) -> bool:
    """Return whether a program also needs the edges by source, `LocalGraph.out`."""
    gather, scatter = _directions(tree, graph)
    return bool(gather & 2 or scatter)


def _directions(tree: Tree, graph: Graph) -> tuple[int, int]:
    """Return the masks of the edges of gather and of scatter; an undirected edge serves every direction."""
    every = 0 if graph.directed else 3
    return tree.gather_edges and tree.gather_edges | every, tree.scatter_edges and tree.scatter_edges | every


def set_by_source(view: phase_runner.View, state: RunState, local: LocalGraph) -> None:
    """Set the view's edge fields that gather or scatter reads along out-rows, in out-edge order."""
    walks = {"gather": view.gather_edges & 2, "scatter": view.scatter_edges}
    again = by_source(state.tree, *(phase for phase, edges in walks.items() if edges))
    view.edge_by_source = [
        local.by_source(values) if k in again else None for k, values in enumerate(state.edge_fields)
    ]
