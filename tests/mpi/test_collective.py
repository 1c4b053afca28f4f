"""Ranks that disagree on a call get one error; a rank that cannot come is named; none waits for ever."""

from __future__ import annotations

import inspect
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.launcher import run_script
from tests.mpi.ranks import Ranks
from tests.support.threadcomm import run_ranks

pytestmark = pytest.mark.timed


class Steps(gl.VertexProgram):
    rate: float = 1.0

    class Vertex(gl.Vertex):
        heat: float = 1.0

    def apply(self, v: Vertex) -> None:
        v.heat = v.heat * self.rate


class Others(Steps):
    def apply(self, v: Steps.Vertex) -> None:
        v.heat = v.heat + self.rate


def cycle(comm: Comm) -> gl.Graph:
    return gl.Graph.from_edges([0, 1, 2], [1, 2, 0], columns={"weight": [1.0, 2.0, 3.0]}, comm=comm)


def run(graph: gl.Graph, program: gl.VertexProgram | None = None, **options: Any) -> gl.Result:
    return gl.run(program or Steps(), graph, **{"max_iterations": 1, **options})


def first(v):  # type: ignore[no-untyped-def]
    return v.id == 0


def second(v):  # type: ignore[no-untyped-def]
    return v.id == 1


def weight(shift):  # type: ignore[no-untyped-def]
    def shifted(v):  # type: ignore[no-untyped-def]
        return v.id + shift

    return shifted


# What each of two ranks does with a graph, and what the error says ranks disagree on.
DISAGREEMENTS: dict[str, tuple[Any, Any, str]] = {
    "programs": (lambda g: run(g), lambda g: run(g, Others()), r"program of run\(\)"),
    "parameters": (lambda g: run(g), lambda g: run(g, Steps(rate=2.0)), r"program of run\(\)"),
    "limits": (lambda g: run(g), lambda g: run(g, max_iterations=2), r"max_iterations of run\(\)"),
    "engines": (lambda g: run(g), lambda g: run(g, engine="reference"), r"engine of run\(\)"),
    "options of engines": (
        lambda g: run(g, engine=gl.Stale(1)),
        lambda g: run(g, engine=gl.Stale(2)),
        r"engine of run\(\)",
    ),
    "init": (lambda g: run(g), lambda g: run(g, init={"heat": 1.0}), r"init of run\(\)"),
    "values of init": (
        lambda g: run(g, init={"heat": np.zeros(3)}),
        lambda g: run(g, init={"heat": np.ones(3)}),
        r"init of run\(\)",
    ),
    "on": (lambda g: run(g), lambda g: run(g, on="root"), r"on of run\(\)"),
    "timeouts": (lambda g: run(g), lambda g: run(g, timeout=9.0), r"timeout of run\(\)"),
    "seeds": (lambda g: run(g), lambda g: run(g, seed=1), r"seed of run\(\)"),
    "start": (lambda g: run(g, start=[0]), lambda g: run(g, start=[1]), r"start of run\(\)"),
    "columns": (lambda g: run(g), lambda g: run(g, columns={}), r"columns of run\(\)"),
    "functions": (gl.pagerank, gl.components, "what to do"),
    "options": (gl.pagerank, lambda g: gl.pagerank(g, seed=1), r"seed of pagerank\(\)"),
    "own arguments": (gl.pagerank, lambda g: gl.pagerank(g, damping=0.5), r"damping of pagerank\(\)"),
    "sources": (lambda g: gl.sssp(g, 0), lambda g: gl.sssp(g, 1), r"source of sssp\(\)"),
    "paths": (
        lambda g: gl.read_graph("a.tsv", comm=g.comm),
        lambda g: gl.read_graph("b.tsv", comm=g.comm),
        r"path of read_graph\(\)",
    ),
    "cuts": (
        lambda g: g.partitioned("2d"),
        lambda g: g.partitioned("random"),
        r"strategy of partitioned\(\)",
    ),
    "methods": (lambda g: g.reverse(), lambda g: g.to_undirected(), "what to do"),
    "predicates": (lambda g: g.vertices(first), lambda g: g.vertices(second), r"which of vertices\(\)"),
    "closures": (
        lambda g: g.map_vertices(n=weight(1)),
        lambda g: g.map_vertices(n=weight(2)),
        r"n of map_vertices\(\)",
    ),
    "sets": (
        lambda g: 0 in g.vertices([0, 1]),
        lambda g: 1 in g.vertices([0, 1]),
        r"user_id of __contains__\(\)",
    ),
    "ids": (lambda g: g.ids.find([0]), lambda g: g.ids.find([1]), r"user_ids of find\(\)"),
    "edges": (lambda g: g.edges("all"), lambda g: g.edges("root"), r"on of edges\(\)"),
    "explanations": (
        lambda g: gl.explain(gl.programs.PageRank, g),
        lambda g: gl.explain(gl.programs.Components, g),
        r"program of explain\(\)",
    ),
    "graphs": (
        lambda g: gl.degrees(g),
        lambda g: gl.degrees(g.comm.own),
        r"graph of degrees\(\)",
    ),
}


