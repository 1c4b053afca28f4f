"""Bounded staleness against supersteps in step, where now and then one rank is slow.

    mpiexec -n 2 python benchmarks/staleness.py [--scale 16] [--delay 0.02] [--probability 0.2]

In every superstep each rank sleeps for --delay seconds with --probability. That stands for another job, a
page that is swapped in, a slower core. All ways run the same number of PageRank's supersteps on the same
delays, in turn; then each runs until its scores change by less than 1e-6, which takes the more supersteps the
staler they are.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gaslab as gl
from common import in_turn, parser, report, rmat
from gaslab.engine.activation import Frontier
from gaslab.engine.gather_apply import GatherApply
from gaslab.parallel.comm import world

WAYS: dict[str, dict[str, Any]] = {
    "in step": {},
    "staleness 0": {"engine": gl.Stale(0)},
    "staleness 1": {"engine": gl.Stale(1)},
    "staleness 3": {"engine": gl.Stale(3)},
}


class Slow:
    """Lets this rank sleep now and then, at the same supersteps in every run."""

    def __init__(self, delay: float, probability: float) -> None:
        self.delay, self.probability = delay, probability
        self.begin()
        real = GatherApply.run

        def slowed(engine: GatherApply, frontier: Frontier) -> None:
            if self._random.random() < self.probability:
                time.sleep(self.delay)
            real(engine, frontier)

        GatherApply.run = slowed  # type: ignore[method-assign]

    def begin(self) -> None:
        """Begin anew."""
        self._random = np.random.default_rng(world().rank)


def main() -> None:
    made = parser(__doc__)
    made.set_defaults(scale=16)
    made.add_argument("--delay", type=float, default=0.02, help="seconds that a slow superstep takes longer")
    made.add_argument("--probability", type=float, default=0.2, help="of a rank's superstep to be slow")
    made.add_argument("--supersteps", type=int, default=50)
    options = made.parse_args()
    warnings.simplefilter("ignore", gl.ConvergenceWarning)  # runs to the limit
    graph, slow = rmat(options), Slow(options.delay, options.probability)
    if world().rank == 0:
        print(f"{graph!r}\na rank sleeps {options.delay} s in {options.probability:.0%} of its supersteps")
    supersteps: dict[str, int] = {}

    def side(name: str, tolerance: float, limit: int) -> Callable[[], float]:
        def run() -> float:
            slow.begin()
            program = gl.programs.PageRank(tolerance=tolerance)
            result = gl.run(
                program, graph, threads=options.threads, max_iterations=limit, on="local", **WAYS[name]
            )
            supersteps[name] = result.iterations
            return float(result.metrics["seconds"]["compute"])

        return run

    for title, tolerance, limit in (
        (f"{options.supersteps} supersteps", 0.0, options.supersteps),
        ("to a change of 1e-6", 1e-6, 10_000),
    ):
        timings = in_turn({name: side(name, tolerance, limit) for name in WAYS}, options.repeats)
        if world().rank == 0:
            print(f"\n{title}: {supersteps}")
        for timing in timings[1:]:
            report([timing, timings[0]])


if __name__ == "__main__":
    main()
