"""A whole call of a function of the toolkit against its compute time: the first on a graph, and later ones.

    python benchmarks/calls.py --threads 2
    python benchmarks/calls.py --threads 2 --only rmat chain --scale 18

A whole call is what a script waits for: arguments, binding, state, supersteps, and what is collected of the
answer. One column of it is read after that, which is timed apart. Compute time is ``seconds["compute"]`` of
the metrics; of that the supersteps are the rows of the history. The first call on a graph makes what the
graph keeps: its edges by source, blocks, columns by source. A small graph goes first, so that all code is
loaded.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

import gaslab as gl
from common import parser, timed

TARGET = 1.5  # whole call over compute time, on R-MAT
Calls = dict[str, Callable[[gl.Graph, int, int], gl.Result]]
CALLS: Calls = {
    "bfs": lambda graph, source, threads: gl.bfs(graph, source, threads=threads),
    "sssp": lambda graph, source, threads: gl.sssp(graph, source, threads=threads),
    "components": lambda graph, source, threads: gl.components(graph, threads=threads),
}
FIELDS = {"bfs": "level", "sssp": "distance", "components": "component"}


def chain(scale: int) -> gl.Graph:
    ends = np.arange((1 << scale) - 1)
    return gl.Graph.from_edges(ends, ends + 1, columns={"weight": np.ones(ends.size)})


GRAPHS: dict[str, Callable[[int, int], gl.Graph]] = {
    "rmat": lambda scale, factor: gl.Graph.generate(
        "rmat", scale=scale, edge_factor=factor, seed=1, weights=255,
        drop_duplicates=True, drop_self_loops=True,
    ),
    "uniform": lambda scale, factor: gl.Graph.generate(
        "erdos-renyi", vertices=1 << scale, edges=factor << scale, seed=1, weights=255
    ),
    "grid": lambda scale, factor: gl.Graph.generate(
        "grid", rows=1 << scale // 2, columns=1 << (scale + 1) // 2, seed=1, weights=255
    ),
    "chain": lambda scale, factor: chain(scale),
}  # fmt: skip


def hub(graph: gl.Graph) -> int:
    """Return the vertex of most out-edges; of graphs that have no hubs the first."""
    return int(graph.local.gid[graph.local.out_degree.argmax()])


def measure(graph: gl.Graph, name: str, source: int, threads: int) -> tuple[float, float, float, float]:
    """Return the seconds of a whole call, its compute time, its supersteps, and of reading one column."""
    found: list[gl.Result] = []
    whole = timed(lambda: found.append(CALLS[name](graph, source, threads)))
    result = found[0]
    read = timed(lambda: result.vertices[FIELDS[name]])
    return whole, result.metrics["seconds"]["compute"], sum(row["seconds"] for row in result.history), read


def show(label: str, options: argparse.Namespace, make: Callable[[int, int], gl.Graph]) -> None:
    for name in CALLS:
        graph = make(options.scale, options.edge_factor)
        source = hub(graph)
        turns = [measure(graph, name, source, options.threads) for _ in range(options.repeats + 1)]
        later = min(turns[1:], key=lambda turn: turn[0])
        goal = f"   (to reach: {TARGET}x)" if label == "rmat" else ""
        for when, (whole, compute, steps, read) in (("first", turns[0]), ("later", later)):
            print(
                f"{label:<8} {name:<11} {when}: {1e3 * whole:8.1f} ms, compute {1e3 * compute:8.1f}, "
                f"supersteps {1e3 * steps:8.1f}; a column {1e3 * read:6.1f}; "
                f"whole / compute {whole / compute:6.2f}x{goal}",
                flush=True,
            )


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--only", nargs="+", choices=list(GRAPHS), default=list(GRAPHS))
    options = arguments.parse_args()
    small = GRAPHS["rmat"](8, 4)
    for call in CALLS.values():
        call(small, hub(small), options.threads)
    for label in options.only:
        show(label, options, GRAPHS[label])


if __name__ == "__main__":
    main()
