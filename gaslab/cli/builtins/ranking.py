"""Commands that give every vertex a rank: pagerank, hits, degrees."""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.cli import option
from gaslab.cli.arguments import Parser
from gaslab.cli.builtins.entry import Builtin, options_named, plain, weight, weighted_columns


def _add_pagerank(made: Parser) -> None:
    group = made.add_argument_group("pagerank")
    option.number(group, "--damping", "D", "probability of following an edge (default 0.85)", default=0.85)
    option.number(group, "--tolerance", "T", "stop when the scores change by less in sum (default 1e-9)")
    option.text(group, "--personalization", "FILE", "where to restart: id first, weight last (or 1)")
    option.text(group, "--weight", "NAME", "follow edges in proportion to this column")
    option.flag(group, "--unnormalised", "PowerGraph's scores: mean 1, dangling mass lost")
    option.word(group, "--method", ("power", "signal"),
                "signal: run only vertices whose in-neighbours moved, as --engine async does")  # fmt: skip


def _pagerank(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    from gaslab.cli.job import read_values
    from gaslab.programs.pagerank import pagerank

    if arguments.max_iterations is None and arguments.engine != "async":
        arguments.max_iterations = options["max_iterations"] = 100
    arguments.method = arguments.method or ("signal" if arguments.engine == "async" else "power")
    own, file = (
        options_named(arguments, "damping", "tolerance", "unnormalised", "method"),
        arguments.personalization,
    )
    restart = None if file is None else read_values(file, graph, default=1.0)
    return pagerank(graph, personalization=restart, weight=weight(arguments), **own, **options)


def _add_hits(made: Parser) -> None:
    group = made.add_argument_group("hits")
    option.number(group, "--tolerance", "T",
                  "stop when the hubs change by less in sum (default 1e-10)", default=1e-10)  # fmt: skip
    option.text(group, "--weight", "NAME", "count edges by this column")


def _hits(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    from gaslab.programs.hits import hits

    return hits(graph, tolerance=arguments.tolerance, weight=weight(arguments), **options)


COMMANDS = {
    "pagerank": Builtin(
        "PageRank: scores that sum to 1, as NetworkX and Graphalytics define them.",
        ("score",), _pagerank, "largest", _add_pagerank, weighted_columns,
        also=("share", "moved", "restart", "out_weight", "loops"),
    ),
    "hits": Builtin(
        "HITS: hubs and authorities, each sum to 1.",
        ("hub", "authority"), _hits, "largest", _add_hits, weighted_columns, {"max_iterations": 3000},
        also=("loops",),
    ),
    "degrees": Builtin(
        "Degrees: parallel edges count each, a self-loop once in and once out.",
        ("in_edges", "out_edges", "edges"), plain("degrees", "degrees"), "largest",
    ),
}  # fmt: skip
