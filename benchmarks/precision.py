"""Programs in float32 against the same in float64, in turn: CPU-seconds, and how far PageRank is off.

    python benchmarks/precision.py --scale 19

PageRank runs on R-MAT, uniform, grid and chain graphs; ratings and documents are drawn. The time of a sweep
is that of a long run less that of a short one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gaslab as gl
from calls import GRAPHS
from common import Timing, in_turn, parser, report

SHORT, LONG = 2, 12  # supersteps


def narrow(cls: type) -> Any:
    """Return the program in float32."""
    return type(f"{cls.__name__}32", (cls,), {"precision": gl.float32, "__module__": __name__})


def sides(cls: type, graph: gl.Graph, threads: int, **parameters: Any) -> dict[str, Callable[[], float]]:
    """Return both sides: the CPU-seconds of the supersteps between a short run and a long one."""

    def seconds(program: gl.VertexProgram, supersteps: int) -> float:
        began = time.process_time()
        gl.run(program, graph, max_iterations=supersteps, threads=threads, seed=1)
        return time.process_time() - began

    def side(program: gl.VertexProgram) -> Callable[[], float]:
        return lambda: seconds(program, LONG) - seconds(program, SHORT)

    return {"float32": side(narrow(cls)(**parameters)), "float64": side(cls(**parameters))}


def errors(graph: gl.Graph) -> str:
    """Return how far the scores of 50 supersteps in float32 are from those in float64."""
    programs = (gl.programs.PageRank, narrow(gl.programs.PageRank))
    wide, single = (
        gl.run(cls(tolerance=0.0), graph, max_iterations=50).vertices["score"].astype(np.float64)
        for cls in programs
    )
    apart = np.abs(single - wide)
    first = [np.argsort(-scores, kind="stable")[:100] for scores in (wide, single)]
    return (
        f"PageRank in float32: L1 {apart.sum():.1e}, at worst {np.max(apart / wide):.1e} of a score, "
        f"{np.mean(first[0] == first[1]):.0%} of the first hundred in their places"
    )


def main() -> None:
    options = parser(__doc__).parse_args()
    warnings.simplefilter("ignore")  # of limits
    rng = np.random.default_rng(1)
    graphs = {kind: make(options.scale, options.edge_factor) for kind, make in GRAPHS.items()}
    print(errors(graphs["rmat"]))
    ends = rng.integers(0, 20_000, 400_000), rng.integers(0, 2_000, 400_000)
    ratings = gl.Graph.from_edges(*ends, columns={"rating": rng.normal(3, 1, 400_000)}, bipartite=True)
    words = (rng.zipf(1.3, 200_000) % 2_000).astype(np.int64)
    tokens = gl.Graph.from_edges(rng.integers(0, 2_000, 200_000), words, bipartite=True)
    for name, cls, on, parameters in (
        *((f"PageRank, {kind}", gl.programs.PageRank, on, {"tolerance": 0.0}) for kind, on in graphs.items()),
        ("SGD of 32 factors", gl.programs.SGD, ratings, {}),
        ("ALS of 32 factors", gl.programs.ALS, ratings, {"factors": 32}),
        ("collapsed Gibbs, 100 topics", gl.programs.CollapsedGibbs, tokens, {"topics": 100, "ways": 1}),
        ("collapsed Gibbs, 400 topics", gl.programs.CollapsedGibbs, tokens, {"topics": 400, "ways": 1}),
    ):
        print(f"\n{name}, CPU-seconds of {LONG - SHORT} supersteps")
        timings: list[Timing] = in_turn(sides(cls, on, options.threads, **parameters), options.repeats)
        report(timings)


if __name__ == "__main__":
    main()
