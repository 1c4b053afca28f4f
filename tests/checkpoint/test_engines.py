"""Checkpoints of runs without supersteps, with stale values, and of sweeps; SIGUSR1 and SIGTERM."""

from __future__ import annotations

import os
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm

SIZES = pytest.mark.parametrize("size", [1, 2, 3])


def drawn(comm: Comm) -> gl.Graph:
    vertices = 120_000 if comm.size == 1 else 3000  # one rank runs 65,536 before it looks for a checkpoint
    rng = np.random.default_rng(3)
    path = np.append(0, np.arange(vertices, vertices + 300))  # so long that no run is over at once
    ends = np.hstack([rng.integers(0, vertices, (2, 4 * vertices)), [path[:-1], path[1:]]])
    weight = rng.integers(1, 50, ends.shape[1]).astype(float)
    return gl.Graph.from_edges(*ends, columns={"weight": weight}, comm=comm)


ENGINES: dict[str, Any] = {
    "relaxed": gl.Async(),
    "serialisable": gl.Async(consistency="serialisable"),
    "sweep": gl.Async(scheduler="sweep"),
    "stale 0": gl.Stale(0),
    "stale 2": gl.Stale(2),
}


def resumed(comm: Comm, folder: str, name: str) -> list[str]:
    """Return how answers of a run that saves, and of one that resumes, differ from those of a plain run."""
    graph, engine = drawn(comm), ENGINES[name]
    every = {"every": "0s" if isinstance(engine, gl.Async) else 3}
    wrong = []
    for function, field, options in (
        (gl.sssp, "distance", {"source": 0}),
        (gl.pagerank, "score", {"tolerance": 1e-12}),
    ):
        here = f"{folder}/{function.__name__}"
        how: dict[str, Any] = {"engine": engine, "threads": 1, **options}
        whole = function(graph, **how).vertices[field]
        saved = function(graph, checkpoint=here, **every, **how)
        written = saved.metrics["checkpoints"]["written"]
        if not written and function is gl.sssp and comm.size == 1:
            continue  # over before the first look
        if not written:
            wrong.append(f"{function.__name__} saved nothing")
            continue
        again = function(graph, resume=here, **how)
        near = 0.0 if field == "distance" else 1e-9
        for what, result in (("saved", saved), ("resumed", again)):
            if not np.allclose(result.vertices[field], whole, 0.0, near) or not result.converged:
                wrong.append(f"{function.__name__}, {what}")
        if not again.metrics["checkpoints"]["resumed"]:
            wrong.append(f"{function.__name__} resumed nothing")
        if not isinstance(engine, gl.Async) and len(again.history) < again.iterations:
            wrong.append(f"{function.__name__}: the history has lost rows")
    return wrong


@pytest.mark.slow
@SIZES
@pytest.mark.parametrize("name", ENGINES)
def test_runs_without_barriers_resume(hosts: Any, size: int, name: str, tmp_path: Path) -> None:
    assert hosts(size).run(resumed, str(tmp_path), name, timeout=120)[0] == []


RUNGS = 200_000


class Ladder(gl.VertexProgram):
    """Each vertex runs once the one before it has: the updates of all count the vertices."""

    class Vertex(gl.Vertex):
        rung: int = -1
        runs: int = 0

    def start(self, v: Vertex) -> bool:
        return v.index == 0

    def apply(self, v: Vertex, message: gl.Max[int]) -> None:
        v.rung = max(v.rung, message, 0)
        v.runs += 1

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.rung < 0:
            nbr.signal(v.rung + 1)


