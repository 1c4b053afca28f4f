"""Two ranks of one thread against one rank of one thread, in one job, in turn.

    mpiexec -n 2 python benchmarks/ranks.py

While rank 0 runs alone, on a graph of its own, the other ranks wait.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gaslab as gl
from common import in_turn, parser, report, rmat
from gaslab.parallel.comm import Comm

ITERATIONS = 10
TARGETS = {"bfs": 1.0, "components": 1.0, "sssp": 0.75, "pagerank": 0.75}


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--only", nargs="+", choices=list(TARGETS), default=list(TARGETS))
    options = arguments.parse_args()
    warnings.simplefilter("ignore", gl.ConvergenceWarning)  # PageRank runs to its limit
    plain = rmat(options)
    edges = plain.edges(on="all")
    made = {"columns": {"weight": np.random.default_rng(1).integers(1, 256, edges[0].size).astype(float)}}
    made["vertices"] = np.arange(plain.num_vertices)
    together = gl.Graph.from_edges(*edges, strategy=options.strategy, **made)
    alone = gl.Graph.from_edges(*edges, comm=Comm(), **made) if plain.comm.rank == 0 else None
    source = int(np.bincount(edges[0]).argmax())
    programs: dict[str, Callable[..., Any]] = {
        "bfs": lambda graph, **run: gl.bfs(graph, source, **run),
        "components": gl.components,
        "sssp": lambda graph, **run: gl.sssp(graph, source, **run),
        "pagerank": lambda graph, **run: gl.run(
            gl.programs.PageRank(tolerance=0.0), graph, max_iterations=ITERATIONS, **run
        ),
    }
    run = {"threads": 1, "on": "local"}

    def side(name: str, graph: gl.Graph | None) -> Callable[[], float]:
        if graph is None:
            return lambda: 0.0
        return lambda: float(programs[name](graph, **run).metrics["seconds"]["compute"])

    if plain.comm.rank == 0:
        print(f"{together!r}\n1 thread a rank; {options.repeats} turns")
    for name in options.only:
        sides = {
            f"{name}, {plain.comm.size} ranks": side(name, together),
            f"{name}, alone": side(name, alone),
        }
        timings = in_turn(sides, options.repeats, plain.comm)
        report(timings, TARGETS[name])


if __name__ == "__main__":
    main()
