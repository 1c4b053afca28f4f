"""From a folder of texts to a topic model: the whole command on 2 ranks beside scikit-learn and tomotopy.

    python -m benchmarks texts
    python benchmarks/texts.py --folder DIR --samplers gibbs metropolis-hastings:140 gibbs:80:65

The texts are those below --folder, a document a file; without it the docstrings of the Python sources beside
this interpreter, a document a source, about --megabytes of them. One document in ten is kept apart. Both
sides leave out words in fewer than five documents. The peer counts words by scikit-learn's CountVectorizer
and samples with two workers of tomotopy, in one process; its seconds, like ours, are of the whole command.
What the models are worth is said by `quality.completion` on the documents kept apart, over the words that
both know.
"""

from __future__ import annotations

import argparse
import ast
import functools
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy.sparse

from common import in_turn, installed, launcher, parser, row, timed
from gaslab.topics.model import TopicModel
from quality import Halves, completion, parted

ALPHA, BETA, RARE = 0.1, 0.01, 5  # priors, and the documents that a word is in at least
PEER_NAME = "tomotopy"
LEAST = 20  # words of a document
PEER = """\
import sys
from pathlib import Path

import numpy as np
import tomotopy
from sklearn.feature_extraction.text import CountVectorizer

folder, topics, sweeps, alpha, beta, rare, model = sys.argv[1:]
counter = CountVectorizer(input="filename", min_df=int(rare), decode_error="replace")
counts = counter.fit_transform(sorted(Path(folder).iterdir()))
words = counter.get_feature_names_out()
found = tomotopy.LDAModel(k=int(topics), alpha=float(alpha), eta=float(beta), seed=1)
found.optim_interval = 0
for document in range(counts.shape[0]):
    low, high = counts.indptr[document : document + 2]
    if low < high:
        found.add_doc(np.repeat(words[counts.indices[low:high]], counts.data[low:high]).tolist())
found.train(int(sweeps), workers=2)
topic_word = np.stack([found.get_topic_word_dist(k) for k in range(int(topics))])
with open(model, "wb") as file:
    np.savez(file, topic_word=topic_word, words=np.array(list(found.used_vocabs)))
"""


def docstrings(most: int) -> Iterator[str]:
    """Yield the docstrings of each installed Python source, until there are *most* bytes."""
    paths = sysconfig.get_paths()
    written = 0
    sources = {path for root in ("stdlib", "platlib") for path in Path(paths[root]).rglob("*.py")}
    for source in sorted(sources):
        try:
            tree = ast.parse(source.read_bytes())
        except (SyntaxError, ValueError):  # what tests of Python's own parser keep there
            continue
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        found = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
        text = "\n".join(found).replace("\0", " ")  # which no text has
        if len(text.split()) >= LEAST:
            yield text
            written += len(text.encode(errors="replace"))
        if written >= most:
            return


def keep_apart(texts: Iterator[str], folder: Path) -> list[str]:
    """Write nine of ten *texts* to *folder*, a file each; return the others."""
    apart = []
    for number, text in enumerate(texts):
        if number % 10 == 9:
            apart.append(text)
        else:
            (folder / f"{number:06}.txt").write_text(text, encoding="utf-8", errors="replace")
    return apart


def halves(apart: list[str], words: np.ndarray) -> Halves:
    """Return the two halves of the documents that were kept apart, over *words*, which are trained on."""
    from sklearn.feature_extraction.text import CountVectorizer

    counts = CountVectorizer(vocabulary={word: number for number, word in enumerate(words)}).transform(apart)
    counts = counts[np.flatnonzero(counts.sum(axis=1) >= 2)]
    first, second = parted(counts, np.random.default_rng(1))
    return Halves(scipy.sparse.csr_matrix((0, words.size), dtype=np.int64), first, second)


