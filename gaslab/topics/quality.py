"""Topics as arrays: their likeliest words, how large they are, how far they are from each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gaslab import arguments
from gaslab.errors import UsageError

BLOCK = 1 << 20  # numbers of a temporary


def topic_sizes(document_topic: np.ndarray, lengths: np.ndarray | None = None) -> np.ndarray:
    """Return the share of all tokens in each topic.


    Parameters
    ----------
    document_topic : float array [documents, topics]
        Probability of each topic in each document.
    lengths : array [documents], optional
        Number of tokens in each document; by default all documents have equal weight.

    Returns
    -------
    float64 array [topics]
        It sums to 1.

    Examples
    --------
    >>> import gaslab as gl, numpy as np
    >>> gl.topics.topic_sizes(np.array([[1.0, 0.0], [0.5, 0.5]]), [10, 30])
    array([0.625, 0.375])
    """
    mixes = _table("document_topic", document_topic)
    weights = np.ones(len(mixes)) if lengths is None else np.asarray(lengths, np.float64)
    if weights.shape != (len(mixes),) or not weights.sum() > 0:
        raise UsageError(f"lengths= needs the tokens of each of {len(mixes)} documents, not all 0")
    share = weights @ mixes
    found: np.ndarray = share / share.sum()
    return found


def relevance(topic_word: np.ndarray, sizes: np.ndarray, weight: float = 0.6) -> np.ndarray:
    """Return the relevance of each word to each topic, as LDAvis orders words.

    It is ``weight * log p(w|k) + (1 - weight) * log (p(w|k) / p(w))``: with 1 the likeliest words come first,
    with 0 those that are rare in other topics.

    Parameters
    ----------
    topic_word : float array [words, topics]
        Probability of each word in each topic; columns sum to 1.
    sizes : float array [topics]
        Share of each topic in all tokens.
    weight : float
        From 0 to 1; in the paper, people identified topics best at 0.6.

    Returns
    -------
    float64 array [words, topics]
        -inf where a probability is 0.

    References
    ----------
    Sievert, Shirley: LDAvis: A method for visualizing and interpreting topics. ACL workshop on interactive
    language learning, visualization, and interfaces, 2014.
    """
    spread = _table("topic_word", topic_word)
    shares = np.asarray(sizes, np.float64)
    weight = arguments.number("weight", weight, least=0, most=1)
    if shares.shape != (spread.shape[1],):
        raise UsageError(f"sizes= needs the share of each of {spread.shape[1]} topics")
    of_all = spread @ shares
    with np.errstate(divide="ignore"):
        log = np.log(spread)
    found: np.ndarray = log - (1 - weight) * np.log(np.where(of_all > 0, of_all, 1.0))[:, None]
    return found


def top_words(
    topic_word: np.ndarray, count: int = 10, *, weight: float = 1.0, sizes: np.ndarray | None = None
) -> np.ndarray:
    """Return the top words of each topic, by probability or by relevance.

    Parameters
    ----------
    topic_word : float array [words, topics]
        Probability of each word in each topic.
    count : int
        Number of words per topic, at most the number of words.
    weight : float
        1: by probability; below 1: by `relevance`, which needs *sizes*.
    sizes : float array [topics], optional
        Share of each topic in all tokens.

    Returns
    -------
    int64 array [topics, count]
        Positions of words: rows of *topic_word*. Ties are in the order of the words.

    Examples
    --------
    >>> import gaslab as gl, numpy as np
    >>> words = np.array(["the", "cat", "bank"])
    >>> topic_word = np.array([[0.6, 0.5], [0.4, 0.1], [0.0, 0.4]])
    >>> words[gl.topics.top_words(topic_word, 1)].ravel().tolist()
    ['the', 'the']
    >>> words[gl.topics.top_words(topic_word, 1, weight=0.3, sizes=[0.5, 0.5])].ravel().tolist()
    ['cat', 'bank']
    """
    spread = _table("topic_word", topic_word)
    count = min(arguments.whole("count", count, 1), len(spread))
    if weight != 1:
        if sizes is None:
            raise UsageError(f"weight={weight!r} orders words by relevance, which needs sizes= of the topics")
        spread = relevance(spread, sizes, weight)
    found = np.empty((spread.shape[1], count), np.int64)
    for topic, column in enumerate(spread.T):
        found[topic] = largest(column, count)
    return found


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Return the places of the *count* largest of *values*, the largest first; of equals the first.

    A partition by numpy leaves it to the CPU which of equals it takes.
    """
    least = np.partition(values, -count)[-count]
    near = np.flatnonzero(values >= least)  # so that only these are sorted
    found: np.ndarray = near[np.argsort(-values[near], kind="stable")[:count]]
    return found


