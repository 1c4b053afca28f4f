"""``precision="float32"`` of a run: the bits of a class that says so, and answers as near as they can be."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import world
from tests.conftest import LONG
from tests.support.toolkit import CALLS, REST, Call, of_forty

pytestmark = pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")


@pytest.mark.parametrize("how", [{}, {"compile": "never"}, {"engine": "reference"}], ids=str)
def test_a_run_may_compute_in_another_precision_than_its_class(how: dict[str, Any]) -> None:
    """It has the bits of a class that says so; the class and the program stay as they were."""
    graph = gl.Graph.generate("erdos-renyi", vertices=60, edges=300, seed=1)

    class Wide(gl.programs.PageRank):
        precision = gl.float64

    class Narrow(gl.programs.PageRank):
        precision = gl.float32

    def score(cls: type[gl.VertexProgram], **more: Any) -> Any:
        return gl.run(cls(damping=0.7), graph, max_iterations=20, **how, **more).vertices["score"]

    wide, narrow = score(Wide), score(Narrow)
    assert (wide.dtype, narrow.dtype) == (np.float64, np.float32)
    for found, expected in [
        (score(Wide, precision="float32"), narrow),
        (score(Narrow, precision="float64"), wide),
        (score(Wide, precision="float64"), wide),
        (score(Wide), wide),
    ]:
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "directed"),
    [(call, directed) for k, call in enumerate((*CALLS, *REST)) for directed in (True, False)
     if LONG or directed == (k % 2 == 0)],
    ids=str,
)  # fmt: skip
def test_the_toolkit_answers_in_float32(call: Call, directed: bool) -> None:
    """Ints, bools and ids as in float64, floats within what float32 can tell apart."""
    drawn = of_forty(directed)
    graph = drawn.build(world())
    function, options = getattr(gl, call.function), call.options(drawn)
    try:
        wide = function(graph, **options)
    except gl.UsageError as error:
        with pytest.raises(gl.UsageError, match=re.escape(str(error))):
            function(graph, **options, precision="float32")
        return
    narrow = function(graph, **options, precision="float32")
    for name in call.fields:
        expected, found = wide.vertices[name], narrow.vertices[name]
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=name)
        else:
            np.testing.assert_array_equal(found, expected, err_msg=name)


def test_topics_and_factors_in_float32() -> None:
    corpus = gl.Graph.generate("corpus", documents=60, words=50, topics=3, seed=1)
    found = [
        gl.lda(corpus, topics=3, iterations=40, sampler="gibbs", precision=precision)
        for precision in ("float64", "float32")
    ]
    wide, narrow = (result.metrics["figures"]["log_likelihood_per_token"] for result in found)
    assert narrow == pytest.approx(wide, abs=0.1)
    with pytest.raises(gl.UsageError, match="say sampler='gibbs'"):
        gl.lda(corpus, topics=3, iterations=4, sampler="metropolis-hastings", precision="float32")
    with pytest.raises(gl.UsageError, match="priors below 1e-09 or above 1e\\+06 leave the range"):
        gl.lda(corpus, topics=3, iterations=4, topic_word_prior=1e-10, precision="float32")
    assert gl.lda(corpus, topics=3, iterations=4, topic_word_prior=1e-100).converged  # in float64
    rng = np.random.default_rng(1)
    ends, ratings = rng.integers(0, 30, (2, 400)), {"rating": rng.normal(3, 1, 400)}
    graph = gl.Graph.from_edges(*ends, columns=ratings, bipartite=True)
    for function in (gl.als, gl.sgd):
        found = [function(graph, factors=4, iterations=6, precision=p) for p in ("float64", "float32")]
        wide, narrow = (result.metrics["figures"]["train_rmse"] for result in found)
        assert narrow == pytest.approx(wide, rel=1e-4)
