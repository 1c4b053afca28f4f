"""RF / EB / VB of each strategy, and how many million edges it places in a second.

    python benchmarks/cutting.py --parts 32 --data DIR
    python benchmarks/cutting.py --parts 256 --strategies hdrf,hdrf:balance=2

On an R-MAT graph, two social networks (below --data) and a grid: a table in Markdown.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np

import gaslab as gl
from common import data_file, parser, rmat, row
from gaslab.cuts.partition import edges_of
from gaslab.partitioning.cut import baseline_of, cut
from gaslab.partitioning.strategies import SHIPPED, needs_options

SIDE = 1000  # of the grid
FILES = ("soc-Epinions1.undirected.txt", "wiki-Vote.txt")


def main() -> None:
    made = parser(__doc__)
    made.set_defaults(repeats=3)
    made.add_argument("--parts", type=int, default=32)
    made.add_argument("--strategies", default=",".join(_names()), help="with a comma between them")
    options = made.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    cells: dict[str, list[str]] = {name: [] for name in re.split(r",(?!\w+=)", options.strategies)}
    heads = ["strategy"]
    for head, graph in graphs(options):
        heads.append(f"{head}: RF / EB / VB, M edges/s")
        edges, baseline = edges_of(graph), baseline_of(edges_of(graph), graph.comm)
        for name, made_of in cells.items():
            cuts = [cut(edges, options.parts, name, baseline=baseline) for _ in range(options.repeats)]
            figures, best = cuts[0].metrics, min(one.cost.seconds for one in cuts)
            made_of.append(
                f"{figures.replication_factor:.2f} / {figures.edge_balance:.2f} / "
                f"{figures.vertex_balance:.2f}, {cuts[0].census.edges.sum() / best / 1e6:.1f}"
            )
    if graph.comm.rank == 0:
        print(row(*heads), row(*["---"] * len(heads)), sep="\n")
        for name, made_of in cells.items():
            print(row(f"`{name}`", *made_of))


def _names() -> list[str]:
    """All strategies that can be tried here."""
    lacking = () if find_spec("pymetis") else ("metis",)
    return [name for name in SHIPPED if name not in lacking and not needs_options(name)]


def graphs(options: argparse.Namespace) -> Iterator[tuple[str, gl.Graph]]:
    """The graphs, one after another."""
    yield f"R-MAT {options.scale}", rmat(options)
    for name in FILES:
        path = data_file(options.data, name)
        if path is not None:
            yield name.partition(".")[0], gl.read_graph(path)
    at = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    src = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    dst = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])
    yield f"grid {SIDE} x {SIDE}", gl.Graph.from_edges(src, dst)


if __name__ == "__main__":
    main()
