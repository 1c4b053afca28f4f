"""Jobs: a program that was prepared once answers as `gaslab.run` does, run after run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.engine import execute
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.jobs import Spread, content, drawn_graph


class LateLength(gl.VertexProgram):
    """A length that the accumulator of the second phase names alone."""

    size: int = 2

    class Vertex(gl.Vertex):
        sum: float = 0.0

    class Total(gl.Accumulator):
        ones: gl.Vector = gl.field(shape="size")

    def begin(self, v: Vertex) -> None:
        v.sum = 0.0

    def ones(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        return self.Total(ones=np.ones(self.size))

    def add(self, v: Vertex, total: Total) -> None:
        v.sum = np.sum(total.ones)

    phases = (gl.Phase(apply=begin, supersteps=1), gl.Phase(gather=ones, apply=add, supersteps=1))


class Seeded(gl.VertexProgram):
    seed: int = 4

    class Vertex(gl.Vertex):
        drawn: float = gl.field(init=gl.uniform())
        given: int = 0

    def apply(self, v: Vertex) -> None:
        v.given = self.seed


RUNS: list[dict[str, Any]] = [
    {}, {"rate": 0.25}, {"hot": 3}, {"size": 3}, {"size": 2, "rate": 0.0}, {"size": 3, "hot": 1}, {},
]  # fmt: skip


def both(comm: Comm, options: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return what a job answers, run after run, and what `gaslab.run` does."""
    graph, how = drawn_graph(comm), {"max_iterations": 4, "threads": 1, **options}
    job, found = gl.prepare(Spread(), graph, **how), []
    for k, parameters in enumerate(RUNS):
        init = {"steps": {0: 7}} if k == 2 else None
        expected = gl.run(Spread(**parameters), graph, init=init, **{**how, "seed": k})
        found.append((content(job.run(seed=k, init=init, **parameters)), content(expected)))
    return found


@pytest.mark.filterwarnings("ignore:Spread")
@pytest.mark.parametrize(
    "options", [{}, {"compile": "never"}, {"engine": "reference"}, {"strategy": "dbh", "threads": 2}], ids=str
)
def test_a_job_answers_as_run_does(ranks: Ranks, options: dict[str, Any]) -> None:
    for found in ranks.run(both, options):
        for job, run in found:
            assert job == run


def kept(comm: Comm, engine: Any) -> list[Any]:
    graph = drawn_graph(comm)
    job = gl.prepare(gl.programs.ShortestPaths(source=0), graph, engine=engine)
    return [
        (job.run(source=s).vertices["distance"].tolist(),
         gl.run(gl.programs.ShortestPaths(source=s), graph).vertices["distance"].tolist())
        for s in (0, 5, 0)
    ]  # fmt: skip


@pytest.mark.parametrize("engine", [gl.Sync(), gl.Async(), gl.Stale(1)], ids=str)
def test_every_engine_runs_jobs(hosts: Any, engine: Any) -> None:
    for found in hosts(2).run(kept, engine):
        for job, run in found:
            assert job == run


def test_a_length_makes_other_machine_code_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []
    compile_phases = execute.compile_phases

    def noted(program: type, *arguments: Any) -> Any:
        compiled.append(arguments[2])
        return compile_phases(program, *arguments)

    monkeypatch.setattr(execute, "compile_phases", noted)
    with gl.prepare(Spread(), drawn_graph(Comm()), max_iterations=1) as job:
        for size in (2, 3, 2, 3):
            for rate in (0.5, 0.25):
                job.run(size=size, rate=rate)
    assert [one["size"] for one in compiled] == [2, 3]


def test_a_length_of_a_later_phase_makes_other_machine_code() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 0])
    job = gl.prepare(LateLength(), graph)
    assert [job.run(size=k).vertices["sum"].tolist() for k in (2, 5, 2)] == [[2, 2], [5, 5], [2, 2]]


@pytest.mark.filterwarnings("ignore:Spread")
def test_run_many_runs_once_for_each_value() -> None:
    job = gl.prepare(Spread(), drawn_graph(Comm()), max_iterations=2)
    found = job.run_many(rate=[0.5, 0.25], hot=[3, 1], seed=5)
    one = [job.run(rate=0.5, hot=3, seed=5), job.run(rate=0.25, hot=1, seed=5)]
    assert [content(x) for x in found] == [content(x) for x in one]


@pytest.mark.filterwarnings("ignore:Spread", "ignore:Levels")
def test_run_many_takes_an_option_for_each_run() -> None:
    job = gl.prepare(Spread(), drawn_graph(Comm()), max_iterations=2)
    heat = np.zeros((40, 2))
    for found, one in (
        (job.run_many(seed=[5, 6]), [job.run(seed=5), job.run(seed=6)]),
        (job.run_many(rate=[0.5, 0.25], max_iterations=(1, 2)),
         [job.run(rate=0.5, max_iterations=1), job.run(rate=0.25, max_iterations=2)]),
        (job.run_many(init=[{"heat": heat}, None]), [job.run(init={"heat": heat}), job.run()]),
        (job.run_many(seed=[1, 2], init={"heat": heat}),
         [job.run(seed=1, init={"heat": heat}), job.run(seed=2, init={"heat": heat})]),
    ):  # fmt: skip
        assert [content(x) for x in found] == [content(x) for x in one]
    assert job.run_many(rate=[]) == []
    ring = gl.prepare(gl.programs.Levels(source=0), gl.Graph.from_edges([0, 1, 2], [1, 2, 0]))
    found = ring.run_many(start=[[1], {2}])
    assert [content(x) for x in found] == [content(ring.run(start=[k])) for k in (1, 2)]


def test_a_parameter_goes_before_the_argument_of_its_name() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 0])
    job = gl.prepare(Seeded(), graph, max_iterations=1, seed=9)
    answer = job.run(seed=5)
    assert answer.vertices["given"].tolist() == [5, 5]
    again = gl.run(Seeded(), graph, max_iterations=1, seed=9)
    assert answer.vertices["drawn"].tolist() == again.vertices["drawn"].tolist()


def test_what_the_program_reads_of_the_module_is_read_once() -> None:
    """A job is of the class as it was; `gaslab.run` reads it anew."""
    graph = gl.Graph.from_edges([0, 1], [1, 0])
    job = gl.prepare(Constant(), graph, max_iterations=1)
    try:
        globals()["READ"] = 5
        assert job.run().vertices["value"].tolist() == [4, 4]
        assert gl.run(Constant(), graph, max_iterations=1).vertices["value"].tolist() == [5, 5]
    finally:
        globals()["READ"] = 4


READ = 4


class Constant(gl.VertexProgram):
    class Vertex(gl.Vertex):
        value: int = 0

    def apply(self, v: Vertex) -> None:
        v.value = READ
