"""`VertexSet`: some of a graph's vertices, as a flag per master."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.graph.stored import StoredGraph
from gaslab.parallel.collective import collective
from gaslab.partitioning.local_graph import ALL, IN, OUT
from gaslab.replication.transfer import any_to_masters, deliver, to_mirrors


class VertexSet:
    """A set of vertices of one graph; made by `Graph.vertices`.

    ``a & b``, ``a | b``, ``a - b``, ``a ^ b`` and ``~a`` make new sets. These, ``id in a``, iterating and
    comparing are collective; ``len(a)`` is not. Iterating yields the ids in order.

    Attributes
    ----------
    graph : Graph
    mask : bool array
        Whether each master of this rank is in the set, in the order of `LocalGraph`.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2])
    >>> def source(v):
    ...     return v.in_degree == 0
    >>> def busy(v):
    ...     return v.degree >= 2
    >>> sources, many = graph.vertices(source), graph.vertices(busy)
    >>> list(many), list(many - sources), len(~many), 3 in many
    ([0, 1, 2], [1, 2], 1, False)
    >>> many
    <VertexSet: 3 of 4 vertices>
    """

    def __init__(self, graph: StoredGraph, mask: np.ndarray) -> None:
        self.graph, self.mask = graph, mask
        self._size = int(graph.comm.allreduce(int(np.count_nonzero(mask))))

    @classmethod
    @collective()
    def of_ids(cls, graph: StoredGraph, user_ids: Any) -> VertexSet:
        """Return the set of the named vertices, the same on every rank (collective)."""
        gids = graph.ids.find(list(user_ids) if isinstance(user_ids, (set, frozenset)) else user_ids)
        masters = graph.local.gid[: graph.local.num_masters]
        return cls(graph, np.isin(masters, gids))

    def __fingerprint__(self) -> Any:
        return [self.graph, self._size]

    def __len__(self) -> int:
        return self._size

    def __bool__(self) -> bool:
        return self._size > 0

    @collective()
    def __and__(self, other: VertexSet) -> VertexSet:
        return VertexSet(self.graph, self.mask & self._of(other))

    @collective()
    def __or__(self, other: VertexSet) -> VertexSet:
        return VertexSet(self.graph, self.mask | self._of(other))

    @collective()
    def __sub__(self, other: VertexSet) -> VertexSet:
        return VertexSet(self.graph, self.mask & ~self._of(other))

    @collective()
    def __xor__(self, other: VertexSet) -> VertexSet:
        return VertexSet(self.graph, self.mask ^ self._of(other))

    @collective()
    def __invert__(self) -> VertexSet:
        return VertexSet(self.graph, ~self.mask)

    def __eq__(self, other: object) -> bool:
        return self._equals(other) if isinstance(other, VertexSet) else NotImplemented

    @collective(name="__eq__")
    def _equals(self, other: VertexSet) -> bool:
        different = int(np.count_nonzero(self.mask != self._of(other)))
        return not self.graph.comm.allreduce(different)

    __hash__ = None  # type: ignore[assignment]

    @collective()
    def __contains__(self, user_id: object) -> bool:
        gid = int(self.graph.ids.locate([user_id])[0])
        masters = self.graph.local.gid[: self.graph.local.num_masters]
        here = bool(self.mask[masters == gid].any())
        return bool(self.graph.comm.allreduce(int(here)))

    @collective()
    def __iter__(self) -> Iterator[Any]:
        return iter(self.graph.ids.marked(self.gids()))

    def __repr__(self) -> str:
        return f"<VertexSet: {self._size:,} of {self.graph.num_vertices:,} vertices>"

    @collective()
    def gids(self) -> np.ndarray:
        """Return the global ids of the whole set, ascending, on every rank (collective)."""
        here = self.graph.local.gid[: self.graph.local.num_masters][self.mask]
        return np.sort(np.concatenate(self.graph.comm.allgather_array(here)))

    @collective()
    def on(self, graph: StoredGraph) -> VertexSet:
        """Return this set on the same graph with another cut (collective)."""
        if graph is self.graph:
            return self
        arguments.instance("graph", graph, type(self.graph), arguments.GRAPH)
        if graph.num_vertices != self.graph.num_vertices or graph.fingerprint != self.graph.fingerprint:
            raise UsageError("the set belongs to another graph; make one for this graph from its ids")
        old, new = (g.local.gid[: g.local.num_masters] for g in (self.graph, graph))
        return VertexSet(graph, deliver(graph.comm, old, [self.mask], new)[0])

    @collective()
    def neighbors(self, direction: int) -> VertexSet:
        """Return the neighbours of the set over edges in *direction*; see `Graph.neighbors`."""
        direction = check_direction(direction)
        graph, local = self.graph, self.graph.local
        inside = to_mirrors(graph.comm, local, self.mask)
        source, target = local.in_neighbor, local.targets()
        flags = np.zeros(local.num_local, bool)
        if direction & OUT or not graph.directed:
            flags[target[inside[source]]] = True
        if direction & IN or not graph.directed:
            flags[source[inside[target]]] = True
        return VertexSet(graph, any_to_masters(graph.comm, local, flags))

    def _of(self, other: VertexSet) -> np.ndarray:
        if not isinstance(other, VertexSet):
            kind = type(other).__name__
            raise UsageError(f"a set of vertices is needed, not {kind}; graph.vertices(...) makes one")
        return other.on(self.graph).mask


def check_direction(direction: Any) -> int:
    """Return gl.IN, gl.OUT or gl.ALL; raises UsageError for another value."""
    whole = isinstance(direction, (int, np.integer)) and not isinstance(direction, bool)
    if whole and direction in (IN, OUT, ALL):
        return int(direction)
    raise arguments.wrong("direction", direction, "gl.IN, gl.OUT or gl.ALL is needed")
