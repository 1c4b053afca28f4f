"""The toolkit's functions as the tests call them, and what they answer in every mode."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import networkx as nx

import gaslab as gl
from gaslab.engine import run
from gaslab.engine.options import Options
from gaslab.parallel.comm import Comm, world
from tests.support.graphs import Drawn

MODES: dict[str, dict[str, Any]] = {
    "reference": {"engine": "reference"},
    "1 thread": {"compile": "require", "threads": 1},
    "2 threads": {"compile": "require", "threads": 2},
    "interpreted": {"compile": "never", "threads": 1},
}
Answer = dict[str, list[Any]]


@dataclass(frozen=True)
class Call:
    """``gl.<function>(graph, **options(graph))`` and the vertex fields that it answers."""

    function: str
    fields: tuple[str, ...]
    options: Callable[[Drawn], dict[str, Any]] = lambda drawn: {}
    label: str = ""

    def __str__(self) -> str:
        return f"{self.function} {self.label}".strip()


CALLS = [
    Call("mis", ("member",), lambda drawn: {"seed": len(drawn.edges)}),
    Call("mis", ("member",), lambda drawn: {"order": "id"}, "by id"),
    Call(
        "lbp",
        ("belief",),
        lambda drawn: {"prior": {v: [0.5, 0.3, 0.2] for v in drawn.ids[:1]}, "max_iterations": 4},
    ),
    Call("diameter", ("reach", "eccentricity"), lambda drawn: {"registers": 16, "seed": len(drawn.edges)}),
    Call("coloring", ("color",), lambda drawn: {"order": "degree"}, "by degree"),
    Call("coloring", ("color",), lambda drawn: {"order": "saturation"}, "by saturation"),
    Call("jacobi", ("x",), lambda drawn: {"rhs": 2.0, "max_iterations": 6}),
    Call("degrees", ("in_edges", "out_edges", "edges")),
    Call("distances", ("distance", "nearest"), lambda drawn: {"sources": drawn.ids[::3]}),
    Call("hits", ("hub", "authority"), lambda drawn: {"tolerance": 0.0, "max_iterations": 12}),
    Call("betweenness", ("betweenness",), lambda drawn: {"endpoints": True}),
    Call("betweenness", ("betweenness",), lambda drawn: {"weight": "weight"}, "by length"),
    Call("closeness", ("closeness",)),
    Call("closeness", ("closeness",), lambda drawn: {"weight": "weight"}, "by length"),
    Call("harmonic", ("harmonic",)),
    Call("harmonic", ("harmonic",), lambda drawn: {"weight": "weight"}, "by length"),
    Call("eigenvector", ("eigenvector",), lambda drawn: {"tolerance": 0.0, "max_iterations": 12}),
    Call("katz", ("katz",), lambda drawn: {"alpha": 0.05, "tolerance": 0.0, "max_iterations": 12}),
    Call("strong_components", ("component",)),
    Call("components", ("component",)),
    Call("pagerank", ("score",), lambda drawn: {"tolerance": 0.0, "max_iterations": 9}),
    Call("kcore", ("core",)),
    Call("cdlp", ("label",), lambda drawn: {"iterations": 4}),
    Call("bfs", ("level",), lambda drawn: {"source": drawn.ids[0]}),
    Call("bfs", ("level", "parent"), lambda drawn: {"source": drawn.ids[0], "parents": True}, "with parents"),
    Call("sssp", ("distance",), lambda drawn: {"source": drawn.ids[-1]}, "by weight"),
    Call("sssp", ("distance",), lambda drawn: {"source": drawn.ids[-1], "delta": 3.0}, "by delta-stepping"),
    Call("sssp", ("distance",), lambda drawn: {"source": drawn.ids[-1], "weight": None}, "by edges"),
]

# The rest of the toolkit, whose modes have tests of their own; fields () are all that the result has.
NINE = {"tolerance": 0.0, "max_iterations": 9}
TRIANGLES = [
    Call("triangles", ()),
    Call("triangles", (), lambda drawn: {"per_vertex": False}, "together"),
    Call("clustering", ()),
    Call("clustering", (), lambda drawn: {"definition": "graphalytics"}, "of Graphalytics"),
]
REST = [
    Call("pagerank", (), lambda drawn: {"personalization": {drawn.ids[0]: 1.0}, **NINE}, "personalised"),
    Call("pagerank", (), lambda drawn: {"weight": "weight", **NINE}, "by weight"),
    Call("pagerank", (), lambda drawn: {"unnormalised": True, **NINE}, "unnormalised"),
    Call("pagerank", (), lambda drawn: {"method": "signal", "max_iterations": 9}, "by signals"),
    Call("betweenness", (), lambda drawn: {"edges": True}, "of edges"),
    Call("betweenness", (), lambda drawn: {"edges": True, "weight": "weight"}, "of edges by length"),
    *TRIANGLES,
]
RANKED = ("pagerank", "hits", "betweenness", "closeness", "harmonic", "eigenvector", "katz")
RANKINGS = [call for call in (*CALLS, *REST) if call.function in RANKED]


def by_sorted_id(result: gl.Result, fields: tuple[str, ...]) -> Answer:
    return {name: result.vertices[name].tolist() for name in fields}


def answer(drawn: Drawn, function: str, *fields: str, **options: Any) -> Answer:
    """Return what a function answers on one rank of this process, by sorted id."""
    result = getattr(gl, function)(drawn.build(world()), **options)
    assert list(result.vertices.ids) == drawn.ids
    return by_sorted_id(result, fields)


def in_every_mode(
    comm: Comm, drawn: Drawn, strategy: str, function: str, fields: tuple[str, ...], options: dict[str, Any]
) -> dict[str, tuple[int, Answer]]:
    """Return supersteps and answer by mode; for `Ranks.run`."""
    graph = drawn.build(comm, strategy)
    found = {}
    for mode, how in MODES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of limits, and of running interpreted: asked for here
            try:
                result = getattr(gl, function)(graph, **options, **how)
            except gl.UsageError as error:
                found[mode] = (0, {"error": [str(error)]})
                continue
        assert list(result.vertices.ids) == drawn.ids
        found[mode] = (result.iterations, by_sorted_id(result, fields))
    return found


def calls_of(drawn: Drawn) -> list[Call]:
    """Return the calls for a graph: all; of an undirected one those that have other programs for it."""
    return [*CALLS, *REST] if drawn.directed else [*TRIANGLES, *RANKINGS]


def every_call(comm: Comm, drawn: Drawn, strategy: str) -> tuple[list[Answer], set[str]]:
    """Return what every call answers, compiled, on one thread, and the programs that ran."""
    graph, found, ran = drawn.build(comm, strategy), [], set()
    run_by = run.run_by

    def noted(options: Options, program: gl.VertexProgram, graph: gl.Graph) -> gl.Result:
        ran.add(type(program).__name__)
        return run_by(options, program, graph)

    with warnings.catch_warnings(), patch.object(run, "run_by", noted):
        warnings.simplefilter("ignore", UserWarning)  # of limits and self-loops
        for call in calls_of(drawn):
            try:
                result = getattr(gl, call.function)(graph, threads=1, **call.options(drawn))
                found.append(by_sorted_id(result, call.fields or tuple(result.vertices.columns)))
            except gl.UsageError as error:
                found.append({"error": [str(error)]})
    return found, ran


def as_networkx(drawn: Drawn, simple: bool = False, weight: str = "weight") -> Any:
    """Return the graph in NetworkX: a multigraph with the column as weight, or a simple undirected one."""
    graph = nx.Graph() if simple else nx.MultiDiGraph() if drawn.directed else nx.MultiGraph()
    graph.add_nodes_from(drawn.ids)
    if simple:
        graph.add_edges_from((s, t) for s, t in drawn.edges if s != t)
    else:
        rows = zip(drawn.edges, drawn.columns[weight], strict=True)
        graph.add_weighted_edges_from((s, t, w) for (s, t), w in rows)
    return graph


def of_forty(directed: bool) -> Drawn:
    """A graph with hubs and loops, without parallel edges; undirected with isolated vertices."""
    pairs = {(k % 36, (k * k * 7 + 3 * k) % 32) for k in range(120)}
    edges = sorted(pairs | {(k, k) for k in range(40)} if directed else {(min(e), max(e)) for e in pairs})
    weights = [8.0 if s == t else (k % 16 + 1) / 8 for k, (s, t) in enumerate(edges)]
    return Drawn(list(range(40)), edges, {"weight": weights, "cost": [1] * len(edges)}, directed)
