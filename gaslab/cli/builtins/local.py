"""Commands about a vertex and its neighbours: triangles, clustering, coloring, mis."""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.cli.arguments import Parser, one_of
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
    group.add_argument("--definition", type=one_of("networkx", "graphalytics"), default="networkx",
                       metavar="networkx|graphalytics",
                       help="for directed graphs, where they differ")  # fmt: skip
    group.add_argument("--transitivity", action="store_true", help="of an undirected graph, too")


def _clustering(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    from gaslab.programs.clustering import clustering, transitivity

    result = clustering(graph, definition=arguments.definition, **options)
    if not arguments.transitivity:
        return result
    figures = {"transitivity": transitivity(graph, **options)}
    return result.replaced(metrics={**result.metrics, "answer": figures})


def _add_coloring(made: Parser) -> None:
    group = made.add_argument_group("coloring")
    group.add_argument("--order", type=one_of("degree", "id", "saturation"), default="degree",
                       metavar="degree|id|saturation",
                       help="which vertices choose first (default: most edges)")  # fmt: skip


def _add_mis(made: Parser) -> None:
    group = made.add_argument_group("mis")
    group.add_argument("--order", type=one_of("random", "id"), default="random", metavar="random|id",
                       help="which vertices choose first (default: random, by --seed)")  # fmt: skip


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
