"""Which programs can run without supersteps, and with which scheduler."""

from __future__ import annotations

from dataclasses import replace

from gaslab.compiler.tree import STEPS, KeyedCombiner, Tree
from gaslab.engine.engines import Async
from gaslab.errors import UsageError


def check_program(trees: list[Tree], compiled: bool, engine: Async) -> Async:
    """Return the engine with the scheduler of a program; raises unless it can run without supersteps."""
    tree = trees[0]
    functions = tree.functions
    reasons = {
        "it has several phases": len(trees) > 1,
        "it has `phases`; remove them and name its methods gather, apply, scatter": tree.in_phases,
        "no signals decide which vertices run; write a scatter that signals": not tree.by_signal,
        "init(v, message) needs supersteps; let apply take the message": "init_message" in functions,
        "visit runs in sweeps over all edges": "visit" in functions,
        "its scatter adds to fields declared with sync=": bool(
            tree.contributed() or tree.contributed_edges()
        ),
        "its directions depend on the vertex": bool({"gather_edges", "scatter_edges"} & functions.keys()),
        "its gather sums by key": isinstance(tree.gather, KeyedCombiner),
        "its messages are lists": tree.collects_messages,
        "it keeps lists": tree.has_lists,
        "it signals vertices by their ids": tree.signals_by_id(),
        "an aggregator after scatter needs supersteps; leave out after=": tree.aggregates_after_scatter,
        "it looks up fields by id": bool(tree.lookups),
        **{f"its methods read self.{name}; that needs supersteps": tree.reads_global(name) for name in STEPS},
    }
    for reason, holds in reasons.items():
        if holds:
            raise UsageError(f"{tree.name} cannot run with engine='async': {reason}; use engine='sync'")
    if not compiled:
        raise UsageError(f"engine='async' runs compiled programs only, and {tree.name} is interpreted here")
    scheduler = engine.scheduler or ("priority" if tree.by_priority else "fifo")
    if scheduler == "priority" and not tree.by_priority:
        raise UsageError(f"Async(scheduler='priority') needs signals with priority=; {tree.name} gives none")
    return replace(engine, scheduler=scheduler)
