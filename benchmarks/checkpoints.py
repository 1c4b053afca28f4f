"""What checkpoints cost: PageRank with them and without, in turn; their bytes beside those of the fields.

    mpiexec -n 2 python -m benchmarks checkpoints --supersteps 400 --every 100
    mpiexec -n 2 python benchmarks/checkpoints.py --supersteps 5000 --every 60s --repeats 1

Also printed: the seconds of one checkpoint in which the run stands still, and those of resuming the last one.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
from pathlib import Path

import gaslab as gl
from common import in_turn, parser, report, rmat, timed
from gaslab.parallel.comm import world

FIELDS = 3 * 8  # bytes of a vertex


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--supersteps", type=int, default=400)
    made.add_argument("--every", default="100", help="as of gl.run")
    made.add_argument("--folder", help="where the checkpoints go (default: a temporary folder)")
    options = made.parse_args()
    comm, graph = world(), rmat(options)
    parent = comm.bcast(tempfile.mkdtemp(dir=options.folder) if comm.rank == 0 else "")
    program = gl.programs.PageRank(tolerance=0.0)
    how = {"max_iterations": options.supersteps, "threads": options.threads, "on": "local"}
    found: dict[str, float] = {}

    def saved() -> float:
        folder = str(Path(parent, "saved"))
        if comm.rank == 0:
            shutil.rmtree(folder, ignore_errors=True)
        comm.barrier()

        def run() -> None:
            result = gl.run(program, graph, checkpoint=folder, every=options.every, **how)
            found.update(result.metrics["checkpoints"])

        return timed(run)

    def unsaved() -> float:
        return timed(lambda: gl.run(program, graph, **how))

    warnings.simplefilter("ignore", gl.ConvergenceWarning)
    try:
        report(in_turn({"with checkpoints": saved, "without": unsaved}, options.repeats))
        if comm.rank == 0:
            fields = graph.num_vertices * FIELDS
            each = found["seconds"] / max(found["written"], 1)
            print(f"{found['written']} checkpoints, {found['failed']} failed; {each:.4f} s still for each")
            print(f"bytes of a checkpoint: {found['bytes']:,}, of the fields {found['bytes'] / fields:.3f}x")
        resumed = timed(lambda: gl.run(program, graph, resume=f"{parent}/saved", **how))
        if comm.rank == 0:
            print(f"resuming the last one, and the supersteps after it: {resumed:.3f} s")
    finally:
        comm.barrier()
        if comm.rank == 0:
            shutil.rmtree(parent, ignore_errors=True)


if __name__ == "__main__":
    main()
