"""A run that is resumed from a checkpoint: on the same ranks, on others, and under another cut."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.conftest import LONG
from tests.programs import CASES
from tests.support.record import graph_of, task_of

CUT, ANOTHER = "dbh", "random"
COSTS = ("seconds", "bytes_sent", "delivery")  # a superstep's, which no two runs have in common


def answer_of(result: gl.Result) -> dict[str, Any]:
    """Return what two runs must have in common."""
    found: dict[str, Any] = {"converged": result.converged, "iterations": result.iterations}
    for table in (result.vertices, result.collect_edges()):
        for name in table.columns:
            found[f"{'edge' if table is not result.vertices else 'vertex'} {name}"] = table[name]
    found["updates"] = result.metrics["updates"]
    found["aggregates"] = repr(result.aggregates)
    found["initial aggregates"] = repr(result.initial_aggregates)
    found["history"] = repr([{k: x for k, x in row.items() if k not in COSTS} for row in result.history])
    return found


def options_of(case: Any, task: Any) -> dict[str, Any]:
    return {"threads": 1, "init": task.init, "start": task.start, "columns": task.columns}


def saved(comm: Comm, which: slice, cut: str, folder: str) -> list[dict[str, Any]]:
    """Save each program after half of its supersteps; return the answers of uninterrupted runs."""
    drawn = graph_of(CASES[0])
    graph, found = drawn.build(comm, cut), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, case in enumerate(CASES[which]):
            task = task_of(case, drawn, case.limit)
            options = options_of(case, task)
            whole = gl.run(task.instance(), graph, max_iterations=task.limit, **options)
            found.append(answer_of(whole))
            steps = max(whole.iterations // 2, 1)
            gl.run(
                task.instance(), graph, max_iterations=steps, checkpoint=f"{folder}/{k}", every=steps,
                **options,
            )  # fmt: skip
    return found


def resumed(comm: Comm, which: slice, cut: str, folder: str) -> list[dict[str, Any] | None]:
    """Return the answers of runs that are resumed, None where there was nothing to save."""
    drawn = graph_of(CASES[0])
    graph, found = drawn.build(comm, cut), list[Any]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, case in enumerate(CASES[which]):
            task = task_of(case, drawn, case.limit)
            there = comm.on_root(lambda k=k: sorted(os.listdir(f"{folder}/{k}")) != ["lock"])
            options = options_of(case, task)
            found.append(
                answer_of(gl.run(
                    task.instance(), graph, max_iterations=task.limit, resume=f"{folder}/{k}", **options
                ))
                if there
                else None
            )  # fmt: skip
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
        elif isinstance(values, np.ndarray) and values.dtype == object:
            same = repr(mine.tolist()) == repr(values.tolist())
        elif isinstance(values, np.ndarray):
            same = mine.tobytes() == values.tobytes()
        elif name in ("aggregates", "initial aggregates", "history") and not exact:
            same = True  # they are functions of the fields
        else:
            same = repr(mine) == repr(values)
        wrong += [] if same else [name]
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_program_resumes(hosts: Any, size: int, tmp_path: Path) -> None:
    which = slice(None) if LONG else slice(size - 1, None, 3)
    answers = hosts(size).run(saved, which, CUT, str(tmp_path), timeout=300)[0]
    for other, cut in [(size, CUT), (size % 3 + 1, ANOTHER)]:
        exact = (other, cut) == (size, CUT)
        found = hosts(other).run(resumed, which, cut, str(tmp_path), timeout=300)[0]
        assert sum(one is not None for one in found) > len(CASES[which]) * 0.8
        wrong = {}
        for case, mine, whole in zip(CASES[which], found, answers, strict=True):
            if mine is not None and (differing := differences(mine, whole, exact)):
                wrong[str(case)] = differing
        assert not wrong, f"on {other} ranks, cut {cut}"
