"""The command lda: topics of documents, shown by their top words, judged, compared for several numbers."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import gaslab as gl
from gaslab.cli import option
from gaslab.cli.arguments import Parser
from gaslab.cli.builtins import topic_models
from gaslab.cli.builtins.entry import Builtin, options_named

ORDER = "needs the order of words, which a corpus does not keep; gaslab.topics.coherence takes texts"
HELD_OUT = "held_out_log_likelihood_per_token"
BEST_BY = (HELD_OUT, "coherence")  # the first that was measured


def add_judging(group: Any) -> None:
    """Add how many topics there are, and how they are judged and shown."""
    group.add_argument("--topics", type=several_topics, metavar="K[,K...]",
                       help="how many (20); several are compared, and the best is written")  # fmt: skip
    option.word(group, "--coherence", ("npmi", "umass"), "of the ten likeliest words of each topic (npmi)",
                but=(("c_v",), f"refused: it {ORDER}"))  # fmt: skip
    option.text(group, "--report", "DIR", "write a page that shows the topics, DIR/index.html")


def several_topics(word: str) -> list[int]:
    """Argparse type: numbers of topics, all different."""
    found = [option.at_least(1)(one) for one in word.split(",")]
    if len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"{word!r} has a number twice")
    return found


def compared(graph: gl.Graph, arguments: Any, run: Callable[[int | None], gl.Result]) -> gl.Result:
    """Run each number of topics and return the best result, judged (collective).

    Several are printed as a table, a row as soon as it is known; ``metrics["comparison"]`` has the rows.
    """
    from gaslab.topics.judging import judge

    numbers = arguments.topics or [None]  # as many as gl.lda takes itself
    several = len(numbers) > 1
    if several and arguments.timeline is not None:
        raise gl.UsageError("--timeline shows one run; give one number to --topics, or leave it out")
    best: gl.Result | None = None
    rows: list[dict[str, Any]] = []
    for topics in numbers:
        began = time.perf_counter()
        result = run(topics)
        seconds = float(graph.comm.allreduce(time.perf_counter() - began, "max"))
        judge(graph, result, arguments.coherence or "npmi")
        number = result.metrics["parameters"]["topics"]
        rows.append({"topics": number, **_numbers(result), "seconds": seconds})
        if several and graph.comm.rank == 0:
            print("\n".join(_lines(rows)[0 if len(rows) == 1 else -1 :]), flush=True)
        if best is None or _score(result) > _score(best):
            best = result
    assert best is not None
    if several:
        name = _judged_by(best)
        if graph.comm.rank == 0:
            chosen = best.metrics["parameters"]["topics"]
            print(f"best by {name.replace('_', ' ')}: {chosen} topics", flush=True)
        best.metrics["comparison"] = rows
    return best


def _numbers(result: gl.Result) -> dict[str, float]:
    figures = result.metrics["figures"]
    names = ("log_likelihood_per_token", HELD_OUT, "coherence", "diversity")
    return {name: figures[name] for name in names if name in figures}


def _judged_by(result: gl.Result) -> str:
    return next(name for name in BEST_BY if name in result.metrics["figures"])


def _score(result: gl.Result) -> float:
    value = float(result.metrics["figures"][_judged_by(result)])
    return -math.inf if math.isnan(value) else value


def _lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return the head and the rows of the table."""
    keys = [key for key in rows[0] if key != "topics"]
    titles = {"log_likelihood_per_token": "log-likelihood", HELD_OUT: "held out"}
    head = "topics  " + "  ".join(f"{titles.get(key, key):>14}" for key in keys)
    lines = [f"{row['topics']:>6}  " + "  ".join(f"{row[key]:>14.4g}" for key in keys) for row in rows]
    return [head, *lines]


NAMES = ("auto", "gibbs", "metropolis-hastings")
SAMPLING = (
    "sampler", "mh_steps", "doc_topic_prior", "topic_word_prior", "optimise_priors", "burn_in", "sample_every"
)  # fmt: skip


