"""What it takes to measure a cut, against making it.

    python benchmarks/measuring.py --threads 2

Of an R-MAT graph in 32 and 256 parts: the strategy, the census of its cut, and once for all cuts the degrees
and neighbours, in turn.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from common import in_turn, parser, report, rmat, timed
from gaslab.cuts.partition import edges_of
from gaslab.partitioning.baseline import Baseline
from gaslab.partitioning.census import take_census
from gaslab.partitioning.parts import parts_of
from gaslab.partitioning.strategies import Context, find


def main() -> None:
    made = parser(__doc__)
    options = made.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    graph = rmat(options)
    edges, comm, threads = edges_of(graph), graph.comm, options.threads
    ends, n = (edges.src, edges.dst), edges.num_vertices
    context = Context(comm, n, edges.directed, threads)
    base = Baseline.of(*ends, n, comm, threads)
    for k in (32, 256):
        for strategy in [options.strategy] if options.strategy else ["random", "dbh", "hdrf"]:
            name, function = find(strategy)
            part = parts_of(name, function, [*ends], k, context)
            sides: dict[str, Callable[[], object]] = {
                f"{name}, k={k}: cut": partial(parts_of, name, function, [*ends], k, context),
                "measure": partial(take_census, *ends, part, k, base.degree, True, comm, threads),
                "degrees": partial(Baseline.of, *ends, n, comm, threads),
            }
            census = take_census(*ends, part, k, base.degree, True, comm, threads)[0]
            rf = census.replicas.sum() / census.vertices
            print(f"RF {rf:.4f}; of random, exactly: {base.random_replication_factor(k):.4f}")
            report(in_turn({side: partial(timed, one) for side, one in sides.items()}, options.repeats))


if __name__ == "__main__":
    main()
