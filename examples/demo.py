"""What `make demo` prints: a run's ten highest scores as bars, its figures, and where to go from there.

Reads the two files that the command line wrote, as any script of yours could:

    mpiexec -n 2 gaslab pagerank datasets/stdlib-imports.tsv -o demo-output/ranks.tsv \
        --json demo-output/run.json
    python examples/demo.py demo-output
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

BAR = 40  # characters of the longest bar

STORY = """
What does Python's standard library stand on?

{vertices:,} modules and the {edges:,} imports between them, ranked by PageRank on {ranks} MPI ranks:
the score is the share of time that somebody spends at a module who follows imports at random.
"""

FIGURES = """
{iterations} supersteps in {compute:.0f} ms. Each of the {ranks} ranks held about {share:,} of the imports;
a module was on {replication_factor:.2f} ranks on average, and {bytes_per_iteration:,} bytes were sent
per superstep.

All scores are in {folder}/ranks.tsv, the figures of the run in {folder}/run.json.

Next (after: source {activate}):
  gaslab components YOUR-EDGES.tsv               a graph of your own
  mpiexec -n 2 python examples/widest_path.py    a program that is not in gaslab
  docs/programs.md                               write one yourself
"""


def bars(scores: list[tuple[str, float]]) -> str:
    """Return one line per vertex: rank, name, a bar in eighths of a character, per cent."""
    width = max(len(name) for name, _ in scores)
    lines = []
    for place, (name, score) in enumerate(scores, 1):
        eighths = round(8 * BAR * score / scores[0][1])
        bar = "█" * (eighths // 8) + ("", *"▏▎▍▌▋▊▉")[eighths % 8]
        lines.append(f"{place:3}  {name:{width}}  {bar:{BAR}}  {100 * score:5.2f} %")
    return "\n".join(lines)


def main(folder: Path) -> None:
    run: dict[str, Any] = json.loads((folder / "run.json").read_text())
    rows = [line.split("\t") for line in (folder / "ranks.tsv").read_text().splitlines()]
    scores = sorted(((row[0], float(row[-1])) for row in rows), key=lambda pair: -pair[1])
    print(STORY.format(**run))
    print(bars(scores[:10]))
    activate = os.path.relpath(Path(sys.executable).with_name("activate"))
    compute, share = 1000 * run["seconds"]["compute"], run["edges"] // run["ranks"]
    print(FIGURES.format(compute=compute, share=share, folder=folder, activate=activate, **run))


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "demo-output"))
