"""A fault in any method ends a run of any engine, on every rank, with its vertex and line."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support import faulty_programs as programs

ENGINES: dict[str, dict[str, Any]] = {
    "sync": {},
    "interpreted": {"compile": "never"},
    "async": {"engine": "async"},
    "serialisable": {"engine": gl.Async(consistency="serialisable")},
    "stale 0": {"engine": gl.Stale(0)},
    "stale 2": {"engine": gl.Stale(2)},
    "reference": {"engine": "reference"},
}


ANYWHERE = ("InMerge", "InLateScatter", "InLateAggregator", "InPriority", "InMergeOfAggregates")
REFUSED = {
    "stale": {programs.InPriority},
    "async": {programs.OnlyInit, programs.InMergeOfAggregates},  # done ends it at any time
}
REFUSED["serialisable"] = REFUSED["async"]


def failures(comm: Comm, engine: str, strategy: str) -> list[tuple[str, str]]:
    """Return what each program raised, "" where it raised nothing."""
    ring = [(k, (k + 1) % 8) for k in range(8)]  # in-degree 1, and 2 at vertex 3
    edges = [*ring, (6, 3)]
    graph = gl.Graph.from_edges(
        [u for u, _ in edges], [w for _, w in edges], comm=comm, strategy=strategy, vertices=range(9)
    )
    found = []
    for program in programs.FAULTS:
        if program in REFUSED.get(engine.split()[0], ()):
            continue
        try:
            gl.run(program(), graph, threads=1, **ENGINES[engine])
        except gl.ExecutionError as error:
            found.append((program.__name__, str(error)))
        else:
            found.append((program.__name__, ""))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["1d", "random"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_fault_in_any_method_is_raised_on_every_rank(ranks: Ranks, engine: str, strategy: str) -> None:
    first, *others = ranks.run(failures, engine, strategy, timeout=120)
    assert all(found == first for found in others)
    file = Path(programs.__file__).name
    for name, text in first:
        lines, begin = inspect.getsourcelines(getattr(programs, name))
        assert text, f"{name}: no fault was raised"
        assert f"{name} failed at vertex " in text
        place = text.split(f"{file}:")[1].split(":")[0]
        assert begin <= int(place) < begin + len(lines) or name == "InInitBeforeStart"
        if name not in ANYWHERE:
            assert f"{name} failed at vertex 3 " in text


def limited(comm: Comm) -> None:
    """Fail in the last superstep that the limit allows."""
    graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0], comm=comm)
    gl.run(programs.InLateScatter(), graph, engine=gl.Stale(0), max_iterations=3)


def test_a_fault_of_the_last_superstep_is_raised(ranks: Ranks) -> None:
    with pytest.raises(gl.ExecutionError, match="InLateScatter failed at vertex"):
        ranks.run(limited)  # where values may be late, so may signals, and the turn that fails may not come


def raises_its_own(comm: Comm, engine: str) -> list[str]:
    graph = gl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], comm=comm)
    found = []
    for program in (programs.InDone(), programs.InFinalizer()):
        with pytest.raises(RuntimeError) as error:
            gl.run(program, graph, threads=1, **ENGINES[engine])
        found.append(str(error.value))
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_what_done_and_finalisers_raise_is_raised_on_every_rank(ranks: Ranks, engine: str) -> None:
    for done, finaliser in ranks.run(raises_its_own, engine):
        assert "done has failed" in done
        assert "the finaliser has failed" in finaliser


class BehindOthers(gl.VertexProgram):
    """Faults at the last edge to a target that all others signal."""

    class Vertex(gl.Vertex):
        x: int = 1
        turns: int = 0

    def apply(self, v: Vertex) -> None:
        v.turns += 1

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if 10 // v.x > 2:
            nbr.signal()


@pytest.mark.parametrize("way", ["sync", "interpreted", "stale 0", "reference"])
def test_a_fault_behind_a_signal_to_the_same_target_ends_the_run(way: str) -> None:
    n = 400
    rng = np.random.default_rng(0)
    sources, targets = rng.integers(0, n - 1, (2, 20 * n))
    graph = gl.Graph.from_edges(np.append(sources, n - 1), np.append(targets, 5))  # so many are pulled
    x = np.ones(n, int)
    x[-1] = 0
    with pytest.raises(gl.ExecutionError, match=f"BehindOthers failed at vertex {n - 1} in superstep 0"):
        gl.run(BehindOthers(), graph, init={"x": x}, max_iterations=2, **ENGINES[way])
