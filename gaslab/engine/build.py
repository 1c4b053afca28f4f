"""Builds the engine of each phase of a program: they have one exchange, and the fields of one state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gaslab.engine import lists
from gaslab.engine.executor import Executor
from gaslab.engine.parts import Parts
from gaslab.engine.stale.step import Stale
from gaslab.engine.state import RunState
from gaslab.engine.sync.step import Synchronous
from gaslab.engine.view import make_view
from gaslab.engine.visit.sweep import Visits
from gaslab.replication.exchange import Exchange

if TYPE_CHECKING:
    from gaslab.compiler import Compiled
    from gaslab.engine.bound import Bound
    from gaslab.engine.observe.observer import Observer
    from gaslab.engine.options import Options
    from gaslab.graph.graph import Graph
    from gaslab.program import VertexProgram


def build_synchronous(
    compiled: tuple[Compiled, ...], program: VertexProgram, graph: Graph, bound: Bound, options: Options,
    observe: Observer,
) -> list[Synchronous]:  # fmt: skip
    """Return the engine of each phase (collective)."""
    cls, engines = type(program), []
    for parts in _build_parts(compiled, program, graph, bound, options, observe):
        visits = None
        if "visit" in parts.state.tree.functions:
            visits = Visits(parts.executor, parts.state, parts.exchange, graph, cls.visit_ways)
        engines.append(Synchronous(parts, visits, cls.cache_rebuild))
    return engines


def build_stale(
    compiled: tuple[Compiled, ...], program: VertexProgram, graph: Graph, bound: Bound, options: Options,
    observe: Observer,
) -> Stale:  # fmt: skip
    """Return the engine of a program under bounded staleness, which has one phase (collective)."""
    assert options.staleness is not None
    (parts,) = _build_parts(compiled, program, graph, bound, options, observe)
    return Stale(parts, options.staleness)


def _build_parts(
    compiled: tuple[Compiled, ...], program: VertexProgram, graph: Graph, bound: Bound, options: Options,
    observe: Observer,
) -> list[Parts]:  # fmt: skip
    exchange = Exchange(graph.local, observe.comm(graph.comm))
    rooms = lists.rooms(tuple(one.tree for one in compiled), graph, bound.given)
    found: list[Parts] = []
    for one in compiled:
        state = _new_state(one, graph, bound, found[0].state if found else None, rooms)
        state.phase = len(found)
        view = make_view(state, graph, bound.params)
        view.given = 0 if found else state.given
        assert options.threads is not None
        executor = Executor(one, view, graph, options.threads, observe, options.ending)
        executor.aggregates.finalize(program)
        found.append(Parts.create(executor, state, exchange))
    return found


def _new_state(
    one: Compiled, graph: Graph, bound: Bound, first: RunState | None, rooms: dict[str, np.ndarray]
) -> RunState:
    """Return the state of a phase; that of the *first* has the values that the caller gave."""
    state = RunState.create(one.tree, graph, bound.edge_fields, bound.starts, first, rooms)
    if first is not None:
        return state
    state.give(bound.columns)
    state.given = state.give(bound.given)
    if bound.initial_frontier is not None:
        state.initial, messages = bound.initial_frontier.local(graph.local.gid[: graph.local.num_masters])
        if messages is not None and state.message is not None:
            state.message[state.initial] = messages
    return state
