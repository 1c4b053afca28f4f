"""One rank's share of a graph: its vertices, its edges, and the other replicas' ranks."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

import gaslab._kernels.csr as kernels
from gaslab.parallel.comm import Comm
from gaslab.partitioning.rows import transpose

IN, OUT, ALL = 1, 2, 3  # masks of edge directions, as in `gaslab.program`
BLOCK_EDGES, BLOCK_VERTICES = 1 << 15, 1 << 12
BY_SOURCE = "by source"  # a key of `LocalGraph.derived`


@dataclass
class LocalGraph:
    """The vertices and edges of one rank, with 32-bit local ids.

    Local ids: the masters first, then the mirrors grouped by the rank of their master and within
    it out-only, both, in-only; in each group as `gaslab.partitioning.layout` says: by falling number of
    local edges, ties by global id, or by global id alone. A slot is a position in `in_neighbor`; fields of
    edges are kept in the order of slots.

    Attributes
    ----------
    num_masters, num_local : int
        Vertices mastered here; vertices here.
    rank, size : int
        Of the communicator the graph was built on.
    gid : int64[num_local]
        Global ids.
    degree, in_degree, out_degree : int64[num_local]
        Of the whole graph, on mirrors too. In an undirected graph all three are one array.
    in_begin : int64[num_local + 1]
    in_neighbor : int32[num_edges]
        The in-edges of vertex v are the slots ``in_begin[v]:in_begin[v + 1]``; `in_neighbor` holds
        their sources, ascending in each row. Parallel edges keep the order of the input.
    mirror_bounds : int64[size, 4]
        The mirrors of rank p's masters are ``b[0]:b[3]``: out-only ``b[0]:b[1]``, both
        ``b[1]:b[2]``, in-only ``b[2]:b[3]``. *Out* means that it is the source of an edge here.
    send_list : list of int32 arrays
        For each rank p the masters here that p mirrors, in the order of p's mirrors.
    send_bounds : int64[size, 4]
        The bounds of the same three classes in ``send_list[p]``.
    threads : int
        How many threads `out` may use.
    """

    num_masters: int
    num_local: int
    size: int
    rank: int
    gid: np.ndarray
    degree: np.ndarray
    in_degree: np.ndarray
    out_degree: np.ndarray
    in_begin: np.ndarray
    in_neighbor: np.ndarray
    mirror_bounds: np.ndarray
    send_list: list[np.ndarray]
    send_bounds: np.ndarray
    threads: int = 1
    _out: tuple[np.ndarray, ...] | None = field(default=None, repr=False)
    _replicas: tuple[np.ndarray, ...] | None = field(default=None, repr=False)
    _located: np.ndarray | None = field(default=None, repr=False)
    _kept: list[tuple[Any, Hashable, Any]] = field(default_factory=list, repr=False)  # see derived
    _blocks: dict[tuple[int, int, int], np.ndarray] = field(default_factory=dict, repr=False)
    _plan: tuple[Hashable, Any] | None = field(default=None, repr=False)  # see planned

    def __getstate__(self) -> dict[str, Any]:
        """Return only the arrays, for pickle and copy: data derived from them is made again."""
        arrays = {one.name: getattr(self, one.name) for one in fields(self) if one.repr}
        return vars(LocalGraph(**arrays))

    @property
    def num_edges(self) -> int:
        """The edges on this rank."""
        return int(self.in_neighbor.size)

    def out(self) -> tuple[np.ndarray, ...]:
        """Return ``out_begin`` (int64), ``out_neighbor`` and ``out_slot`` (int32): the same edges by source.

        Targets ascend in each row. Built at the first call and kept.
        """
        if self._out is None:
            self._out = transpose(self.in_begin, self.in_neighbor, self.threads)
        return self._out

    def replicas(self) -> tuple[np.ndarray, ...]:
        """Return every master's mirrors: row bounds (int64), ranks and places in `send_list` (int32).

        Built at the first call and kept.
        """
        if self._replicas is None:
            masters = np.concatenate([np.empty(0, np.int32), *self.send_list])
            order = np.argsort(masters, kind="stable")
            sizes = [ids.size for ids in self.send_list]
            peer = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
            position = np.concatenate([np.empty(0, np.int32), *(np.arange(n, dtype=np.int32) for n in sizes)])
            counts = np.bincount(masters, minlength=self.num_masters)
            begin = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
            self._replicas = begin, peer[order], position[order]
        return self._replicas

    def located(self, comm: Comm, num_vertices: int) -> np.ndarray:
        """Return where each vertex of the whole graph is, int32 by global id (collective at the first call).

        It is the local id of the replica here, else -1 - the rank of the master. Kept.
        """
        if self._located is None:
            place = np.empty(num_vertices, np.int32)
            for rank, gids in enumerate(comm.allgather_array(self.gid[: self.num_masters])):
                place[gids] = -1 - rank
            place[self.gid] = np.arange(self.num_local, dtype=np.int32)
            self._located = place
        return self._located

    def derived(self, values: Any, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return *make*'s result for values of edges and *key*; kept as long as *values* lives."""
        self._kept = [kept for kept in self._kept if kept[0]() is not None]
        for known, used, made in self._kept:
            if known() is values and used == key:
                return made
        made = make()
        self._kept.append((weakref.ref(values), key, made))
        return made

    def by_source(self, values: np.ndarray) -> np.ndarray:
        """Return values of edges, given by slot, in the order of ``out``; kept as long as *values* lives."""

        def make() -> np.ndarray:
            ordered = np.empty_like(values)
            kernels.take_slots(values, self.out()[2], ordered, self.threads)
            return ordered

        ordered = self.derived(values, BY_SOURCE, make)
        return values if ordered is None else ordered

    def forget_derived(self, values: np.ndarray) -> None:
        """Drop everything derived from these values, which have been written to."""
        self._kept = [kept for kept in self._kept if kept[0]() is not values]

    def everywhere(self, value: float | int | bool, dtype: np.dtype) -> np.ndarray:
        """Return an array, not to be written, with one value for every edge."""
        values = np.full(self.num_edges, value, dtype)
        self.derived(values, BY_SOURCE, lambda: None)  # equal in any order
        return values

    def planned(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return *make*'s result for this part and *key*, kept until another key is requested.

        It has a method `memory_bytes`, and does not refer to this, so both are freed in time.
        """
        if self._plan is None or self._plan[0] != key:
            self._plan = None  # first: the next takes as much memory
            self._plan = key, make()
        return self._plan[1]

    def targets(self) -> np.ndarray:
        """Return the target of every slot, as int32 local ids."""
        return np.arange(self.num_local, dtype=np.int32).repeat(np.diff(self.in_begin))

    def blocks(self, mask: int, lo: int = 0, hi: int | None = None) -> np.ndarray:
        """Cut the vertices ``lo:hi`` (all by default) into runs of similar work.

        A run has at most 32,768 edges of the directions in *mask* and 4,096 vertices; a vertex with more
        edges is its own run. Returns the int64 bounds: run i is ``bounds[i]:bounds[i + 1]``. Kept.
        """
        hi = self.num_local if hi is None else hi
        if (mask, lo, hi) in self._blocks:
            return self._blocks[mask, lo, hi]
        bounds = np.empty(hi - lo + 1, dtype=np.int64)
        runs = kernels.block_bounds(
            self.in_begin if mask & IN else None,
            self.out()[0] if mask & OUT else None,
            lo, hi, BLOCK_EDGES, BLOCK_VERTICES, bounds,
        )  # fmt: skip
        self._blocks[mask, lo, hi] = np.array(bounds[: runs + 1])
        return self._blocks[mask, lo, hi]

    def edge_blocks(self, mask: int) -> np.ndarray:
        """Return the `blocks` of all vertices, without trailing ones that have no edges of *mask*."""
        key = (mask, 0, -1)
        if key not in self._blocks:
            bounds = self.blocks(mask)
            begins = [self.in_begin] * (mask & 1) + [self.out()[0] for _ in range(mask >> 1)]
            before = sum(begin[bounds] for begin in begins) if begins else np.zeros_like(bounds)
            self._blocks[key] = bounds[: int(np.searchsorted(before, before[-1])) + 1]
        return self._blocks[key]

    def memory_bytes(self) -> int:
        """The bytes of the arrays held here, including those built at first use so far."""
        arrays = [self.gid, self.degree, self.in_degree, self.out_degree, self.in_begin, self.in_neighbor]
        arrays += [self.mirror_bounds, self.send_bounds, *self.send_list, *(self._out or ())]
        arrays += [] if self._located is None else [self._located]
        arrays += [made for known, _, made in self._kept if known() is not None and hasattr(made, "nbytes")]
        plan = 0 if self._plan is None else int(self._plan[1].memory_bytes())
        return plan + sum({id(a): a.nbytes for a in arrays}.values())
