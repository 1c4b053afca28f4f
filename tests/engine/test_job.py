"""Jobs: a program that was prepared once answers as `gaslab.run` does, run after run."""

from __future__ import annotations

import gc
import signal
import tracemalloc
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.engine import execute
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks


class Spread(gl.VertexProgram):
    """Heat of drawn starts spreads over edges, which wear; its parameters are numbers, an id and a length."""

    rate: float = 0.5
    hot: gl.VertexId = 0
    size: int = 2
    divisor: int = 1

    class Vertex(gl.Vertex):
        heat: gl.Vector = gl.field(shape="size", init=gl.uniform())
        steps: int = 0

    class Edge(gl.Edge):
        weight: float = 1.0
        worn: float = 0.0

    class Total(gl.Accumulator):
        heat: gl.Vector = gl.field(shape="size")

    @gl.aggregator
    def total(self, v: Vertex) -> gl.Sum[float]:
        return np.sum(v.heat)

    def init(self, v: Vertex) -> None:
        if v.id == self.hot:
            v.heat[0] = 8.0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        return self.Total(heat=e.weight * nbr.heat)

    def apply(self, v: Vertex, total: Total) -> None:
        v.heat = self.rate * v.heat + total.heat
        v.steps += 6 // self.divisor

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.worn += v.heat[0]


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


class Endless(gl.VertexProgram):
    most: int = 3

    class Vertex(gl.Vertex):
        steps: int = 0

    def apply(self, v: Vertex) -> None:
        v.steps += 1

    def done(self) -> bool:
        return self.superstep + 1 >= self.most


def drawn_graph(comm: Comm, seed: int = 1) -> gl.Graph:
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, 40, (2, 160))
    return gl.Graph.from_edges(
        src, dst, columns={"weight": rng.integers(1, 5, 160) / 8}, strategy="random", comm=comm
    )


def content(result: gl.Result) -> dict[str, Any]:
    """Return all that a result answers, but for times and bytes."""
    same = ("parameters", "seed", "engine", "iterations", "converged", "updates", "threads", "strategy")
    rows = [{k: x for k, x in row.items() if k not in ("seconds", "bytes_sent")} for row in result.history]
    return {
        "vertices": {name: result.vertices[name].tolist() for name in result.vertices.columns},
        "edges": sorted(map(str, result.collect_edges().to_pandas().itertuples())),
        "history": rows,
        "metrics": [result.metrics[name] for name in same],
        "aggregates": result.aggregates,
    }


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


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda job: job.run(rat=1.0), "Spread has no parameter 'rat'; did you mean 'rate'?"),
        (lambda job: job.run(rate="x"), "Spread(rate='x'): a number is needed, not str"),
        (lambda job: job.run(max_iterations=-1), "max_iterations=-1: a whole number of at least 0 is needed"),
        (lambda job: job.run_many(), "run_many() needs values of a parameter: run_many(source=[0, 1])"),
        (lambda job: job.run_many(rate=0.5), "run_many(rate=0.5) needs a sequence, a value for each run"),
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
    ids=["unknown", "kind", "option", "none", "one", "lengths", "init"],
)  # fmt: skip
def test_wrong_arguments_have_an_error_and_leave_the_job_as_it_was(call: Any, said: str) -> None:
    job = gl.prepare(Spread(), drawn_graph(Comm()), max_iterations=1)
    with pytest.raises(gl.UsageError) as caught:
        call(job)
    assert str(caught.value) == said
    assert job.run().iterations == 1


def test_a_parameter_goes_before_the_argument_of_its_name() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 0])
    job = gl.prepare(Seeded(), graph, max_iterations=1, seed=9)
    answer = job.run(seed=5)
    assert answer.vertices["given"].tolist() == [5, 5]
    again = gl.run(Seeded(), graph, max_iterations=1, seed=9)
    assert answer.vertices["drawn"].tolist() == again.vertices["drawn"].tolist()


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
TABLE = np.ones(3)


class Table(gl.VertexProgram):
    class Vertex(gl.Vertex):
        value: float = 0.0

    def apply(self, v: Vertex) -> None:
        v.value = TABLE[v.in_degree]


class Constant(gl.VertexProgram):
    class Vertex(gl.Vertex):
        value: int = 0

    def apply(self, v: Vertex) -> None:
        v.value = READ


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
