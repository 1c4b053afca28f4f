"""Machines of several ranks in one process, between which a test is the network and the clock.

The machines are those that ship (`gaslab._kernels.machine`), made by the engine itself for the parts
of a real graph. The test says which rank begins a vertex and which record is delivered next; records
from one rank to another keep their order, as MPI keeps it, and nothing else is certain.

`tests.support.interleavings` tries all ways through small graphs and random ones through larger.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np

import gaslab as gl
from gaslab._kernels.machine import Relaxed, Serialisable
from gaslab.engine.asynchronous import driver as asynchronous
from gaslab.engine.asynchronous import make_machine
from gaslab.partitioning import strategies
from tests.support import scopes
from tests.support.threadcomm import ThreadComm, run_ranks

REQUEST, GRANT, UPDATE, SIGNAL, PACE, FRONT, REFUSAL, GIVE_BACK = range(1, 9)  # records, as in machine.pyx
IN_FLIGHT = 16
MAX_BYPASS = 4  # so that it ends in small graphs, too
Edge = tuple[int, int]
Records = tuple[bytes, ...]


class Remembers:
    """Remembers how it was made, with whom it takes turns, and who begins."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self.again = lambda: type(self)(**parts)
        self.parts = parts

    def take_turns(self, rivals: np.ndarray) -> None:
        self.declared_rivals = rivals
        super().take_turns(rivals)  # type: ignore[misc]

    def schedule(self, ids: np.ndarray) -> None:
        self.beginners = ids
        super().schedule(ids)  # type: ignore[misc]


class MadeRelaxed(Remembers, Relaxed):
    pass


class MadeSerialisable(Remembers, Serialisable):
    pass


class Paused(asynchronous.AsynchronousDriver):
    """Goes as far as to make its machine."""

    made: dict[int, Paused]

    def run(self) -> None:
        self._watch = True
        self.begin()
        self.made[self.comm.rank] = self
        self.converged = True


