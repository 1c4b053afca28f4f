"""Commands that solve for a value at every vertex: jacobi."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gaslab.cli.arguments import Parser, at_least
from gaslab.cli.builtins.entry import Builtin, all_columns

if TYPE_CHECKING:
    from gaslab.graph import Graph
    from gaslab.result import Result


def _add_jacobi(made: Parser) -> None:
    group = made.add_argument_group("jacobi")
    group.add_argument("--rhs", metavar="FILE", help="the right-hand side: id first, value last (default: 1)")
    group.add_argument("--weight", default="weight", metavar="NAME",
                       help="the column with the matrix entries (default: the third)")  # fmt: skip
    group.add_argument("--tolerance", type=at_least(0.0, float), default=1e-10, metavar="T",
                       help="stop when no value moves by more (default 1e-10)")  # fmt: skip


def _jacobi(graph: Graph, arguments: Any, options: dict[str, Any]) -> Result:
    from gaslab.cli.job import read_values
    from gaslab.programs.jacobi import jacobi

    rhs = 1.0 if arguments.rhs is None else read_values(arguments.rhs, graph)
    return jacobi(graph, rhs, weight=arguments.weight, tolerance=arguments.tolerance, **options)


COMMANDS = {
    "jacobi": Builtin(
        "Solve A x = b, where the edge i -> j with weight w is the entry A[i, j] = w.",
        ("x",), _jacobi, "largest", _add_jacobi, all_columns,
    ),
}  # fmt: skip
