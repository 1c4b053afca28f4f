"""Runs every benchmark: ``python -m benchmarks [--scale 20] [--repeats 7]``, some minutes at scale 20."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
# script, ranks, threads of each
RUNS = [
    ("pagerank.py", 1, 1), ("pagerank.py", 1, 2), ("pagerank.py", 2, 1),
    ("figures.py", 1, 2), ("traversal.py", 1, 2), ("traversal.py", 2, 1), ("ranks.py", 2, 1),
    ("asynchronous.py", 2, 1), ("staleness.py", 2, 1),
    ("load.py", 1, 2), ("load.py", 2, 1),
    ("startup.py", 1, 1),
]  # fmt: skip


def main() -> None:
    beside = Path(sys.executable).parent / "mpiexec"
    for script, ranks, threads in RUNS:
        launcher = [str(beside) if beside.exists() else "mpiexec", "-n", str(ranks)] if ranks > 1 else []
        command = [*launcher, sys.executable, str(HERE / script), "--threads", str(threads), *sys.argv[1:]]
        print(f"\n== {script}, {ranks} ranks x {threads} threads", flush=True)
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)})


if __name__ == "__main__":
    main()
