"""Programs that run often: a job against a run of its own, small supersteps, and many sources of betweenness.

    python benchmarks/jobs.py
    mpiexec -n 2 python benchmarks/jobs.py

Three things: a run of a few supersteps on ten vertices, prepared and not; a superstep of 100 vertices of many
in a prepared run; and, on one rank, Brandes' algorithm written as a user's program, 50 sources on 1,000
vertices, beside NetworkX, whose answer is compared.
"""

from __future__ import annotations

import time
import warnings

import networkx as nx
import numpy as np

import gaslab as gl
from common import in_turn, parser, report, timed
from gaslab.parallel.comm import world

TOKENS, STEPS = 100, 2000  # of small supersteps
VERTICES, DEGREE, SOURCES = 1000, 10, 50  # of betweenness


class Average(gl.VertexProgram):
    """Takes the mean over the neighbours; three supersteps without signals."""

    rate: float = 0.5

    class Vertex(gl.Vertex):
        value: float = 1.0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.value

    def apply(self, v: Vertex, total: float) -> None:
        v.value = self.rate * v.value + (1.0 - self.rate) * total / max(v.in_degree, 1)


class Hops(gl.VertexProgram):
    """Breadth-first search from the first vertex of every path."""

    any: bool = True

    class Vertex(gl.Vertex):
        hops: int = -1

    def start(self, v: Vertex) -> bool:
        return self.any and v.in_degree == 0

    def apply(self, v: Vertex) -> None:
        v.hops = self.superstep

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.hops < 0:
            nbr.signal()


class Brandes(gl.VertexProgram):
    """Dependencies of one source: paths are counted level by level, then summed backwards."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        level: int = -1
        paths: float = 0.0
        dependency: float = 0.0

    @gl.aggregator(every=gl.Phase)
    def depth(self, v: Vertex) -> gl.Max[int]:
        return v.level

    def is_source(self, v: Vertex) -> bool:
        return v.id == self.source

    def reach(self, v: Vertex, message: gl.Sum[float]) -> None:
        v.level = self.superstep
        v.paths = max(message, 1.0)

    def search(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.level < 0:
            nbr.signal(v.paths)

    def is_next(self, v: Vertex) -> bool:
        return v.level >= 0 and v.level == 2 * self.depth - self.superstep

    def share(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return (1.0 + nbr.dependency) / nbr.paths if nbr.level == v.level + 1 else 0.0

    def add(self, v: Vertex, total: float) -> None:
        v.dependency = v.paths * total

    phases = (
        gl.Phase(start=is_source, apply=reach, scatter=search),
        gl.Phase(active=is_next, gather=share, gather_edges=gl.OUT, apply=add),
    )


def paths(count: int, length: int) -> gl.Graph:
    ends = np.arange(count * length).reshape(count, length)
    return gl.Graph.from_edges(ends[:, :-1].ravel(), ends[:, 1:].ravel(), strategy="1d")


def small_runs(repeats: int, threads: int) -> None:
    ids = np.arange(10)
    ring = gl.Graph.from_edges(ids, (ids + 1) % 10)
    with gl.prepare(Average(), ring, max_iterations=3, threads=threads) as job:
        rates = np.linspace(0.1, 0.9, 50)

        def prepared() -> float:
            return timed(lambda: job.run_many(rate=rates)) / rates.size

        def anew() -> float:
            runs = [Average(rate=rate) for rate in rates.tolist()]
            how = {"max_iterations": 3, "threads": threads}
            return timed(lambda: [gl.run(one, ring, **how) for one in runs]) / rates.size

        report(in_turn({"run of ten vertices, job": prepared, "gl.run": anew}, repeats))


def small_supersteps(repeats: int, threads: int) -> None:
    graph = paths(TOKENS, STEPS)
    with gl.prepare(Hops(), graph, threads=threads) as job:

        def whole() -> float:
            return timed(job.run)

        def none() -> float:
            return timed(lambda: job.run(any=False))

        every, fixed = in_turn({f"{STEPS} supersteps of {TOKENS}": whole, "no superstep": none}, repeats)
    if not world().rank:
        print(every, fixed, sep="\n")
        print(f"a superstep of {TOKENS} vertices: {(every.best - fixed.best) / STEPS * 1e6:.1f} µs")


def betweenness(repeats: int) -> None:
    drawn = nx.gnm_random_graph(VERTICES, VERTICES * DEGREE // 2, seed=1)
    graph = gl.Graph.from_networkx(drawn)
    sources = list(range(SOURCES))
    job, found = gl.prepare(Brandes(source=0), graph), np.zeros(VERTICES)

    def ours() -> float:
        found[:] = 0.0
        began = time.perf_counter()
        for result in job.run_many(source=sources):
            found[:] += result.vertices["dependency"]
            found[result.metrics["parameters"]["source"]] -= result.vertices["dependency"][
                result.metrics["parameters"]["source"]
            ]
        return time.perf_counter() - began

    theirs: dict[int, float] = {}

    def peer() -> float:
        began = time.perf_counter()
        theirs.update(nx.betweenness_centrality_subset(drawn, sources, list(drawn), normalized=False))
        return time.perf_counter() - began

    report(in_turn({f"{SOURCES} sources, a job": ours, "NetworkX": peer}, repeats))
    expected = np.array([theirs[v] for v in range(VERTICES)]) * 2
    print(f"largest difference: {np.abs(found - expected).max():.2e}")


def main() -> None:
    options = parser(__doc__).parse_args()
    warnings.simplefilter("ignore", gl.ConvergenceWarning)  # of limits: asked for here
    small_runs(options.repeats, options.threads)
    small_supersteps(options.repeats, options.threads)
    if world().size == 1:
        betweenness(options.repeats)


if __name__ == "__main__":
    main()
