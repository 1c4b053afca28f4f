"""When a run's phase ends: done(), an empty frontier, its number of supersteps, limit or timeout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gaslab.cancellation import Cancellation
from gaslab.compiler.tree import Tree
from gaslab.engine.state import RunState
from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.language.counts import count_of
from gaslab.program import VertexProgram

Done = Callable[[Any], Any]


class Progress:
    """The ``self`` of done(): parameters, aggregates, superstep and the graph's size."""

    def __init__(
        self, program: VertexProgram, graph: Graph, state: RunState, superstep: int | None = None
    ) -> None:
        self.__dict__.update(program.parameters())
        self.__dict__.update(state.named_aggregates())
        self.superstep = state.superstep - 1 if superstep is None else superstep  # the one just finished
        self.phase_step = max(self.superstep - state.entered, 0)  # of a phase in which no vertex ran
        self.num_vertices, self.num_edges = graph.num_vertices, graph.num_edges
        self._program = program

    def __getattr__(self, name: str) -> Any:
        return getattr(self._program, name)


class Stopping:
    """Decides, on rank 0 for all ranks, whether another superstep of a phase runs."""

    def __init__(
        self,
        tree: Tree,
        done: Done | None,
        program: VertexProgram,
        graph: Graph,
        limit: int | None,
        cancellation: Cancellation,
    ) -> None:
        self.tree, self.program, self.graph = tree, program, graph
        self.limit, self.cancellation = limit, cancellation
        self._done = done
        self._most = count_of(program, tree.supersteps)  # of supersteps in a row
        ends = (done, tree.supersteps, not self.works, tree.by_signal, "active" in tree.functions)
        self.ends_itself = any(ends)
        if limit is None and not self.ends_itself:
            raise UsageError(
                f"{tree.name} would never end: it has no done(), active() or scatter(); "
                "give max_iterations (--max-iterations)"
            )

    @property
    def works(self) -> bool:
        """Whether the program has a method that runs in supersteps."""
        return bool({"visit", "gather", "apply", "scatter"} & self.tree.functions.keys())

    def done(self, raise_any: Callable[[], None], state: RunState, ran: int) -> bool:
        """Return whether the phase is over after *ran* of its supersteps in a row (collective)."""
        if ran == self._most:
            return True
        if (self._done is None or not ran) and self.cancellation.timeout is None:
            return False
        over, late = self.graph.comm.on_root(lambda: self._look(state, ran))
        if late and not over:
            raise_any()  # a rank may know at which vertex
            raise self.cancellation.expired(self.tree.name, f"after {state.superstep} supersteps")
        return bool(over)

    def unasked(self, state: RunState, ran: int) -> int:
        """Return how many supersteps may run in a row without a decision."""
        if self._done is not None:
            return 0
        limits = [state.superstep + 256]
        limits += [] if self.limit is None else [self.limit]
        limits += [] if self._most is None else [state.superstep - ran + self._most]
        return min(limits) - state.superstep

    def limited(self, state: RunState) -> bool:
        """Return whether the run has reached its last superstep."""
        return self.limit is not None and state.superstep >= self.limit

    def _look(self, state: RunState, ran: int) -> tuple[bool, bool]:
        done = self._done if ran else None
        over = done is not None and ask(done, self.program, self.graph, state, self.cancellation)
        return over, self.cancellation.late


def ask(
    done: Done,
    program: VertexProgram,
    graph: Graph,
    state: RunState,
    cancellation: Cancellation | None,
) -> bool:
    """Return the answer of a user's ``done``; one rank may ask for all, and *cancellation* may end it."""

    def says() -> bool:
        return bool(done(Progress(program, graph, state)))

    return says() if cancellation is None else cancellation.call(state.tree.name, "done()", says)
