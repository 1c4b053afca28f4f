"""One run from the command line: read the graph, run, write, report."""

from __future__ import annotations

import csv
import logging
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from numbers import Real
from pathlib import Path
from typing import Any

from gaslab._kernels import parser
from gaslab.cancellation import TimeLeft
from gaslab.checkpoint.folder import check_folder
from gaslab.checkpoint.loader import newest
from gaslab.checkpoint.settings import recovery
from gaslab.cli import option
from gaslab.cli.arguments import chosen_engine
from gaslab.cli.codes import DONE, NOT_CONVERGED
from gaslab.cli.destinations import check_fields, destinations
from gaslab.cli.preview import show, with_sides
from gaslab.cli.report import describe, document, write_json
from gaslab.cli.streams import say
from gaslab.engine.observe.progress import LINES
from gaslab.errors import InputError, UsageError, VertexNotFound, nearest
from gaslab.graph.corpus import read_corpus
from gaslab.graph.graph import Graph
from gaslab.graph.reading import read_graph
from gaslab.ingest.sidefile import side_file
from gaslab.ingest.sides import SIDES
from gaslab.ingest.tablefile import BINARY
from gaslab.parallel.comm import Comm, world
from gaslab.programs._arguments import RECOVERY
from gaslab.results.result import Result
from gaslab.results.writers import write_table

log = logging.getLogger("gaslab")

SHOWN_BY_DEFAULT = 10
Style = str | Callable[[Graph, Result, int], list[str]]  # what `show` knows, or the lines of so many rows


