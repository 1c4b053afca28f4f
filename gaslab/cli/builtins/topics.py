"""The command lda: topics of documents, shown by their top words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gaslab.cli.arguments import Parser, at_least
from gaslab.cli.builtins.entry import Builtin, all_columns
from gaslab.errors import UsageError

if TYPE_CHECKING:
    from gaslab.graph.graph import Graph
    from gaslab.results.result import Result


def _add_lda(made: Parser) -> None:
    made.refused["--init"] = "it starts from topics that it draws"
    group = made.add_argument_group("lda")
    group.add_argument("--topics", type=at_least(1), default=20, metavar="K", help="how many (20)")
    group.add_argument("--alpha", type=at_least(0.0, float), default=0.1, metavar="A",
                       help="prior of each topic in a document (0.1)")  # fmt: skip
    group.add_argument("--beta", type=at_least(0.0, float), default=0.01, metavar="B",
                       help="prior of each word in a topic (0.01)")  # fmt: skip
    group.add_argument("--vocab", metavar="FILE", help="of a UCI bag of words: the words, one a line")


def _lda(graph: Graph, arguments: Any, options: dict[str, Any]) -> Result:
    from gaslab.programs.lda import lda

    sweeps = {"iterations": options.pop("max_iterations")} if "max_iterations" in options else {}
    bound = dict(arguments.column).get("count")
    named = None if bound == "none" else "count"
    return lda(
        graph,
        topics=arguments.topics,
        alpha=arguments.alpha,
        beta=arguments.beta,
        count=_third(graph) if bound is None else named,
        **sweeps,
        **options,
    )


def _third(graph: Graph) -> str:
    """Return the column of counts where none is named: the only one, or what `gaslab.lda` takes by itself."""
    names = list(graph.edge_columns)
    if not names or {"count", "weight"} & set(names):
        return "auto"
    if len(names) > 1:
        raise UsageError(
            f"{graph.source} has the fields {', '.join(names)}; say which is the count, --column count=NAME, "
            "or that each line is one token, --column count=none"
        )
    return names[0]


def _top_words(graph: Graph, result: Result, count: int) -> list[str]:
    """Return a line for each topic, the largest first: its share of the tokens and its likeliest words."""
    import numpy as np

    table = result.tables["topic_word"]
    probability, ids, gids = table["probability"], table.ids, table.global_ids["id"]
    mine = []
    for topic in probability.T:
        rows = np.lexsort((gids, -topic))[:count]
        columns = ((-topic[rows]).tolist(), gids[rows].tolist(), ids[rows].tolist())
        mine.append(list(zip(*columns, strict=True)))
    best_of_ranks = graph.comm.allgather(mine)
    if graph.comm.rank > 0:
        return []
    sizes = np.asarray(result.aggregates["tokens"].counts)
    lines = []
    for topic in np.argsort(-sizes, kind="stable").tolist():
        best = sorted(row for part in best_of_ranks for row in part[topic])[:count]
        words = [str(word) for *_, word in best]
        share = f"{100 * sizes[topic] / max(sizes.sum(), 1):.1f}%"
        lines.append(f"topic {topic:{len(str(sizes.size - 1))}} {share:>6}  {' '.join(words)}")
    return lines


COMMANDS = {
    "lda": Builtin(
        "Topics of documents: latent Dirichlet allocation. GRAPH has a line for each document and word,\n"
        "with the count in the third field if there is one, or is a UCI bag of words (docword.*.txt[.gz]).\n"
        "--top N prints N words of each topic (10).",
        ("probability",), _lda, _top_words, _add_lda, all_columns, {"bipartite": True},
        also=("counts",), tables=("document_topic", "topic_word"), iterations="sweeps over all tokens (200)",
        sweeps=True,
    ),
}  # fmt: skip
