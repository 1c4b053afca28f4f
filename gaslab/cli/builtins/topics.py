"""The command lda: topics of documents, shown by their top words."""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.cli.arguments import Parser
from gaslab.cli.builtins import topic_models
from gaslab.cli.builtins.comparison import HELD_OUT, add_judging, compared
from gaslab.cli.builtins.entry import Builtin
from gaslab.cli.builtins.sampling import add_sampling, sampling


def _add_lda(made: Parser) -> None:
    made.refused["--init"] = "it starts from topics that it draws"
    group = made.add_argument_group("lda")
    add_judging(group)
    add_sampling(made)
    topic_models.add_models(made)


def _lda(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    from gaslab.programs.lda import lda

    options.pop("max_iterations", None)  # the sweeps
    holdout = options.pop("holdout", None)
    asked = {**sampling(arguments), **options}

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
