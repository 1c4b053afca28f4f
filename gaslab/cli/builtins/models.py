"""Commands that solve for values at every vertex: jacobi, lbp."""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.cli import option
from gaslab.cli.arguments import Parser
from gaslab.cli.builtins.entry import Builtin, all_columns, options_named, weight, weighted_columns


def _add_jacobi(made: Parser) -> None:
    group = made.add_argument_group("jacobi")
    option.text(group, "--rhs", "FILE", "the right-hand side: id first, value last (default: 1)")
    option.text(group, "--weight", "NAME",
                "the column with the matrix entries (default: the third)", default="weight")  # fmt: skip
    option.number(group, "--tolerance", "T",
                  "stop when no value moves by more (default 1e-10)", default=1e-10)  # fmt: skip


def _jacobi(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    from gaslab.cli.job import read_values
    from gaslab.programs.jacobi import jacobi

    rhs = 1.0 if arguments.rhs is None else read_values(arguments.rhs, graph)
    return jacobi(graph, rhs, weight=arguments.weight, tolerance=arguments.tolerance, **options)


def _add_lbp(made: Parser) -> None:
    group = made.add_argument_group("lbp")
    option.text(group, "--prior", "FILE",
                "id first, then the weight of every state; others favour none", required=True)  # fmt: skip
    group.add_argument("--smoothing", type=float, default=1.0, metavar="S",
                       help="neighbours are exp(S * weight) times as likely to agree (1)")  # fmt: skip
    option.text(group, "--weight", "NAME", "edge column (default: every edge counts 1)")
    option.number(group, "--damping", "D", "how much of an old message stays (default 0)", default=0.0)
    option.number(group, "--tolerance", "T",
                  "stop when no probability moves by more (default 1e-9)", default=1e-9)  # fmt: skip


def _lbp(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    from gaslab.cli.job import read_rows
    from gaslab.programs.lbp import lbp

    own = options_named(arguments, "smoothing", "damping", "tolerance")
    return lbp(graph, read_rows(arguments.prior, graph), weight=weight(arguments), **own, **options)


COMMANDS = {
    "lbp": Builtin(
        "Loopy belief propagation: the probability of every state of every vertex.",
        ("belief",), _lbp, "largest", _add_lbp, weighted_columns, {"max_iterations": 200},
        also=("prior",),
    ),
    "jacobi": Builtin(
        "Solve A x = b, where the edge i -> j with weight w is the entry A[i, j] = w.",
        ("x",), _jacobi, "largest", _add_jacobi, all_columns, also=("b",),
    ),
}  # fmt: skip
