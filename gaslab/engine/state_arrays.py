"""A `RunState` as plain arrays by global id, and back: on any ranks, threads and cut of the same graph.

Each rank writes the values of its masters and its edges. The cached totals of replicas are written too, but
read only where the cut is the same; else they are gathered again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gaslab._kernels import frontier as frontier_kernel
from gaslab._kernels.buckets import NEVER
from gaslab.engine.state import RunState
from gaslab.engine.storage import identity
from gaslab.errors import unknown
from gaslab.parallel.comm import Comm
from gaslab.partitioning.local_graph import LocalGraph
from gaslab.ragged import RaggedColumn, Rows

VERSION = 1  # of the arrays
NUMBERS = ("superstep", "updates", "phase", "entered", "ran", "cycle", "cycles")
Arrays = dict[str, np.ndarray]


def to_arrays(state: RunState, local: LocalGraph, written: Sequence[int]) -> Arrays:
    """Return this rank's part of a state between two supersteps; *written* are the run's own edge fields."""
    masters = slice(local.num_masters)
    found: Arrays = {
        "version": np.array([VERSION]),
        "numbers": np.array([getattr(state, name) for name in NUMBERS], np.int64),
        "seed": np.array([state.seed], np.uint64),
        "aggregates": state.aggregate_row.copy(),
        "vertex": local.gid[masters].copy(),
        "frontier": _flags(state.frontier, local.num_masters),
    }
    if state.initial is not None:
        found["initial"] = _flags(state.initial, local.num_masters)
    if state.message is not None:
        state.empty_messages()
        if isinstance(state.message, Rows):
            found["message lengths"] = state.message.lengths.copy()
            found["message"] = state.message.values(np.arange(local.num_masters))
        else:
            found["message"] = state.message[masters].copy()
    if state.priority is not None:
        found["priority"] = state.priority[masters].copy()
    for variable, values in zip(state.tree.vertex_fields, state.fields, strict=True):
        if isinstance(values, Rows):
            lengths, flat = values.pack(np.arange(local.num_masters, dtype=np.int32))
            found[f"lengths of {variable.name}"], found[f"values of {variable.name}"] = lengths, flat
        else:
            found[f"field {variable.name}"] = values[masters].copy()
    found["source"], found["target"] = local.gid[local.in_neighbor], local.gid[local.targets()]
    for k in written:
        found[f"edge field {state.tree.edge_fields[k].name}"] = state.edge_fields[k].copy()
    if state.cached is not None:
        found["replica"] = local.gid.copy()
        found["cached"], found["known"] = state.cached.totals.copy(), state.cached.known.copy()
        found["counts"] = np.array([state.cached.gathered, state.cached.kept])
        found |= {f"cached of {p}": values.copy() for p, values in state.cached.of_mirrors.items()}
    return found


def from_arrays(
    state: RunState, parts: Sequence[Arrays], local: LocalGraph, comm: Comm, written: Sequence[int]
) -> None:
    """Set *state* from all ranks' `to_arrays`; only masters have the values then (collective)."""
    if int(parts[0]["version"][0]) != VERSION:
        raise unknown("the version of a state's arrays", parts[0]["version"][0])
    for name, value in zip(NUMBERS, parts[0]["numbers"].tolist(), strict=True):
        setattr(state, name, value)
    state.aggregate_row[:] = parts[0]["aggregates"]
    gids = _whole(parts, "vertex")
    order = np.argsort(gids)
    mine = order[np.searchsorted(gids, local.gid[: local.num_masters], sorter=order)]
    _read_vertices(state, parts, mine)
    _read_edges(state, parts, local, written)
    _read_cached(state, parts, local, comm)
    state.fresh.update(dict.fromkeys(state.fresh, 0))  # all phases have one


