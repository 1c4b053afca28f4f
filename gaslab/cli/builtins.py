"""The built-in programs as commands: what each takes, which function runs it, how its answer is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gaslab.cli.arguments import Parser, add_input, add_output, add_running, at_least, one_of, read_options

if TYPE_CHECKING:
    from gaslab.graph import Graph
    from gaslab.result import Result


@dataclass(frozen=True)
class Builtin:
    """A built-in program at the command line."""

    description: str
    fields: tuple[str, ...]  # of its answer, as written by --output
    add: Callable[[Parser], None]
    call: Callable[[Graph, Any, dict[str, Any]], Result]
    keep: Callable[[Any], list[str] | None]  # columns of the input it uses; None: any
    show: str  # how gaslab.cli.show prints its answer
    defaults: dict[str, Any] = field(default_factory=dict)  # of common options


def parser(name: str) -> Parser:
    """Return the parser of a built-in's command."""
    builtin = BUILTINS[name]
    made = Parser(name, "GRAPH...", builtin.description)
    add_input(made)
    builtin.add(made)
    add_running(made)
    add_output(made)
    made.set_defaults(**builtin.defaults)
    return made


def execute(arguments: Any) -> int:
    """Run a built-in on a graph and report."""
    from gaslab.cli.job import Job

    builtin = BUILTINS[arguments.command]
    job = Job(arguments, read_options(arguments, builtin.keep(arguments)))
    result = builtin.call(job.graph, arguments, job.options())
    return job.finish(result, list(arguments.fields or builtin.fields), builtin.show)


# ---- pagerank --------------------------------------------------------------------------------------


def _add_pagerank(made: Parser) -> None:
    group = made.add_argument_group("pagerank")
    group.add_argument("--damping", type=at_least(0.0, float), default=0.85, metavar="D",
                       help="probability of following an edge (default 0.85)")  # fmt: skip
    group.add_argument("--tolerance", type=at_least(0.0, float), metavar="T",
                       help="stop when the scores change by less in sum (default 1e-9)")  # fmt: skip
    group.add_argument(
        "--personalization", metavar="FILE", help="where to restart: id first, weight last (or 1)"
    )
    group.add_argument("--weight", metavar="NAME", help="follow edges in proportion to this column")
    group.add_argument(
        "--unnormalised", action="store_true", help="PowerGraph's scores: mean 1, dangling mass lost"
    )
    group.add_argument("--method", type=one_of("power", "signal"), default="power", metavar="power|signal",
                       help="signal: run only vertices whose in-neighbours moved")  # fmt: skip


def _weight(arguments: Any) -> str | None:
    """Return the weight column that the options name: ``--weight``, else ``--column weight=NAME``."""
    if arguments.weight is not None:
        return str(arguments.weight)
    bound = dict(arguments.column).get("weight", "none")
    return None if bound == "none" else "weight"


def _pagerank(graph: Graph, arguments: Any, options: dict[str, Any]) -> Result:
    from gaslab.cli.job import read_values
    from gaslab.programs.pagerank import pagerank

    given = arguments.personalization
    return pagerank(
        graph,
        damping=arguments.damping,
        tolerance=arguments.tolerance,
        personalization=None if given is None else read_values(given, graph, default=1.0),
        weight=_weight(arguments),
        unnormalised=arguments.unnormalised,
        method=arguments.method,
        **options,
    )


# ---- the others ------------------------------------------------------------------------------------


def _add_sssp(made: Parser) -> None:
    group = made.add_argument_group("sssp")
    group.add_argument("--source", required=True, metavar="ID", help="the vertex that paths start from")
    group.add_argument("--weight", metavar="NAME",
                       help="length of an edge (default: the third column; 1 without one)")  # fmt: skip


def _sssp(graph: Graph, arguments: Any, options: dict[str, Any]) -> Result:
    from gaslab.cli.job import vertex_id
    from gaslab.programs.sssp import sssp

    weight = arguments.weight or (None if ("weight", "none") in arguments.column else "weight")
    return sssp(graph, vertex_id(arguments.source, graph), weight=weight, **options)


def _components(graph: Graph, arguments: Any, options: dict[str, Any]) -> Result:
    from gaslab.programs.components import components

    return components(graph, **options)


def _degrees(graph: Graph, arguments: Any, options: dict[str, Any]) -> Result:
    from gaslab.programs.degrees import degrees

    return degrees(graph, **options)


def _nothing(made: Parser) -> None:
    """Add no options of its own."""


BUILTINS = {
    "pagerank": Builtin(
        "PageRank: scores that sum to 1, as NetworkX and Graphalytics define them.",
        ("score",), _add_pagerank, _pagerank,
        lambda arguments: None if _weight(arguments) else [], "largest", {"max_iterations": 100},
    ),
    "components": Builtin(
        "Weakly connected components, each named by its smallest vertex id.",
        ("component",), _nothing, _components, lambda _: [], "groups",
    ),
    "sssp": Builtin(
        "Shortest paths from one vertex; inf where there is none.",
        ("distance",), _add_sssp, _sssp, lambda _: None, "nearest",
    ),
    "degrees": Builtin(
        "Degrees: parallel edges count each, a self-loop once in and once out.",
        ("in_edges", "out_edges", "edges"), _nothing, _degrees, lambda _: [], "largest",
    ),
}  # fmt: skip
