"""The options that commands share, and a parser that names the nearest option."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any, NoReturn

from gaslab.errors import nearest
from gaslab.parallel import launch
from gaslab.partition.names import NAMES

LINE_OPTIONS = ("ids", "delimiter", "comments", "header", "on_bad_line", "max_bad_lines")  # of edge lists
ENGINE_OPTIONS = ("--staleness", "--consistency", "--scheduler", "--max-updates")  # of one engine alone
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

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        if dashes := next((w for w in args or () if re.fullmatch("(--[^=]+=|-[a-z]+)--", w)), None):
            self.error(f"{dashes}: -- ends the options and is no value")  # argparse may take it away
        arguments, unknown = self.parse_known_args(args, namespace)
        if unknown:
            known = [option for action in self._actions for option in action.option_strings]
            word = next((w for w in unknown if w.startswith("-")), unknown[0])
            what = "option" if word.startswith("-") else "argument"
            if (option := word.split("=")[0]) in self.refused:
                self.error(f"{option} is not for {self.prog.split()[1]}: {self.refused[option]}")
            self.error(f"there is no {what} {word!r}{_hint(word.split('=')[0], known)}")
        arguments.command = self.prog.split()[1]
        return arguments

    def error(self, message: str) -> NoReturn:
        message = message.replace("the following arguments are required", "missing")
        self.exit(2, f"gaslab: {message}; `{self.prog} --help` lists the options\n")

    def _print_message(self, message: str, file: IO[str] | None = None) -> None:  # type: ignore[override]
        if launch.launcher().rank == 0:
            (file or sys.stderr).write(message)


def _hint(word: str, known: Iterable[str]) -> str:
    """Return `nearest`'s suggestion, but not the whole list of options where none is near."""
    hint = nearest(word, known)
    return hint if "did you mean" in hint else ""


def one_of(*known: str, but: tuple[Sequence[str], str] = ((), "")) -> Callable[[str], str]:
    """Return an argparse type that takes one of these words; *but* has others, and why they are refused."""

    def check(word: str) -> str:
        if word in but[0]:
            raise argparse.ArgumentTypeError(f"{word!r} is {but[1]}")
        if word not in known:
            raise argparse.ArgumentTypeError(f"{word!r} is unknown{nearest(word, known)}")
        return word

    return check


def add_strategy(parser: Any, default: str = "") -> None:
    """Add the name of a vertex-cut; *default* says what happens without."""

    def known(word: str) -> str:
        from gaslab.partition.strategies import STRATEGIES  # those of the user's own, too

        return one_of(*STRATEGIES)(word)

    text = f"the vertex-cut: {', '.join(NAMES)}{default}"
    parser.add_argument("--strategy", type=known, metavar="NAME", help=text)


def format_name(word: str) -> str:
    """Argparse type: what the input is."""
    from gaslab.ingest.formats import FORMATS

    return one_of(*FORMATS)(word)


def at_least(least: float, kind: type = int) -> Callable[[str], Any]:
    """Return an argparse type for numbers of *kind* from *least*."""

    def check(word: str) -> Any:
        try:
            value = kind(word)
        except ValueError:
            what = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"{word!r} is not {what}") from None
        if not least <= value < float("inf"):  # nan is neither
            if value != value or value > least:
                raise argparse.ArgumentTypeError(f"{word!r} is not a finite number")
            raise argparse.ArgumentTypeError(f"{word} is less than {least}")
        return value

    return check


def pair(word: str) -> tuple[str, str]:
    """Argparse type: ``name=value``."""
    name, equals, value = word.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{word!r} is not NAME=VALUE")
    return name, value


