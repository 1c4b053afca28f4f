"""LDA annealed, as by default, and not, on many kinds of corpora: the likelihood of held-out documents.

    python -m benchmarks annealing --data DIR
    python benchmarks/annealing.py --seeds 10 --sweeps 80 160 --only few zipf

The generated corpora have topics of few or many words, evenly likely or by Zipf's law, and short or long
documents; they are learned with as many topics as they have, fewer, and more. A seed draws the split and
the chain. `quality.completion` judges both. Printed are the means over the seeds, and the mean difference
with its standard error: chains end at different topics, so the difference of one seed means little.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse

import gaslab as gl
from common import data_file, parser, row
from quality import completion, halve, tokens
from topics import ALPHA, BETA, DOCSTRINGS, KOS, read

Counts = scipy.sparse.csr_matrix


def drawn(
    documents: int, length: int, words: int, topics: int, of_words: float, of_topics: float = 0.1,
    zipf: bool = False,
) -> Counts:  # fmt: skip
    """Return documents of topics that are drawn by Dirichlet's law; *of_words* is the prior of each word."""
    rng = np.random.default_rng(0)
    rank = 1.0 / np.arange(1, words + 1)
    prior = rank / rank.sum() * words * of_words if zipf else np.full(words, of_words)
    phi = rng.dirichlet(np.maximum(prior, 1e-3), topics)
    mixes = rng.dirichlet(np.full(topics, of_topics), documents) @ phi
    return scipy.sparse.csr_matrix([rng.multinomial(length, mix / mix.sum()) for mix in mixes])


# The documents, and how many topics are learned of them.
CORPORA: dict[str, tuple[Callable[[], Counts], int]] = {
    "sharp": (lambda: drawn(1000, 100, 2000, 20, 0.01), 20),
    "sharper": (lambda: drawn(3000, 100, 4000, 40, 0.005), 40),
    "few": (lambda: drawn(1000, 100, 2000, 20, 0.02, of_topics=0.02), 20),  # topics in a document
    "broad": (lambda: drawn(800, 100, 2000, 20, 0.3), 20),
    "zipf": (lambda: drawn(1000, 100, 3000, 20, 0.1, zipf=True), 20),
    "short": (lambda: drawn(5000, 15, 2000, 20, 0.02), 20),
    "long": (lambda: drawn(200, 500, 3000, 20, 0.02), 20),
    "too-few": (lambda: drawn(1000, 100, 2000, 40, 0.01), 10),
    "too-many": (lambda: drawn(800, 100, 2000, 10, 0.02), 50),
    "docstrings": (lambda: read(DOCSTRINGS), 50),
}


def likelihood(counts: Counts, topics: int, seed: int, threads: int, **settings: object) -> float:
    """Return the log-likelihood of a held-out token under the topics of the other documents."""
    halves = halve(counts, seed)
    graph = gl.Graph.from_edges(*tokens(halves.train), bipartite=True)
    result = gl.lda(
        graph, topics=topics, doc_topic_prior=ALPHA, topic_word_prior=BETA, seed=seed, threads=threads,
        **settings,
    )  # fmt: skip
    table = result.tables["topic_word"]
    found = np.zeros((halves.train.shape[1], topics))
    found[table.ids] = table["probability"]
    return completion(halves, found, ALPHA)


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--seeds", type=int, default=6)
    made.add_argument("--sweeps", type=int, nargs="+", default=[40, 80, 160, 320])
    made.add_argument("--samplers", nargs="+", default=["gibbs", "metropolis-hastings"])
    made.add_argument("--only", nargs="+", choices=[*CORPORA, "kos"], default=[*CORPORA, "kos"])
    options = made.parse_args()
    corpora = dict(CORPORA)
    if "kos" in options.only and (path := data_file(options.data, KOS)) is not None:
        corpora["kos"] = (lambda: read(path), 50)
    print(row("corpus", "sampler", "sweeps", "annealed", "not", "difference", "its standard error"))
    print(row(*["---"] * 7))
    for name in (name for name in corpora if name in options.only):
        make, topics = corpora[name]
        counts = make()
        for sampler in options.samplers:
            for sweeps in options.sweeps:
                how = {"iterations": sweeps, "evaluate_every": sweeps, "sampler": sampler}
                pairs = np.array([
                    [likelihood(counts, topics, seed, options.threads, **how, **schedule)
                     for schedule in ({}, {"anneal_sweeps": 0})]
                    for seed in range(1, options.seeds + 1)
                ])  # fmt: skip
                apart = pairs[:, 0] - pairs[:, 1]
                error = apart.std(ddof=1) / np.sqrt(apart.size) if apart.size > 1 else np.nan
                means = (*pairs.mean(axis=0), apart.mean(), error)
                print(row(name, sampler, sweeps, *(f"{x:.3f}" for x in means)), flush=True)


if __name__ == "__main__":
    main()
