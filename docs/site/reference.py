"""The pages of the reference: which public names are on which, and the text made for each page.

A name of `gaslab` that no page lists is an error of the build, and so is one that two pages list.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import gaslab
from gaslab.cli import COMMANDS
from gaslab.programs import _names


@dataclass(frozen=True)
class Page:
    """A page of the reference: groups of names under headings, each the path of an object in `gaslab`."""

    title: str
    about: str
    groups: dict[str, list[str] | dict[str, str]]  # with a docstring each, or with what each is

    def names(self) -> Iterator[str]:
        for names in self.groups.values():
            yield from names

    def text(self) -> str:
        """Return the page as Markdown for mkdocstrings."""
        parts = [f"# {self.title}\n\n{self.about}\n"]
        for heading, names in self.groups.items():
            level = 2
            if heading:
                parts.append(f"## {heading}\n")
                level = 3
            parts += [_table(names)] if isinstance(names, dict) else [_entry(name, level) for name in names]
        return "\n".join(parts)


def _entry(name: str, level: int) -> str:
    short = name.rpartition(".")[2]
    options: dict[str, object] = {"heading": f"gl.{name}", "toc_label": short, "heading_level": level}
    if name.startswith("programs."):  # its source says more than a list of its methods
        options |= {"members": "[]", "merge_init_into_class": "false", "show_source": "true"}
    lines = [f"      {option}: {value}\n" for option, value in options.items()]
    return "".join([f"::: gaslab.{name}\n    options:\n", *lines])


def _table(names: dict[str, str]) -> str:
    rows = [f'| <a id="gaslab.{name}"></a>`gl.{name}` | {what} |\n' for name, what in names.items()]
    return "".join(["| name | what it is |\n|---|---|\n", *rows])


INTEGERS = {
    f"{sign}int{bits}": f"an {'unsigned ' * bool(sign)}int stored in {bits} bits"
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
PAGES = {
    "run": Page(
        "Running a program",
        "One run, many runs of one program, its engines, and what a program stores and sends. "
        "[Writing a vertex program](../programs.md#running-it) shows all of these at work.",
        {
            "": ["run", "prepare", "Job"],
            "Engines": ["Sync", "Async", "Stale"],
            "Looking into a program": ["explain", "Trace"],
        },
    ),
    "graphs": Page(
        "Graphs",
        "Reading, making and cutting graphs. [Graphs](../graphs.md) covers the formats and how each input is "
        "read, [Saving graphs and results](../files.md) the folder that `save` writes.",
        {
            "": ["Graph", "read_graph", "load_graph", "read_vertices", "VertexSet", "right"],
            "Cuts": ["partition", "Partition"],
            "Corpora": ["read_corpus", "corpus_from"],
        },
    ),
    "results": Page(
        "Results", "What a run returns: tables of vertices and edges, figures, the history.",
        {"": ["Result", "Table"]},
    ),
    "language": Page(
        "The language",
        "The words that a program is written in. [Writing a vertex program](../programs.md) teaches them.",
        {
            "The parts of a program": [
                "VertexProgram", "Vertex", "Edge", "Accumulator", "Phase", "aggregator",
            ],
            "Types of fields and parameters": {
                "VertexId": "the id of a vertex, which can be compared and copied; results hold your own ids",
                "NOBODY": "the id of no vertex; it compares greater than every other",
                "Vector": "a one-dimensional array; `gl.field(shape=...)` gives its length",
                "Matrix": "a two-dimensional array; `gl.field(shape=...)` gives its shape",
                "float64": "a float stored in 64 bits, the default of `float`",
                "float32": "a float stored in 32 bits; also a `precision` to compute in",
                **INTEGERS,
            },
            "Declaring fields": ["field", "lookup"],
            "Combiners": {
                "Sum": "`gl.Sum[T]`: the sum",
                "Prod": "`gl.Prod[T]`: the product",
                "Min": "`gl.Min[T]`: the smallest value",
                "Max": "`gl.Max[T]`: the largest value",
                "Any": "`gl.Any[bool]`: whether one value is True",
                "All": "`gl.All[bool]`: whether all values are True",
                "Count": "how many values are True, an int",
                "BitOr": "`gl.BitOr[T]`: the bitwise or",
                "ArgMin": "`gl.ArgMin[K, P]`: the pair of key and payload with the smallest key",
                "ArgMax": "`gl.ArgMax[K, P]`: the pair of key and payload with the largest key",
                "SumBy": "`gl.SumBy[K, V]`: [the sum of the values of each key](../ragged.md#sums-by-key)",
            },
            "Histograms": ["at"],
            "Combiners of additive fields and of parts with a shape": {
                "SUM": "the sum",
                "MIN": "the smallest value",
                "MAX": "the largest value",
                "PROD": "the product; for parts only",
                "BITOR": "the bitwise or; for parts only",
            },
            "Directions": {
                "IN": "the edges that point at the vertex",
                "OUT": "the edges that leave the vertex",
                "ALL": "both",
                "NONE": "no edges",
            },
            "Types of lists": {
                "List": "`gl.List[T]`: values, in ascending order if they were gathered",
                "SortedSet": "`gl.SortedSet[T]`: values in ascending order, each once",
            },
            "Functions of lists": ["common", "mode", "mex"],
            "Functions in methods": ["stop", "solve_spd", "conjugate_gradient"],
        },
    ),
    "random": Page(
        "Random numbers",
        "Draws in methods, and random initial values of fields. [Random numbers](../randomness.md) explains "
        "what a draw depends on.",
        {
            "": [
                "uniform", "normal", "integers", "exponential", "gamma", "poisson", "dirichlet",
                "categorical",
            ]
        },
    ),
    "toolkit": Page(
        "The toolkit",
        "One function for each algorithm that comes with gaslab. [The toolkit](../toolkit.md) lists them in "
        "one table, with definitions and sources.",
        {"": sorted(_names.FUNCTIONS)},
    ),
    "programs": Page(
        "Built-in programs",
        "The vertex programs behind the toolkit: read them, run them with `gl.run`, or subclass them.",
        {"": [f"programs.{name}" for name in sorted(_names.CLASSES)]},
    ),
    "topics": Page(
        "Topic models",
        "Topic models and measures of their quality; `gl.lda` is in [the toolkit](toolkit.md).",
        {
            "": ["LDA", "TopicModel"],
            "Quality": [
                f"topics.{name}"
                for name in ("coherence", "diversity", "nearest", "relevance", "top_words", "topic_sizes")
            ],
            "Report": ["topics.write_report"],
        },
    ),
    "errors": Page(
        "Errors and warnings",
        "All of them are also in `gaslab.errors`.",
        {
            "Errors": [
                "GaslabError", "UsageError", "AbandonedError", "InputError", "VertexNotFound", "ProgramError",
                "CompileError", "ExecutionError", "LaunchError", "TimeoutExpired", "Terminated",
            ],
            "Warnings": ["CheckpointWarning", "ConvergenceWarning", "PerformanceWarning"],
        },
    ),
}  # fmt: skip

# Modules stand in `gaslab` as names, and their contents on pages of their own.
MODULES = {"__version__", "errors", "programs", "topics"}


def check() -> None:
    """Raise ValueError for a public name that is on no page or on two, and for one that is none."""
    listed = [name for page in PAGES.values() for name in page.names()]
    public = {name for name in gaslab.__all__ if name not in MODULES}
    wrong = {name for name in listed if listed.count(name) > 1}
    wrong |= public ^ {name for name in listed if "." not in name}
    if wrong:
        raise ValueError(f"docs/site/reference.py: each public name is on one page; see to {sorted(wrong)}")


def index() -> str:
    """Return the first page of the reference: all names by page."""
    lines = ["# API\n", "Everything below is a name of `gaslab`, by custom imported as `gl`.\n"]
    for file, page in PAGES.items():
        links = ", ".join(f"[`{name.rpartition('.')[2]}`]({file}.md#gaslab.{name})" for name in page.names())
        lines.append(f"**[{page.title}]({file}.md)**: {links}\n")
    return "\n".join(lines)


def commands() -> str:
    """Return the page of the command line: what ``--help`` prints, of gaslab and of every command."""
    words = [sys.executable, "-m", "gaslab", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    about = "What `gaslab --help` and `gaslab COMMAND --help` print."
    parts = [f"# Command line\n\n{about}\n", _fenced(done.stdout)]
    for name, (module, _) in COMMANDS.items():
        with patch.dict(os.environ, COLUMNS="100"):
            text = importlib.import_module(module).parser(name).format_help()
        parts.append(f"## gaslab {name}\n\n{_fenced(text)}")
    return "\n".join(parts)


def _fenced(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"
