"""Supersteps of small frontiers on one rank, run in a kernel, where no superstep needs a decision."""

from __future__ import annotations

import numpy as np

from gaslab._kernels import steps
from gaslab.engine.delivery import Delivery
from gaslab.engine.executor import Executor
from gaslab.engine.state import RunState

MOST_STEPS, MOST_SECONDS = 256, 0.05  # until Python looks again: progress, Ctrl-C


class KernelSteps:
    """Runs supersteps in a kernel for a phase that only applies messages and pushes scatter."""

    def __init__(self, executor: Executor, state: RunState, delivery: Delivery) -> None:
        assert executor.library is not None
        self._executor, self._state, self._delivery = executor, state, delivery
        message = None if state.message is None else delivery.nothing.tobytes()
        self._steps = steps.Steps(
            executor.view.address,
            executor.library.function("gl_apply"),
            executor.library.function("gl_scatter_push") if "scatter" in state.tree.functions else 0,
            0 if state.buckets is None else state.buckets.address,
            message or b"",
            executor.threads,
            delivery.push_threads > 1,
            2 * executor.local.num_edges,
        )

    @staticmethod
    def can(executor: Executor, state: RunState, ranks: int) -> bool:
        """Whether a superstep of this phase consists of apply and scatter alone."""
        tree = state.tree
        plain = tree.functions.keys() <= {"init", "start", "apply", "scatter"} and "apply" in tree.functions
        adds = tree.contributed() or tree.contributed_edges()
        more = tree.aggregates_in_supersteps or tree.gather or tree.posts or adds or tree.signals_by_id()
        more = bool(more or tree.lookups)
        return (
            ranks == 1 and executor.library is not None and tree.by_signal and plain and not more
            and state.message_next is state.message
        )  # fmt: skip

    def run(self, signalled: np.ndarray, most: int) -> tuple[np.ndarray, list[tuple[int, float]]]:
        """Run up to *most* supersteps; return the masters then signalled, and sizes and seconds."""
        ids, sizes, seconds, fault = self._steps.run(
            signalled, min(most, MOST_STEPS), self._delivery.most_pushed, MOST_SECONDS
        )
        state, view = self._state, self._executor.view
        ran = list(zip(sizes.tolist(), seconds.tolist(), strict=True))
        if ran:
            state.updates += int(sizes.sum())
            state.superstep += len(ran)
            view.superstep = state.superstep
            self._delivery.last = "push" if "scatter" in state.tree.functions else ""
        if fault is not None:
            self._executor.failed(fault, state.superstep - 1, self._executor.view.gid, "gl_apply")
        return ids, ran
