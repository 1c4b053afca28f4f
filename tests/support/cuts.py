"""Pairs of vertices to cut, and what a cut is judged by."""

from __future__ import annotations

import numpy as np


def numbered(src: np.ndarray, dst: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of each edge, numbered by rising degree, in the order of the lower ones."""
    degree = np.bincount(np.concatenate([src, dst]), minlength=n)
    number = np.empty(n, np.int32)
    number[np.argsort(degree, kind="stable")] = np.arange(n, dtype=np.int32)
    low, high = np.sort(number[np.stack([src, dst])], axis=0)
    order = np.lexsort((high, low))
    return low[order], high[order]


def power_law(n: int, m: int, local: float = 0.5) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the pairs of a directed graph with hubs; so many of its edges, as a share, are *local*."""
    rng = np.random.default_rng(0)
    src, dst = (n * rng.random((2, m)) ** 3).astype(np.int64)
    near = rng.random(m) < local
    dst[near] = (src[near] + rng.integers(1, 50, near.sum())) % n
    key = np.unique(src * n + dst)
    low, high = numbered(key // n, key % n, n)
    return low, high, n


def replicas(low: np.ndarray, high: np.ndarray, n: int, part: np.ndarray, k: int) -> np.ndarray:
    """Return how many vertices each part has."""
    held = np.zeros((k, n), bool)
    held[part, low] = held[part, high] = True
    return held.sum(axis=1)


def balances(low: np.ndarray, high: np.ndarray, n: int, part: np.ndarray, k: int) -> tuple[float, float]:
    """Return the edges and the replicas of the fullest part, each as a multiple of the mean."""
    load, size = np.bincount(part, minlength=k), replicas(low, high, n, part, k)
    return load.max() / load.mean(), size.max() / size.mean()
