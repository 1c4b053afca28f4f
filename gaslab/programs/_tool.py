"""What a built-in is for the command line and the documentation: one row, at the end of its page.

The names of `gaslab`, the commands and the table of docs/toolkit.md follow from the rows; `make index` writes
them down, so that ``import gaslab`` and ``gaslab --help`` load no page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FILES = ("values", "weights", "rows", "graph")  # what an option takes: a file
COLUMNS = ("column", "bound")  # or a column of the edges


@dataclass(frozen=True)
class Option:
    """An option of a command, which is an argument of its function; that says the default, too.

    Attributes
    ----------
    name : str
        Of the argument; the option is ``--name``, with - for _.
    takes : str or tuple of str
        One of these words, or: "flag", nothing; "text"; "whole", a whole number from 1; "number", from 0;
        "real", any number; "vertex", an id; "column", of edges, which ``--column NAME=…`` may name, too;
        "bound", a column that ``--column`` alone names; or a file: "values", ids and numbers; "weights", the
        same, 1 where there is no number; "rows", ids and several numbers; "graph", read as the input is.
    """

    name: str
    takes: str | tuple[str, ...]
    help: str = ""
    metavar: str = ""
    required: bool = False
    repeated: bool = False  # a list of all that are given


@dataclass(frozen=True)
class Command:
    """How a function is run by ``gaslab``; the command has its name, with - for _."""

    line: str  # of ``gaslab --help``
    description: str
    fields: tuple[str, ...]  # that are shown and written, of those that the answer has
    show: str | Callable[..., list[str]] = "largest"  # of `gaslab.cli.preview`, or a function of such lines
    options: tuple[Option, ...] = ()
    columns: str = "none"  # of the input that are read: "none", "all"; "weighted": all if one is the weight
    also: tuple[str, ...] = ()  # further fields that the answer has, or has under some options
    tables: tuple[str, ...] = ()  # of `Result.tables`: each is written by an option of its name
    iterations: str = "supersteps at most"  # what --iterations is a number of
    sweeps: bool = False  # whether it runs a number of sweeps: without engines of which ranks run apart
    bipartite: bool = False  # whether its input is so in any case
    corpus: bool = False  # whether its input is a corpus
    check: Callable[..., Any] | None = None  # raises UsageError for options, before the input is read
    run: Callable[..., Any] | None = None  # in the function's place
    top: int = 10  # rows that are shown where nothing else is asked for


@dataclass(frozen=True)
class Tool:
    """A function of the toolkit: its command, and its row in docs/toolkit.md, in Markdown."""

    function: Callable[..., Any]
    order: int  # its place in ``gaslab --help`` and in the table, which begin with the smallest
    command: Command | str  # or how the command of another function runs it
    answer: str
    definition: str
    source: str = ""
    networkx: str = ""

    @property
    def name(self) -> str:
        """The name of the command."""
        return self.function.__name__.replace("_", "-")


def tools_of(page: Any) -> list[Tool]:
    """Return the rows of a page."""
    return [value for value in vars(page).values() if isinstance(value, Tool)]
