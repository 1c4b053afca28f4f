"""Graphs that are saved and loaded in tests, on thread ranks or on ranks that a host runs."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gaslab.graph.graph import Graph
from gaslab.graph.reading import load_graph
from gaslab.parallel.comm import Comm


@contextmanager
def folder(comm: Comm) -> Iterator[Path]:
    """Give all ranks one empty folder, and delete it."""
    made = comm.on_root(tempfile.mkdtemp)
    try:
        yield Path(made)
    finally:
        comm.barrier()
        if comm.rank == 0:
            shutil.rmtree(made)


def reloaded(graph: Graph) -> Graph:
    """Return the graph after a way through a folder, which is gone (collective)."""
    with folder(graph.comm) as place:
        graph.save(place / "graph")
        return load_graph(place / "graph", comm=graph.comm)


def kinds(comm: Comm) -> dict[str, Graph]:
    """Return a graph of each kind (collective)."""
    rng = np.random.default_rng(7)
    src, dst = rng.integers(0, 60, 400), rng.integers(0, 60, 400)
    names = np.array([f"n{k}é" * (1 + k % 3) for k in range(60)], object)
    weight = rng.random(400)
    lists = [list(range(k % 4)) for k in range(400)]
    columns = {"weight": weight, "is it/so": weight > 0.5, "small": src.astype("i1"),
               "pair": np.stack([weight, -weight], 1), "some": lists}  # fmt: skip
    make: dict[str, Callable[[], Graph]] = {
        "numbered": lambda: Graph.from_edges(src, dst, vertices=range(60), comm=comm),
        "sparse and negative": lambda: Graph.from_edges(src * 7 - 99, dst * 7 - 99, comm=comm),
        "text": lambda: Graph.from_edges(names[src], names[dst], vertices=["alone", "~"], comm=comm),
        "undirected": lambda: Graph.from_edges(src, dst, directed=False, comm=comm),
        "columns": lambda: Graph.from_edges(src, dst, columns=columns, comm=comm).with_degrees(),
        "two sides": lambda: Graph.from_edges(src, names[dst], bipartite=True, directed=False, comm=comm),
        "cut out": lambda: Graph.from_edges(names[src], dst, bipartite=True, comm=comm).subgraph(many),
        "without edges": lambda: Graph.from_edges([], [], vertices=[3, 5], comm=comm),
        "empty": lambda: Graph.from_edges([], [], comm=comm),
    }  # fmt: skip
    return {name: one() for name, one in make.items()}


def many(v: Any) -> bool:
    return bool(v.in_degree > 5 or v.out_degree > 5)