class Rank:
    """One rank: its part of the graph, its machine, what the machine has been given."""

    def __init__(self, engine: Any, turns: bool, rivals: bool) -> None:
        self.local, self.tree = engine.graph.local, engine.tree
        self.number, self.size = self.local.rank, self.local.size
        self._make, self._beginners = engine.machine.again, engine.machine.beginners
        self._rivals = engine.machine.declared_rivals * np.uint8(rivals) if turns else None
        state = engine.state
        self.fields = dict(zip((f.name for f in self.tree.vertex_fields), state.fields, strict=True))
        arrays = [*state.fields, *state.edge_fields, state.message, state.message_next, state.signalled]
        self._arrays = [(a, a.copy()) for a in [*arrays, state.priority] if a is not None]
        self._keep = engine
        parts = engine.machine.parts
        travels, sizes, identity, gathers = (
            parts[name] for name in ("travels", "sizes", "identity", "gathers")
        )
        priority = 8 if state.priority is not None else 0
        padded = [(size + 7) // 8 * 8 for size in sizes]
        self._travels = [[sizes[field] for field in travels[c]] for c in range(3)]
        self._sizes = [
            {
                REQUEST: 0,
                GRANT: padded[-1] if gathers[c] else 0,
                SIGNAL: priority + (len(identity) + 7) // 8 * 8,
                PACE: 0,
                FRONT: 8,
                REFUSAL: 0,
                GIVE_BACK: 0,
            }
            for c in range(3)
        ]
        self.restart()

    def restart(self) -> None:
        """Make the machine and its arrays as they were before the first step."""
        for values, first in self._arrays:
            values[:] = first
        self.machine = self._make()
        if self._rivals is not None:
            self.machine.take_turns(self._rivals)
        self.machine.schedule(self._beginners)

    def step(self, came: list[tuple[int, bytes]], budget: int) -> tuple[int, list[Records]]:
        """Let the machine step; return how many vertices it began and its records for each rank."""
        batches = [(peer, np.frombuffer(data, np.uint8)) for peer, data in came]
        begun = self.machine.step(batches, budget)
        assert self.machine.failure() is None
        sent = [self._records(p, self.machine.out.take(p).tobytes()) for p in range(self.size)]
        if self.machine.held_up and not any(sent):
            assert not self.machine.step([], budget), "it was not held up"
        return begun, sent

    def _records(self, peer: int, data: bytes) -> Records:
        """Cut a batch for *peer* into its records."""
        records, at = [], 0
        while at < len(data):
            length = 8 + self._length(peer, data[at : at + 8])
            records.append(data[at : at + length])
            at += length
        assert at == len(data)
        return tuple(records)

    def _length(self, peer: int, head: bytes) -> int:
        """Return how many bytes of a record for *peer* follow its head."""
        position, kind = position_of(head), kind_of(head)
        if kind == UPDATE:
            c = int.from_bytes(head[4:8], "little") >> 8
            return sum((position * size + 7) // 8 * 8 for size in (4, *self._travels[c]))
        down = kind in (REQUEST, GIVE_BACK)  # from a master to its mirror
        bounds = (self.local.send_bounds if down else self.local.mirror_bounds)[peer]
        c = int(np.searchsorted(bounds[1:3] - bounds[0], position, "right"))
        return self._sizes[c][kind]

    def edges(self) -> list[Edge]:
        """Return the edges here by global ids."""
        sources, targets = self.local.gid[self.local.in_neighbor], self.local.gid[self.local.targets()]
        return list(zip(sources.tolist(), targets.tolist(), strict=True))

    def turns(self) -> list[int]:
        """Return the global ids of those that were at work here, in the order in which they began."""
        locks = self.machine.locks()
        return self.local.gid[locks[np.argsort(locks[:, scopes.BEGIN]), scopes.ID]].tolist()


def ranks_of(
    program: gl.VertexProgram, size: int, vertices: int, edges: Sequence[Edge], parts: Sequence[int],
    consistency: str = "serialisable", scheduler: str = "fifo", directed: bool = True,
    big: int = make_machine.BIG, max_bypass: int = MAX_BYPASS, turns: bool = False, rivals: bool = True,
) -> list[Rank]:  # fmt: skip
    """Return so many ranks with the machines of *program*; ``parts[i]`` is the rank of edge i.

    They keep pace in rounds of *big* vertices and more; one that waits is passed *max_bypass* times.
    Without *turns* any rank begins the vertices it likes, and only their scopes exclude neighbours;
    without *rivals* any rank has its turn at once, in which it asks for scopes on all ranks together.
    """
    places = dict(zip(edges, parts, strict=True))

    def by_hand(src: np.ndarray, dst: np.ndarray, k: int, context: Any) -> np.ndarray:
        return np.array([places[edge] for edge in zip(src.tolist(), dst.tolist(), strict=True)], np.int32)

    def prepare(comm: ThreadComm) -> None:
        graph = gl.Graph.from_edges(
            [u for u, _ in edges], [w for _, w in edges], vertices=range(vertices), directed=directed,
            strategy="by hand", comm=comm,
        )  # fmt: skip
        gl.run(program, graph, engine=gl.Async(consistency=consistency, scheduler=scheduler), threads=1)

    made: dict[int, Paused] = {}
    with (
        mock.patch.dict(strategies.STRATEGIES, {"by hand": by_hand}),
        mock.patch.object(make_machine, "Relaxed", MadeRelaxed),
        mock.patch.object(make_machine, "Serialisable", MadeSerialisable),
        mock.patch.object(make_machine, "IN_FLIGHT", IN_FLIGHT),
        mock.patch.object(make_machine, "BIG", big),
        mock.patch.object(make_machine, "MAX_BYPASS", max_bypass),
        mock.patch.object(importlib.import_module("gaslab.engine.execute"), "AsynchronousDriver", Paused),
        mock.patch.object(Paused, "made", made, create=True),
    ):
        run_ranks(size, prepare)
    return [Rank(made[r], turns, rivals) for r in range(size)]


def kind_of(record: bytes) -> int:
    return record[4]


def position_of(record: bytes) -> int:
    return int.from_bytes(record[:4], "little")
