"""Operations on a graph: sets of its vertices, columns, numbers, other graphs."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.graph import derive, transform, vertextable
from gaslab.graph.stored import StoredGraph
from gaslab.graph.vertexset import VertexSet, check_direction
from gaslab.ingest.edges import EdgeList
from gaslab.parallel.collective import collective
from gaslab.partitioning.local_graph import ALL

if TYPE_CHECKING:
    from typing_extensions import Self

AnyGraph = TypeVar("AnyGraph", bound=StoredGraph)
KEYS = ("id", "side", "source", "target")


class Operations(StoredGraph):
    """The methods of `gaslab.Graph` that return columns, sets, numbers or other graphs.

    All are collective and change nothing. A function argument is a plain ``def``; it is compiled, so it is
    written in the language of programs and may call helpers and use constants of its module. A function of
    vertices takes ``v``, with the graph's vertex columns as fields and ``id``, ``degree``, ``in_degree``,
    ``out_degree``, ``side``; a function of edges takes ``(source, e, target)``.
    """

    # ---- vertex columns

    @collective(exempt=("table",))
    def with_vertices(
        self,
        table: Any,
        *,
        columns: Sequence[str] | None = None,
        default: Mapping[str, Any] | float | int | bool | None = None,
        rows: str = "same",
    ) -> Self:
        """Return this graph with columns from a table of vertices, joined by id.

        Parameters
        ----------
        table : mapping, DataFrame, Table or path
            Columns by name, one of them ``"id"`` (for a DataFrame without it, the index); or a file as read
            by `read_vertices`. Rows whose ids are not in the graph are ignored. In a bipartite graph a column
            ``"side"`` gives the side; without it, ids are on the left unless made by `right`.
        columns : sequence of str, optional
            The columns to keep, which must be numeric or bool; by default all of these: text columns are left
            out, with a note in the log.
        default : number, or mapping of column to number, optional
            The value for vertices without a row; by default every vertex must have one.
        rows : {"same", "parts", "root"}
            Every rank passes the whole table; or each rank its own part; or rank 0 the whole table.

        Raises
        ------
        InputError
            A vertex has no row, or two; an id or a value is missing.
        UsageError
            A column is not numeric or bool, or does not exist; two columns have the same name.

        Examples
        --------
        >>> import gaslab as gl
        >>> graph = gl.Graph.from_edges(["a", "b"], ["b", "c"])
        >>> graph.with_vertices({"id": ["a", "b", "x"], "age": [31, 28, 5]}, default=0)
        <Graph from arrays: 3 vertices, 2 edges, directed; vertex columns: age (int64)>
        """
        found = vertextable.joined(self, table, columns, default, rows)
        return with_columns(self, vertex=found)

    @collective()
    def with_degrees(self) -> Self:
        """Return this graph with the vertex column ``degree``; if directed, also in- and out-degrees.

        Examples
        --------
        >>> import gaslab as gl
        >>> sorted(gl.Graph.from_edges([0], [1]).with_degrees().vertex_columns)
        ['degree', 'in_degree', 'out_degree']
        """
        names = ("degree", "in_degree", "out_degree") if self.directed else ("degree",)
        masters = slice(self.local.num_masters)
        return with_columns(self, vertex={name: getattr(self.local, name)[masters].copy() for name in names})

    # ---- sets

    @collective()
    def vertices(self, which: Any = None) -> VertexSet:
        """Return a set of vertices: all, those with given ids, or those for which a function is true.

        Raises
        ------
        VertexNotFound
            An id is not in the graph.

        Examples
        --------
        >>> import gaslab as gl
        >>> graph = gl.Graph.from_edges([0, 0], [1, 2])
        >>> def last(v):
        ...     return v.out_degree == 0
        >>> list(graph.vertices(last)), list(graph.vertices([0, 2])), len(graph.vertices())
        ([1, 2], [0, 2], 3)
        """
        if which is None:
            return VertexSet(self, np.ones(self.local.num_masters, bool))
        if isinstance(which, VertexSet):
            return which.on(self)
        if callable(which):
            return VertexSet(self, _flags(which, transform.of_vertices(self, which, "which")))
        return VertexSet.of_ids(self, which)

    @collective()
    def neighbors(self, which: Any, direction: int = ALL) -> VertexSet:
        """Return the vertices that are joined by an edge to one of a set (what `vertices` takes).

        *direction* is relative to the set: ``gl.OUT`` gives the targets of its out-edges, ``gl.IN`` the
        sources of its in-edges. A member of the set is included only if an edge leads to it.

        Examples
        --------
        >>> import gaslab as gl
        >>> graph = gl.Graph.from_edges([0, 1], [1, 2])
        >>> list(graph.neighbors([1])), list(graph.neighbors([1], gl.OUT))
        ([0, 2], [2])
        """
        direction = check_direction(direction)
        return self.vertices(which).neighbors(direction)

    # ---- functions over all vertices or edges

    @collective()
    def map_vertices(self, *functions: Any, **named: Any) -> Self:
        """Return this graph with the values of functions of each vertex as vertex columns.

        A column is named after its function or the keyword; an existing column of that name is replaced. All
        functions see the columns as they were before.

        Examples
        --------
        >>> import gaslab as gl
        >>> graph = gl.Graph.from_edges([0, 0], [1, 2])
        >>> def share(v):
        ...     return 1.0 / max(v.out_degree, 1)
        >>> graph.map_vertices(share).vertex_columns["share"].tolist()
        [0.5, 1.0, 1.0]
        """
        made = {name: transform.of_vertices(self, f, name) for name, f in _names(functions, named).items()}
        return with_columns(self, vertex=made)

    @collective()
    def map_edges(self, *functions: Any, **named: Any) -> Self:
        """Return this graph with the values of functions of ``(source, e, target)`` as edge columns.

        In an undirected graph, *source* is the first end in the input.

        Examples
        --------
        >>> import gaslab as gl
        >>> graph = gl.Graph.from_edges([0, 0], [1, 2], columns={"weight": [2.0, 3.0]})
        >>> def flow(source, e, target):
        ...     return e.weight / source.out_degree
        >>> graph.map_edges(flow).edge_columns["flow"].tolist()
        [1.0, 1.5]
        """
        made = {name: transform.of_edges(self, f, name) for name, f in _names(functions, named).items()}
        return with_columns(self, edge=made)

    @collective()
    def map_reduce_vertices(self, function: Any, combine: str = "sum") -> Any:
        """Return the sum (or ``"min"``, ``"max"``) of a function over all vertices.

        The sum of bools is the number of true values. Without vertices, the minimum and maximum are None.
        Sums of floats depend on the cut in their last digits.

        Examples
        --------
        >>> import gaslab as gl
        >>> def degree(v):
        ...     return v.degree
        >>> graph = gl.Graph.from_edges([0, 0], [1, 2])
        >>> graph.map_reduce_vertices(degree), graph.map_reduce_vertices(degree, "max")
        (4, 2)
        """
        arguments.choice("combine", combine, transform.REDUCE)
        return transform.reduced(self, transform.of_vertices(self, function), combine)

    @collective()
    def map_reduce_edges(self, function: Any, combine: str = "sum") -> Any:
        """Return the sum (or ``"min"``, ``"max"``) of a function over all edges.

        Examples
        --------
        >>> import gaslab as gl
        >>> def loop(source, e, target):
        ...     return source.id == target.id
        >>> gl.Graph.from_edges([0, 1, 1], [0, 0, 1]).map_reduce_edges(loop)
        2
        """
        arguments.choice("combine", combine, transform.REDUCE)
        return transform.reduced(self, transform.of_edges(self, function), combine)

    @collective()
    def fold_vertices(self, function: Any, merge: Any) -> Any:
        """Return the values of a function over all vertices, reduced by *merge* of two values.

        *merge* must be commutative and associative: values are merged pair by pair, in an order that depends
        on the cut. Without vertices, the result is None.

        Examples
        --------
        >>> import gaslab as gl, math
        >>> def degree(v):
        ...     return v.degree
        >>> def common(a, b):
        ...     while b != 0:
        ...         a, b = b, a % b
        ...     return a
        >>> gl.Graph.from_edges([0, 0, 0, 0], [1, 1, 2, 2]).fold_vertices(degree, common)
        2
        """
        return transform.folded(self, transform.of_vertices(self, function), merge)

    @collective()
    def fold_edges(self, function: Any, merge: Any) -> Any:
        """As `fold_vertices`, for a function of ``(source, e, target)``."""
        return transform.folded(self, transform.of_edges(self, function), merge)

    # ---- other graphs

    @collective()
    def subgraph(self, vertices: Any = None, *, edges: Any = None) -> Self:
        """Return the subgraph of some vertices and the edges between them.

        Ids and columns are kept.

        Parameters
        ----------
        vertices : what `vertices` takes; all by default
        edges : function of (source, e, target), optional
            Keep only the edges for which it is true; vertices stay in any case.

        Examples
        --------
        >>> import gaslab as gl
        >>> graph = gl.Graph.from_edges(["a", "b", "c"], ["b", "c", "a"], columns={"weight": [1, 2, 3]})
        >>> def heavy(source, e, target):
        ...     return e.weight > 1
        >>> graph.subgraph(["a", "b"])
        <Graph from a subgraph of arrays: 2 vertices, 1 edge, directed; columns: weight (int64)>
        >>> graph.subgraph(edges=heavy).num_edges
        2
        """
        if isinstance(vertices, type):
            raise arguments.wrong("vertices", vertices, "ids, a set of vertices or a function are needed")
        kept = self.vertices(vertices)
        flags = None if edges is None else _flags(edges, transform.of_edges(self, edges, "edges"))
        return _built(self, *derive.subgraph(self, kept.mask, flags))

    @collective()
    def reverse(self) -> Self:
        """Return this graph with every edge reversed; columns are kept.

        Examples
        --------
        >>> import gaslab as gl
        >>> gl.Graph.from_edges([0, 0], [1, 2]).reverse().edges()[1].tolist()
        [0, 0]
        """
        return _built(self, *derive.reverse(self))

    @collective()
    def to_undirected(self, parallel: str = "first") -> Self:
        """Return this graph as undirected; columns are kept.

        Parameters
        ----------
        parallel : {"first", "keep"}
            "first": of several edges with the same two ends one stays, with its columns: the first of those
            from the lower id to the higher, else the first of the others. "keep": all stay.

        Examples
        --------
        >>> import gaslab as gl
        >>> graph = gl.Graph.from_edges([0, 1, 1], [1, 0, 2], columns={"km": [5, 7, 9]})
        >>> graph.to_undirected(), graph.to_undirected(parallel="keep").num_edges
        (<Graph from undirected: arrays: 3 vertices, 2 edges, undirected; columns: km (int64)>, 3)
        """
        arguments.choice("parallel", parallel, ("first", "keep"))
        return _built(self, *derive.to_undirected(self, parallel))

    @collective()
    def repeat_edges(self, column: str) -> Self:
        """Return this graph with every edge repeated by the count in one of its columns; columns are kept.

        Parameters
        ----------
        column : str
            Edge column of whole numbers, at least 0; an edge with 0 is left out, the vertices stay.

        Raises
        ------
        UsageError
            The column does not exist, or has a value that is below 0, not whole or above 2**31 - 1.

        Examples
        --------
        >>> import gaslab as gl
        >>> graph = gl.Graph.from_edges([0, 1], [1, 2], columns={"count": [3, 1]})
        >>> graph.repeat_edges("count").num_edges
        4
        """
        column = arguments.text("column", column)
        return _built(self, *derive.repeated(self, column))


def with_columns(
    graph: AnyGraph,
    vertex: Mapping[str, np.ndarray] | None = None,
    edge: Mapping[str, np.ndarray] | None = None,
) -> AnyGraph:
    """Return the graph with further columns, of this rank's masters and edge slots."""
    for name in (*(vertex or {}), *(edge or {})):
        if name in KEYS:
            raise UsageError(f"a column cannot be named {name!r}")
    made = copy.copy(graph)
    made.vertex_columns = {**graph.vertex_columns, **(vertex or {})}
    made.edge_columns = {**graph.edge_columns, **(edge or {})}
    return made


def _names(functions: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    return {**{getattr(f, "__name__", "functions"): f for f in functions}, **named}


def _flags(function: Any, values: np.ndarray) -> np.ndarray:
    if values.dtype != bool:
        kind = {"f": "float", "i": "int"}[values.dtype.kind]
        raise UsageError(f"{function.__name__} returns {kind}; a predicate returns a bool")
    return values


def _built(graph: AnyGraph, edges: EdgeList, vertices: Any) -> AnyGraph:
    edges.left_out = graph.left_out
    strategy = graph.strategy_chosen_by or graph.strategy
    return graph.from_edge_list(edges, strategy=strategy, comm=graph.comm, vertices=vertices)
