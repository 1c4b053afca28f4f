"""``gaslab generate`` and ``gaslab convert``: edge lists to text, and graphs to folders."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from gaslab.cli import option
from gaslab.cli.arguments import Parser, add_input, add_report, read_options
from gaslab.cli.codes import DONE
from gaslab.cli.destinations import destinations
from gaslab.cli.streams import say
from gaslab.errors import UsageError
from gaslab.ingest.format import format_table
from gaslab.parallel.comm import Comm, world
from gaslab.results.tables import objects
from gaslab.results.writers import Target, write_rows

if TYPE_CHECKING:
    from gaslab.ingest.edges import EdgeList

log = logging.getLogger("gaslab")

KINDS = ("rmat", "powerlaw", "grid", "erdos-renyi", "bipartite", "corpus")


def parser(name: str) -> Parser:
    """Return the parser of ``generate`` or ``convert``."""
    made = _generate_parser(name) if name == "generate" else _convert_parser(name)
    add_report(made, output=True, json=False)
    return made


def execute(arguments: Any) -> int:
    """Make or read the edges and write them."""
    return _generate(arguments) if arguments.command == "generate" else _convert(arguments)


def _generate_parser(name: str) -> Parser:
    made = Parser(name, "KIND", "Write a random graph. A seed gives the same graph on any number of ranks.")
    made.add_argument("kind", type=option.one_of(*KINDS), metavar="KIND", help=", ".join(KINDS))
    group = made.add_argument_group("size")
    option.whole(group, "--scale", "S", "rmat: 2^S vertices", least=0)
    option.whole(group, "--edge-factor", "F", "rmat: edges per vertex (16)", least=0)
    option.whole(group, "--vertices", "N", "powerlaw, erdos-renyi: vertices")
    option.whole(group, "--edges", "M", "erdos-renyi, bipartite: edges", least=0)
    option.whole(group, "--left", "N", "bipartite: left vertices")
    option.whole(group, "--right", "N", "bipartite: right vertices")
    group.add_argument(
        "--exponent", type=option.at_least(1.0, float), metavar="A",
        help="powerlaw: exponent of the degrees (2.1); corpus: exponent of the lengths (2)",
    )  # fmt: skip
    option.whole(group, "--max-degree", "K", "powerlaw: the largest degree")
    option.whole(group, "--rows", "R", "grid: rows")
    option.whole(group, "--columns", "C", "grid: columns")
    option.whole(group, "--documents", "N", "corpus: documents")
    option.whole(group, "--words", "N", "corpus: number of words in the vocabulary")
    option.whole(group, "--topics", "K", "corpus: number of topics")
    option.number(group, "--alpha", "A", "corpus: prior of each topic in a document (0.1)")
    option.number(group, "--beta", "B", "corpus: prior of each word in a topic (0.01)")
    option.whole(group, "--min-length", "N", "corpus: fewest tokens in a document (50)")
    option.whole(group, "--max-length", "N", "corpus: most tokens in a document (5000)")
    option.whole(made, "--seed", "N", "seed of the random numbers (0)", least=0, default=0)
    option.whole(made, "--weights", "W", "add a random weight from 1 to W to each edge")
    option.flag(made, "--drop-duplicates", "keep one of several parallel edges")
    option.flag(made, "--drop-self-loops", "drop edges from a vertex to itself")
    return made


def _convert_parser(name: str) -> Parser:
    made = Parser(
        name,
        "GRAPH...",
        "Rewrite a graph: its edges as TSV or CSV, gzipped or not, with numbered ids; or the whole\n"
        "graph as a folder, DIR/, from which every command starts without reading text.",
    )
    add_input(made)
    option.flag(made, "--relabel", "number the vertices 0, 1, ... in the order of their ids")
    option.text(made, "--map", "FILE", "with --relabel: write the table of numbers and ids")
    return made


def _generate(arguments: Any) -> int:
    from gaslab.ingest.generate import generate

    comm = world()
    target = destinations(comm, arguments).output
    sizes: tuple[str, ...] = ("scale", "edge_factor", "vertices", "edges", "exponent")
    sizes += ("max_degree", "rows", "columns", "weights", "left", "right", "documents", "words", "topics")
    sizes += ("alpha", "beta", "min_length", "max_length")
    chosen = {name: getattr(arguments, name) for name in sizes if getattr(arguments, name) is not None}
    edges = generate(
        arguments.kind, comm, seed=arguments.seed, drop_duplicates=arguments.drop_duplicates,
        drop_self_loops=arguments.drop_self_loops, **chosen,
    )  # fmt: skip
    _write_edges(comm, target, edges, relabel=edges.ids.num_left is None)
    return DONE


def _convert(arguments: Any) -> int:
    comm = world()
    if arguments.map is not None and not arguments.relabel:
        raise UsageError("--map goes with --relabel: without it the ids stay as they are")
    outputs = destinations(comm, arguments)
    mapped = outputs.map
    if outputs.output is not None and outputs.output.directory:
        if arguments.relabel:
            raise UsageError("--relabel applies to text only; a folder keeps the ids")
        return _save(arguments, outputs.output)
    edges = read(arguments)
    _warn_left_out(comm, edges, arguments.directed, arguments.bipartite)
    _write_edges(comm, outputs.output, edges, arguments.relabel)
    if mapped is not None:
        lo, hi = (edges.num_vertices * r // comm.size for r in (comm.rank, comm.rank + 1))
        numbers = np.arange(lo, hi, dtype=np.int64)
        write_rows(comm, mapped, {"number": numbers, "id": _user(edges, numbers)})
    return DONE


def _save(arguments: Any, target: Target) -> int:
    """Write the graph into a folder, with a part for each rank."""
    from gaslab.cli.job import read as read_graph

    graph = read_graph(arguments, read_options(arguments))
    graph.save(target.path, force=target.output.force)
    if graph.comm.rank == 0:
        parts = graph.comm.size
        log.info("wrote %s (%d part%s by %s)", target.path, parts, "s" * (parts != 1), graph.strategy)
    return DONE


def _warn_left_out(comm: Comm, edges: EdgeList, directed: bool | None, bipartite: bool) -> None:
    """Say what of the graph an edge list does not hold (collective)."""
    present = np.zeros(edges.num_vertices, np.uint8)
    present[edges.src] = present[edges.dst] = 1
    alone = int(np.count_nonzero(comm.allreduce(present, "or") == 0))
    if comm.rank:
        return
    if alone:
        verb = "vertex without edges is" if alone == 1 else "vertices without edges are"
        log.warning("warning: %s %s left out: an edge list holds only edges", f"{alone:,}", verb)
    if edges.vertices is not None:
        log.warning("warning: left out of the edge list: vertex columns %s", ", ".join(edges.vertices[1]))
    if directed is None and not edges.directed:
        log.info("the edges have no direction; read the edge list with --undirected")
    if edges.ids.num_left is not None and not bipartite:
        log.info("the graph is bipartite; read the edge list with --bipartite")


def read(arguments: Any, columns: list[str] | None = None) -> EdgeList:
    """Read the edges of files, or of a saved graph (collective)."""
    from gaslab.ingest.read import read_edges
    from gaslab.storage.load import open_saved

    paths = arguments.input[0] if len(arguments.input) == 1 else arguments.input
    options = read_options(arguments, columns)
    saved = open_saved(paths, world(), options, read_edges)
    return read_edges(paths, world(), **options) if saved is None else saved.edges()


def _user(edges: EdgeList, gids: np.ndarray) -> np.ndarray:
    found = edges.ids.lookup(gids)
    return found if isinstance(found, np.ndarray) else objects(found)


def ends(edges: EdgeList, relabel: bool) -> dict[str, np.ndarray]:
    if relabel:
        return {"source": edges.src, "target": edges.dst}
    return {"source": _user(edges, edges.src), "target": _user(edges, edges.dst)}


def _write_edges(comm: Comm, target: Target | None, edges: EdgeList, relabel: bool) -> None:
    """Write edges, of rank 0 first; to stdout without a target (collective)."""
    columns = {**ends(edges, relabel), **edges.columns}
    if target is not None:
        write_rows(comm, target, columns)
        report_written(comm, target, edges)
        return
    parts = comm.gather_array(np.frombuffer(format_table(list(columns.values())), np.uint8))
    say(comm, [part.tobytes() for part in parts or []])


def report_written(comm: Comm, target: Target, edges: EdgeList) -> None:
    count = int(comm.allreduce(edges.src.size))
    if comm.rank == 0:
        log.info("wrote %s (%s edges, %s vertices)", target.path, f"{count:,}", f"{edges.num_vertices:,}")
