"""What `lda` finds: the topics of documents, of one or several numbers of topics, and their likely words."""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.cli.builtins.comparison import HELD_OUT, compared
from gaslab.cli.builtins.sampling import sampling


def find_topics(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    """Run `gaslab.lda` (collective); *options* are those of `gaslab.run`, and ``holdout``."""
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


def top_words(graph: gl.Graph, result: gl.Result, count: int) -> list[str]:
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
