"""Triangles of a directed graph by the ways they lead through a vertex, and the neighbours' own edges.

PowerGraph's directed triangle count (Gonzalez and others, OSDI 2012, toolkit graph_analytics) and
LDBC Graphalytics' local clustering coefficient.
"""

from __future__ import annotations

from typing import ClassVar

import gaslab as gl
from gaslab.programs._neighbourhood import Neighbourhood

BY_DIRECTION = ("in_triangles", "out_triangles", "through_triangles", "cycle_triangles")


class _Sides(Neighbourhood):
    """The sources and the targets around every vertex, itself left out: what both programs begin with."""

    class Vertex(gl.Vertex):
        _sources: gl.SortedSet[gl.VertexId]
        _targets: gl.SortedSet[gl.VertexId]

    @gl.aggregator
    def surplus(self, v: Vertex) -> gl.Sum[int]:
        return v.in_degree - len(v._sources)

    def keep_sources(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v._sources = total

    def keep_targets(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v._targets = total

    phases: ClassVar[tuple[gl.Phase, ...]] = (
        gl.Phase(gather=Neighbourhood.others, apply=keep_sources, gather_edges=gl.IN, supersteps=1),
        gl.Phase(gather=Neighbourhood.others, apply=keep_targets, gather_edges=gl.OUT, supersteps=1),
    )


class DirectedTriangles(_Sides):
    """Each vertex's directed triangles, by the directions of its edges to the other two vertices."""

    class Vertex(_Sides.Vertex):
        in_triangles: int = 0
        out_triangles: int = 0
        through_triangles: int = 0
        cycle_triangles: int = 0

    def to_sources(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return gl.common(v._sources, nbr._targets) if nbr.id != v.id else 0

    def to_targets(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return gl.common(v._targets, nbr._targets) if nbr.id != v.id else 0

    def keep_in(self, v: Vertex, total: int) -> None:
        v.in_triangles = total

    def keep_out(self, v: Vertex, total: int) -> None:
        v.out_triangles = total

    def keep_through(self, v: Vertex, total: int) -> None:
        v.through_triangles = total

    def keep_cycle(self, v: Vertex, total: int) -> None:
        v.cycle_triangles = total

    phases = (
        *_Sides.phases,
        gl.Phase(gather=to_sources, apply=keep_in, gather_edges=gl.IN, supersteps=1),
        gl.Phase(gather=to_targets, apply=keep_through, gather_edges=gl.IN, supersteps=1),
        gl.Phase(gather=to_targets, apply=keep_out, gather_edges=gl.OUT, supersteps=1),
        gl.Phase(gather=to_sources, apply=keep_cycle, gather_edges=gl.OUT, supersteps=1),
    )


class LocalClustering(_Sides):
    """LDBC's `clustering`: the fraction of the possible edges between two neighbours that exist."""

    class Vertex(_Sides.Vertex):
        _around: gl.SortedSet[gl.VertexId]
        _between: int = 0
        clustering: float = 0.0

    def keep_around(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v._around = total

    def of_sources(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return gl.common(v._around, nbr._targets) if nbr.id != v.id else 0

    def keep_between(self, v: Vertex, total: int) -> None:
        v._between = total

    def of_mere_targets(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        if nbr.id == v.id or nbr.id in v._sources:
            return 0
        return gl.common(v._around, nbr._targets)

    def divide(self, v: Vertex, total: int) -> None:
        n = len(v._around)
        if n > 1:
            v.clustering = (v._between + total) / (n * (n - 1))

    phases = (
        *_Sides.phases,
        gl.Phase(gather=Neighbourhood.others, apply=keep_around, gather_edges=gl.ALL, supersteps=1),
        gl.Phase(gather=of_sources, apply=keep_between, gather_edges=gl.IN, supersteps=1),
        gl.Phase(gather=of_mere_targets, apply=divide, gather_edges=gl.OUT, supersteps=1),
    )
