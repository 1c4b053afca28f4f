"""Supersteps of small frontiers, run in a kernel if no superstep needs a decision."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gaslab._kernels import borders, frontier, steps
from gaslab.compiler.tree import is_list
from gaslab.engine.state import RunState
from gaslab.engine.superstep_parts import Parts
from gaslab.parallel.tags import Tag

MOST_STEPS, MOST_SECONDS = 256, 0.05  # until Python looks again: progress, Ctrl-C
EDGES_A_SUPERSTEP = 4096  # edges walked in the time of a superstep on several ranks
MOST_WAITING = 1 << 14  # vertices of a superstep run here on several ranks

Ran = list[dict[str, Any]]  # the rows of the history, except aggregates and the phase

class KernelSteps:
    """Runs supersteps in a kernel for a phase that gathers here, applies and pushes scatter."""

    def __init__(self, parts: Parts) -> None:
        executor, state, delivery = parts.executor, parts.state, parts.delivery
        assert executor.library is not None
        assert delivery is not None
        self._executor, self._state, self._delivery = executor, state, delivery
        tree = state.tree
        scatters = "scatter" in tree.functions
        self._delivered = "push" if scatters else ""
        gathers = tree.gather is not None
        make = steps.Steps if parts.exchange.comm.size == 1 else steps.Rounds
        self._steps = make(
            executor.view.address,
            executor.library.function("gl_gather_apply" if gathers else "gl_apply"),
            gathers and bool(executor.view.gather_edges),
            executor.library.function("gl_scatter_push") if scatters else 0,
            0 if state.buckets is None else state.buckets.address,
            b"" if state.message is None else delivery.nothing.tobytes(),
            executor.threads,
            delivery.push_threads > 1,
            _rows(state, frozenset(f.name for f in tree.vertex_fields if tree.double_buffered(f.name))),
        )

    @staticmethod
    def can(parts: Parts) -> bool:
        """Whether a superstep of this phase is only gather on one rank, apply and scatter (collective)."""
        executor, state, tree, comm = parts.executor, parts.state, parts.state.tree, parts.exchange.comm
        plain = tree.functions.keys() <= {"init", "start", "gather", "apply", "scatter"}
        adds = tree.contributed() or tree.contributed_edges()
        more = tree.aggregates_in_supersteps or tree.posts or adds or tree.signals_by_id() or tree.lookups
        lists = tree.collects_messages or any(is_list(field.storage) for field in tree.vertex_fields)
        if tree.gather is not None:
            lists |= tree.gather.collects
        works = executor.library is not None and tree.by_signal and plain and "apply" in tree.functions
        if not works or more or lists or parts.delivery is None or state.message_next is not state.message:
            return False
        if tree.gather is None or comm.size == 1:
            return True
        return not comm.allreduce(parts.exchange.replicated_masters(executor.view.gather_edges).size)

    def run(self, signalled: np.ndarray, most: int) -> tuple[np.ndarray, Ran]:
        """Run up to *most* supersteps; return the masters then signalled, and the supersteps run."""
        if self._executor.fault is not None:
            return signalled, []
        most = min(most, MOST_STEPS)
        ids, sizes, seconds, fault = self._steps.run(
            signalled, most, self._delivery.most_pushed, MOST_SECONDS
        )
        ran = [self._row(*figures) for figures in zip(sizes.tolist(), seconds.tolist(), strict=True)]
        self._count(ran)
        if fault is not None:
            self._fail(fault, self._state.superstep - 1)
        return ids, ran

    def _row(self, active: int, seconds: float) -> dict[str, Any]:
        return {
            "superstep": 0, "active": active, "seconds": seconds, "bytes_sent": 0, "delivery": self._delivered
        }  # fmt: skip

    def _count(self, ran: Ran) -> None:
        """Count and number the supersteps that ran."""
        state = self._state
        for superstep, row in enumerate(ran, state.superstep):
            row["superstep"] = superstep
        if ran:
            state.updates += sum(row["active"] for row in ran)
            state.superstep += len(ran)
            self._executor.view.superstep = state.superstep
            self._delivery.last = ran[-1]["delivery"]

    def _fail(self, fault: tuple[int, int, int], superstep: int) -> None:
        self._executor.failed(fault, superstep, self._executor.view.gid, "gl_apply")


class KernelRounds(KernelSteps):
    """The same on one of several ranks, with two messages to each other rank per superstep.

    If no running vertex is near a mirror, on any rank, ranks run supersteps alone.
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        state, exchange, library = parts.state, parts.exchange, parts.executor.library
        assert library is not None
        self._comm, self._local = exchange.comm, exchange.graph
        self._peers = [p for p in range(self._comm.size) if p != self._comm.rank]
        self._role, names = parts.mirrors.spread_always
        self._replicated = exchange.replicated_masters(self._role)
        spreads = self._comm.allreduce(int(self._replicated.size > 0), "or")
        self._steps.plan(
            self._comm.rank,
            0 if state.message is None else library.function("gl_combine_messages"),
            np.ascontiguousarray(self._local.mirror_bounds[:, [0, 3]], np.int64),
            self._local.send_list,
            *self._local.replicas(),
            exchange.places(self._role),
            _rows(state, names) if spreads else None,
        )
        self._supersteps = 0  # of all ranks together
        self._knows_borders = False

    def run(self, signalled: np.ndarray, most: int) -> tuple[np.ndarray, Ran]:
        steps, comm, executor, most = self._steps, self._comm, self._executor, min(most, MOST_STEPS)
        if not most:
            return signalled, []
        ran: Ran = []
        agreed, began, before = 0, time.perf_counter(), comm.bytes_sent
        signals = self._swap(steps.begin(signalled, executor.fault is not None), Tag.SMALL_COLLECT)
        while True:
            count = steps.unpack_collect(signals, MOST_WAITING, most - agreed)
            agreed += steps.took
            if missing := agreed - len(ran):  # run by other ranks while this one waited
                waited = (time.perf_counter() - began) / missing
                ran += [self._row(0, waited) for _ in range(missing)]
                began += missing * waited
            if count < 0:
                break
            if steps.alone:
                self._run_alone(ran)
            else:
                self._run_together(count, ran)
            signals = self._swap(steps.pack_collect(executor.fault is not None), Tag.SMALL_COLLECT)
            if len(ran) > agreed:
                now, sent = time.perf_counter(), comm.bytes_sent
                ran[-1]["seconds"] = now - began - sum(row["seconds"] for row in ran[agreed:-1])
                ran[-1]["bytes_sent"] = sent - before
                began, before = now, sent
        if ran:
            for row, size in zip(ran, comm.allreduce(np.array([row["active"] for row in ran])), strict=True):
                row["active"] = int(size)
        if steps.fault is not None:
            self._fail(*steps.fault)
        self._count(ran)
        return steps.end(), ran

    def _run_together(self, count: int, ran: Ran) -> None:
        """Add a superstep of this many masters here."""
        steps = self._steps
        ran.append(self._row(count, 0.0))
        values = steps.gather_apply()
        edges = steps.unpack_spread(values and self._swap(values, Tag.SMALL_SPREAD))
        if edges <= self._delivery.most_pushed:
            steps.scatter(edges)
        elif steps.fault is None:
            self._pull(ran)
        self._supersteps += 1
        if not self._knows_borders and self._supersteps * EDGES_A_SUPERSTEP > self._local.num_edges:
            self._look_for_borders()

    def _run_alone(self, ran: Ran) -> None:
        """Add supersteps without other ranks."""
        steps, most_pushed = self._steps, self._delivery.most_pushed
        while True:
            ran += [self._row(*figures) for figures in zip(*steps.run_alone(most_pushed), strict=True)]
            if not steps.large:
                return
            began = time.perf_counter()
            ran.append(self._row(steps.replicas().size, 0.0))
            self._pull(ran)
            ran[-1]["seconds"] = time.perf_counter() - began
            steps.go_on()
            if self._executor.fault is not None:
                return

    def _look_for_borders(self) -> None:
        """Let ranks run alone from now on; supersteps have cost more than finding the borders."""
        local, directions = self._local, int(self._executor.view.scatter_edges) if self._delivered else 0
        rows = local.in_begin, local.in_neighbor, *(local.out()[:2] if directions else (None, None))

        def search() -> np.ndarray:
            found: np.ndarray = borders.supersteps_before(
                *rows, directions, local.num_masters, self._replicated
            )
            return found

        self._steps.free_of = local.derived(local.in_neighbor, ("borders", self._role, directions), search)
        self._knows_borders = True

    def _pull(self, ran: Ran) -> None:
        """Pull the scatter of the last superstep."""
        replicas, active, view = self._steps.replicas(), self._state.active, self._executor.view
        ran[-1]["delivery"] = "pull"
        frontier.set_flags(active, replicas, 1)
        view.superstep, view.all_active = self._state.superstep + len(ran) - 1, 0
        self._delivery.scatter(replicas)
        frontier.set_flags(active, replicas, 0)

    def _swap(self, messages: list[Any], tag: Tag) -> list[Any]:
        """Send every other rank its message; return theirs, by rank (None for this one)."""
        received = self._comm.begin({p: messages[p] for p in self._peers}, self._peers, tag).end()
        return [received.get(p) for p in range(self._comm.size)]


def _rows(state: RunState, names: frozenset[str]) -> np.ndarray:
    """Return the fields of these names, and the bytes of a value of each (int64 [fields, 2])."""
    found = [
        (k, values.strides[0])
        for k, (field, values) in enumerate(zip(state.tree.vertex_fields, state.fields, strict=True))
        if field.name in names
    ]
    return np.array(found, np.int64).reshape(-1, 2)
