"""Runs one task everywhere and says whether all agree."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import gaslab as gl
from tests.pairs import features as names
from tests.pairs.phases import twin
from tests.pairs.runs import (
    COMPILED,
    INTERPRETED,
    OWN,
    OWN_INTERPRETED,
    REFERENCE,
    THREADS,
    Answer,
    Mode,
    Task,
    short,
)
from tests.pairs.words import STEPS

Host = Callable[[int], Any]  # -> tests.mpi.ranks.Host or the like, with run(function, *arguments)


@dataclass
class Verdict:
    """What came of a task: how many runs agreed, how it was refused, and what differed."""

    runs: int = 0
    engine_runs: int = 0
    refused: str = ""
    engine_refused: str = ""
    faults: int = 0
    differs: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)


def judge(
    task: Task, ask: Callable[[int, Task, list[Mode]], list[list[Answer]]], sizes: tuple[int, ...]
) -> Verdict:
    """Run *task* on each number of ranks and compare; *ask* gives what every rank said, or raises."""
    verdict = Verdict(sizes=list(sizes))
    own = [OWN] if isinstance(task.engine, gl.Async) else [OWN, OWN_INTERPRETED]
    expected: Answer | None = None
    engine_said: Answer | None = None
    for size in sizes:
        modes = [REFERENCE] * (expected is None) + [COMPILED, THREADS, INTERPRETED]
        modes += own * (task.engine is not None)
        try:
            of_ranks = ask(size, task, modes)
        except Exception as error:
            verdict.differs.append(f"{size} ranks: {type(error).__name__}: {error}")
            return verdict
        for k, mode in enumerate(modes):
            of_mode = [rank[k] for rank in of_ranks]
            where = f"{size} ranks, {mode.name}"
            if any(other != (of_mode[0][0], short(of_mode[0][1])) for other in of_mode[1:]):
                verdict.differs.append(f"{where}: the ranks disagree: {[x[0] for x in of_mode]}")
            said = of_mode[0]
            if mode is REFERENCE:
                if str(said[1]).startswith("TimeoutExpired"):
                    return Verdict()  # a large graph: the reference is too slow to say what is right
                expected = said
                if said[0] == "broken" and not _wished(task, said):
                    verdict.differs.append(f"reference: {said[1]}")
                continue
            assert expected is not None
            if not mode.own:
                verdict.runs += 1
                why = differs(task, expected, said)
                verdict.refused = said[1] if said[0] == "refused" else ""
                verdict.faults += said[0] == "fault"
            else:
                verdict.engine_runs += 1
                if engine_said is None or (said[0] == "refused") != (engine_said[0] == "refused"):
                    why = (
                        ""
                        if engine_said is None
                        else f"is {said[0]}: {str(said)[:300]}, elsewhere {str(engine_said)[:300]}"
                    )
                    engine_said = said
                if said[0] == "refused":
                    verdict.engine_refused = said[1]
                    why = "" if said == engine_said else f"is refused by {said[1]} and {engine_said[1]}"
                else:
                    why = engine_differs(task, expected, said)
            if why:
                verdict.differs.append(f"{where}: {why}")
    verdict.differs += twin_differs(task, ask, expected)
    unexpected = unknown_refusals(task, verdict)
    verdict.differs += unexpected
    return verdict


def twin_differs(task: Task, ask: Any, expected: Answer | None) -> list[str]:
    """Return how a program of phases differs from the same one with all directions in its phases."""
    text = twin(task.text) if "phases" in task.features else ""
    if not text or expected is None or expected[0] != "answer":
        return []
    said = ask(1, replace(task, text=text, name=f"{task.name}_twin"), [REFERENCE])[0][0]
    why = differs(task, expected, said)
    return [f"directions of the class are not those of its phases: {why}"] if why else []


def _wished(task: Task, said: Answer) -> bool:
    """Return whether an error is what the program's own Python was to raise."""
    return ("fault in done" in task.features and "ZeroDivisionError" in said[1]) or (
        "fault in finaliser" in task.features and "the finaliser has failed" in said[1]
    )


def unknown_refusals(task: Task, verdict: Verdict) -> list[str]:
    """Return the refusals that no pair of the task's features has."""
    chosen = sorted(task.features)
    texts = {t for k, a in enumerate(chosen) for b in chosen[k + 1 :] if (t := names.refusal(a, b))}
    found = []
    for refused in (verdict.refused, verdict.engine_refused):
        if refused and not any(text in refused for text in texts):
            found.append(f"refused, and no pair of features is known to be: {refused}")
    return found


def line_of(text: str) -> str:
    """Return an error without its vertex and superstep."""
    found = re.search(r":(\d+): P failed at vertex", text)
    return f"line {found.group(1)}" if found else text


