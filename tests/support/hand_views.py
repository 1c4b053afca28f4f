"""Small graphs as `gl_view`s, for calling emitted (and interpreted) range functions directly."""

from __future__ import annotations

import copy
import ctypes
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gaslab.compiler import build
from gaslab.compiler import tree as t
from gaslab.compiler.c import emit
from gaslab.compiler.python import Interpreter
from gaslab.parallel.comm import Comm

P, I64 = ctypes.c_void_p, ctypes.c_int64
IN, OUT, ALL = 1, 2, 3
N = 9  # vertices of the graphs that tests draw
edge_lists = st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=40)
masks = st.sampled_from([IN, OUT, ALL])


class Scalar(ctypes.Union):
    _fields_ = [("f", ctypes.c_double), ("i", I64)]


class View(ctypes.Structure):
    _fields_ = [
        *[(name, I64) for name in ("num_vertices", "num_edges", "superstep", "num_masters", "num_local",
                                   "gather_edges", "scatter_edges")],
        *[(name, P) for name in ("gid", "degree", "in_degree", "out_degree", "in_begin", "in_neighbor",
                                 "out_begin", "out_neighbor", "out_slot", "vertex", "vertex_next", "edge",
                                 "edge_by_source", "param", "aggregate")],
        ("initial_fields", ctypes.c_uint64),
        *[(name, P) for name in ("total", "incoming", "skip", "active", "active_bits", "signalled",
                                 "signal_blocks", "message", "message_next", "priority",
                                 "gather_way", "scatter_way", "delta",
                                 "touched", "touched_blocks")],
        ("concurrent", I64), ("all_active", I64), ("seed", ctypes.c_uint64),
        *[(name, P) for name in ("cache", "cached", "changed")],
        ("num_left", I64), ("stop", P),
    ]  # fmt: skip


class Fault(ctypes.Structure):
    _fields_ = [("code", I64), ("vertex", I64), ("site", I64)]


def dtype(storage: str) -> np.dtype[Any]:
    return np.dtype({"id": "int64", "id32": "uint32"}.get(storage, storage))


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
    priority: Any = None
    gather_way: Any = None
    scatter_way: Any = None
    delta: Any = None
    touched: Any = None
    touched_blocks: Any = None
    skip: Any = None
    cache: Any = None
    cached: Any = None
    changed: Any = None
    superstep: int = 0
    initial_fields: int = 0
    concurrent: int = 0
    all_active: int = 0
    seed: int = 0
    num_left: int = 0
    signalled: np.ndarray = field(init=False)
    signal_blocks: np.ndarray = field(init=False)
    active: np.ndarray = field(init=False)
    active_bits: np.ndarray = field(init=False)
    stop: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        n = self.num_vertices
        self.stop = np.zeros(2, np.int32)
        self.edge_by_source = [values[self.out_slot] for values in self.edge]
        self.num_masters = self.num_local = n
        self.gid = np.arange(n, dtype=np.int64)
        self.in_degree, self.out_degree = np.diff(self.in_begin), np.diff(self.out_begin)
        self.degree = self.in_degree + self.out_degree
        self.signalled, self.active = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
        self.signal_blocks = np.zeros((n >> 10) + 1, np.uint8)
        self.active_bits = np.zeros(n // 64 + 1, np.uint64)
        if self.tree.gather:
            self.total = np.full(n, self.tree.gather.identity, dtype(self.tree.gather.storage))
        if self.tree.message:
            self.message = np.full(n, self.tree.message.identity, dtype(self.tree.message.storage))
        self.message_next = self.message


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


def walk(s: State, mask: int, v: int) -> list[tuple[int, int]]:
    """Return (neighbour, slot) of v's edges in the order of a gather."""
    edges = []
    if mask & IN:
        edges += [(int(s.in_neighbor[p]), p) for p in range(s.in_begin[v], s.in_begin[v + 1])]
    if mask & OUT:
        row = range(s.out_begin[v], s.out_begin[v + 1])
        edges += [(int(s.out_neighbor[p]), int(s.out_slot[p])) for p in row]
    return edges


def weights(edges: Any) -> list[int]:
    return [(3 * k + 1) % 7 for k in range(len(edges))]


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
            keep.append(value)
            value = value.ctypes.data
        elif key in ("vertex", "vertex_next", "edge", "edge_by_source"):
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


def interpret(
    interpreter: Any, name: str, s: State, lo: int, hi: int, listed: Any = None, out: Any = None
) -> Any:
    """As `call`, by the interpreter."""
    kinds = [a.combiner.type for a in s.tree.aggregators]

    def eight_bytes(values: Any, kinds: Any) -> np.ndarray:
        return np.frombuffer(bytearray(scalars(kinds, values)), np.int64)

    view = SimpleNamespace(**vars(s))
    view.param = eight_bytes(s.param, [p.type for p in s.tree.params])
    view.aggregate = eight_bytes(s.aggregate, kinds)
    sums = None if out is None else eight_bytes(out, kinds)[None, :]
    ids = None if listed is None else np.array(listed, np.int32)
    fault = interpreter.run(view, name, np.array([lo, hi]), ids, sums)
    if out is not None:
        types = [np.float64 if kind == "float" else np.int64 for kind in kinds]
        out[:] = [sums[0, k : k + 1].view(kind).item() for k, kind in enumerate(types)]
    return fault


_made: dict[int, tuple[t.Tree, Any, Interpreter]] = {}  # by id; the tree itself keeps the id taken


def made(tree: t.Tree) -> tuple[Any, Interpreter]:
    """Return a tree's library and interpreter, made once."""
    if id(tree) not in _made:
        _made[id(tree)] = (tree, build.load(emit(tree), Comm()), Interpreter(tree))
    return _made[id(tree)][1:]


def plain(array: np.ndarray) -> bytes:
    """Return the bits of an array, every nan alike."""
    return (np.where(np.isnan(array), np.nan, array) if array.dtype.kind == "f" else array).tobytes()


def both(name: str, s: State, lo: int = 0, hi: int | None = None, listed: Any = None, out: Any = None) -> Any:
    """Run a phase compiled on *s* and interpreted on a copy; they must leave the same bits or fault."""
    hi = (s.num_vertices if listed is None else len(listed)) if hi is None else hi
    twin, twin_out = copy.deepcopy(s), None if out is None else list(out)
    library, interpreter = made(s.tree)
    fault = call(library, name, s, lo, hi, listed, out)
    assert interpret(interpreter, name, twin, lo, hi, listed, twin_out) == fault
    if fault is None:
        for key, mine in vars(s).items():
            pair = ((x if isinstance(x, list) else [x]) for x in (mine, getattr(twin, key)))
            for a, b in zip(*pair, strict=True):
                assert not isinstance(a, np.ndarray) or plain(a) == plain(b), (key, a, b)
        assert out is None or plain(np.array(out)) == plain(np.array(twin_out))
    return fault
