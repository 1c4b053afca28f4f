"""`LDA`: topics by scikit-learn's interface of estimators, which is needed for it and for nothing else."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

import gaslab as gl
from gaslab import arguments
from gaslab.errors import UsageError, warn_user
from gaslab.parallel import launch
from gaslab.parallel.collective import agree
from gaslab.parallel.comm import Comm, as_comm
from gaslab.topics.documents import Documents
from gaslab.topics.foldin import ITERATIONS, Laid
from gaslab.topics.increment import counted
from gaslab.topics.model import TopicModel

ROUNDS = 3  # of the tokens of a call of `LDA.partial_fit`
MOST_TOKENS = (1 << 31) - 1  # of a word in a document
LISTED = 5  # names of columns in an error


def _check_names(X: Any) -> None:
    """Raise UsageError where two columns of a data frame have one name; what scikit-learn says is obscure."""
    times = Counter(getattr(X, "columns", ()))
    twice = [name for name, count in times.items() if count > 1]
    if twice:
        named = ", ".join([*map(repr, twice[:LISTED]), *["..."] * (len(twice) > LISTED)])
        raise UsageError(
            f"several columns of X are named {named}; each is a word: add up those of one name or rename them"
        )


class _Absent:
    """What `LDA` is where there is no scikit-learn."""

    def __new__(cls, *_: Any, **__: Any) -> Any:
        raise UsageError(
            "gl.LDA needs scikit-learn 1.6 or newer: pip install scikit-learn; gl.lda and gl.TopicModel do "
            "without it"
        )


if TYPE_CHECKING:
    BASES: Any = object
    check_is_fitted: Any
    check_random_state: Any
    validate_data: Any
else:
    try:
        from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
        from sklearn.utils import check_random_state
        from sklearn.utils.validation import check_is_fitted, validate_data

        BASES = (ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator)
    except ImportError:
        BASES = (_Absent,)


class LDA(*BASES):  # type: ignore[misc]
    """Latent Dirichlet allocation as a scikit-learn estimator.

    It runs `gaslab.lda`. On several ranks, the methods are collective.

    Parameters
    ----------
    n_components : int
        Number of topics.
    doc_topic_prior : float or array of shape (n_components,)
        Dirichlet prior of each topic in a document: one for all, or one for each.
    topic_word_prior : float
        Dirichlet prior of each word in a topic.
    max_iter : int
        Number of sweeps over all tokens.
    sampler : str
        As for `gaslab.lda`.
    anneal_sweeps : int, optional
        As for `gaslab.lda`; by default half of the sweeps.
    random_state : int, RandomState or None
    threads : int, optional
        Threads per rank.
    rows : {"same", "parts"}
        Whether every rank passes the same documents and gets the answer for all of them, or each rank its
        own.
    comm : Comm or mpi4py communicator, optional
        The ranks; all of them by default.

    Attributes
    ----------
    components_ : float64 array of shape (n_components, n_features)
        Token counts of each word in each topic, plus the prior; a row divided by its sum is the topic.
    model_ : TopicModel
        The fitted model, which can be saved; its words are the feature names, or else their numbers.
    n_iter_, n_features_in_ : int
    feature_names_in_ : array of str, if the data have names

    Raises
    ------
    UsageError
        scikit-learn is not installed.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> import gaslab as gl
    >>> texts = ["cat dog cat", "dog cat dog", "bond bank bank", "bank bond"]
    >>> model = gl.LDA(n_components=2, max_iter=30, random_state=1, threads=1)
    >>> topics = make_pipeline(CountVectorizer(), model)
    >>> mixes = topics.fit_transform(texts)
    >>> (mixes[:, 0] > 0.5).tolist() in ([True, True, False, False], [False, False, True, True])
    True

    References
    ----------
    Blei, Ng, Jordan: Latent Dirichlet Allocation. JMLR 2003.
    """

    def __init__(
        self,
        n_components: int = 20,
        *,
        doc_topic_prior: Any = 0.1,
        topic_word_prior: float = 0.01,
        max_iter: int = 200,
        sampler: str = "auto",
        anneal_sweeps: int | None = None,
        random_state: Any = None,
        threads: int | None = None,
        rows: str = "same",
        comm: Any = None,
    ) -> None:
        self.n_components = n_components
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.max_iter = max_iter
        self.sampler = sampler
        self.anneal_sweeps = anneal_sweeps
        self.random_state = random_state
        self.threads = threads
        self.rows = rows
        self.comm = comm

    def fit(self, X: Any, y: Any = None) -> LDA:
        """Fit topics to documents.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (documents, words)
            How often each word is in each document. Fractional counts are rounded, with one warning.
        y : ignored
        """
        return self._learn(self._counts(X, "fit", reset=True))

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit topics to documents, and return the documents transformed as by `transform`."""
        counts = self._counts(X, "fit_transform", reset=True)
        return self._learn(counts)._transformed(counts)

    def partial_fit(self, X: Any, y: Any = None) -> LDA:
        """Update the model with further documents: only their tokens are sampled, and word counts add up.

        The first call is `fit`. In later calls each token of *X* is drawn three times, given the topics of
        all documents so far and of the other tokens of *X*. The number of topics and the priors stay those of
        the first call; changing them raises UsageError.
        """
        first = not hasattr(self, "model_")
        counts = self._counts(X, "partial_fit", reset=first)
        if first:
            return self._learn(counts)
        comm = as_comm(self.comm)
        comm.attempt(self._check_unchanged)
        total, documents = self._shared(counts, comm, before=self._documents)
        counts = counted(
            self.model_, documents, comm, rounds=ROUNDS, seed=self._seed(comm), threads=self._threads(comm)
        )  # fmt: skip
        return self._keep(self.model_.recounted(counts), self._documents + total)

    def transform(self, X: Any) -> np.ndarray:
        """Return the topics of documents, float64 of shape (documents, n_components); each row sums to 1.

        As `TopicModel.transform`: a document's row depends only on the document.
        """
        check_is_fitted(self)
        return self._transformed(self._counts(X, "transform"))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the log-likelihood (base e) of documents under their mixtures from `transform`.

        The mixtures are inferred from the same tokens that are scored; for a score on separate tokens see
        `gaslab.topics.holdout.hold_out`.
        """
        return self._score(X)[0]

    def perplexity(self, X: Any) -> float:
        """Return the per-token perplexity: exp(-score / tokens)."""
        likelihood, tokens = self._score(X)
        return math.exp(-likelihood / max(tokens, 1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def _learn(self, counts: Any) -> LDA:
        comm = as_comm(self.comm)
        topics = arguments.whole("n_components", self.n_components, 1)
        iterations = arguments.whole("max_iter", self.max_iter, 1)
        # The ranks have compared rows that are the same: each passes its part of them.
        corpus = gl.corpus_from(counts[self._own(counts, comm)], rows="parts", comm=comm)
        result = gl.lda(
            corpus, topics=topics, doc_topic_prior=self.doc_topic_prior,
            topic_word_prior=self.topic_word_prior, iterations=iterations, sampler=self.sampler,
            anneal_sweeps=self.anneal_sweeps,
            seed=self._seed(comm), threads=self.threads,
        )  # fmt: skip
        model = TopicModel.of(corpus, result)
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            model = model.recounted(model.counts, [str(name) for name in names])
        return self._keep(model, corpus.num_left or 0)

    def _check_unchanged(self) -> None:
        """Raise UsageError where the number of topics or a prior is not that of the model."""
        model = self.model_
        for name, known in (
            ("n_components", model.num_topics),
            ("doc_topic_prior", model.doc_topic_prior),
            ("topic_word_prior", model.topic_word_prior),
        ):
            value = getattr(self, name)
            if np.shape(value) not in ((), np.shape(known)) or not np.all(np.asarray(value) == known):
                has = arguments.shown(np.asarray(known).tolist())
                raise arguments.wrong(
                    name, value, f"the model, with which partial_fit goes on, has {has}; fit() begins anew"
                )

    def _keep(self, model: TopicModel, documents: int) -> LDA:
        self.model_, self._documents, self.n_iter_ = model, documents, model.iterations
        self.components_ = np.ascontiguousarray((model.counts + model.topic_word_prior).T)
        return self

    def _counts(self, X: Any, method: str, reset: bool = False) -> Any:
        """Return the X of a method as a sparse matrix of whole numbers, checked by all ranks (collective).

        Ranks with parts may have none of the documents, but not all ranks.
        """
        from scipy.sparse import csr_array

        arguments.choice("rows", self.rows, arguments.ROWS[:2])
        comm = as_comm(self.comm)
        least = int(self.rows == "same" or comm.size == 1)

        def checked() -> Any:
            _check_names(X)
            none = not least and getattr(X, "shape", (1,))[:1] == (0,)  # of which there is no least count
            found = validate_data(
                self, X, accept_sparse="csr", reset=reset, ensure_non_negative=not none,
                ensure_min_samples=least,
            )  # fmt: skip
            found = csr_array(found, copy=True)
            found.sum_duplicates()
            if found.nnz and found.data.max() > MOST_TOKENS:
                raise UsageError(f"a count is {found.data.max()}; counts are at most {MOST_TOKENS}")
            return found

        counts = comm.attempt(checked)
        compared = {"comm": comm, "rows": self.rows, "the number of words": counts.shape[1]}
        if self.rows == "same":
            compared["X"] = (counts.shape, counts.indptr, counts.indices, counts.data)
        agree(f"LDA.{method}", compared, {"comm"})
        if not least and not comm.allreduce(counts.shape[0]):
            raise UsageError("no rank has a document")
        whole = np.rint(counts.data).astype(np.int64)
        broken = int(np.count_nonzero(whole != counts.data))
        broken = broken if self.rows == "same" else int(comm.allreduce(broken))
        if broken:
            warn_user(f"{broken:,} counts are not whole numbers and are rounded", UserWarning, comm.rank)
        counts = csr_array((whole, counts.indices, counts.indptr), shape=counts.shape)
        counts.eliminate_zeros()
        return counts

    def _own(self, counts: Any, comm: Comm) -> slice:
        """Return which rows of the counts are this rank's."""
        if self.rows == "parts" or comm.size == 1:
            return slice(None)
        total = counts.shape[0]
        return slice(total * comm.rank // comm.size, total * (comm.rank + 1) // comm.size)

    def _shared(self, counts: Any, comm: Comm, before: int = 0) -> tuple[int, Documents]:
        """Return the number of all documents, and those of this rank, numbered from *before* (collective)."""
        part = counts[self._own(counts, comm)]
        heights = comm.allgather(part.shape[0])
        first, total = before + sum(heights[: comm.rank]), sum(heights)
        number = np.arange(first, first + part.shape[0])
        arrays = (part.indptr.astype(np.int64), part.indices.astype(np.int64), part.data)
        return total, Documents(number, *arrays)

    def _mixtures(self, counts: Any, comm: Comm) -> tuple[Laid, np.ndarray]:
        """Return this rank's documents and their mixtures (collective)."""
        _, documents = self._shared(counts, comm)
        laid = Laid.out(self.model_, documents, documents.word)
        return laid, laid.mixtures(ITERATIONS, self._threads(comm))

    def _transformed(self, counts: Any) -> np.ndarray:
        """Return the topics of counts that all ranks have checked (collective)."""
        comm = as_comm(self.comm)
        laid, mixes = self._mixtures(counts, comm)
        mixes = np.ascontiguousarray(mixes[:, : laid.topics])
        if self.rows == "same" and comm.size > 1:
            mixes = np.concatenate(comm.allgather_array(mixes.reshape(-1))).reshape(-1, laid.topics)
        return mixes

    def _score(self, X: Any) -> tuple[float, int]:
        """Return the log-likelihood of all ranks' documents, and their tokens (collective)."""
        check_is_fitted(self)
        comm = as_comm(self.comm)
        laid, mixes = self._mixtures(self._counts(X, "score"), comm)
        every = np.concatenate(comm.allgather_array(laid.likelihood(mixes, self._threads(comm))))
        return float(every.sum()), int(comm.allreduce(laid.documents.tokens))  # in one order on any ranks

    def _seed(self, comm: Comm) -> int:
        """Return the seed that random_state gives, that of rank 0 (collective)."""
        state = self.random_state
        seed: int = comm.on_root(lambda: int(check_random_state(state).randint((1 << 31) - 1)))
        return seed

    def _threads(self, comm: Comm) -> int:
        return launch.choose_threads(arguments.threads(self.threads), comm.local_ranks, comm.rank)
