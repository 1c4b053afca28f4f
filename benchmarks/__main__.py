"""Runs every benchmark, or those named: ``python -m benchmarks [NAME ...] [--scale 20] [--repeats 7]``.

Some minutes at scale 20. ``python -m benchmarks topics ratings --data DIR`` measures learned models on data
that is not part of the project, looked for by name below DIR; without it they run on what there is.
"""

from __future__ import annotations

import itertools
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
    ("topics.py", 1, 1), ("ratings.py", 1, 1),
    ("startup.py", 1, 1),
]  # fmt: skip


def main() -> None:
    names = list(itertools.takewhile(lambda word: not word.startswith("-"), sys.argv[1:]))
    known = sorted({Path(script).stem for script, _, _ in RUNS})
    for name in names:
        if name not in known:
            sys.exit(f"there is no benchmark {name!r}; there are {', '.join(known)}")
    options = sys.argv[1 + len(names) :]
    beside = Path(sys.executable).parent / "mpiexec"
    for script, ranks, threads in RUNS:
        if names and Path(script).stem not in names:
            continue
        launcher = [str(beside) if beside.exists() else "mpiexec", "-n", str(ranks)] if ranks > 1 else []
        command = [*launcher, sys.executable, str(HERE / script), "--threads", str(threads), *options]
        print(f"\n== {script}, {ranks} ranks x {threads} threads", flush=True)
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)})


if __name__ == "__main__":
    main()
