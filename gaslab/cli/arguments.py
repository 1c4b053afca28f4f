"""The options that commands share, and a parser that names the nearest option."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import IO, Any, NoReturn

from gaslab.cli import option, streams
from gaslab.engine.engines import CONSISTENCIES, SCHEDULERS, Async, Engine, Stale
from gaslab.errors import UsageError, nearest
from gaslab.parallel import launch
from gaslab.partitioning.names import DEFAULT, NAMES

LINE_OPTIONS = ("ids", "delimiter", "comments", "header", "on_bad_line", "max_bad_lines")  # of edge lists
OF_ENGINES = {engine.name: [f.name for f in fields(engine)] for engine in (Stale, Async)}
ENGINE_OPTIONS = [f"--{name.replace('_', '-')}" for names in OF_ENGINES.values() for name in names]
TOGETHER = "all ranks take its steps together"


class Parser(argparse.ArgumentParser):
    """An argparse parser that speaks on rank 0 alone and suggests what may have been meant."""

    def __init__(self, command: str, words: str, description: str) -> None:
        super().__init__(
            prog=f"gaslab {command}",
            usage=f"gaslab {command} {words} [options]".replace("  ", " "),
            description=description,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self.refused: dict[str, str] = {}  # options of other commands, and why this one does not take them

    @property
    def options(self) -> list[str]:
        """The options that it takes, with their dashes."""
        return [option for action in self._actions for option in action.option_strings]

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        if dashes := next((w for w in args or () if re.fullmatch("(--[^=]+=|-[a-z]+)--", w)), None):
            self.error(f"{dashes}: -- ends the options and is not a value")  # argparse may take it away
        arguments, unknown = self.parse_known_args(args, namespace)
        if unknown:
            word = next((w for w in unknown if w.startswith("-")), unknown[0])
            what = "option" if word.startswith("-") else "argument"
            if (option := word.split("=")[0]) in self.refused:
                self.error(f"{option} is not for {self.prog.split()[1]}: {self.refused[option]}")
            self.error(f"there is no {what} {word!r}{_hint(word.split('=')[0], self.options)}")
        arguments.command = self.prog.split()[1]
        return arguments

    def error(self, message: str) -> NoReturn:
        message = message.replace("the following arguments are required", "missing")
        self.exit(2, f"gaslab: {message}; `{self.prog} --help` lists the options\n")

    def _print_message(self, message: str, file: IO[str] | None = None) -> None:  # type: ignore[override]
        if launch.launcher().rank == 0:
            if file is sys.stdout:
                streams.write([message.removesuffix("\n")])
            else:
                (file or sys.stderr).write(message)


def _hint(word: str, known: Iterable[str]) -> str:
    """Return `nearest`'s suggestion, but not the whole list of options where none is near."""
    hint = nearest(word, known)
    return hint if "did you mean" in hint else ""


def add_strategy(parser: Any, default: str = f" (default: {DEFAULT})") -> None:
    """Add the name of a vertex-cut; *default* says what happens without."""
    text = f"the vertex-cut: {', '.join(NAMES)}{default}"
    parser.add_argument("--strategy", type=strategy_name, metavar="NAME", help=text)


def strategy_name(word: str) -> str:
    """Argparse type: a strategy, perhaps with options."""
    from gaslab.partitioning.strategies import find

    try:
        return find(word)[0]
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("strategy=")) from None


def format_name(word: str) -> str:
    """Argparse type: what the input is."""
    from gaslab.ingest.formats import FORMATS

    return option.one_of(*FORMATS)(word)


def add_input(parser: Parser, bipartite: bool = False) -> None:
    """Add the edge list and how to read it; *bipartite*: it is so for this command in any case."""
    parser.add_argument(
        "input",
        nargs="+",
        metavar="GRAPH",
        help="edge lists, plain or .gz, or a glob of them; or one MatrixMarket, METIS or bag-of-words file",
    )
    group = parser.add_argument_group("reading")
    group.add_argument("--format", type=format_name, default="auto", metavar="NAME",
                       help="edges, matrixmarket, metis or bagofwords "
                            "(auto: from names and first lines)")  # fmt: skip
    side = group.add_mutually_exclusive_group()
    side.add_argument("--directed", dest="directed", action="store_true", default=None,
                      help="edges point from the first id to the second (default)")  # fmt: skip
    side.add_argument("--undirected", dest="directed", action="store_false", help="edges have no direction")
    text = "the first and second ids are two kinds of vertices; right:ID names one of the second"
    option.flag(group, "--bipartite", argparse.SUPPRESS if bipartite else text)
    option.flag(group, "--drop-duplicates", "keep the first of parallel edges")
    option.flag(group, "--drop-self-loops", "drop edges from a vertex to itself")
    add_lines(group)


