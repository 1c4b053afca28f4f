"""The built-in programs as commands, each made from its row (`gaslab.programs._tool`) when it is asked for.

`lda` has more: `topic_models` adds its options and runs it.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gaslab.cli import option
from gaslab.cli.arguments import Parser, add_input, add_output, add_running, read_options
from gaslab.cli.builtins import topic_models
from gaslab.cli.corpus_options import add_corpus
from gaslab.errors import UsageError
from gaslab.programs._names import FUNCTIONS
from gaslab.programs._tool import COLUMNS, FILES, Command, Option, Tool, tools_of

if TYPE_CHECKING:
    from gaslab.graph.graph import Graph


def row(name: str) -> tuple[Tool, Command]:
    """Return the row of a command."""
    page = importlib.import_module(f"gaslab.programs.{FUNCTIONS[name.replace('-', '_')]}")
    tool = next(tool for tool in tools_of(page) if tool.name == name)
    assert isinstance(tool.command, Command)
    return tool, tool.command


def parser(name: str) -> Parser:
    """Return the parser of a built-in's command."""
    tool, command = row(name)
    defaults = _defaults(tool)
    made = Parser(name, "CORPUS..." if command.corpus else "GRAPH...", command.description)
    if command.corpus:
        add_corpus(made)
        topic_models.add_options(made)
    else:
        add_input(made, bipartite=command.bipartite)
    group = made.add_argument_group(name)
    for own in command.options:
        _add_option(group, own, defaults.get(own.name))
    add_running(made, command.iterations, command.sweeps)
    add_output(made, tables=command.tables)
    files = {own.name: own.takes for own in command.options if own.takes in FILES}
    made.set_defaults(max_iterations=defaults.get(_limit(tool)), own_files=files)
    if command.bipartite:
        made.set_defaults(bipartite=True)
    return made


def execute(arguments: Any) -> int:
    """Run a built-in on a graph and report."""
    from gaslab.cli.job import Job

    tool, command = row(arguments.command)
    if command.tables and arguments.fields and arguments.output is None:
        raise UsageError("--fields says what --output writes; give --output too, or leave --fields out")
    if command.corpus:
        return topic_models.execute(command, arguments)
    limit = _limit(tool)
    if command.check is not None:
        named = [own.name for own in command.options if own.takes not in (*FILES, *COLUMNS)]
        given = {name: getattr(arguments, name) for name in named}
        with option.named():
            command.check(**given, **{limit: arguments.max_iterations})
    reads = command.columns == "all" or (command.columns == "weighted" and _column("weight", arguments))
    job = Job(arguments, read_options(arguments, None if reads else []), (*command.fields, *command.also))
    options = job.options()
    if "max_iterations" in options:
        options[limit] = options.pop("max_iterations")
    for own in command.options:
        options |= _argument(own, arguments, job.graph)
    result = (command.run or tool.function)(job.graph, **options)
    fields = arguments.fields or [name for name in command.fields if name in result.vertices.columns]
    return job.finish(result, fields, command.show, command.top)


def _defaults(tool: Tool) -> dict[str, Any]:
    """Return the defaults of a function by argument, None where there is none."""
    parameters = inspect.signature(tool.function).parameters.values()
    return {p.name: None if p.default is p.empty else p.default for p in parameters}


def _limit(tool: Tool) -> str:
    """Return which argument of its function ``--iterations`` is."""
    return "iterations" if "iterations" in _defaults(tool) else "max_iterations"


def _add_option(group: Any, own: Option, default: Any) -> None:
    name = "--" + own.name.replace("_", "-")
    if own.takes == "flag":
        option.flag(group, name, own.help)
    elif isinstance(own.takes, tuple):
        option.word(group, name, own.takes, own.help, default=default)
    elif own.takes == "whole":
        option.whole(group, name, own.metavar, own.help, default=default)
    elif own.takes == "number":
        option.number(group, name, own.metavar, own.help, default=default)
    elif own.takes in ("text", "real"):
        kind = float if own.takes == "real" else str
        option.text(group, name, own.metavar, own.help, default=default, type=kind)
    elif own.takes != "bound":
        action = "append" if own.repeated else "store"
        option.text(group, name, own.metavar, own.help, required=own.required, action=action)


def _argument(own: Option, arguments: Any, graph: Graph) -> dict[str, Any]:
    """Return the argument of the function that an option means; {} for its default (collective)."""
    from gaslab.cli.job import read_rows, read_values, vertex_id
    from gaslab.graph.reading import read_graph

    readers: dict[str, Callable[[str], Any]] = {
        "vertex": lambda word: vertex_id(word, graph),
        "values": lambda file: read_values(file, graph),
        "weights": lambda file: read_values(file, graph, default=1.0),
        "rows": lambda file: read_rows(file, graph),
        "graph": lambda file: read_graph(file, **read_options(arguments)),
    }
    if own.takes in COLUMNS:
        return _column(own.name, arguments)
    given = getattr(arguments, own.name)
    if not isinstance(own.takes, str) or own.takes not in readers:
        return {own.name: given}
    if given is None:
        return {}
    read = readers[own.takes]
    return {own.name: [read(word) for word in given] if own.repeated else read(given)}


def _column(name: str, arguments: Any) -> dict[str, str | None]:
    """Return the edge column that an option or ``--column NAME=...`` names, {} without either."""
    if (given := getattr(arguments, name, None)) is not None:
        return {name: given}
    bound = dict(arguments.column).get(name)
    return {} if bound is None else {name: None if bound == "none" else name}
