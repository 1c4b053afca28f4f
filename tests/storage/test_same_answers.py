"""A program gives the same answers, bits and messages on a saved graph as on the one that was saved."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaslab.engine.run import run
from gaslab.graph.graph import Graph
from gaslab.parallel.comm import Comm
from tests.conftest import LONG, SIZES
from tests.language.test_agreement import task_of
from tests.mpi.ranks import Ranks
from tests.programs import CASES, Case
from tests.storage.saved import reloaded
from tests.support.agreement import Task, run_task
from tests.support.graphs import graphs, with_lists

CUTS = ("1d", "dbh", "hdrf")


def compare(comm: Comm, task: Task, cuts: Sequence[str]) -> None:
    """Run *task* on a graph, in some cuts, and on what was saved of it."""
    for strategy in cuts:
        graph = task.graph.build(comm, strategy)
        found = [(run_task(task, one, ("require", 1)), sent(task, one)) for one in (graph, reloaded(graph))]
        assert repr(found[0]) == repr(found[1]), strategy


def sent(task: Task, graph: Graph) -> tuple[list[int], int]:
    """Return the bytes of every superstep, and the messages of the whole run."""
    before = graph.comm.messages_sent
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of limits, which are asked for here
        result = run(
            task.instance(), graph, max_iterations=task.limit, columns=task.columns, init=task.init,
            start=task.start, threads=1,
        )  # fmt: skip
    return [row["bytes_sent"] for row in result.history], graph.comm.messages_sent - before


WHERE = [
    pytest.param(size, case, marks=[pytest.mark.slow] * (k % 9 > 0), id=f"{size}ranks-{case}")
    for size in SIZES
    for k, case in enumerate(CASES)
]


@pytest.mark.parametrize(("ranks", "case"), WHERE, indirect=["ranks"])
@settings(max_examples=2)
@given(data=st.data())
def test_a_saved_graph_runs_as_the_one_that_was_saved(ranks: Ranks, case: Case, data: st.DataObject) -> None:
    graph = data.draw(graphs(directed=True if case.directed_only else None), label="graph")
    if case.lists:
        graph = data.draw(with_lists(graph), label="graph with lists")
    cuts = CUTS if LONG else [data.draw(st.sampled_from(CUTS), label="cut")]
    ranks.run(compare, task_of(case, graph, data), cuts)
