"""The command lda: topics of documents, shown by their top words."""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.cli import option
from gaslab.cli.arguments import Parser
from gaslab.cli.builtins import topic_models
from gaslab.cli.builtins.comparison import HELD_OUT, add_judging, compared
from gaslab.cli.builtins.entry import Builtin, options_named

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
