"""Weighted label propagation, which sums by key, beside networkit's and beside a superstep by hand in C.

    python benchmarks/sum_by.py --scale 18 --threads 2

networkit's `PLP` also moves vertices to the heaviest label around them, but at once, in place and only those
whose neighbours moved: its answer is another, and so are its rounds. Compared are the seconds of a whole
propagation, ours with half of the vertices moving in a superstep, and the modularities. Supersteps by hand
are pairs of benchmarks/twins, on one thread, with the same answers to the bit: `labels` chooses by argmax,
`labels-by-loop` by a loop, and `joins-by-loop` by a loop with a gain, as the Louvain method.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

import gaslab as gl
from common import in_turn, installed, parser, report, timed

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.twins.inputs import Inputs  # noqa: E402
from examples.weighted_labels import WeightedLabels  # noqa: E402

MOST = 100  # supersteps


def modularity(graph: gl.Graph, label: np.ndarray) -> float:
    """Return the modularity of communities by their labels, of vertices by global id."""
    source, target = graph.edges()
    weight = graph.edge_columns["weight"].astype(float)
    _, label = np.unique(label, return_inverse=True)
    whole, most = weight.sum(), label.max() + 1
    sums = np.bincount(label[source], weight, most) + np.bincount(label[target], weight, most)
    return float(weight[label[source] == label[target]].sum() / whole - ((sums / (2 * whole)) ** 2).sum())


def main() -> None:
    made = parser(__doc__)
    made.set_defaults(scale=18)
    options = made.parse_args()
    warnings.simplefilter("ignore")  # of limits
    graph = Inputs(options.scale, options.edge_factor).weighted_rmat
    found: dict[str, np.ndarray] = {}
    rounds: dict[str, int] = {}

    def ours() -> float:
        result = gl.run(WeightedLabels(), graph, max_iterations=MOST, threads=options.threads, seed=1)
        found["gaslab"], rounds["gaslab"] = result.vertices.global_ids["label"], result.iterations
        return float(result.metrics["seconds"]["compute"])

    sides = {"gaslab": ours}
    if installed("networkit"):
        import networkit

        networkit.setNumberOfThreads(options.threads)
        ends = np.stack(graph.edges(), axis=1)
        peer = networkit.GraphFromCoo(
            (graph.edge_columns["weight"].astype(float), (ends[:, 0], ends[:, 1])), n=graph.num_vertices,
            weighted=True, directed=False,
        )  # fmt: skip

        def theirs() -> float:
            call = networkit.community.PLP(peer)
            seconds = timed(call.run)
            found["networkit"] = np.array(call.getPartition().getVector())
            rounds["networkit"] = call.numberOfIterations()
            return seconds

        sides["networkit"] = theirs
    report(in_turn(sides, options.repeats))
    for name, label in found.items():
        kinds = np.unique(label).size
        print(f"{name}: {rounds[name]} rounds, {kinds:,} labels, modularity {modularity(graph, label):.4f}")
    command = [sys.executable, "-m", "benchmarks.twins", "labels", "labels-by-loop", "joins-by-loop"]
    command += [f"--scale={options.scale}", f"--edge-factor={options.edge_factor}"]
    print("\na superstep beside C, on one thread", flush=True)
    subprocess.run([*command, f"--repeats={options.repeats}"], check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