def place_of(task: Task, text: str) -> str:
    """Return where a run failed: the line and the superstep, and the vertex where there is only one."""
    first, _, line = text.partition("\n")
    found = re.search(r":(\d+): P failed at vertex (.*?) in superstep (\d+)", first)
    if found is None:
        return text
    at, vertex, superstep = found.groups()
    if "fault in merge" in task.features:  # the reference tries the rules of a merge, and calls it more often
        return "merge"
    if may_spare(task):
        return f"line {at}"
    anywhere = "id parameter" not in task.features or task.graph.right is not None
    return f"line {at}, superstep {superstep}, vertex {'' if anywhere else vertex}, {line.strip()}"


LATE = ("fault in merge", "fault in scatter", "fault in aggregator")


def differs(task: Task, expected: Answer, said: Answer) -> str:
    """Return how a run with supersteps differs from the reference, "" where it agrees."""
    if expected[0] != said[0]:
        if {expected[0], said[0]} == {"answer", "fault"} and may_spare(task):
            return ""
        if {"fault in done", "phases"} <= {*task.features} and {expected[0], said[0]} == {"answer", "broken"}:
            return ""  # a phase that its count of supersteps ends need not ask done
        return f"is {said[0]}: {_short(said[1])}; the reference is {expected[0]}: {_short(expected[1])}"
    if said[0] != "answer":
        mine, theirs = said[1], expected[1]
        if said[0] == "fault":
            mine, theirs = place_of(task, mine), place_of(task, theirs)
        return "" if mine == theirs else f"says\n{mine}\nand the reference\n{theirs}"
    for part in ("ids", "iterations", "converged", "vertices", "edges", "aggregates", "first", "history"):
        why = unequal(part, expected[1][part], said[1][part], _tolerance(task))
        if why:
            return why
    return ""


def _tolerance(task: Task) -> float:
    """Return how far apart values of the field `w` may be, relatively."""
    return 1e-6 if "precision float32" in task.features else 1e-12


def may_spare(task: Task) -> bool:
    """Return whether a fault may be spared: behind the edge at which a gather stops or a signal is certain.

    A scatter that only signals is evaluated from the other end, no further than it can change anything.
    How often a merge is called depends on the ranks.
    """
    stops = ("gl.stop", "gather Any", "gather All", "gather Min", "gather Max", "gather record")
    return (
        ("fault in gather" in task.features and any(f in task.features for f in stops))
        or "fault in scatter" in task.features
        or "fault in merge" in task.features
    )


def engine_differs(task: Task, expected: Answer, said: Answer) -> str:
    """Return how a run of another engine differs from the reference, "" where it agrees as far as it must."""
    ordered = (*STEPS, "aggregator read", "draw in gather", "draw in scatter")
    ordered += ("gather by method", "scatter by method", "scatter NONE", "fault in done")
    anyhow = any(f in task.features for f in ordered)  # what a vertex does depends on the order
    loose = anyhow or any(f in task.features for f in ("every=", "done"))
    exact = task.engine == gl.Stale(0)
    if exact and "fault in gather" not in task.features:
        return differs(task, expected, said)
    if expected[0] != said[0]:
        if {expected[0], said[0]} == {"answer", "broken"} and _wished(task, said):
            return ""  # how often done is asked, depends on the order
        if (
            {expected[0], said[0]} == {"answer", "fault"}
            and not str(said[1]).startswith("TimeoutExpired")
            and (anyhow or may_spare(task) or "fault in gather" in task.features)
        ):
            return ""
        return f"is {said[0]}: {_short(said[1])}; the reference is {expected[0]}: {_short(expected[1])}"
    if said[0] != "answer":
        mine, theirs = line_of(said[1]), line_of(expected[1])
        if "fault in merge" in task.features:
            return ""
        return "" if mine == theirs or loose else f"says\n{mine}\nand the reference\n{theirs}"
    if loose:
        return ""
    for part in ("ids", "vertices", "edges", "aggregates"):
        why = unequal(part, expected[1][part], said[1][part], _tolerance(task))
        if why:
            return why
    return ""


def _short(value: Any) -> str:
    return str(value)[:400]


def unequal(what: str, expected: Any, found: Any, tolerance: float = 1e-12) -> str:
    """Return where two answers differ, "" if they do not: bit for bit, but for the field `w`."""
    if isinstance(expected, dict) and isinstance(found, dict):
        if sorted(map(str, expected)) != sorted(map(str, found)):
            return f"{what} has {list(found)}, not {list(expected)}"
        for key, value in expected.items():
            if why := unequal(f"{what}[{key!r}]", value, found[key], tolerance):
                return why
        return ""
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for k, (x, y) in enumerate(zip(expected, found, strict=True)):
            if why := unequal(f"{what}[{k}]", x, y, tolerance):
                return why
        return ""
    if repr(expected) == repr(found):
        return ""
    if (
        "['w']" in what
        and isinstance(expected, float)
        and isinstance(found, float)
        and math.isclose(expected, found, rel_tol=tolerance, abs_tol=tolerance)
    ):
        return ""
    return f"{what} is {_short(found)!r}, and by the reference {_short(expected)!r}"
