"""`Parts`: the parts from which every engine composes its superstep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaslab.engine.activation import Activation
from gaslab.engine.additive import Additive
from gaslab.engine.delivery import Delivery
from gaslab.engine.executor import Executor
from gaslab.engine.mirrors import Mirrors, across
from gaslab.engine.phase_aggregation import Aggregation
from gaslab.engine.state import RunState
from gaslab.replication.exchange import Exchange


@dataclass
class Parts:
    """The parts of one phase's superstep, on one rank."""

    executor: Executor
    state: RunState
    exchange: Exchange
    activation: Activation
    mirrors: Mirrors
    aggregation: Aggregation
    delivery: Delivery | None  # of signals, if the phase has any
    additive: Additive | None  # of contributions to fields, if it has any

    @classmethod
    def create(cls, executor: Executor, state: RunState, exchange: Exchange) -> Parts:
        """Return the parts of a phase."""
        tree, mask = state.tree, executor.view.scatter_edges
        delivery = additive = None
        mirrors = Mirrors(executor, state, exchange)
        if "scatter" in tree.functions or tree.signals() or tree.message is not None:
            delivery = Delivery(executor, state, exchange)
        if tree.contributed():
            role = mask if tree.contributed("v") else 0
            role |= across(mask) if tree.contributed("nbr") else 0
            additive = Additive(executor, state, exchange, role)
        return cls(
            executor, state, exchange, Activation(executor, state), mirrors,
            Aggregation(executor, state, mirrors), delivery, additive,
        )  # fmt: skip

    def initialise(self) -> None:
        """Run init on every vertex and bring the mirrors up to date; raises its fault on every rank."""
        executor, state = self.executor, self.state
        with executor.observe.stage("init", state):
            if "init" in state.tree.functions:
                executor.over_masters("gl_init")
                state.stale(state.tree.writes("init"), 0)
            self.mirrors.refresh()
            executor.raise_any()
            if state.tree.aggregators or not state.tree.by_signal:
                self.aggregation.compute()
                self.aggregation.agree()
            executor.observe.initial_aggregates = state.named_aggregates()

    def initial_frontier(self) -> np.ndarray:
        """Return this rank's masters (ascending int32) that start (collective)."""
        ids = self.activation.activate().ids
        return np.arange(self.executor.local.num_masters, dtype=np.int32) if ids is None else ids
