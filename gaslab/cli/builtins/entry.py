"""`Builtin`: what a built-in program is at the command line, and what several of them share."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gaslab as gl
from gaslab.cli.arguments import Parser

Fields = tuple[str, ...]
Style = str | Callable[["gl.Graph", "gl.Result", int], list[str]]  # of `cli.preview`, or a function
Call = Callable[["gl.Graph", Any, dict[str, Any]], "gl.Result"]


def no_columns(arguments: Any) -> list[str] | None:
    """For `Builtin.keep`: the columns of the input are not read."""
    return []


def all_columns(arguments: Any) -> list[str] | None:
    """For `Builtin.keep`: any column may be used."""
    return None


def weighted_columns(arguments: Any) -> list[str] | None:
    """For `Builtin.keep`: columns are read if one is named as the weight."""
    return None if weight(arguments) else []


@dataclass(frozen=True)
class Builtin:
    """A built-in program at the command line."""

    description: str
    fields: Fields | Callable[[gl.Graph], Fields]  # of its answer, as written by --output
    call: Call
    show: Style  # how its answer is printed
    add: Callable[[Parser], None] | None = None  # its own options
    keep: Callable[[Any], list[str] | None] = no_columns  # columns of the input it uses; None: any
    defaults: dict[str, Any] = field(default_factory=dict)  # of common options
    also: Fields = ()  # further fields that its answer has, or has under some options or on some graphs
    tables: Fields = ()  # of `Result.tables`: each can be written by an option of its name
    iterations: str = "supersteps at most"  # what --iterations is a number of
    sweeps: bool = False  # whether it runs a number of sweeps: without engines of which ranks run apart
    corpus: bool = False  # whether its input is a corpus
    check: Callable[[Any], None] | None = None  # raises UsageError, before the input is read, for its options
    execute: Callable[[Builtin, Any], int] | None = None  # where it does more than run and report
    top: int = 10  # rows that are shown where nothing else is asked for

    def names(self) -> Fields:
        """Return all fields that its answer may have."""
        return self.also if callable(self.fields) else (*self.fields, *self.also)


def plain(module: str, name: str, *own: str) -> Call:
    """Return the call of a function, whose *own* options are passed on; it is loaded when it is called."""

    def call(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
        function = getattr(importlib.import_module(f"gaslab.programs.{module}"), name)
        result: gl.Result = function(graph, **options_named(arguments, *own), **options)
        return result

    return call


def options_named(arguments: Any, *names: str) -> dict[str, Any]:
    """Return these options by name."""
    return {name: getattr(arguments, name) for name in names}


def weight(arguments: Any) -> str | None:
    """Return the weight column that the options name: ``--weight``, else ``--column weight=NAME``."""
    if arguments.weight is not None:
        return str(arguments.weight)
    bound = dict(arguments.column).get("weight", "none")
    return None if bound == "none" else "weight"


def weight_if_named(arguments: Any) -> dict[str, str | None]:
    """Return ``weight=`` where the options say what it is; without, a function takes its own default."""
    if arguments.weight is not None:
        return {"weight": str(arguments.weight)}
    bound = dict(arguments.column).get("weight")
    return {} if bound is None else {"weight": None if bound == "none" else "weight"}
