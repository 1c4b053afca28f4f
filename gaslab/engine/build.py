"""Builds the engine of each phase of a program; the phases share one exchange and the fields of one state."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab.compiler import Compiled
from gaslab.engine import lists
from gaslab.engine.bind import drawn
from gaslab.engine.bound_program import BoundProgram
from gaslab.engine.executor import Executor
from gaslab.engine.observe.observer import Observer
from gaslab.engine.options import Options
from gaslab.engine.stale.step import Stale
from gaslab.engine.state import RunState
from gaslab.engine.superstep_parts import Parts
from gaslab.engine.sync.step import Synchronous
from gaslab.engine.view import make_view, walks_out_rows
from gaslab.engine.visit.sweep import Visits
from gaslab.language.visit_ways import ways_of
from gaslab.replication.exchange import Exchange


def build_synchronous(
    bound: BoundProgram, options: Options, observe: Observer, exchange: Exchange
) -> list[Synchronous]:
    """Return the engine of each phase (collective)."""
    cls, engines = type(bound.program), []
    for parts in _build_parts(bound, options, observe, exchange):
        visits = None
        if "visit" in parts.state.tree.functions:
            visits = Visits(parts.executor, parts.state, bound.graph, ways_of(bound.program))
        engines.append(Synchronous(parts, visits, cls.cache_rebuild))
    return engines


def build_stale(
    bound: BoundProgram, options: Options, staleness: int, observe: Observer, exchange: Exchange
) -> Stale:
    """Return the engine of a program under bounded staleness, which has one phase (collective)."""
    (parts,) = _build_parts(bound, options, observe, exchange)
    return Stale(parts, staleness)


def _build_parts(
    bound: BoundProgram, options: Options, observe: Observer, exchange: Exchange
) -> list[Parts]:
    graph = bound.graph
    rooms = lists.rooms(tuple(one.tree for one in bound.compiled), graph, bound.initial_values)
    if any(walks_out_rows(one.tree, graph) for one in bound.compiled):
        graph.local.out()  # before fields exist: edges take 16 more bytes each while being sorted
    edge_fields = drawn(bound.columns.edge_fields)
    found: list[Parts] = []
    for one, arrays in zip(bound.compiled, bound.arrays, strict=True):
        state = _new_state(one, bound, edge_fields, [parts.state for parts in found], rooms)
        state.phase = len(found)
        view = make_view(state, graph, bound.params, arrays)
        view.initial_fields = 0 if found else state.initial_fields
        assert options.threads is not None
        executor = Executor(one, view, graph, options.threads, observe, options.cancellation)
        executor.aggregates.bind(bound.program)
        found.append(Parts.create(executor, state, exchange))
    return found


def _new_state(
    one: Compiled,
    bound: BoundProgram,
    edge_fields: list[Any],
    before: list[RunState],
    rooms: dict[str, np.ndarray],
) -> RunState:
    """Return a phase's state, given those of the phases *before*; the first has the initial values."""
    graph = bound.graph
    state = RunState.create(one.tree, graph, edge_fields, bound.starts, before, rooms)
    if before:
        return state
    state.set_values(bound.columns.of_vertices)
    state.initial_fields = state.set_values(bound.initial_values)
    if bound.initial_frontier is not None:
        state.initial, messages = bound.initial_frontier.local(graph.local.gid[: graph.local.num_masters])
        if messages is not None and state.message is not None:
            state.message[state.initial] = messages
    return state
