"""Supersteps of small frontiers, run in a kernel where no superstep needs a decision."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gaslab._kernels import frontier, steps
from gaslab.compiler.tree import is_list
from gaslab.engine.state import RunState
from gaslab.engine.superstep_parts import Parts
from gaslab.parallel.tags import Tag

MOST_STEPS, MOST_SECONDS = 256, 0.05  # until Python looks again: progress, Ctrl-C
MOST_WAITING = 1 << 14  # vertices of a superstep on several ranks that is run here

Ran = list[dict[str, Any]]  # the rows that history has of what ran, without their number

class KernelSteps:
    """Runs supersteps in a kernel for a phase that gathers here, applies and pushes scatter."""

    def __init__(self, parts: Parts) -> None:
        executor, state, delivery = parts.executor, parts.state, parts.delivery
        assert executor.library is not None
        assert delivery is not None
        self._executor, self._state, self._delivery = executor, state, delivery
        tree = state.tree
        self._scatters = "scatter" in tree.functions
        gathers = tree.gather is not None
        make = steps.Steps if parts.exchange.comm.size == 1 else steps.Rounds
        self._steps = make(
            executor.view.address,
            executor.library.function("gl_gather_apply" if gathers else "gl_apply"),
            gathers and bool(executor.view.gather_edges),
            executor.library.function("gl_scatter_push") if self._scatters else 0,
            0 if state.buckets is None else state.buckets.address,
            b"" if state.message is None else delivery.nothing.tobytes(),
            executor.threads,
            delivery.push_threads > 1,
            _rows(state, frozenset(f.name for f in tree.vertex_fields if tree.double_buffered(f.name))),
        )

    @staticmethod
    def can(parts: Parts) -> bool:
        """Whether a superstep of this phase is gather on one rank, apply and scatter alone (collective)."""
        executor, state, tree, comm = parts.executor, parts.state, parts.state.tree, parts.exchange.comm
        plain = tree.functions.keys() <= {"init", "start", "gather", "apply", "scatter"}
        adds = tree.contributed() or tree.contributed_edges()
        more = tree.aggregates_in_supersteps or tree.posts or adds or tree.signals_by_id() or tree.lookups
        lists = any(is_list(field.storage) for field in tree.vertex_fields)
        if tree.gather is not None:
            lists |= tree.gather.collects
        works = executor.library is not None and tree.by_signal and plain and "apply" in tree.functions
        if not works or more or lists or parts.delivery is None or state.message_next is not state.message:
            return False
        if tree.gather is None or comm.size == 1:
            return True
        return not comm.allreduce(parts.exchange.replicated_masters(executor.view.gather_edges).size)

    def run(self, signalled: np.ndarray, most: int) -> tuple[np.ndarray, Ran]:
        """Run up to *most* supersteps; return the masters then signalled, and what ran."""
        if self._executor.fault is not None:
            return signalled, []
        ids, sizes, seconds, fault = self._steps.run(
            signalled, min(most, MOST_STEPS), self._delivery.most_pushed, MOST_SECONDS
        )
        return ids, self._ran(sizes, seconds.tolist(), [0] * sizes.size, ["push"] * sizes.size, fault)

    def _ran(
        self, sizes: np.ndarray, seconds: list[float], sent: list[int], ways: list[str],
        fault: tuple[int, int, int] | None,
    ) -> Ran:  # fmt: skip
        """Count supersteps that ran; return their rows."""
        state, view = self._state, self._executor.view
        if ways:
            state.updates += int(sizes.sum())
            state.superstep += sizes.size
            view.superstep = state.superstep
            self._delivery.last = ways[-1] if self._scatters else ""
        if fault is not None:
            self._executor.failed(fault, state.superstep - 1, view.gid, "gl_apply")
        return [
            {"active": size, "seconds": took, "bytes_sent": count, "delivery": way if self._scatters else ""}
            for size, took, count, way in zip(sizes.tolist(), seconds, sent, ways, strict=True)
        ]


class KernelRounds(KernelSteps):
    """The same on a rank of several, with two messages to each of the others in a superstep."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        state, exchange, library = parts.state, parts.exchange, parts.executor.library
        assert library is not None
        self._comm, local = exchange.comm, exchange.graph
        self._peers = [p for p in range(self._comm.size) if p != self._comm.rank]
        role, names = parts.mirrors.hearing
        spreads = self._comm.allreduce(int(bool(exchange.owned(role))), "or")
        self._steps.plan(
            self._comm.rank,
            0 if state.message is None else library.function("gl_combine_messages"),
            np.ascontiguousarray(local.mirror_bounds[:, [0, 3]], np.int64),
            local.send_list,
            *local.replicas(),
            exchange.places(role),
            _rows(state, names) if spreads else None,
        )

    def run(self, signalled: np.ndarray, most: int) -> tuple[np.ndarray, Ran]:
        steps, comm, executor, most = self._steps, self._comm, self._executor, min(most, MOST_STEPS)
        sizes, seconds, sent, ways = list[int](), list[float](), list[int](), list[str]()
        began, before = time.perf_counter(), comm.bytes_sent
        signals = self._swap(steps.begin(signalled, executor.fault is not None), Tag.COLLECT)
        while (count := steps.receive(signals, MOST_WAITING if len(sizes) < most else 0)) >= 0:
            values = steps.apply_waiting()
            edges = steps.hear(values and self._swap(values, Tag.SPREAD))
            ways.append("push" if edges <= self._delivery.most_pushed else "pull")
            if ways[-1] == "push":
                steps.scatter(edges)
            else:
                self._pull(steps.replicas(), self._state.superstep + len(sizes))
            signals = self._swap(steps.signals(executor.fault is not None), Tag.COLLECT)
            began, last = time.perf_counter(), began
            sizes.append(count)
            seconds.append(began - last)
            sent.append(comm.bytes_sent - before)
            before = comm.bytes_sent
        every = comm.allreduce(np.array(sizes, np.int64)) if sizes else np.empty(0, np.int64)
        return steps.end(), self._ran(every, seconds, sent, ways, steps.fault)

    def _pull(self, replicas: np.ndarray, superstep: int) -> None:
        active, view = self._state.active, self._executor.view
        frontier.set_flags(active, replicas, 1)
        view.superstep, view.all_active = superstep, 0
        self._delivery.scatter(replicas)
        frontier.set_flags(active, replicas, 0)

    def _swap(self, messages: list[Any], tag: Tag) -> list[Any]:
        """Send every other rank its message; return theirs, by rank (None: of this one)."""
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
