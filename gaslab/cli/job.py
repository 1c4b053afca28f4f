"""One run from the command line: read the graph, run, write, report."""

from __future__ import annotations

import csv
import gzip
import logging
import sys
import time
from pathlib import Path
from typing import Any

from gaslab.cli import DONE, NOT_CONVERGED
from gaslab.cli.report import describe, document, write_json
from gaslab.cli.show import show
from gaslab.comm import world
from gaslab.errors import InputError, UsageError, VertexNotFound, nearest
from gaslab.graph import Graph
from gaslab.ingest.sides import SIDES
from gaslab.reading import read_graph
from gaslab.result import Result
from gaslab.writers import Target, check_text, write_table

log = logging.getLogger("gaslab")

SHOWN_BY_DEFAULT = 10


class Job:
    """What the commands that run a program have in common; all methods are collective."""

    def __init__(self, arguments: Any, reading: dict[str, Any]) -> None:
        """Check the outputs, then read the graph."""
        self.arguments = arguments
        self.comm = world()
        self.target = Target(arguments.output, arguments.force) if arguments.output else None
        self.comm.on_root(self._check_outputs)
        self.graph = read(arguments, reading)

    def _check_outputs(self) -> None:
        if self.target is not None:
            self.target.check()
        if self.arguments.json:
            check_text(self.arguments.json, self.arguments.force)

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of `gaslab.run` that the options mean."""
        arguments = self.arguments
        options: dict[str, Any] = {
            "engine": arguments.engine,
            "threads": arguments.threads,
            "seed": arguments.seed,
            "compile": arguments.compile,
            "progress": sys.stderr.isatty() and not arguments.quiet,
            "on": "local",
        }
        if arguments.max_iterations is not None:
            options["max_iterations"] = arguments.max_iterations
        if arguments.init:
            options["init"] = {field: read_values(file, self.graph) for field, file in arguments.init}
        if arguments.timeout is not None:
            options["timeout"] = max(arguments.timeout - (time.perf_counter() - arguments.began), 0.0)
        return options

    def finish(self, result: Result, fields: list[str], style: str) -> int:
        """Show and write the answer, report the run, and return the exit code."""
        arguments, graph = self.arguments, self.graph
        for name in fields:
            if name not in result.vertices:
                raise UsageError(f"there is no vertex field {name!r}{nearest(name, result.vertices.columns)}")
        answer = result.vertices.select(*fields)
        describe(arguments.command, graph, result)
        top = arguments.top or (SHOWN_BY_DEFAULT if not (self.target or arguments.json) else 0)
        if top:
            figures = [f"{name}: {value:.6g}" for name, value in result.metrics.get("answer", {}).items()]
            lines = show(style, graph, answer, top)
            if self.comm.rank == 0 and (figures or lines):
                print("\n".join([*figures, *lines]), flush=True)
        if self.target is not None:
            write_table(self.comm, self.target, answer, graph.num_vertices)
            self._tell_written(self.target.path, f"{graph.num_vertices:,} rows")
        if arguments.json:
            report = document(arguments, graph, result)
            self.comm.on_root(lambda: write_json(arguments.json, report, arguments.force))
            self._tell_written(Path(arguments.json), "the report")
        return NOT_CONVERGED if arguments.require_converged and not result.converged else DONE

    def _tell_written(self, path: Path, what: str) -> None:
        if self.comm.rank == 0:
            log.info("wrote %s (%s)", path, what)


def read(arguments: Any, reading: dict[str, Any]) -> Graph:
    """Read the input files and say what is in them (collective)."""
    paths = arguments.input[0] if len(arguments.input) == 1 else arguments.input
    graph = read_graph(paths, strategy=getattr(arguments, "strategy", None), **reading)
    if graph.comm.rank == 0:
        kind = "directed" if graph.directed else "undirected"
        if graph.ids.num_left is not None:
            kind += f", bipartite with {graph.ids.num_left:,} on the left"
        log.info(
            "%s: %s vertices, %s edges, %s",
            graph.source,
            f"{graph.num_vertices:,}",
            f"{graph.num_edges:,}",
            kind,
        )
        rejected = graph.counts.get("lines_rejected", 0)
        if rejected:
            log.warning("warning: %s bad line%s skipped", f"{rejected:,}", "s" * (rejected != 1))
    return graph


def vertex_id(word: str, graph: Graph) -> Any:
    """Return the vertex id that *word* on the command line means: a number where ids are numbers."""
    try:
        return graph.ids.from_text(word)
    except VertexNotFound:
        raise UsageError(f"{word!r} is no vertex id: the ids of this graph are integers") from None


def read_values(path: str, graph: Graph, default: float | None = None) -> dict[Any, float]:
    """Return ``{vertex id: value}`` from a text file with the id first and the value last (collective).

    A line with an id alone has the value *default*; without one it is an error.
    """

    def load() -> dict[Any, float]:
        try:
            with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
                return _parse(file, path, graph, default)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read {path}: {error}") from None

    return graph.comm.on_root(load)


def _parse(file: Any, path: str, graph: Graph, default: float | None) -> dict[Any, float]:
    values: dict[Any, float] = {}
    delimiter = "," if path.removesuffix(".gz").endswith(".csv") else "\t"
    for number, line in enumerate(file, 1):
        text = line.strip()
        if not text or text[0] in "#%" or (number == 1 and delimiter == "," and text.startswith("id,")):
            continue
        words = next(csv.reader([text], delimiter=delimiter)) if delimiter in text else text.split()
        if len(words) == 1 and default is None:
            raise InputError(f"{path}, line {number}: {text!r} has an id but no value")
        try:
            value = float(words[-1]) if len(words) > 1 else default
        except ValueError:
            raise InputError(
                f"{path}, line {number}: {words[-1]!r} is not a number; id first, value last"
            ) from None
        assert value is not None
        values[_vertex(words, graph, f"{path}, line {number}")] = value
    return values


def _vertex(words: list[str], graph: Graph, where: str) -> Any:
    """Return the vertex that a line of values is of: its first word, of the side that is the second."""
    if graph.ids.num_left is None or len(words) < 3:
        return vertex_id(words[0], graph)
    if words[1] not in ("0", "1"):
        raise InputError(f"{where}: {words[1]!r} is no side; id, side (0 or 1), value")
    return vertex_id(f"{SIDES[int(words[1])]}:{words[0]}", graph)
