"""`Result`: the answer of a run, on every rank, in the user's own ids."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.ingest.sides import right
from gaslab.parallel.collective import collective
from gaslab.parallel.comm import Comm
from gaslab.results.collect import Collector, UnreadEdges, Values
from gaslab.results.table_files import single_file, write_result
from gaslab.results.tables import Table
from gaslab.results.trace import Trace


class Result:
    """The answer of `gaslab.run`.

    Attributes
    ----------
    vertices : Table
        One row per vertex, sorted by id (in a bipartite graph by side, then id); a column per vertex
        field.
    edges : Table
        One row per edge, sorted by source and target; the graph's own columns, and a column per edge field
        that the program wrote, which replaces a graph column of the same name. It is made when first read. On
        several ranks it is exchanged by ``gl.run(edges=True)`` or by `collect_edges`; without either, reading
        it raises UsageError. The same holds if the program wrote no edge field and its graph no longer
        exists.
    edge_fields : list of str
        The columns of ``edges`` that the program wrote.
    metrics : dict
        Figures of the run: iterations, updates, bytes_sent, seconds, ... If a function of the toolkit
        computes something about the whole graph, ``"answer"`` has it by name.
    history : list of dict
        One entry per superstep; for `lda`, `als` and `sgd` one per sweep.
    aggregates : dict
        The last value of every aggregator, by name.
    initial_aggregates : dict
        The values of the aggregators after ``init``, before superstep 0, by name.
    tables : dict of str to Table
        Further tables that some functions of the toolkit return, by name.
    trace : Trace or None
        The trace of the vertices chosen by ``gl.run(trace=...)``, on every rank.
    converged : bool
        Whether the program finished on its own.
    iterations : int
        Number of supersteps run; for `lda`, `als` and `sgd` of sweeps.
    on : str
        ``"all"``: every rank has the whole answer. ``"root"``: rank 0 has it, and on other ranks the tables
        are empty. ``"local"``: each rank has the vertices it is master of, and its edges.

    Examples
    --------
    >>> import gaslab as gl
    >>> result = gl.components(gl.Graph.from_edges([1, 2, 7], [2, 3, 8]))
    >>> result
    <Result of Components: 5 vertices, 5 supersteps, converged; fields: component>
    >>> result.vertices["component"]
    array([1, 1, 1, 7, 7])
    """

    def __init__(
        self,
        vertices: Table,
        edges: Table | UnreadEdges,
        metrics: Mapping[str, Any],
        history: Sequence[dict[str, Any]],
        converged: bool,
        iterations: int,
        on: str,
        fingerprint: str,
        comm: Comm,
    ) -> None:
        self.vertices, self._edges, self.edge_fields = vertices, edges, list(edges.columns)
        self.metrics, self.history = dict(metrics), list(history)
        self.converged, self.iterations = converged, iterations
        self.on, self.fingerprint, self.comm = on, fingerprint, comm
        self.aggregates: dict[str, Any] = {}
        self.initial_aggregates: dict[str, Any] = {}
        self.tables: dict[str, Table] = {}
        self.trace: Trace | None = None
        self.handed: np.ndarray | None = None  # one edge field of this rank, in slot order, where asked for

    @classmethod
    def collect(
        cls,
        graph: Graph,
        storage: Mapping[str, str],
        vertex_values: Mapping[str, Values],
        edge_values: Mapping[str, Values],
        metrics: Mapping[str, Any],
        history: Sequence[dict[str, Any]],
        converged: bool,
        iterations: int,
        on: str = "all",
        edges: bool = False,
        given: Graph | None = None,
    ) -> Result:
        """Collect the values of all ranks (collective).

        Parameters
        ----------
        storage : mapping
            Field name to storage type; fields of type ``"id"`` hold global ids and become the user's ids.
        vertex_values : mapping
            Field name to the values of this rank's masters; fields whose name begins with ``_`` are private
            to the program and are left out, here and in *edge_values*. A single rank keeps the arrays until
            they are read, so nothing else may write to them.
        edge_values : mapping
            Field name to the values of this rank's edges, in slot order.
        on : {"all", "root", "local"}
            Where the answer goes.
        edges : bool
            Whether the edges of several ranks are exchanged now.
        given : Graph, optional
            The same graph, possibly with another cut, which lives longer.

        Raises
        ------
        UsageError
            The copies would not fit into memory; the message gives their size. A single rank makes them
            later, and raises the error then.
        """
        vertex_values, edge_values = _public(vertex_values), _public(edge_values)
        local, collector = graph.local, Collector(graph, storage, on)
        vertices = collector.vertices(local.gid[: local.num_masters], vertex_values)
        table = UnreadEdges(
            collector.of_edges({name: storage[name] for name in edge_values}), graph, edge_values, given
        )
        mark, comm = graph.fingerprint, graph.comm
        made = cls(vertices, table, metrics, history, converged, iterations, on, mark, comm)
        if edges:
            made.collect_edges()
        return made

    @property
    def edges(self) -> Table:
        if isinstance(self._edges, UnreadEdges) and self._edges.spread:
            raise UsageError(
                "every rank still has its own part of the edge table, and reading it exchanges nothing; "
                "write run(..., edges=True), or call result.collect_edges() on every rank before"
            )
        return self.collect_edges()

    def collect_edges(self) -> Table:
        """Exchange the edge table between ranks, unless already done, and return it (collective).

        Afterwards ``result.edges`` is that table, on the ranks of ``on=``. Until then each rank keeps the
        values of its own edges. On one rank nothing is exchanged.

        Raises
        ------
        UsageError
            The copies would not fit into memory; the message says their size.

        Examples
        --------
        >>> import gaslab as gl
        >>> class Mark(gl.VertexProgram):
        ...     class Edge(gl.Edge):
        ...         mark: int = 0
        ...     def apply(self, v: gl.Vertex) -> None: ...
        ...     def scatter(self, v: gl.Vertex, e: Edge, nbr: gl.Vertex) -> None:
        ...         e.mark = 7
        >>> result = gl.run(Mark(), gl.Graph.from_edges([1, 2], [2, 3]), max_iterations=1)
        >>> result.collect_edges().to_dict("mark")
        {(1, 2): 7, (2, 3): 7}
        """
        edges = self._edges
        if isinstance(edges, UnreadEdges):
            edges = self._edges = edges.collect()
        return edges

    @collective()
    def save(self, path: str | os.PathLike[str], *, edges: bool = False, force: bool = False) -> None:
        """Write the table of vertices to a file, whichever ranks have the answer (collective).

        ``gl.run(init=path)`` starts from this file; ``gl.read_vertices``, `Graph.with_vertices`, ``--init``
        and ``--vertices`` read it. An unpickled result writes the rows that were pickled with it.

        Parameters
        ----------
        path : path
            ``NAME.parquet`` (needs pyarrow), ``NAME.npz``, or text with a header: ``NAME.csv``, ``NAME.tsv``,
            also with ``.gz``. In text, a field of arrays has a column per element, ``x[0]``, ...
        edges : bool
            Whether to write the table of edges instead; it is exchanged now if it was not before.
        force : bool
            Whether to replace an existing file.

        Raises
        ------
        UsageError
            The name has no known format, the file exists, pyarrow is missing, or there are lists and the file
            is an ``.npz``.
        GaslabError
            Writing failed, for example on a full disk.

        Examples
        --------
        >>> import gaslab as gl, os, tempfile
        >>> graph = gl.Graph.from_edges([1, 2], [2, 3])
        >>> path = os.path.join(tempfile.mkdtemp(), "scores.npz")
        >>> gl.pagerank(graph).save(path)
        >>> gl.read_vertices(path)["id"]
        array([1, 2, 3])
        >>> gl.run(gl.programs.PageRank(), graph, init=path).iterations
        1
        """
        name, comm = arguments.path("path", path), self.comm
        edges, force = arguments.flags(edges=edges, force=force)
        target = comm.on_root(lambda: single_file(name, force))
        write_result(comm, target, self.collect_edges() if edges else self.vertices, self.on)

    def __fingerprint__(self) -> Any:
        edges = self._edges.select(*self.edge_fields) if isinstance(self._edges, Table) else self._edges
        whole = [self.vertices, edges] if self.on == "all" else []  # else each rank has its own part
        return [self.on, self.fingerprint, self.metrics.get("program"), self.iterations, *whole]

    def replaced(self, **changes: Any) -> Result:
        """Return this result with some of its attributes changed."""
        names = ("vertices", "metrics", "history", "converged", "iterations", "on", "fingerprint",
                 "comm")  # fmt: skip
        own = {"edges": self._edges, **{name: getattr(self, name) for name in names}}
        made = Result(**{**own, **changes})
        made.edge_fields = self.edge_fields
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle takes: with the table of edges, if the program wrote any and they are here."""
        if self.edge_fields and isinstance(self._edges, UnreadEdges) and not self._edges.spread:
            self.collect_edges()
        return vars(self)

    def __repr__(self) -> str:
        end = "converged" if self.converged else "not converged"
        what, count = "sweep" if "figures" in self.metrics else "superstep", self.iterations
        if "asynchronous" in self.metrics:
            what, count = "update", self.metrics["updates"]
        return (
            f"<Result of {self.metrics.get('program', 'a program')}: {len(self.vertices):,} vertices, "
            f"{count:,} {what}{'s' * (count != 1)}, {end}; "
            f"fields: {', '.join([*self.vertices.columns, *self.edge_fields]) or 'none'}>"
        )


def _public(values: Mapping[str, Values]) -> dict[str, Values]:
    return {name: column for name, column in values.items() if not name.startswith("_")}


def vertex_names(table: Table, graph: Graph, column: str = "id") -> list[Any]:
    """Return the vertices of a result's table, or those in a column of ids, as *graph* names them."""
    ids = table[column].tolist()
    if "side" not in table.keys or graph.ids.num_left is None:
        return list(ids)
    sides = table["side" if column == "id" else f"{column}_side"].tolist()
    return [right(one) if side == 1 else one for one, side in zip(ids, sides, strict=True)]
