"""Warnings: rank 0 shows one, and where it is an error every rank raises it."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path
from typing import Any

import pytest

import gaslab as gl
from gaslab.engine.engines import engine_of
from gaslab.parallel.comm import Comm
from tests.conftest import Hosts
from tests.mpi.launcher import run_script

ROOT = Path(__file__).resolve().parents[2]
OPTIONS: list[dict[str, Any]] = [
    {"max_iterations": 1},
    {"max_iterations": 1, "engine": "reference"},
    {"max_iterations": 1, "engine": gl.Stale(1)},
    {"engine": gl.Async(max_updates=1)},
    {"threads": 2, "engine": "async"},
]
PROGRAMS = {"async": gl.programs.SmallestLabel(), "stale": gl.programs.PageRank()}


def graph_on(comm: Comm) -> gl.Graph:
    return gl.Graph.from_edges(range(60), range(1, 61), strategy="1d", comm=comm)


def run(graph: gl.Graph, options: dict[str, Any]) -> gl.Result:
    engine = engine_of(options.get("engine", "sync"))
    return gl.run(PROGRAMS.get(engine.name, gl.programs.Components()), graph, **options)


def shown(comm: Comm) -> list[list[str]]:
    """Return, by run, the categories of the warnings that this rank shows."""
    graph, found = graph_on(comm), []
    for options in OPTIONS:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run(graph, options)
        found.append(sorted(one.category.__name__ for one in caught))
    return found


def raised(comm: Comm) -> list[str]:
    """Return what this rank raises, by run, where warnings are errors."""
    graph, found = graph_on(comm), []
    for options in OPTIONS:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning) as caught:
                run(graph, options)
        found.append(type(caught.value).__name__)
    assert gl.components(graph).converged  # all ranks came here together
    return found


def test_rank_0_shows_a_warning_and_no_other_rank(ranks: Hosts) -> None:
    first, *others = ranks.run(shown)
    assert all(first)
    assert all(not any(other) for other in others)


def test_a_warning_that_is_an_error_is_raised_on_every_rank(ranks: Hosts) -> None:
    first, *others = ranks.run(raised)
    assert all(other == first for other in others)


@pytest.mark.slow
def test_a_script_may_go_on_from_a_warning_that_is_an_error(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import warnings\n"
        "import gaslab as gl\n"
        "warnings.simplefilter('error')\n"
        "graph = gl.Graph.from_edges(range(60), range(1, 61))\n"
        "try:\n"
        "    gl.components(graph, max_iterations=1)\n"
        "except gl.ConvergenceWarning:\n"
        "    result = gl.components(graph)\n"
        "    print(f'rank {graph.comm.rank}: {result.converged}')\n"
    )
    done = run_script(2, [str(script)])
    assert done.stdout.count("rank 0: True") == done.stdout.count("rank 1: True") == 1


@pytest.mark.slow
def test_one_function_warns_for_all_of_gaslab() -> None:
    for path in sorted((ROOT / "gaslab").rglob("*.py")):
        if path.name == "errors.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in ("warn", "warn_explicit"):
                assert ast.unparse(node.value) != "warnings", f"{path.name}:{node.lineno}"
