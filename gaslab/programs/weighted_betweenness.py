"""Betweenness where edges have lengths: `gaslab.betweenness` with ``weight=``.

Brandes 2001, a batch of sources at a time as in `betweenness`. First the distances, by relaxation. Then a
vertex waits, lane by lane, for all its predecessors on shortest paths (Kahn's order of a directed graph
without cycles), counts the paths and sends their number on: each edge on such a path sends once. The
dependencies come back the same way, from the ends of the paths.
"""

from __future__ import annotations

import math
from typing import ClassVar

import gaslab as gl
from gaslab.programs._columns import lengths
from gaslab.programs._numpy import np


class WeightedBetweenness(gl.VertexProgram):
    """Each vertex's `betweenness` with edge lengths; `_turn` numbers the sources from 0 (``init=``)."""

    lanes: int = 16  # sources of a round, at most 62: a bit of an int each
    endpoints: bool = False  # whether a path leads through its two ends
    scale: float = 1.0  # what counts are multiplied by
    source_scale: float = 1.0  # the same at a source

    class Vertex(gl.Vertex):
        betweenness: float = 0.0
        _turn: gl.int32 = -1
        _round: gl.int32 = 0
        _lane: gl.int32 = -1  # in this round, of a source
        _count: float = 0.0  # before it is scaled
        _stuck: bool = False  # whether a lane with a distance has ever waited in vain
        _now: int = 0  # lanes that are nearer, or complete, since this superstep
        _wait: gl.Vector = gl.field(shape="lanes")  # for so many neighbours; -1: complete
        _distance: gl.Vector = gl.field(shape="lanes")
        _paths: gl.Vector = gl.field(shape="lanes")
        _part: gl.Vector = gl.field(shape="lanes")  # (1 + dependency) / paths

    class Edge(gl.Edge):
        length: float = 1.0
        share: float = 1.0  # of parallel edges that are equally short; 0 of a longer one

    class Nearer(gl.Accumulator):
        distance: gl.Vector = gl.field(shape="lanes", combine=gl.MIN)

    class Neighbours(gl.Accumulator):
        number: gl.Vector = gl.field(shape="lanes")

    class Sent(gl.Accumulator):
        number: gl.Vector = gl.field(shape="lanes")
        sums: gl.Vector = gl.field(shape="lanes")

    @gl.aggregator(every=gl.Phase)
    def left(self, v: Vertex) -> gl.Max[int]:
        return v._turn - self.lanes * v._round

    @gl.aggregator(every=gl.Phase)
    def whole(self, v: Vertex) -> gl.Sum[float]:
        return v._count

    @gl.aggregator(every=gl.Phase)
    def stuck(self, v: Vertex) -> gl.Any[bool]:
        return v._stuck

    def begin(self, v: Vertex) -> None:
        lane = v._turn - self.lanes * v._round
        v._round += 1
        v._lane = lane if 0 <= lane < self.lanes else -1
        for k in range(self.lanes):
            v._distance[k] = math.inf
            v._paths[k] = 0.0
            v._part[k] = 0.0

    def is_source(self, v: Vertex) -> bool:
        return v._lane >= 0

    def come_nearer(self, v: Vertex, message: Nearer) -> None:
        v._now = 0
        for k in range(self.lanes):
            distance = 0.0 if k == v._lane else message.distance[k]
            if distance < v._distance[k]:
                v._distance[k] = distance
                v._now |= 1 << k

    def offer(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        nearer = False
        for k in range(self.lanes):
            if v._distance[k] + e.length < nbr._distance[k]:
                nearer = True
        if nearer:
            nbr.signal(self.Nearer(distance=v._distance + e.length))

    def before(self, v: Vertex, e: Edge, nbr: Vertex) -> Neighbours:
        number = np.zeros(self.lanes)
        for k in range(self.lanes):
            if nbr._distance[k] + e.length == v._distance[k] and v._distance[k] < math.inf:
                number[k] = 1.0
        return self.Neighbours(number=number)

    def wait(self, v: Vertex, total: Neighbours) -> None:
        for k in range(self.lanes):
            v._wait[k] = total.number[k]

    def add_paths(self, v: Vertex, message: Sent) -> None:
        v._now = 0
        for k in range(self.lanes):
            if v._wait[k] >= 0.0 and v._distance[k] < math.inf:
                v._wait[k] -= message.number[k]
                v._paths[k] = 1.0 if k == v._lane else v._paths[k] + message.sums[k]
                if v._wait[k] == 0.0:
                    v._wait[k] = -1.0
                    v._now |= 1 << k

    def send_paths(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        number = np.zeros(self.lanes)
        sums = np.zeros(self.lanes)
        found = False
        for k in range(self.lanes):
            if (v._now >> k) & 1 and v._distance[k] + e.length == nbr._distance[k]:
                number[k] = 1.0
                sums[k] = e.share * v._paths[k]
                found = True
        if found:
            nbr.signal(self.Sent(number=number, sums=sums))

    def after(self, v: Vertex, e: Edge, nbr: Vertex) -> Neighbours:
        number = np.zeros(self.lanes)
        for k in range(self.lanes):
            if v._distance[k] + e.length == nbr._distance[k] and v._distance[k] < math.inf:
                number[k] = 1.0
        return self.Neighbours(number=number)

    def wait_again(self, v: Vertex, total: Neighbours) -> None:
        for k in range(self.lanes):
            if v._distance[k] < math.inf and v._wait[k] >= 0.0:
                v._stuck = True
            v._wait[k] = total.number[k]

    def add_parts(self, v: Vertex, message: Sent) -> None:
        v._now = 0
        for k in range(self.lanes):
            if v._wait[k] >= 0.0 and v._distance[k] < math.inf:
                v._wait[k] -= message.number[k]
                v._part[k] += message.sums[k]
                if v._wait[k] == 0.0:
                    v._wait[k] = -1.0
                    v._now |= 1 << k
                    through = v._paths[k] * v._part[k]
                    v._part[k] += 1.0 / v._paths[k]
                    if self.endpoints:
                        v._count += through if k == v._lane else through + 1.0
                    elif k != v._lane:
                        v._count += through
        v.betweenness = v._count * (self.scale if v._turn < 0 else self.source_scale)

    def send_parts(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        number = np.zeros(self.lanes)
        sums = np.zeros(self.lanes)
        found = False
        for k in range(self.lanes):
            if (v._now >> k) & 1 and nbr._distance[k] + e.length == v._distance[k]:
                number[k] = 1.0
                sums[k] = e.share * v._part[k]
                found = True
        if found:
            nbr.signal(self.Sent(number=number, sums=sums))

    def done(self) -> bool:
        return self.left < 0

    phases: ClassVar[tuple[gl.Phase, ...]] = (
        gl.Phase(apply=begin, supersteps=1),
        gl.Phase(start=is_source, apply=come_nearer, scatter=offer, scatter_edges=gl.OUT),
        gl.Phase(gather=before, apply=wait, gather_edges=gl.IN, supersteps=1),
        gl.Phase(start=is_source, apply=add_paths, scatter=send_paths, scatter_edges=gl.OUT),
        gl.Phase(gather=after, apply=wait_again, gather_edges=gl.OUT, supersteps=1),
        gl.Phase(apply=add_parts, scatter=send_parts, scatter_edges=gl.IN),
    )


class WeightedEdgeBetweenness(WeightedBetweenness):
    """The `betweenness` of each edge and of each vertex, with edge lengths."""

    both_ways: bool = False  # whether edges have no direction

    class Edge(WeightedBetweenness.Edge):
        betweenness: float = 0.0

    def share_out(self, v: WeightedBetweenness.Vertex, e: Edge, nbr: WeightedBetweenness.Vertex) -> None:
        if e.forward:
            through = 0.0
            for k in range(self.lanes):
                if v._distance[k] + e.length == nbr._distance[k] and v._distance[k] < math.inf:
                    through += v._paths[k] * nbr._part[k]
                elif (
                    self.both_ways
                    and nbr._distance[k] + e.length == v._distance[k]
                    and nbr._distance[k] < math.inf
                ):
                    through += nbr._paths[k] * v._part[k]
            e.betweenness += self.scale * e.share * through

    phases = (*WeightedBetweenness.phases, gl.Phase(scatter=share_out, supersteps=1))


def above_zero(graph: gl.Graph, name: str | None) -> str | None:
    """Return the column of lengths (collective); raises UsageError for a length that is not above 0."""
    name = lengths(graph, name)
    if name is not None:
        least = float(graph.comm.allreduce(graph.bounds_here(name)[0], "min"))
        if least <= 0.0:
            raise gl.UsageError(
                f"edge column {name!r} has a length of 0, and circles of such edges make endlessly many "
                "shortest paths; lengths above 0 are needed"
            )
    return name
