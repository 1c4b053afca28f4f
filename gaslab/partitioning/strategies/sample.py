"""Estimates of the stateless strategies' cuts from a sample of vertices with all their edges.

A vertex's id decides whether it is in the sample. So the sample is the same however the edges were split over
ranks, in any order; and its mirrors need no formula: its edges are placed as a strategy would place them, by
their ends' degrees in the whole graph. The edges of the fullest part are counted over the whole graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import gaslab._kernels.partition as kernels
from gaslab.partitioning.context import Context
from gaslab.partitioning.stateful import MOST_PARTS
from gaslab.partitioning.strategies import hashes

SHARE, LEAST, MOST = 32, 1 << 11, 1 << 15  # edges at sampled vertices: one of 32, but at least this many
MAX_HASH = (1 << 32) - 1
BLOCK = 1 << 18  # edges that stay in the cache between steps


@dataclass
class Counts:
    """The edges that leave and enter each vertex on this rank; without direction, at lower and higher end.

    Attributes
    ----------
    out_here, in_here : int32 arrays of num_vertices
    num_edges : int
        Of the whole graph.
    """

    out_here: np.ndarray
    in_here: np.ndarray
    num_edges: int

    def degree(self) -> np.ndarray:
        """Return how many edges each vertex has here."""
        degree: np.ndarray = np.add(self.out_here, self.in_here, dtype=np.int64)
        return degree


@dataclass
class Sample:
    """Some vertices with all their edges, and the other ends of these; the same on every rank.

    Attributes
    ----------
    every : int
        One vertex in this many is in the sample.
    count : int
        The number of its vertices that have an edge.
    source, target : int64 arrays
        The global ids of the ends of each edge, parallel edges once; without direction *target* is higher.
    source_number, target_number : int32 arrays
        The same vertices, numbered.
    gids : int64 array
        The global id of each number, ascending.
    row : int32 array
        By number: 0 to count - 1 for the sample's vertices, -1 for others, which have only some edges.
    degree, in_degree : int64 arrays
        Of each vertex, by number, in the whole graph.
    """

    every: int
    count: int
    source: np.ndarray
    target: np.ndarray
    source_number: np.ndarray
    target_number: np.ndarray
    gids: np.ndarray
    row: np.ndarray
    degree: np.ndarray
    in_degree: np.ndarray


@dataclass
class Forecast:
    """The estimate of a cut.

    Attributes
    ----------
    mirrors : float
    sums, updates : float
        Mirrors that, in a superstep of all vertices, send a partial sum, and those that get a new value.
    fullest : float
        Edges of the fullest part.
    """

    mirrors: float
    sums: float
    updates: float
    fullest: float

    def times(self, share: float) -> Forecast:
        """Return the estimate of a cut with this share of the mirrors."""
        return Forecast(share * self.mirrors, share * self.sums, share * self.updates, self.fullest)


def forecasts(sample: Sample, counts: Counts, k: int, context: Context) -> dict[str, Forecast]:
    """Return the estimate of each stateless strategy for a graph (collective)."""
    return {name: _forecast(sample, *of(sample, counts, k, context), k, context) for name, of in CUTS.items()}


def take(src: np.ndarray, dst: np.ndarray, context: Context) -> tuple[Sample, Counts]:
    """Take the sample and count the edges of the vertices (collective)."""
    comm, n = context.comm, context.num_vertices
    num_edges = int(comm.allreduce(src.size))
    every = max(2 * num_edges // min(max(num_edges // SHARE, LEAST), MOST), 1)
    counts = Counts(np.zeros(n, np.int32), np.zeros(n, np.int32), num_edges)
    found = [[src[:0], dst[:0], np.zeros((2, 0), bool)]]
    for block in hashes.blocks(src, BLOCK):
        ends = [end(src, dst, block, context) for end in (hashes.source_of, hashes.target_of)]
        marks = np.empty((2, ends[0].size), np.uint8)
        kernels.count_and_mark(
            *ends, MAX_HASH // every, counts.out_here, counts.in_here, marks, context.threads
        )
        kept = np.flatnonzero((marks[0] | marks[1]).view(bool))
        found.append([ends[0][kept], ends[1][kept], marks[:, kept].view(bool)])
    here = [np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True)]
    here[2] = np.concatenate([end[marked] for end, marked in zip(here, here[2], strict=False)])
    source, target, vertices = (np.concatenate(comm.allgather_array(part)) for part in here)
    gids = _distinct(np.concatenate([source, target]))
    pairs = _distinct(np.searchsorted(gids, source) * gids.size + np.searchsorted(gids, target))
    degrees = comm.allreduce(np.stack([counts.out_here[gids], counts.in_here[gids]]).astype(np.int64))
    number = [end.astype(np.int32) for end in np.divmod(pairs, max(gids.size, 1))]
    vertices = _distinct(vertices)
    row = np.full(gids.size, -1, np.int32)
    row[np.searchsorted(gids, vertices)] = np.arange(vertices.size)
    sample = Sample(
        every, vertices.size, gids[number[0]], gids[number[1]], number[0], number[1], gids, row,
        degree=degrees.sum(axis=0), in_degree=degrees[1],
    )  # fmt: skip
    return sample, counts


def _distinct(keys: np.ndarray) -> np.ndarray:
    """Return each key once, ascending; `np.unique` hashes, which takes longer."""
    keys = np.sort(keys)
    distinct: np.ndarray = keys[np.append(True, keys[1:] != keys[:-1])[: keys.size]]
    return distinct


def _forecast(sample: Sample, part: np.ndarray, fullest: float, k: int, context: Context) -> Forecast:
    """Return the estimate of a cut that puts the sample's edges into these parts."""
    k = min(k, MOST_PARTS)  # with more parts, parts this far apart count as one
    has_out, has_in = (np.zeros((sample.count, k), bool) for _ in range(2))
    for has, number in ((has_out, sample.source_number), (has_in, sample.target_number)):
        row = sample.row[number]
        ours = row >= 0
        has[row[ours], part[ours] % k] = True
    replica = has_out | has_in
    if not context.directed:
        has_out = has_in = replica
    # A master is in a part that has edges of both kinds if there is one, else in one that has in-edges.
    gathers = has_in.any(axis=1)
    scatters = (has_out & has_in).any(axis=1) | (has_out.any(axis=1) & ~gathers)
    mirrors = ((replica, replica.any(axis=1)), (has_in, gathers), (has_out, scatters))
    counted = [np.count_nonzero(held) - np.count_nonzero(masters) for held, masters in mirrors]
    of_all, sums, updates = (float(sample.every * count) for count in counted)
    return Forecast(of_all, sums, updates, fullest)


