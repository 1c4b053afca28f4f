"""``gaslab partition``: vertex-cuts into any number of parts, judged, compared, shown or written."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gaslab.cli import option
from gaslab.cli.arguments import Parser, add_input, add_report, add_strategy, strategy_name
from gaslab.cli.codes import DONE
from gaslab.cli.destinations import destinations
from gaslab.cli.edgelists import read, report_written
from gaslab.cli.report import duration, write_json
from gaslab.cli.streams import say
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm, world

if TYPE_CHECKING:
    from gaslab.cuts.report import Content
    from gaslab.ingest.edges import EdgeList
    from gaslab.partitioning.baseline import Baseline
    from gaslab.partitioning.census import Census
    from gaslab.partitioning.cut import Cut
    from gaslab.partitioning.metrics import Cost, PartitionMetrics
    from gaslab.system.outputs import Output

log = logging.getLogger("gaslab")
MOST_SAVED = 1024  # parts of a graph that are built at once


def parser(name: str) -> Parser:
    """Return the parser of ``partition``."""
    made = Parser(
        name,
        "GRAPH... -k K",
        "Cut a graph by vertices into k parts, whatever the number of ranks, and say how good the cut is:\n"
        "RF, the parts that hold a vertex, on average; EB and VB, edges and vertices of the fullest part\n"
        "over the mean. docs/partitioning.md says what the other figures are.",
    )
    add_input(made)
    made.add_argument("-k", "--parts", type=option.at_least(1), required=True, metavar="K",
                      help="number of parts")  # fmt: skip
    which = made.add_mutually_exclusive_group()
    add_strategy(which, "")
    which.add_argument("--compare", type=_names, metavar="all|A,B",
                       help="a table of several strategies (default: all)")  # fmt: skip
    option.whole(made, "--refine", "N", "refinement passes after the strategy (0)", least=0)
    cost = made.add_argument_group("prediction")
    option.whole(cost, "--bytes-per-replica", "N", "size of one vertex value (8)", least=0)
    option.number(cost, "--bandwidth", "B", "bytes per second into or out of a part (1e9)", least=1.0)
    add_report(made, output=True, help="NAME.tsv, .csv (.gz), .parquet: one file; DIR/: a file per part")
    option.text(made, "--save", "DIR", "save the graph with this cut, for commands to start from")
    option.text(made, "--masters", "FILE", "write the table of vertices: master, replicas, parts")
    option.text(made, "--report", "DIR", "write a page with pictures (needs matplotlib)")
    made.set_defaults(tables=("masters",))
    return made


def _names(words: str) -> list[str]:
    """Argparse type: some strategies by name, or none for all; a comma may be between options of one, too."""
    if words == "all":
        return []  # not None, which argparse takes for an option that was not given
    return list(dict.fromkeys(strategy_name(word) for word in re.split(r",(?!\w+=)", words)))


def execute(arguments: Any) -> int:
    """Cut the graph by one strategy or by several, and say how good each cut is."""
    from gaslab.cuts.figures import figures_of
    from gaslab.cuts.files import check_columns, write_cut, write_vertices
    from gaslab.partitioning.cut import baseline_of
    from gaslab.partitioning.strategies import STRATEGIES, needs_options, with_passes
    from gaslab.system.extras import need_matplotlib

    comm = world()
    one = arguments.strategy is not None
    every = [name for name in STRATEGIES if name != "auto" and not needs_options(name)]  # auto is one of them
    asked = [arguments.strategy] if one else arguments.compare or every
    names = [with_passes(name, arguments.refine or 0) for name in asked]
    outputs = destinations(comm, arguments)
    target, vertices = outputs.output, outputs.tables.get("masters")
    for option_name, asked in (("--output", target), ("--masters", vertices), ("--save", outputs.save)):
        if asked is not None and len(names) > 1:
            raise UsageError(f"{option_name} writes one cut; name it with --strategy")
    if vertices is not None and vertices.directory:
        raise UsageError("--masters writes one file; --output DIR/ has a table of the vertices as well")
    if outputs.report is not None:
        comm.on_root(lambda: need_matplotlib("--report"))

    if outputs.save is not None and arguments.parts > MOST_SAVED:
        raise UsageError(f"--save writes up to {MOST_SAVED:,} parts, and -k asks for {arguments.parts:,}")
    edges = read(arguments, columns=[] if target is None and outputs.save is None else None)
    if target is not None:
        check_columns(edges.columns)
    baseline = baseline_of(edges, comm)
    judge = _Judge(edges, baseline, arguments, comm)
    cuts: dict[str, tuple[Census, Cost]] = {}
    used: dict[str, str] = {}  # what `auto` chose, else the same name
    for name in names:
        made = judge.cut(name, skip=not one and not arguments.compare)
        if made is not None:  # the parts of one cut alone are kept: they are as many as edges
            cuts[name], used[name] = (made.census, made.cost), made.strategy
    judged = {name: judge.metrics(*counted) for name, counted in cuts.items()}
    if one:
        name = names[0]
        said = name if used[name] == name else f"{used[name]} (chosen by {name})"
        say(comm, _listed({"strategy": said, **figures_of(judged[name])}))
    else:
        say(comm, _table(judged))
    if outputs.report is not None:
        from gaslab.cuts.report import write_page

        page, content = outputs.report, _content(judge, cuts, judged)
        comm.on_root(lambda: write_page(page, content), long_running=True)
        log.info("wrote %s", page.path)
    if target is not None:
        assert made is not None
        write_cut(comm, target, edges, made)
        report_written(comm, target, edges)
    if vertices is not None:
        assert made is not None
        write_vertices(comm, vertices, edges, made)
    if outputs.save is not None:
        assert made is not None
        _save(comm, outputs.save, edges, made)
    if outputs.json is not None:
        json, report = outputs.json, _document(arguments, edges, judged, used, comm)
        comm.on_root(lambda: write_json(json, report))
    return DONE


def _save(comm: Comm, folder: Output, edges: EdgeList, made: Cut) -> None:
    """Write the graph, cut so, into a folder (collective)."""
    from gaslab.storage.manifest import manifest_of
    from gaslab.storage.write import parts_of_cut, save

    parts = parts_of_cut(comm, edges, made.part, made.k)
    save(comm, folder, manifest_of(edges, made.strategy), edges.ids, parts, made.k)
    if comm.rank == 0:
        log.info("wrote %s (%d part%s by %s)", folder.path, made.k, "s" * (made.k != 1), made.strategy)


class _Judge:
    """Cuts one graph by several strategies and into several numbers of parts (collective)."""

    def __init__(self, edges: EdgeList, baseline: Baseline, arguments: Any, comm: Comm) -> None:
        self.edges, self.baseline, self.comm = edges, baseline, comm
        self.k, self._arguments = arguments.parts, arguments
        self._random: tuple[Census, Cost] | None = None

    def cut(self, name: str, k: int | None = None, skip: bool = False) -> Cut | None:
        """Return a cut; with *skip* None, and a word, where a strategy of gaslab's own cannot make it."""
        from gaslab.partitioning.cut import cut
        from gaslab.partitioning.strategies import is_shipped
        from gaslab.system.extras import MissingPackage

        try:
            made = cut(self.edges, k or self.k, name, self.comm, self.baseline)
        except UsageError as error:  # which all ranks have: of a user's strategy, perhaps only some
            if not skip or not is_shipped(name):
                raise
            if isinstance(error, MissingPackage):
                log.info("%s is left out: %s", name, error)
            else:
                log.warning("warning: %s is left out: %s", name, error)
            return None
        if name == "random" and made.k == self.k:
            self._random = made.census, made.cost
        return made

    def metrics(self, census: Census, cost: Cost) -> PartitionMetrics:
        """Return the figures of a cut into as many parts as were asked for."""
        from gaslab.partitioning.metrics import BANDWIDTH, VALUE_BYTES, PartitionMetrics

        if self._random is None:
            self.cut("random")
        asked = self._arguments
        assert self._random is not None
        size = VALUE_BYTES if asked.bytes_per_replica is None else asked.bytes_per_replica
        return PartitionMetrics.judge(
            census, cost, self._random, self.baseline, size, asked.bandwidth or BANDWIDTH
        )  # fmt: skip


