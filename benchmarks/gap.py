"""The six kernels of the GAP benchmark on five classes of graph, beside C++ and Python's libraries.

    python benchmarks/gap.py
    GAPBS=FOLDER python benchmarks/gap.py --scale 20 --json rows.json --picture ratios.svg
    python benchmarks/gap.py --only bfs sssp --classes grid cliques

The peers are networkit, igraph and scipy.sparse.csgraph, each if it is installed, and the GAP Benchmark Suite
if the variable GAPBS names the folder of its binaries. gaslab runs on 1 rank x 1 thread, 1 x T and T x 1, T
given by --threads. The peers run in the process of 1 x T, in turn with gaslab. The figures are minima. Of
gaslab the compute time counts, of the suite its own trial time, of the others the call. Answers are compared:
a wrong one ends the benchmark.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import gapbs
from classes import CLASSES
from common import installed, launcher, parser, row
from gap_kernels import KERNELS, LONG
from gap_picture import draw

THREADED = {"GAPBS", "networkit"}
LARGE = 18  # from this scale on fewer sources
Rows = list[dict[str, Any]]
PEERS = ["GAPBS", "networkit", "igraph", "scipy"]
NOTES = f"""\
Seconds, the best run; a star marks a side that takes more than {LONG:.0f} s and ran once. gaslab R x T is on
R ranks of T threads. The PageRank of GAPBS is in float32, drops the mass of vertices without out-edges, and
reads new scores within an iteration; the others compute in float64 where the row does not say otherwise.
Search and shortest paths of networkit run on one thread. In breadth-first search gaslab, networkit and
igraph find levels, GAPBS and scipy parents. Betweenness is from 4 sources, below scale {LARGE} from 32.
networkit counts the triangles of every edge. GAPBS' shortest paths run with the best of some widths of a
bucket, -d:"""


def arguments() -> argparse.Namespace:
    made = parser(__doc__)
    made.set_defaults(scale=16, threads=2, repeats=4)
    six = [kernel for kernel in KERNELS if kernel != "pagerank32"]
    made.add_argument("--only", nargs="+", choices=six, default=six, metavar="KERNEL")
    made.add_argument("--classes", nargs="+", choices=list(CLASSES), default=list(CLASSES), metavar="CLASS")
    made.add_argument("--json", type=Path, help="write the rows of figures to this file")
    made.add_argument("--rows", type=Path, nargs="+", help="measure nothing: print rows that --json wrote")
    made.add_argument("--picture", type=Path, help="draw the ratios (.svg)")
    options = made.parse_args()
    options.kernels = [kernel for kernel in KERNELS if kernel.removesuffix("32") in options.only]
    options.sources = 4 if options.scale >= LARGE else 32  # of betweenness
    return options


def measured(name: str, options: argparse.Namespace) -> Rows:
    """Draw one graph; run its kernels on every number of ranks and threads, first beside the peers."""
    rows: Rows = []
    script = str(Path(__file__).with_name("gap_kernels.py"))
    shared = [f"--repeats={options.repeats}", f"--sources={options.sources}", "--kernels", *options.kernels]
    if options.strategy:
        shared.append(f"--strategy={options.strategy}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        graph = CLASSES[name](options.scale, options.edge_factor)
        graph.save(folder / "graph.npz")
        if gapbs.folder():
            gapbs.convert(graph, folder)
        drawn = {"class": name, "scale": options.scale, "vertices": graph.n, "edges": graph.source.size}
        del graph
        for ranks, threads in dict.fromkeys([(1, options.threads), (1, 1), (options.threads, 1)]):
            print(f"\n== {name}, {ranks} ranks x {threads} threads", flush=True)
            command = [*launcher(ranks), sys.executable, script, place, f"--threads={threads}", *shared]
            command += ["--peers"] if not rows else []
            subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": str(threads)})
            rows += [drawn | found for found in json.loads((folder / "rows.json").read_text())]
    return rows


def cells(rows: Rows) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Return the seconds of every side, by class and kernel."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for one in rows:
        found.setdefault((one["class"], one["kernel"]), {})[one["side"]] = one["seconds"]
    return found


def ratio(sides: dict[str, list[float]]) -> float:
    """Return gaslab's seconds on 1 x T over those of GAPBS or, without it, of the fastest peer, if any."""
    ours = max(side for side in sides if side.startswith("gaslab 1 x"))
    peers = {side: min(sides[side]) for side in PEERS if side in sides}
    return min(sides[ours]) / peers.get("GAPBS", min(peers.values(), default=math.nan))


def table(rows: Rows) -> str:
    """Return the figures as a table in Markdown, with the geometric mean of the ratios."""
    found = cells(rows)
    present = {one["side"] for one in rows}
    columns = sorted(present - set(PEERS)) + [side for side in PEERS if side in present]
    against = "GAPBS" if "GAPBS" in present else "the fastest peer"
    titles = [title(side, present) for side in columns]
    lines = [row("graph", "kernel", *titles, f"ratio to {against}"), row(*["---"] * (len(titles) + 3))]
    for (name, kernel), sides in found.items():
        times = [seconds(sides.get(side)) for side in columns]
        lines.append(row(name, KERNELS[kernel], *times, f"{ratio(sides):.2f}"))
    six = [ratio(sides) for (_, kernel), sides in found.items() if kernel != "pagerank32"]
    logs = [math.log(one) for one in six if not math.isnan(one)]
    if logs:
        mean = math.exp(sum(logs) / len(logs))
        lines.append(f"\nGeometric mean of the {len(logs)} ratios, PageRank in float64: {mean:.2f}")
    return "\n".join(lines)


def title(side: str, present: set[str]) -> str:
    """Return the head of a column: of a peer with the threads that it has."""
    if side not in PEERS:
        return side
    threads = max(one for one in present if one.startswith("gaslab 1 x")).split()[-1]
    return f"{side}, {threads} threads" if side in THREADED else f"{side}, 1 thread"


def seconds(runs: list[float] | None) -> str:
    """Return a cell of the table: the best run, with a star where a run takes long."""
    return f"{min(runs):.3g}{'*' if min(runs) > LONG else ''}" if runs else ""


def main() -> None:
    options = arguments()
    rows: Rows = []
    for file in options.rows or []:
        rows += json.loads(file.read_text())
    for name in [] if options.rows else options.classes:
        rows += measured(name, options)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
    deltas = [f"{one['class']} {one['delta']}" for one in rows if "delta" in one]
    print(f"\n{table(rows)}\n\n{NOTES} {', '.join(deltas) or 'not here'}.")
    if options.picture and installed("matplotlib"):
        draw({cell: ratio(sides) for cell, sides in cells(rows).items()}, options.picture)


if __name__ == "__main__":
    main()
