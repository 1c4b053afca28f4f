"""Runs the phases of a program over blocks of vertices, compiled on threads or interpreted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gaslab._kernels import frontier, phase_runner
from gaslab.cancellation import Cancellation
from gaslab.compiler import Compiled
from gaslab.compiler.tree import Function, Tree
from gaslab.engine.aggregates import Aggregates
from gaslab.engine.lists import Scratch
from gaslab.engine.observe.observer import Observer
from gaslab.graph.graph import Graph
from gaslab.program import ALL

BLOCK_EDGES, BLOCK_VERTICES = 16384, 1024  # of a listed frontier; the whole graph has its own blocks
_WRITERS = ("gl_init", "gl_init_message", "gl_apply", "gl_gather_apply")
_PHASES_OF = {  # method -> its range functions, if named differently
    "apply": ("gl_gather_apply",),
    "gather": ("gl_gather", "gl_combine"),
    "scatter": ("gl_scatter_push", "gl_scatter_pull", "gl_combine_messages", "gl_join_ends",
                "gl_apply_deltas_in", "gl_apply_deltas_out"),
}  # fmt: skip


class Executor:
    """The phases of one program on one rank's graph."""

    def __init__(
        self, compiled: Compiled, view: phase_runner.View, graph: Graph, threads: int, observe: Observer,
        cancellation: Cancellation | None = None,
    ) -> None:  # fmt: skip
        self.tree: Tree = compiled.tree
        self.observe = observe
        self.cancellation = cancellation or Cancellation()
        view.stop = self.cancellation.stop
        self.view, self.local, self.threads = view, graph.local, threads
        self._ids, self._comm = graph.ids, graph.comm
        # This rank's first fault: code, global id, site, superstep.
        self.fault: tuple[int, int, int, int] | None = None
        self.moment = "superstep"  # an error's word for the number of a moment
        self.alone: frozenset[str] = frozenset()  # run by one thread, since the order counts
        self._compiled = compiled
        self.library = compiled.library
        self.aggregates = Aggregates(self.tree, graph)
        self._scratch = Scratch(self.tree, view, graph, threads)
        view.scratch = self._scratch.table

    def reserve(self, longest: int) -> None:
        """Make room for list functions on this many values."""
        self._scratch.reserve(longest)

    # ---- running -----------------------------------------------------------------------------------

    def over_masters(self, phase: str, mask: int = 0, aggregate: bool = False) -> None:
        """Run *phase* for every master, in blocks balanced by the edges of *mask*."""
        self._run(phase, self.local.blocks(mask, 0, self.local.num_masters), None, aggregate, self.threads)

    def over_locals(self, phase: str, mask: int, threads: int | None = None, aggregate: bool = False) -> None:
        """Run *phase* for every replica with edges of *mask*, in blocks balanced by them."""
        self._run(phase, self.local.edge_blocks(mask), None, aggregate, threads or self.threads)

    def over(
        self, phase: str, ids: np.ndarray, mask: int = 0, aggregate: bool = False,
        threads: int | None = None, **operands: Any,
    ) -> None:  # fmt: skip
        """Run *phase* for the listed local ids (int32), in blocks balanced by the edges of *mask*.

        The *operands* ``total``, ``incoming`` and ``skip`` are described in abi.h.
        """
        if not ids.size:
            return
        if mask:
            begin = self.view.in_begin if mask & 1 else self.view.out_begin
            blocks = frontier.list_blocks(ids, begin, BLOCK_EDGES, BLOCK_VERTICES)
        else:
            blocks = np.append(np.arange(0, ids.size, 4 * BLOCK_VERTICES), ids.size).astype(np.int64)
        self._run(phase, blocks, ids, aggregate, threads or self.threads, **operands)

    def over_active(
        self, phase: str, ids: np.ndarray | None, mask: int = 0, aggregate: bool = False, **operands: Any
    ) -> None:
        """Run *phase* for the masters *ids*; None is all."""
        if ids is None:
            blocks = self.local.blocks(mask, 0, self.local.num_masters)
            self._run(phase, blocks, None, aggregate, self.threads, **operands)
        else:
            self.over(phase, ids, mask, aggregate, **operands)

    def choose(self, method: str, ids: np.ndarray | None, ways: np.ndarray) -> None:
        """Let every active master write its directions into *ways*."""
        self.over_active(f"gl_{method}", ids)
        if self.local.in_degree is self.local.out_degree:  # undirected
            ways[ways > 0] = ALL

    def over_edges(
        self, view: phase_runner.View, bounds: np.ndarray, totals: np.ndarray | None = None
    ) -> None:
        """Run visit for the edges of a separate view, whose blocks share no vertex.

        *totals* has the aggregates of each block (int64 [blocks, scalars]) if visit adds to them.
        """
        if self.fault is None:
            self._call(view, "gl_visit", bounds, None, totals, self.threads)

    def _run(
        self, phase: str, blocks: np.ndarray, ids: np.ndarray | None, aggregate: bool, threads: int,
        **operands: Any,
    ) -> None:  # fmt: skip
        if self.fault is not None or blocks.size < 2:
            return
        threads = 1 if phase in self.alone else threads
        view = self.view
        view.concurrent = int(threads > 1)
        out = self.aggregates.rows(blocks.size - 1) if aggregate else None
        for name, value in operands.items():
            setattr(view, name, value)
        self._call(view, phase, blocks, ids, out, threads)
        for name in operands:  # which only this call uses
            setattr(view, name, None)

    def _call(
        self, view: phase_runner.View, phase: str, blocks: np.ndarray, ids: np.ndarray | None,
        out: np.ndarray | None, threads: int,
    ) -> None:  # fmt: skip
        with self.observe.stage(phase):
            if self.library is not None:
                function = self.library.function(phase)
                fault = phase_runner.run(view, function, blocks, ids, out, threads)
                if phase in _WRITERS:
                    self._scratch.absorb()
                if fault is not None and fault[2] < 0:
                    fault = (fault[0], _vertex_at(view, phase, ids, fault[1]), -1)
            else:
                assert self._compiled.interpreter is not None
                fault = self._compiled.interpreter.run(view, phase, blocks, ids, out)
        if fault is not None:
            self.failed(fault, self.view.superstep, view.gid, phase)

    def merged(self, k: int, first: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the rows of aggregator *k* merged by the program, in order."""
        total: np.ndarray = first.copy()
        if self.fault is None:
            blocks = np.array([0, len(rows)], np.int64)
            self.view.incoming = np.ascontiguousarray(rows)
            self._call(self.view, f"gl_merge_{k}", blocks, None, total[None, :], 1)
            self.view.incoming = None
        return total

    # ---- faults ------------------------------------------------------------------------------------

    def failed(self, fault: tuple[int, int, int], superstep: int, gids: np.ndarray, phase: str) -> None:
        """Remember the first fault (its code, the local vertex and the site) until all ranks agree.

        *gids* are the global ids by local vertex; empty if a merge failed on a rank without vertices. Ctrl-C
        is raised at once: other ranks may have raised it already and skip the agreement.
        """
        code, vertex, site = fault  # a site below 0: between two calls of the phase's method
        site = site if site >= 0 else -1 - _method(self.tree, phase).site
        self.fault = self.fault or (code, int(gids[vertex]) if gids.size else 0, site, superstep)
        if code == phase_runner.INTERRUPT:
            raise self._error(code, self._ids.named_alone(self.fault[1]), *self.fault[2:])

    def agree(self, numbers: np.ndarray) -> np.ndarray:
        """Return every rank's *numbers* (int64, of equal length), one row per rank (collective).

        Raises any rank's fault on all of them, naming the vertex and the user's line.
        """
        if self._comm.size == 1 and self.fault is None:
            return numbers[None]
        with self.observe.stage("agree"):
            mine = np.concatenate([np.array(self.fault or (0, 0, 0, 0), np.int64), numbers])
            table = self._comm.allgather_row(mine)
            self.raise_faults(table[:, :4])
        return table[:, 4:]

    def raise_any(self) -> None:
        """Raise the first fault of any rank on all of them, if any (collective)."""
        self.agree(np.empty(0, np.int64))

    def alike(self, action: Callable[[], np.ndarray]) -> np.ndarray:
        """Return the result of *action* on data equal on every rank; all ranks raise its fault."""
        own, self.fault = self.fault, None
        try:
            made = action()
            if self.fault is not None:
                code, _, *place = self.fault
                self.raise_faults(np.array([[code, 0, *place]]))  # of no vertex: every rank names the first
        finally:
            self.fault = own
        return made

    def raise_faults(self, table: np.ndarray) -> None:
        """Raise a fault of the ranks (int64 [ranks, 4]; code 0 is none), the same on each (collective).

        The first superstep's comes first, then the first rank's; but a program's error precedes a timeout,
        and a timeout in a loop precedes one between two blocks, where a rank may only have waited for the
        rank in the loop.
        """
        failed = table[table[:, 0] != 0]
        if failed.size:
            together = self.moment == "superstep"  # with the same number on every rank
            when = failed[:, 3] if together else np.zeros(len(failed))
            first = np.lexsort((when, failed[:, 2] < 0, failed[:, 0] == phase_runner.TIMEOUT))[0]
            code, gid, site, superstep = failed[first].tolist()
            vertex = self._ids.named(np.array([gid], np.int64))[0]
            raise self._error(code, vertex, site, superstep)

    def _error(self, code: int, vertex: str, site: int, superstep: int) -> BaseException:
        """Return the error of a fault; *vertex* is its id."""
        place = self.tree.sites[site if site >= 0 else -1 - site]
        where = f"{'at' if site >= 0 else 'before'} vertex {vertex} in {self.moment} {superstep}"
        return self.cancellation.fault(code, self.tree.name, where, place)


def _vertex_at(view: phase_runner.View, phase: str, ids: np.ndarray | None, at: int) -> int:
    """Return the local vertex at a position of the blocks of *phase*.

    Past the last block, or if the remaining blocks have no edges, it is the last vertex.
    """
    if phase.startswith("gl_merge"):
        return 0
    vertices = view.in_neighbor if phase == "gl_visit" else ids
    if vertices is None:
        return at
    return int(vertices[min(at, len(vertices) - 1)]) if len(vertices) else 0


def _method(tree: Tree, phase: str) -> Function:
    """Return the user's method that a range function runs."""
    name, _, number = phase.removeprefix("gl_").rpartition("_")
    if number.isdigit() and name == "merge" and tree.merge is not None:
        return tree.merge
    if number.isdigit() or number == "aggregate":
        return tree.aggregators[int(number)].function if number.isdigit() else tree.in_apply[0][1].function
    for method, phases in _PHASES_OF.items():
        if phase in phases and method in tree.functions:
            return tree.functions[method]
    return tree.functions.get(phase.removeprefix("gl_")) or next(iter(tree.functions.values()))
