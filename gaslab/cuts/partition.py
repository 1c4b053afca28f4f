"""`partition`: cut a graph into any number of parts, and say how good the cut is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab import arguments
from gaslab.cuts.files import CutTarget, check_columns, write_cut
from gaslab.cuts.vertices import storage_of, vertex_table
from gaslab.graph.graph import Graph
from gaslab.ingest.edges import EdgeList
from gaslab.parallel.collective import collective
from gaslab.partitioning.census import Census
from gaslab.partitioning.cut import Cut, baseline_of, cut
from gaslab.partitioning.metrics import BANDWIDTH, VALUE_BYTES, PartitionMetrics
from gaslab.partitioning.shuffle import INT32_LIMIT
from gaslab.partitioning.strategies import with_passes
from gaslab.results.collect import Collector
from gaslab.results.tables import Table
from gaslab.system.extras import need_matplotlib

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


class Partition:
    """A cut of a graph's edges into *k* parts, with its quality; `gaslab.partition` makes one.

    Attributes
    ----------
    strategy : str
        The strategy that was named or chosen.
    k : int
    metrics : PartitionMetrics
        The figures of the cut.
    census : Census
        The contents of each part: edges, replicas, masters, and what it sends and receives.
    edges : Table
        One row per edge, sorted by source and target, with the graph's edge columns and ``part``.
    vertices : Table
        One row per vertex, sorted by id: ``master``, the part of its master; ``replicas``, the number of
        parts it is in; ``parts``, a list of them. A vertex without edges is only in the part of its master.
    on : str
        ``"all"``, ``"root"`` or ``"local"``: where the tables are.
    """

    def __init__(self, graph: Graph, made: Cut, metrics: PartitionMetrics, on: str = "all") -> None:
        """Put the tables together (collective)."""
        self.strategy, self.k, self.metrics, self.on = made.strategy, made.k, metrics, on
        self.census: Census = made.census
        self.graph, self._cut = graph, made
        local, columns = graph.local, {**graph.edge_columns, "part": made.part}
        collector = Collector(graph, storage_of(columns), on)
        self.edges: Table = collector.edges((local.gid, local.in_begin, local.in_neighbor), columns)
        self.vertices: Table = vertex_table(graph, made, on)

    @property
    def parts(self) -> np.ndarray:
        """The part of each edge, 0 to k - 1, in the order of `edges`: by source and target."""
        return self.edges["part"]

    def to_pandas(self) -> pandas.DataFrame:
        """Return the edges as a DataFrame indexed by source and target (not collective)."""
        return self.edges.to_pandas()

    def plot(self) -> Figure:
        """Return a matplotlib figure of the cut: parts, their traffic, and replicas by degree.

        Not collective. Needs matplotlib: ``pip install 'gaslab[plot]'``.

        Raises
        ------
        UsageError
            matplotlib is not installed.
        """
        need_matplotlib("plot()")
        from gaslab.cuts.pictures import draw_cut

        return draw_cut(self.strategy, self.census, self.metrics)

    @collective()
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the cut (collective), sorted by source and target, the same on any number of ranks.

        Parameters
        ----------
        path : path
            ``DIR/``: a file of edges per part, a table of the vertices, and a manifest. ``NAME.tsv``,
            ``.csv``, ``.gz`` or not, or ``NAME.parquet``: the edges with their parts.
        force : bool
            Whether to replace existing files.

        Raises
        ------
        UsageError
            The name has no known format, the file exists, or pyarrow is missing.
        """
        name, force = arguments.path("path", path), arguments.flag("force", force)
        comm = self.graph.comm
        target = comm.on_root(lambda: CutTarget(name, force).ready())
        write_cut(comm, target, edges_of(self.graph), self._cut, ordered=True)

    def __fingerprint__(self) -> Any:
        return [self.graph, self.strategy, self.k, self.on]

    def __repr__(self) -> str:
        m = self.metrics
        return (
            f"<Partition by {self.strategy}, {self.k} part{'s' * (self.k != 1)}: "
            f"RF {m.replication_factor:.2f}, EB {m.edge_balance:.2f}, VB {m.vertex_balance:.2f}>"
        )


@collective()
def partition(
    graph: Graph,
    k: int,
    *,
    strategy: str | None = None,
    refine: int = 0,
    bytes_per_replica: int = VALUE_BYTES,
    bandwidth: float = BANDWIDTH,
    on: str = "all",
) -> Partition:
    """Cut a graph's edges into *k* parts and evaluate the cut (collective); the graph is not changed.

    *k* need not be the number of ranks. The graph is also cut by `random`, for comparison.

    Parameters
    ----------
    graph : Graph
    k : int
        Number of parts, at least 1.
    strategy : str, optional
        The vertex-cut, by default a quick one chosen for the graph and *k*; ``docs/partitioning.md`` lists
        them all. Options may follow the name, as in ``"hep:tau=10,vertex_balance=1.2"``.
    refine : int
        Number of refinement passes after it, for which all edges are brought to rank 0.
    bytes_per_replica : int
        Bytes of one vertex value, which travels from a mirror to its master in a gather and back to the
        mirror; used to predict the bytes of a superstep.
    bandwidth : float
        Bytes per second into or out of a part; used to predict after how many supersteps the cut pays off.
    on : {"all", "root", "local"}
        Which ranks get the tables: every rank, rank 0, or each rank its own share.

    Raises
    ------
    UsageError
        *k* is below 1, the strategy does not exist, or it does not return a part for each edge; the graph has
        an edge column ``part``; the tables would not fit into memory.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([0, 0, 0, 3], [1, 2, 3, 4])
    >>> cut = gl.partition(graph, 2, strategy="2d")
    >>> cut
    <Partition by 2d, 2 parts: RF 1.20, EB 1.00, VB 1.00>
    >>> cut.parts, cut.metrics.replication_factor
    (array([1, 1, 0, 0], dtype=int32), 1.2)
    >>> cut.vertices.to_dict("replicas")
    {0: 2, 1: 1, 2: 1, 3: 1, 4: 1}

    References
    ----------
    Gonzalez et al.: PowerGraph: Distributed Graph-Parallel Computation on Natural Graphs. OSDI, 2012.
    """
    arguments.instance("graph", graph, Graph, arguments.GRAPH)
    k = arguments.whole("k", k, 1, INT32_LIMIT)
    value_bytes = arguments.whole("bytes_per_replica", bytes_per_replica, 0)
    bandwidth = arguments.number("bandwidth", bandwidth, above=0)
    on = arguments.choice("on", on, arguments.PLACES)
    name = with_passes(strategy, arguments.whole("refine", refine, 0))
    check_columns(graph.edge_columns)
    edges, comm = edges_of(graph), graph.comm
    baseline = baseline_of(edges, comm)
    made = cut(edges, k, name, comm, baseline)
    random = made if name == "random" else cut(edges, k, "random", comm, baseline)
    metrics = PartitionMetrics.judge(
        made.census, made.cost, (random.census, random.cost), baseline, value_bytes, bandwidth
    )
    return Partition(graph, made, metrics, on)


def edges_of(graph: Graph) -> EdgeList:
    """Return this rank's edges of a graph as they are, in slot order."""
    src, dst = graph.edges()
    return EdgeList(
        src=src, dst=dst, columns=graph.edge_columns, ids=graph.ids, num_vertices=graph.num_vertices,
        directed=graph.directed, counts=graph.counts, source=graph.source, fingerprint=graph.fingerprint,
    )  # fmt: skip