def add_input(parser: Parser, bipartite: bool = False) -> None:
    """Add the edge list and how to read it; *bipartite*: it is so for this command in any case."""
    parser.add_argument(
        "input",
        nargs="+",
        metavar="GRAPH",
        help="edge list(s): text or .gz; several, or a glob; or a MatrixMarket, METIS or bag-of-words file",
    )
    group = parser.add_argument_group("reading")
    group.add_argument("--format", type=format_name, default="auto", metavar="NAME",
                       help="edges, matrixmarket, metis or bagofwords "
                            "(auto: by names and first lines)")  # fmt: skip
    side = group.add_mutually_exclusive_group()
    side.add_argument("--directed", dest="directed", action="store_true", default=None,
                      help="an edge leads from the first id to the second (edge lists: default)")  # fmt: skip
    side.add_argument("--undirected", dest="directed", action="store_false", help="an edge joins both ids")
    text = "the two ids are of two kinds; right:ID names one of the second"
    group.add_argument("--bipartite", action="store_true", help=argparse.SUPPRESS if bipartite else text)
    group.add_argument("--drop-duplicates", action="store_true", help="keep the first of parallel edges")
    group.add_argument(
        "--drop-self-loops", action="store_true", help="leave out edges from a vertex to itself"
    )
    add_lines(group)


def add_lines(group: Any) -> None:
    """Add how the lines of an edge list are read."""
    group.add_argument("--ids", type=one_of("auto", "int", "str"), default="auto", metavar="auto|int|str",
                       help="kind of vertex ids (auto: looks at the input)")  # fmt: skip
    group.add_argument(
        "--column",
        type=pair,
        action="append",
        default=[],
        metavar="FIELD=NAME",
        help="edge field from a column, by its name or position (0 is the first); none: leave it out",
    )
    group.add_argument("--delimiter", metavar="CHAR",
                       help="between fields: one character, the same one twice (::), or tab, comma, ... "
                            "(default: looks at the input)")  # fmt: skip
    group.add_argument(
        "--comments", default="#%", metavar="CHARS", help="what starts a comment line (default #%%)"
    )
    header = group.add_mutually_exclusive_group()
    header.add_argument(
        "--header", dest="header", action="store_true", default=None, help="the first line has names"
    )
    header.add_argument("--no-header", dest="header", action="store_false", help="the first line is an edge")
    group.add_argument("--on-bad-line", type=one_of("error", "skip"), default="error", metavar="error|skip",
                       help="what to do with a line that is no edge")  # fmt: skip
    group.add_argument("--max-bad-lines", type=at_least(0), metavar="N", help="at most so many are skipped")


def add_running(parser: Parser, iterations: str = "supersteps at most", sweeps: bool = False) -> None:
    """Add how a program is run; *iterations* is what ``--iterations`` is a number of.

    A program of *sweeps* runs in steps that all ranks take together, and ends after so many.
    """
    group = parser.add_argument_group("running")
    group.add_argument("--max-iterations", "--iterations", type=at_least(0), metavar="N", help=iterations)
    if sweeps:
        why = f"not for {parser.prog.split()[1]}, which takes --engine sync or reference: {TOGETHER}"
        group.add_argument("--engine", type=one_of("sync", "reference", but=(("async", "stale"), why)),
                           default="sync", metavar="sync|reference",
                           help="reference: plain Python, for debugging")  # fmt: skip
        parser.refused |= dict.fromkeys(ENGINE_OPTIONS, TOGETHER)
        parser.refused["--require-converged"] = "it ends after its sweeps, and is converged then"
    else:
        _add_engines(group)
    add_strategy(group)
    group.add_argument("--threads", type=at_least(1), metavar="N", help="threads of each rank")
    group.add_argument(
        "--seed", type=at_least(0), default=0, metavar="N", help="of everything random (default 0)"
    )
    if "--init" not in parser.refused:
        group.add_argument("--init", type=pair, action="append", default=[], metavar="FIELD=FILE",
                           help="start from earlier values: id first, value last")  # fmt: skip
    group.add_argument(
        "--compile",
        type=one_of("auto", "require", "never"),
        default="auto",
        metavar="auto|require|never",
        help="whether to run interpreted without a C compiler",
    )
    add_precision(group)
    if not sweeps:
        group.add_argument("--require-converged", action="store_true",
                           help="exit code 3 if the limit came first")  # fmt: skip
    group.add_argument("--timeout", type=at_least(0, float), metavar="SECONDS",
                       help="give up after so long, with exit code 124")  # fmt: skip


