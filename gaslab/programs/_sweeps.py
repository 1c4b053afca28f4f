"""Programs that run for a number of sweeps: LDA, matrix factorisation.

A sweep goes once over all edges, in one superstep or in several. What the user asks for and sees are sweeps,
called iterations; such a program ends by itself after them, so it is converged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gaslab as gl
from gaslab.engine.engines import Async, Stale, engine_of
from gaslab.engine.observe.progress import LINES, Say, Sweeps, short
from gaslab.programs._columns import run

Row = Mapping[str, Any]
COSTS, STAGES = ("updates", "bytes_sent"), ("build", "compute")
SPENT = ("seconds", "bytes_sent")  # in each superstep, which the reference engine does not count


@dataclass(frozen=True)
class Earlier:
    """The sweeps of an earlier program, which a run goes on from; plain numbers, which a checkpoint keeps."""

    NAMES = (*COSTS, *STAGES, "cpu_seconds")  # of the costs

    history: list[dict[str, Any]]
    costs: dict[str, float]

    @classmethod
    def of(cls, result: gl.Result) -> Earlier:
        """Return the sweeps of a result."""
        metrics = result.metrics
        costs = {name: metrics[name] for name in COSTS} | {name: metrics["seconds"][name] for name in STAGES}
        return cls(list(result.history), {**costs, "cpu_seconds": metrics["figures"]["cpu_seconds"]})

    @property
    def iterations(self) -> int:
        return len(self.history)


def check_options(name: str, graph: gl.Graph, options: Mapping[str, Any]) -> None:
    """Raise UsageError for options of `gaslab.run` that mean nothing to a program of sweeps, *name*."""
    if "max_iterations" in options:
        raise gl.UsageError(f"{name} runs a fixed number of sweeps: use iterations=, not max_iterations=")
    engine = engine_of(options.get("engine", "sync"))
    if isinstance(engine, (Async, Stale)):
        raise gl.UsageError(
            f"{name} runs with engine='sync' or 'reference', not engine={engine.name!r}: all ranks take its "
            "steps together; leave engine= (--engine) out"
        )
    if graph.ids.num_left is None:
        raise gl.UsageError(f"{name} needs a bipartite graph; make it with bipartite=True (--bipartite)")


def run_sweeps(
    program: Any,
    graph: gl.Graph,
    supersteps: int,
    measured: Callable[[Row], dict[str, float]],
    *,
    unit: str = "edges",
    before: Earlier | None = None,
    later: int = 0,
    **options: Any,
) -> gl.Result:
    """Run ``program.iterations`` sweeps of so many supersteps each (collective).

    They go on from those of *before*, if any, whose history and costs the result has too; *later* ones will
    follow, which progress counts.

    The history has a row per sweep: ``iteration`` from 1, ``seconds``, ``bytes_sent``, and what *measured*
    makes of the row of its last superstep. ``metrics["figures"]`` has the last of these, and ``cpu_seconds``
    of all ranks and threads. With ``progress=True`` or "lines" these, and how many *unit* a second it goes
    over, are shown beside the number of sweeps; a function gets the rows of sweeps.
    """
    progress = options.get("progress")
    done = 0 if before is None else before.iterations
    said: Say | None = None
    if progress is True or progress == LINES:
        said = _Said(measured, supersteps, graph.num_edges, unit)
    elif callable(progress):
        said = _Rows(progress, measured, supersteps, done)
    if said is not None:
        most = done + program.iterations + later
        options["progress"] = Sweeps(said, supersteps, most, done, lines=progress == LINES)
    if options.get("every") is not None:
        from gaslab.checkpoint.settings import in_supersteps  # which loads what setup.py lacks

        options["every"] = in_supersteps(options["every"], supersteps)
    cpu = time.process_time()
    limit = supersteps * program.iterations + 1  # beyond its end, which the program says itself
    result = run(program, graph, max_iterations=limit, **options)
    cpu = float(graph.comm.allreduce(time.process_time() - cpu))
    cpu += result.metrics.get("checkpoints", {}).get("spent_before", {}).get("cpu_seconds", 0.0)
    rows: list[dict[str, Any]] = [] if before is None else list(before.history)
    for first in range(0, len(result.history) - supersteps + 1, supersteps):
        rows.append(_row(len(rows) + 1, result.history[first : first + supersteps], measured))
    figures = {**measured(result.history[-1]), "cpu_seconds": cpu}
    metrics = {**result.metrics, "iterations": len(rows), "figures": figures}
    if before is not None:
        _add_costs(metrics, before)
    metrics["bytes_per_iteration"] = metrics["bytes_sent"] // max(len(rows), 1)
    answer = result.replaced(metrics=metrics, history=rows, converged=True, iterations=len(rows))
    for name in ("aggregates", "initial_aggregates", "trace", "handed"):
        setattr(answer, name, getattr(result, name))
    return answer


def _add_costs(metrics: dict[str, Any], before: Earlier) -> None:
    """Add what the sweeps before took to the figures of those after them."""
    for name in COSTS:
        metrics[name] += before.costs[name]
    metrics["figures"]["cpu_seconds"] += before.costs["cpu_seconds"]
    for stage in STAGES:
        metrics["seconds"][stage] += before.costs[stage]
        metrics["seconds"]["total"] += before.costs[stage]


def _row(iteration: int, steps: Sequence[Row], measured: Callable[[Row], dict[str, float]]) -> dict[str, Any]:
    """Return the row of a sweep, made of those of its supersteps."""
    spent = {name: sum(step[name] for step in steps) for name in SPENT if name in steps[0]}
    return {"iteration": iteration, **spent, **measured(steps[-1])}


class _Rows:
    """What progress shows where a user's function says it, of the row of each sweep."""

    def __init__(
        self, say: Say, measured: Callable[[Row], dict[str, float]], supersteps: int, done: int
    ) -> None:
        self._say, self._measured, self._supersteps, self._done = say, measured, supersteps, done
        self._steps: list[Row] = []

    def __call__(self, row: Row) -> str:
        self._steps.append(row)
        if len(self._steps) < self._supersteps:
            return ""
        self._done += 1
        steps, self._steps = self._steps, []
        return self._say(_row(self._done, steps, self._measured))


class _Said:
    """What progress shows of a run of sweeps: the last figures, and the edges a second of the last sweep."""

    def __init__(
        self, measured: Callable[[Row], dict[str, float]], supersteps: int, count: int, unit: str
    ) -> None:
        self._measured, self._supersteps, self._count, self._unit = measured, supersteps, count, unit
        self._figures: dict[str, float] = {}
        self._rows = 0
        self._began = time.perf_counter()

    def __call__(self, row: Row) -> str:
        self._rows += 1
        if self._rows % self._supersteps:
            return ""
        now = time.perf_counter()
        rate, self._began = self._count / max(now - self._began, 1e-9), now
        self._figures |= self._measured(row)
        known = [f"{name.replace('_', ' ')} {value:.4g}" for name, value in self._figures.items()]
        return ", ".join([*known, f"{short(rate)} {self._unit}/s"])
