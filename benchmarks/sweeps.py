"""Sweeps of ratings and of tokens: two ranks, or two threads, against one; and a run besides its sweeps.

    mpiexec -n 2 python benchmarks/sweeps.py
    python benchmarks/sweeps.py --threads 2

Matrix factorisation by SGD of generated ratings, users and items drawn alike and by Zipf's law; a sweep
includes the error over all ratings. Topics by each sampler, of documents of words by Zipf's law. The seconds
of a sweep are the least of a run's after the first, in which Gibbs sampling only counts. Both sides run in
one job, in turn, and while rank 0 runs alone, on a graph of its own, the others wait.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np

import gaslab as gl
from common import in_turn, parser, report, timed
from gaslab.parallel.comm import Comm, world
from gaslab.programs._samplers import SAMPLERS

SHARES = {"alike": 0.0, "by Zipf's law, 0.8": 0.8, "by Zipf's law, 1.0": 1.0}  # name and exponent
TARGET, PREPARATION = 1 / 1.85, 0.1  # of the time of one; seconds for 2 M ratings


def drawn(rng: np.random.Generator, kinds: int, exponent: float, count: int) -> np.ndarray:
    """Return numbers below *kinds*, of which the popular are anywhere."""
    shares = np.arange(1, kinds + 1) ** -exponent
    return rng.permutation(kinds)[rng.choice(kinds, count, p=shares / shares.sum())]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--users", type=int, default=20_000)
    arguments.add_argument("--items", type=int, default=10_000)
    arguments.add_argument("--ratings", type=int, default=2_000_000)
    arguments.add_argument("--factors", type=int, default=32)
    arguments.add_argument("--documents", type=int, default=20_000)
    arguments.add_argument("--words", type=int, default=30_000)
    arguments.add_argument("--tokens", type=int, default=5_000_000)
    arguments.add_argument("--topics", type=int, default=100)
    arguments.add_argument("--iterations", type=int, default=5)
    options = arguments.parse_args()
    for name, exponent in SHARES.items():
        rng = np.random.default_rng(1)
        ends = [drawn(rng, kinds, exponent, options.ratings) for kinds in (options.users, options.items)]
        ratings = {"rating": rng.integers(2, 11, options.ratings) / 2}
        factorise = partial(gl.sgd, factors=options.factors, iterations=options.iterations)
        title = f"{options.ratings:,} ratings {name}, {options.factors} factors"
        compare(title, factorise, ends, ratings, options)
    rng = np.random.default_rng(1)
    document = rng.integers(options.documents, size=options.tokens)
    ends = [document, drawn(rng, options.words, 1.0, options.tokens)]
    for sampler in SAMPLERS:
        sample = partial(
            gl.lda,
            topics=options.topics,
            sampler=sampler,
            iterations=options.iterations,
            evaluate_every=options.iterations,
        )
        compare(f"{options.tokens:,} tokens, {options.topics} topics, {sampler}", sample, ends, {}, options)


def compare(
    title: str, learn: Callable[..., gl.Result], ends: list[np.ndarray], columns: dict[str, np.ndarray],
    options: argparse.Namespace,
) -> None:  # fmt: skip
    """Print the seconds of a sweep of *learn* on all ranks and threads beside those of one."""
    comm = world()
    graph = gl.Graph.from_edges(*ends, columns=columns, bipartite=True)
    alone: gl.Graph | None = graph if comm.size == 1 else None
    if comm.size > 1 and comm.rank == 0:
        alone = gl.Graph.from_edges(*ends, columns=columns, bipartite=True, comm=Comm())

    def side(graph: gl.Graph | None, threads: int) -> Callable[[], float]:
        def sweep() -> float:
            if graph is None:
                return 0.0
            return min(row["seconds"] for row in learn(graph, threads=threads).history[1:])

        return sweep

    def besides() -> float:
        def run() -> None:
            result = learn(graph, iterations=1, threads=options.threads)
            sweeps.append(sum(row["seconds"] for row in result.history))

        sweeps: list[float] = []
        return timed(run) - sweeps[0]

    first, later = besides(), min(besides() for _ in range(options.repeats))
    many = f"{comm.size} ranks, {options.threads} threads"
    sides = {many: side(graph, options.threads), "one rank, one thread": side(alone, 1)}
    if comm.rank == 0:
        print(f"\n{title}; a run besides sweeps:")
        print(f"{first:.3f} s the first time, {later:.3f} s later (to reach, of ratings: {PREPARATION} s)")
    report(in_turn(sides, options.repeats, comm), TARGET)


if __name__ == "__main__":
    main()
