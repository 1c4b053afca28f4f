"""Programs that post changes of gathers and come to one fixed point in whatever order they run."""

from __future__ import annotations

from gaslab import program as gl


class Peeled(gl.VertexProgram):
    """Who has fewer than `k` neighbours left goes; it posts that, clears, or says nothing, by the edge."""

    k: int = 3
    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        stays: bool = True
        goes: bool = False

    class Edge(gl.Edge):
        way: int

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return 1 if nbr.stays else 0

    def apply(self, v: Vertex, total: int) -> None:
        v.goes = v.stays and total < self.k
        v.stays = v.stays and total >= self.k

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.goes:
            if e.way % 3 == 0:
                nbr.post_delta(-1)
            elif e.way % 3 == 1:
                nbr.clear_cache()
            nbr.signal()


class Nearest(gl.VertexProgram):
    """Levels from `source`: improvements are posted to a minimum, and a gather reads its own vertex, too."""

    source: gl.VertexId
    cache_rebuild = 3

    class Vertex(gl.Vertex):
        level: int = 1000
        base: int = 0
        improved: bool = False

    def init(self, v: Vertex) -> None:
        v.level = 0 if v.id == self.source else 1000

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[int]:
        return nbr.level + 1 + v.base

    def apply(self, v: Vertex, total: int) -> None:
        level = min(v.level, total - v.base)
        v.improved = level < v.level
        v.level = level
        v.base = v.base + 1 if v.improved and v.base < 2 else v.base

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.improved:
            nbr.post_delta(v.level + 1 + nbr.base)
        if v.level + 1 < nbr.level:
            nbr.signal()


class Flowing(gl.VertexProgram):
    """PageRank by signals; every change is posted."""

    tolerance: float = 1e-9
    cache_rebuild = 20

    class Vertex(gl.Vertex):
        score: float = 0.0
        share: float = 0.0
        moved: float = 0.0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.share

    def apply(self, v: Vertex, total: float) -> None:
        share = v.share
        v.score = 0.15 + 0.85 * total
        v.share = v.score / max(v.out_degree, 1)
        v.moved = v.share - share

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.post_delta(v.moved)
        if abs(v.moved) > self.tolerance:
            nbr.signal()


class Boasting(gl.VertexProgram):
    """Posts a hundred times of what it changes by: shows whether the cached total is what apply gets."""

    class Vertex(gl.Vertex):
        value: int = 0
        heard: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.value

    def apply(self, v: Vertex, total: int) -> None:
        v.heard = total
        v.value = 1

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.heard == 0:
            nbr.post_delta(100)
            nbr.signal()
