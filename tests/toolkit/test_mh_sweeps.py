"""gl.lda with mh_sweeps: Metropolis-Hastings, from whose topics and priors Gibbs sampling goes on."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

import gaslab as gl
from gaslab.cancellation import TimeLeft
from gaslab.engine.observe import progress
from gaslab.parallel.comm import Comm, world
from gaslab.programs import _lda_chain
from tests.conftest import LONG, Hosts
from tests.support.command_line import Run, gaslab  # noqa: F401

ASKED: dict[str, Any] = {"topics": 3, "iterations": 8, "mh_sweeps": 5, "evaluate_every": 1, "seed": 4}
ALONE: dict[str, Any] = {**ASKED, "mh_sweeps": 0, "anneal_sweeps": 5, "sampler": "metropolis-hastings"}


def corpus(comm: Comm) -> gl.Graph:
    return gl.Graph.generate("corpus", documents=30, words=40, topics=3, seed=2, comm=comm)


def fitted(comm: Comm, **options: Any) -> gl.Result:
    return gl.lda(corpus(comm), **{**ASKED, **options})


def likelihoods(result: gl.Result) -> list[float | None]:
    return [row.get("log_likelihood_per_token") for row in result.history]


def test_the_sweeps_of_both_are_one_history() -> None:
    result, alone = fitted(world()), fitted(world(), **ALONE)
    assert [row["iteration"] for row in result.history] == [*range(1, 9)]
    assert likelihoods(result)[:5] == likelihoods(alone)[:5]
    assert likelihoods(result)[6:] != likelihoods(alone)[6:]
    assert result.metrics["figures"]["sampler"] == "gibbs"
    assert result.metrics["iterations"] == result.iterations == 8
    assert result.metrics["parameters"]["mh_sweeps"] == 5
    assert gl.TopicModel.of(corpus(world()), result).history[-1]["iteration"] == 8


def test_gibbs_begins_with_the_topics_that_are_there() -> None:
    """Its first sweep counts them; so do the words in the sweep after, had Metropolis-Hastings gone on."""
    documents = corpus(world()).num_left
    counts, alone = (
        fitted(world(), iterations=6, **options).vertices["counts"][documents:].tolist()
        for options in ({}, {"mh_sweeps": 0, "anneal_sweeps": 5, "sampler": "metropolis-hastings"})
    )
    assert counts == alone


def test_counts_are_averaged_over_sweeps_by_gibbs() -> None:
    chain = [fitted(world(), iterations=n, threads=1).vertices["counts"] for n in (7, 8)]
    mean = fitted(world(), burn_in=6, threads=1)
    assert mean.vertices["counts"].tolist() == ((chain[0] + chain[1]) / 2).tolist()
    assert mean.metrics["parameters"]["burn_in"] == 6


def test_gibbs_begins_with_the_priors_that_were_found() -> None:
    moved = fitted(world(), optimise_priors=2, mh_steps=2).metrics["figures"]
    asked = {**ALONE, "iterations": 5, "anneal_sweeps": 0, "optimise_priors": 2, "mh_steps": 2}
    alone = fitted(world(), **asked).metrics["figures"]
    for name in ("doc_topic_prior", "topic_word_prior"):
        assert moved[name] == alone[name]
    assert moved["topic_word_prior"] != 0.01


def counts_of(comm: Comm, threads: int = 1, strategy: str | None = None, **options: Any) -> list[list[int]]:
    return fitted(comm, threads=threads, strategy=strategy, **options).vertices["counts"].tolist()


@pytest.mark.slow
def test_the_chain_is_one_on_several_ranks_or_threads(hosts: Hosts) -> None:
    expected = hosts(1).run(counts_of, 2)[0]
    for size, threads in [(2, 1), (3, 1), (4, 2)]:
        assert hosts(size).run(counts_of, threads, "2d") == [expected] * size


def resumed(comm: Comm, strategy: str | None) -> list[list[int]]:
    graph = corpus(comm)
    model = gl.TopicModel.of(graph, fitted(comm, threads=2))
    return gl.lda(graph, model=model, iterations=4, mh_sweeps=2, strategy=strategy, threads=2).vertices[
        "counts"
    ].tolist()  # fmt: skip


@pytest.mark.slow
def test_a_resumed_chain_is_the_same_by_any_cut(hosts: Hosts) -> None:
    expected = hosts(1).run(resumed, None)[0]
    for strategy in (None, "2d", "dbh"):
        assert hosts(2).run(resumed, strategy) == [expected] * 2


@pytest.mark.slow
def test_the_chain_is_the_reference_engine_s() -> None:
    few = {"iterations": 3 + LONG, "mh_sweeps": 1 + LONG, "optimise_priors": 1}
    assert counts_of(world(), **few) == counts_of(world(), engine="reference", **few)


def everywhere(comm: Comm) -> tuple[Any, ...]:
    """Return what is on this rank for each place of the answer, and whether the edge table can be read."""
    sizes = [len(fitted(comm, on=on).vertices["counts"]) for on in ("all", "root", "local")]
    return (*sizes, len(fitted(comm, edges=True).edges))


@pytest.mark.slow
def test_the_answer_is_where_it_is_asked_for(hosts: Hosts) -> None:
    whole = corpus(world()).num_vertices
    found = hosts(3).run(everywhere)
    assert [row[0] for row in found] == [whole] * 3
    assert [row[1] for row in found] == [whole, 0, 0]
    assert sum(row[2] for row in found) == whole


def test_each_evaluates_its_own_last_sweep() -> None:
    found = likelihoods(fitted(world(), evaluate_every=4))
    assert [k + 1 for k, value in enumerate(found) if value is not None] == [5, 8]


def test_progress_counts_the_sweeps_of_both(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(progress, "FIRST", 0.0)
    monkeypatch.setattr(progress, "SELDOM", 0.0)
    with caplog.at_level(logging.INFO, "gaslab"):
        fitted(world(), progress="lines")
    said = [line for line in caplog.messages if line.startswith("sweeps: ")]
    assert [line.split(",")[0] for line in said] == [f"sweeps: {n} of 8" for n in range(1, 9)]


def test_the_time_is_for_both(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def run_sweeps(*args: Any, **options: Any) -> gl.Result:
        given.append(options["timeout"])
        return original(*args, **options)

    original = _lda_chain.run_sweeps
    monkeypatch.setattr(_lda_chain, "run_sweeps", run_sweeps)
    fitted(world(), timeout=60.0)
    assert given[0] == 60.0
    assert 0.0 < given[1] < 60.0
    assert isinstance(given[1], TimeLeft)
    assert given[1].whole == 60.0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mh_sweeps": 8}, "mh_sweeps=8: a whole number from 0 to 7"),
        ({"sampler": "metropolis-hastings"}, "mh_sweeps=5 is for sampler='gibbs'"),
        ({"burn_in": 4}, "burn_in=4: a whole number from 5 to 7"),
        ({"optimise_priors": 6}, "optimise_priors=6: the first mh_sweeps=5 sweeps alone improve them"),
        ({"timeline": "x.json"}, "mh_sweeps=5 makes two runs, and timeline=.x.json. follows one; leave one"),
        ({"trace": 0}, "mh_sweeps=5 makes two runs, and trace=0 follows one"),
    ],
)
def test_what_cannot_be_is_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(gl.UsageError, match=said):
        fitted(world(), **options)


@pytest.mark.parametrize("name", ["als", "sgd", "lda"])
def test_sweeps_take_the_option_edges(name: str) -> None:
    graph = gl.Graph.from_edges([0, 1, 1], [0, 0, 1], bipartite=True, columns={"weight": [1.0, 2.0, 3.0]})
    assert getattr(gl, name)(graph, iterations=2, edges=True).iterations == 2


def test_the_command(gaslab: Run, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "texts.txt").write_text("cat dog cat\nbond bank bond\ndog cat\n" * 4)
    options = ("--format", "text", "--topics", 2, "--iterations", 6, "--json", tmp_path / "run.json")
    done = gaslab("lda", tmp_path / "texts.txt", *options, "--mh-sweeps", 4)
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "run.json").read_text())
    assert report["parameters"]["mh_sweeps"] == 4
    assert report["sampler"] == "gibbs"
    for more, said in (
        (["--mh-sweeps", 6], "--mh-sweeps 6: a whole number from 0 to 5"),
        (["--mh-sweeps", 3, "--optimise-priors", 5], "--optimise-priors 5: the first --mh-sweeps 3 sweeps"),
        (["--mh-sweeps", 3, "--timeline", "x.json"], "--mh-sweeps 3 makes two runs, and --timeline 'x.json'"),
    ):
        refused = gaslab("lda", tmp_path / "none.txt", *options, *more)  # before the corpus is read
        assert (refused.code, said in refused.err) == (2, True), refused.err
