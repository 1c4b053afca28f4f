"""What the script of a page draws from, as JSON has it: words, topics and documents."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gaslab.topics.quality import largest
from gaslab.topics.report.content import Content, Document

BARS, BARS_OF_MANY, MANY = 30, 15, 100  # words of a topic as bars; of a topic of many
WEIGHTS = np.linspace(0.0, 1.0, 11)  # of the slider: relevance by lift alone to probability
NEAR = 5  # topics beside a topic
OF_TOPIC = 5  # documents beside a topic
WORDS_SHOWN = 500  # of a document
MIXED = 8  # topics of a document's bar
LEAST = 0.005  # share of a topic in it


def collect(content: Content, kept: np.ndarray, distances: np.ndarray) -> dict[str, Any]:
    """Return words, topics and documents of a page.

    Parameters
    ----------
    content : Content
    kept : int64 array
        The topics to show.
    distances : float64 array [kept, kept]
        Their distances.
    """
    words = _Words()
    topics = _topics(content, kept, distances, words)
    documents = [_document(content, one, words) for one in content.documents]
    return {"words": [str(content.words[w]) for w in words.place], "topics": topics, "documents": documents}


class _Words:
    """The words of a page, numbered as they are first named."""

    def __init__(self) -> None:
        self.place: dict[int, int] = {}

    def __call__(self, word: int) -> int:
        return self.place.setdefault(word, len(self.place))


def _topics(
    content: Content, kept: np.ndarray, distances: np.ndarray, number: _Words
) -> list[dict[str, Any]]:
    of_all = content.topic_word @ content.sizes
    count = BARS if kept.size <= MANY else BARS_OF_MANY
    mixes = np.array([one.mixture for one in content.documents]).reshape(-1, content.sizes.size)
    full = np.array([one.counts.size > 0 for one in content.documents], bool)
    topics = []
    for k, name in enumerate(kept.tolist()):
        spread = content.topic_word[:, name]
        words = _candidates(spread, of_all, count)
        near = [j for j in np.argsort(distances[k], kind="stable").tolist() if j != k][:NEAR]
        order = np.argsort(-mixes[:, name], kind="stable")
        documents = order[full[order]][:OF_TOPIC].tolist()
        topics.append({
            "name": name,
            "size": _rounded(content.sizes[name]),
            "coherence": None if content.coherence is None else _rounded(content.coherence[name]),
            "words": [[number(w), _rounded(spread[w]), _rounded(of_all[w])] for w in words],
            "near": [[int(kept[j]), _rounded(distances[k, j])] for j in near],
            "documents": [[d, _rounded(mixes[d, name])] for d in documents],
        })  # fmt: skip
    return topics


def _candidates(spread: np.ndarray, of_all: np.ndarray, count: int) -> list[int]:
    """Return the words that are among a topic's first by relevance of any weight, the likeliest first."""
    count = min(count, spread.size)
    with np.errstate(divide="ignore"):
        log, log_of_all = np.log(spread), np.log(np.where(of_all > 0, of_all, 1.0))
    first = [largest(log - (1 - weight) * log_of_all, count) for weight in WEIGHTS.tolist()]
    words = np.unique(np.concatenate(first))
    found: list[int] = words[np.argsort(-spread[words], kind="stable")].tolist()
    return found


def _document(content: Content, one: Document, number: _Words) -> dict[str, Any]:
    most = np.argsort(-one.counts, kind="stable")[:WORDS_SHOWN]
    words = one.words[most]
    topics = np.argmax(content.topic_word[words] * one.mixture, axis=1)
    order = np.argsort(-one.mixture, kind="stable")[:MIXED]
    rows = zip(words.tolist(), one.counts[most].tolist(), topics.tolist(), strict=True)
    return {
        "name": one.name,
        "tokens": int(one.counts.sum()),
        "distinct": int(one.words.size),
        "mixture": [[k, _rounded(one.mixture[k])] for k in order.tolist() if one.mixture[k] >= LEAST],
        "words": [[number(word), count, topic] for word, count, topic in rows],
    }


def _rounded(value: float) -> float | None:
    """Return four figures of a number; None of nan, which JSON does not have."""
    return float(f"{value:.4g}") if math.isfinite(value) else None
