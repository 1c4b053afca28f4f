"""The same work without supersteps on 2, 4 and 8 ranks: how much more ranks than cores cost.

    python benchmarks/oversubscribed.py [--ranks 2 4 8] [--scale 18] [--side 1000] [--repeats 2]

Starts a job for each number of ranks, in turn. Prints of each the quickest run, its ratio to the first, the
processor time of all ranks, and how much of the ranks' time was without work or batches.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import gaslab as gl
from asynchronous import Way, grid, weighted
from common import parser
from gaslab.parallel.comm import world

PAGERANK = gl.programs.SignalPageRank()
SWEEP = gl.Async(scheduler="sweep")
LOCKED_SWEEP = gl.Async(scheduler="sweep", consistency="serialisable")
WAYS: dict[str, tuple[str, gl.VertexProgram, gl.Async]] = {
    "R-MAT: PageRank by signals": ("R-MAT", PAGERANK, SWEEP),
    "grid: PageRank by signals": ("grid", PAGERANK, SWEEP),
    "grid: shortest paths by priority": ("grid", gl.programs.DeltaStepping(source=0, delta=64.0), gl.Async()),
    "grid: PageRank, serialisable": ("grid", PAGERANK, LOCKED_SWEEP),
    "chunks of a grid: PageRank by signals": ("chunks", PAGERANK, SWEEP),
    "chunks of a grid: PageRank, serialisable": ("chunks", PAGERANK, LOCKED_SWEEP),
}


def job(options: argparse.Namespace) -> None:
    """Run every way on the ranks of this job; rank 0 prints a line of JSON."""
    graphs = {"R-MAT": weighted(options), "grid": grid(options.side)}
    graphs["chunks"] = graphs["grid"].partitioned("chunk")
    figures = {}
    for name, (kind, program, engine) in WAYS.items():
        graph = graphs[kind]
        run = Way(name, program, {"engine": engine, "on": "local"})
        figures[name] = min(measured(run, graph) for _ in range(options.repeats + 1))
    if world().rank == 0:
        print(json.dumps(figures))


def measured(way: Way, graph: gl.Graph) -> list[float]:
    """Run once; return the seconds, those of processors, updates, the idle share of the time, replicas."""
    way.processor = float("inf")
    way.run(graph)
    ranks = way.result.metrics["asynchronous"]["ranks"]
    idle = sum(rank["seconds_idle"] for rank in ranks) / sum(rank["seconds"] for rank in ranks)
    return [way.seconds[-1], way.processor, way.updates, idle, graph.replication_factor]


def start(ranks: int, words: list[str]) -> dict[str, list[float]]:
    """Return what a job of so many ranks printed."""
    beside = Path(sys.executable).parent / "mpiexec"
    launcher = [str(beside) if beside.exists() else "mpiexec", "-n", str(ranks)]
    command = [*launcher, sys.executable, __file__, *words, "--job"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return figures


def main() -> None:
    made = parser(__doc__)
    made.set_defaults(scale=18, repeats=2)
    made.add_argument("--side", type=int, default=1000, help="of the grid (default 1000)")
    made.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8])
    made.add_argument("--turns", type=int, default=2, help="jobs of each number of ranks (default 2)")
    made.add_argument("--job", action="store_true", help=argparse.SUPPRESS)
    options = made.parse_args()
    if options.job:
        job(options)
        return
    best: dict[tuple[str, int], list[float]] = {}
    for _ in range(options.turns):
        for ranks in options.ranks:
            for name, figures in start(ranks, sys.argv[1:]).items():
                best[name, ranks] = min(best.get((name, ranks), figures), figures)
    for name in WAYS:
        print(f"\n{name}")
        first = best[name, options.ranks[0]]
        for ranks in options.ranks:
            seconds, processor, updates, idle, factor = best[name, ranks]
            print(
                f"  {ranks} ranks {seconds:8.3f} s ({seconds / first[0]:5.2f}x)   {processor:8.3f} s of "
                f"processors   {updates:11,} updates   {idle:4.0%} idle   {factor:5.2f} replicas a vertex"
            )


if __name__ == "__main__":
    main()
