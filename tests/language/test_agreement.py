"""Compiled = interpreted = reference, on any ranks, threads and strategies."""

from __future__ import annotations

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.conftest import LONG, SIZES, Hosts
from tests.mpi.ranks import Ranks
from tests.programs import CASES, Case
from tests.support.agreement import Task, assert_agree, by_reference, on_ranks
from tests.support.graphs import STRATEGIES, Drawn, graphs, with_lists

MODES = [("require", 1), ("require", 2), ("never", 1)]
# On one rank, on two, and by turns on three or four; two programs of three are left out of `make quick`.
WHERE = [
    pytest.param(size, case, marks=[pytest.mark.slow] * (k % 3 > 0), id=f"{size}ranks-{case}")
    for size in SIZES
    for k, case in enumerate(CASES)
    if size in (1, 2, 3 + k // 2 % 2)
]


def task_of(case: Case, graph: Drawn, data: st.DataObject) -> Task:
    some = st.sampled_from(graph.ids)
    parameters = dict(case.parameters)
    if "source" in case.program.__annotations__:
        parameters["source"] = data.draw(some, label="source")
    init = None
    if case.given:
        init = {name: data.draw(st.dictionaries(some, st.integers(0, 9)), label=name) for name in case.given}
    start = None
    if case.start == "ids":
        start = data.draw(st.lists(some), label="start")
    elif case.start:
        start = data.draw(st.dictionaries(some, st.integers(0, 9)), label="start")
    name = f"{case.program.__module__}:{case.program.__name__}"
    return Task(name, graph, case.limit, parameters=parameters, columns=case.columns, init=init, start=start)


def agree(ranks: Ranks, task: Task, strategy: str, tolerance: float) -> None:
    """Run *task* on the ranks in every mode; all must be the reference, and bit for bit each other."""
    of_each_rank = ranks.run(on_ranks, task, strategy, MODES)
    for rank, outcomes in enumerate(of_each_rank):
        assert repr(outcomes) == repr(of_each_rank[0]), f"rank {rank} has another answer than rank 0"
    expected = by_reference(task)
    for mode, outcome in zip(MODES, of_each_rank[0], strict=True):
        note(f"mode {mode}")
        assert_agree(outcome, expected, tolerance)
        assert repr(outcome) == repr(of_each_rank[0][0]), f"{mode} has other bits than {MODES[0]}"


@pytest.mark.parametrize(("ranks", "case"), WHERE, indirect=["ranks"])
@settings(max_examples=max(settings.default.max_examples // 2, 2))
@given(data=st.data())
def test_the_engine_is_the_reference(ranks: Ranks, case: Case, data: st.DataObject) -> None:
    agree_on(ranks, case, data)


def agree_on(ranks: Ranks, case: Case, data: st.DataObject) -> None:
    """Run a program of the zoo on a drawn graph."""
    graph = data.draw(graphs(directed=True if case.directed_only else None), label="graph")
    if case.lists:
        graph = data.draw(with_lists(graph), label="graph with lists")
    task = task_of(case, graph, data)
    agree(ranks, task, data.draw(st.sampled_from(STRATEGIES), label="strategy"), case.tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES if LONG else CASES[::10], ids=str)
@settings(max_examples=settings.default.max_examples if LONG else 2)
@given(data=st.data())
def test_eight_ranks_are_the_reference(hosts: Hosts, case: Case, data: st.DataObject) -> None:
    """The same on eight ranks: a sample of the programs, or all of them under the long profile."""
    agree_on(hosts(8), case, data)
