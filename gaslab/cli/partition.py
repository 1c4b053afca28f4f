"""``gaslab partition``: vertex-cuts into any number of parts, compared or written."""

from __future__ import annotations

import time
from typing import Any

from gaslab.cli import option
from gaslab.cli.arguments import Parser, add_input, add_report, add_strategy
from gaslab.cli.codes import DONE
from gaslab.cli.destinations import destinations
from gaslab.cli.edgelists import ends, read, report_written
from gaslab.cli.report import duration, write_json
from gaslab.cli.streams import say
from gaslab.errors import UsageError
from gaslab.parallel.comm import world
from gaslab.results.writers import write_rows


def parser(name: str) -> Parser:
    """Return the parser of ``partition``."""
    made = Parser(
        name,
        "GRAPH... -k K",
        "Cut a graph by vertices into k parts, whatever the number of ranks, and say how good the cut is:\n"
        "RF, the parts that hold a vertex, on average; EB and VB, edges and vertices of the fullest part\n"
        "over the mean.",
    )
    add_input(made)
    made.add_argument("-k", "--parts", type=option.at_least(1), required=True, metavar="K",
                      help="number of parts")  # fmt: skip
    add_strategy(made, " (default: compare all)")
    add_report(made, output=True)
    return made


def execute(arguments: Any) -> int:
    """Cut the graph by one strategy or by all, and print how good each cut is."""
    from gaslab.partitioning.cut import cut
    from gaslab.partitioning.strategies import STRATEGIES, find

    comm = world()
    names = [find(arguments.strategy)[0]] if arguments.strategy else list(STRATEGIES)
    outputs = destinations(comm, arguments)
    target = outputs.output
    if target is not None and len(names) > 1:
        raise UsageError("--output writes one cut; name it with --strategy")
    edges = read(arguments, columns=[])
    rows: list[tuple[str, ...]] = [("strategy", "RF", "EB", "VB", "time")]
    figures: list[dict[str, Any]] = []
    for name in names:
        began = time.perf_counter()
        made = cut(edges, arguments.parts, name, comm)
        took = time.perf_counter() - began
        m = made.metrics
        quality = (m.replication_factor, m.edge_balance, m.vertex_balance)
        rows.append((name, *(f"{value:.2f}" for value in quality), duration(took)))
        keys = ("replication_factor", "edge_balance", "vertex_balance")
        figures.append({"strategy": name, **dict(zip(keys, quality, strict=True)), "seconds": took})
    say(comm, _table(rows))
    if target is not None:
        write_rows(comm, target, {**ends(edges, relabel=False), "part": made.part})
        report_written(comm, target, edges)
    if outputs.json is not None:
        json = outputs.json
        report = {
            "schema_version": 1,
            "command": "partition",
            "parts": arguments.parts,
            "input": edges.source,
            "input_fingerprint": edges.fingerprint,
            "cuts": figures,
        }
        comm.on_root(lambda: write_json(json, report))
    return DONE


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    """Return rows as aligned lines, the first column to the left."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = []
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]))
    return lines
