"""Damaged checkpoints: a run that resumes gives the right answer or an error that names the folder.

The right answer is that of an uninterrupted run: from an older checkpoint that is whole, or from this one
where the damage is none. Nothing else may happen: no other exception, no hang, no end of the process.
"""

from __future__ import annotations

import json
import random as randoms
import shutil
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import gaslab as gl
from gaslab.errors import GaslabError
from gaslab.parallel.comm import Comm
from tests.fuzz.damage import FILES, WAYS, damage
from tests.fuzz.fuzzer import Fuzzer
from tests.fuzz.on_ranks import Together
from tests.programs.caches import Posted
from tests.programs.edge_fields import Flow
from tests.programs.lists import Circles
from tests.programs.phases import HubsAndAuthorities

SIZES = (1, 2)
LIMIT = 6
SWEEPS = {"topics": 3, "iterations": 5, "mh_sweeps": 3, "count": None}
KINDS = ("pagerank", "Flow", "Circles", "Posted", "HubsAndAuthorities", "async", "stale", "lda")
PROGRAMS = {program.__name__: program for program in (Flow, Circles, Posted, HubsAndAuthorities)}
_graphs: dict[tuple[str, int], gl.Graph] = {}  # of this process


def graph_of(kind: str, comm: Comm) -> gl.Graph:
    """Return the graph that runs of a kind are of (collective)."""
    name = kind if kind in ("lda", "async") else "plain"
    if (name, comm.size) not in _graphs:
        random = np.random.default_rng(5)
        if name == "lda":
            documents, words = random.integers(0, 12, 90), random.integers(0, 20, 90)
            made = gl.Graph.from_edges(documents, words, bipartite=True, strategy="random", comm=comm)
        elif name == "async":
            path = np.arange(400)
            made = gl.Graph.from_edges(path[:-1], path[1:], strategy="random", comm=comm)
        else:
            source, target = random.integers(0, 40, (2, 150))
            columns = {"weight": random.random(150), "cost": random.integers(1, 9, 150)}
            made = gl.Graph.from_edges(source, target, columns=columns, strategy="random", comm=comm)
        _graphs[name, comm.size] = made
    return _graphs[name, comm.size]


