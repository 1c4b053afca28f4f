"""gl.lda with anneal_sweeps: a wider prior of words in a topic in the first sweeps, then the one given."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from gaslab.programs._lda_settings import sampler_and_settings
from gaslab.programs._samplers import WIDE, Settings
from tests.conftest import LONG, Hosts
from tests.support.command_line import Run, gaslab  # noqa: F401

DOCSTRINGS = Path(__file__).resolve().parents[2] / "datasets" / "docword.stdlib-docstrings.txt.gz"


def corpus(comm: Comm, words: int = 40) -> gl.Graph:
    """Return 30 documents of 12 words, each any one, so that every chain of them goes on moving."""
    word = np.random.default_rng(2).integers(0, words, 360)
    return gl.Graph.from_edges(np.arange(360) // 12, word, bipartite=True, comm=comm)


def fitted(comm: Comm, words: int = 40, **options: Any) -> gl.Result:
    return gl.lda(corpus(comm, words), **{"topics": 3, "iterations": 6, "seed": 4, "threads": 1, **options})


def counts_of(comm: Comm, **options: Any) -> list[list[int]]:
    return fitted(comm, **options).vertices["counts"].tolist()


def settings(**options: Any) -> Settings:
    asked: dict[str, Any] = {
        "topics": 3, "doc_topic_prior": None, "topic_word_prior": None, "iterations": 20, "sampler": "auto",
        "anneal_sweeps": None, "mh_sweeps": 0, "mh_steps": 1, "optimise_priors": 0, "burn_in": None,
        "sample_every": 1, "evaluate_every": 10,
    }  # fmt: skip
    return sampler_and_settings(**{**asked, **options})[1]


@pytest.mark.parametrize(
    ("options", "sweeps"),
    [
        ({}, 10),
        ({"iterations": 7}, 3),
        ({"iterations": 1}, 0),
        ({"mh_sweeps": 4}, 10),
        ({"mh_sweeps": 13}, 13),
        ({"burn_in": 6}, 6),
        ({"burn_in": 0}, 0),
        ({"mh_sweeps": 5, "burn_in": 5}, 5),
        ({"optimise_priors": 2}, 0),
        ({"anneal_sweeps": 0}, 0),
        ({"anneal_sweeps": 19}, 19),
    ],
)
def test_half_of_the_sweeps_are_annealed_unless_something_else_is_asked(
    options: dict[str, Any], sweeps: int
) -> None:
    assert settings(**options).anneal_sweeps == sweeps


def test_a_chain_that_goes_on_is_not_annealed() -> None:
    model = gl.TopicModel.of(corpus(world()), fitted(world()))
    assert fitted(world(), model=model).metrics["parameters"]["anneal_sweeps"] == 0
    assert fitted(world(), model=model, anneal_sweeps=2).metrics["parameters"]["anneal_sweeps"] == 2


def test_the_wide_prior_is_by_the_tokens_that_a_topic_has() -> None:
    assert settings().annealed(tokens=10**6, words=100).wide == WIDE
    assert settings(topics=50).annealed(tokens=60_000, words=10_000).wide == pytest.approx(0.04)
    assert settings(topics=50).annealed(tokens=600, words=10_000).wide == 0.01  # the prior that is asked for
    assert settings(topic_word_prior=0.5).annealed(tokens=10**6, words=100).wide == 0.5
    assert settings().annealed(tokens=1, words=0).wide == WIDE  # lda itself refuses such a corpus


@pytest.mark.parametrize("prior", [0.1, [0.1, 0.4, 0.2]])
@pytest.mark.parametrize(
    "options", [{"sampler": "gibbs"}, {"sampler": "metropolis-hastings"}, {"mh_sweeps": 4}, {"mh_sweeps": 2}]
)
def test_the_first_sweeps_are_those_of_a_chain_of_the_wide_prior(options: dict[str, Any], prior: Any) -> None:
    asked = {**options, "doc_topic_prior": prior, "evaluate_every": 1}
    annealed = fitted(world(), **asked, anneal_sweeps=4)
    wide = fitted(world(), **asked, anneal_sweeps=0, topic_word_prior=WIDE)
    ours, theirs = ([row["log_likelihood_per_token"] for row in of.history] for of in (annealed, wide))
    assert ours[:4] == theirs[:4]
    assert ours[4] != theirs[4]
    assert (annealed.vertices["counts"] != wide.vertices["counts"]).any()  # the draws, not the figure alone
    assert annealed.metrics["figures"]["topic_word_prior"] == 0.01
    spread = annealed.tables["topic_word"]["probability"]
    counts = annealed.vertices["counts"][-len(spread) :]
    np.testing.assert_allclose(spread, (counts + 0.01) / (counts.sum(axis=0) + 0.01 * len(spread)))


def test_the_first_sweep_of_gibbs_only_counts_and_those_after_annealing_have_the_prior_as_given() -> None:
    one, none = (counts_of(world(), sampler="gibbs", anneal_sweeps=sweeps) for sweeps in (1, 0))
    assert one == none
    assert counts_of(world(), sampler="gibbs", anneal_sweeps=2) != none


@pytest.mark.parametrize("sampler", ["gibbs", "metropolis-hastings"])
def test_the_prior_of_a_corpus_with_few_tokens_is_less_wide(
    sampler: str, caplog: pytest.LogCaptureFixture
) -> None:
    asked = {"sampler": sampler, "words": 90, "topics": 30, "evaluate_every": 1}
    words = corpus(world(), 90).num_vertices - 30
    wide = 360 / (3.0 * 30 * words)
    assert 0.01 < wide < WIDE
    with caplog.at_level(logging.INFO, "gaslab"):
        annealed = fitted(world(), **asked, anneal_sweeps=4).history
    assert f"topic_word_prior = {wide:.3g} in the first 4 sweeps" in caplog.text
    plain = fitted(world(), **asked, anneal_sweeps=0, topic_word_prior=wide).history
    ours, theirs = ([row["log_likelihood_per_token"] for row in history] for history in (annealed, plain))
    assert ours[:4] == theirs[:4]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"sampler": "gibbs"}, {"sampler": "metropolis-hastings"}, {"mh_sweeps": 2}]
)
def test_the_chain_is_the_reference_engine_s(options: dict[str, Any]) -> None:
    asked = {**options, "iterations": 5, "anneal_sweeps": 3}
    assert counts_of(world(), **asked) == counts_of(world(), **asked, engine="reference")


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"sampler": "metropolis-hastings"}, {"sampler": "gibbs"}, {"mh_sweeps": 2}]
)
def test_the_chain_is_one_on_several_ranks_or_threads(hosts: Hosts, options: dict[str, Any]) -> None:
    expected = hosts(1).run(one_of_many, 2, options)[0]
    for size, threads in [(2, 1), (3, 1), (4, 2)]:
        assert hosts(size).run(one_of_many, threads, options) == [expected] * size


def one_of_many(comm: Comm, threads: int, options: dict[str, Any]) -> list[list[int]]:
    return counts_of(comm, threads=threads, **options)


def drawn_options(draw: st.DrawFn) -> dict[str, Any]:
    """Return options of lda beside annealing; a few of them are refused together."""
    iterations = draw(st.integers(2, 5))
    sweeps = st.integers(0, iterations - 1)
    sampler = draw(st.sampled_from(["auto", "gibbs", "metropolis-hastings"]))
    first = 0 if sampler == "metropolis-hastings" else draw(st.just(0) | sweeps)
    burn_in = draw(st.none() | st.integers(first, iterations - 1))
    return {
        "iterations": iterations, "anneal_sweeps": draw(st.none() | sweeps), "burn_in": burn_in,
        "mh_sweeps": first, "evaluate_every": draw(st.integers(1, 3)),
        "sample_every": 1 if burn_in is None else draw(st.integers(1, 2)),
        "mh_steps": 1 if sampler == "gibbs" and not first else draw(st.integers(1, 2)),
        "optimise_priors": 0 if sampler == "gibbs" else draw(st.sampled_from([0, 0, 1])),
        "words": draw(st.sampled_from([1, 40, 300])), "sampler": sampler,
        "doc_topic_prior": draw(st.sampled_from([0.1, [0.1, 0.4, 0.2]])),
        "topic_word_prior": draw(st.sampled_from([1e-10, 0.01, 0.5])),
    }  # fmt: skip


def answer(comm: Comm, threads: int, engine: str, asked: dict[str, Any]) -> Any:
    """Return the counts, the likelihoods and the prior at the end, or how the options are refused."""
    try:
        result = fitted(comm, **asked, threads=threads, engine=engine)
    except gl.UsageError as error:
        return str(error)
    rows = [row.get("log_likelihood_per_token") for row in result.history]
    return result.vertices["counts"].tolist(), rows, result.metrics["figures"]["topic_word_prior"]


@pytest.mark.slow
@settings_of_hypothesis(max_examples=200 if LONG else 6)
@given(st.data())
def test_drawn_options_have_one_chain_in_all_engines_and_on_all_ranks(
    hosts: Hosts, data: st.DataObject
) -> None:
    asked = data.draw(st.composite(drawn_options)())
    many = hosts(1).run(answer, 2, "sync", asked)[0]
    split = hosts(2).run(answer, 1, "sync", asked)
    one, reference = (answer(world(), 1, engine, asked) for engine in ("sync", "reference"))
    for found, expected in [(split[0], many), (split[1], many), (one, reference)]:
        if isinstance(one, str):
            assert found == expected == one
            continue
        assert (found[0], found[2]) == (expected[0], expected[2])
        sums = (np.array(x[1], dtype=float) for x in (found, expected))  # in another order
        np.testing.assert_allclose(*sums, rtol=1e-6)
    if not isinstance(one, str):
        assert asked["optimise_priors"] or one[2] == asked["topic_word_prior"]
        assert np.sum(one[0]) == pytest.approx(720)  # 360 tokens on either side


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["gibbs", "metropolis-hastings"])
def test_annealed_chains_end_at_a_larger_likelihood_after_as_many_sweeps(sampler: str) -> None:
    texts = gl.read_corpus(DOCSTRINGS)
    asked = {"topics": 20, "iterations": 60, "sampler": sampler, "threads": 1}
    annealed, plain = (
        [
            gl.lda(texts, **asked, anneal_sweeps=sweeps, seed=seed).metrics["figures"][
                "log_likelihood_per_token"
            ]
            for seed in range(3)
        ]
        for sweeps in (30, 0)
    )
    assert min(annealed) > max(plain) + 0.03


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"anneal_sweeps": 6}, "anneal_sweeps=6: a whole number from 0 to 5"),
        ({"anneal_sweeps": -1}, "anneal_sweeps=-1: a whole number from 0 to 5"),
        ({"anneal_sweeps": 2.5}, "anneal_sweeps=2.5: a whole number"),
        ({"anneal_sweeps": 3, "burn_in": 2}, "anneal_sweeps=3: counts are averaged after burn_in=2 sweeps"),
        (
            {"anneal_sweeps": 1, "optimise_priors": 2},
            "anneal_sweeps=1: optimise_priors=2 moves the same prior",
        ),
    ],
)
def test_what_cannot_be_is_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(gl.UsageError, match=said):
        fitted(world(), **options)


def test_the_command(gaslab: Run, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "texts.txt").write_text("cat dog cat\nbond bank bond\ndog cat\n" * 4)
    options = ("--format", "text", "--topics", 2, "--iterations", 6)
    done = gaslab("lda", tmp_path / "texts.txt", *options, "--anneal-sweeps", 4)
    assert done.code == 0, done.err
    for more, said in (
        (["--anneal-sweeps", 6], "--anneal-sweeps 6: a whole number from 0 to 5"),
        (["--anneal-sweeps", 3, "--burn-in", 2], "--anneal-sweeps 3: counts are averaged after --burn-in 2"),
    ):
        refused = gaslab("lda", tmp_path / "none.txt", *options, *more)  # before the corpus is read
        assert (refused.code, said in refused.err) == (2, True), refused.err
