"""Without supersteps against with them: PageRank by signals, shortest paths, greedy colouring, locked scopes.

    mpiexec -n 2 python benchmarks/asynchronous.py [--scale 20] [--side 2000] [--repeats 3] [--only paths]

On R-MAT, a grid, and communities in a row. Prints of each way the wall time, its ratio to the first way (of
the minima, and its spread by turn), the processor time of all ranks per update, and the updates. All ways run
in turn. Of PageRank also how far it ends from the exact answer (L1, per vertex): each way without supersteps
runs at the largest tolerance of a ladder at which it ends as near as supersteps do at theirs, or nearer;
at the least one if at none.
"""

from __future__ import annotations

import resource
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gaslab as gl
from common import parser, rmat
from gaslab.parallel.comm import world
from gaslab.programs import DeltaStepping, SignalPageRank

ASYNC = {"engine": "async"}
LOCKED = {"engine": gl.Async(consistency="serialisable")}
LADDER = [1e-3 * 2 ** (k / 4) for k in range(8, -5, -1)]  # tolerances


class FirstFit(gl.VertexProgram):
    """The smallest colour that no neighbour has; of two with the same the later by id chooses again."""

    words: int = 10  # of 60 colours
    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        color: int = -1

    class Total(gl.Accumulator):
        taken: gl.Vector = gl.field(shape="words", dtype=int, combine=gl.BITOR)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        if nbr.color < 0 or nbr.id == v.id:
            return self.Total()
        return self.Total(taken=gl.at(nbr.color // 60, 1 << nbr.color % 60))

    def apply(self, v: Vertex, total: Total) -> None:
        free = 0
        while (total.taken[free // 60] >> free % 60) % 2 == 1:
            free += 1
        v.color = free

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.color == v.color and nbr.id > v.id:
            nbr.signal()
        if nbr.color == v.color and nbr.id < v.id:
            v.signal()


@dataclass
class Way:
    """One way to run something, and what its runs took."""

    name: str
    program: gl.VertexProgram
    options: dict[str, Any]
    seconds: list[float] = field(default_factory=list)
    processor: float = float("inf")  # seconds of all ranks, the least
    updates: int = 0
    result: Any = None

    def run(self, graph: gl.Graph) -> Way:
        """Run once."""
        comm = world()
        comm.barrier()
        before = processor_seconds()
        self.result = gl.run(self.program, graph, threads=1, **self.options)
        self.processor = min(self.processor, float(comm.allreduce(processor_seconds() - before)))
        self.seconds.append(self.result.metrics["seconds"]["compute"])
        self.updates = self.result.metrics["updates"]
        return self


def processor_seconds() -> float:
    """Return the processor time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def in_turn(title: str, ways: list[Way], graph: gl.Graph, repeats: int) -> list[Way]:
    """Run every way once uncounted, then in turn; print one line a way."""
    for turn in range(repeats + 1):
        for way in ways:
            way.run(graph)
            if not turn:
                way.seconds, way.processor = [], float("inf")
    if world().rank == 0:
        print(f"\n{title}")
        for way in ways:
            print(line(way, ways[0]), flush=True)
    return ways


def line(way: Way, first: Way) -> str:
    """Return the figures of one way beside the first."""
    ratios = sorted(a / b for a, b in zip(way.seconds, first.seconds, strict=True))
    return (
        f"  {way.name:24}{min(way.seconds):8.3f} s ({min(way.seconds) / min(first.seconds):5.2f}x, by turn "
        f"{ratios[0]:.2f} to {ratios[-1]:.2f})  {1e6 * way.processor / max(way.updates, 1):7.3f} us/update  "
        f"{way.updates:11,} updates ({way.updates / max(first.updates, 1):4.2f}x)"
    )


def grid(side: int) -> gl.Graph:
    """Return a grid of side x side with weights 1-255, every street both ways."""
    place = np.arange(side * side).reshape(side, side)
    source = np.concatenate([place[:, :-1].ravel(), place[:-1].ravel()])
    target = np.concatenate([place[:, 1:].ravel(), place[1:].ravel()])
    weight = np.random.default_rng(1).integers(1, 256, source.size).astype(float)
    both = {"weight": np.concatenate([weight, weight])}
    return gl.Graph.from_edges(
        np.concatenate([source, target]), np.concatenate([target, source]), columns=both
    )


def chain(communities: int, size: int = 1000, degree: int = 8) -> gl.Graph:
    """Return communities in a row: in each, edges between any two; from each to the next, one edge."""
    rng = np.random.default_rng(1)
    first = np.repeat(np.arange(communities) * size, size * degree)
    source, target = (first + rng.integers(0, size, first.size) for _ in range(2))
    gates = np.arange(communities - 1) * size
    source, target = np.append(source, gates), np.append(target, gates + size)
    weight = rng.integers(1, 256, source.size).astype(float)
    return gl.Graph.from_edges(source, target, columns={"weight": weight})


def weighted(options: Any) -> gl.Graph:
    """Return the benchmark graph with weights 1-255."""
    plain = rmat(options)
    source, target = plain.edges(on="all")
    weight = np.random.default_rng(1).integers(1, 256, source.size).astype(float)
    return gl.Graph.from_edges(source, target, columns={"weight": weight}, strategy=options.strategy)


# ---- rows ------------------------------------------------------------------------------------------


def pagerank(title: str, graph: gl.Graph, repeats: int) -> None:
    """At equal distance from the exact answer."""
    exact = SignalPageRank(tolerance=1e-10)
    scores = gl.run(exact, graph, threads=1).vertices["score"]

    def off(way: Way) -> float:
        return float(np.abs(way.result.vertices["score"] - scores).mean())

    ways = [Way("supersteps", SignalPageRank(), {}).run(graph)]
    for scheduler in ("fifo", "sweep"):
        options = {"engine": gl.Async(scheduler=scheduler)}
        for tolerance in LADDER:
            way = Way(f"async, {scheduler}", SignalPageRank(tolerance=tolerance), options).run(graph)
            if off(way) <= off(ways[0]):
                break
        way.name += f", {tolerance:.1e}"
        ways.append(way)
    for way in ways:
        way.seconds = []
    in_turn(f"{title}: PageRank by signals", ways, graph, repeats)
    if world().rank == 0:
        print("  off " + ", ".join(f"{off(way):.2e}" for way in ways))


def paths(title: str, graph: gl.Graph, repeats: int) -> None:
    """From the vertex with the most out-edges, the nearest first."""
    out_degree = gl.degrees(graph).vertices.to_dict("out_edges")
    program = DeltaStepping(source=max(out_degree, key=out_degree.__getitem__), delta=64.0)
    ways = [Way("supersteps", program, {}), Way("async, priority", program, ASYNC)]
    first, second = in_turn(f"{title}: shortest paths by priority", ways, graph, repeats)
    same = np.array_equal(first.result.vertices["distance"], second.result.vertices["distance"])
    assert same, "the two find different distances"


def colouring(title: str, graph: gl.Graph, repeats: int) -> None:
    """One pass with locked scopes, whose colours are proper; relaxed, some choose again."""
    ways = [Way("relaxed", FirstFit(), ASYNC), Way("serialisable", FirstFit(), LOCKED)]
    locked = in_turn(f"{title}: greedy colouring", ways, graph, repeats)[1]
    assert locked.updates == graph.num_vertices, "somebody chose twice"
    if world().rank == 0:
        rate = graph.num_vertices / min(locked.seconds)
        colours = locked.result.vertices["color"].max() + 1
        print(f"  serialisable: {rate / 1e6:.2f} M vertices/s, {colours} colours")


def locks(title: str, graph: gl.Graph, repeats: int) -> None:
    """PageRank by signals with locked scopes against without, coarsely."""
    program = SignalPageRank(tolerance=1e-2)
    ways = [Way("relaxed", program, ASYNC), Way("serialisable", program, LOCKED)]
    in_turn(f"{title}: PageRank by signals, locked", ways, graph, repeats)


ROWS = {"pagerank": pagerank, "paths": paths, "colouring": colouring, "locks": locks}


def main() -> None:
    made = parser(__doc__)
    made.set_defaults(repeats=3)
    made.add_argument("--side", type=int, default=2000, help="of the grid (default 2000; 0: none)")
    made.add_argument("--communities", type=int, default=1000, help="of 1,000 vertices, in a row (0: none)")
    made.add_argument("--only", nargs="+", choices=list(ROWS), default=list(ROWS))
    options = made.parse_args()
    graphs = {"R-MAT": weighted(options)} if options.scale else {}
    if options.side:
        graphs["grid"] = grid(options.side)
    if options.communities:
        graphs["communities"] = chain(options.communities)
    for title, graph in graphs.items():
        if options.strategy is not None:
            graph = graph.partitioned(options.strategy)
        for row in options.only:
            ROWS[row](title, graph, options.repeats)


if __name__ == "__main__":
    main()
