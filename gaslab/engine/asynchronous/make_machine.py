"""Makes the state machine of a rank's vertices from its part of the graph and the program."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab._kernels.buckets import Buckets
from gaslab._kernels.machine import Relaxed, Serialisable
from gaslab._kernels.phase_runner import View
from gaslab.engine.mirrors import field_roles
from gaslab.engine.state import RunState
from gaslab.engine.storage import identity, total_dtype
from gaslab.engine.sync.cache import Cache
from gaslab.partitioning.local_graph import LocalGraph
from gaslab.program import ALL, IN, OUT

IN_FLIGHT = 32768  # masters of one rank that wait for others at once
MAX_BYPASS = 250  # times that a vertex waiting for its scope may be passed over
_CLASSES = (OUT, ALL, IN)  # of mirrors, in the order in which LocalGraph has them
BLOCK = 1024
BIG = 8192  # vertices of a round from which ranks keep pace
_FUNCTIONS = (
    "gl_gather", "gl_combine", "gl_apply", "gl_gather_apply", "gl_scatter_push", "gl_combine_messages",
)  # fmt: skip


def make_machine(
    local: LocalGraph, view: View, state: RunState, library: Any, scheduler: str, serialisable: bool,
    seed: int, caching: Cache | None, watch: bool,
) -> Relaxed | Serialisable:  # fmt: skip
    """Return the machine of this rank; see the kernel's `Machine` for its parameters.

    With *serialisable* on several ranks *view* needs the out-edges too; *watch* records times of locks.
    """
    tree = state.tree
    locking = serialisable and (local.size > 1 or watch)
    block = BLOCK
    if tree.draws or (serialisable and not locking):  # draws depend on how often their vertex ran
        block = 1
    roles = field_roles(tree, view.gather_edges, view.scatter_edges)
    written = tree.writes("apply")
    travels = [
        [k for k, f in enumerate(tree.vertex_fields) if f.name in written and roles[f.name] & mask]
        for mask in _CLASSES
    ]
    gathers = [tree.gather is not None and bool(view.gather_edges & mask) for mask in _CLASSES]
    scatters = ["scatter" in tree.functions and bool(view.scatter_edges & mask) for mask in _CLASSES]
    asks = [locking or g for g in gathers]
    updates = [locking or s or bool(t) for s, t in zip(scatters, travels, strict=True)]
    widths = [values.itemsize * int(np.prod(values.shape[1:], dtype=int)) for values in state.fields]
    total = total_dtype(tree.gather).itemsize if tree.gather is not None else 0
    message = b""
    if tree.message is not None:
        message = np.array([identity(tree.message)], state.message.dtype).tobytes()  # type: ignore[union-attr]
    posts = None
    if caching is not None:
        far, near = caching.fields_read
        posts = (caching.rebuild, far, near, [widths[k] for k in (*far, *near)])
    buckets = Buckets(state.priority, local.num_masters) if scheduler == "priority" else None
    parts: dict[str, Any] = {
        "view": view,
        "functions": {name: library.function(name) for name in _FUNCTIONS},
        "replicas": _replicas(local),
        "owned": _owned(local),
        "mirrors": _mirrors(local),
        "travels": travels,
        "sizes": [*widths, total],
        "identity": message,
        "posts": posts,
        "asks": asks,
        "updates": updates,
        "gathers": gathers,
        "scatters": scatters,
        "scheduler": scheduler,
        "buckets": buckets,
        "limit": IN_FLIGHT,
        "block": block,
        "big": BIG,
        "seed": seed,
    }
    return Serialisable(**parts, max_bypass=MAX_BYPASS, watch=watch) if locking else Relaxed(**parts)


def _replicas(local: LocalGraph) -> tuple[np.ndarray, ...]:
    """Return of every master: row bounds; each mirror's rank, place in the list shared with it, class."""
    begin, peer, position = local.replicas()
    first = local.send_bounds[:, 0]
    classes = np.zeros(peer.size, np.uint8)
    for k in (1, 2):
        classes[position >= (local.send_bounds[peer, k] - first[peer])] = k
    return begin, peer, position, classes


def _owned(local: LocalGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds by peer, and this rank's masters in the lists shared with them."""
    bounds = np.concatenate([[0], np.cumsum([ids.size for ids in local.send_list])]).astype(np.int64)
    return bounds, np.concatenate([np.empty(0, np.int32), *local.send_list]).astype(np.int32)


def _mirrors(local: LocalGraph) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where each peer's mirrors begin (-1 for this rank); of each mirror its owner and class."""
    begin = local.mirror_bounds[:, 0].astype(np.int64)
    begin[local.rank] = -1
    count = local.num_local - local.num_masters
    owner, classes = np.zeros(count, np.int32), np.zeros(count, np.uint8)
    for p in range(local.size):
        bounds = local.mirror_bounds[p] - local.num_masters
        if p != local.rank and bounds[0] < bounds[3]:
            owner[bounds[0] : bounds[3]] = p
            classes[bounds[1] : bounds[2]], classes[bounds[2] : bounds[3]] = 1, 2
    return begin, owner, classes
