"""Commands about a vertex and its neighbours: triangles, clustering, coloring, mis."""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.cli import option
from gaslab.cli.arguments import Parser
from gaslab.cli.builtins.entry import Builtin, plain

DIRECTED = ("in_triangles", "out_triangles", "through_triangles", "cycle_triangles")
UNDIRECTED = ("triangles", "neighbors")


def _triangle_fields(graph: gl.Graph) -> tuple[str, ...]:
    return DIRECTED if graph.directed else UNDIRECTED[:1]


def _triangles(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    from gaslab.programs.triangles import triangles

    result = triangles(graph, **options)
    if "triangles" not in result.metrics:
        return result
    return result.replaced(metrics={**result.metrics, "answer": {"triangles": result.metrics["triangles"]}})


def _add_clustering(made: Parser) -> None:
    group = made.add_argument_group("clustering")
    option.word(group, "--definition", ("networkx", "graphalytics"),
                "for directed graphs, where they differ", default="networkx")  # fmt: skip
    option.flag(group, "--transitivity", "of an undirected graph, too")


def _clustering(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    from gaslab.programs.clustering import clustering, transitivity

    result = clustering(graph, definition=arguments.definition, **options)
    if not arguments.transitivity:
        return result
    figures = {"transitivity": transitivity(graph, **options)}
    return result.replaced(metrics={**result.metrics, "answer": figures})


def _add_coloring(made: Parser) -> None:
    group = made.add_argument_group("coloring")
    option.word(group, "--order", ("degree", "id", "saturation"),
                "which vertices choose first (default: most edges)", default="degree")  # fmt: skip


def _add_mis(made: Parser) -> None:
    group = made.add_argument_group("mis")
    option.word(group, "--order", ("random", "id"),
                "which vertices choose first (default: random, by --seed)", default="random")  # fmt: skip


COMMANDS = {
    "triangles": Builtin(
        "Triangles of every vertex, and of all together; of a directed graph by their directions.",
        _triangle_fields, _triangles, "largest", also=(*DIRECTED, *UNDIRECTED),
    ),
    "clustering": Builtin(
        "Local clustering coefficients: how many pairs of neighbours are neighbours.",
        ("clustering",), _clustering, "largest", _add_clustering,
        also=(*DIRECTED, *UNDIRECTED),
    ),
    "coloring": Builtin(
        "Greedy colouring: neighbours have different colours, few of them.",
        ("color",), plain("coloring", "coloring", "order"), "groups", _add_coloring,
    ),
    "mis": Builtin(
        "A maximal independent set: no two members are neighbours, and every other vertex has one.",
        ("member",), plain("mis", "mis", "order"), "members", _add_mis,
    ),
}  # fmt: skip
