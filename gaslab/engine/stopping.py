"""When a run ends: the program's done(), an empty frontier, the limit or the timeout."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from gaslab.compiler.tree import Tree
from gaslab.engine.state import RunState
from gaslab.errors import TimeoutExpired, UsageError

if TYPE_CHECKING:
    from gaslab.graph import Graph
    from gaslab.program import VertexProgram


class Progress:
    """What done() sees as ``self``: parameters, aggregates, superstep and the graph's size."""

    def __init__(self, program: VertexProgram, graph: Graph, tree: Tree, state: RunState) -> None:
        self.__dict__.update(program.parameters())
        self.__dict__.update(zip((a.name for a in tree.aggregators), state.aggregates, strict=True))
        self.superstep = state.superstep - 1  # the one just finished
        self.num_vertices, self.num_edges = graph.num_vertices, graph.num_edges
        self._program = program

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)


class Stopping:
    """Decides, on rank 0 for all, whether another superstep runs."""

    def __init__(
        self, tree: Tree, program: VertexProgram, graph: Graph, limit: int | None, timeout: float | None
    ) -> None:
        self.tree, self.program, self.graph = tree, program, graph
        self.limit, self.timeout = limit, timeout
        self.quiet = False  # no vertex was active
        self.done = False
        self._began = time.perf_counter()
        self._ends_itself = tree.has_done or bool({"scatter", "active"} & tree.functions.keys())
        self._works = bool({"visit", "gather", "apply", "scatter"} & tree.functions.keys())
        if limit is None and self._works and not self._ends_itself:
            raise UsageError(
                f"{tree.name} would never end: it has no done(), active() or scatter(); "
                "give max_iterations (--max-iterations)"
            )

    @property
    def converged(self) -> bool:
        """Whether the program came to its own end (a program without one ends at the limit)."""
        return self.done or self.quiet or not self._ends_itself or not self._works

    def now(self, state: RunState, history: list[dict[str, Any]]) -> bool:
        """Return whether the run is over before the next superstep (collective)."""
        if not self._works:
            return True
        if (self.tree.has_done and history) or self.timeout is not None:
            self.done, late = self.graph.comm.on_root(lambda: self._look(state, bool(history)))
            if late and not self.done:
                raise TimeoutExpired(
                    f"{self.tree.name} ran out of {self.timeout:.3g} s after {state.superstep} supersteps"
                )
        return self.done or (self.limit is not None and state.superstep >= self.limit)

    def _look(self, state: RunState, begun: bool) -> tuple[bool, bool]:
        done = False
        if self.tree.has_done and begun:
            done = bool(type(self.program).done(Progress(self.program, self.graph, self.tree, state)))  # type: ignore[attr-defined]
        late = self.timeout is not None and time.perf_counter() - self._began > self.timeout
        return done, late
