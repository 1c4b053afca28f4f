"""visit: sweeps over all edges in which both ends are written, by blocks that move between ranks.

Each table of the `Schedule` belongs to one rank, which keeps for good the edges that are visited there.
The vertices' values are brought from their masters to where their block sits in the first round, go
with it from table to table together with the right to write them, and are brought back at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gaslab._kernels import sweep
from gaslab.engine.executor import Executor
from gaslab.engine.state import RunState
from gaslab.engine.visit.plan import Edges, Places
from gaslab.engine.visit.schedule import Schedule
from gaslab.parallel.tags import Tag
from gaslab.ragged import Rows
from gaslab.replication.exchange import Exchange

if TYPE_CHECKING:
    from gaslab.graph.graph import Graph

_ATTRIBUTES = ("degree", "in_degree", "out_degree")  # the id always goes along, to name faults


class Visits:
    """The sweeps of one program on one rank; all ranks sweep together."""

    def __init__(
        self, executor: Executor, state: RunState, exchange: Exchange, graph: Graph, ways: int
    ) -> None:
        self.executor, self.state, self.comm = executor, state, graph.comm
        tree, local = state.tree, graph.local
        masters = slice(local.num_masters)
        mixed = not graph.directed or bool((local.in_degree[masters] * local.out_degree[masters]).any())
        self.schedule = Schedule(ways, not self.comm.allreduce(int(mixed), "max"))
        self.places = Places(self.schedule, graph, exchange)
        self.edges = Edges(self.schedule, self.places, graph)
        self._touched = tree.writes("visit", "v") | tree.writes("visit", "nbr")
        names = self._touched | tree.reads("visit", "v") | tree.reads("visit", "nbr")
        self._used = [k for k, field in enumerate(tree.vertex_fields) if field.name in names]
        self._view(graph, names)

    def _view(self, graph: Graph, names: frozenset[str]) -> None:
        """Make the view of `gl_visit`: vertices by place, edges in the order they are visited."""
        main, tree, size = self.executor.view, self.state.tree, self.places.size
        view = self.view = sweep.View()
        for name in (
            "num_vertices",
            "num_edges",
            "num_left",
            "seed",
            "param",
            "given",
            "concurrent",
            "all_active",
            "scratch",
            "stop",
        ):
            setattr(view, name, getattr(main, name))
        view.num_masters = view.num_local = size
        view.gather_edges = view.scatter_edges = 0
        view.in_neighbor, view.out_neighbor = self.edges.source, self.edges.target
        view.vertex = view.vertex_next = [
            Rows(np.zeros(0, np.int64), values.data.dtype)  # visit reads no list of a vertex
            if isinstance(values, Rows)
            else np.zeros((size if k in self._used else 0, *values.shape[1:]), values.dtype)
            for k, values in enumerate(self.state.fields)
        ]
        view.edge = [self.edges.bring(values) for values in self.state.edge_fields]
        self._attributes = {"gid": (np.zeros(size, np.int64), graph.local.gid)}
        for name in _ATTRIBUTES:  # in one order on all ranks: so they travel
            if name in names:
                self._attributes[name] = (np.zeros(size, np.int64), getattr(graph.local, name))
        for name, (here, _) in self._attributes.items():
            setattr(view, name, here)
        self._moving = [view.vertex[k] for k in self._used]
        self._moving += [here for here, _ in self._attributes.values()]
        for here, values in self._attributes.values():
            self.places.bring(values, here)
        written = tree.writes("visit", "e")
        functions = [f for f in tree.functions.values() if f.name != "visit"]
        functions += [a.function for a in tree.aggregators]
        elsewhere = {name for f in functions for name in f.reads}
        elsewhere |= {name for a in tree.aggregators for name in a.function.reads}
        self._written = [k for k, field in enumerate(tree.edge_fields) if field.name in written]
        self._shared = [k for k in self._written if "e." + tree.edge_fields[k].name in elsewhere]

    # ---- a sweep -----------------------------------------------------------------------------------

    def sweep(self) -> frozenset[str]:
        """Visit every edge once; return the names of the vertex fields that may have changed."""
        main, view = self.executor.view, self.view
        view.superstep, view.aggregate = main.superstep, main.aggregate
        for k in self._used:
            self.places.bring(self.state.fields[k], view.vertex[k])
        for turn in range(self.schedule.rounds):
            self.executor.over_edges(view, self.edges.bounds(turn))
            self._move(turn)
        for k in self._used:
            if self.state.tree.vertex_fields[k].name in self._touched:
                self.places.take_back(view.vertex[k], self.state.fields[k])
        for k in self._shared:
            self.edges.take_back(view.edge[k], self.state.edge_fields[k])
        return self._touched

    def bring_edges(self) -> None:
        """Take over the edge fields that visit writes, as the graph's order has them (collective)."""
        for k in self._written:
            self.view.edge[k][:] = self.edges.bring(self.state.edge_fields[k])

    def put_back(self) -> None:
        """Bring the edge fields that visit wrote back to the graph's order (collective)."""
        for k in self._written:
            self.edges.take_back(self.view.edge[k], self.state.edge_fields[k])

    def _move(self, turn: int) -> None:
        """Take every block to its table of the next round, after the last to that of the first."""
        leaving, coming = self.places.moves(turn)
        mine = self.comm.rank
        outgoing = {
            rank: np.concatenate(
                [values[rows].reshape(-1).view(np.uint8) for rows in parts for values in self._moving]
            )
            for rank, parts in leaving.items()
        }
        kept = outgoing.pop(mine, None)
        came = self.comm.begin(outgoing, sorted(coming.keys() - {mine}), Tag.MOVED_VERTICES).end()
        if kept is not None:
            came[mine] = kept
        for rank, parts in coming.items():
            offset = 0
            for rows in parts:
                for values in self._moving:
                    size = values[rows].nbytes
                    values[rows].reshape(-1).view(np.uint8)[:] = came[rank][offset : offset + size]
                    offset += size