def disagree(comm: Comm, name: str) -> None:
    graph = cycle(comm)
    comm.own = gl.Graph.from_edges([0], [1], comm=comm)  # type: ignore[attr-defined]
    most, last, _ = DISAGREEMENTS[name]
    (last if comm.rank == comm.size - 1 else most)(graph)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("name", DISAGREEMENTS)
def test_ranks_that_disagree_all_hear_of_it(name: str, size: int) -> None:
    with pytest.raises(gl.UsageError, match=rf"ranks disagree on {DISAGREEMENTS[name][2]}") as raised:
        run_ranks(size, lambda comm: disagree(comm, name))
    text = str(raised.value)
    assert f"rank {size - 1} " in text or "is not the same on all" in text
    assert re.search(r"test_collective\.py:\d+", text)


@pytest.mark.parametrize("name", ["limits", "functions", "values of init"])
def test_the_same_over_mpi(name: str, hosts) -> None:  # type: ignore[no-untyped-def]
    for size in (2, 3, 4):
        with pytest.raises(gl.UsageError, match=rf"ranks disagree on {DISAGREEMENTS[name][2]}"):
            hosts(size).run(disagree, name)


def agree(comm: Comm) -> list[Any]:
    """What may differ: numbers of Python and numpy, the order of a mapping, progress, rows that are parts."""
    graph, odd = cycle(comm), comm.rank % 2
    found = run(
        graph, max_iterations=[1, np.int64(1)][odd], seed=[0, np.int64(0)][odd], progress=bool(odd),
        init=[{"heat": {0: 1.0, 1: 2.0, 2: 0.5}}, {"heat": {2: 0.5, 1: np.float64(2), 0: 1.0}}][odd],
    )  # fmt: skip
    again = run(graph, init=run(graph, on="local"))
    parts = gl.Graph.from_edges([comm.rank], [comm.rank + 1], rows="parts", comm=comm)
    root = gl.Graph.from_edges(*[([0], [1]), ([], [])][comm.rank > 0], rows="root", comm=comm)
    ids = parts.ids.find([comm.rank], rows="parts").tolist() == [comm.rank]
    return [found.vertices["heat"].tolist(), again.iterations, parts.num_edges, root.num_edges, ids]


def test_what_may_differ_does(ranks: Ranks) -> None:
    assert ranks.run(agree) == [[[1.0, 2.0, 0.5], 1, ranks.size, 1, True]] * ranks.size


def after_an_error(comm: Comm) -> list[float]:
    graph = cycle(comm)
    with pytest.raises(gl.UsageError, match="ranks disagree"):
        run(graph, seed=comm.rank)
    return run(graph).vertices["heat"].tolist()  # type: ignore[no-any-return]


def test_ranks_go_on_after_a_disagreement(hosts) -> None:  # type: ignore[no-untyped-def]
    assert hosts(3).run(after_an_error) == [[1.0, 1.0, 1.0]] * 3


