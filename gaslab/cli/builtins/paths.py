"""Commands about distances: bfs, sssp, diameter."""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.cli import option
from gaslab.cli.arguments import Parser
from gaslab.cli.builtins.entry import Builtin, all_columns, plain, weight_if_named
from gaslab.errors import UsageError


def _add_bfs(made: Parser) -> None:
    group = made.add_argument_group("bfs")
    option.text(group, "--source", "ID", "the vertex that the search starts from", required=True)
    option.flag(group, "--parents", "also say from where each was reached")


def _bfs(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    from gaslab.cli.job import vertex_id
    from gaslab.programs.bfs import bfs

    if arguments.parents:
        arguments.fields = arguments.fields or ["parent", "level"]
    return bfs(graph, vertex_id(arguments.source, graph), parents=arguments.parents, **options)


def _add_sssp(made: Parser) -> None:
    group = made.add_argument_group("sssp")
    group.add_argument("--source", required=True, action="append", metavar="ID",
                       help="the vertex that paths start from; several: the nearest counts")  # fmt: skip
    option.text(group, "--weight", "NAME", "length of an edge (default: the third column; 1 without one)")
    group.add_argument("--delta", type=float, metavar="D",
                       help="by delta-stepping: the nearest first, in buckets so wide")  # fmt: skip


def _sssp(graph: gl.Graph, arguments: Any, options: dict[str, Any]) -> gl.Result:
    from gaslab.cli.job import vertex_id
    from gaslab.programs.distances import distances
    from gaslab.programs.sssp import sssp

    sources = [vertex_id(word, graph) for word in arguments.source]
    weight = weight_if_named(arguments)
    if len(sources) > 1:
        if arguments.delta is not None:
            raise UsageError("--delta is of paths from one --source")
        return distances(graph, sources, **weight, **options)
    return sssp(graph, sources[0], **weight, delta=arguments.delta, **options)


def _add_diameter(made: Parser) -> None:
    group = made.add_argument_group("diameter")
    text = "of the connected pairs, for the effective diameter (default 0.9)"
    option.number(group, "--share", "S", text, default=0.9)


COMMANDS = {
    "diameter": Builtin(
        "Approximate diameter: how far vertices are from each other, by sketches.",
        ("reach", "eccentricity"), plain("diameter", "diameter", "share"), "largest", _add_diameter,
    ),
    "bfs": Builtin(
        "Breadth-first search: how many edges away every vertex is; -1 where it is not reached.",
        ("level",), _bfs, "nearest", _add_bfs, also=("parent",),
    ),
    "sssp": Builtin(
        "Shortest paths from one vertex, or the nearest of several; inf where there is none.",
        ("distance",), _sssp, "nearest", _add_sssp, all_columns, also=("nearest",),
    ),
}  # fmt: skip