def _content(
    judge: _Judge, cuts: Mapping[str, tuple[Census, Cost]], judged: Mapping[str, PartitionMetrics]
) -> Content:
    """Return what the page shows (collective)."""
    from gaslab.cuts.report import Content, sweep
    from gaslab.partitioning.baseline import grid_bound
    from gaslab.partitioning.strategies import needs_options

    edges, ks = judge.edges, sweep(judge.k)
    by_k = {}
    for name, metrics in judged.items():
        others = () if needs_options(name) else ks[:-1]  # what is in a file is one cut
        made = [(k, judge.cut(name, k)) for k in others]
        by_k[name] = [(k, one.metrics.replication_factor) for k, one in made if one is not None]
        by_k[name].append((judge.k, metrics.replication_factor))
    facts = {
        "vertices": f"{edges.num_vertices:,}",
        "edges": f"{edges.counts['edges']:,}",
        "direction": "directed" if edges.directed else "undirected",
        "parts": f"{judge.k:,}",
        "ranks": f"{judge.comm.size:,}",
    }
    return Content(
        source=edges.source,
        facts=facts,
        cuts={name: (census, judged[name]) for name, (census, _) in cuts.items()},
        by_k=by_k,
        expected=[(k, judge.baseline.random_replication_factor(k)) for k in ks],
        bound=[(k, grid_bound(k)) for k in ks],
    )


def _document(
    arguments: Any, edges: EdgeList, judged: Mapping[str, PartitionMetrics], used: Mapping[str, str],
    comm: Comm,
) -> dict[str, Any]:  # fmt: skip
    cuts = [
        {"strategy": used[name], "strategy_chosen_by": None if used[name] == name else name, **asdict(one)}
        for name, one in judged.items()
    ]
    return {
        "schema_version": 1,
        "command": "partition",
        "parts": arguments.parts,
        "input": edges.source,
        "input_fingerprint": edges.fingerprint,
        "vertices": edges.num_vertices,
        "edges": edges.counts["edges"],
        "ranks": comm.size,
        "cuts": cuts,
    }


def _listed(figures: Mapping[str, str]) -> list[str]:
    """Return figures as lines, the names to the left."""
    width = max(map(len, figures))
    return [f"{name.ljust(width)}  {value}" for name, value in figures.items()]


def _table(judged: Mapping[str, PartitionMetrics]) -> list[str]:
    """Return an aligned table of the main figures, a line per strategy."""
    from gaslab.cuts.figures import FIGURES

    columns = {
        "RF": "replication factor (RF)",
        "EB": "edge balance (EB)",
        "VB": "vertex balance (VB)",
        "sent": "sent in a superstep",
        "busiest": "by or to the busiest part",
        "pays after": "pays against random after",
    }
    rows = [("strategy", *columns, "time")]
    for name, m in judged.items():
        rows.append((name, *(FIGURES[figure](m) for figure in columns.values()), duration(m.seconds)))
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = []
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]))
    return lines
