"""Coherence of topics: whether their top words are in the same documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.parallel.collective import collective
from gaslab.topics.occurrences import Occurrences, of_graph, of_matrix, of_texts

MEASURES = ("npmi", "umass", "c_v")
WINDOW = 110  # words, of C_v
TINY = 1e-12  # added to the probability of a pair: the logarithm of 0 is none


@collective(exempt=("corpus",))
def coherence(corpus: Any, top: Any, *, measure: str = "npmi", window: int | None = None) -> np.ndarray:
    """Return the coherence of each topic from its top words (collective if *corpus* is a graph).

    Parameters
    ----------
    corpus : Graph, SciPy sparse or 2-D array, or sequence of str
        A graph of documents and words, counts with a row for each document, or texts, split into words as
        `gaslab.read_corpus` splits a file. Only whether a word is in a document matters, not its count.
    top : array [topics, count]
        Top words, best first: positions of words, which for a graph are the rows of
        ``result.tables["topic_word"]``; for texts, the words themselves.
    measure : {"npmi", "umass", "c_v"}
        "npmi": normalised pointwise mutual information of two words, from -1 to 1, averaged over pairs.
        "umass": the log of (documents with both words + 1) / documents with the word that comes first in
        *top*, averaged over pairs; 0 at best, or slightly above. "c_v": the NPMI values of a word with the
        top words form a vector; the cosine between it and the sum of all words' vectors, averaged over words.
    window : int, optional
        With texts: the number of consecutive words that count as a document, in place of a whole text; the
        window moves by one word. 110 for "c_v".

    Returns
    -------
    float64 array [topics]
        Larger is better. Pairs with a word that is in no document are left out; nan if no pair is left.

    Raises
    ------
    UsageError
        "c_v" or *window* is given without texts, which alone have a word order; a word is beyond the corpus;
        positions of words are given with texts.

    Examples
    --------
    >>> import gaslab as gl
    >>> talks = ["cat and dog", "a dog, a cat", "bank or bond", "bond"]
    >>> gl.topics.coherence(talks, [["cat", "dog"], ["bank", "bond"], ["cat", "bank"]]).round(2)
    array([ 1.  ,  0.5 , -0.92])

    References
    ----------
    Mimno, Wallach, Talley, Leenders, McCallum: Optimizing Semantic Coherence in Topic Models. EMNLP 2011.
    Röder, Both, Hinneburg: Exploring the Space of Topic Coherence Measures. WSDM 2015, whose 1e-12 is added
    to the probability of a pair.
    """
    arguments.choice("measure", measure, MEASURES)
    window = arguments.whole("window", window, 1, optional=True)
    words = np.asarray(top)
    if words.ndim != 2 or words.size == 0:
        raise UsageError("top= needs the top words of each topic, an array [topics, count]")
    found = _count(corpus, words, measure, window)
    return {"npmi": _npmi_mean, "umass": _umass, "c_v": _c_v}[measure](found)


def _count(corpus: Any, top: np.ndarray, measure: str, window: int | None) -> Occurrences:
    if isinstance(corpus, (list, tuple)) and all(isinstance(text, str) for text in corpus):
        if not all(isinstance(word, str) for word in top.flat):
            raise UsageError(
                "top= needs the words themselves with texts, str; positions are for a corpus or a matrix"
            )
        return of_texts(corpus, top, WINDOW if window is None and measure == "c_v" else window)
    if measure == "c_v" or window is not None:
        asked = "measure='c_v'" if measure == "c_v" else f"window={window}"
        raise UsageError(
            f"{asked} needs the order of words, which counts by document do not have; pass the texts, a list "
            "of str, or take measure='npmi' or 'umass'"
        )
    if top.dtype.kind not in "iu":
        raise UsageError("top= needs positions of words, integers; words themselves are for texts")
    return (of_graph if isinstance(corpus, Graph) else of_matrix)(corpus, top)


def _npmi(found: Occurrences) -> np.ndarray:
    """Return the NPMI of all pairs [topics, count, count]; nan where no document has one of the words."""
    pair = found.together / max(found.total, 1)
    alone = np.diagonal(pair, axis1=1, axis2=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        product = alone[:, :, None] * alone[:, None, :]
        value = np.log((pair + TINY) / product) / -np.log(pair + TINY)
    value[pair >= 1.0] = 0.0  # words that all documents have say nothing of each other
    value[product == 0.0] = np.nan
    return value


def _npmi_mean(found: Occurrences) -> np.ndarray:
    value = _npmi(found)
    first, later = np.triu_indices(value.shape[1], 1)
    return _mean(value[:, first, later])


def _umass(found: Occurrences) -> np.ndarray:
    first, later = np.triu_indices(found.together.shape[1], 1)
    alone = np.diagonal(found.together, axis1=1, axis2=2)
    both = (alone[:, first] > 0) & (alone[:, later] > 0)
    with np.errstate(divide="ignore"):
        value = np.log((found.together[:, first, later] + 1) / alone[:, first])
    return _mean(np.where(both, value, np.nan))


def _c_v(found: Occurrences) -> np.ndarray:
    value = _npmi(found)
    vectors = np.nan_to_num(value)
    total = vectors.sum(axis=1, keepdims=True)
    lengths = np.linalg.norm(vectors, axis=2) * np.linalg.norm(total, axis=2)
    with np.errstate(invalid="ignore"):
        cosine = (vectors * total).sum(axis=2) / np.where(lengths > 0, lengths, np.nan)
    known = ~np.isnan(np.diagonal(value, axis1=1, axis2=2))
    return np.where(known.sum(axis=1) > 1, _mean(cosine), np.nan)  # one word alone has no pair


def _mean(values: np.ndarray) -> np.ndarray:
    """Return the mean of what is not nan in each row; nan where all is."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
