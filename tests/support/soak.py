"""Drawn runs without supersteps over a network that delays, on graphs of 30 to 2,000 vertices.

A block has one drawn graph under one cut and runs each consistency with each scheduler on it. The number of
a block is the seed of all that is drawn in it; under mpiexec `python -m tests.support.soak BLOCK` runs it.
Answers are held against computations that have nothing of the engine.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import networkx as nx
import numpy as np

import gaslab as gl
from gaslab.engine.asynchronous import make_machine
from gaslab.parallel.comm import Comm, world
from tests.support import prioritised_programs as prioritised
from tests.support import unordered_programs as plain
from tests.support.delays import slow
from tests.support.graphs import STRATEGIES

WAYS = tuple(
    itertools.product(("relaxed", "serialisable"), ("fifo", "priority", "sweep", "random"))
)  # what a block has one run of each of
LEAST, MOST = 30, 2000  # vertices
SECONDS = 60.0  # of one run at most
Way = tuple[str, str]


@dataclass(frozen=True)
class Run:
    """One run and how it ended: "" where all was right."""

    way: Way
    program: str
    case: str
    fault: str


@contextmanager
def compiled_once() -> Iterator[None]:
    """Parse and emit each program once, not in every run."""
    module, known = importlib.import_module("gaslab.engine.execute"), _known

    def compiled(program: type, *arguments: Any) -> Any:
        return known.get(program) or known.setdefault(program, compile_phases(program, *arguments))

    compile_phases = module.compile_phases
    with mock.patch.object(module, "compile_phases", compiled):
        yield


_known: dict[type, Any] = {}


class Case:
    """A graph of a block, drawn alike on every rank, and what is true of it."""

    def __init__(self, block: int) -> None:
        self.draw = np.random.default_rng([20, block])
        draw = self.draw
        self.cut = STRATEGIES[block % len(STRATEGIES)]
        self.n = n = int(np.exp(draw.uniform(np.log(LEAST), np.log(MOST + 1))))
        count = int(n * draw.uniform(1.0, 5.0))
        self.shape = str(draw.choice(["uniform", "hubs", "near", "path"]))
        src = draw.integers(0, n, count)
        if self.shape == "uniform":
            dst = draw.integers(0, n, count)
        elif self.shape == "hubs":
            dst = draw.integers(0, n, count) ** 3 // n**2
        elif self.shape == "near":
            dst = (src + draw.integers(-4, 5, count)) % n
        else:
            src, dst = np.arange(n - 1), np.arange(1, n)
            count = n - 1
        spread = int(draw.choice([1, 4, 120, 100_000]))  # of priorities; a bucket's window has 64
        self.src, self.dst, self.weight = src, dst, draw.integers(1, spread + 1, count).astype(float)
        self.source = int(src[draw.integers(0, count)])
        self.settings = {
            "BIG": int(draw.choice([1, 16, make_machine.BIG])),
            "MAX_BYPASS": int(draw.choice([1, 4, make_machine.MAX_BYPASS])),
            "BLOCK": int(draw.choice([1, 8, make_machine.BLOCK])),
        }

    def __str__(self) -> str:
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return f"cut {self.cut}, {self.n} vertices, {self.src.size} edges ({self.shape}), {settings}"

    def graph(self, comm: Comm) -> gl.Graph:
        return gl.Graph.from_edges(
            self.src, self.dst, columns={"weight": self.weight}, vertices=range(self.n), strategy=self.cut,
            comm=comm,
        )  # fmt: skip

    def program(self, consistency: str) -> gl.VertexProgram:
        """Draw a program that says something about this consistency."""
        every: list[gl.VertexProgram] = [
            plain.Urgent(source=self.source), prioritised.Nearer(source=self.source), prioritised.Posted(),
            prioritised.Joined(),
        ]  # fmt: skip
        some = every + [prioritised.Painted()] * (consistency == "serialisable")
        return some[self.draw.integers(0, len(some))]

    def fault(self, program: gl.VertexProgram, found: Any) -> str:
        """Return what is wrong with the answer, "" if nothing is."""
        if isinstance(program, prioritised.Painted):
            colour = np.asarray(found["colour"])
            distinct = self.src != self.dst
            proper = (colour[self.src] != colour[self.dst])[distinct].all()
            return "" if proper and (colour >= 0).all() else "not a proper colouring"
        if isinstance(program, prioritised.Posted):
            expected, name = np.bincount(self.dst, minlength=self.n), "got"
        elif isinstance(program, prioritised.Joined):
            expected, name = self._components(), "part"
        else:
            expected, name = self._distances(), "distance"
        wrong = np.flatnonzero(np.asarray(found[name]) != expected)
        return f"{name} is wrong at {wrong.size} vertices, first at {wrong[0]}" if wrong.size else ""

    def _components(self) -> np.ndarray:
        joined = nx.Graph(zip(self.src.tolist(), self.dst.tolist(), strict=True))
        least = np.arange(self.n)
        for part in nx.connected_components(joined):
            least[list(part)] = min(part)
        return least

    def _distances(self) -> np.ndarray:
        ways = nx.DiGraph()
        order = np.argsort(-self.weight, kind="stable")  # of parallel edges the shortest is put last
        rows = (values[order].tolist() for values in (self.src, self.dst, self.weight))
        ways.add_weighted_edges_from(zip(*rows, strict=True))
        distance = np.full(self.n, np.inf)
        for v, x in nx.single_source_dijkstra_path_length(ways, self.source).items():
            distance[v] = x
        return distance


def block(comm: Comm, number: int) -> list[Run]:
    """Run one block on the ranks of *comm*; its runs are the same on every rank but for their faults.

    Every run says on stdout what it is before it begins, so that one that hangs has a name.
    """
    case = Case(number)
    runs = []
    with ExitStack() as stack:
        for name, value in case.settings.items():
            stack.enter_context(mock.patch.object(make_machine, name, value))
        stack.enter_context(compiled_once())
        graph = case.graph(comm)
        stack.enter_context(slow(comm, number))
        for consistency, scheduler in WAYS:
            program = case.program(consistency)
            name = type(program).__name__
            text = f"block {number} on {comm.size} ranks: {name}, {consistency}, {scheduler}, {case}"
            if not comm.rank:
                print(text, flush=True)
            try:
                result = gl.run(
                    program, graph, engine=gl.Async(consistency=consistency, scheduler=scheduler),
                    threads=1, timeout=SECONDS,
                )  # fmt: skip
            except gl.TimeoutExpired as error:  # on every rank
                fault = str(error)
            else:
                fault = case.fault(program, result.vertices) if result.converged else "not converged"
            runs.append(Run((consistency, scheduler), name, text, fault))
    return runs


if __name__ == "__main__":
    for run in itertools.chain.from_iterable(block(world(), int(word)) for word in sys.argv[1:]):
        if run.fault:
            print(f"rank {world().rank}: {run.case}: {run.fault}", flush=True)
