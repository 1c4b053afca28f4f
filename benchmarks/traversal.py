"""Connected components and shortest paths against scipy.sparse.csgraph, in turn.

python benchmarks/traversal.py --threads 2
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph as csgraph

import gaslab as gl
from common import in_turn, parser, report, rmat, timed


def main() -> None:
    options = parser(__doc__).parse_args()
    plain = rmat(options)
    edges = plain.edges(on="all")
    weights = np.random.default_rng(1).integers(1, 256, edges[0].size).astype(float)
    everyone = np.arange(plain.num_vertices)
    graph = gl.Graph.from_edges(
        *edges, columns={"weight": weights}, vertices=everyone, strategy=options.strategy
    )
    n, root = graph.num_vertices, graph.comm.rank == 0
    source = int(np.bincount(edges[0], minlength=n).argmax())
    matrix = scipy.sparse.csr_matrix((weights, edges), shape=(n, n)) if root else None
    found: dict[str, np.ndarray] = {}

    def ours(name: str, field: str, call) -> object:
        def run() -> float:
            result = call()
            if root:
                found[name] = result.vertices[field]
            return result.metrics["seconds"]["compute"]

        return run

    def theirs(name: str, call) -> object:
        def run() -> float:
            return timed(lambda: found.__setitem__(name, call())) if root else 0.0

        return run

    run = {"threads": options.threads, "on": "root"}
    if root:
        print(f"{graph!r}\n{graph.comm.size} ranks x {options.threads} threads")
    timings = in_turn(
        {
            "components": ours("a", "component", lambda: gl.components(graph, **run)),
            "scipy components": theirs(
                "b", lambda: csgraph.connected_components(matrix, directed=True, connection="weak")[1]
            ),
        },
        options.repeats,
    )
    report(timings)
    if root:
        smallest = np.full(n, n)
        np.minimum.at(smallest, found["b"], np.arange(n))
        assert (smallest[found["b"]] == found["a"]).all()
    timings = in_turn(
        {
            "sssp, weights 1-255": ours("a", "distance", lambda: gl.sssp(graph, source, **run)),
            "scipy dijkstra": theirs("b", lambda: csgraph.dijkstra(matrix, indices=source)),
        },
        options.repeats,
    )
    report(timings)
    if root:
        assert (found["a"] == found["b"]).all()
        print("answers identical to scipy's")


if __name__ == "__main__":
    main()
