"""Runs every benchmark, or those named: ``python -m benchmarks [NAME ...] [--scale 20] [--repeats 7]``.

Names and the options that every benchmark has may stand in any order; those that some have alone stand last.
Some minutes at scale 20. ``python -m benchmarks topics ratings --data DIR`` measures learned models on data
that is not part of the project, looked for by name below DIR; without it they run on what there is.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.common import parser

HERE = Path(__file__).parent
# script or package, ranks, threads of each
RUNS = [
    ("pagerank.py", 1, 1), ("pagerank.py", 1, 2), ("pagerank.py", 2, 1),
    ("figures.py", 1, 2), ("traversal.py", 1, 2), ("traversal.py", 2, 1), ("ranks.py", 2, 1),
    ("asynchronous.py", 2, 1), ("staleness.py", 2, 1), ("checkpoints.py", 2, 1), ("gap.py", 1, 2),
    ("load.py", 1, 2), ("load.py", 2, 1),
    ("calls.py", 1, 2), ("small_graphs.py", 1, 1), ("jobs.py", 1, 1), ("jobs.py", 2, 1),
    ("topics.py", 1, 1), ("annealing.py", 1, 1), ("foldin.py", 1, 1), ("texts.py", 1, 1),
    ("ratings.py", 1, 1),
    ("sweeps.py", 1, 2), ("sweeps.py", 2, 1), ("counts.py", 2, 1),
    ("cutting.py", 1, 1), ("measuring.py", 1, 2),
    ("precision.py", 1, 1), ("draws.py", 1, 1), ("random_walks.py", 1, 2), ("near_vectors.py", 1, 1),
    ("gathered_counts.py", 1, 1), ("out_rows.py", 1, 1), ("startup.py", 1, 1),
    ("sum_by.py", 1, 2), ("twins", 1, 1),
]  # fmt: skip


def split(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the benchmarks that *words* name, and the options for them; exits where none is so called."""
    known = sorted({Path(script).stem for script, _, _ in RUNS})
    made = parser(__doc__)
    common = {option: action.dest for action in made._actions for option in action.option_strings}
    made.set_defaults(**dict.fromkeys(common.values()))  # a benchmark has its own
    made.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    ends = (k for k, word in enumerate(words) if word.startswith("--") and word.split("=")[0] not in common)
    end = next(ends, len(words))
    given = vars(made.parse_intermixed_args(words[:end]))
    names = given.pop("names")
    for name in names:
        if name not in known:
            sys.exit(f"there is no benchmark {name!r}; there are {', '.join(known)}")
    if not names and (late := next((word for word in words[end:] if word in known), None)):
        sys.exit(f"name {late} before {words[end]}, which not every benchmark has")
    options = [f"--{name.replace('_', '-')}={value}" for name, value in given.items() if value is not None]
    return names, [*options, *words[end:]]


def main() -> None:
    names, options = split(sys.argv[1:])
    beside = Path(sys.executable).parent / "mpiexec"
    for script, ranks, threads in RUNS:
        if names and Path(script).stem not in names:
            continue
        launcher = [str(beside) if beside.exists() else "mpiexec", "-n", str(ranks)] if ranks > 1 else []
        module = [str(HERE / script)] if script.endswith(".py") else ["-m", f"benchmarks.{script}"]
        command = [*launcher, sys.executable, *module, "--threads", str(threads), *options]
        print(f"\n== {script}, {ranks} ranks x {threads} threads", flush=True)
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)})


if __name__ == "__main__":
    main()
