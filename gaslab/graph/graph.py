"""The graph that programs run on."""

from __future__ import annotations

from gaslab.graph.export import Export
from gaslab.graph.operations import Operations
from gaslab.graph.saving import Saving
from gaslab.graph.sources import Sources


class Graph(Sources, Operations, Saving, Export):
    """An immutable graph, distributed over the ranks of a communicator by a vertex-cut.

    Make one with `read_graph`, `load_graph`, `from_edges`, `from_networkx`, `from_scipy`, `from_pandas` or
    `generate`. All of these are collective, as are `partitioned` and looking up vertices through `ids`;
    everything else here is known on every rank.

    Attributes
    ----------
    num_vertices, num_edges : int
        Of the whole graph; an undirected edge counts once.
    directed, bipartite : bool
    num_left : int
        Number of left vertices (side 0) of a bipartite graph.
    strategy : str
        Name of the vertex-cut, one of those in `gaslab.partitioning.strategies`. By default it depends on the
        graph and the number of ranks; on one rank, where nothing is cut, it is the one that would choose.
    strategy_chosen_by : str or None
        The ``auto`` that chose it, with its options; None if it was named, and on one rank.
    replication_factor : float
        Mean number of ranks that hold a vertex, over the vertices with an edge; 1 at best.
    edge_balance, vertex_balance : float
        Edges, and vertex replicas, on the fullest rank divided by the mean; 1 at best.
    edge_columns : dict of str to array
        Values of this rank's edges, in the order of `edges`, which is that of the slots of `local`; lists are
        a `RaggedColumn`. This is neither the order of the input nor that of ``result.edges``, whose table has
        these columns as well.
    vertex_columns : dict of str to array
        Values of the vertices that this rank is master of, in the order of `local`; see `with_vertices`.
    left_out : dict of str to str
        Columns of the input that were left out because they do not hold numbers, and what they hold.
    ids : VertexIds
        Translates the user's ids to global ids and back.
    counts : dict of str to int
        Counts from reading: lines, comments, blanks, lines_rejected, self_loops, duplicates.
    source, fingerprint : str
        Where the edges came from; a value that is equal for equal input on any number of ranks.
    seconds : dict of str to float
        ``load`` and ``partition``, on the slowest rank.
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
