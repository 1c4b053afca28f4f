"""Topics beside tomotopy's: held-out quality of LDA, CPU-seconds, and the whole command, in turn.

    python -m benchmarks topics --data DIR
    python benchmarks/topics.py --only generated docstrings

tomotopy samples by exact collapsed Gibbs, on one thread, and leaves alpha and beta as they are, as we do.
Both learn from the same documents with the same alpha, beta and number of sweeps, and both are measured
by `quality.completion`; CPU-seconds are those of learning. A seed draws the split and the chain. The corpora:
KOS (docword.kos.txt of the UCI collection, looked for below the folder --data), the docstrings of
datasets/, and documents generated from known topics, where the mean cosine of found and known topics is
shown.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse

import gaslab as gl
from common import data_file, installed, launcher, opened, parser, row, spread, timed
from quality import best_match, completion, halve, tokens

ALPHA, BETA = 0.1, 0.01
DATASETS = Path(__file__).resolve().parent.parent / "datasets"
DOCSTRINGS = DATASETS / "docword.stdlib-docstrings.txt.gz"
VOCABULARY = DATASETS / "vocab.stdlib-docstrings.txt"
KOS = "docword.kos.txt"
CORPORA = ["kos", "docstrings", "generated", "command"]
GAP, COSINE, SECONDS = 0.07, 0.95, 5.0  # to reach
KNOWN, WORDS, LENGTH = 10, 1000, 100  # topics, words, and tokens of a document, of the generated corpus

Learned = tuple[np.ndarray, float]  # topics of shape (words, topics), CPU-seconds
Learner = Callable[[scipy.sparse.csr_matrix, int, int, int], Learned]  # of counts, topics, sweeps and seed


def read(path: Path) -> scipy.sparse.csr_matrix:
    """Return the counts of a bag-of-words file of the UCI collection."""
    with opened(path) as file:
        documents, words, _ = (int(file.readline()) for _ in range(3))
        document, word, count = np.loadtxt(file, dtype=np.int64).T
    return scipy.sparse.csr_matrix((count, (document - 1, word - 1)), shape=(documents, words))


def generated(documents: int) -> tuple[scipy.sparse.csr_matrix, np.ndarray]:
    """Return documents drawn from known topics, and these, of shape (words, topics)."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(WORDS, 0.05), KNOWN)
    mixes = rng.dirichlet(np.full(KNOWN, ALPHA), documents)
    counts = np.stack([rng.multinomial(LENGTH, mix @ topics) for mix in mixes])
    return scipy.sparse.csr_matrix(counts), topics.T


def ours(threads: int) -> Learner:
    """Return how gaslab learns."""

    def learn(counts: scipy.sparse.csr_matrix, topics: int, sweeps: int, seed: int) -> Learned:
        graph = gl.Graph.from_edges(*tokens(counts), bipartite=True)
        result = gl.lda(
            graph,
            topics=topics,
            doc_topic_prior=ALPHA,
            topic_word_prior=BETA,
            iterations=sweeps,
            seed=seed,
            threads=threads,
        )
        found = np.full((counts.shape[1], topics), 0.0)
        found[result.tables["topic_word"].ids] = result.tables["topic_word"]["probability"]
        return found, result.metrics["figures"]["cpu_seconds"]

    return learn


def tomotopy(counts: scipy.sparse.csr_matrix, topics: int, sweeps: int, seed: int) -> Learned:
    import tomotopy

    model = tomotopy.LDAModel(k=topics, alpha=ALPHA, eta=BETA, seed=seed)
    model.optim_interval = 0  # alpha stays
    for low, high in zip(counts.indptr, counts.indptr[1:], strict=False):
        words = np.repeat(counts.indices[low:high], counts.data[low:high])
        model.add_doc([str(word) for word in words])
    began = time.process_time()
    model.train(sweeps, workers=1)
    seconds = time.process_time() - began
    found = np.zeros((counts.shape[1], topics))
    found[[int(word) for word in model.used_vocabs]] = np.stack(
        [model.get_topic_word_dist(k) for k in range(topics)], axis=1
    )
    return found, seconds


