"""Where topics lie on a map: classical multidimensional scaling of the distances between them."""

from __future__ import annotations

import numpy as np

from gaslab.topics.quality import distances

LOGARITHMS = 2e8  # at most for Jensen-Shannon's distance; beyond it is Hellinger's


def measure_for(words: int, topics: int) -> str:
    """Return the distance that the pages take between so many topics."""
    return "jensen-shannon" if words * topics**2 <= LOGARITHMS else "hellinger"


def between(topic_word: np.ndarray) -> np.ndarray:
    """Return the distances between all topics, the columns of *topic_word*."""
    words, topics = topic_word.shape
    return distances(np.ascontiguousarray(topic_word.T), measure=measure_for(words, topics))


def scale(distances: np.ndarray) -> tuple[np.ndarray, float]:
    """Return places in the plane whose distances are near *distances*, and how much of these they show.

    Parameters
    ----------
    distances : float64 array [topics, topics]

    Returns
    -------
    places : float64 array [topics, 2]
        Around the origin. Each axis points to where its largest value is.
    shown : float
        The two eigenvalues' share of the sum of those that are positive, from 0 to 1.

    References
    ----------
    Torgerson: Multidimensional scaling: I. Theory and method. Psychometrika, 1952.
    """
    count = len(distances)
    squares = distances**2
    means = squares.mean(axis=0)
    values, vectors = np.linalg.eigh(-(squares - means - means[:, None] + means.mean()) / 2)
    values = np.clip(values[::-1], 0.0, None)
    places = np.zeros((count, 2))
    axes = min(2, count)
    places[:, :axes] = vectors[:, ::-1][:, :axes] * np.sqrt(values[:axes])
    places *= np.where(np.abs(places.max(axis=0)) >= np.abs(places.min(axis=0)), 1.0, -1.0)
    total = values.sum()
    return places, float(values[:axes].sum() / total) if total > 1e-12 else 1.0
