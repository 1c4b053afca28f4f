"""The plan of visit: made for a graph before its first sweep, and kept with the graph for later runs."""

from __future__ import annotations

import numpy as np

from gaslab.engine.visit.blocks import Blocks
from gaslab.engine.visit.edges import Edges
from gaslab.engine.visit.places import Places, Walk
from gaslab.engine.visit.schedule import Schedule
from gaslab.graph.graph import Graph


class Plan:
    """The places of vertices and the order of edges on one rank; they depend only on cut and ways."""

    def __init__(self, graph: Graph, ways: int) -> None:
        comm, local = graph.comm, graph.local
        masters = slice(local.num_masters)
        mixed = not graph.directed or bool((local.in_degree[masters] * local.out_degree[masters]).any())
        schedule = Schedule(ways, not comm.allreduce(int(mixed), "max"))
        rank_of_table = (np.arange(ways) * comm.size // ways).astype(np.int32)
        blocks = Blocks(schedule, rank_of_table, graph)
        walk = Walk(schedule, rank_of_table, blocks.sizes, comm)
        self.rounds = schedule.rounds
        self.places = Places(blocks, walk, comm)
        self.edges = Edges(schedule, rank_of_table, blocks, walk, graph)

    def memory_bytes(self) -> int:
        """The bytes of the arrays held here."""
        return self.places.memory_bytes() + self.edges.memory_bytes()


def plan_of(graph: Graph, ways: int) -> Plan:
    """Return the plan for this many ways; the graph keeps the last (collective if it must be made)."""
    plan: Plan = graph.local.planned(("visit", ways), lambda: Plan(graph, ways))
    return plan
