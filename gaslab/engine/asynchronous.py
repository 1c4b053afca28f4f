"""The asynchronous engine: no supersteps; a vertex runs when its turn in the scheduler comes.

`Machine` (a kernel) is the state machine of this rank's vertices. Here its batches of records are sent and
received, the ranks agree on figures now and then, and it is found out when all is over.

**The end.** A rank is passive when nothing waits in its scheduler and nothing is left to send; only a batch
that comes can change that. The ranks exchange rows of counts, over and over, none waiting for the others
in between. When in two such rounds, the second begun after the first had ended, all were passive and
as many batches had been received in the first as had been sent in the second, then nothing was under way at
the end of the first, and nothing has moved since (Mattern: Algorithms for distributed termination
detection, 1987: the four-counter method).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab._kernels.machine import Machine
from gaslab.engine.roles import field_roles
from gaslab.engine.state import identity, total_dtype
from gaslab.engine.stopping import ask
from gaslab.engine.sync import Synchronous
from gaslab.errors import ExecutionError, TimeoutExpired, UsageError, nearest
from gaslab.program import ALL, IN, OUT

if TYPE_CHECKING:
    from gaslab.compiler.tree import Tree
    from gaslab.graph import Graph
    from gaslab.program import VertexProgram

CONSISTENCIES = ("relaxed", "serialisable")
SCHEDULERS = ("fifo", "priority", "sweep", "random")
BATCH = 32768  # bytes for one peer after which they are sent, whatever else there is to do
BUDGET, ALONE = 256, 1 << 16  # vertices begun between two looks at the mail; on one rank
IN_FLIGHT = 8192  # masters of one rank that wait for others at once
PAUSE = 0.01  # seconds between two rounds of counts while there is work
_CLASSES = (OUT, ALL, IN)  # of mirrors, in the order in which LocalGraph has them
_COUNTS = (
    "sent",
    "received",
    "passive",
    "in_flight",
    "waiting",
    "updates",
    "late",
    "code",
    "gid",
    "site",
    "turn",
)


@dataclass(frozen=True)
class Options:
    """How `gaslab.run` was told to run without supersteps."""

    consistency: str = "relaxed"
    scheduler: str | None = None
    max_updates: int | None = None
    timeout: float | None = None
    interval: float = 0.1  # seconds between two values of the aggregators

    def check(self, tree: Tree) -> Options:
        """Return the options with the scheduler that is meant; raises where they do not go together."""
        if self.consistency not in CONSISTENCIES:
            raise UsageError(
                f"consistency={self.consistency!r} is unknown{nearest(self.consistency, CONSISTENCIES)}"
            )
        scheduler = self.scheduler or ("priority" if tree.by_priority else "fifo")
        if scheduler not in SCHEDULERS:
            raise UsageError(f"scheduler={scheduler!r} is unknown{nearest(scheduler, SCHEDULERS)}")
        if scheduler == "priority" and not tree.by_priority:
            raise UsageError(f"scheduler='priority' needs signals with priority=; {tree.name} gives none")
        if self.max_updates is not None and self.max_updates < 0:
            raise UsageError(f"max_updates={self.max_updates}: must not be negative")
        return Options(self.consistency, scheduler, self.max_updates, self.timeout, self.interval)


def check_program(trees: list[Tree], compiled: bool) -> None:
    """Raise unless the program can run without supersteps."""
    tree = trees[0]
    functions = tree.functions
    reasons = {
        "it has several phases": len(trees) > 1,
        "no signals decide who runs; write a scatter that signals": not tree.by_signal,
        "init(v, message) belongs to supersteps; let apply take the message": "init_message" in functions,
        "visit runs in sweeps over all edges": "visit" in functions,
        "its scatter adds to fields declared with sync=": bool(tree.contributed()),
        "its directions change by vertex": bool({"gather_edges", "scatter_edges"} & functions.keys()),
        "it keeps lists": tree.has_lists,
        "it posts changes of gathers": tree.posts,
        "it signals vertices by their ids": tree.signals_by_id(),
        "its methods read self.superstep, and there are none": tree.reads_global("superstep"),
    }
    for reason, holds in reasons.items():
        if holds:
            raise UsageError(f"{tree.name} cannot run with engine='async': {reason}; use engine='sync'")
    if not compiled:
        raise UsageError(f"engine='async' runs compiled programs only, and {tree.name} is interpreted here")


class Asynchronous:
    """One program without supersteps, begun where `Synchronous.initialise` leaves it."""

    def __init__(
        self, engine: Synchronous, program: VertexProgram, graph: Graph, library: Any, options: Options,
        seed: int, watch: bool = False,
    ) -> None:  # fmt: skip
        self.engine, self.state, self.tree = engine, engine.state, engine.tree
        self.program, self.graph, self.options = program, graph, options
        self.comm, self.mail = graph.comm, graph.comm.mail()
        self.converged, self.updates = False, 0
        self._locking = options.consistency == "serialisable" and self.comm.size > 1
        self._library, self._seed, self._watch = library, seed, watch
        self._aggregated = 0.0
        self._began = time.perf_counter()
        self._closing = self._late = False
        self._done = getattr(type(program), "done", None)
        self.machine: Any = None

    @property
    def bytes_posted(self) -> int:
        """Bytes that this rank sent in batches."""
        return self.mail.bytes_sent

    # ---- the story ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """Run init, and let those wait in the machine that are to begin (collective)."""
        self.engine.initialise()
        beginners = self.engine.beginners()
        view = self.engine.view
        view.vertex_next = self.state.next_fields = self.state.fields
        if self._locking and view.out_begin is None:
            view.out_begin, view.out_neighbor, view.out_slot = self.graph.local.out()
        self.machine = self._make_machine()
        self.machine.schedule(beginners)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Run until nothing is signalled; give a row of figures after each round of counts."""
        self.begin()
        before: np.ndarray | None = None
        asked_at = 0.0
        budget = ALONE if self.comm.size == 1 else BUDGET
        while True:
            came = self.mail.collect()
            begun = self.machine.step(came, self._budget(budget), self._closing)
            busy = bool(begun or came)
            self._post(everything=not busy)
            counts = self.mail.told() if self.mail.asked else None
            if counts is not None:
                try:
                    yield self._row(counts)
                except ExecutionError:  # raised on all ranks at this count
                    self.mail.close()
                    raise
                if self._is_over(before, counts):
                    break
                before = counts
            now = time.perf_counter()
            idle = not busy and not self.machine.in_flight  # else the end is not near
            if not self.mail.asked and (idle or now - asked_at > PAUSE):
                asked_at = now
                self.mail.ask(self._counts(now))
            if not busy and counts is None and self.comm.size > 1:
                os.sched_yield()
        self.mail.close()
        self._conclude(counts)

    def _budget(self, budget: int) -> int:
        most = self.options.max_updates
        if most is None or self.comm.size > 1:
            return budget
        return min(budget, most - int(self.machine.updates))

    def _post(self, everything: bool) -> None:
        for peer in range(self.comm.size):
            waiting = self.machine.out.pending(peer)
            if waiting >= BATCH or (everything and waiting):
                self.mail.post(peer, self.machine.out.take(peer))

    # ---- agreeing ----------------------------------------------------------------------------------

    def _counts(self, now: float) -> np.ndarray:
        """Return this rank's row: counts, its fault, and its part of the aggregates."""
        machine, options = self.machine, self.options
        passive = (self._closing or not machine.waiting) and not any(
            machine.out.pending(peer) for peer in range(self.comm.size)
        )
        late = options.timeout is not None and now - self._began > options.timeout
        fault = (0, 0, 0, 0)
        if (failed := machine.failure()) is not None:
            code, vertex, site = failed
            fault = (code, int(self.graph.local.gid[vertex]), site, int(machine.rounds[vertex]))
        mine = [
            self.mail.sent,
            self.mail.received,
            passive,
            machine.in_flight,
            machine.waiting,
            machine.updates,
            late,
        ]
        return np.concatenate([np.array([*mine, *fault], np.int64), self._aggregate(now)])

    def _aggregate(self, now: float) -> np.ndarray:
        """Return this rank's part of the aggregates, computed anew once an interval."""
        aggregates = self.engine.phases.aggregates
        if not len(aggregates):
            return np.empty(0, np.int64)
        if now - self._aggregated > self.options.interval:
            self._aggregated = now
            self.engine.aggregate()
        return aggregates.collected()

    def _row(self, counts: np.ndarray) -> dict[str, Any]:
        """Take in what all ranks told: raise a fault, settle the aggregates, see whether to stop."""
        of = dict(zip(_COUNTS, counts.T, strict=False))
        for code, gid, site, turn in zip(of["code"], of["gid"], of["site"], of["turn"], strict=True):
            if code:
                self.engine.phases.raise_fault(int(code), int(gid), int(site), int(turn))
        self.updates = int(of["updates"].sum())
        row = {
            "seconds": time.perf_counter() - self._began,
            "updates": self.updates,
            "waiting": int(of["waiting"].sum()),
            "in_flight": int(of["in_flight"].sum()),
        }
        if len(self.engine.phases.aggregates):
            self.engine.settle(counts[:, len(_COUNTS) :])
            row |= {a.name: x for a, x in zip(self.tree.aggregators, self.state.aggregates, strict=True)}
            if self._done is not None and ask(self._done, self.program, self.graph, self.tree, self.state):
                self._closing, self.converged = True, True
        most = self.options.max_updates
        if of["late"].any() or (most is not None and self.updates >= most):
            self._closing = True
        self._late = bool(of["late"].any())
        return row

    def _is_over(self, before: np.ndarray | None, counts: np.ndarray) -> bool:
        if before is None or not (before[:, 2].all() and counts[:, 2].all()):
            return False
        if before[:, 1].sum() != counts[:, 0].sum():
            return False
        assert not counts[:, 3].sum(), "vertices wait for each other, and no record is under way"
        return True

    def _conclude(self, counts: np.ndarray) -> None:
        waiting = int(counts[:, 4].sum())
        if self._late and waiting and not self.converged:
            raise TimeoutExpired(
                f"{self.tree.name} ran out of {self.options.timeout:.3g} s after {self.updates} updates"
            )
        self.converged = self.converged or not waiting
        self.state.updates = self.updates
        most = int(self.machine.rounds[: self.graph.local.num_masters].max(initial=0))
        self.state.superstep = int(self.comm.allreduce(most, "max"))
        if len(self.engine.phases.aggregates):
            self.engine.aggregate()
            self.engine.agree()

    # ---- the machine -------------------------------------------------------------------------------

    def _make_machine(self) -> Any:
        local, view, tree = self.graph.local, self.engine.view, self.tree
        begin, peer, position = local.replicas()
        first = local.send_bounds[:, 0]
        kinds = np.zeros(peer.size, np.uint8)
        for k in (1, 2):
            kinds[position >= (local.send_bounds[peer, k] - first[peer])] = k
        owned = np.concatenate([[0], np.cumsum([ids.size for ids in local.send_list])]).astype(np.int64)
        lists = np.concatenate([np.empty(0, np.int32), *local.send_list]).astype(np.int32)
        mirror_begin = local.mirror_bounds[:, 0].astype(np.int64)
        mirror_begin[local.rank] = -1
        mirrors = local.num_local - local.num_masters
        owner, mirror_kinds = np.zeros(mirrors, np.int32), np.zeros(mirrors, np.uint8)
        for p in range(local.size):
            bounds = local.mirror_bounds[p] - local.num_masters
            if p != local.rank and bounds[0] < bounds[3]:
                owner[bounds[0] : bounds[3]] = p
                mirror_kinds[bounds[1] : bounds[2]], mirror_kinds[bounds[2] : bounds[3]] = 1, 2

        roles = field_roles(tree, view.gather_edges, view.scatter_edges)
        written = tree.writes("apply")
        travels = [
            [k for k, f in enumerate(tree.vertex_fields) if f.name in written and roles[f.name] & mask]
            for mask in _CLASSES
        ]
        gathers = [tree.gather is not None and bool(view.gather_edges & mask) for mask in _CLASSES]
        scatters = ["scatter" in tree.functions and bool(view.scatter_edges & mask) for mask in _CLASSES]
        asks = [self._locking or g for g in gathers]
        updates = [self._locking or s or bool(t) for s, t in zip(scatters, travels, strict=True)]
        widths = [values.itemsize * int(np.prod(values.shape[1:], dtype=int)) for values in self.state.fields]
        total = total_dtype(tree.gather).itemsize if tree.gather is not None else 0
        message = b""
        if tree.message is not None:
            message = np.array([identity(tree.message)], self.state.message.dtype).tobytes()  # type: ignore[union-attr]
        names = ("gl_gather", "gl_combine", "gl_apply", "gl_scatter_push", "gl_combine_messages")
        return Machine(
            view, {name: self._library.function(name) for name in names},
            (begin, peer, position, kinds), (owned, lists), (mirror_begin, owner, mirror_kinds),
            travels, [*widths, total], message, asks, updates, gathers, scatters,
            self._locking, self.options.scheduler, IN_FLIGHT, self._watch, self._seed,
        )  # fmt: skip