def learned(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the words of a model, in their order, and its topics as a matrix (words, topics)."""
    if path.suffix == ".peer":
        with np.load(path) as peer:
            words, topics = peer["words"], peer["topic_word"].T
    else:
        model = TopicModel.load(path)
        words, topics = np.asarray(model.words, dtype=str), model.topic_word
    order = np.argsort(words)
    return words[order], topics[order]


def commands(options: argparse.Namespace, folder: Path, models: Path) -> dict[str, tuple[list[str], Path]]:
    """Return each side's command and where its model will be; the peer's is the last."""
    found = {}
    for sampler in options.samplers:
        name, sweeps, early, late = (*sampler.split(":"), "", "", "")[:4]
        model = models / f"{sampler}.npz"
        found[f"gaslab {sampler}"] = (
            [
                *launcher(2), sys.executable, "-m", "gaslab", "lda", str(folder), "--min-df", str(RARE),
                "--topics", str(options.topics), "--iterations", sweeps or str(options.sweeps),
                "--sampler", name, "--mh-sweeps", early or "0",
                "--doc-topic-prior", str(ALPHA), "--topic-word-prior", str(BETA),
                "--evaluate-every", sweeps or str(options.sweeps), "--seed", "1", "--threads", "1",
                "--save", str(model), "--force", "--quiet", *(["--burn-in", late] if late else []),
            ],
            model,
        )  # fmt: skip
    if all([installed("tomotopy"), installed("sklearn")]):
        script, model = models / "peer.py", models / "tomotopy.peer"
        script.write_text(PEER)
        sizes = [str(options.topics), str(options.sweeps)]
        priors = [str(ALPHA), str(BETA), str(RARE)]
        found[PEER_NAME] = ([sys.executable, str(script), str(folder), *sizes, *priors, str(model)], model)
    return found


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--folder", type=Path, help="of texts")
    arguments.add_argument("--megabytes", type=float, default=20.0, help="of docstrings (default 20)")
    arguments.add_argument("--topics", type=int, default=50)
    arguments.add_argument("--sweeps", type=int, default=100)
    arguments.add_argument(
        "--samplers", nargs="+", default=["gibbs", "metropolis-hastings:140", "gibbs:80:65"],
        metavar="NAME[:SWEEPS[:MH_SWEEPS[:BURN_IN]]]",
        help="ours (default: gibbs; metropolis-hastings:140, whose sweeps are worth less; gibbs:80:65, whose "
        "first 65 are of the second)",
    )  # fmt: skip
    arguments.set_defaults(repeats=3)
    options = arguments.parse_args()
    if options.folder is None:
        texts = docstrings(int(options.megabytes * 1e6))
    else:
        files = sorted(path for path in options.folder.rglob("*") if path.is_file())
        texts = (path.read_text(encoding="utf-8", errors="replace") for path in files)
    with tempfile.TemporaryDirectory() as place:
        folder, models = Path(place, "texts"), Path(place, "models")
        folder.mkdir()
        models.mkdir()
        apart = keep_apart(texts, folder)
        written = [path.stat().st_size for path in folder.iterdir()]
        print(f"{len(written)} documents of {sum(written) / 1e6:.1f} MB, {len(apart)} more kept apart\n")
        sides = commands(options, folder, models)
        timings = in_turn({name: _timed(command) for name, (command, _) in sides.items()}, options.repeats)
        known = {name: learned(model) for name, (_, model) in sides.items()}
    words = functools.reduce(np.intersect1d, [words for words, _ in known.values()])
    test = halves(apart, words)
    print(row("system", "wall s, least (median)", "÷ peer", "words", "held-out per token"))
    print(row(*["---"] * 5))
    for timing, (own, topics) in zip(timings, known.values(), strict=True):
        score = completion(test, topics[np.isin(own, words)], ALPHA)
        middle = sorted(timing.seconds)[len(timing.seconds) // 2]
        ratio = f"{timing.best / timings[-1].best:.2f}" if PEER_NAME in sides else "-"
        print(row(timing.name, f"{timing.best:.2f} ({middle:.2f})", ratio, own.size, f"{score:.3f}"))


def _timed(command: list[str]) -> Callable[[], float]:
    return lambda: timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))


if __name__ == "__main__":
    main()