def add_lines(group: Any) -> None:
    """Add how the lines of an edge list are read."""
    option.word(group, "--ids", ("auto", "int", "str"),
                "kind of vertex ids (auto: looks at the input)", default="auto")  # fmt: skip
    group.add_argument(
        "--column",
        type=option.pair,
        action="append",
        default=[],
        metavar="FIELD=NAME",
        help="take an edge field from a column, given by name or position (from 0); none: skip it",
    )
    option.text(group, "--delimiter", "CHAR",
                "between fields: one character, the same one twice (::), or tab, comma, ... "
                "(default: looks at the input)")  # fmt: skip
    option.text(group, "--comments", "CHARS", "starts of comment lines (default #%%)", default="#%")
    header = group.add_mutually_exclusive_group()
    header.add_argument(
        "--header", dest="header", action="store_true", default=None, help="the first line holds column names"
    )
    header.add_argument("--no-header", dest="header", action="store_false", help="the first line is an edge")
    option.word(group, "--on-bad-line", ("error", "skip"),
                "what to do with a line that is not an edge", default="error")  # fmt: skip
    option.whole(group, "--max-bad-lines", "N", "fail after skipping more than N lines", least=0)


def add_running(parser: Parser, iterations: str = "supersteps at most", sweeps: bool = False) -> None:
    """Add how a program is run; *iterations* is what ``--iterations`` is a number of.

    A program of *sweeps* runs in steps that all ranks take together, and ends after so many.
    """
    group = parser.add_argument_group("running")
    group.add_argument("--max-iterations", "--iterations", type=option.at_least(0), metavar="N",
                       help=iterations)  # fmt: skip
    if sweeps:
        why = f"not for {parser.prog.split()[1]}, which takes --engine sync or reference: {TOGETHER}"
        option.word(group, "--engine", ("sync", "reference"),
                    "reference: plain Python, for debugging",
                    but=(("async", "stale"), why), default="sync")  # fmt: skip
        parser.refused |= dict.fromkeys(ENGINE_OPTIONS, TOGETHER)
        parser.refused["--require-converged"] = "it ends after its sweeps, and is converged then"
    else:
        _add_engines(group)
    add_strategy(group)
    option.whole(group, "--threads", "N", "threads per rank")
    option.whole(group, "--seed", "N", "seed of all random numbers (default 0)", least=0, default=0)
    if "--init" not in parser.refused:
        group.add_argument("--init", type=option.pair, action="append", default=[], metavar="FIELD=FILE",
                           help="start from earlier values: a table with a column FIELD, or id first, "
                           "value last")  # fmt: skip
    option.word(group, "--compile", ("auto", "require", "never"),
                "compile: where possible, or fail, or run interpreted", default="auto")  # fmt: skip
    add_precision(group)
    if not sweeps:
        option.flag(group, "--require-converged", "exit with code 3 if the limit is reached first")
    option.number(group, "--timeout", "SECONDS", "stop after SECONDS with exit code 124", least=0)
    _add_recovery(parser, "sweeps" if sweeps else "supersteps")


def _add_recovery(parser: Parser, steps: str) -> None:
    """Add how the run is saved to checkpoints and resumed."""
    group = parser.add_argument_group("recovery")
    option.text(group, "--checkpoint", "DIR", "save the run to this folder from time to time")
    option.text(group, "--every", "60s|N", f"time, or number of {steps}, between two checkpoints (60s)")
    option.whole(group, "--keep", "N", "checkpoints to keep (2)")
    option.text(group, "--resume", "DIR|auto",
                "resume from the newest checkpoint; auto: from --checkpoint if it holds one")  # fmt: skip
    option.word(group, "--on-checkpoint-error", ("warn", "raise"),
                "if a checkpoint cannot be written: go on (warn), or end the run")  # fmt: skip


def add_precision(group: Any) -> None:
    """Add the precision of a program, to a parser or to a group of one."""
    option.word(group, "--precision", ("float64", "float32"),
                "arithmetic precision (default: set by the program)")  # fmt: skip


