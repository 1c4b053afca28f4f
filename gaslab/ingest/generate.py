"""`generate`: graphs from a seed, the same on any number of ranks and threads."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab._kernels import generate as kernels
from gaslab.errors import UsageError, nearest
from gaslab.ingest.capacity import check_edges
from gaslab.ingest.corpus import draw
from gaslab.ingest.edges import EdgeList, assemble
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.sides import SidedIds
from gaslab.parallel import launch
from gaslab.parallel.comm import Comm, as_comm


def generate(
    kind: str,
    comm: Comm | None = None,
    *,
    seed: int = 0,
    weights: int | None = None,
    drop_duplicates: bool = False,
    drop_self_loops: bool = False,
    threads: int | None = None,
    **size: Any,
) -> EdgeList:
    """Generate a graph (collective); vertices are 0 .. n-1, with or without edges.

    Parameters
    ----------
    kind : {"rmat", "powerlaw", "grid", "erdos-renyi", "bipartite", "corpus"}
    comm : Comm, optional
    seed : int
        From 0 to 2**64 - 1. Edges depend only on the seed and their number.
    weights : int, optional
        Add the column ``weight``: integers drawn from 1 .. *weights*.
    drop_duplicates, drop_self_loops : bool
    threads : int, optional
    **size
        - rmat: ``scale`` (2**scale vertices), ``edge_factor=16`` edges per vertex, ``a=0.57, b=0.19,
          c=0.19, d=0.05`` (the shares of the quadrants, Graph500's), ``permute=True`` (ids are independent of
          degrees). May have parallel edges and self-loops.
        - powerlaw: ``vertices``, ``exponent=2.1``, ``max_degree`` (by default vertices - 1) and
          ``in_degree=True``: every vertex gets k in-edges (else out-edges) with probability proportional to
          k**-exponent, whose other ends are uniform. May have parallel edges, no self-loops.
        - grid: ``rows``, ``columns``; vertex row * columns + column is joined to those right of and below
          it. Undirected.
        - erdos-renyi: ``vertices``, ``edges``: both ends of every edge are uniform. May have parallel edges
          and self-loops.
        - bipartite: ``left``, ``right``, ``edges``: every edge joins a uniform left vertex to a uniform right
          one. May have parallel edges.
        - corpus: ``documents``, ``words``, ``topics``: documents drawn from topics, the edge column ``count``
          counts the occurrences of a word in a document. Topics are drawn from a Dirichlet distribution of
          ``beta=0.01``, the mix of topics of a document from one of ``alpha=0.1``. A document has n tokens
          with probability proportional to n**-exponent, ``exponent=2.0``, from ``min_length=50`` to
          ``max_length=5000``. `gaslab.ingest.corpus.draw.draw_topics` returns the topics.

    References
    ----------
    Chakrabarti, Zhan, Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004. The power law is
    that of PowerGraph's generator (Gonzalez et al., OSDI 2012).
    """
    comm, threads = as_comm(comm), arguments.threads(threads)
    kind = arguments.choice("kind", kind, KINDS)
    seed = arguments.whole("seed", seed, 0, (1 << 64) - 1)
    weights = arguments.whole("weights", weights, 1, (1 << 63) - 1, optional=True)
    drop_duplicates, drop_self_loops = arguments.flags(
        drop_duplicates=drop_duplicates, drop_self_loops=drop_self_loops
    )
    threads = launch.threads_per_rank(comm.local_ranks) if threads is None else threads
    make = KINDS[kind]
    wanted = list(inspect.signature(make).parameters.values())[1:]
    for name in size:
        if name not in {one.name for one in wanted}:
            raise UsageError(f"{kind} takes no {name}{nearest(name, [one.name for one in wanted])}")
    for one in wanted:
        if one.default is one.empty and one.name not in size:
            raise UsageError(f"{kind} needs {one.name}")
    made = make(_Share(comm, seed, threads), **size)
    columns = made.columns
    if weights is not None:
        columns["weight"] = kernels.weights(made.first, made.src.size, weights, seed, threads)
    said = ", ".join([*(f"{name}={value}" for name, value in size.items()), f"seed={seed}"])
    ids = VertexIds(comm, "int", made.vertices)
    if made.left is not None:
        right = VertexIds(comm, "int", made.vertices - made.left)
        ids = SidedIds(comm, VertexIds(comm, "int", made.left), right)
    return assemble(
        comm, made.src, made.dst, columns, ids, directed=made.directed,
        counts={"edges_read": int(comm.allreduce(made.src.size))}, source=f"{kind}({said})", threads=threads,
        drop_self_loops=drop_self_loops, drop_duplicates=drop_duplicates,
    )  # fmt: skip


@dataclass(frozen=True)
class _Share:
    """This rank's share of the items to generate, and the seed of their draws."""

    comm: Comm
    seed: int
    threads: int

    def of(self, items: int) -> tuple[int, int]:
        """Return (first, count) of this rank's part of the items."""
        first = items * self.comm.rank // self.comm.size
        return first, items * (self.comm.rank + 1) // self.comm.size - first

    def of_edges(self, edges: int) -> tuple[int, int]:
        """As `of`, for edges; InputError, before any is made, for more than fit (collective)."""
        check_edges(self.comm, edges)
        return self.of(edges)


