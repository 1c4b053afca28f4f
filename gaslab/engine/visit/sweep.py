"""visit: sweeps over all edges, which write both ends, by blocks of vertices that move between ranks.

Each table of the `Schedule` belongs to one rank, which has the edges visited there. The vertices' values are
sent from their masters to their block's first table, move with the block from table to table together with
the right to write them, and are sent back at the end.
"""

from __future__ import annotations

import numpy as np

from gaslab._kernels import phase_runner
from gaslab.engine.executor import Executor
from gaslab.engine.state import RunState
from gaslab.engine.visit.live import LiveTotals
from gaslab.engine.visit.places import Moves
from gaslab.engine.visit.plan import plan_of
from gaslab.graph.graph import Graph
from gaslab.language.visit_ways import choose_ways, field_bytes
from gaslab.parallel.comm import Pending
from gaslab.parallel.tags import Tag
from gaslab.ragged import Rows

_SHARED = (  # members that the view of `gl_visit` shares with other methods' views
    "num_vertices", "num_edges", "num_left", "seed", "param", "initial_fields", "concurrent", "all_active",
    "scratch", "stop", "shared",
)  # fmt: skip
_ATTRIBUTES = ("degree", "in_degree", "out_degree")  # the id always goes along, to name faults


class Visits:
    """The sweeps of one program on one rank; all ranks sweep together."""

    def __init__(self, executor: Executor, state: RunState, graph: Graph, ways: int | None) -> None:
        self.executor, self.state, self.comm = executor, state, graph.comm
        tree = state.tree
        if ways is None:
            size = sum(field_bytes(field.storage, field.shape) for field in tree.vertex_fields)
            ways = choose_ways(graph.num_vertices, graph.num_edges, size)
        plan = plan_of(graph, ways)
        self.rounds, self.places, self.edges = plan.rounds, plan.places, plan.edges
        self._touched = tree.writes("visit", "v") | tree.writes("visit", "nbr")
        names = self._touched | tree.reads("visit", "v") | tree.reads("visit", "nbr")
        self._used = [k for k, field in enumerate(tree.vertex_fields) if field.name in names]
        # After every sweep, fields that only visit writes after init are in the places of round 0.
        others = tree.writes("apply") | tree.writes("init_message")
        self._kept = [k for k in self._used if tree.vertex_fields[k].name not in others]
        self._brought: frozenset[int] = frozenset()
        self._totals = LiveTotals(state, graph.comm) if tree.live else None
        self._view(graph, names)

    def _view(self, graph: Graph, names: frozenset[str]) -> None:
        """Make the view of `gl_visit`: vertices by place, edges in the order of visits."""
        main, tree, size = self.executor.view, self.state.tree, self.places.size
        view = self.view = phase_runner.View()
        for name in _SHARED:
            setattr(view, name, getattr(main, name))
        view.num_masters = view.num_local = size
        view.gather_edges = view.scatter_edges = 0
        view.in_neighbor, view.out_neighbor = self.edges.source, self.edges.target
        view.vertex = view.vertex_next = [
            Rows(np.zeros(0, np.int64), values.data.dtype)  # visit reads no lists of vertices
            if isinstance(values, Rows)
            else np.zeros((size if k in self._used else 0, *values.shape[1:]), values.dtype)
            for k, values in enumerate(self.state.fields)
        ]
        written = tree.writes("visit", "e")
        self._written = [k for k, field in enumerate(tree.edge_fields) if field.name in written]
        fields = self.state.edge_fields
        view.edge = self.edges.bring_all(fields, [k not in self._written for k in range(len(fields))])
        self._attributes = {"gid": (np.zeros(size, np.int64), graph.local.gid)}
        for name in _ATTRIBUTES:  # in the same order on all ranks, in which they travel
            if name in names:
                self._attributes[name] = (np.zeros(size, np.int64), getattr(graph.local, name))
        for name, (here, _) in self._attributes.items():
            setattr(view, name, here)
        self.places.bring([(values, here) for here, values in self._attributes.values()])
        moving = [view.vertex[k] for k in self._used] + [here for here, _ in self._attributes.values()]
        self._last_sent = Pending()  # blocks that others may not have received
        self._moves = [
            (_views(moving, leaving), _views(moving, coming)) for leaving, coming in self.places.moves
        ]
        functions = [f for f in tree.functions.values() if f.name != "visit"]
        functions += [a.function for a in tree.aggregators]
        elsewhere = {name for f in functions for name in f.reads}
        elsewhere |= {name for a in tree.aggregators for name in a.function.reads}
        self._shared = [k for k in self._written if "e." + tree.edge_fields[k].name in elsewhere]

    # ---- a sweep -----------------------------------------------------------------------------------

    def sweep(self) -> frozenset[str]:
        """Visit every edge once; return the names of the vertex fields that may have changed."""
        main, view = self.executor.view, self.view
        view.superstep, view.aggregate = main.superstep, main.aggregate
        lacking = [k for k in self._used if k not in self._brought]
        if lacking:
            self.places.bring([(self.state.fields[k], view.vertex[k]) for k in lacking])
        self._brought = frozenset(self._kept)
        for turn in range(self.rounds):
            first, second = self.edges.bounds(turn)
            self._visit(first)
            sent = self._send(turn)
            self._visit(second)
            self._receive(turn, sent)
            if self._totals is not None:
                self._totals.agree()
        self._last_sent.finish()
        fields = self.state.tree.vertex_fields
        touched = [k for k in self._used if fields[k].name in self._touched]
        if touched:
            self.places.take_back([(view.vertex[k], self.state.fields[k]) for k in touched])
        for k in self._shared:
            self.edges.take_back(view.edge[k], self.state.edge_fields[k])
        return self._touched

    def _visit(self, bounds: np.ndarray) -> None:
        """Visit the edges between *bounds*, those of tables of one round."""
        if bounds[0] == bounds[-1]:
            return
        if self._totals is None:
            self.executor.over_edges(self.view, bounds)
        else:
            bounds = np.unique(bounds)  # of tables with edges
            self.executor.over_edges(self.view, bounds, self._totals.rows(bounds.size - 1))

    def resume(self) -> None:
        """Take over a state that `state_arrays.restore` has set (collective)."""
        self._brought = frozenset()
        for k in self._written:
            self.view.edge[k][:] = self.edges.bring(self.state.edge_fields[k])

    def put_back(self) -> None:
        """Copy the edge fields that visit wrote back into the graph's order (collective)."""
        for k in self._written:
            self.edges.take_back(self.view.edge[k], self.state.edge_fields[k])

    def _send(self, turn: int) -> Pending:
        """Send the blocks that left their tables after a round to the next ranks."""
        leaving, coming = self._moves[turn]
        if not leaving and not coming:
            return Pending()
        outgoing = {rank: np.concatenate(parts) for rank, parts in leaving.items() if rank != self.comm.rank}
        return self.comm.begin(outgoing, sorted(coming.keys() - {self.comm.rank}), Tag.MOVED_VERTICES)

    def _receive(self, turn: int, sent: Pending) -> None:
        """Store the blocks that arrive in the places of their tables; round 0 follows the last round.

        A peer may receive only when it waits for messages itself. So departed blocks are waited for when
        others have arrived, in the next round in which any move.
        """
        leaving, coming = self._moves[turn]
        received = sent.receive()
        self._last_sent.finish()
        self._last_sent = sent
        if self.comm.rank in leaving:
            received[self.comm.rank] = np.concatenate(leaving[self.comm.rank])
        for rank, parts in coming.items():
            begin = 0
            for part in parts:
                part[:] = received[rank][begin : begin + part.size]
                begin += part.size


def _views(arrays: list[np.ndarray], moves: Moves) -> dict[int, list[np.ndarray]]:
    """Return, by rank, the bytes of these places in each of the *arrays*, in which they can be written."""
    return {
        rank: [values[rows].reshape(-1).view(np.uint8) for rows in parts for values in arrays]
        for rank, parts in moves.items()
    }
