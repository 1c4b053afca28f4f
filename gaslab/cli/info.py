"""``gaslab info``: describe a graph, and how it lies on the ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

import gaslab as gl
from gaslab.cli.arguments import Parser, add_input, add_report, add_strategy, read_options
from gaslab.cli.codes import DONE
from gaslab.cli.destinations import destinations
from gaslab.cli.report import document, write_json
from gaslab.cli.streams import say
from gaslab.parallel.comm import Comm, world
from gaslab.system.memory import human

BAR = 40  # characters of the longest bar


def parser(name: str) -> Parser:
    """Return the parser of ``info``."""
    made = Parser(
        name,
        "GRAPH...",
        "Describe a graph: vertices, edges, columns, degrees, and its cut over the ranks.",
    )
    add_input(made)
    add_strategy(made)
    add_report(made)
    return made


def execute(arguments: Any) -> int:
    """Read the graph and print its facts."""
    from gaslab.cli.job import read

    comm = world()
    json = destinations(comm, arguments).json
    graph = read(arguments, read_options(arguments))
    lines = _facts(graph)
    width = max(len(name) for name, _ in lines)
    say(comm, [f"{name:{width}}  {text}".rstrip() for name, text in lines])
    if json is not None:
        report = document(arguments, graph, None)
        report["counts"] = graph.counts
        comm.on_root(lambda: write_json(json, report))
    return DONE


def _facts(graph: gl.Graph) -> list[tuple[str, str]]:
    """Return what is known of a graph, as (name, text) (collective)."""
    comm, local = graph.comm, graph.local
    kinds = {"int": "integers", "str": "text", "object": "objects"}
    facts = [
        ("vertices", f"{graph.num_vertices:,}  (ids: {kinds[graph.ids.kind]})"),
        ("edges", f"{graph.num_edges:,}  ({'directed' if graph.directed else 'undirected'})"),
    ]
    if graph.ids.num_left is not None:
        left = graph.ids.num_left
        facts.insert(1, ("sides", f"{left:,} left, {graph.num_vertices - left:,} right"))
    said = {"self_loops": "self-loops", "duplicates": "duplicates", "lines_rejected": "bad lines"}
    facts += [(said[name], f"{graph.counts[name]:,}") for name in said if name in graph.counts]
    for name, values in graph.edge_columns.items():
        low, high = _range(comm, values)
        facts.append((f"column {name}", f"{values.dtype}, {low:g} to {high:g}"))
    masters = slice(0, local.num_masters)
    ends = {"in-degree": local.in_degree, "out-degree": local.out_degree} if graph.directed else {}
    for name, degrees in {**ends, "degree": local.degree}.items():
        largest = int(comm.allreduce(int(degrees[masters].max(initial=0)), "max"))
        mean = comm.allreduce(int(degrees[masters].sum())) / max(graph.num_vertices, 1)
        facts.append((name, f"mean {mean:.1f}, largest {largest:,}"))
    facts += _histogram(comm, local.degree[masters])
    memory = comm.allreduce(graph.memory_bytes())
    facts.append(("memory", f"{human(memory)}, {memory / max(graph.num_edges, 1):.1f} bytes an edge"))
    if comm.size > 1:
        facts.append(("cut", f"{graph.cut_by} over {comm.size} ranks: RF {graph.replication_factor:.2f}, "
                             f"EB {graph.edge_balance:.2f}, VB {graph.vertex_balance:.2f}"))  # fmt: skip
    facts.append(("fingerprint", graph.fingerprint))
    return facts


def _range(comm: Comm, values: np.ndarray) -> tuple[float, float]:
    numbers = values.astype(np.float64)
    low = comm.allreduce(float(numbers.min(initial=np.inf)), "min")
    return float(low), float(comm.allreduce(float(numbers.max(initial=-np.inf)), "max"))


def _histogram(comm: Comm, degrees: np.ndarray) -> list[tuple[str, str]]:
    """Return vertices by degree, in bins that double, with bars."""
    bins = np.zeros(65, np.int64)
    exponent = np.where(degrees > 0, np.frexp(degrees.astype(np.float64))[1], 0)
    bins += np.bincount(exponent, minlength=bins.size)
    counts = comm.allreduce(bins)
    last = int(np.flatnonzero(counts)[-1]) if counts.any() else -1
    rows = []
    for k, count in enumerate(counts[: last + 1].tolist()):
        if k == 0 and count == 0:
            continue
        lo, hi = (0, 0) if k == 0 else (1 << (k - 1), (1 << k) - 1)
        label = f"{lo:,}" if lo == hi else f"{lo:,}-{hi:,}"
        bar = "█" * round(BAR * count / int(counts.max()))
        rows.append((f"  {label}", f"{count:>{len(f'{int(counts.max()):,}')},} {bar}"))
    return rows
