"""Aggregators that are accumulators: vectors, matrices and histograms over vertices and edges."""

from __future__ import annotations

import numpy as np

from gaslab import program as gl
from tests.programs.case import case


@case()
class Topics(gl.VertexProgram):
    """Counts by topic over vertices and over edges, read by apply, by scatter and by done."""

    topics: int = 3

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="topics", dtype=gl.int32, init=1)
        share: float = 0.0
        topic: int = 0

    class Edge(gl.Edge):
        weight: float
        cost: int

    class Counts(gl.Accumulator):
        topic: gl.Vector = gl.field(shape="topics", dtype=int)
        words: int
        heavy: gl.Max[float]
        some: gl.Any[bool]
        least: gl.Min[gl.VertexId]

    class Rare(gl.Accumulator):
        topic: gl.Vector = gl.field(shape="topics", dtype=int)
        words: int
        heavy: float
        some: gl.All[bool]

    class Pairs(gl.Accumulator):
        both: gl.Matrix = gl.field(shape=("topics", 2))
        cost: gl.Vector = gl.field(shape=2, combine=gl.MIN)
        count: float

    @gl.aggregator
    def alone(self, v: Vertex) -> gl.Sum[int]:
        return v.topic

    @gl.aggregator
    def counts(self, v: Vertex) -> Counts:
        if v.topic == 2:
            return self.Counts(topic=v.x, words=1, least=v.id)
        return self.Counts(topic=gl.at(v.topic, 2), heavy=v.share, some=v.topic > 0, least=v.id)

    @gl.aggregator
    def pairs(self, v: Vertex, e: Edge, nbr: Vertex) -> Pairs:
        pair = np.ones(2) * e.cost
        pair[1] = v.topic
        return self.Pairs(both=np.outer(v.x, np.ones(2)) * e.weight, cost=pair, count=nbr.share)

    @gl.aggregator(every=2)
    def rarely(self, v: Vertex) -> Rare:
        return self.Rare(topic=gl.at(v.topic), some=v.topic != 1)

    @rarely.finalize
    def _(self, total: Rare) -> Rare:
        return self.Rare(topic=total.topic * 2, words=int(total.topic.sum()), heavy=0.5, some=total.some)

    def init(self, v: Vertex) -> None:
        v.topic = v.degree % self.topics

    def odd(self, topic: int) -> int:
        return self.counts.topic[topic] % 2

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.topic + self.odd(v.topic)

    def apply(self, v: Vertex, total: int) -> None:
        v.share = self.counts.topic[0] / max(1, np.sum(self.counts.topic)) + min(self.counts.heavy, 1.0) / 4
        v.share += self.pairs.both[v.topic, 1] / 1024 + self.pairs.count / 1024
        v.topic = (total + self.counts.words + self.alone) % self.topics
        v.x += self.counts.topic % 3
        v.x[0] = (self.rarely.topic[2] + self.rarely.words) % 5
        if (self.counts.some or self.pairs.cost[0] < 1) and v.id != self.counts.least:
            v.x[1] = 0

    def done(self) -> bool:
        return bool(self.counts.topic[0] > 1000 and self.pairs.both.shape == (self.topics, 2))