class Job:
    """What the commands that run a program have in common; all methods are collective."""

    def __init__(
        self, arguments: Any, reading: dict[str, Any], known: Iterable[str], corpus: bool = False
    ) -> None:
        """Check the outputs and ``--fields``, of which *known* are all that there may be; read the input."""
        self.arguments = arguments
        self.comm = world()
        check_fields(arguments, known)
        self.engine = chosen_engine(arguments)
        self.outputs = destinations(self.comm, arguments)
        self.target = self.outputs.output
        check_recovery(self.comm, arguments)
        self.graph = read(arguments, reading, corpus)

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of `gaslab.run` that the options mean."""
        arguments = self.arguments
        options: dict[str, Any] = {
            "engine": self.engine,
            "threads": arguments.threads,
            "seed": arguments.seed,
            "compile": arguments.compile,
            "progress": False if arguments.quiet else sys.stderr.isatty() or LINES,
            "on": "local",
        }
        for name in ("max_iterations", "precision", "timeline", *RECOVERY):
            if getattr(arguments, name, None) is not None:  # a command has those that it takes
                options[name] = getattr(arguments, name)
        if getattr(arguments, "init", None):
            options["init"] = {x: _initial(x, file, self.graph) for x, file in arguments.init}
        if arguments.timeout is not None:
            left = self.comm.bcast(max(arguments.timeout - (time.perf_counter() - arguments.began), 0.0))
            options["timeout"] = TimeLeft(left, arguments.timeout)
        return options

    def finish(self, result: Result, fields: list[str], style: Style, count: int = SHOWN_BY_DEFAULT) -> int:
        """Show and write the answer, report the run, and return the exit code.

        In a bipartite graph the sides of the vertices that a field names follow it, or stand where *fields*
        has them.
        Without ``--top``, and where nothing is written, *count* rows are shown.
        """
        arguments, graph = self.arguments, self.graph
        for name in fields:
            if name not in result.vertices:
                raise UsageError(f"there is no vertex field {name!r}{nearest(name, result.vertices.columns)}")
        answer = result.vertices.select(*with_sides(result.vertices, fields)).in_words()
        describe(arguments.command, graph, result)
        left_out = result.edge_fields
        if self.target is not None and left_out and self.comm.rank == 0:
            log.info(
                "left out of %s: edge field%s %s; result.save(FILE, edges=True) writes them from Python",
                self.target.path, "s" * (len(left_out) != 1), ", ".join(left_out),
            )  # fmt: skip
        written = self.target or arguments.json or self.outputs.tables or self.outputs.report
        top = arguments.top or (0 if written else count)
        if top:
            known = {**result.metrics.get("answer", {}), **result.metrics.get("figures", {})}
            figures = [f"{name}: {value:.6g}" for name, value in known.items() if isinstance(value, Real)]
            lines = style(graph, result, top) if callable(style) else show(style, graph, answer, top)
            say(self.comm, [*figures, *lines])
        if self.target is not None:
            write_table(self.comm, self.target, answer, graph.num_vertices)
            self._report_written(self.target.path, f"{graph.num_vertices:,} rows")
        for name, target in self.outputs.tables.items():
            table = result.tables[name]
            write_table(self.comm, target, table, graph.num_vertices)
            self._report_written(target.path, f"{int(self.comm.allreduce(len(table))):,} rows")
        if self.outputs.report is not None:
            from gaslab.topics.report.write import write_page

            write_page(self.outputs.report, graph, result, coherence=result.metrics["coherence_by_topic"])
            self._report_written(self.outputs.report.path, "a page of the topics")
        json = self.outputs.json
        if json is not None:
            report = document(arguments, graph, result)
            self.comm.on_root(lambda: write_json(json, report))
            self._report_written(json.path, "the report")
        required = getattr(arguments, "require_converged", False)
        return NOT_CONVERGED if required and not result.converged else DONE

    def _report_written(self, path: Path, what: str) -> None:
        if self.comm.rank == 0:
            log.info("wrote %s (%s)", path, what)


def check_recovery(comm: Comm, arguments: Any) -> None:
    """Raise UsageError or InputError where the run cannot be saved or resumed as asked (collective)."""
    with option.named():
        settings = recovery(*(getattr(arguments, name) for name in RECOVERY))
    if settings is None:
        return
    if (folder := settings.folder) is not None:
        with option.named():
            comm.on_root(lambda: check_folder(folder, settings.in_place))
    if settings.resume is not None:
        newest(comm, settings)


def read(arguments: Any, reading: dict[str, Any], corpus: bool = False) -> Graph:
    """Read the input files, as a graph or as a corpus, and say what is in them (collective)."""
    paths = arguments.input[0] if len(arguments.input) == 1 else arguments.input
    reader = read_corpus if corpus else read_graph
    graph = reader(paths, strategy=getattr(arguments, "strategy", None), **reading)
    if getattr(arguments, "vertices", None):
        graph = graph.with_vertices(arguments.vertices)
    if graph.comm.rank == 0:
        kind = "directed" if graph.directed else "undirected"
        if graph.ids.num_left is not None:
            kind += f", bipartite with {graph.ids.num_left:,} on the left"
        sizes = f"{graph.num_vertices:,} vertices, {graph.num_edges:,} edges"
        log.info("%s: %s, %s", graph.source, sizes, kind)
        rejected = graph.counts.get("lines_rejected", 0)
        if rejected:
            log.warning("warning: %s bad line%s skipped", f"{rejected:,}", "s" * (rejected != 1))
    return graph


def vertex_id(word: str, graph: Graph) -> Any:
    """Return the vertex id that *word* on the command line means: a number where ids are numbers."""
    try:
        return graph.ids.from_text(word)
    except VertexNotFound:
        raise UsageError(f"{word!r} is not a vertex id: the ids of this graph are integers") from None


def _initial(field: str, path: str, graph: Graph) -> Any:
    """Return what ``--init FIELD=FILE`` says: the file itself where it has such a column (collective)."""

    def names_field() -> bool:
        if path.endswith(BINARY):
            return True
        with side_file(path) as (_, file):
            first = next((line.strip() for line in file if line.strip()), "")
        names = re.split("[,\t]", first)
        return names[0] == "id" and any(name.partition("[")[0] == field for name in names[1:])

    by_name = graph.comm.on_root(names_field)
    return path if by_name else read_values(path, graph, start=True)


def read_values(
    path: str, graph: Graph, default: float | None = None, start: bool = False
) -> dict[Any, float]:
    """Return ``{vertex id: value}`` from a text file with the id first and the value last (collective).

    A line with an id alone has the value *default*; without one it is an error. *start*: of ``--init``.
    """

    def load() -> dict[Any, float]:
        return {
            vertex: default if not words and default is not None else _number(words[-1], where, start)
            for where, vertex, words in _rows(path, graph, default is None)
        }

    found: dict[Any, float] = graph.comm.on_root(load)
    return found


def read_rows(path: str, graph: Graph) -> dict[Any, list[float]]:
    """Return ``{vertex id: [values]}`` from a text file, id first; rows of one length (collective)."""

    def load() -> dict[Any, list[float]]:
        found: dict[Any, list[float]] = {}
        width = 0
        for where, vertex, words in _rows(path, graph, True):
            width = width or len(words)
            if len(words) != width:
                raise InputError(f"{where}: {len(words)} values after the id, {width} before")
            found[vertex] = [_number(word, where) for word in words]
        return found

    rows: dict[Any, list[float]] = graph.comm.on_root(load)
    return rows


def _rows(path: str, graph: Graph, needed: bool) -> Iterator[tuple[str, Any, list[str]]]:
    """Yield place, vertex and the words after it; *needed*: a line without any is an error."""
    delimiter = "," if path.removesuffix(".gz").endswith(".csv") else "\t"
    with side_file(path) as (_, file):
        above = False  # whether an earlier line was neither blank nor a comment
        for number, line in enumerate(file, 1):
            text, where = line.strip(), f"{path}, line {number}"
            if not text or text[0] in "#%":
                continue
            heads, above = not above and delimiter == "," and text.startswith("id,"), True
            if heads:
                continue
            words = next(csv.reader([text], delimiter=delimiter)) if delimiter in text else text.split()
            if len(words) == 1 and needed:
                raise InputError(f"{where}: {text!r} has an id but no value")
            sided = graph.ids.num_left is not None and len(words) > 2
            yield where, _vertex(words, graph, where), words[2 if sided else 1 :]


def _number(word: str, where: str, start: bool = False) -> float:
    if not parser.is_number(word.encode("utf-8", "replace")):
        other = "; fields of vertex ids or lists start from a result in Python: gl.run(..., init=result)"
        raise InputError(f"{where}: {word!r} is not a number; id first, value last{other * start}")
    return float(word)


def _vertex(words: list[str], graph: Graph, where: str) -> Any:
    """Return the vertex that a line of values is of: its first word, of the side that is the second."""
    if graph.ids.num_left is None or len(words) < 3:
        return vertex_id(words[0], graph)
    if words[1] not in ("0", "1"):
        raise InputError(f"{where}: {words[1]!r} is not a side; write id, side (0 or 1), value")
    return vertex_id(f"{SIDES[int(words[1])]}:{words[0]}", graph)