def add_precision(group: Any) -> None:
    """Add the precision of a program, to a parser or to a group of one."""
    group.add_argument("--precision", type=one_of("float64", "float32"), metavar="float64|float32",
                       help="what it computes in (default: what the program says)")  # fmt: skip


def _add_engines(group: Any) -> None:
    """Add the engines, and the options of each."""
    group.add_argument("--engine", type=one_of("sync", "async", "stale", "reference"), default="sync",
                       metavar="sync|async|stale|reference",
                       help="async: without supersteps; stale: values may be old; "
                            "reference: plain Python, for debugging")  # fmt: skip
    group.add_argument("--staleness", type=at_least(0), metavar="S",
                       help="of --engine stale: values may be S supersteps too old")  # fmt: skip
    group.add_argument(
        "--consistency", type=one_of("relaxed", "serialisable"), metavar="relaxed|serialisable",
        help="of --engine async: whether neighbours may run at once (default relaxed)",
    )  # fmt: skip
    group.add_argument(
        "--scheduler", type=one_of("fifo", "priority", "sweep", "random"),
        metavar="fifo|priority|sweep|random", help="of --engine async: which vertex runs next",
    )  # fmt: skip
    group.add_argument("--max-updates", type=at_least(0), metavar="N",
                       help="of --engine async: about so many vertices run at most")  # fmt: skip


def add_output(parser: Parser, answer: bool = True, tables: Sequence[str] = ()) -> None:
    """Add where answers and reports go; each of *tables* is written by an option of its name."""
    group = parser.add_argument_group("output")
    if answer:
        group.add_argument("-o", "--output", metavar="FILE|DIR/",
                           help="NAME.tsv, .csv (.gz): one file by id; DIR/: a part per rank")  # fmt: skip
        for name in tables:
            group.add_argument(f"--{name.replace('_', '-')}", metavar="FILE|DIR/",
                               help=f"write the {name.replace('_', '-')} table")  # fmt: skip
        parser.set_defaults(tables=tuple(tables))
        which = "which fields --output writes" if tables else "which fields"
        group.add_argument(
            "--fields", type=lambda w: w.split(","), metavar="A,B", help=f"{which} (default: all)"
        )
        group.add_argument("--top", type=at_least(1), metavar="N", help="print the first N")
    group.add_argument("--json", metavar="FILE", help="write what the run was and what it took")
    if answer:
        group.add_argument("--timeline", metavar="FILE",
                           help="write what every rank did when, for ui.perfetto.dev")  # fmt: skip
    group.add_argument("--force", action="store_true", help="replace files that exist")
    add_talk(parser, group)


def add_report(parser: Parser, output: bool = False, json: bool = True) -> None:
    """Add the outputs of commands that run no program."""
    group = parser.add_argument_group("output")
    if output:
        text = "NAME.tsv, .csv (.gz): one file; DIR/: a part per rank"
        group.add_argument("-o", "--output", metavar="FILE|DIR/", help=text)
    if json:
        group.add_argument("--json", metavar="FILE", help="write the figures")
    group.add_argument("--force", action="store_true", help="replace files that exist")
    add_talk(parser, group)


def add_talk(parser: Parser, group: Any = None) -> None:
    """Add how much is said."""
    group = group or parser.add_argument_group("output")
    group.add_argument("--quiet", "-q", action="store_true", help="say nothing but warnings and errors")
    group.add_argument("--log-level", type=one_of("debug", "info", "warning", "error"), metavar="LEVEL",
                       help="debug, info, warning or error")  # fmt: skip
    group.add_argument("--allow-singleton", action="store_true",
                       help="let each process of a foreign launcher run alone")  # fmt: skip


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
