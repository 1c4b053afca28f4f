"""Text file to graph in memory: edges per second, bytes per edge; a saved graph, pandas and scipy in turn.

    python benchmarks/load.py
    mpiexec -n 2 python benchmarks/load.py

Writes an R-MAT graph as text to a temporary file first. Under mpiexec the peer runs on rank 0 while
the others wait; it reads the columns and builds one scipy CSR matrix. The graph is saved as it was read, with
a part for each rank.
"""

from __future__ import annotations

import os
import shutil
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
    started: list[gl.Graph] = []
    saved = Path(folder) / "graph"

    def ours() -> float:
        kept.clear()
        comm.barrier()
        began = time.perf_counter()
        kept.append(gl.read_graph(path, strategy=options.strategy))
        comm.barrier()
        return time.perf_counter() - began

    def from_folder() -> float:
        started.clear()
        comm.barrier()
        began = time.perf_counter()
        started.append(gl.load_graph(saved))
        comm.barrier()
        return time.perf_counter() - began

    def theirs() -> float:
        if comm.rank:
            return 0.0
        began = time.perf_counter()
        table = pandas.read_csv(path, sep="\t", header=None, names=["src", "dst"])
        scipy.sparse.csr_matrix((np.ones(len(table)), (table["dst"], table["src"])))
        return time.perf_counter() - began

    ours()
    kept[0].save(saved)
    sides = {"from a saved graph": from_folder, "gaslab, from text": ours, "pandas + scipy CSR": theirs}
    timings = in_turn(sides, options.repeats)
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
        print(f"{edges / timings[1].best / 1e6:.2f} M edges/s from text   (to reach: 6.0 at 2 ranks)")
        on_disk = sum(file.stat().st_size for file in saved.rglob("*") if file.is_file())
        faster = timings[1].best / timings[0].best
        print(f"from a saved graph {faster:.1f} times faster, {on_disk / edges:.2f} bytes per edge on disk   "
              "(to reach: 10, 9)")  # fmt: skip
        print("of the last run: " + ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items()))
        print(f"{one_way:.2f} bytes per edge one way, {both_ways:.2f} both (to reach: 9, 17)")
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
