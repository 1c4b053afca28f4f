"""The end of a run without supersteps: never early, always found, however the transport delays batches."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import gaslab as gl
from gaslab.engine.asynchronous import make_machine
from gaslab.engine.asynchronous.counts import Counts
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support import unordered_programs as programs
from tests.support.delays import slow
from tests.support.graphs import Drawn, hubs

KINDS: list[tuple[gl.VertexProgram, str, gl.Async]] = [
    (programs.Parcels(), "got", gl.Async()),
    (programs.Parcels(), "got", gl.Async(consistency="serialisable")),
    (programs.Labels(), "part", gl.Async("random")),
    (programs.Labels(), "part", gl.Async("sweep", "serialisable")),
    (programs.Urgent(source=0), "distance", gl.Async()),
    (programs.Paths(source=0), "distance", gl.Async("random", "serialisable")),
]


def graph_of(kind: int) -> Drawn:
    """Return a few vertices, fewer than ranks, a long path, or a hub."""
    if kind == 0:
        edges = [(0, 1), (1, 0)]
    elif kind == 1:
        edges = [(k, k + 1) for k in range(11)]
    elif kind == 2:
        edges = [(0, k) for k in range(1, 9)] + [(k, 0) for k in range(4)]
    else:
        rng = np.random.default_rng(kind)
        edges = list(map(tuple, rng.integers(0, 14, (30, 2)).tolist()))
    vertices = list(range(max(max(edge) for edge in edges) + 2))  # and one without edges
    return Drawn(vertices, edges, {"weight": [1.0 + k % 3 for k in range(len(edges))]}, True)


@contextlib.contextmanager
def compiled_once() -> Iterator[None]:
    """Parse and emit each program once, not in every run."""
    module, known = importlib.import_module("gaslab.engine.execute"), {}
    compile_phases = module.compile_phases

    def compiled(program: type, *arguments: Any) -> Any:
        return known.get(program) or known.setdefault(program, compile_phases(program, *arguments))

    with mock.patch.object(module, "compile_phases", compiled):
        yield


def delayed(comm: Comm, runs: int) -> tuple[int, list[str]]:
    """Run so often with a slow transport; return how often, and which runs ended early on this rank."""
    early, done = [], 0
    graphs = [graph_of(kind).build(comm, "random") for kind in range(4)]
    expected = [
        [gl.run(program, graph).vertices.to_dict(field) for program, field, _ in KINDS] for graph in graphs
    ]
    with slow(comm, 7), compiled_once():
        for k in range(runs):
            which = k % len(graphs), k // len(graphs) % len(KINDS)
            program, field, engine = KINDS[which[1]]
            with mock.patch.object(make_machine, "BIG", (1, 3, make_machine.BIG)[k % 3]):
                result = gl.run(program, graphs[which[0]], engine=engine, on="local")
            done += 1
            known = expected[which[0]][which[1]]
            found = result.vertices.to_dict(field)
            if not result.converged or any(known[v] != x for v, x in found.items()):
                early.append(f"run {k}: {program} on graph {which[0]}")
    return done, early


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 4])
def test_delayed_runs_end_neither_early_nor_never(hosts: Any, size: int) -> None:
    runs = {"quick": 40, "long": 400}.get(os.environ.get("GASLAB_HYPOTHESIS", ""), 120)
    for done, early in hosts(size).run(delayed, runs, timeout=240):
        assert (done, early) == (runs, [])


def hasty(comm: Comm) -> list[str]:
    """Take it for the end when all ranks had nothing to do once, and nothing else."""
    with mock.patch.object(Counts, "end", lambda counts, before: bool(counts.passive.all())):
        return delayed(comm, 48)[1]


@pytest.mark.slow
def test_an_early_end_would_be_found(hosts: Any) -> None:
    assert any(hosts(3).run(hasty))


def limits(comm: Comm) -> tuple[int, bool, float, bool]:
    graph = hubs().build(comm)
    warned = pytest.warns(gl.errors.ConvergenceWarning) if not comm.rank else contextlib.nullcontext()
    with warned:
        few = gl.run(programs.Restless(), graph, engine=gl.Async(max_updates=500))
    enough = gl.run(programs.Sated(), graph, engine="async")
    late = r"Restless ran out of 0.2 s (after \d+ updates|before vertex)"  # or while `most` is computed
    with pytest.raises(gl.errors.TimeoutExpired, match=late):
        gl.run(programs.Restless(), graph, engine="async", timeout=0.2)
    return few.metrics["updates"], few.converged, enough.aggregates["most"], enough.converged


@pytest.mark.slow
def test_limits_end_a_run_that_would_not_end(ranks: Ranks) -> None:
    for updates, limited, most, done in ranks.run(limits):
        assert updates == 500 if ranks.size == 1 else updates >= 500
        assert not limited
        assert most >= 50
        assert done


def fails(comm: Comm) -> tuple[list[int], list[int]]:
    """Let runs fail with batches on the road; return what a later run finds, and what it should."""
    drawn = hubs(40, 160)
    graph = drawn.build(comm, "random")
    ending = gl.Graph.from_edges([1, 2, 3], [2, 3, 4], comm=comm)
    for _ in range(5):
        with pytest.raises(
            gl.errors.ExecutionError, match=r"Divides failed at vertex 4 in turn 1: .*division"
        ):
            gl.run(programs.Divides(), ending, engine="async")
        with pytest.raises(gl.errors.ExecutionError, match=r"Trips failed"):
            gl.run(programs.Trips(), graph, engine="async")
    expected = np.bincount([target for _, target in drawn.edges], minlength=len(drawn.ids))
    return gl.run(programs.Parcels(), graph, engine="async").vertices["got"].tolist(), expected.tolist()


def test_a_fault_is_raised_on_every_rank_and_leaves_nothing_on_the_road(ranks: Ranks) -> None:
    for found, expected in ranks.run(fails):
        assert found == expected
