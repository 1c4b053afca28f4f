"""A `RunState` as the arrays of a `Snapshot`, and back: on any ranks, threads and cut of the same graph.

The cached totals of replicas belong to one cut; on another they are gathered again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gaslab._kernels import frontier as frontier_kernel
from gaslab._kernels.buckets import NEVER
from gaslab.checkpoint.snapshot import Snapshot
from gaslab.engine.observe.recorded import Recorded
from gaslab.engine.state import RunState
from gaslab.engine.storage import identity
from gaslab.errors import InputError
from gaslab.partitioning.local_graph import LocalGraph
from gaslab.ragged import GrowingRows, RaggedColumn, Rows

NUMBERS = ("superstep", "updates", "phase", "entered", "ran", "cycle", "cycles")


def snapshot_of(
    state: RunState, local: LocalGraph, written: Sequence[int], recorded: Recorded
) -> Snapshot:
    """Return this rank's part of a state between two supersteps, and the history until then.

    *written* are the edge fields that the program writes.
    """
    if state.message is not None:
        state.empty_messages()
    found = _arrays(state, local.num_masters, None, written)
    found.vertices["frontier"][state.frontier] = True
    recorded.put(found)
    return found


def layout_of(state: RunState, written: Sequence[int], recorded: Recorded) -> Snapshot:
    """Return what `snapshot_of` returns, without any rows of vertices and edges."""
    found = _arrays(state, 0, 0, written)
    recorded.put(found)
    return found


def _arrays(state: RunState, vertices: int, edges: int | None, written: Sequence[int]) -> Snapshot:
    """Return the first masters and edge slots of a state, no vertex in the frontier."""
    masters = slice(vertices)
    ids = np.arange(vertices, dtype=np.int32)
    found = Snapshot({name: int(getattr(state, name)) for name in NUMBERS})
    found.whole["aggregates"] = state.aggregate_row.copy()
    found.vertices["frontier"] = np.zeros(vertices, bool)
    if state.message is not None:
        found.vertices["message"] = _taken(state.message, ids, masters)
    if state.priority is not None:
        found.vertices["priority"] = state.priority[masters]
    for variable, values in zip(state.tree.vertex_fields, state.fields, strict=True):
        found.vertices[f"field {variable.name}"] = _taken(values, ids, masters)
    for k in written:
        found.edges[f"field {state.tree.edge_fields[k].name}"] = state.edge_fields[k][:edges]
    if state.cached is not None:
        cached = state.cached
        found.own = {
            "cached": cached.totals.copy(),
            "known": cached.known.copy(),
            "counts": np.array([cached.gathered, cached.kept]),
            **{f"cached of {p}": values.copy() for p, values in cached.of_mirrors.items()},
        }
    return found


def _taken(values: Any, ids: np.ndarray, masters: slice) -> Any:
    if isinstance(values, Rows):
        return RaggedColumn(values.lengths[masters].copy(), values.values(ids))
    return values[masters]


def restore(state: RunState, found: Snapshot, local: LocalGraph, written: Sequence[int]) -> None:
    """Set *state* from a snapshot of the same program and graph; only masters have the values then."""
    for name in NUMBERS:
        setattr(state, name, found.numbers[name])
    state.aggregate_row[:] = found.whole["aggregates"]
    masters = slice(local.num_masters)
    ids = np.arange(local.num_masters, dtype=np.int32)
    for variable, values in zip(state.tree.vertex_fields, state.fields, strict=True):
        given = found.vertices[f"field {variable.name}"]
        if isinstance(values, Rows):
            _check_room(values, given, variable.name)
            values.unpack(ids, given.lengths.astype(np.int32), given.values)
        else:
            values[masters] = given
    state.frontier = frontier_kernel.where(found.vertices["frontier"].view(np.uint8), 0, local.num_masters)
    state.next_total = state.initial = None
    _restore_messages(state, found, masters)
    if state.priority is not None and state.buckets is not None:
        state.buckets.clear()  # of the priorities too
        state.priority[masters] = found.vertices["priority"]
        waiting = state.priority[masters] != NEVER
        waiting[state.frontier] = False  # these are put into their buckets when the next superstep begins
        state.buckets.keep(frontier_kernel.where(waiting.view(np.uint8), 0, local.num_masters))
    for k in written:
        state.edge_fields[k][:] = found.edges[f"field {state.tree.edge_fields[k].name}"]
        local.forget_derived(state.edge_fields[k])
    _restore_cached(state, found)
    state.fresh.update(dict.fromkeys(state.fresh, 0))  # all phases have one


def _check_room(rows: Rows, given: RaggedColumn, name: str) -> None:
    """Raise InputError for lists that do not fit into their rows; a kernel copies them unchecked."""
    lengths = given.lengths
    fits = lengths.size == 0 or (lengths.min() >= 0 and lengths.sum() == given.values.size)
    if fits and lengths.size and not isinstance(rows, GrowingRows):
        room = np.diff(np.append(rows.place[:, 0], rows.data.size))[: lengths.size]
        fits = bool((lengths <= room).all())
    if not fits:
        raise InputError(f"the checkpoint holds lists of {name!r} that the program cannot have made")


def _restore_messages(state: RunState, found: Snapshot, masters: slice) -> None:
    if state.message is None:
        return
    given = found.vertices["message"]
    if isinstance(state.message, Rows):
        state.has_messages = True
        state.message.place[:, 0] = np.cumsum(given.lengths) - given.lengths
        state.message.place[:, 1] = given.lengths
        state.message.hold(given.values.view(state.message.data.dtype))
    elif state.tree.message is not None:
        for messages in (state.message, state.message_next):  # nothing waits in the second between supersteps
            assert messages is not None
            messages[:] = identity(state.tree.message)
        state.has_messages = True
        state.message[masters] = given.view(state.message.dtype)


def _restore_cached(state: RunState, found: Snapshot) -> None:
    """Read cached totals, or clear them where the snapshot is of another cut."""
    if state.cached is None:
        return
    cached = state.cached
    if not found.own:
        cached.known[:] = 0
        return
    cached.gathered, cached.kept = found.own["counts"].tolist()
    cached.known[:], cached.totals[:] = found.own["known"], found.own["cached"].view(cached.totals.dtype)
    for p, values in cached.of_mirrors.items():
        values[:] = found.own[f"cached of {p}"].view(values.dtype)
