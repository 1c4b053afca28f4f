"""How a run without supersteps was asked for, and which programs can run so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gaslab._kernels.machine import SCHEDULERS as SCHEDULERS
from gaslab.errors import UsageError

if TYPE_CHECKING:
    from gaslab.compiler.tree import Tree

CONSISTENCIES = ("relaxed", "serialisable")


@dataclass(frozen=True)
class Options:
    """How `gaslab.run` was told to run without supersteps."""

    consistency: str = "relaxed"
    scheduler: str | None = None
    max_updates: int | None = None
    interval: float = 0.1  # seconds between two values of the aggregators

    def check(self, tree: Tree) -> Options:
        """Return the options with the scheduler that is meant; raises where they do not go together."""
        scheduler = self.scheduler or ("priority" if tree.by_priority else "fifo")
        if scheduler == "priority" and not tree.by_priority:
            raise UsageError(f"scheduler='priority' needs signals with priority=; {tree.name} gives none")
        return replace(self, scheduler=scheduler)


def check_program(trees: list[Tree], compiled: bool) -> None:
    """Raise unless the program can run without supersteps."""
    tree = trees[0]
    functions = tree.functions
    reasons = {
        "it has several phases": len(trees) > 1,
        "it has `phases`; remove them and name its methods gather, apply, scatter": tree.in_phases,
        "no signals decide who runs; write a scatter that signals": not tree.by_signal,
        "init(v, message) belongs to supersteps; let apply take the message": "init_message" in functions,
        "visit runs in sweeps over all edges": "visit" in functions,
        "its scatter adds to fields declared with sync=": bool(
            tree.contributed() or tree.contributed_edges()
        ),
        "its directions change by vertex": bool({"gather_edges", "scatter_edges"} & functions.keys()),
        "it keeps lists": tree.has_lists,
        "it signals vertices by their ids": tree.signals_by_id(),
        "its methods read self.superstep, and there are none": tree.reads_global("superstep"),
    }
    for reason, holds in reasons.items():
        if holds:
            raise UsageError(f"{tree.name} cannot run with engine='async': {reason}; use engine='sync'")
    if not compiled:
        raise UsageError(f"engine='async' runs compiled programs only, and {tree.name} is interpreted here")
