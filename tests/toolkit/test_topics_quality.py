"""gl.topics on arrays: the order of words, shares, distances; against SciPy and hand calculation."""

from __future__ import annotations

import doctest
import importlib
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist, jensenshannon

import gaslab as gl

RNG = np.random.default_rng(0)
TOPIC_WORD = RNG.dirichlet(np.full(60, 0.1), 8).T
MIXES = RNG.dirichlet(np.full(8, 0.2), 30)


def test_nearest_are_those_of_scipy() -> None:
    root = cdist(np.sqrt(MIXES), np.sqrt(MIXES)) / np.sqrt(2)
    for measure, expected in (
        ("jensen-shannon", cdist(MIXES, MIXES, lambda p, q: jensenshannon(p, q, base=2))),
        ("hellinger", root),
    ):
        of = np.array([7, 0])
        rows, distances = gl.topics.nearest(MIXES, of, count=4, measure=measure)
        order = np.argsort(expected[of], axis=1)[:, 1:5]
        assert rows.tolist() == order.tolist()
        np.testing.assert_allclose(distances, np.take_along_axis(expected[of], order, 1), atol=1e-7)
    rows, distances = gl.topics.nearest([[1.0, 0.0], [0.0, 1.0]])
    assert (rows.tolist(), distances.tolist()) == ([[1], [0]], [[1.0], [1.0]])
    assert gl.topics.nearest(np.ones((1, 3)) / 3)[0].shape == (1, 0)


def test_top_words_by_probability_and_by_relevance() -> None:
    sizes = gl.topics.topic_sizes(MIXES, np.arange(30))
    np.testing.assert_allclose(sizes, np.average(MIXES, axis=0, weights=np.arange(30)))
    for weight in (0.0, 0.6, 1.0):
        share = TOPIC_WORD @ sizes
        score = TOPIC_WORD**weight * (TOPIC_WORD / share[:, None]) ** (1 - weight)  # relevance, as a power
        found = gl.topics.top_words(TOPIC_WORD, 5, weight=weight, sizes=sizes)
        np.testing.assert_array_equal(found, np.argsort(-score.T, axis=1)[:, :5])
        np.testing.assert_allclose(gl.topics.relevance(TOPIC_WORD, sizes, weight), np.log(score))
    tied = np.ones((6, 2)) / 6
    assert gl.topics.top_words(tied, 4).tolist() == [[0, 1, 2, 3]] * 2
    assert gl.topics.top_words(tied, 9).shape == (2, 6)


def test_diversity_is_the_share_of_distinct_words() -> None:
    assert gl.topics.diversity([[0, 1, 2], [2, 1, 3]]) == pytest.approx(4 / 6)


@pytest.mark.parametrize("name", ["coherence", "quality", "report.page", "report.write"])
def test_examples_of_docstrings(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(f"gaslab.topics.{name}"))
    assert (failed, tried > 0) == (0, True)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gl.topics.top_words(TOPIC_WORD, 5, weight=0.5), r"weight=0\.5 .* needs sizes="),
        (lambda: gl.topics.relevance(TOPIC_WORD, np.ones(3)), "sizes= needs the share of each of 8 topics"),
        (lambda: gl.topics.relevance(TOPIC_WORD, np.ones(8), 2), "weight=2"),
        (lambda: gl.topics.nearest(-MIXES), "not a probability"),
        (lambda: gl.topics.nearest(MIXES[0]), "two axes"),
        (lambda: gl.topics.nearest(np.eye(3), of=[0, 7]), r"of=\[0, 7\]: the rows are 0 to 2, and 7 is none"),
        (lambda: gl.topics.nearest(np.eye(3), of=[-1]), r"of=\[-1\]: the rows are 0 to 2, and -1 is none"),
        (lambda: gl.topics.quality.distances(np.eye(3), of=[3]), r"of=\[3\]: the rows are 0 to 2"),
        *(
            (lambda of=of: gl.topics.nearest(np.eye(3), of=of), "a list of rows is needed, which are whole")
            for of in (0, [0.5], [True, False, True], ["a"], [[0]])
        ),
        (lambda: gl.topics.nearest(MIXES, measure="cosine"), "measure='cosine' is unknown"),
        (lambda: gl.topics.diversity([1, 2]), "top= needs"),
        (lambda: gl.topics.topic_sizes(MIXES, np.zeros(30)), "lengths= needs"),
    ],
)
def test_bad_arguments_are_named(call: Any, said: str) -> None:
    with pytest.raises(gl.UsageError, match=said):
        call()
