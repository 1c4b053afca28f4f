"""Text file to graph in memory: edges per second, bytes per edge; pandas and scipy in turn.

    python benchmarks/load.py
    mpiexec -n 2 python benchmarks/load.py

Writes an R-MAT graph as text to a temporary file first. Under mpiexec the peer runs on rank 0 while
the others wait; it reads the columns and builds one scipy CSR matrix.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas
import scipy.sparse

import gaslab as gl
from common import in_turn, parser, report, rmat
from gaslab.results.writers import Target, write_rows


def main() -> None:
    options = parser(__doc__).parse_args()
    graph = rmat(options)
    comm, edges = graph.comm, graph.num_edges
    folder = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else "")
    path = Path(folder) / "edges.txt"
    src, dst = graph.edges()
    write_rows(comm, Target(path), {"source": src, "target": dst})
    del graph, src, dst
    kept: list[gl.Graph] = []

    def ours() -> float:
        kept.clear()
        comm.barrier()
        began = time.perf_counter()
        kept.append(gl.read_graph(path, strategy=options.strategy))
        comm.barrier()
        return time.perf_counter() - began

    def theirs() -> float:
        if comm.rank:
            return 0.0
        began = time.perf_counter()
        table = pandas.read_csv(path, sep="\t", header=None, names=["src", "dst"])
        scipy.sparse.csr_matrix((np.ones(len(table)), (table["dst"], table["src"])))
        return time.perf_counter() - began

    timings = in_turn({"gaslab": ours, "pandas + scipy CSR": theirs}, options.repeats)
    held = [kept[0].memory_bytes()]
    kept[0].local.out()
    held.append(kept[0].memory_bytes())
    one_way, both_ways = (int(comm.allreduce(x)) / edges for x in held)
    if comm.rank == 0:
        megabytes = path.stat().st_size / 1e6
        threads = os.environ.get("OMP_NUM_THREADS", "all")
        print(f"{megabytes:.0f} MB, {edges:,} edges, {comm.size} ranks x {threads} threads")
        report(timings)
        seconds = kept[0].seconds
        print(f"{edges / timings[0].best / 1e6:.2f} M edges/s   (to reach: 6.0 at 2 ranks)")
        print("of the last run: " + ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items()))
        print(f"{one_way:.2f} bytes per edge one way, {both_ways:.2f} both (to reach: 9, 17)")
        path.unlink()
        path.parent.rmdir()


if __name__ == "__main__":
    main()
