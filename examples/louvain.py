"""Communities of high modularity by the Louvain method: moves of vertices, then of whole communities.

Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks", Journal of
Statistical Mechanics, 2008. All vertices look at once: each at the community around it that it has most
weight to, and at what modularity would gain if it moved there. Of those who would gain about half move, for
two that join each other at once gain nothing. When none would, or after some rounds, each community becomes a
vertex of a smaller graph, until that does not help either. Vertices that move one after the other, to the
best of all communities around them, as in the paper, reach a little more.

    mpiexec -n 2 python examples/louvain.py
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import scipy.sparse

import gaslab as gl


class Moves(gl.VertexProgram):
    """The moves of one level, in rounds of three phases; *weight* is that of all edges together.

    A community is known by a vertex, which keeps the community's sum of degrees, also when it leaves.
    """

    weight: float
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        degree_sum: float = 0.0  # of the weights of its edges, a self-loop twice
        community: gl.VertexId
        candidate: gl.VertexId
        members: float = 0.0  # of the community that is known by this vertex: the sum of its degrees
        members_here: float = gl.lookup("community.members")
        members_there: float = gl.lookup("candidate.members")
        here: float = 0.0  # the weights of its edges to its community, and to the candidate
        there: float = 0.0
        gains: bool = False

    class Edge(gl.Edge):
        weight: float = 1.0

    @gl.aggregator(every=gl.Phase)
    def moving(self, v: Vertex) -> gl.Sum[int]:
        return 1 if v.gains else 0

    def init(self, v: Vertex) -> None:
        v.community = v.candidate = v.id

    def count(self, v: Vertex, message: gl.Sum[float]) -> None:
        """Vertices tell their degrees; in the next superstep communities know the sums."""
        v.members = message
        if self.superstep % 4 == 0:
            self.signal(v.community, v.degree_sum)

    def weigh(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.SumBy[gl.VertexId, float]:
        return (nbr.community, e.weight) if nbr.id != v.id else None

    def look(self, v: Vertex, total: gl.SumBy[gl.VertexId, float]) -> None:
        v.here, v.there, v.candidate = total[v.community], 0.0, v.community
        for community, weight in total.items():
            if community != v.community and weight > v.there:
                v.candidate, v.there = community, weight

    def move(self, v: Vertex) -> None:
        share = v.degree_sum / (2.0 * self.weight)
        stay = v.here - share * (v.members_here - v.degree_sum)
        v.gains = v.there - share * v.members_there > stay + 1e-12 * self.weight
        if v.gains and gl.uniform() < 0.5:
            v.community = v.candidate

    def done(self) -> bool:
        return self.moving == 0

    phases = (
        gl.Phase(apply=count, supersteps=2),
        gl.Phase(gather=weigh, apply=look, supersteps=1),
        gl.Phase(apply=move, supersteps=1),
    )


def louvain(graph: gl.Graph, weight: str, rounds: int = 15, seed: int = 0) -> tuple[np.ndarray, float]:
    """Return the community of each vertex, a number, in the order of ids; and the modularity (collective).

    A level has as many *rounds* at most.
    """
    ends = scipy.sparse.csr_array(graph.to_scipy(weight), dtype=float)
    ends += scipy.sparse.diags_array(ends.diagonal())  # both ends of a self-loop
    found, best = np.arange(graph.num_vertices), -1.0
    while True:
        edges = scipy.sparse.coo_array(scipy.sparse.triu(ends))
        weights = np.where(edges.row == edges.col, edges.data / 2, edges.data)
        n = ends.shape[0]
        level = gl.Graph.from_edges(
            edges.row, edges.col, columns={"weight": weights}, vertices=np.arange(n), directed=False
        )
        moves = gl.run(
            Moves(weight=weights.sum()), level, init={"degree_sum": ends.sum(axis=1)},
            max_iterations=4 * rounds, seed=seed,
        )  # fmt: skip
        _, community = np.unique(moves.vertices["community"], return_inverse=True)
        member = scipy.sparse.csr_array((np.ones(n), (np.arange(n), community)))
        ends = scipy.sparse.csr_array(member.T @ ends @ member)
        modularity = float(ends.trace() / ends.sum() - ((ends.sum(axis=1) / ends.sum()) ** 2).sum())
        if modularity <= best + 1e-9:
            return found, best
        found, best = community[found], modularity


def main() -> None:
    imports = Path(__file__).resolve().parent.parent / "datasets" / "stdlib-imports.tsv"
    graph = gl.read_graph(imports, directed=False)
    warnings.simplefilter("ignore", gl.ConvergenceWarning)  # of levels that come to their last round
    community, modularity = louvain(graph, "weight")
    names = np.asarray(graph.ids.lookup(np.arange(graph.num_vertices)))
    if graph.comm.rank == 0:
        sizes = np.bincount(community)
        print(f"{sizes.size} communities of modularity {modularity:.4f}")
        for one in np.argsort(-sizes, kind="stable")[:8]:
            print(f"{sizes[one]:4}: {', '.join(names[community == one][:6])}")


if __name__ == "__main__":
    main()
