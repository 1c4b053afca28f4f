"""What jobs refuse, how they go on after a run that failed, and what they free."""

from __future__ import annotations

import gc
import signal
import tracemalloc
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.jobs import Endless, Spread, content, drawn_graph

TABLE = np.ones(3)


class Table(gl.VertexProgram):
    class Vertex(gl.Vertex):
        value: float = 0.0

    def apply(self, v: Vertex) -> None:
        v.value = TABLE[v.in_degree]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda job: job.run(rat=1.0), "Spread has no parameter 'rat'; did you mean 'rate'?"),
        (lambda job: job.run(rate="x"), "Spread(rate='x'): a number is needed, not str"),
        (lambda job: job.run(max_iterations=-1), "max_iterations=-1: a whole number of at least 0 is needed"),
        (lambda job: job.run_many(), "run_many() needs values for each run: run_many(source=[0, 1])"),
        (lambda job: job.run_many(rate=0.5), "run_many(rate=0.5) needs a sequence, a value for each run"),
        (
            lambda job: job.run_many(rate=np.array(0.5)),
            "run_many(rate=array(0.5)) needs a sequence, a value for each run",
        ),
        (
            lambda job: job.run_many(seed="ab"),
            "run_many(seed='ab') needs a sequence, a value for each run",
        ),
        (
            lambda job: job.run_many(start={0: 1}),
            "run_many(start={0: 1}) needs a sequence, a value for each run",
        ),
        (
            lambda job: job.run_many(rate=[0.5], seed=[1, 2, 3]),
            "run_many() needs sequences of one length, a value for each run; seed has 3, rate has 1",
        ),
        (
            lambda job: job.run_many(rate=[0.5], hot=[1, 2]),
            "run_many() needs sequences of one length, a value for each run; rate has 1, hot has 2",
        ),
        (
            lambda job: job.run(init=gl.degrees(gl.Graph.from_edges([0], [1]))),
            "init= is a result of another graph (<Result of Degrees: 2 vertices, 0 supersteps, converged; "
            "fields: in_edges, out_edges, edges>); a job starts from results of its own graph: use "
            "gaslab.run, or give init={field: values by vertex id}",
        ),
    ],
    ids=["unknown", "kind", "option", "none", "one", "array", "text", "start", "seeds", "lengths", "init"],
)  # fmt: skip
def test_wrong_arguments_have_an_error_and_leave_the_job_as_it_was(call: Any, said: str) -> None:
    job = gl.prepare(Spread(), drawn_graph(Comm()), max_iterations=1)
    with pytest.raises(gl.UsageError) as caught:
        call(job)
    assert str(caught.value) == said
    assert job.run().iterations == 1


def after_faults(comm: Comm) -> list[Any]:
    """Run a job that fails, and again; by faults of the program, the timeout and Ctrl-C."""
    job, found = gl.prepare(Spread(), drawn_graph(comm), max_iterations=2, threads=1), []
    for _ in range(2):
        with pytest.raises(gl.ExecutionError, match="division"):
            job.run(divisor=0)
        found.append(content(job.run()))
    return found


def test_a_job_runs_after_a_fault(ranks: Ranks) -> None:
    found = ranks.run(after_faults)
    for mine in found:
        assert mine == [mine[0]] * 2


def test_a_job_runs_after_ctrl_c_and_after_the_timeout() -> None:
    graph, stop = drawn_graph(Comm()), [True]

    def progress(row: dict[str, Any]) -> None:
        if stop and row["superstep"] == 2:
            stop.pop()
            signal.raise_signal(signal.SIGINT)

    job = gl.prepare(Endless(), graph, progress=progress)
    with pytest.raises(KeyboardInterrupt):
        job.run(most=9)
    assert job.run(most=9).iterations == 9
    late = gl.prepare(Endless(), graph, timeout=0.05)
    with pytest.raises(gl.TimeoutExpired):
        late.run(most=1 << 40)
    assert late.run().iterations == 3


def test_a_job_has_one_run_at_a_time() -> None:
    graph, found = drawn_graph(Comm()), []

    def progress(row: dict[str, Any]) -> None:
        with pytest.raises(gl.UsageError, match="is running; a job has one run at a time"):
            job.run()
        found.append(row)

    job = gl.prepare(Endless(), graph, progress=progress)
    assert job.run().iterations == len(found) == 3


def test_a_job_that_is_closed_while_it_runs_stays_closed() -> None:
    job = gl.prepare(Endless(), drawn_graph(Comm()), progress=lambda row: job.close())
    assert job.run().iterations == 3
    with pytest.raises(gl.UsageError, match="is closed; prepare another"):
        job.run()


def test_an_array_that_was_resized_is_refused() -> None:
    job = gl.prepare(Table(), gl.Graph.from_edges([0, 1], [1, 0]), max_iterations=1)
    assert job.run().vertices["value"].tolist() == [1.0, 1.0]
    TABLE.resize(1, refcheck=False)
    try:
        with pytest.raises(gl.UsageError) as caught:
            job.run()
    finally:
        TABLE.resize(3, refcheck=False)
    assert str(caught.value) == (
        "Table reads the array 'TABLE', which had the shape (3,) when the program was prepared and has (1,) "
        "now; prepare it again"
    )


def two_engines(comm: Comm) -> str:
    graph = drawn_graph(comm)
    jobs = [gl.prepare(Endless(), graph, max_iterations=k) for k in (2, 3)]
    with pytest.raises(gl.UsageError) as caught:
        jobs[comm.rank].run()
    return str(caught.value)


def test_ranks_that_run_different_jobs_all_raise(hosts: Any) -> None:
    for said in hosts(2).run(two_engines):
        assert "ranks disagree on self of run()" in said


def test_a_closed_job_keeps_its_results_and_runs_no_more() -> None:
    with gl.prepare(Endless(), drawn_graph(Comm())) as job:
        result = job.run()
        assert repr(job) == "<Job of Endless(most=3)>"
    assert result.vertices["steps"].tolist() == [3] * len(result.vertices)
    assert repr(job) == "<Job of Endless(most=3) (closed)>"
    with pytest.raises(gl.UsageError) as caught:
        job.run()
    assert str(caught.value) == "this job of Endless is closed; prepare another"


def disagree(comm: Comm) -> str:
    job = gl.prepare(Endless(), drawn_graph(comm))
    with pytest.raises(gl.UsageError) as caught:
        job.run(most=2 + comm.rank)
    assert job.run().iterations == 3
    return str(caught.value)


def test_ranks_that_disagree_on_a_run_all_raise(hosts: Any) -> None:
    for said in hosts(2).run(disagree):
        assert "ranks disagree on most of run(): rank 0 passed 2" in said


@pytest.mark.filterwarnings("ignore:Spread")  # pytest keeps each warning that is given
def test_memory_is_flat_over_many_runs() -> None:
    job = gl.prepare(Spread(), drawn_graph(Comm()), max_iterations=2)

    def held(runs: int) -> int:
        for k in range(runs):
            job.run(rate=k / 512, hot=k % 30)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = held(200)
        assert held(1000) - before < 1000 * 64  # bytes: an array of the run would be more
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("engine", [gl.Sync(), gl.Async()], ids=str)
def test_a_run_that_is_over_holds_nothing(engine: Any) -> None:
    """What a run has made is freed as its result is, without waiting for Python's search for cycles."""
    job = gl.prepare(gl.programs.ShortestPaths(source=0), drawn_graph(Comm()), engine=engine, threads=1)
    job.run()
    gc.collect()
    gc.disable()
    try:
        result = job.run()
        del result
        assert gc.collect() == 0
    finally:
        gc.enable()