# ---- the parts of the sample's edges, and the edges of the fullest part, under each strategy --------------

Placed = tuple[np.ndarray, float]


def _by_one_end(sample: Sample, counts: Counts, k: int, context: Context) -> Placed:
    end, edges = sample.target, sample.in_degree
    if context.num_left is not None:
        left = hashes.left_is_larger(context)
        end = (np.minimum if left else np.maximum)(sample.source, sample.target)
        edges = sample.degree[(sample.gids < context.num_left) == left]
    part = np.empty(end.size, np.int32)
    kernels.by_vertex(end, k, part, context.threads)
    return part, max(counts.num_edges / k, float(edges.max(initial=0)))


def _by_chunk(sample: Sample, counts: Counts, k: int, context: Context) -> Placed:
    width = hashes.slice_width(context)
    begin = np.arange(0, context.num_vertices, width)
    edges = context.comm.allreduce(np.add.reduceat(counts.in_here, begin, dtype=np.int64))
    chunk = hashes.chunks(edges, width, k)
    first = np.flatnonzero(np.diff(chunk, prepend=-1))
    return chunk[sample.target // width], float(np.add.reduceat(edges, first).max())


def _by_grid(sample: Sample, counts: Counts, k: int, context: Context) -> Placed:
    shape = columns, rows, _ = hashes.grid(k)
    part = np.empty(sample.source.size, np.int32)
    kernels.by_grid(sample.source, sample.target, *shape, part, context.threads)
    out_degree = sample.degree - sample.in_degree
    hubs = ((sample.in_degree, rows), (out_degree, columns))  # a hub's edges are in this many parts
    return part, counts.num_edges / k + max(float(hub.max(initial=0)) * (1 / n - 1 / k) for hub, n in hubs)


def _by_degree(sample: Sample, counts: Counts, k: int, context: Context) -> Placed:
    part = np.empty(sample.source.size, np.int32)
    ends = sample.source, sample.target, sample.source_number, sample.target_number
    kernels.by_lower_degree(*ends, sample.degree, k, part, context.threads)
    return part, counts.num_edges / k


def _by_hub(sample: Sample, counts: Counts, k: int, context: Context) -> Placed:
    part = np.empty(sample.source.size, np.int32)
    ends = sample.source, sample.target, sample.source_number, sample.target_number
    degree = sample.in_degree if context.directed else sample.degree
    vertices = sample.every * np.count_nonzero(degree[sample.row >= 0])
    threshold = hashes.hub_threshold(counts.num_edges / max(vertices, 1))
    kernels.by_target_unless_hub(*ends, degree, threshold, context.directed, k, part, context.threads)
    return part, max(counts.num_edges / k, float(degree[degree <= threshold].max(initial=0)))


CUTS = {  # in this order if two estimates are equal
    "1d": _by_one_end, "chunk": _by_chunk, "2d": _by_grid, "dbh": _by_degree, "hybrid": _by_hub,
}  # fmt: skip
