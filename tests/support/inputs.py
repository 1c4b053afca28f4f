"""Inputs of public reports as rows of a table: the graph, what is asked of it, and the right answer."""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.command_line import Run, on_ranks


class Refused(str):
    """The answer to an input that is an error; of a right answer a regular expression for its message."""


@dataclass(frozen=True)
class Input:
    """An input that is made in Python; *reports* are those of its row on the page."""

    reports: str
    make: Callable[[Comm], Any]
    ask: Callable[[Any], Any]
    answer: Any


@dataclass(frozen=True)
class File:
    """An input that is a file; the answer is the fields of its edges, as they are written, in any order."""

    reports: str
    name: str
    data: bytes
    answer: Iterable[str] | Refused
    options: dict[str, Any] = field(default_factory=dict)  # of `gaslab.read_graph`
    words: tuple[str, ...] = ()  # the same on the command line


def as_edges(*ends: Any, **options: Any) -> Callable[[Comm], gl.Graph]:
    """Return what makes a graph of sources and targets, and of weights if a third list is given."""
    src, dst, *weights = ends
    columns = {"weight": weights[0]} if weights else None
    return lambda comm: gl.Graph.from_edges(src, dst, columns=columns, comm=comm, **options)


def asked(comm: Comm, module: str, name: str) -> Any:
    """Return the answer to an input of a test module, plain or `Refused`; for `Ranks.run`."""
    row = importlib.import_module(module).INPUTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gl.ConvergenceWarning)
        try:
            return row.ask(row.make(comm))
        except gl.GaslabError as error:
            return Refused(f"{type(error).__name__}: {error}")


def check(ranks: Ranks, module: str, name: str) -> None:
    """Assert that every rank has the right answer to an input."""
    expected = importlib.import_module(module).INPUTS[name].answer
    for found in ranks.run(asked, module, name):
        if isinstance(expected, Refused):
            assert isinstance(found, Refused), found
            assert re.search(expected, found), found
        else:
            assert not isinstance(found, Refused), found
            parts = expected if isinstance(expected, list) else [expected]
            right = [pytest.approx(part, abs=1e-9) for part in parts]
            assert (found if isinstance(expected, list) else [found]) == right


# ---- files -----------------------------------------------------------------------------------------


def edges_of(comm: Comm, path: str, options: dict[str, Any]) -> Any:
    """Return the edges of a file in the user's ids, as text, sorted, or `Refused`; for `Ranks.run`."""
    try:
        graph = gl.read_graph(path, comm=comm, **options)
    except gl.GaslabError as error:
        return Refused(str(error))
    ends = (graph.ids.lookup(end).tolist() for end in graph.edges())
    here = zip(*ends, *(column.tolist() for column in graph.edge_columns.values()), strict=True)
    return sorted("\t".join(map(str, row)) for part in comm.allgather(list(here)) for row in part)


def check_file(ranks: Ranks, row: File, folder: Path) -> None:
    """Assert that `gaslab.read_graph` answers right on every rank; a refusal names the file."""
    path = folder / row.name
    path.write_bytes(row.data)
    for found in ranks.run(edges_of, str(path), row.options):
        if isinstance(row.answer, Refused):
            assert isinstance(found, Refused), found
            assert str(path) in found
            assert re.search(row.answer, found), found
        else:
            assert found == sorted(row.answer)


def check_command(gaslab: Run, ranks: int, row: File, folder: Path) -> None:
    """Assert that ``gaslab convert`` writes the same edges, or refuses the file."""
    path, target = folder / row.name, folder / "edges.tsv"
    path.write_bytes(row.data)
    words = ("convert", path, "-o", target, "-q", *row.words)
    done = gaslab(*words) if ranks == 1 else on_ranks(ranks, *words)
    if isinstance(row.answer, Refused):
        assert done.code == 1, done.err
        assert "Traceback" not in done.err
        assert str(path) in done.err
        assert re.search(row.answer, done.err), done.err
        assert not target.exists()
    else:
        assert done.code == 0, done.err
        assert sorted(target.read_text().splitlines()) == sorted(row.answer)
