"""Graphs to other libraries: NetworkX, SciPy and pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.graph.absent import no_edge_column
from gaslab.graph.stored import StoredGraph
from gaslab.parallel.collective import collective
from gaslab.parallel.comm import Comm
from gaslab.ragged import RaggedColumn

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse


class Export(StoredGraph):
    """The methods that convert a `gaslab.Graph` to other libraries; every rank gets the whole graph.

    Edges are sorted by source and target, in the order of the ids; parallel edges keep their order.
    """

    @collective()
    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame with a row per edge: ``source``, ``target`` and the edge columns (collective).

        A column of arrays becomes a column for each element, ``x[0]``, ``x[1]``, ...; lists stay lists.
        Vertices without edges are not included.

        Examples
        --------
        >>> import gaslab as gl
        >>> graph = gl.Graph.from_edges(["b", "a"], ["c", "b"], columns={"km": [4, 3]})
        >>> graph.to_pandas().values.tolist()
        [['a', 'b', 3], ['b', 'c', 4]]
        """
        import pandas

        src, dst, columns = _edges(self)
        frame: dict[str, Any] = {"source": self.ids.lookup(src), "target": self.ids.lookup(dst)}
        for name, values in columns.items():
            if isinstance(values, RaggedColumn):
                frame[name] = values.tolist()
            elif values.ndim == 1:
                frame[name] = values
            else:
                for index in np.ndindex(values.shape[1:]):
                    at = (slice(None), *index)
                    frame[f"{name}[{','.join(map(str, index))}]"] = values[at]
        return pandas.DataFrame(frame)

    @collective()
    def to_scipy(self, weight: str | None = None) -> scipy.sparse.csr_array:
        """Return the adjacency matrix, with a row and a column for each vertex, by id (collective).

        Entry (i, j) is the sum over the edges from vertex i to vertex j, whose ids are ``graph.ids.lookup([i,
        j])``. For an undirected graph the matrix is symmetric, and a self-loop counts once. A bipartite graph
        has a row for each left vertex and a column for each right one.

        Parameters
        ----------
        weight : str, optional
            The edge column to sum; by default each edge counts 1.

        Raises
        ------
        UsageError
            The column does not exist, or has arrays or lists; an edge of a bipartite graph leads from right
            to left.

        Examples
        --------
        >>> import gaslab as gl
        >>> gl.Graph.from_edges([0, 0, 2], [1, 1, 0]).to_scipy().toarray().tolist()
        [[0, 2, 0], [0, 0, 0], [1, 0, 0]]
        """
        import scipy.sparse

        if (weight := arguments.text("weight", weight, optional=True)) is not None:
            self._check_numbers(weight)
        src, dst, columns = _edges(self, [] if weight is None else [weight])
        values = np.ones(src.size, np.int64) if weight is None else columns[weight]
        n = self.num_vertices
        if self.bipartite:
            left = self.num_left
            if not self.directed:
                src, dst = np.minimum(src, dst), np.maximum(src, dst)
            if (src >= left).any():
                raise UsageError("an edge leads from right to left, and columns are right vertices")
            return scipy.sparse.coo_array((values, (src, dst - left)), shape=(left, n - left)).tocsr()
        if not self.directed:
            both = src != dst
            ends = np.concatenate([src, dst[both]]), np.concatenate([dst, src[both]])
            src, dst, values = *ends, np.concatenate([values, values[both]])
        return scipy.sparse.coo_array((values, (src, dst)), shape=(n, n)).tocsr()

    @collective()
    def to_networkx(self) -> networkx.Graph:
        """Return a NetworkX graph (collective), of the class for its directions and parallel edges.

        Nodes are the ids, in order, with the vertex columns; edges have the edge columns. Nodes of a
        bipartite graph have their side as ``bipartite``, 0 or 1.

        Raises
        ------
        UsageError
            An id is on both sides of a bipartite graph: NetworkX would treat the two vertices as one.

        Examples
        --------
        >>> import gaslab as gl
        >>> graph = gl.Graph.from_edges([1, 1], [2, 2], columns={"km": [4, 3]}, vertices=[5])
        >>> graph.to_networkx().nodes, type(graph.to_networkx()).__name__
        (NodeView((1, 2, 5)), 'MultiDiGraph')
        """
        import networkx

        src, dst, columns = _edges(self)
        nodes = self.ids.lookup(np.arange(self.num_vertices)).tolist()
        if self.bipartite:
            left = self.num_left
            twice = set(nodes[:left]).intersection(nodes[left:])
            if twice:
                one = min(twice, key=str)
                raise UsageError(
                    f"{one!r} is on both sides, and NetworkX would take the two vertices for one; "
                    "graph.to_pandas() keeps them apart"
                )
        low, high = (src, dst) if self.directed else (np.minimum(src, dst), np.maximum(src, dst))
        order = np.lexsort((high, low))
        parallel = bool(((np.diff(low[order]) == 0) & (np.diff(high[order]) == 0)).any())
        kinds = {
            (True, True): networkx.MultiDiGraph, (True, False): networkx.DiGraph,
            (False, True): networkx.MultiGraph, (False, False): networkx.Graph,
        }  # fmt: skip
        made = kinds[self.directed, parallel]()
        made.add_nodes_from(zip(nodes, _rows(_vertices(self), len(nodes)), strict=True))
        if self.bipartite:
            networkx.set_node_attributes(
                made, {one: int(k >= self.num_left) for k, one in enumerate(nodes)}, "bipartite"
            )
        ends = ([nodes[k] for k in end.tolist()] for end in (src, dst))
        made.add_edges_from(zip(*ends, _rows(columns, src.size), strict=True))
        return made

    def _check_numbers(self, name: str) -> None:
        """Raise UsageError unless an edge column has a number for each edge."""
        if name not in self.edge_columns:
            raise no_edge_column(self, name)
        values = self.edge_columns[name]
        if isinstance(values, RaggedColumn) or values.ndim > 1:
            raise UsageError(f"edge column {name!r} has more than one number for an edge")


Edges = tuple[np.ndarray, np.ndarray, dict[str, Any]]  # sources, targets, columns


def _edges(graph: StoredGraph, names: list[str] | None = None) -> Edges:
    """Return all edges on every rank, by source and target, and their columns (collective)."""
    src, dst = graph.edges("all")
    order = np.lexsort((dst, src))
    known = graph.edge_columns if names is None else {name: graph.edge_columns[name] for name in names}
    columns = {name: _everywhere(graph.comm, values)[order] for name, values in known.items()}
    return src[order], dst[order], columns


def _vertices(graph: StoredGraph) -> dict[str, np.ndarray]:
    """Return the vertex columns of all vertices, by global id, on every rank (collective)."""
    gids = np.concatenate(graph.comm.allgather_array(graph.local.gid[: graph.local.num_masters]))
    order = np.argsort(gids)
    return {name: _everywhere(graph.comm, values)[order] for name, values in graph.vertex_columns.items()}


def _everywhere(comm: Comm, values: Any) -> Any:
    """Return the rows of all ranks, those of rank 0 first, on every rank (collective)."""
    if isinstance(values, RaggedColumn):
        return RaggedColumn(_everywhere(comm, values.lengths), _everywhere(comm, values.values))
    rows = comm.allgather_array(np.ascontiguousarray(values).reshape(-1))
    return np.concatenate(rows).reshape(-1, *values.shape[1:])


def _rows(columns: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the rows of columns as dicts of plain Python values."""
    if not columns:
        return [{} for _ in range(count)]
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in values]
