"""The graph that programs run on: every rank's part of it, and what is known of the whole."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gaslab import launch
from gaslab.comm import Comm, as_comm
from gaslab.errors import UsageError
from gaslab.ingest import (
    EdgeList,
    VertexIds,
    edges_from_arrays,
    edges_from_networkx,
    edges_from_pandas,
    edges_from_scipy,
    generate,
    read_edges,
)
from gaslab.localgraph import LocalGraph
from gaslab.partition import strategies
from gaslab.partition.build import build_local
from gaslab.partition.metrics import measure


class Graph:
    """A graph, cut by vertices over the ranks of a communicator; it never changes.

    Make one with `read_graph`, `from_edges`, `from_networkx`, `from_scipy`, `from_pandas` or
    `generate`. All of them are collective, as are `partitioned` and, by `ids`, looking up vertices;
    everything else here is known on every rank.

    Attributes
    ----------
    num_vertices, num_edges : int
        Of the whole graph; an undirected edge counts once.
    directed : bool
    strategy : str
        Name of the vertex-cut: ``"random"``, ``"1d"``, ``"2d"`` or ``"dbh"``; see
        `gaslab.partition.strategies`.
    replication_factor : float
        Mean number of ranks that hold a vertex, over the vertices with an edge; 1 at best.
    edge_balance, vertex_balance : float
        Edges, and replicas of vertices, of the fullest rank over the mean; 1 at best.
    edge_columns : dict of str to array
        Values of this rank's edges, in the order of the slots of `local`.
    ids : VertexIds
        The user's ids to global ids and back.
    counts : dict of str to int
        What was read: lines, comments, blanks, lines_rejected, self_loops, duplicates.
    source, fingerprint : str
        Where the edges came from; a value that is the same for the same input on any ranks.
    seconds : dict of str to float
        ``load`` and ``partition``, of the slowest rank.
    comm : Comm
        The ranks.
    local : LocalGraph
        This rank's part.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges(["a", "b", "c"], ["b", "c", "a"], columns={"weight": [1.0, 2.0, 3.0]})
    >>> graph
    <Graph from arrays: 3 vertices, 3 edges, directed; columns: weight (float64)>
    >>> graph.num_edges, graph.replication_factor
    (3, 1.0)
    """

    def __init__(
        self,
        edges: EdgeList,
        local: LocalGraph,
        edge_columns: dict[str, np.ndarray],
        strategy: str,
        seconds: Mapping[str, float],
        comm: Comm,
    ) -> None:
        """Put a graph together from what `from_edge_list` built (collective)."""
        self.comm = comm
        self.directed = edges.directed
        self.num_vertices = edges.num_vertices
        self.num_edges = int(comm.allreduce(local.num_edges))
        self.strategy = strategy
        self.local = local
        self.edge_columns = edge_columns
        self.ids: VertexIds = edges.ids
        self.counts = dict(edges.counts)
        self.source = edges.source
        self.fingerprint = edges.fingerprint
        self.seconds = {name: float(comm.allreduce(value, "max")) for name, value in seconds.items()}
        cut = measure(comm, local)
        self.replication_factor = cut.replication_factor
        self.edge_balance = cut.edge_balance
        self.vertex_balance = cut.vertex_balance

    @classmethod
    def from_edge_list(
        cls,
        edges: EdgeList,
        *,
        strategy: str | None = None,
        comm: Any = None,
        load_seconds: float = 0.0,
    ) -> Graph:
        """Return the graph of *edges*, which may be split over the ranks in any way (collective).

        The arrays of *edges* are taken over and freed on the way.

        Raises
        ------
        UsageError
            No such strategy, or more than 2**31 - 1 edges or vertices for one rank.
        """
        name, cut = strategies.find(strategy)
        comm = as_comm(comm)
        started = time.perf_counter()
        local, columns = build_local(edges, cut, comm, launch.threads_per_rank(comm.local_ranks))
        seconds = {"load": load_seconds, "partition": time.perf_counter() - started}
        return cls(edges, local, columns, name, seconds, comm)

    @classmethod
    def from_edges(
        cls,
        src: Any,
        dst: Any,
        *,
        columns: Mapping[str, Any] | None = None,
        vertices: Any = None,
        directed: bool = True,
        drop_duplicates: bool = False,
        drop_self_loops: bool = False,
        strategy: str | None = None,
        rows: str = "same",
        comm: Any = None,
    ) -> Graph:
        """Return the graph of the edges ``src[i] -> dst[i]`` (collective).

        Parameters
        ----------
        src, dst : sequences of one length
            Vertex ids: integers from 0 to 2**63 - 1, or strings, or other hashable objects, which
            every rank then keeps.
        columns : dict of str to numbers or bools, one per edge
            Values of the edges, for programs with edge fields.
        vertices : sequence of ids, optional
            Further vertices, with or without edges.
        directed : bool
            False: each row is one edge between its two ends, in both directions.
        drop_duplicates, drop_self_loops : bool
            Leave out all but the first of parallel edges; edges from a vertex to itself.
        strategy : str, optional
            The vertex-cut; by default the one that suits gathers over in-edges.
        rows : {"same", "parts", "root"}
            With several ranks: every rank passes the same rows, each its own part of them, or only
            rank 0 passes any.
        comm : Comm or mpi4py communicator, optional
            The ranks; all of them by default.

        Examples
        --------
        >>> import gaslab as gl
        >>> gl.Graph.from_edges([0, 0, 7], [7, 7, 7], vertices=[3], drop_self_loops=True)
        <Graph from arrays: 3 vertices, 2 edges, directed>
        """
        return cls._ingest(
            lambda comm: edges_from_arrays(
                src, dst, comm=comm, columns=columns, vertices=vertices, rows=rows, directed=directed,
                drop_duplicates=drop_duplicates, drop_self_loops=drop_self_loops,
            ),
            strategy, comm,
        )  # fmt: skip

    @classmethod
    def from_networkx(
        cls, graph: Any, *, strategy: str | None = None, rows: str = "same", comm: Any = None
    ) -> Graph:
        """Return the graph of a NetworkX graph, whose nodes are the ids (collective).

        It is directed if *graph* is. Edge attributes that are numbers on every edge become columns.

        Examples
        --------
        >>> import gaslab as gl, networkx as nx
        >>> gl.Graph.from_networkx(nx.path_graph(4))
        <Graph from networkx: 4 vertices, 3 edges, undirected>
        """
        return cls._ingest(lambda comm: edges_from_networkx(graph, comm=comm, rows=rows), strategy, comm)

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        *,
        weight: str | None = "weight",
        directed: bool = True,
        strategy: str | None = None,
        rows: str = "same",
        comm: Any = None,
    ) -> Graph:
        """Return the graph of a square sparse matrix: entry (i, j) is the edge i -> j (collective).

        Vertices are 0..n-1 whether or not they have entries; the entries become the column *weight*
        unless that is None. With ``directed=False`` the matrix must be symmetric, and (i, j) and
        (j, i) are one edge.

        Examples
        --------
        >>> import gaslab as gl, scipy.sparse as sp
        >>> gl.Graph.from_scipy(sp.coo_array(([0.5, 2.0], ([0, 1], [1, 2])), shape=(4, 4)))
        <Graph from scipy: 4 vertices, 2 edges, directed; columns: weight (float64)>
        """
        return cls._ingest(
            lambda comm: edges_from_scipy(matrix, comm=comm, weight=weight, directed=directed, rows=rows),
            strategy, comm,
        )  # fmt: skip

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        source: str = "source",
        target: str = "target",
        *,
        columns: Sequence[str] | None = None,
        directed: bool = True,
        strategy: str | None = None,
        rows: str = "same",
        comm: Any = None,
    ) -> Graph:
        """Return the graph of a data frame with one row per edge (collective).

        *source* and *target* name the columns of the ids, *columns* those to keep as values of the
        edges (by default all that are numbers).

        Examples
        --------
        >>> import gaslab as gl, pandas as pd
        >>> gl.Graph.from_pandas(pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "km": [3, 4]}))
        <Graph from pandas: 3 vertices, 2 edges, directed; columns: km (int64)>
        """
        return cls._ingest(
            lambda comm: edges_from_pandas(
                frame, comm=comm, source=source, target=target, columns=columns, directed=directed, rows=rows
            ),
            strategy, comm,
        )  # fmt: skip

    @classmethod
    def generate(
        cls, kind: str, *, seed: int = 0, strategy: str | None = None, comm: Any = None, **size: Any
    ) -> Graph:
        """Return a random graph: the same for a seed on any number of ranks (collective).

        *kind* is ``"rmat"``, ``"powerlaw"``, ``"grid"`` or ``"erdos-renyi"``; *size* are that
        generator's own arguments (see `gaslab.ingest.generate`).

        Examples
        --------
        >>> import gaslab as gl
        >>> gl.Graph.generate("rmat", scale=10, edge_factor=16, seed=1).num_edges
        16384
        """
        return cls._ingest(lambda comm: generate(kind, comm=comm, seed=seed, **size), strategy, comm)

    @classmethod
    def _ingest(cls, load: Callable[[Comm], EdgeList], strategy: str | None, comm: Any) -> Graph:
        strategies.find(strategy)  # an unknown name is told before the input is read
        comm = as_comm(comm)
        started = time.perf_counter()
        edges = load(comm)
        return cls.from_edge_list(
            edges, strategy=strategy, comm=comm, load_seconds=time.perf_counter() - started
        )

    def partitioned(self, strategy: str) -> Graph:
        """Return this graph cut by another strategy (collective); itself where it is cut so already.

        Columns go along; parallel edges keep their order.
        """
        if strategies.find(strategy)[0] == self.strategy:
            return self
        src, dst = self.edges()
        edges = EdgeList(
            src=src, dst=dst, columns=self.edge_columns, ids=self.ids, num_vertices=self.num_vertices,
            directed=self.directed, counts=self.counts, source=self.source, fingerprint=self.fingerprint,
        )  # fmt: skip
        del src, dst  # the build frees them as soon as it has read them
        return Graph.from_edge_list(
            edges, strategy=strategy, comm=self.comm, load_seconds=self.seconds["load"]
        )

    def edges(self, on: str = "local") -> tuple[np.ndarray, np.ndarray]:
        """Return the int64 global ids of the sources and targets of edges.

        ``ids.lookup`` turns global ids into the user's own.

        Parameters
        ----------
        on : {"local", "all", "root"}
            "local": this rank's edges, in slot order, as `edge_columns` are (not collective). "all":
            every edge on every rank, those of rank 0 first. "root": the same on rank 0, none elsewhere.

        Raises
        ------
        UsageError
            *on* is none of these.
        """
        if on not in ("local", "all", "root"):
            raise UsageError(f"on={on!r}; use 'local', 'all' or 'root'")
        src, dst = self.local.gid[self.local.in_neighbor], self.local.gid[self.local.targets()]
        if on == "local":
            return src, dst
        gather = self.comm.allgather_array if on == "all" else self.comm.gather_array
        src_parts, dst_parts = gather(src), gather(dst)
        if src_parts is None or dst_parts is None:
            return src[:0], dst[:0]
        return np.concatenate(src_parts), np.concatenate(dst_parts)

    def check_column(self, name: str, minimum: float) -> None:
        """Raise UsageError, on every rank, where an edge column has NaN or a value below *minimum*."""
        values = self.edge_columns[name]
        bad = np.flatnonzero(~(values >= minimum))
        first = None
        if bad.size:
            slot = bad[0]
            ends = self.local.in_neighbor[slot], np.searchsorted(self.local.in_begin, slot, "right") - 1
            first = (*(int(self.local.gid[v]) for v in ends), values[slot].item())
        found = next((x for x in self.comm.allgather(first) if x is not None), None)
        if found is not None:
            source, target = self.ids.lookup(np.array(found[:2], np.int64))
            raise UsageError(
                f"edge column {name!r} is {found[2]!r} on the edge {source!s} -> {target!s}; "
                f"at least {minimum:g} is needed"
            )

    def memory_bytes(self) -> int:
        """Return the bytes of this rank's part: vertices, edges, their columns and mirror lists.

        Edges by source are included once a program has asked for them. Not collective.
        """
        return self.local.memory_bytes() + sum(values.nbytes for values in self.edge_columns.values())

    def __repr__(self) -> str:
        vertices = "vertex" if self.num_vertices == 1 else "vertices"
        edges = "edge" if self.num_edges == 1 else "edges"
        parts = [
            f"<Graph from {self.source}: {self.num_vertices:,} {vertices}, {self.num_edges:,} {edges}, "
            f"{'directed' if self.directed else 'undirected'}"
        ]
        if self.edge_columns:
            parts.append("columns: " + ", ".join(f"{n} ({v.dtype})" for n, v in self.edge_columns.items()))
        if self.comm.size > 1:
            parts.append(
                f"{self.comm.size} ranks by {self.strategy}, replication {self.replication_factor:.2f}, "
                f"edge balance {self.edge_balance:.2f}"
            )
        return "; ".join(parts) + ">"


def read_graph(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    ids: str = "auto",
    columns: Mapping[str, int | str | None] | Sequence[str] | None = None,
    comments: str = "#%",
    delimiter: str | None = None,
    header: bool | None = None,
    directed: bool = True,
    on_bad_line: str = "error",
    max_bad_lines: int | None = None,
    drop_duplicates: bool = False,
    drop_self_loops: bool = False,
    strategy: str | None = None,
    comm: Any = None,
) -> Graph:
    """Read a graph from text with an edge per line: SNAP, TSV, CSV or blanks between fields (collective).

    Each rank parses its own byte range of a plain file; a gzip file is read by one rank.

    Parameters
    ----------
    path : path, glob, or sequence of them
    ids : {"auto", "int", "str"}
        Whether vertex ids are integers from 0 to 2**63 - 1 or text; "auto" decides over all of the input.
    columns : dict of str to position or header name, or sequence of names, optional
        Further fields to keep as values of the edges; by default all. None in a dict leaves one out.
    comments : str
        The characters that start a comment line.
    delimiter : str, optional
        What is between fields; by default found from the first data line.
    header : bool, optional
        Whether the first line names the fields; by default found from it.
    directed : bool
        False: each line is one edge between its two ends, in both directions.
    on_bad_line : {"error", "skip"}
    max_bad_lines : int, optional
        With "skip": how many there may be.
    drop_duplicates, drop_self_loops : bool
        Leave out all but the first of parallel edges; edges from a vertex to itself.
    strategy : str, optional
        The vertex-cut, by default ``"1d"``; see `gaslab.partition.strategies`.
    comm : Comm or mpi4py communicator, optional
        The ranks; all of them by default.

    Raises
    ------
    InputError
        A file is missing, cut short or without an edge, or a line is bad: file, line and text are named.

    Examples
    --------
    >>> import gaslab as gl, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "edges.tsv")
    >>> _ = open(path, "w").write("0 1\\n1 2\\n2 0\\n")
    >>> graph = gl.read_graph(path)
    >>> graph.num_vertices, graph.num_edges
    (3, 3)
    """

    def load(comm: Comm) -> EdgeList:
        return read_edges(
            path, comm, ids=ids, columns=columns, comments=comments, delimiter=delimiter, header=header,
            directed=directed, on_bad_line=on_bad_line, max_bad_lines=max_bad_lines,
            drop_duplicates=drop_duplicates, drop_self_loops=drop_self_loops,
        )  # fmt: skip

    return Graph._ingest(load, strategy, comm)
