"""The data of a graph: every rank's part, its columns, and the properties of the whole."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.ingest.capacity import check_room
from gaslab.ingest.edges import EdgeList
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.sides import need_sides
from gaslab.parallel import launch
from gaslab.parallel.collective import collective
from gaslab.parallel.comm import Comm, as_comm
from gaslab.partitioning import strategies
from gaslab.partitioning.build import build_local
from gaslab.partitioning.local_graph import LocalGraph
from gaslab.partitioning.metrics import measure
from gaslab.ragged import RaggedColumn
from gaslab.replication.transfer import deliver_columns

if TYPE_CHECKING:
    from typing_extensions import Self


class StoredGraph:
    """The data of a `gaslab.Graph`, whose attributes are described there, and how it is built from edges."""

    def __init__(
        self,
        edges: EdgeList,
        local: LocalGraph,
        edge_columns: dict[str, Any],
        strategy: str,
        seconds: Mapping[str, float],
        comm: Comm,
        vertex_columns: dict[str, np.ndarray] | None = None,
        strategy_chosen_by: str | None = None,
    ) -> None:
        """Assemble a graph from the parts built by `from_edge_list` (collective)."""
        self.comm = comm
        self.directed = edges.directed
        self.num_vertices = edges.num_vertices
        self.num_edges = int(comm.allreduce(local.num_edges))
        self.strategy = strategy
        self.strategy_chosen_by = strategy_chosen_by
        self.local = local
        self.edge_columns = edge_columns
        self.vertex_columns = vertex_columns or {}
        self.ids: VertexIds = edges.ids
        self.counts = dict(edges.counts)
        self.left_out = dict(edges.left_out)
        self.source = edges.source
        self.fingerprint = edges.fingerprint
        self.seconds = {name: float(comm.allreduce(value, "max")) for name, value in seconds.items()}
        cut = measure(comm, local)
        self.replication_factor = cut.replication_factor
        self.edge_balance = cut.edge_balance
        self.vertex_balance = cut.vertex_balance

    @classmethod
    @collective(exempt=("edges", "vertices", "load_seconds"))
    def from_edge_list(
        cls,
        edges: EdgeList,
        *,
        strategy: str | None = None,
        comm: Any = None,
        load_seconds: float = 0.0,
        vertices: tuple[np.ndarray, Mapping[str, np.ndarray]] | None = None,
    ) -> Self:
        """Build a graph from *edges*, which may be split over the ranks in any way (collective).

        The arrays of *edges* are taken over and freed on the way. *vertices* are the global ids of some
        vertices and the values of vertex columns for them; over all ranks each vertex appears once.

        Raises
        ------
        UsageError
            The strategy does not exist or does not return a part for each edge, or one rank has more than
            2**31 - 1 edges.
        InputError
            There are more vertices than fit into memory, or more than 2**31 - 1 on one rank.
        """
        name, cut = strategies.find(strategy)
        comm = as_comm(comm)
        check_room(comm, edges.num_vertices, f"{edges.source}: ")
        load_seconds = arguments.number("load_seconds", load_seconds)
        started = time.perf_counter()
        threads = launch.threads_per_rank(comm.local_ranks)
        local, columns, chosen = build_local(edges, name, cut, comm, threads)
        seconds = {"load": load_seconds, "partition": time.perf_counter() - started}
        of_vertices = {}
        if vertices is not None:
            of_vertices = deliver_columns(comm, *vertices, local.gid[: local.num_masters])
        known = (name, None) if chosen is None else (chosen, name)
        return cls(edges, local, columns, known[0], seconds, comm, of_vertices, known[1])

    def __fingerprint__(self) -> Any:
        columns = sorted(self.edge_columns), sorted(self.vertex_columns)
        return [self.fingerprint, self.strategy, self.num_vertices, self.num_edges, self.directed, *columns]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle; UsageError on several ranks, each of which has a part of the graph."""
        if self.comm.size > 1:
            raise UsageError(
                f"a graph on {self.comm.size} ranks cannot be pickled or deep-copied, since each has a "
                "part of it; graph.save(DIR) writes it for gaslab.load_graph(DIR)"
            )
        return vars(self)

    def __copy__(self) -> Self:
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        return made

    @property
    def bipartite(self) -> bool:
        return self.ids.num_left is not None

    @property
    def num_left(self) -> int:
        need_sides(self.ids, "num_left was read")
        return int(self.ids.num_left or 0)

    @property
    def cut_by(self) -> str:
        """The strategy, and what chose it, as text."""
        by = self.strategy_chosen_by
        return self.strategy if by is None else f"{self.strategy} (chosen by {by.partition(':')[0]})"

    @collective()
    def partitioned(self, strategy: str) -> Self:
        """Return this graph cut by another strategy (collective); itself if it already has that cut.

        Columns are kept; parallel edges keep their order.
        """
        if strategies.find(strategy)[0] in (self.strategy, self.strategy_chosen_by):
            return self
        src, dst = self.edges()
        edges = EdgeList(
            src=src, dst=dst, columns=self.edge_columns, ids=self.ids, num_vertices=self.num_vertices,
            directed=self.directed, counts=self.counts, source=self.source, fingerprint=self.fingerprint,
            left_out=self.left_out,
        )  # fmt: skip
        del src, dst  # the build frees them as soon as it has read them
        return self.from_edge_list(
            edges, strategy=strategy, comm=self.comm, load_seconds=self.seconds["load"],
            vertices=(self.local.gid[: self.local.num_masters], self.vertex_columns),
        )  # fmt: skip

    def edges(self, on: str = "local") -> tuple[np.ndarray, np.ndarray]:
        """Return the global ids (int64) of the sources and targets of edges.

        ``ids.lookup`` turns global ids into the user's own.

        Parameters
        ----------
        on : {"local", "all", "root"}
            "local": this rank's edges, in slot order, as `edge_columns` are (not collective). "all":
            every edge on every rank, those of rank 0 first. "root": the same on rank 0, none elsewhere.

        Raises
        ------
        UsageError
            *on* is another value.
        """
        arguments.choice("on", on, arguments.PLACES)
        src, dst = self.local.gid[self.local.in_neighbor], self.local.gid[self.local.targets()]
        return (src, dst) if on == "local" else self._together(src, dst, on)

    @collective(exempt=("src", "dst"), name="edges")
    def _together(self, src: np.ndarray, dst: np.ndarray, on: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of all ranks' edges, on all ranks or on rank 0."""
        gather = self.comm.allgather_array if on == "all" else self.comm.gather_array
        src_parts, dst_parts = gather(src), gather(dst)
        if src_parts is None or dst_parts is None:
            return src[:0], dst[:0]
        return np.concatenate(src_parts), np.concatenate(dst_parts)

    @collective()
    def check_column(self, name: str, minimum: float, finite: bool = False) -> None:
        """Raise UsageError, on every rank, if an edge column has NaN or a value below *minimum*.

        With *finite*, also if it has an infinite value.
        """
        values = self.edge_columns[name]
        if isinstance(values, RaggedColumn):
            raise UsageError(f"edge column {name!r} has {values.kind}; a number for each edge is needed")
        low, high = self.bounds_here(name)
        bad = np.zeros(0, np.int64)
        if not low >= minimum or (finite and not math.isfinite(low + high)):  # false for nan
            bad = np.flatnonzero(~(values >= minimum) | (np.isinf(values) if finite else False))
        found = self.first_edge((int(bad[0]), values[bad[0]].item()) if bad.size else None)
        if found is not None:
            least = "" if minimum == -math.inf else f"at least {minimum:g}"
            need = " of ".join(filter(None, ["a finite number" if finite else "", least]))
            raise UsageError(f"edge column {name!r} is {found[1]!r} on the edge {found[0]}; {need} is needed")

    def bounds_here(self, name: str) -> tuple[float, float]:
        """Return the least and the largest value of an edge column on this rank (not collective).

        Both are nan if any value is; without edges they are inf and -inf. The result is cached.
        """
        values = self.edge_columns[name]

        def make() -> tuple[float, float]:
            return (float(values.min()), float(values.max())) if values.size else (math.inf, -math.inf)

        return self.local.derived(values, "bounds", make)  # type: ignore[no-any-return]

    @collective(exempt=("found",))
    def first_edge(self, found: tuple[int, Any] | None) -> tuple[str, Any] | None:
        """Return on every rank the edge that the first rank found, as text, and its finding (collective).

        *found* is a slot and any value, or None if this rank found nothing.
        """
        own = None
        if found is not None:
            slot = found[0]
            ends = self.local.in_neighbor[slot], np.searchsorted(self.local.in_begin, slot, "right") - 1
            own = ([int(self.local.gid[v]) for v in ends], found[1])
        first = next((x for x in self.comm.allgather(own) if x is not None), None)
        if first is None:
            return None
        source, target = self.ids.named(np.array(first[0], np.int64))
        return f"{source} -> {target}", first[1]

    def memory_bytes(self) -> int:
        """Return the bytes of this rank's part: vertices, edges, their columns and mirror lists.

        Edges by source, and data derived from columns and cached, are included once a program has used them.
        Not collective.
        """
        columns = (*self.edge_columns.values(), *self.vertex_columns.values())
        return self.local.memory_bytes() + sum(int(values.nbytes) for values in columns)

    def __repr__(self) -> str:
        vertices = "vertex" if self.num_vertices == 1 else "vertices"
        edges = "edge" if self.num_edges == 1 else "edges"
        parts = [
            f"<Graph from {self.source}: {self.num_vertices:,} {vertices}, {self.num_edges:,} {edges}, "
            f"{'directed' if self.directed else 'undirected'}"
        ]
        if self.bipartite:
            parts.append(f"bipartite, {self.num_left:,} + {self.num_vertices - self.num_left:,}")
        if self.edge_columns:
            known = self.edge_columns.items()
            kinds = {n: v.kind if isinstance(v, RaggedColumn) else str(v.dtype) for n, v in known}
            parts.append("columns: " + ", ".join(f"{n} ({kind})" for n, kind in kinds.items()))
        if self.vertex_columns:
            columns = self.vertex_columns.items()
            parts.append("vertex columns: " + ", ".join(f"{n} ({v.dtype})" for n, v in columns))
        if self.comm.size > 1:
            parts.append(
                f"{self.comm.size} ranks by {self.cut_by}, replication {self.replication_factor:.2f}, "
                f"edge balance {self.edge_balance:.2f}"
            )
        return "; ".join(parts) + ">"
