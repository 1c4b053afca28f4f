"""Small graphs as `gl_view`s, for calling emitted (and interpreted) range functions directly."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gaslab.compiler import tree as t
from gaslab.compiler.emit_names import identity

P, I64 = ctypes.c_void_p, ctypes.c_int64


class Scalar(ctypes.Union):
    _fields_ = [("f", ctypes.c_double), ("i", I64)]


class View(ctypes.Structure):
    _fields_ = [
        *[(name, I64) for name in ("num_vertices", "num_edges", "superstep", "num_masters", "num_local",
                                   "gather_edges", "scatter_edges")],
        *[(name, P) for name in ("gid", "degree", "in_degree", "out_degree", "in_begin", "in_neighbor",
                                 "out_begin", "out_neighbor", "out_slot", "vertex", "vertex_next", "edge",
                                 "param", "aggregate")],
        ("given", ctypes.c_uint64),
        *[(name, P) for name in ("total", "incoming", "skip", "active", "signalled", "signal_blocks",
                                 "message")],
        ("concurrent", I64), ("all_active", I64),
    ]  # fmt: skip


class Fault(ctypes.Structure):
    _fields_ = [("code", I64), ("vertex", I64), ("site", I64)]


def dtype(storage: str) -> np.dtype[Any]:
    return np.dtype("int64" if storage == "id" else storage)


@dataclass
class State:
    """One rank's arrays, named as in `gl_view`; what the interpreter takes, and what a View points to."""

    tree: t.Tree
    num_vertices: int
    num_edges: int
    in_begin: np.ndarray
    in_neighbor: np.ndarray
    out_begin: np.ndarray
    out_neighbor: np.ndarray
    out_slot: np.ndarray
    vertex: list[np.ndarray]
    vertex_next: list[np.ndarray]
    edge: list[np.ndarray]
    param: list[Any]
    aggregate: list[Any]
    gather_edges: int
    scatter_edges: int
    total: Any = None
    incoming: Any = None
    message: Any = None
    skip: Any = None
    superstep: int = 0
    given: int = 0
    concurrent: int = 0
    all_active: int = 0
    signalled: np.ndarray = field(init=False)
    signal_blocks: np.ndarray = field(init=False)
    active: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        n = self.num_vertices
        self.num_masters = self.num_local = n
        self.gid = np.arange(n, dtype=np.int64)
        self.in_degree, self.out_degree = np.diff(self.in_begin), np.diff(self.out_begin)
        self.degree = self.in_degree + self.out_degree
        self.signalled, self.active = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
        self.signal_blocks = np.zeros((n >> 10) + 1, np.uint8)
        if self.tree.gather:
            self.total = np.full(n, identity(self.tree.gather), dtype(self.tree.gather.storage))
        if self.tree.message:
            self.message = np.full(n, identity(self.tree.message), dtype(self.tree.message.storage))


def state(
    tree: t.Tree, n: int = 1, edges: Any = (), weights: Any = (), params: Any = (), gather_edges: int = 1,
    scatter_edges: int = 2,
) -> State:  # fmt: skip
    """Return the state of *tree* on n vertices; vertex fields zero, every edge field as *weights*."""
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    order = np.lexsort((pairs[:, 0], pairs[:, 1]))
    src, dst = pairs[order, 0], pairs[order, 1]
    out = np.lexsort((dst, src))

    def begins(keys: np.ndarray) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=n))]).astype(np.int64)

    fields = [np.zeros(n, dtype(f.storage)) for f in tree.vertex_fields]
    buffered = [f.copy() if tree.double_buffered(d.name) else f
                for f, d in zip(fields, tree.vertex_fields, strict=True)]  # fmt: skip
    edge = [np.array(weights, dtype(f.storage))[order] for f in tree.edge_fields]
    return State(
        tree, n, len(pairs), begins(dst), src.astype(np.int32), begins(src), dst[out].astype(np.int32),
        out.astype(np.int32), fields, buffered, edge, list(params), [0] * len(tree.aggregators),
        gather_edges, scatter_edges,
    )  # fmt: skip


def scalars(variables: Any, values: Any) -> Any:
    table = (Scalar * max(len(values), 1))()
    for slot, kind, value in zip(table, variables, values, strict=False):
        if kind == "float":
            slot.f = value
        else:
            slot.i = int(value)
    return table


def call(library: Any, name: str, s: State, lo: int, hi: int, listed: Any = None, out: Any = None) -> Any:
    """Call a range function; returns None, or (code, vertex, site) of its fault. *out* is a list."""
    keep: list[Any] = []

    def pointers(arrays: list[np.ndarray]) -> Any:
        table = (P * max(len(arrays), 1))(*[a.ctypes.data for a in arrays])
        keep.append(table)
        return ctypes.cast(table, P)

    view = View()
    for key, _ in View._fields_:
        value = getattr(s, key)
        if isinstance(value, np.ndarray):
            value = value.ctypes.data
        elif key in ("vertex", "vertex_next", "edge"):
            value = pointers(value)
        elif key == "param":
            value = scalars([p.type for p in s.tree.params], value)
        elif key == "aggregate":
            value = scalars([a.combiner.type for a in s.tree.aggregators], value)
        if isinstance(value, ctypes.Array):
            keep.append(value)
            value = ctypes.cast(value, P)
        setattr(view, key, value)
    kinds = [a.combiner.type for a in s.tree.aggregators]
    sums = None if out is None else scalars(kinds, out)
    if listed is not None:
        listed = np.array(listed, np.int32)
        keep.append(listed)
    fault = Fault()
    function = ctypes.CFUNCTYPE(ctypes.c_int32, P, P, I64, I64, P, P)(library.function(name))
    status = function(
        ctypes.addressof(view), None if listed is None else listed.ctypes.data, lo, hi,
        None if sums is None else ctypes.cast(sums, P), ctypes.addressof(fault),
    )  # fmt: skip
    if out is not None:
        out[:] = [slot.f if kind == "float" else slot.i for slot, kind in zip(sums, kinds, strict=False)]
    return (fault.code, fault.vertex, fault.site) if status else None
