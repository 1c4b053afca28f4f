"""Commands about a vertex and its neighbours: coloring, mis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gaslab.cli.arguments import Parser, one_of
from gaslab.cli.builtins.entry import Builtin

if TYPE_CHECKING:
    from gaslab.graph import Graph
    from gaslab.result import Result


def _add_coloring(made: Parser) -> None:
    group = made.add_argument_group("coloring")
    group.add_argument("--order", type=one_of("degree", "id", "saturation"), default="degree",
                       metavar="degree|id|saturation",
                       help="who chooses first (default: most edges)")  # fmt: skip


def _coloring(graph: Graph, arguments: Any, options: dict[str, Any]) -> Result:
    from gaslab.programs.coloring import coloring

    return coloring(graph, order=arguments.order, **options)


def _add_mis(made: Parser) -> None:
    group = made.add_argument_group("mis")
    group.add_argument("--order", type=one_of("random", "id"), default="random", metavar="random|id",
                       help="who chooses first (default: random, by --seed)")  # fmt: skip


def _mis(graph: Graph, arguments: Any, options: dict[str, Any]) -> Result:
    from gaslab.programs.mis import mis

    return mis(graph, order=arguments.order, **options)


COMMANDS = {
    "coloring": Builtin(
        "Greedy colouring: neighbours have different colours, few of them.",
        ("color",), _coloring, "groups", _add_coloring,
    ),
    "mis": Builtin(
        "A maximal independent set: no two members are neighbours, and everybody else has one.",
        ("member",), _mis, "members", _add_mis,
    ),
}  # fmt: skip