def test_every_public_collective_function_is_declared() -> None:
    """A function of the package that takes a graph or ranks, or a method whose class is collective."""
    public = [getattr(gl, name) for name in gl.__all__ if inspect.isfunction(getattr(gl, name))]
    takes = [f for f in public if {"graph", "comm"} & set(inspect.signature(f).parameters)]
    assert len(takes) > 20
    for function in takes:
        assert hasattr(function, "__wrapped__"), f"gl.{function.__name__} is not declared @collective"
    for cls in (gl.Graph, gl.VertexSet):
        for name, member in inspect.getmembers(cls, inspect.isroutine):
            doc = (inspect.getdoc(member) or "").lower()
            if not name.startswith("_") and "collective" in doc and "not collective" not in doc:
                assert hasattr(member, "__wrapped__"), f"{cls.__name__}.{name} is not declared @collective"


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda g: gl.run(Steps(), g, max_iteration=3), r"run\(\) has no argument 'max_iteration'; did you"),
        (lambda g: gl.pagerank(g, dampng=0.5), r"pagerank\(\) has no argument 'dampng'; did you mean 'damp"),
        (lambda g: gl.pagerank(g, tiemout=5), r"pagerank\(\) has no argument 'tiemout'; did you mean 'time"),
        (lambda g: gl.run(Steps()), r"run\(\): missing a required argument: 'graph'"),
        (lambda g: gl.run(Steps(), g, 3), r"run\(\): too many positional arguments"),
        (lambda g: g.partitioned(), r"partitioned\(\): missing a required argument: 'strategy'"),
        (lambda g: g.partitioned("2d", strategy="1d"), r"partitioned\(\): multiple values for argument"),
        (lambda g: gl.Graph.from_edges([0], [1], direct=False), r"no argument 'direct'; did you mean 'dir"),
    ],
)
def test_arguments_that_do_not_fit(call: Any, error: str) -> None:
    with pytest.raises(gl.UsageError, match=error):
        call(cycle(Comm()))


# ---- ranks that do not come, in whole jobs

BEGIN = """
import sys, time
import gaslab as gl
from gaslab.parallel.comm import world
rank = world().rank
graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0])
began = time.time()
"""


def job(tmp_path: Path, ranks: int, text: str, **environment: str) -> tuple[int, str, str]:
    """Run a script that has a graph on so many ranks; return its exit code, stdout and stderr."""
    script = tmp_path / "script.py"
    script.write_text(BEGIN + text)
    done = run_script(ranks, [str(script)], timeout=60, **environment)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("end", ["sys.exit(0)", "raise SystemExit", "pass"])
def test_a_rank_that_has_ended_is_missed(tmp_path: Path, end: str) -> None:
    text = f"if rank == 1:\n    {end}\nelse:\n    time.sleep(0.3)\n    began = time.time()\n    try:\n"
    text += "        gl.pagerank(graph)\n    finally:\n        print('in', time.time() - began, flush=True)\n"
    code, out, error = job(tmp_path, 3, text)
    assert code == 1
    assert re.search(r"rank 1 has ended, but rank [02] called pagerank\(\) at .*script.py:\d+", error)
    seconds = re.findall(r"[0-9]+\.[0-9]+", out)  # two ranks print at once
    assert seconds
    assert float(seconds[0]) < 3.0  # one second is the promise; the rest is for a busy machine


def test_a_rank_that_makes_no_call_at_all_is_missed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import gaslab as gl\nfrom mpi4py import MPI\n"
        "if MPI.COMM_WORLD.rank == 0:\n    print(gl.Graph.from_edges([0], [1]))\n"
    )
    done = run_script(2, ["-m", "gaslab", str(script)], timeout=60)
    assert done.returncode == 1
    assert "rank 1 has ended, but rank 0 called from_edges() at" in done.stderr


def test_a_call_that_was_given_up_is_closed_to_all(tmp_path: Path) -> None:
    text = """
if rank == 1:
    time.sleep(2)
for _ in range(2):
    try:
        gl.pagerank(graph)
    except gl.GaslabError as error:
        print(rank, type(error).__name__, str(error).replace("\\n", " "), flush=True)
"""
    code, out, _ = job(tmp_path, 2, text, GASLAB_COLLECTIVE_TIMEOUT="0.5")
    lines = sorted(out.splitlines())
    assert code == 0
    assert sum("0 TimeoutExpired rank 1 has not come to pagerank()" in line for line in lines) == 1
    assert sum("an earlier call of these ranks failed" in line for line in lines) == 2
    assert sum("rank 1 came to pagerank()" in line and "too late" in line for line in lines) == 1


def test_a_rank_that_is_interrupted_in_a_call_speaks_before_those_that_come_too_late(tmp_path: Path) -> None:
    text = """
import os, signal, threading
if rank == 2:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
else:
    time.sleep(0.5)
gl.pagerank(graph)
"""
    code, _, error = job(tmp_path, 3, text)
    assert code == 130
    assert "gaslab: rank 2 of 3 failed; ending all ranks" in error
    assert "AbandonedError" not in error


