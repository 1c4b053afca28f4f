"""What `make demo` prints: the ten highest scores as bars, five topics, and where to go from there.

Reads the files that the command line wrote, as any script of yours could:

    mpiexec -n 2 gaslab pagerank datasets/stdlib-imports.tsv -o demo-output/ranks.tsv \
        --json demo-output/run.json
    mpiexec -n 2 gaslab lda datasets/docword.stdlib-docstrings.txt.gz --topics 5 --iterations 60 \
        --vocabulary datasets/vocab.stdlib-docstrings.txt --topic-word demo-output/topics.tsv \
        --json demo-output/lda.json
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

What do its docstrings talk about? The likeliest words of five topics, found by LDA in {sweeps} sweeps
over {tokens:,} words, in {lda:.1f} s:

{topics}

All of it is in {folder}/: ranks.tsv, topics.tsv, and the figures of the runs in run.json and lda.json.

Next (after: source {activate}):
  gaslab components YOUR-EDGES.tsv               a graph of your own
  gaslab als YOUR-RATINGS.tsv                    users, items and ratings: what they will like
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


def topics(rows: list[list[str]], count: int = 9) -> str:
    """Return one line per topic, its likeliest words; a row is a word and its probability in each."""
    lines = []
    for topic in range(1, len(rows[0])):
        best = sorted(rows, key=lambda row: -float(row[topic]))[:count]
        lines.append(f"{topic - 1:3}  {' '.join(row[0] for row in best)}")
    return "\n".join(lines)


def main(folder: Path) -> None:
    run: dict[str, Any] = json.loads((folder / "run.json").read_text())
    lda: dict[str, Any] = json.loads((folder / "lda.json").read_text())
    rows, words = (
        [line.split("\t") for line in (folder / name).read_text().splitlines()]
        for name in ("ranks.tsv", "topics.tsv")
    )
    scores = sorted(((row[0], float(row[-1])) for row in rows), key=lambda pair: -pair[1])
    print(STORY.format(**run))
    print(bars(scores[:10]))
    activate = os.path.relpath(Path(sys.executable).with_name("activate"))
    compute, share = 1000 * run["seconds"]["compute"], run["edges"] // run["ranks"]
    run |= {"compute": compute, "share": share, "folder": folder, "activate": activate}
    run |= {"sweeps": lda["iterations"], "tokens": lda["tokens"], "lda": lda["seconds"]["compute"]}
    print(FIGURES.format(topics=topics(words), **run))


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "demo-output"))
