"""Topics of new documents beside tomotopy's `infer`, in turn: documents a CPU-second, and what they predict.

    python -m benchmarks foldin --data DIR

Both learn from the same nine tenths of the documents (`quality.halve`) and are given the first halves of the
others; the log-likelihood of a token of the second halves by the mixtures that each finds, and by its own
topics, says how good they are. tomotopy samples a document's topics, 100 sweeps by default, and
its answer is the last of them. Ours includes making the table, not reading the corpus.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse

import gaslab as gl
from common import data_file, installed, parser, row
from quality import Halves, halve
from topics import ALPHA, BETA, DOCSTRINGS, KOS, read


def predicted(halves: Halves, mixes: np.ndarray, topics: np.ndarray) -> float:
    """Return the mean log-likelihood of a token of the second halves; *topics* is (words, topics)."""
    second = halves.second.tocoo()
    return float(
        second.data @ np.log((mixes[second.row] * topics[second.col]).sum(axis=1)) / second.data.sum()
    )


def ours(halves: Halves, topics: int, sweeps: int, threads: int, repeats: int) -> tuple[float, float]:
    """Return CPU-seconds and what is predicted."""
    made = gl.LDA(topics, doc_topic_prior=ALPHA, topic_word_prior=BETA, max_iter=sweeps, random_state=1)
    model = made.set_params(threads=threads).fit(halves.train).model_
    new = gl.corpus_from(halves.first)
    seconds = []
    for _ in range(repeats):
        began = time.process_time()
        mixes = model.transform(new, threads=threads)["probability"]
        seconds.append(time.process_time() - began)
    return min(seconds), predicted(halves, mixes, model.topic_word)


def tomotopy(halves: Halves, topics: int, sweeps: int, steps: int, repeats: int) -> tuple[float, float]:
    import tomotopy as peer

    def words(counts: scipy.sparse.csr_matrix, document: int) -> list[str]:
        low, high = counts.indptr[document : document + 2]
        return [str(word) for word in np.repeat(counts.indices[low:high], counts.data[low:high])]

    model = peer.LDAModel(k=topics, alpha=ALPHA, eta=BETA, seed=1)
    model.optim_interval = 0
    for document in range(halves.train.shape[0]):
        model.add_doc(words(halves.train, document))
    model.train(sweeps, workers=1)
    seconds = []
    for _ in range(repeats):
        new = [model.make_doc(words(halves.first, document)) for document in range(halves.first.shape[0])]
        began = time.process_time()
        mixes, _ = model.infer(new, iterations=steps, workers=1)
        seconds.append(time.process_time() - began)
    found = np.zeros((halves.train.shape[1], topics))
    known = [int(word) for word in model.used_vocabs]
    found[known] = np.stack([model.get_topic_word_dist(k) for k in range(topics)], axis=1)
    return min(seconds), predicted(halves, np.array(mixes), found)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--topics", type=int, default=100)
    arguments.add_argument("--sweeps", type=int, default=100, help="of learning (default 100)")
    options = arguments.parse_args()
    heads = ["corpus", "system", "documents a CPU-second", "log-likelihood per token"]
    print(f"{row(*heads)}\n{row(*['---'] * len(heads))}")
    for name, path in (("kos", data_file(options.data, KOS)), ("docstrings", DOCSTRINGS)):
        if path is None:
            continue
        halves = halve(read(path), 1)
        size = (options.topics, options.sweeps)
        found = {"gaslab": ours(halves, *size, options.threads, options.repeats)}
        if installed("tomotopy"):
            for steps in (10, 100):
                found[f"tomotopy, {steps} sweeps"] = tomotopy(halves, *size, steps, options.repeats)
        for system, (seconds, score) in found.items():
            print(row(name, system, f"{halves.first.shape[0] / seconds:,.0f}", f"{score:.3f}"), flush=True)


if __name__ == "__main__":
    main()