PARTED = {
    "constants": "RATE = 1.0 + rank\n",
    "fields": "RATE = 1.0\nFIELD = gl.field(init=1.0 + rank)\n",
    "widths": "RATE = 1.0\nWIDTH = [gl.float64, gl.float32][rank]\n",
}


@pytest.mark.parametrize("what", PARTED)
def test_programs_that_differ_in_what_they_read(tmp_path: Path, what: str) -> None:
    width = "WIDTH" if what == "widths" else "float"
    text = (
        PARTED[what]
        + f"""
class Heat(gl.VertexProgram):
    class Vertex(gl.Vertex):
        heat: {width} = {"FIELD" if what == "fields" else "1.0"}

    def apply(self, v: Vertex) -> None:
        v.heat = v.heat * RATE

gl.run(Heat(), graph, max_iterations=1)
"""
    )
    code, _, error = job(tmp_path, 2, text)
    assert code == 1
    assert re.search(r"Heat is not the same program on all ranks|ranks disagree on program of run\(\)", error)


def test_threads_of_two_communicators_are_no_deadlock(tmp_path: Path) -> None:
    text = """
import threading
from mpi4py import MPI
other = gl.Graph.from_edges([0], [1], comm=MPI.COMM_WORLD.Dup())
agreed = [lambda: graph.comm.meet(b"x", "one"), lambda: other.comm.meet(b"y", "two")]
first, second = agreed if rank else agreed[::-1]
late = threading.Timer(1.5, second)
late.start()
first()
late.join()
print("fine", flush=True)
"""
    code, out, error = job(tmp_path, 2, text)
    assert (code, out.count("fine")) == (0, 2), error


def test_ranks_end_at_their_own_time(tmp_path: Path) -> None:
    assert job(tmp_path, 3, "time.sleep(rank * 0.7)\nsys.exit(0)\n") == (0, "", "")


def test_ranks_that_wait_for_each_other_on_two_communicators(tmp_path: Path) -> None:
    text = """
from mpi4py import MPI
other = gl.Graph.from_edges([0], [1], comm=MPI.COMM_WORLD.Dup())
gl.pagerank(graph if rank else other)
"""
    code, _, error = job(tmp_path, 2, text)
    assert code == 1
    found = r"rank \d called pagerank\(\) at \S+ on one communicator, rank \d pagerank\(\) at \S+ on another"
    assert re.search(found, error), error


LATE = """
from gaslab.parallel import rendezvous
rendezvous.WARN_SECONDS = 0.6
if rank == 1:
    time.sleep(1.5)
gl.pagerank(graph)
"""


def test_a_busy_rank_is_named_in_a_warning(tmp_path: Path) -> None:
    code, _, error = job(tmp_path, 3, LATE)
    assert code == 0
    found = r"rank 1 has not come to pagerank\(\) at \S+script.py:\d+ for [\d.]+ s; ranks 0, 2 have waited"
    assert len(re.findall(found, error)) == 1, error


def test_a_busy_rank_is_an_error_where_the_user_says_so(tmp_path: Path) -> None:
    began = time.monotonic()
    code, _, error = job(tmp_path, 2, LATE.replace("1.5", "45"), GASLAB_COLLECTIVE_TIMEOUT="1")
    assert code == 1
    assert "TimeoutExpired: rank 1 has not come to pagerank()" in error
    assert "(GASLAB_COLLECTIVE_TIMEOUT=1)" in error
    assert time.monotonic() - began < 30


def test_a_timeout_that_is_no_number(tmp_path: Path) -> None:
    code, _, error = job(tmp_path, 2, LATE, GASLAB_COLLECTIVE_TIMEOUT="soon")
    assert code == 1
    assert "GASLAB_COLLECTIVE_TIMEOUT='soon': a number of seconds above 0 is needed" in error


def test_commands_that_differ(tmp_path: Path) -> None:
    graph = tmp_path / "graph.tsv"
    graph.write_text("0\t1\n1\t2\n")
    words = f"['pagerank', {str(graph)!r}, '--top', str(rank + 1)]"
    text = f"from gaslab.cli import main\nsys.exit(main({words}))\n"
    code, out, error = job(tmp_path, 2, text)
    assert (code, out) == (2, "")
    assert "ranks disagree on command line of gaslab()" in error
