"""What checkpoints cost: a run with them and without, in turn; their bytes beside those of the fields.

    python -m benchmarks checkpoints --supersteps 400 --every 100
    python -m benchmarks checkpoints --repeats 1 --supersteps 3600 --every 60s
    python -m benchmarks checkpoints --graph grid --program levels --every 1s

PageRank runs a number of supersteps that are all alike; levels of a grid are thousands of short ones, between
which the ranks agree whether a checkpoint is due.

Also printed: the seconds of one checkpoint in which the run stands still, and those of resuming the last one.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import warnings
from pathlib import Path

import gaslab as gl
from common import in_turn, parser, report, rmat, timed
from gaslab.parallel.comm import world

GRAPHS = ("rmat", "uniform", "grid")
FIELDS = {"pagerank": 3 * 8, "levels": 4}  # bytes of a vertex


def made(options: argparse.Namespace) -> gl.Graph:
    """Return the graph of a kind, of about 2**scale vertices."""
    if options.graph == "rmat":
        return rmat(options)
    vertices = 1 << options.scale
    if options.graph == "grid":
        side = int(vertices**0.5)
        return gl.Graph.generate("grid", rows=side, columns=side, strategy=options.strategy)
    edges = options.edge_factor * vertices
    return gl.Graph.generate(
        "erdos-renyi", vertices=vertices, edges=edges, seed=1, strategy=options.strategy
    )


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--graph", choices=GRAPHS, default="rmat")
    arguments.add_argument("--program", choices=("pagerank", "levels"), default="pagerank")
    arguments.add_argument("--supersteps", type=int, default=400, help="of PageRank")
    arguments.add_argument("--every", default="100", help="as of gl.run")
    arguments.add_argument("--folder", help="where the checkpoints go (default: a temporary folder)")
    options = arguments.parse_args()
    comm, graph = world(), made(options)
    parent = comm.bcast(tempfile.mkdtemp(dir=options.folder) if comm.rank == 0 else "")
    how: dict[str, object] = {"threads": options.threads, "on": "local"}
    program: gl.VertexProgram = gl.programs.Levels(source=0)
    if options.program == "pagerank":
        program, how["max_iterations"] = gl.programs.PageRank(tolerance=0.0), options.supersteps
    fields = graph.num_vertices * FIELDS[options.program]
    found: dict[str, float] = {}

    def saved() -> float:
        folder = str(Path(parent, "saved"))
        if comm.rank == 0:
            shutil.rmtree(folder, ignore_errors=True)
        comm.barrier()

        def run() -> None:
            result = gl.run(program, graph, checkpoint=folder, every=options.every, **how)
            found.update(result.metrics["checkpoints"], supersteps=result.iterations)

        return timed(run)

    def unsaved() -> float:
        return timed(lambda: gl.run(program, graph, **how))

    warnings.simplefilter("ignore", gl.ConvergenceWarning)
    try:
        report(in_turn({"with checkpoints": saved, "without": unsaved}, options.repeats))
        if comm.rank == 0:
            each = found["seconds"] / max(found["written"], 1)
            print(f"{found['supersteps']} supersteps, {found['written']} checkpoints, "
                  f"{found['failed']} failed; {each:.4f} s still for each")  # fmt: skip
            print(f"bytes of a checkpoint: {found['bytes']:,}, of the fields {found['bytes'] / fields:.3f}x")
        if comm.bcast(found["written"]):
            resumed = timed(lambda: gl.run(program, graph, resume=f"{parent}/saved", **how))
            if comm.rank == 0:
                print(f"resuming the last one, and the supersteps after it: {resumed:.3f} s")
    finally:
        comm.barrier()
        if comm.rank == 0:
            shutil.rmtree(parent, ignore_errors=True)


if __name__ == "__main__":
    main()