def climbed(comm: Comm, folder: str) -> dict[str, Any]:
    chain = gl.Graph.from_edges(np.arange(RUNGS), np.arange(1, RUNGS + 1), comm=comm)
    how: dict[str, Any] = {"threads": 1}
    half = gl.Async(max_updates=RUNGS // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = gl.run(Ladder(), chain, engine=half, checkpoint=folder, every="0s", **how)
        few = gl.run(Ladder(), chain, engine=gl.Async(max_updates=RUNGS - 10), resume=folder, **how)
    rest = gl.run(Ladder(), chain, engine="async", resume=folder, **how)
    return {
        "first": first.metrics["updates"],
        "few": few.metrics["updates"],
        "rest": (rest.metrics["updates"], rest.converged, rest.history[-1]["updates"]),
        "rungs": rest.vertices["rung"].tolist() == list(range(RUNGS + 1)),
        "runs": set(rest.vertices["runs"].tolist()),
    }


def test_updates_go_on_where_they_were(hosts: Any, tmp_path: Path) -> None:
    found = hosts(1).run(climbed, str(tmp_path))[0]
    assert found == {
        "first": RUNGS // 2, "few": RUNGS - 10, "rest": (RUNGS + 1, True, RUNGS + 1), "rungs": True,
        "runs": {1},
    }  # fmt: skip


CORPUS = np.random.default_rng(1).integers(0, (60, 90), (4000, 2)).T
CHAINS: dict[str, dict[str, Any]] = {
    "gibbs": {"sampler": "gibbs", "iterations": 12},
    "metropolis-hastings": {"sampler": "metropolis-hastings", "iterations": 12, "burn_in": 3},
    "both": {"mh_sweeps": 5, "iterations": 12, "optimise_priors": 2, "evaluate_every": 2},
}


def terminating(comm: Comm, sweep: int) -> Callable[[Any], str] | bool:
    """Return a progress function by which rank 0 gets SIGTERM after so many sweeps."""

    def say(row: Any) -> str:
        if row["iteration"] == sweep:
            os.kill(os.getpid(), signal.SIGTERM)
        return ""

    return say if comm.rank == 0 else False


def chain_resumed(comm: Comm, folder: str, name: str, by_model: bool) -> list[str]:
    """Return how chains that SIGTERM ends, and that are resumed, differ from whole ones."""
    graph = gl.Graph.from_edges(*CORPUS, bipartite=True, comm=comm)
    how: dict[str, Any] = {"topics": 5, "threads": 1, "seed": 4, **CHAINS[name]}
    if by_model:
        del how["topics"]
        how["model"] = gl.TopicModel.of(graph, gl.lda(graph, topics=5, iterations=2, threads=1))
    whole, wrong = gl.lda(graph, **how), []
    for sweep in (2, 7, 10):
        here = f"{folder}/{sweep}"
        try:
            gl.lda(graph, checkpoint=here, progress=terminating(comm, sweep), **how)
            wrong.append(f"sweep {sweep}: SIGTERM was not heard")
        except gl.Terminated as ended:
            if ended.code != 143 or "was written" not in str(ended):
                wrong.append(f"sweep {sweep}: {ended}")
        again = gl.lda(graph, checkpoint=here, resume="auto", **how)
        same = {
            "counts": again.vertices["counts"].tobytes() == whole.vertices["counts"].tobytes(),
            "likelihoods": _likelihoods(again) == _likelihoods(whole),
            "priors": _priors(again) == _priors(whole),
            "resumed": bool(again.metrics["checkpoints"]["resumed"]),
        }
        wrong += [f"sweep {sweep}: {what}" for what, equal in same.items() if not equal]
    return wrong


def _likelihoods(result: gl.Result) -> list[Any]:
    return [(row["iteration"], row.get("log_likelihood_per_token")) for row in result.history]


def _priors(result: gl.Result) -> Any:
    figures = result.metrics["figures"]
    return figures["doc_topic_prior"], figures["topic_word_prior"], figures["sampler"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(("name", "by_model"), [*((name, False) for name in CHAINS), ("gibbs", True)])
def test_chains_of_topics_resume(hosts: Any, size: int, name: str, by_model: bool, tmp_path: Path) -> None:
    assert hosts(size).run(chain_resumed, str(tmp_path), name, by_model, timeout=120)[0] == []


def factors_resumed(comm: Comm, folder: str) -> list[str]:
    rng = np.random.default_rng(2)
    ends = rng.integers(0, (40, 30), (600, 2)).T
    ratings = gl.Graph.from_edges(
        *ends, columns={"rating": rng.integers(1, 6, 600)}, bipartite=True, comm=comm
    )
    wrong = []
    for function in (gl.als, gl.sgd):
        here = f"{folder}/{function.__name__}"
        how: dict[str, Any] = {"factors": 4, "threads": 1}
        whole = function(ratings, iterations=8, **how)
        function(ratings, iterations=8, checkpoint=here, every=3, **how)
        again = function(ratings, iterations=8, resume=here, **how)
        if again.metrics["checkpoints"]["resumed"] != f"superstep-{6 * (1 + (function is gl.als)):08d}":
            wrong.append(f"{function.__name__} resumed {again.metrics['checkpoints']}")
        for name in ("factors", "bias"):
            if again.vertices[name].tobytes() != whole.vertices[name].tobytes():
                wrong.append(f"{function.__name__} {name}")
        if [row["rmse"] for row in again.history] != [row["rmse"] for row in whole.history]:
            wrong.append(f"{function.__name__} history")
    return wrong


@pytest.mark.parametrize("size", [1, 2])
def test_factors_resume_after_sweeps(hosts: Any, size: int, tmp_path: Path) -> None:
    assert hosts(size).run(factors_resumed, str(tmp_path), timeout=120)[0] == []


def signalled(comm: Comm, folder: str, number: int) -> tuple[list[str], str]:
    """Return the checkpoints of a run whose last rank gets a signal, and how the run has ended."""
    chain = gl.Graph.from_edges(range(300), range(1, 301), comm=comm)

    def strike(row: Any) -> str:
        if row["superstep"] == 100:
            os.kill(os.getpid(), number)
        return ""

    program = gl.programs.PageRank(tolerance=0.0)
    before = signal.getsignal(number)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gl.run(program, chain, max_iterations=200, checkpoint=folder, threads=1,
                   progress=strike if comm.rank == 0 else False)  # fmt: skip
        ended = "itself"
    except gl.Terminated as error:
        ended = str(error)
    same = signal.getsignal(number) is before
    comm.barrier()
    return sorted(set(os.listdir(folder)) - {"lock"}), f"{ended}, handler {'back' if same else 'lost'}"


@pytest.mark.parametrize("size", [1, 2])
def test_a_signal_asks_for_a_checkpoint(hosts: Any, size: int, tmp_path: Path) -> None:
    name = "superstep-00000101"
    for number in (signal.SIGUSR1, signal.SIGTERM):
        folder = tmp_path / str(int(number))
        found = hosts(size).run(signalled, str(folder), int(number))
        stopped = f"stopped by SIGTERM; {folder / name} was written"
        ended = "itself" if number == signal.SIGUSR1 else stopped
        assert found == [([name], f"{ended}, handler back")] * size


def strike_in_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SIGTERM come in the middle of the first flush to the disk."""
    sent: list[int] = []

    def slow(_: int) -> None:
        time.sleep(0.3)
        if not sent:
            sent.append(signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.3)

    monkeypatch.setattr(os, "fsync", slow)


def ring() -> gl.Graph:
    return gl.Graph.from_edges(range(50), [(v + 1) % 50 for v in range(50)])


def test_sigterm_is_heard_while_the_run_waits_for_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strike_in_flush(monkeypatch)
    with pytest.raises(gl.Terminated, match=f"{tmp_path}/superstep-0000000. was written"):
        gl.pagerank(ring(), max_iterations=6, tolerance=0, checkpoint=tmp_path, every=1, threads=1)


def test_sigterm_after_the_last_superstep_has_its_usual_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strike_in_flush(monkeypatch)
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gl.pagerank(ring(), max_iterations=6, tolerance=0, checkpoint=tmp_path, every=6, threads=1)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [signal.SIGTERM]


def timed(comm: Comm, folder: str) -> tuple[str, int]:
    """Return the error of a resumed run whose time was up before its checkpoint, and its supersteps."""
    ring = gl.Graph.from_edges(range(50), [(v + 1) % 50 for v in range(50)], comm=comm)
    how: dict[str, Any] = {"threads": 1, "checkpoint": folder}

    rows: list[Any] = []

    def slow(row: Any) -> str:
        rows.append(row)
        time.sleep(0.02)
        return ""

    program = gl.programs.PageRank(tolerance=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gl.run(program, ring, max_iterations=10, every=9, progress=slow, **how)
        try:
            gl.run(program, ring, max_iterations=10**9, resume="auto", timeout=0.15, progress=slow, **how)
        except gl.TimeoutExpired as error:
            return str(error), len(rows) - 10
    return "no error", 0


def test_the_time_before_a_checkpoint_counts(hosts: Any, tmp_path: Path) -> None:
    error, supersteps = hosts(1).run(timed, str(tmp_path))[0]
    assert "PageRank ran out of 0.15 s" in error
    assert supersteps == 0


def betweenness_of_path(comm: Comm, how: dict[str, Any]) -> list[float]:
    vertices = 5000  # of paths so long that one rank takes fewer sources a round than two
    path = gl.Graph.from_edges(np.arange(vertices - 1), np.arange(1, vertices), comm=comm)
    result = gl.betweenness(path, sources=5, threads=1, **how)
    return result.vertices["betweenness"].tolist()


def test_betweenness_resumes_on_other_ranks(hosts: Any, tmp_path: Path) -> None:
    """How many sources share a round, which follows from the ranks, is that of the checkpoint."""
    folder = str(tmp_path)
    (whole,) = hosts(1).run(betweenness_of_path, {"checkpoint": folder, "every": 2000})
    again, _ = hosts(2).run(betweenness_of_path, {"resume": folder})
    assert np.allclose(again, whole, rtol=0, atol=1e-9 * max(whole))
