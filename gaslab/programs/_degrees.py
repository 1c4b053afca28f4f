"""What the degrees of a graph say of it."""

from __future__ import annotations

import gaslab as gl
from gaslab.programs._numpy import np

# Hubs bring every vertex near: so far above 1 supersteps are few, and some orders of work only make more.
HUBS = 8.0


def spread_of_degrees(graph: gl.Graph) -> tuple[float, float]:
    """Return how unequal out-degrees are, and their mean over the vertices with out-edges (collective).

    The first is the mean degree of the source of an edge by that of a vertex: 1 where all are equal, near 1
    in roads and uniform graphs, tens to thousands where there are hubs.
    """
    local = graph.local

    def sums() -> np.ndarray:
        degree = local.out_degree[: local.num_masters].astype(np.float64)
        return np.array([np.count_nonzero(degree), degree.sum(), degree @ degree])

    vertices, edges, squares = graph.comm.allreduce(local.derived(local.out_degree, "spread", sums))
    if not edges:
        return 1.0, 1.0
    return float(squares * vertices / edges**2), float(edges / vertices)
