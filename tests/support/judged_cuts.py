"""The figures of a cut by plain Python, and graphs to hold them against."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gaslab.partitioning.strategies import STRATEGIES, strategy

PLAIN = "spread-by-sum"  # a strategy for k of any size that keeps parallel edges together


def register() -> None:
    """Register the strategy of these tests."""
    if PLAIN not in STRATEGIES:
        strategy(PLAIN)(lambda src, dst, k, _: (np.minimum(src, dst) * 7 + np.maximum(src, dst) * 3) % k)


def unregister() -> None:
    """Take it back: other tests go through all strategies."""
    STRATEGIES.pop(PLAIN, None)


def balance(loads: Sequence[int]) -> float:
    return max(loads) / (sum(loads) / len(loads)) if any(loads) else 1.0


def masters_of(
    n: int, k: int, holders: dict[int, set[int]], kinds: Callable[[int, int], tuple[bool, bool]]
) -> dict[int, int]:
    """Choose masters as ``docs/partitioning.md`` says, at a directory for every k-th vertex."""
    found = {}
    for d in range(k):
        load: Counter[int] = Counter()
        for v in range(d, n, k):
            if v not in holders:
                found[v] = d
                continue

            def rank(p: int, v: int = v, load: Counter[int] = load) -> tuple[int, int]:
                into, out_of = kinds(v, p)
                return -2 * into - out_of, load[p]

            found[v] = min(sorted(holders[v]), key=rank)
            for p in holders[v] - {found[v]}:
                load[p] += sum(kinds(v, p))
                load[found[v]] += sum(kinds(v, p))
    return found


def judged(
    src: Sequence[int], dst: Sequence[int], part: Sequence[int], n: int, k: int, directed: bool
) -> dict[str, Any]:
    """Return the figures of a cut that follow from its parts, and where its vertices are."""
    sources, targets = {*zip(src, part, strict=True)}, {*zip(dst, part, strict=True)}
    holders: dict[int, set[int]] = defaultdict(set)
    for v, p in sources | targets:
        holders[v].add(p)

    def kinds(v: int, p: int) -> tuple[bool, bool]:
        """Whether v has in-edges in p, and out-edges; without direction, both."""
        return not directed or (v, p) in targets, not directed or (v, p) in sources

    master = masters_of(n, k, holders, kinds)
    masters, mirrors, sends, receives = ([0] * k for _ in range(4))
    peers: dict[int, set[int]] = defaultdict(set)
    for v, held in holders.items():
        home = master[v]
        masters[home] += 1
        for p in held - {home}:
            mirrors[p] += 1
            peers[p].add(home)
            peers[home].add(p)
            into, out_of = kinds(v, p)
            sends[p] += into
            receives[home] += into
            sends[home] += out_of
            receives[p] += out_of
    edges, replicas = Counter(part), [a + b for a, b in zip(masters, mirrors, strict=True)]
    return {
        "replication_factor": sum(replicas) / len(holders) if holders else 1.0,
        "edge_balance": balance([edges[p] for p in range(k)]),
        "vertex_balance": balance(replicas),
        "master_balance": balance(masters),
        "mirror_balance": balance(mirrors),
        "cut_vertex_share": sum(len(held) > 1 for held in holders.values()) / max(len(holders), 1),
        "mean_peers": sum(map(len, peers.values())) / k,
        "most_peers": max(map(len, peers.values()), default=0),
        "bytes_per_superstep": 8 * sum(sends),
        "busiest_bytes": 8 * max(*sends, *receives),
        "random_replication_factor": expected(src, dst, k),
        "grid_bound": 2 * k**0.5,
        "vertices": [(master[v], sorted(holders[v]) or [master[v]]) for v in range(n)],
    }


def expected(src: Sequence[int], dst: Sequence[int], k: int) -> float:
    """Return RF's expectation if each pair of neighbours goes to a part of its own at random."""
    neighbours: dict[int, set[int]] = defaultdict(set)
    for u, v in zip(src, dst, strict=True):
        neighbours[u].add(v)
        neighbours[v].add(u)
    means = [k * (1 - (1 - 1 / k) ** len(near)) for near in neighbours.values()]
    return sum(means) / len(means) if means else 1.0


@st.composite
def any_graphs(draw: Any) -> dict[str, Any]:
    """Draw a multigraph with self-loops, directed or not, or a bipartite one, and isolated vertices."""
    bipartite, n = draw(st.booleans()), draw(st.integers(1, 25))
    left = draw(st.integers(0, n)) if bipartite else 0
    if bipartite and left in (0, n):
        edges = []
    else:
        low, high = (left - 1, left) if bipartite else (n - 1, 0)
        ends = st.tuples(st.integers(0, low), st.integers(high, n - 1))
        edges = draw(st.lists(ends, max_size=60))
    return {
        "src": [a for a, _ in edges], "dst": [b for _, b in edges], "n": n,
        "left": left if bipartite else None, "directed": bipartite or draw(st.booleans()),
    }  # fmt: skip