@dataclass
class Corpus:
    """Documents that systems learn from, and what is measured of each."""

    name: str
    counts: scipy.sparse.csr_matrix
    topics: int
    known: np.ndarray | None = None  # the topics that the documents are drawn from

    @property
    def figure(self) -> str:
        return "log-likelihood per token" if self.known is None else "cosine"

    def measure(self, learn: Learner, sweeps: int, seed: int) -> tuple[float, float]:
        """Return the figure and CPU-seconds of a system."""
        if self.known is not None:
            found, seconds = learn(self.counts, self.topics, sweeps, seed)
            return best_match(found, self.known), seconds
        halves = halve(self.counts, seed)
        found, seconds = learn(halves.train, self.topics, sweeps, seed)
        return completion(halves, found, ALPHA), seconds


def corpora(options: argparse.Namespace) -> Iterator[Corpus]:
    """Return the corpora that are asked for and there."""
    for name in options.only:
        if name == "generated":
            counts, known = generated(options.documents)
            yield Corpus(name, counts, KNOWN, known)
        elif name != "command":
            path = DOCSTRINGS if name == "docstrings" else data_file(options.data, KOS)
            if path is not None:
                yield Corpus(f"{name}, {options.topics} topics", read(path), options.topics)


def compare(corpus: Corpus, learners: dict[str, Learner], sweeps: int, seeds: int) -> None:
    """Print a row for each system, and one of their difference by seed."""
    found: dict[str, list[tuple[float, float]]] = {system: [] for system in learners}
    for seed in range(1, seeds + 1):  # tomotopy takes 0 for any seed
        for system, learn in learners.items():
            found[system].append(corpus.measure(learn, sweeps, seed))
    for system, pairs in found.items():
        figures, seconds = zip(*pairs, strict=True)
        print(row(corpus.name, system, sweeps, corpus.figure, spread(figures), f"{min(seconds):.2f}"))
    if len(found) > 1:
        apart = [a - b for (a, _), (b, _) in zip(*found.values(), strict=True)]
        print(row(corpus.name, " - ".join(found), sweeps, corpus.figure, spread(apart), ""), flush=True)


def command(topics: int, sweeps: int, repeats: int) -> None:
    """Print wall and CPU seconds of ``gaslab lda`` on the docstrings, with 2 ranks."""
    whole = [*launcher(2), sys.executable, "-m", "gaslab", "lda", str(DOCSTRINGS)]
    whole += ["--vocabulary", str(VOCABULARY), "--quiet"]
    whole += ["--topics", str(topics), "--iterations", str(sweeps)]
    wall, cpu = [], []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall.append(timed(lambda: subprocess.run(whole, check=True, stdout=subprocess.DEVNULL)))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(
        f"\nmpiexec -n 2 gaslab lda, docstrings, {topics} topics, {sweeps} sweeps: min {min(wall):.2f} s   "
        f"max {max(wall):.2f} (to reach: {SECONDS} s)   CPU-seconds min {min(cpu):.2f}"
    )


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--only", nargs="+", choices=CORPORA, default=CORPORA)
    arguments.add_argument("--topics", type=int, default=100)
    arguments.add_argument("--sweeps", type=int, nargs="+", default=[100, 400])
    arguments.add_argument("--seeds", type=int, default=3, help="of splits and chains (default 3)")
    arguments.add_argument("--documents", type=int, default=1000, help="that are generated (default 1000)")
    options = arguments.parse_args()
    learners: dict[str, Learner] = {"gaslab": ours(options.threads)}
    if installed("tomotopy"):
        learners["tomotopy"] = tomotopy
    print(
        f"alpha {ALPHA}, beta {BETA}; {options.threads} threads; "
        f"load of the machine {os.getloadavg()[0]:.1f}\n"
        f"to reach: at most {GAP} below tomotopy on KOS (100 topics, 400 sweeps); "
        f"cosine {COSINE} (generated)\n"
    )
    heads = ["corpus", "system", "sweeps", "figure", "mean (least to greatest)", "CPU-seconds, least"]
    for place, corpus in enumerate(corpora(options)):
        if place == 0:
            print(f"{row(*heads)}\n{row(*['---'] * len(heads))}")
        for sweeps in options.sweeps:
            compare(corpus, learners, sweeps, options.seeds)
    if "command" in options.only:
        command(20, 200, options.repeats)


if __name__ == "__main__":
    main()