def _add_lda(made: Parser) -> None:
    made.refused["--init"] = "it starts from topics that it draws"
    group = made.add_argument_group("lda")
    add_judging(group)
    option.whole(group, "--evaluate-every", "N",
                 "sweeps from one log-likelihood to the next (10)", default=10)  # fmt: skip
    _add_sampler(made)
    topic_models.add_models(made)


def _add_sampler(made: Parser) -> None:
    group = made.add_argument_group("sampling")
    group.add_argument("--sampler", choices=NAMES, default="auto",
                       help="collapsed Gibbs, exact on one rank and thread, or delayed counts (auto), the "
                       "same on any ranks, whose time hardly grows with the topics")  # fmt: skip
    option.whole(group, "--mh-steps", "N",
                 "Metropolis-Hastings steps of a token in each half of a sweep (1)", default=1)  # fmt: skip
    group.add_argument("--doc-topic-prior", type=_prior, metavar="A[,A...]",
                       help="prior of each topic in a document: one for all, or one for each (0.1)"
                       )  # fmt: skip
    option.number(group, "--topic-word-prior", "B", "prior of each word in a topic (0.01)")
    option.whole(group, "--optimise-priors", "N",
                 "improve both priors every N sweeps (10), each topic's in a document for itself",
                 default=0, nargs="?", const=10)  # fmt: skip
    text = "average the counts over the sweeps after N; else the last sweep's are taken"
    option.whole(group, "--burn-in", "N", text, least=0)
    option.whole(group, "--sample-every", "N",
                 "with --burn-in: sweeps from one that is averaged to the next (1)", default=1)  # fmt: skip


def _prior(text: str) -> float | list[float]:
    """Return a number, or several with commas between."""
    listed = [option.at_least(0.0, float)(one) for one in text.split(",")]
    return listed if "," in text else listed[0]


def _lda(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    from gaslab.programs.lda import lda

    sweeps = {"iterations": options.pop("max_iterations")} if "max_iterations" in options else {}
    holdout = options.pop("holdout", None)
    asked = {**options_named(arguments, "evaluate_every", *SAMPLING), **sweeps, **options}

    def run(topics: int | None) -> gl.Result:
        result = lda(graph, topics=topics, **asked)
        if holdout is not None:
            from gaslab.topics.model import TopicModel

            result.metrics["figures"][HELD_OUT] = holdout.score(TopicModel.of(graph, result))
        return result

    return compared(graph, arguments, run)


def _top_words(graph: gl.Graph, result: gl.Result, count: int) -> list[str]:
    """Return a line for each topic, the largest first: its share of the tokens and its likeliest words."""
    import numpy as np

    from gaslab.topics.judging import likeliest_words

    top = likeliest_words(graph, result, count)
    names = graph.ids.lookup(top.reshape(-1) + graph.num_left).reshape(top.shape)
    if graph.comm.rank > 0:
        return []
    sizes = np.asarray(result.aggregates["tokens"].counts)
    lines = []
    for topic in np.argsort(-sizes, kind="stable").tolist():
        words = map(str, names[topic].tolist())
        share = f"{100 * sizes[topic] / max(sizes.sum(), 1):.1f}%"
        lines.append(f"topic {topic:{len(str(sizes.size - 1))}} {share:>6}  {' '.join(words)}")
    return lines


COMMANDS = {
    "lda": Builtin(
        "Topics of documents: latent Dirichlet allocation. CORPUS is a UCI bag of words (docword.*.txt),\n"
        "an lda-c, SVMlight or MatrixMarket file, plain text with a document a line, a folder of texts, or\n"
        "has a line for each document and word, with the count in the third field if there is one.\n"
        "--top N prints N words of each topic (10). --load MODEL --transform NEW gives the documents of NEW\n"
        "the topics of a model that --save MODEL wrote.",
        ("probability",), _lda, _top_words, _add_lda, defaults={"bipartite": True}, corpus=True,
        also=("counts",), tables=("document_topic", "topic_word"), iterations="sweeps over all tokens (200)",
        sweeps=True, execute=topic_models.execute,
    ),
}  # fmt: skip