def diversity(top: np.ndarray) -> float:
    """Return the share of distinct words among the top words of all topics, 1 if no word is shared.

    Parameters
    ----------
    top : array [topics, count]
        Top words; see `top_words`.

    Examples
    --------
    >>> import gaslab as gl
    >>> gl.topics.diversity([[0, 1], [1, 2]])
    0.75

    References
    ----------
    Dieng, Ruiz, Blei: Topic Modeling in Embedding Spaces. TACL 2020.
    """
    words = np.asarray(top)
    if words.ndim != 2 or words.size == 0:
        raise UsageError("top= needs the top words of each topic, an array [topics, count]")
    return float(np.unique(words).size / words.size)


def distances(
    distributions: np.ndarray, of: np.ndarray | None = None, measure: str = "jensen-shannon"
) -> np.ndarray:
    """Return the distance of some distributions to all; see `nearest`.

    Returns
    -------
    float64 array [of, rows]
        0 for equal distributions, 1 for those that have nothing in common.
    """
    rows = _table("distributions", distributions)
    own = rows[_places(of, len(rows))]
    found: np.ndarray = MEASURES[arguments.choice("measure", measure, MEASURES)](own, rows)
    return found


def nearest(
    distributions: np.ndarray,
    of: np.ndarray | None = None,
    count: int = 5,
    *,
    measure: str = "jensen-shannon",
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest neighbours of distributions: of topics by words, of documents by topics.

    Parameters
    ----------
    distributions : float array [rows, m]
        Each row sums to 1: ``topic_word.T`` for topics, ``document_topic`` for documents.
    of : int array, optional
        Rows to find neighbours for, from 0; all by default.
    count : int
        Number of neighbours per row.
    measure : {"jensen-shannon", "hellinger"}
        Both are metrics from 0 to 1. Hellinger's takes one matrix product, the other a logarithm for each
        number of each pair.

    Returns
    -------
    rows : int64 array [of, count]
        Nearest first, without the row itself.
    distances : float64 array [of, count]

    Examples
    --------
    >>> import gaslab as gl, numpy as np
    >>> documents = np.array([[0.9, 0.1], [0.1, 0.9], [0.8, 0.2]])
    >>> rows, distances = gl.topics.nearest(documents, of=[0], count=2)
    >>> rows.tolist(), distances.round(3).tolist()
    ([[2, 1]], [[0.12, 0.729]])

    References
    ----------
    Endres, Schindelin: A new metric for probability distributions. IEEE Transactions on Information Theory,
    2003.
    """
    table = _table("distributions", distributions)
    own = _places(of, len(table))
    found = distances(table, own, measure)
    found[np.arange(own.size), own] = np.inf
    order = np.argsort(found, axis=1, kind="stable")[
        :, : min(arguments.whole("count", count, 1), len(table) - 1)
    ]
    return order, np.take_along_axis(found, order, axis=1)


def _places(of: np.ndarray | None, count: int) -> np.ndarray:
    """Return the rows that ``of=`` means of *count*; UsageError where there is no such row."""
    if of is None:
        return np.arange(count)
    places = np.asarray(of)
    if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
        raise arguments.wrong("of", of, "a list of rows is needed, which are whole numbers")
    bad = places[(places < 0) | (places >= count)]
    if bad.size:
        raise arguments.wrong("of", of, f"the rows are 0 to {count - 1}, and {bad[0]} is none of them")
    return places.astype(np.int64)


def _jensen_shannon(own: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the square roots of divergences in bits: entropy of the mean less mean of the entropies."""
    entropy, own_entropy = _entropy(rows), _entropy(own)
    found = np.empty((len(own), len(rows)))
    step = max(1, BLOCK // rows.shape[1])
    for lo in range(0, len(rows), step):
        part = rows[lo : lo + step]
        for k, one in enumerate(own):
            found[k, lo : lo + step] = _entropy((part + one) / 2)
    found -= (own_entropy[:, None] + entropy) / 2
    return np.sqrt(np.clip(found, 0.0, 1.0))


def _entropy(rows: np.ndarray) -> np.ndarray:
    """Return the entropy of each row in bits."""
    log = np.log2(rows, out=np.zeros_like(rows), where=rows > 0)
    found: np.ndarray = -np.einsum("ij,ij->i", rows, log)
    return found


def _hellinger(own: np.ndarray, rows: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.sqrt(np.clip(1.0 - np.sqrt(own) @ np.sqrt(rows).T, 0.0, 1.0))
    return found


MEASURES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "jensen-shannon": _jensen_shannon,
    "hellinger": _hellinger,
}


def _table(name: str, values: np.ndarray) -> np.ndarray:
    """Return probabilities as a float64 table; UsageError where they are none."""
    table = np.asarray(values, np.float64)
    if table.ndim != 2 or table.size == 0:
        raise UsageError(f"{name}= needs probabilities, an array with two axes, not of shape {table.shape}")
    if not (table.min() >= 0 and np.isfinite(table.max())):
        raise UsageError(f"{name}= has a value that is not a probability: {table.min():g} to {table.max():g}")
    return table