@dataclass
class _Made:
    """This rank's edges, numbered from *first* among all."""

    src: np.ndarray
    dst: np.ndarray
    first: int
    vertices: int
    directed: bool = True
    left: int | None = None  # of a bipartite graph
    columns: dict[str, np.ndarray] = field(default_factory=dict)


def _rmat(
    share: _Share,
    scale: int,
    edge_factor: int = 16,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    d: float = 0.05,
    permute: bool = True,
) -> _Made:
    scale = arguments.whole("scale", scale, 0, 40)
    edge_factor = arguments.whole("edge_factor", edge_factor, 0, 1 << 20)
    permute = arguments.flag("permute", permute)
    a, b, c, d = (arguments.number(name, part) for name, part in zip("abcd", (a, b, c, d), strict=True))
    if min(a, b, c, d) < 0 or abs(a + b + c + d - 1) > 1e-9:
        raise UsageError(f"a={a}, b={b}, c={c}, d={d}: shares are not negative and add up to 1")
    first, count = share.of_edges(edge_factor << scale)
    src, dst = kernels.rmat(first, count, scale, a, b, c, permute, share.seed, share.threads)
    return _Made(src, dst, first, 1 << scale)


def _powerlaw(
    share: _Share, vertices: int, exponent: float = 2.1, max_degree: int | None = None, in_degree: bool = True
) -> _Made:
    vertices = arguments.whole("vertices", vertices, 2, 1 << 40)
    most = vertices - 1 if max_degree is None else max_degree
    most = arguments.whole("max_degree", most, 1, vertices - 1)
    exponent = arguments.number("exponent", exponent, above=0, below=100)
    in_degree = arguments.flag("in_degree", in_degree)
    cumulative = np.cumsum(np.arange(1, most + 1, dtype=np.float64) ** -exponent)
    cumulative /= cumulative[-1]
    at, count = share.of(vertices)
    degree = kernels.powerlaw_degrees(at, count, cumulative, share.seed, share.threads)
    begin = np.concatenate([[0], np.cumsum(degree)])
    ends = kernels.powerlaw_edges(at, begin, vertices, share.seed, share.threads)
    first = sum(share.comm.allgather(int(begin[-1]))[: share.comm.rank])
    src, dst = ends[::-1] if in_degree else ends
    return _Made(src, dst, first, vertices)


def _grid(share: _Share, rows: int, columns: int) -> _Made:
    rows = arguments.whole("rows", rows, 1, 1 << 31)
    columns = arguments.whole("columns", columns, 1, 1 << 31)
    first, count = share.of_edges(rows * (columns - 1) + (rows - 1) * columns)
    src, dst = kernels.grid(first, count, rows, columns, share.threads)
    return _Made(src, dst, first, rows * columns, directed=False)


def _erdos_renyi(share: _Share, vertices: int, edges: int) -> _Made:
    vertices = arguments.whole("vertices", vertices, 1, 1 << 40)
    edges = arguments.whole("edges", edges, 0, 1 << 48)
    first, count = share.of_edges(edges)
    src, dst = kernels.uniform(first, count, vertices, share.seed, share.threads)
    return _Made(src, dst, first, vertices)


def _bipartite(share: _Share, left: int, right: int, edges: int) -> _Made:
    left = arguments.whole("left", left, 1, 1 << 40)
    right = arguments.whole("right", right, 1, 1 << 40)
    edges = arguments.whole("edges", edges, 0, 1 << 48)
    first, count = share.of_edges(edges)
    src, _ = kernels.uniform(first, count, left, share.seed, share.threads)
    _, dst = kernels.uniform(first, count, right, share.seed, share.threads)
    return _Made(src, dst + left, first, left + right, left=left)


def _corpus(
    share: _Share,
    documents: int,
    words: int,
    topics: int,
    alpha: float = 0.1,
    beta: float = 0.01,
    min_length: int = 50,
    max_length: int = 5000,
    exponent: float = 2.0,
) -> _Made:
    documents = arguments.whole("documents", documents, 1, 1 << 40)
    words = arguments.whole("words", words, 1, 1 << 31)
    topics = arguments.whole("topics", topics, 1, 1 << 16)
    alpha, beta = (arguments.number(name, one, above=0) for name, one in (("alpha", alpha), ("beta", beta)))
    max_length = arguments.whole("max_length", max_length, 1, 1 << 31)
    min_length = arguments.whole("min_length", min_length, 1, max_length)
    exponent = arguments.number("exponent", exponent, least=0, below=100)
    edges = draw.edges_of_topics(draw.draw_topics(words, topics, beta, share.seed))
    lengths = draw.cumulative_lengths(min_length, max_length, exponent)
    at, count = share.of(-(-documents // draw.BLOCK))
    parts = [np.zeros((3, 0), np.int64)]
    for block in range(at, at + count):
        begin = block * draw.BLOCK
        size = min(draw.BLOCK, documents - begin)
        part = np.stack(draw.draw_documents(block, size, edges, alpha, lengths, share.seed))
        part[0] += begin
        parts.append(part)
    src, dst, times = np.concatenate(parts, axis=1)
    first = sum(share.comm.allgather(src.size)[: share.comm.rank])
    return _Made(src, dst + documents, first, documents + words, left=documents, columns={"count": times})


KINDS: dict[str, Callable[..., _Made]] = {
    "rmat": _rmat,
    "powerlaw": _powerlaw,
    "grid": _grid,
    "erdos-renyi": _erdos_renyi,
    "bipartite": _bipartite,
    "corpus": _corpus,
}
