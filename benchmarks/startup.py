"""Start-up: the command line, a whole small job under mpiexec, and the first use of a custom program.

python benchmarks/startup.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from common import launcher, parser, timed

PROGRAM = """
import gaslab as gl

class Shared(gl.VertexProgram):
    rate: float = {rate}
    class Vertex(gl.Vertex):
        value: float = 1.0
    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.value
    def apply(self, v: Vertex, total: float) -> None:
        v.value = self.rate * total + {constant}

graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0])
result = gl.run(Shared(), graph, max_iterations=2)
if graph.comm.rank == 0:
    print(result.metrics["seconds"]["build"])
"""


def whole(command: list[str], repeats: int) -> tuple[float, float]:
    """Return the least and the greatest wall seconds of a whole command."""
    seconds = [
        timed(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(repeats)
    ]
    return min(seconds), max(seconds)


def built(script: Path, cache: str) -> float:
    """Return the seconds that 4 ranks took to parse, compile or find, and load a program."""
    environment = {**os.environ, "GASLAB_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}
    command = [*launcher(4), sys.executable, str(script)]
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(run.stdout.split()[-1])


def main() -> None:
    options = parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        edges = Path(folder) / "small.tsv"
        np.savetxt(edges, np.random.default_rng(0).integers(0, 2000, (10_000, 2)), fmt="%d", delimiter="\t")
        gaslab = [sys.executable, "-m", "gaslab"]
        rows = [
            ("gaslab --help", whole([*gaslab, "--help"], options.repeats), 0.2),
            (
                "gaslab pagerank, 10,000 edges",
                whole([*gaslab, "pagerank", str(edges)], options.repeats),
                None,
            ),
            (
                "mpiexec -n 2 gaslab pagerank",
                whole([*launcher(2), *gaslab, "pagerank", str(edges)], options.repeats),
                1.2,
            ),
        ]
        first, again = [], []
        for turn in range(options.repeats):
            script = Path(folder) / f"custom{turn}.py"
            script.write_text(PROGRAM.format(rate=0.5, constant=turn + 0.25))
            first.append(built(script, folder))
            again.append(built(script, folder))
        rows.append(("first use at 4 ranks (compile)", (min(first), max(first)), 0.5))
        rows.append(("cached at 4 ranks", (min(again), max(again)), 0.05))
    for name, (low, high), target in rows:
        goal = f"   (to reach: {target} s)" if target else ""
        print(f"{name:<34} min {low:7.3f} s   max {high:7.3f}{goal}")


if __name__ == "__main__":
    main()
