"""Where graphs come from: arrays, generators and the graphs of other libraries."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gaslab.graph.stored import StoredGraph
from gaslab.ingest import arrays, convert, generate
from gaslab.ingest.edges import EdgeList
from gaslab.parallel.collective import collective
from gaslab.parallel.comm import Comm, as_comm
from gaslab.partitioning import strategies

if TYPE_CHECKING:
    from typing_extensions import Self


class Sources(StoredGraph):
    """The class methods that make a `gaslab.Graph`."""

    @classmethod
    @collective(exempt=("src", "dst", "columns", "vertices"))  # `share` compares them
    def from_edges(
        cls,
        src: Any,
        dst: Any,
        *,
        columns: Mapping[str, Any] | None = None,
        vertices: Any = None,
        directed: bool = True,
        bipartite: bool = False,
        drop_duplicates: bool = False,
        drop_self_loops: bool = False,
        strategy: str | None = None,
        rows: str = "same",
        comm: Any = None,
    ) -> Self:
        """Return the graph with the edges ``src[i] -> dst[i]`` (collective).

        Parameters
        ----------
        src, dst : sequences of equal length

            Vertex ids: 64-bit integers, strings, or other hashable objects that equal their pickled copies,
            which every rank then keeps.
        columns : dict of str to numbers or bools, one per edge, or arrays of them of one shape, or lists
            Values of the edges, for programs with edge fields.
        vertices : sequence of ids, optional
            Further vertices, with or without edges; for a bipartite graph a pair, left and right.
        directed : bool
            False: each row is one edge between its two ends, in both directions.
        bipartite : bool
            True: *src* and *dst* are ids of two kinds of vertices, left (``v.side == 0``) and right; an id
            such as 7 may be on both sides. See ``docs/graphs.md``.
        drop_duplicates, drop_self_loops : bool
            Drop all but the first of parallel edges; drop edges from a vertex to itself.
        strategy : str, optional
            The vertex-cut; by default a quick one chosen for the graph and the number of ranks.
        rows : {"same", "parts", "root"}
            With several ranks: every rank passes the same rows, or each rank its own part of them, or only
            rank 0 passes any.
        comm : Comm or mpi4py communicator, optional
            The ranks; all of them by default.

        Examples
        --------
        >>> import gaslab as gl
        >>> gl.Graph.from_edges([0, 0, 7], [7, 7, 7], vertices=[3], drop_self_loops=True)
        <Graph from arrays: 3 vertices, 2 edges, directed>
        >>> gl.Graph.from_edges(["ann", "bob"], [7, 7], bipartite=True)
        <Graph from arrays: 3 vertices, 2 edges, directed; bipartite, 2 + 1>
        """
        return cls._ingest(
            lambda comm: arrays.edges_from_arrays(
                src, dst, comm=comm, columns=columns, vertices=vertices, rows=rows, directed=directed,
                bipartite=bipartite, drop_duplicates=drop_duplicates, drop_self_loops=drop_self_loops,
            ),
            strategy, comm,
        )  # fmt: skip

    @classmethod
    @collective(exempt=("graph",))
    def from_networkx(
        cls,
        graph: Any,
        *,
        bipartite: bool = False,
        strategy: str | None = None,
        rows: str = "same",
        comm: Any = None,
    ) -> Self:
        """Return the graph for a NetworkX graph, whose nodes become the ids (collective).

        It is directed if *graph* is. Edge attributes that are numbers on every edge become edge columns, and
        node attributes that are numbers on every node become vertex columns (not with ``rows="parts"``); a
        warning names those that are left out. With ``bipartite=True`` the node attribute ``bipartite`` gives
        the side, 0 or 1, as in NetworkX.

        Examples
        --------
        >>> import gaslab as gl, networkx as nx
        >>> gl.Graph.from_networkx(nx.path_graph(4))
        <Graph from networkx: 4 vertices, 3 edges, undirected>
        """
        comm = as_comm(comm)
        made: Any = cls._ingest(
            lambda comm: convert.edges_from_networkx(graph, comm=comm, bipartite=bipartite, rows=rows),
            strategy,
            comm,
        )
        table = convert.vertices_from_networkx(graph, comm, bipartite=bipartite, rows=rows)
        joined: Self = made if table is None else made.with_vertices(table, rows=rows)
        return joined

    @classmethod
    @collective(exempt=("matrix",))
    def from_scipy(
        cls,
        matrix: Any,
        *,
        weight: str | None = "weight",
        directed: bool = True,
        bipartite: bool = False,
        strategy: str | None = None,
        rows: str = "same",
        comm: Any = None,
    ) -> Self:
        """Return the graph for a square sparse matrix: entry (i, j) is the edge i -> j (collective).

        Vertices are 0..n-1 whether or not they have entries; the entries become the column *weight* unless
        *weight* is None. With ``directed=False`` the matrix must be symmetric, and (i, j) and (j, i) are one
        edge. With ``bipartite=True`` the matrix may have any shape: row i is vertex i on the left, column j
        vertex j on the right. Stored zeros are edges; entries stored twice are added.

        Examples
        --------
        >>> import gaslab as gl, scipy.sparse as sp
        >>> gl.Graph.from_scipy(sp.coo_array(([0.5, 2.0], ([0, 1], [1, 2])), shape=(4, 4)))
        <Graph from scipy: 4 vertices, 2 edges, directed; columns: weight (float64)>
        """
        return cls._ingest(
            lambda comm: convert.edges_from_scipy(
                matrix, comm=comm, weight=weight, directed=directed, bipartite=bipartite, rows=rows
            ),
            strategy, comm,
        )  # fmt: skip

    @classmethod
    @collective(exempt=("frame",))
    def from_pandas(
        cls,
        frame: Any,
        source: str = "source",
        target: str = "target",
        *,
        columns: Sequence[str] | None = None,
        directed: bool = True,
        bipartite: bool = False,
        strategy: str | None = None,
        rows: str = "same",
        comm: Any = None,
    ) -> Self:
        """Return the graph for a DataFrame with one row per edge (collective).

        *source* and *target* name the columns of ids, *columns* those to keep as edge columns (by default all
        that are numeric or bool). With ``bipartite=True`` sources and targets are ids of two kinds of
        vertices.

        Examples
        --------
        >>> import gaslab as gl, pandas as pd
        >>> gl.Graph.from_pandas(pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "km": [3, 4]}))
        <Graph from pandas: 3 vertices, 2 edges, directed; columns: km (int64)>
        """
        return cls._ingest(
            lambda comm: convert.edges_from_pandas(
                frame, comm=comm, source=source, target=target, columns=columns, directed=directed,
                bipartite=bipartite, rows=rows,
            ),
            strategy, comm,
        )  # fmt: skip

    @classmethod
    @collective()
    def generate(
        cls, kind: str, *, seed: int = 0, strategy: str | None = None, comm: Any = None, **size: Any
    ) -> Self:
        """Return a random graph, which is the same for a seed on any number of ranks (collective).

        *kind* is ``"rmat"``, ``"powerlaw"``, ``"grid"``, ``"erdos-renyi"``, ``"bipartite"`` or ``"corpus"``;
        *size* are that generator's own arguments (see `gaslab.ingest.generate.generate`).

        Examples
        --------
        >>> import gaslab as gl
        >>> gl.Graph.generate("rmat", scale=10, edge_factor=16, seed=1).num_edges
        16384
        """
        return cls._ingest(lambda comm: generate.generate(kind, comm=comm, seed=seed, **size), strategy, comm)

    @classmethod
    def _ingest(cls, load: Callable[[Comm], EdgeList], strategy: str | None, comm: Any) -> Self:
        strategies.find(strategy)  # an unknown name is an error before the input is read
        comm = as_comm(comm)
        started = time.perf_counter()
        edges = load(comm)
        return cls.from_edge_list(
            edges, strategy=strategy, comm=comm, load_seconds=time.perf_counter() - started,
            vertices=edges.vertices,
        )  # fmt: skip
