"""Write what every program of the zoo and the toolkit answers and sends, to compare two versions by.

    python -m tests.support.record before.tsv

A line a program, engine and number of ranks: the digest of the answer to the last bit, messages and bytes
of all ranks. Where behaviour must stay, two versions write the same file.
"""

from __future__ import annotations

import argparse
import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gaslab as gl
from gaslab.errors import GaslabError
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.programs import CASES, Case
from tests.support import toolkit
from tests.support.agreement import Outcome, Task, run_task
from tests.support.graphs import Drawn, hubs

STRATEGY = "dbh"
WAYS: dict[str, dict[str, Any]] = {
    "sync": {},
    "two threads": {},
    "interpreted": {},
    "stale": {"engine": gl.Stale(0)},
    "async": {"engine": gl.Async(scheduler="fifo")},
}
MODES = {"two threads": ("require", 2), "interpreted": ("never", 1)}


def graph_of(case: Case) -> Drawn:
    """Return a graph with hubs and all columns that the programs of the zoo read."""
    drawn = hubs(n=40, edges=240)
    count = len(drawn.edges)
    drawn.columns.update(
        weight=[(k % 64 + 1) / 8 for k in range(count)],
        cost=[k * 7 % 19 - 9 for k in range(count)],
        tokens=[[(k + j) % 7 for j in range(k % 5)] for k in range(count)],
        marks=[[(k * j) % 7 for j in range(k % 3)] for k in range(count)],
        levels=[[(k + j) % 7 / 4 for j in range(k % 4)] for k in range(count)],
        flags=[[(k + j) % 2 == 0 for j in range(k % 5)] for k in range(count)],
    )
    return drawn


def task_of(case: Case, drawn: Drawn, limit: int | None) -> Task:
    """Return the run of a program of the zoo."""
    parameters = {**case.parameters, **({"source": 0} if "source" in case.program.__annotations__ else {})}
    init = {name: {v: v % 10 for v in drawn.ids[::3]} for name in case.given} or None
    start: Any = {"": None, "ids": drawn.ids[::2]}.get(case.start, {v: v % 10 for v in drawn.ids[::2]})
    program = f"{case.program.__module__}:{case.program.__name__}"
    return Task(program, drawn, limit, "", parameters, dict(case.columns), init, start)


def zoo(comm: Comm, way: str) -> list[tuple[str, int, int]]:
    """Return of each program of the zoo the answer's digest, messages and bytes (of this rank)."""
    drawn = graph_of(CASES[0])
    graph = drawn.build(comm, STRATEGY)
    lines = []
    for case in CASES:
        task = task_of(case, drawn, None if way == "async" else case.limit)
        before = comm.messages_sent, comm.bytes_sent
        more = {"engine": gl.Async("fifo", max_updates=400)} if way == "async" else {}
        try:
            found: Any = run_task(task, graph, MODES.get(way, ("require", 1)), **{**WAYS[way], **more})
        except GaslabError as error:
            found = error
        if way in ("stale", "async") and isinstance(found, Outcome):
            found = replace(found, history=[])  # it has times
        lines.append((_digest(found), comm.messages_sent - before[0], comm.bytes_sent - before[1]))
    return lines


def tools(comm: Comm) -> list[tuple[str, int, int]]:
    """Return the same of every call of the toolkit, on a directed and an undirected graph, as two lines."""
    lines = []
    for directed in (True, False):
        drawn = Drawn(**{**vars(hubs(n=40, edges=240)), "directed": directed})
        drawn.columns["cost"] = [1] * len(drawn.edges)
        before = comm.messages_sent, comm.bytes_sent
        found, _ = toolkit.every_call(comm, drawn, STRATEGY)
        lines.append((_digest(found), comm.messages_sent - before[0], comm.bytes_sent - before[1]))
    return lines


def _digest(found: Any) -> str:
    if isinstance(found, Exception):
        return type(found).__name__
    return hashlib.sha256(repr(found).encode()).hexdigest()[:16]


def of_size(size: int) -> Iterator[str]:
    """Give the lines of one number of ranks."""
    names = [str(case) for case in CASES]
    jobs: list[tuple[str, list[str], Any, tuple[Any, ...]]] = [
        (way, names, zoo, (way,)) for way in WAYS if size == 1 or way != "async"
    ]
    jobs.append(("toolkit", ["directed", "undirected"], tools, ()))
    ranks = Ranks(size)
    for way, of, function, arguments in jobs:
        by_rank = ranks.run(function, *arguments, timeout=900)
        for name, lines in zip(of, zip(*by_rank, strict=True), strict=True):
            answers = {digest for digest, _, _ in lines}
            assert len(answers) == 1, f"ranks disagree on {name} under {way}"
            sent = (sum(messages for _, messages, _ in lines), sum(size for *_, size in lines))
            stale = size > 1 and way == "stale"  # what a rank saw when, and so how much it sent, may differ
            yield "\t".join([way, str(size), name, answers.pop(), *(["-"] * 2 if stale else map(str, sent))])
    ranks.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file")
    path = parser.parse_args().file
    warnings.simplefilter("ignore")
    with open(path, "w") as file:
        for size in (1, 2, 3):
            for line in of_size(size):
                print(line, file=file, flush=True)


if __name__ == "__main__":
    from tests.support import record  # by its name: ranks find `zoo` there

    record.main()
