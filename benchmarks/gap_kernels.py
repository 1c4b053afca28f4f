"""One graph of `gap.py` on so many ranks and threads: gaslab's kernels, and the peers' in turn with them.

`gap.py` starts it. It reads the graph from a folder and writes rows of seconds there. The run with peers, the
first, keeps gaslab's answers when they agree with the peers'; later runs compare theirs with these.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import gapbs
import gaslab as gl
from classes import Drawn
from gaslab.parallel.comm import world
from peers import ITERATIONS, Side, peers

KERNELS = {
    "pagerank": "PageRank",
    "pagerank32": "PageRank, float32",
    "bfs": "breadth-first search",
    "components": "components",
    "sssp": "shortest paths",
    "betweenness": "betweenness",
    "triangles": "triangles",
}
LONG = 20.0  # seconds: a side that takes longer runs once
Rows = list[dict[str, Any]]


class Ours:
    """gaslab's kernels on one graph; the time of one is its compute time, messages included."""

    def __init__(self, drawn: Drawn | None, options: argparse.Namespace) -> None:
        self.root = drawn is not None
        self.options = options
        empty = np.zeros(0, np.int64)
        graph = drawn or Drawn(0, empty, empty, empty, empty)
        self.begin = world().bcast(graph.begin)
        self.graph = gl.Graph.from_edges(
            graph.source, graph.target, columns={"weight": graph.weight.astype(float)},
            vertices=np.arange(graph.n), rows="root", strategy=options.strategy,
        )  # fmt: skip
        self.simple = gl.Graph.from_edges(
            *graph.pairs(), vertices=np.arange(graph.n), directed=False, rows="root",
            strategy=options.strategy,
        )  # fmt: skip

    def sides(self) -> dict[str, Side]:
        graph, begin, chosen = self.graph, self.begin[0], self.begin[: self.options.sources]
        power = {"max_iterations": ITERATIONS, "tolerance": 0.0}
        return {
            "pagerank": self._side("score", gl.pagerank, graph, **power),
            "pagerank32": self._side("score", gl.pagerank, graph, precision="float32", **power),
            "bfs": self._side("level", gl.bfs, graph, begin),
            "components": self._side("component", gl.components, graph),
            "sssp": self._side("distance", gl.sssp, graph, begin),
            "betweenness": self._side("betweenness", gl.betweenness, graph, sources=chosen, normalized=False),
            "triangles": self._side("triangles", gl.triangles, self.simple, per_vertex=False),
        }

    def _side(self, field: str, call: Callable[..., gl.Result], *arguments: Any, **options: Any) -> Side:
        def side() -> tuple[float, Any]:
            result = call(*arguments, threads=self.options.threads, on="root", **options)
            return float(result.metrics["seconds"]["compute"]), self._answer(field, result)

        return side

    def _answer(self, field: str, result: gl.Result) -> Any:
        """Return the answer on rank 0 as the peers have it."""
        if field == "triangles":
            return result.metrics["triangles"]
        if not self.root:
            return None
        found = result.vertices[field]
        return found if field != "betweenness" else self._sums(found)

    def _sums(self, scores: np.ndarray) -> np.ndarray:
        """Return betweenness without NetworkX's scales, which make an estimate for all sources of it."""
        chosen = self.begin[: self.options.sources]
        sums = scores * chosen.size / (scores.size - 1)
        sums[chosen] *= (chosen.size - 1) / chosen.size
        return sums


def same(kernel: str, ours: Any, theirs: Any) -> bool:
    """Return whether two answers agree; whole numbers agree exactly."""
    if kernel.startswith("pagerank"):
        return float(np.abs(ours - theirs).sum()) < (1e-4 if kernel == "pagerank32" else 1e-9)
    if kernel == "betweenness":
        return np.allclose(ours, theirs, rtol=1e-6, atol=1e-6)
    return np.array_equal(ours, theirs)


def in_turn(sides: dict[str, Side], repeats: int) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Run the sides in turn; return the seconds of each and its answer.

    The first run of each warms up and does not count, unless it takes so long that there is no other.
    """
    comm = world()
    runs: dict[str, list[float]] = {name: [] for name in sides}
    answers: dict[str, Any] = {}
    for turn in range(repeats + 1):
        for name, side in sides.items():
            if turn and runs[name][0] > LONG:
                continue
            comm.barrier()
            seconds, answers[name] = side()
            runs[name].append(comm.bcast(seconds))
    return {name: seconds[1:] or seconds for name, seconds in runs.items()}, answers


def check(kernel: str, answers: dict[str, Any], folder: Path) -> None:
    """End the benchmark, on every rank, if gaslab's answer is not everybody's; keep the first run's."""
    other = None
    if world().rank == 0:
        ours, kept = answers["gaslab"], folder / f"{kernel}.npy"
        known = {name: answer for name, answer in answers.items() if answer is not None}
        if kept.exists():
            known["the first run"] = np.load(kept)
        elif kernel == "pagerank32":
            known["float64"] = np.load(folder / "pagerank.npy")
        other = next((name for name, answer in known.items() if not same(kernel, ours, answer)), None)
        if not kept.exists():
            np.save(kept, ours)
    if other := world().bcast(other):
        sys.exit(f"{KERNELS[kernel]}: gaslab's answer is not that of {other}")


def measure(drawn: Drawn | None, options: argparse.Namespace) -> Rows:
    """Run every kernel on all sides; return the seconds."""
    ours, others, suite = Ours(drawn, options).sides(), {}, None
    if options.peers and drawn is not None:
        if gapbs.folder():
            suite = gapbs.Suite(drawn, options.folder, options.threads, options.sources)
            others["GAPBS"] = suite.sides()
        others |= peers(drawn, options.threads, options.sources)
    rows: Rows = []
    for kernel in options.kernels:
        sides = {"gaslab": ours[kernel]}
        sides |= {name: kernels[kernel] for name, kernels in others.items() if kernel in kernels}
        seconds, answers = in_turn(sides, options.repeats)
        check(kernel, answers, options.folder)
        for side, runs in seconds.items():
            here = f" {world().size} x {options.threads}" if side == "gaslab" else ""
            rows.append({"kernel": kernel, "side": side + here, "seconds": runs})
            if suite and side == "GAPBS" and kernel == "sssp":
                rows[-1]["delta"] = suite.delta
        if world().rank == 0:
            best = ", ".join(f"{side} {min(runs):.4g} s" for side, runs in seconds.items())
            print(f"{KERNELS[kernel]}: {best}", flush=True)
    return rows


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    made.add_argument("folder", type=Path)
    made.add_argument("--threads", type=int, required=True)
    made.add_argument("--repeats", type=int, required=True)
    made.add_argument("--sources", type=int, required=True, help="of betweenness")
    made.add_argument("--strategy")
    made.add_argument("--peers", action="store_true")
    made.add_argument("--kernels", nargs="+", required=True)
    options = made.parse_args()
    warnings.simplefilter("ignore", gl.ConvergenceWarning)  # the limit is the point here
    root = world().rank == 0
    rows = measure(Drawn.load(options.folder / "graph.npz") if root else None, options)
    if root:
        (options.folder / "rows.json").write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
