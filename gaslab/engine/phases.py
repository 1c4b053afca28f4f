"""Runs the phases of a program over blocks of vertices, compiled on threads or interpreted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gaslab._kernels import frontier, sweep
from gaslab.compiler.faults import FAULTS
from gaslab.compiler.tree import Tree
from gaslab.engine.aggregates import Aggregates
from gaslab.engine.lists import Scratch
from gaslab.errors import ExecutionError
from gaslab.program import ALL

if TYPE_CHECKING:
    from gaslab.compiler import Compiled
    from gaslab.graph import Graph

BLOCK_EDGES, BLOCK_VERTICES = 16384, 1024  # of a listed frontier; a whole graph has its own blocks


class Phases:
    """The phases of one program on one rank's graph."""

    def __init__(self, compiled: Compiled, view: sweep.View, graph: Graph, threads: int) -> None:
        self.tree: Tree = compiled.tree
        self.view, self.local, self.threads = view, graph.local, threads
        self._ids, self._comm = graph.ids, graph.comm
        # This rank's first fault: code, global id, site, superstep.
        self.fault: tuple[int, int, int, int] | None = None
        self.alone: frozenset[str] = frozenset()  # what one thread runs, for its order counts
        self._compiled = compiled
        self.library = compiled.library
        self.aggregates = Aggregates(self.tree, graph)
        self.aggregates.merge = self._merged
        self._scratch = Scratch(self.tree, view, graph, threads)
        view.scratch = self._scratch.table

    # ---- running -----------------------------------------------------------------------------------

    def over_masters(self, phase: str, mask: int = 0, aggregate: bool = False) -> None:
        """Run *phase* for every master, in blocks balanced by the edges of *mask*."""
        self._run(phase, self.local.blocks(mask, 0, self.local.num_masters), None, aggregate, self.threads)

    def over_locals(self, phase: str, mask: int, threads: int | None = None, aggregate: bool = False) -> None:
        """Run *phase* for every replica with edges of *mask*, in blocks balanced by them."""
        self._run(phase, self.local.edge_blocks(mask), None, aggregate, threads or self.threads)

    def over(
        self, phase: str, ids: np.ndarray, mask: int = 0, aggregate: bool = False, threads: int | None = None
    ) -> None:
        """Run *phase* for the listed local ids (int32), in blocks balanced by the edges of *mask*."""
        if mask:
            begin = self.view.in_begin if mask & 1 else self.view.out_begin
            blocks = frontier.list_blocks(ids, begin, BLOCK_EDGES, BLOCK_VERTICES)
        else:
            blocks = np.append(np.arange(0, ids.size, 4 * BLOCK_VERTICES), ids.size).astype(np.int64)
        self._run(phase, blocks, ids, aggregate, threads or self.threads)

    def over_active(self, phase: str, ids: np.ndarray | None, mask: int = 0, aggregate: bool = False) -> None:
        """Run *phase* for the masters *ids*; None is all."""
        if ids is None:
            self.over_masters(phase, mask, aggregate)
        else:
            self.over(phase, ids, mask, aggregate)

    def choose(self, method: str, ids: np.ndarray | None, ways: np.ndarray) -> None:
        """Let every active master choose its directions, into *ways*."""
        self.over_active(f"gl_{method}", ids)
        if self.local.in_degree is self.local.out_degree:  # undirected
            ways[ways > 0] = ALL

    def over_edges(self, view: sweep.View, bounds: np.ndarray) -> None:
        """Run visit for the edges of a view of its own, whose blocks share no vertex."""
        if self.fault is None:
            self._call(view, "gl_visit", bounds, None, None, self.threads)

    def _run(
        self, phase: str, blocks: np.ndarray, ids: np.ndarray | None, aggregate: bool, threads: int
    ) -> None:
        if self.fault is not None or blocks.size < 2:
            return
        threads = 1 if phase in self.alone else threads
        self.view.concurrent = int(threads > 1)
        out = self.aggregates.rows(blocks.size - 1) if aggregate else None
        self._call(self.view, phase, blocks, ids, out, threads)

    def _call(
        self,
        view: sweep.View,
        phase: str,
        blocks: np.ndarray,
        ids: np.ndarray | None,
        out: np.ndarray | None,
        threads: int,
    ) -> None:
        if self.library is not None:
            function = self.library.function(phase)
            fault = sweep.run(view, function, blocks, ids, out, threads)
        else:
            assert self._compiled.interpreter is not None
            fault = self._compiled.interpreter.run(view, phase, blocks, ids, out)
        if fault is not None:
            self.failed(fault, self.view.superstep, view.gid)

    def _merged(self, k: int, first: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return what the program's merge makes of rows of aggregator *k*, in their order."""
        total: np.ndarray = first.copy()
        if self.fault is None:
            self.view.incoming = np.ascontiguousarray(rows)
            blocks = np.array([0, len(rows)], np.int64)
            self._call(self.view, f"gl_merge_{k}", blocks, None, total[None, :], 1)
        return total

    # ---- faults ------------------------------------------------------------------------------------

    def failed(self, fault: tuple[int, int, int], superstep: int, gids: np.ndarray) -> None:
        """Remember a fault (its code, the local vertex and the site) until all ranks agree.

        *gids* are the global ids by local vertex; none where a merge failed on a rank without vertices.
        """
        code, vertex, site = fault
        self.fault = (code, int(gids[vertex]) if gids.size else 0, site, superstep)

    def agree(self, numbers: np.ndarray) -> np.ndarray:
        """Return every rank's *numbers* (int64, one length), one row a rank (collective).

        Raises the first fault of any rank on all of them, naming the vertex and the user's line.
        """
        mine = np.concatenate([np.array(self.fault or (0, 0, 0, 0), np.int64), numbers])
        told = self._comm.allgather_row(mine)
        failed = np.flatnonzero(told[:, 0])
        if failed.size:
            self.raise_fault(*told[failed[0], :4].tolist())
        return told[:, 4:]

    def raise_fault(self, code: int, gid: int, site: int, superstep: int) -> None:
        """Raise a fault that some rank had, on every rank that has heard of it."""
        vertex = self._ids.named(np.array([gid], np.int64))[0]
        place = self.tree.sites[site]
        raise ExecutionError(
            f"{place.file}:{place.line}: {self.tree.name} failed at vertex {vertex} in superstep "
            f"{superstep}: {FAULTS[code]}\n    {place.text.strip()}"
        )
