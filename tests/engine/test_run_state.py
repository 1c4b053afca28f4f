"""A run's state between two supersteps, taken and gone on from: on other ranks and another cut, too."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gaslab.engine.bound_program import bind
from gaslab.engine.execute import compile_program, drive, new_driver
from gaslab.engine.observe.observer import Observer
from gaslab.engine.options import Options, check
from gaslab.engine.state_arrays import Arrays
from gaslab.engine.sync.driver import SyncDriver
from gaslab.graph.graph import Graph
from gaslab.parallel.comm import Comm
from tests.programs import CASES
from tests.support.agreement import Task
from tests.support.record import graph_of, task_of

CUT, ANOTHER = "dbh", "random"
Values = dict[str, list[Any]]
_compiled: dict[Any, Any] = {}


def driver_of(task: Task, graph: Graph, limit: int | None) -> tuple[SyncDriver, Options, Observer]:
    """Return the driver of a run of at most *limit* supersteps, before it begins."""
    program = task.instance()
    options = Options(max_iterations=limit, threads=1, init=task.init, start=task.start, columns=task.columns)
    options = check(program, graph, options)
    key = type(program), tuple(sorted(map(str, program.parameters().items())))
    if key not in _compiled:
        _compiled[key] = compile_program(program, graph, options)[0]
    compiled = _compiled[key]
    bound, observe = bind(compiled, program, graph, options), Observer(graph.comm, options)
    driver = new_driver(bound, options, observe)
    assert isinstance(driver, SyncDriver)
    return driver, options, observe


def values_of(driver: SyncDriver, graph: Graph) -> dict[str, Any]:
    """Return what the ranks have by global id, for rank 0 to compare, and how the run has ended."""
    parts = graph.comm.allgather(driver.to_arrays())
    whole = {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0] if "cached" not in name
    }
    order = np.argsort(whole["vertex"], kind="stable")
    edges = np.lexsort((whole["target"], whole["source"]))
    found: dict[str, Any] = {"converged": driver.converged, "aggregates": driver.state.aggregates}
    for name, values in whole.items():
        if name.startswith("field "):
            found[name] = values[order]
        elif name.startswith("edge field "):
            found[name] = values[edges]
    state = driver.state
    found["lists"] = [
        [rows for _, rows in sorted(zip(whole["vertex"].tolist(), _rows(parts, v.name), strict=True))]
        for v in state.tree.vertex_fields
        if f"lengths of {v.name}" in whole
    ]
    return found | {"counts": [state.superstep, state.updates, state.phase]}


def _rows(parts: list[Arrays], name: str) -> list[list[Any]]:
    found = []
    for part in parts:
        ends = np.cumsum(part[f"lengths of {name}"]).tolist()
        flat, begin = part[f"values of {name}"].tolist(), 0
        for end in ends:
            found.append(flat[begin:end])
            begin = end
    return found


def taken(comm: Comm, cut: str, which: list[int]) -> list[tuple[list[Arrays], dict[str, Any]]]:
    """Return of each program all ranks' states after some supersteps, and what an uninterrupted run gives."""
    drawn = graph_of(CASES[0])
    graph, found = drawn.build(comm, cut), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in which:
            task = task_of(CASES[k], drawn, CASES[k].limit)
            driver, options, observe = driver_of(task, graph, task.limit)
            drive(driver, options, observe)
            whole = values_of(driver, graph)
            steps = max(whole["counts"][0] // 2, 1)
            driver, options, observe = driver_of(task, graph, steps)
            drive(driver, options, observe)
            found.append((comm.allgather(driver.to_arrays()), whole))
    return found


def resumed(comm: Comm, cut: str, which: list[int], states: list[list[Arrays]]) -> list[dict[str, Any]]:
    """Return what each program gives that goes on from a state."""
    drawn = graph_of(CASES[0])
    graph, found = drawn.build(comm, cut), []
    for k, parts in zip(which, states, strict=True):
        task = task_of(CASES[k], drawn, CASES[k].limit)
        driver, options, observe = driver_of(task, graph, task.limit)
        driver.from_arrays(parts)
        drive(driver, options, observe)
        found.append(values_of(driver, graph))
    return found


def differences(found: dict[str, Any], expected: dict[str, Any], exact: bool) -> list[str]:
    """Return the names of what differs: bits, or floats by more than 1e-9 of the largest."""
    wrong = [] if found.keys() == expected.keys() else ["keys"]
    for name, values in expected.items():
        mine = found[name]
        if isinstance(values, np.ndarray) and not exact and values.dtype.kind == "f":
            finite = np.abs(values[np.isfinite(values)])
            near = 1e-9 if values.dtype.itemsize == 8 else 1e-5
            same = np.allclose(mine, values, 0.0, near * max(1.0, finite.max(initial=0)), equal_nan=True)
        elif isinstance(values, np.ndarray):
            same = mine.tobytes() == values.tobytes()
        elif name == "aggregates" and not exact:
            same = True  # they are functions of the fields
        else:
            same = repr(mine) == repr(values)
        wrong += [] if same else [name]
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_run_goes_on_from_a_state(hosts: Any, size: int) -> None:
    which = list(range(len(CASES)))
    answers = hosts(size).run(taken, CUT, which, timeout=300)[0]
    states = [parts for parts, _ in answers]
    for other, cut in [(size, CUT), (size % 3 + 1, ANOTHER)]:
        exact = (other, cut) == (size, CUT)
        found = hosts(other).run(resumed, cut, which, states, timeout=300)[0]
        wrong = {}
        for case, mine, (_, whole) in zip(CASES, found, answers, strict=True):
            if differing := differences(mine, whole, exact):
                wrong[str(case)] = differing
        assert not wrong, f"on {other} ranks, cut {cut}"


def test_a_state_of_another_version_is_refused() -> None:
    comm = Comm()
    drawn = graph_of(CASES[0])
    graph = drawn.build(comm, "1d")
    task = task_of(CASES[0], drawn, 1)
    driver, options, observe = driver_of(task, graph, 1)
    drive(driver, options, observe)
    part = driver.to_arrays()
    part["version"] = part["version"] + 1
    with pytest.raises(Exception, match="version"):
        driver_of(replace(task, limit=2), graph, 2)[0].from_arrays([part])
