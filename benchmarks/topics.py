"""Topics beside tomotopy's: held-out quality of LDA, speed of sweeps, and the whole command, in turn.

    python -m benchmarks topics --data DIR
    python benchmarks/topics.py --only generated docstrings

tomotopy samples by exact collapsed Gibbs, on one thread, and leaves alpha and beta as they are, as we do.
Both learn from the same documents with the same alpha, beta and number of sweeps, and both are measured
by `quality.completion`; CPU-seconds are those of learning. A seed draws the split and the chain. The corpora:
KOS (docword.kos.txt of the UCI collection, looked for below the folder --data), the docstrings of
datasets/, and documents generated from known topics, where the mean cosine of found and known topics is
shown. ``reach`` is the CPU-seconds until KOS is predicted nearly as well as by tomotopy after many sweeps;
``speed`` the tokens by CPU-second of sweeps between evaluations, over documents of words by Zipf's law.
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
from gaslab.programs._samplers import SAMPLERS
from quality import bag, best_match, completion, halve, tokens

ALPHA, BETA = 0.1, 0.01
DATASETS = Path(__file__).resolve().parent.parent / "datasets"
DOCSTRINGS = DATASETS / "docword.stdlib-docstrings.txt.gz"
VOCABULARY = DATASETS / "vocab.stdlib-docstrings.txt"
KOS = "docword.kos.txt"
CORPORA = ["kos", "docstrings", "generated"]
PARTS = [*CORPORA, "reach", "speed", "command"]
GAP, COSINE, SECONDS = 0.07, 0.95, 5.0  # to reach
KNOWN, WORDS, LENGTH = 10, 1000, 100  # topics, words, and tokens of a document, of the generated corpus
CHAINS = (25, 50, 100, 200, 400, 800)  # sweeps that are tried to come within BELOW of the last of tomotopy's
BELOW = 0.02
LARGE, SHORT, LONG = 30_000, 150, 250  # words, and tokens of a document, where speed is measured
SPEEDS = {20: 30, 100: 20, 1000: 24}  # topics, and the sweeps that are timed

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


def by_zipf(documents: int) -> scipy.sparse.csr_matrix:
    """Return documents of words drawn by Zipf's law alone."""
    rng = np.random.default_rng(0)
    document = np.repeat(np.arange(documents), rng.integers(SHORT, LONG + 1, documents))
    weight = 1.0 / np.arange(1, LARGE + 1)
    return bag(document, rng.choice(LARGE, document.size, p=weight / weight.sum()), (documents, LARGE))


def ours(threads: int, sampler: str) -> Learner:
    """Return how gaslab learns."""

    def learn(counts: scipy.sparse.csr_matrix, topics: int, sweeps: int, seed: int) -> Learned:
        graph = gl.Graph.from_edges(*tokens(counts), bipartite=True)
        result = gl.lda(
            graph, topics=topics, doc_topic_prior=ALPHA, topic_word_prior=BETA, iterations=sweeps,
            sampler=sampler, seed=seed, threads=threads, evaluate_every=sweeps,
        )  # fmt: skip
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
    for name in (name for name in options.only if name in CORPORA):
        if name == "generated":
            counts, known = generated(options.documents)
            yield Corpus(name, counts, KNOWN, known)
        else:
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
    *others, last = found
    for system in others:
        apart = [a - b for (a, _), (b, _) in zip(found[system], found[last], strict=True)]
        print(row(corpus.name, f"{system} - {last}", sweeps, corpus.figure, spread(apart), ""), flush=True)


def reach(corpus: Corpus, learners: dict[str, Learner]) -> None:
    """Print the CPU-seconds that each system takes to come near to the last one after the most sweeps."""
    *_, last = learners
    goal = corpus.measure(learners[last], CHAINS[-1], 1)[0] - BELOW
    print(f"\n{corpus.name}: CPU-seconds to {goal:.3f}, {BELOW} below {last} after {CHAINS[-1]} sweeps")
    for system, learn in learners.items():
        for sweeps in CHAINS:
            figure, seconds = corpus.measure(learn, sweeps, 1)
            if figure >= goal or sweeps == CHAINS[-1]:
                said = "" if figure >= goal else f", only {figure:.3f}"
                print(f"{system}: {seconds:.2f} in {sweeps} sweeps{said}", flush=True)
                break


def speed(documents: int, learners: dict[str, Learner], repeats: int) -> None:
    """Print the million tokens by CPU-second of each system's sweeps, the fastest of so many."""
    counts = by_zipf(documents)
    print(f"\nmillion token sweeps by CPU-second, {int(counts.sum()):,} tokens")
    for topics, sweeps in SPEEDS.items():
        for system, learn in learners.items():
            learn(counts, topics, 1, 1)  # which may compile
            short, long = (
                min(learn(counts, topics, n, 1)[1] for _ in range(repeats)) for n in (1, 1 + sweeps)
            )
            took = (long - short) / sweeps
            print(f"{topics} topics, {system}: {counts.sum() / took / 1e6:.2f}", flush=True)


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
    arguments.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    arguments.add_argument("--topics", type=int, default=100)
    arguments.add_argument("--sweeps", type=int, nargs="+", default=[100, 400])
    arguments.add_argument("--seeds", type=int, default=3, help="of splits and chains (default 3)")
    arguments.add_argument("--documents", type=int, default=1000, help="that are generated (default 1000)")
    arguments.add_argument("--large", type=int, default=5000, help="documents for speed (default 5000)")
    options = arguments.parse_args()
    learners: dict[str, Learner] = {f"gaslab {name}": ours(options.threads, name) for name in SAMPLERS}
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
    if "reach" in options.only and (path := data_file(options.data, KOS)) is not None:
        reach(Corpus(f"kos, {options.topics} topics", read(path), options.topics), learners)
    if "speed" in options.only:
        speed(options.large, learners, options.repeats)
    if "command" in options.only:
        command(20, 200, options.repeats)


if __name__ == "__main__":
    main()