def answer(comm: Comm, kind: str, limit: int = LIMIT, **options: Any) -> dict[str, Any]:
    """Return the answer of a run (collective)."""
    graph = graph_of(kind, comm)
    options |= {"threads": 1, "compile": "never"} if kind == "Circles" else {"threads": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "lda":
            result = gl.lda(graph, **SWEEPS, **options)  # type: ignore[arg-type]
        elif kind == "pagerank":
            result = gl.pagerank(graph, tolerance=0, max_iterations=limit, **options)
        elif kind == "async":
            result = gl.components(graph, engine="async", **options)
        elif kind == "stale":
            most = limit if limit < LIMIT else None  # None: to the end, where the delays no longer show
            result = gl.pagerank(
                graph, tolerance=1e-13, max_iterations=most, engine=gl.Stale(2), method="power", **options
            )
        else:
            result = gl.run(PROGRAMS[kind](), graph, max_iterations=limit, **options)
    tables = {"vertex": result.vertices} | ({"edge": result.collect_edges()} if kind == "Flow" else {})
    found: dict[str, Any] = {
        f"{of} {name}": table[name].tolist() for of, table in tables.items() for name in table.columns
    }
    found.pop("vertex moved", None)  # by the last superstep of PageRank
    if kind not in ("async", "stale"):
        found["iterations"] = result.iterations
        found["active"] = [row.get("active", row.get("iteration")) for row in result.history]
    return found


def save(comm: Comm, kind: str, folder: str) -> dict[str, Any]:
    """Leave the checkpoints of a run that was stopped; return the answer of one that was not (collective)."""
    whole = answer(comm, kind)
    if kind == "async":
        answer(comm, kind, checkpoint=folder, every="0.002s", keep=3)
    elif kind == "lda":
        answer(comm, kind, checkpoint=folder, every=1, keep=4)
    else:
        answer(comm, kind, LIMIT - 1, checkpoint=folder, every=1, keep=3)
    return whole


def resume(comm: Comm, job: dict[str, Any]) -> dict[str, Any]:
    """Resume from a copy of a damaged folder (collective)."""
    copy = Path(f"{job['folder']}-{comm.size}")
    comm.on_root(lambda: shutil.copytree(job["folder"], copy, symlinks=True, copy_function=_copied))
    try:
        if job["in_place"]:
            every = "60s" if job["kind"] == "async" else 1
            return answer(comm, job["kind"], checkpoint=copy, every=every, resume="auto")
        return answer(comm, job["kind"], resume=copy)
    except GaslabError as error:
        words = str(error).replace(str(copy), "FOLDER")
        raise type(error)(words) from None


def _copied(source: str, target: str) -> None:
    import os
    import stat

    if stat.S_ISFIFO(os.lstat(source).st_mode):
        os.mkfifo(target)
    else:
        shutil.copy2(source, target, follow_symlinks=False)


class Checkpoints(Fuzzer):
    name = "checkpoints"
    batch = 12
    sample = 12

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gaslab-checkpoints-"))
        self.together = Together(SIZES)
        self.whole: dict[tuple[str, int], dict[str, Any]] = {}
        self.number = 0
        self.ends: Counter[str] = Counter()

    def draw(self, random: randoms.Random) -> dict[str, Any]:
        ways = [random.choice(list(WAYS)) for _ in range(random.choice((1, 1, 1, 2, 3)))]
        damages = [[what, random.getrandbits(32), random.choice((0, 0, 0, 1, 2))] for what in ways]
        if random.random() < 0.1:
            damages = [[random.choice(FILES).__name__, random.getrandbits(32), at] for at in range(4)]
        return {
            "kind": random.choice(KINDS),
            "saved on": random.choice(SIZES),
            "in place": random.random() < 0.3,
            "damages": damages,
        }

    def check(self, case: dict[str, Any]) -> str | None:
        return self.check_all([case])[0]

    def check_all(self, cases: list[dict[str, Any]]) -> list[str | None]:
        jobs = [self._job(case) for case in cases]

        def judge(at: int, outcome: Any, size: int) -> str | None:
            return self._judge(cases[at], outcome, size)

        try:
            return self.together.check(resume, jobs, judge)
        finally:
            for job in jobs:
                for path in self.folder.glob(f"{Path(job['folder']).name}*"):
                    shutil.rmtree(path, ignore_errors=True)

    def _job(self, case: dict[str, Any]) -> dict[str, Any]:
        kind, size = case["kind"], case["saved on"]
        saved = self.folder / f"{kind}-{size}"
        if not saved.exists():
            self.whole[kind, size] = self.together.ranks[SIZES.index(size)].run(
                save, kind, str(saved), timeout=300
            )[0]
        self.number += 1
        folder = self.folder / f"job-{self.number}"
        shutil.copytree(saved, folder)
        for what, number, at in case["damages"]:
            damage(folder, what, number, at)
        return {"folder": str(folder), "kind": kind, "in_place": case["in place"]}

    def _judge(self, case: dict[str, Any], outcome: Any, size: int) -> str | None:
        kind, saved = case["kind"], case["saved on"]
        if isinstance(outcome, tuple):
            _, name, text = outcome
            self.ends[name] += 1
            if name not in ("InputError", "UsageError", "GaslabError") or "FOLDER" not in text:
                return f"{name} that does not name the folder: {text}"
            return None
        self.ends["right"] += 1
        if kind == "lda" and size != saved:  # a collapsed sampler depends on the ranks; no token is lost
            counts = [np.array(one["vertex counts"]).sum() for one in (outcome, self.whole[kind, saved])]
            return None if counts[0] == counts[1] else f"{counts[0]} tokens of {counts[1]}"
        wrong = differences(outcome, self.whole[kind, saved], exact=size == saved and kind != "stale")
        return f"wrong answer: {wrong}" if wrong else None

    def summary(self) -> str:
        return "; " + ", ".join(f"{name} {count}" for name, count in sorted(self.ends.items()))

    def smaller(self, case: dict[str, Any]) -> Any:
        for at in range(len(case["damages"])):
            yield {**case, "damages": case["damages"][:at] + case["damages"][at + 1 :]}

    def close(self) -> None:
        self.together.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def differences(found: dict[str, Any], expected: dict[str, Any], exact: bool) -> list[str]:
    """Return the names of what differs: bits, or floats by more than 1e-9."""
    if found.keys() != expected.keys():
        return ["keys"]
    wrong = []
    for name, values in expected.items():
        floats = isinstance(values, list) and any(isinstance(x, float) for x in values)
        if exact or not floats:
            same = json.dumps(found[name]) == json.dumps(values)
        else:
            same = np.allclose(found[name], values, 1e-9, 1e-9)
        wrong += [] if same else [name]
    return wrong