def _add_engines(group: Any) -> None:
    """Add the engines, and the options of each."""
    option.word(group, "--engine", ("sync", "async", "stale", "reference"),
                "sync: supersteps; async: no supersteps; stale: supersteps on slightly old values; "
                "reference: plain Python, for debugging",
                default="sync")  # fmt: skip
    option.whole(group, "--staleness", "S", "--engine stale: values may be up to S supersteps old", least=0)
    option.word(group, "--consistency", CONSISTENCIES,
                "--engine async: whether neighbours may run at once (default relaxed)")  # fmt: skip
    option.word(group, "--scheduler", SCHEDULERS,
                "--engine async: which vertex runs next")  # fmt: skip
    option.whole(group, "--max-updates", "N",
                 "--engine async: stop after about N vertex updates", least=0)  # fmt: skip


def chosen_engine(arguments: Any) -> str | Engine:
    """Return the engine that the options mean; raises UsageError for an option of another engine."""
    chosen: str = arguments.engine
    given = {}
    for engine, names in OF_ENGINES.items():
        for name in names:
            if (value := getattr(arguments, name, None)) is None:  # a command has those that it takes
                continue
            if engine != chosen:
                said = name.replace("_", "-")
                raise UsageError(f"--{said} applies only to --engine {engine}, not to --engine {chosen}")
            given[name] = value
    if chosen == "stale":
        if not given:
            raise UsageError(
                "--engine stale needs --staleness S: by how many supersteps values may lag"
            )
        return Stale(**given)
    return Async(**given) if chosen == "async" else chosen


def add_output(parser: Parser, tables: Sequence[str] = ()) -> None:
    """Add where answers and reports go; each of *tables* is written by an option of its name."""
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="FILE|DIR/",
                       help="NAME.tsv, .csv (.gz): one sorted file; DIR/: one part per rank")  # fmt: skip
    for name in tables:
        group.add_argument(f"--{name.replace('_', '-')}", metavar="FILE|DIR/",
                           help=f"write the {name.replace('_', '-')} table")  # fmt: skip
    parser.set_defaults(tables=tuple(tables))
    which = "which fields --output writes" if tables else "which fields"
    group.add_argument("--fields", type=lambda w: w.split(","), metavar="A,B", help=f"{which} (default: all)")
    option.whole(group, "--top", "N", "print the first N")
    option.text(group, "--json", "FILE", "write the settings, metrics and timings of the run")
    option.text(group, "--timeline", "FILE", "write a timeline of every rank, for ui.perfetto.dev")
    option.flag(group, "--force", "replace files that exist")
    add_talk(parser, group)


def add_report(parser: Parser, output: bool = False, json: bool = True, help: str = "") -> None:
    """Add the outputs of commands that run no program; *help* says what ``--output`` takes, if more."""
    group = parser.add_argument_group("output")
    if output:
        text = help or "NAME.tsv, .csv (.gz): one file; DIR/: a part per rank"
        group.add_argument("-o", "--output", metavar="FILE|DIR/", help=text)
    if json:
        option.text(group, "--json", "FILE", "write the figures")
    option.flag(group, "--force", "replace files that exist")
    add_talk(parser, group)


def add_talk(parser: Parser, group: Any = None) -> None:
    """Add how much is said."""
    group = group or parser.add_argument_group("output")
    group.add_argument("--quiet", "-q", action="store_true", help="print only warnings and errors")
    levels = ("debug", "info", "warning", "error")
    option.word(group, "--log-level", levels, "debug, info, warning or error", metavar="LEVEL")
    option.flag(group, "--allow-singleton", "let each process run alone under a launcher that is not MPI's")


def read_options(arguments: Any, keep: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the keyword arguments of `gaslab.read_graph` that the options mean.

    *keep* names the columns that the command can use; None keeps all that the input has.
    """
    columns: Any = bound_columns(arguments)
    if not columns:
        columns = None if keep is None or keep else []
    names = ("format", "directed", "bipartite", *LINE_OPTIONS, "drop_duplicates", "drop_self_loops")
    return {**{name: getattr(arguments, name) for name in names}, "columns": columns}


def bound_columns(arguments: Any) -> dict[str, int | str | None]:
    """Return what ``--column`` binds: a field's name or position by name, None where it is left out."""
    return {name: _column(value) for name, value in arguments.column}


def _column(value: str) -> int | str | None:
    if value == "none":
        return None
    return int(value) if re.fullmatch("[0-9]{1,9}", value) else value
