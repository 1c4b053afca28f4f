"""Every function of the toolkit gives one answer on any ranks, threads and cuts, compiled or not."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.parallel.comm import world
from tests.conftest import LONG, Hosts
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES, Drawn, graphs
from tests.support.toolkit import CALLS, Call, by_sorted_id, calls_of, every_call, in_every_mode, of_forty


def assert_same(found: list[object], expected: list[object]) -> None:
    """Assert equal lists: floats within 1e-9 of the largest, all else exactly."""
    assert [type(x) for x in found] == [type(x) for x in expected]
    if expected and isinstance(expected[0], (float, list)):  # a list: of a vector
        mine, theirs = np.array(found), np.array(expected)
        finite = theirs[np.isfinite(theirs)]
        scale = max(1.0, np.abs(finite).max(initial=0.0))
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9 * scale, equal_nan=True)
    else:
        assert found == expected


@pytest.mark.parametrize("name", sorted({call.function for call in CALLS}))
def test_the_docstring_has_an_example_that_runs(name: str) -> None:
    examples = doctest.DocTestFinder(recurse=False).find(getattr(gl, name), name)
    ran = [doctest.DocTestRunner().run(example) for example in examples]
    assert [result.failed for result in ran] == [0]
    assert ran[0].attempted >= 2


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS, ids=str)
@given(drawn=graphs(), strategy=st.sampled_from(STRATEGIES))
def test_one_answer_in_every_mode(ranks: Ranks, call: Call, drawn: Drawn, strategy: str) -> None:
    options = call.options(drawn)
    of_each_rank = ranks.run(in_every_mode, drawn, strategy, call.function, call.fields, options)
    assert all(repr(found) == repr(of_each_rank[0]) for found in of_each_rank)
    steps, expected = of_each_rank[0]["reference"]
    for mode, (iterations, answer) in of_each_rank[0].items():
        assert iterations == steps, mode
        assert answer.keys() == expected.keys(), mode
        for name, values in expected.items():
            assert_same(answer[name], values)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["random", "2d"] if LONG else ["2d"])
def test_eight_ranks_answer_as_one(hosts: Hosts, strategy: str) -> None:
    programs = set()
    for drawn in (of_forty(True), of_forty(False)):
        ((alone, ran),) = hosts(1).run(every_call, drawn, strategy)
        programs |= ran
        for together, _ in hosts(8).run(every_call, drawn, strategy, timeout=120):
            for call, found, expected in zip(calls_of(drawn), together, alone, strict=True):
                assert found.keys() == expected.keys(), call
                for name, values in expected.items():
                    assert_same(found[name], values)
    # In tests/asynchronous/test_asynchronous_toolkit.py:
    elsewhere = {"SmallestLabel", "FallingCores", "FreeColors"}
    elsewhere |= {"ShortestPaths"}  # test_toolkit_paths.py
    elsewhere |= {"ParallelBetweenness"}  # on graphs with parallel edges: test_centrality.py
    # On bipartite graphs: test_gibbs.py, test_lda.py, …
    elsewhere |= {"CollapsedGibbs", "SampledGibbs", "LDA", "ALS", "SGD"}
    assert programs == set(gl.programs.__all__) - elsewhere


@pytest.mark.parametrize("call", CALLS, ids=str)
@pytest.mark.parametrize("count", [0, 3])
@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_a_graph_without_edges(call: Call, count: int) -> None:
    """Isolated vertices answer; no vertices at all are no error (where no vertex has to be named)."""
    ids = list(range(count))
    drawn = Drawn(ids, [], {"weight": [], "cost": []}, True)
    if not count and call.function in ("sssp", "bfs", "distances"):
        pytest.skip("has no vertex to start from")
    graph = gl.Graph.from_edges([], [], columns={"weight": np.zeros(0)}, vertices=ids, comm=world())
    if call.function == "jacobi" and count:
        with pytest.raises(gl.UsageError, match="the diagonal is zero in 3 rows"):
            gl.jacobi(graph)
        return
    result = getattr(gl, call.function)(graph, **call.options(drawn))
    for values in by_sorted_id(result, call.fields).values():
        assert len(values) == count
        assert not any(isinstance(x, float) and math.isnan(x) for x in values)