def _read_vertices(state: RunState, parts: Sequence[Arrays], mine: np.ndarray) -> None:
    """Read the values of masters; *mine* are their positions in the whole arrays."""
    masters = slice(mine.size)
    for variable, values in zip(state.tree.vertex_fields, state.fields, strict=True):
        if isinstance(values, Rows):
            name = f"of {variable.name}"
            whole = RaggedColumn(_whole(parts, f"lengths {name}"), _whole(parts, f"values {name}"))
            rows = whole[mine]
            ids = np.arange(mine.size, dtype=np.int32)
            values.unpack(ids, rows.lengths.astype(np.int32), rows.values)
        else:
            values[masters] = _whole(parts, f"field {variable.name}")[mine]
    state.frontier = _ids(_whole(parts, "frontier")[mine])
    state.next_total = None
    state.initial = _ids(_whole(parts, "initial")[mine]) if "initial" in parts[0] else None
    if isinstance(state.message, Rows):
        state.has_messages = True
        whole = RaggedColumn(_whole(parts, "message lengths"), _whole(parts, "message"))
        rows = whole[mine]
        state.message.place[:, 0] = np.cumsum(rows.lengths) - rows.lengths
        state.message.place[:, 1] = rows.lengths
        state.message.hold(rows.values)
    elif state.message is not None and state.tree.message is not None:
        for messages in (state.message, state.message_next):  # nothing waits in the second between supersteps
            assert messages is not None
            messages[:] = identity(state.tree.message)
        state.has_messages = True
        state.message[masters] = _whole(parts, "message")[mine]
    if state.priority is not None and state.buckets is not None:
        state.buckets.clear()  # of the priorities too
        state.priority[masters] = _whole(parts, "priority")[mine]
        waiting = state.priority[masters] != NEVER
        waiting[state.frontier] = False  # these are put into their buckets when the next superstep begins
        state.buckets.keep(_ids(waiting))


def _read_edges(state: RunState, parts: Sequence[Arrays], local: LocalGraph, written: Sequence[int]) -> None:
    """Read the edge fields that the program writes; parallel edges are together, in their order."""
    if not written:
        return
    ends = local.gid[local.in_neighbor], local.gid[local.targets()]
    place, keys = _in_order(*ends)
    whole_place, whole_keys = _in_order(_whole(parts, "source"), _whole(parts, "target"))
    found = whole_place[np.searchsorted(whole_keys, keys)]
    for k in written:
        values = _whole(parts, f"edge field {state.tree.edge_fields[k].name}")
        state.edge_fields[k][place] = values[found]
        local.forget_derived(state.edge_fields[k])


def _in_order(source: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return edges' positions by source and target; and in that order their keys, ascending.

    A key is the source, the target and the number of the edge among its parallel edges.
    """
    place = np.lexsort((target, source))
    keys = np.zeros(place.size, [("source", np.int64), ("target", np.int64), ("number", np.int64)])
    keys["source"], keys["target"] = source[place], target[place]
    new = np.ones(place.size, bool)
    new[1:] = (np.diff(keys["source"]) != 0) | (np.diff(keys["target"]) != 0)
    first = np.flatnonzero(new)
    keys["number"] = np.arange(place.size) - np.repeat(first, np.diff(np.append(first, place.size)))
    return place, keys


def _read_cached(state: RunState, parts: Sequence[Arrays], local: LocalGraph, comm: Comm) -> None:
    """Read cached totals if every rank has the same replicas as before; else clear them (collective)."""
    if state.cached is None:
        return
    here = parts[comm.rank]["replica"] if len(parts) == comm.size else np.empty(0, np.int64)
    same = bool(comm.allreduce(int(np.array_equal(here, local.gid)), "min"))
    cached = state.cached
    cached.gathered, cached.kept = np.sum([part["counts"] for part in parts], axis=0).tolist()
    if comm.rank:
        cached.gathered = cached.kept = 0  # they are summed over the ranks
    cached.known[:] = parts[comm.rank]["known"] if same else 0
    if same:
        cached.totals[:] = parts[comm.rank]["cached"]
        for p, values in cached.of_mirrors.items():
            values[:] = parts[comm.rank][f"cached of {p}"]


def _whole(parts: Sequence[Arrays], name: str) -> np.ndarray:
    return np.concatenate([part[name] for part in parts])


def _flags(ids: np.ndarray, count: int) -> np.ndarray:
    flags = np.zeros(count, np.uint8)
    flags[ids] = 1
    return flags


def _ids(flags: Any) -> np.ndarray:
    found: np.ndarray = frontier_kernel.where(np.ascontiguousarray(flags).view(np.uint8), 0, flags.size)
    return found
