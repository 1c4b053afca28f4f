"""What the table of docs/toolkit.md pairs with a function of NetworkX answers as it does.

On multigraphs with self-loops, parallel edges and isolated vertices. Where NetworkX refuses a graph, or the
two differ on purpose, the check says so, and compares with the definition that the table states.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from tests.mpi.launcher import ROOT
from tests.mpi.ranks import Ranks
from tests.support.graphs import Drawn, graphs
from tests.support.toolkit import as_networkx

Answer = dict[str, Any]


def column(result: gl.Result, *names: str) -> Answer:
    return {name: result.vertices.to_dict(name) for name in names}


def simple(graph: Any) -> Any:
    """Return the graph without parallel edges; self-loops stay."""
    return (nx.DiGraph if graph.is_directed() else nx.Graph)(graph)


def without_loops(graph: Any) -> Any:
    plain = simple(graph)
    plain.remove_edges_from(list(nx.selfloop_edges(plain)))
    return plain


# ---- rankings --------------------------------------------------------------------------------------


def ask_pagerank(graph: gl.Graph, ids: list[Any]) -> Answer:
    exact = {"tolerance": 1e-13, "max_iterations": 3000}
    restarts = {ids[0]: 1.0, ids[-1]: 3.0}
    results = {
        "plain": gl.pagerank(graph, **exact),
        "weighted": gl.pagerank(graph, weight="weight", **exact),
        "personal": gl.pagerank(graph, weight="weight", personalization=restarts, **exact),
        "signal": gl.pagerank(graph, method="signal", tolerance=1e-13, max_iterations=3000),
        "async": gl.pagerank(graph, engine="async", tolerance=1e-13),
    }
    return {name: result.vertices.to_dict("score") for name, result in results.items()}


def check_pagerank(graph: Any, ids: list[Any], found: Answer) -> None:
    exact = {"tol": 1e-14, "max_iter": 3000}
    plain = nx.pagerank(graph, weight=None, **exact)
    expected = {
        "plain": plain, "signal": plain, "async": plain, "weighted": nx.pagerank(graph, **exact),
        "personal": nx.pagerank(graph, personalization={ids[0]: 1.0, ids[-1]: 3.0}, **exact)
        if len(ids) > 1 else {ids[0]: 1.0},
    }  # fmt: skip
    for name, scores in expected.items():
        assert found[name] == pytest.approx(scores, abs=1e-9), name


def ask_hits(graph: gl.Graph, ids: list[Any]) -> Answer:
    return column(gl.hits(graph, weight="weight", tolerance=1e-13, max_iterations=30_000), "hub", "authority")


def check_hits(graph: Any, ids: list[Any], found: Answer) -> None:
    """NetworkX's vectors are any of those of the largest singular value: compared where there is one."""
    sizes = np.linalg.svd(nx.to_numpy_array(graph, nodelist=ids), compute_uv=False)
    if len(ids) > 1 and sizes[1] < 0.9 * sizes[0]:
        hub, authority = nx.hits(graph, tol=1e-13)
        assert found["hub"] == pytest.approx(hub, abs=1e-6)
        assert found["authority"] == pytest.approx(authority, abs=1e-6)
    for name in ("hub", "authority"):
        assert math.fsum(found[name].values()) == pytest.approx(1.0)


def ask_degrees(graph: gl.Graph, ids: list[Any]) -> Answer:
    return column(gl.degrees(graph), "in_edges", "out_edges", "edges")


def check_degrees(graph: Any, ids: list[Any], found: Answer) -> None:
    directed = graph.is_directed()
    assert found == {
        "edges": dict(graph.degree()),
        "in_edges": dict(graph.in_degree() if directed else graph.degree()),
        "out_edges": dict(graph.out_degree() if directed else graph.degree()),
    }


# ---- paths -----------------------------------------------------------------------------------------


def ask_bfs(graph: gl.Graph, ids: list[Any]) -> Answer:
    return column(gl.bfs(graph, ids[0]), "level")


def check_bfs(graph: Any, ids: list[Any], found: Answer) -> None:
    levels = nx.single_source_shortest_path_length(graph, ids[0])
    assert found["level"] == {v: levels.get(v, -1) for v in ids}


def ask_sssp(graph: gl.Graph, ids: list[Any]) -> Answer:
    results = {
        "weighted": gl.sssp(graph, ids[0]),
        "plain": gl.sssp(graph, ids[0], weight=None),
        "delta": gl.sssp(graph, ids[0], delta=1.0),
    }
    return {name: result.vertices.to_dict("distance") for name, result in results.items()}


def check_sssp(graph: Any, ids: list[Any], found: Answer) -> None:
    for name, weight in {"weighted": "weight", "delta": "weight", "plain": None}.items():
        lengths = nx.single_source_dijkstra_path_length(graph, ids[0], weight=weight)
        assert found[name] == {v: lengths.get(v, math.inf) for v in ids}, name


def ask_distances(graph: gl.Graph, ids: list[Any]) -> Answer:
    return column(gl.distances(graph, ids[::2]), "distance", "nearest")


def check_distances(graph: Any, ids: list[Any], found: Answer) -> None:
    sources = ids[::2]
    lengths = nx.multi_source_dijkstra_path_length(graph, set(sources))
    assert found["distance"] == {v: lengths.get(v, math.inf) for v in ids}
    each = {s: nx.single_source_dijkstra_path_length(graph, s) for s in sources}
    cells = nx.voronoi_cells(graph, set(sources))
    assert cells.pop("unreachable", set()) == {v for v in ids if v not in lengths}
    for center, cell in cells.items():
        for v in cell:  # of sources that are equally near NetworkX has any
            nearest = [s for s in sources if each[s].get(v) == lengths[v]]
            assert (center in nearest, found["nearest"][v]) == (True, nearest[0])


def ask_diameter(graph: gl.Graph, ids: list[Any]) -> Answer:
    return dict(gl.diameter(graph).metrics["answer"])


def check_diameter(graph: Any, ids: list[Any], found: Answer) -> None:
    """Ours is a lower bound, and bounds the connected pairs where NetworkX refuses a graph in parts."""
    ways = [d for _, row in nx.all_pairs_shortest_path_length(graph) for d in row.values()]
    assert (found["diameter"] > 0) == (max(ways) > 0)
    assert found["diameter"] <= max(ways)
    connected = nx.is_strongly_connected if graph.is_directed() else nx.is_connected
    if connected(graph):
        assert found["diameter"] <= nx.diameter(graph)


# ---- groups ----------------------------------------------------------------------------------------


def smallest(parts: Any, ids: list[Any]) -> dict[Any, Any]:
    place = {v: k for k, v in enumerate(ids)}
    named = {v: min(part, key=place.__getitem__) for part in parts for v in part}
    return {v: named[v] for v in ids}


def ask_components(graph: gl.Graph, ids: list[Any]) -> Answer:
    return column(gl.components(graph), "component")


def check_components(graph: Any, ids: list[Any], found: Answer) -> None:
    parts = nx.weakly_connected_components if graph.is_directed() else nx.connected_components
    assert found["component"] == smallest(parts(graph), ids)


def ask_strong_components(graph: gl.Graph, ids: list[Any]) -> Answer:
    return column(gl.strong_components(graph), "component")


def check_strong_components(graph: Any, ids: list[Any], found: Answer) -> None:
    parts = nx.strongly_connected_components if graph.is_directed() else nx.connected_components
    assert found["component"] == smallest(parts(graph), ids)


def ask_kcore(graph: gl.Graph, ids: list[Any]) -> Answer:
    return column(gl.kcore(graph), "core")


def check_kcore(graph: Any, ids: list[Any], found: Answer) -> None:
    """NetworkX refuses self-loops and multigraphs; a loop is two of the ends that stay at a vertex."""
    assert found["core"] == peeled(graph)
    if not nx.number_of_selfloops(graph) and simple(graph).size() == graph.size():
        assert found["core"] == nx.core_number(simple(graph))


def peeled(graph: Any) -> dict[Any, int]:
    """Remove the vertex with the smallest degree again and again: its core is the largest of these so far."""
    left, core, level = graph.copy(), {}, 0
    while left:
        vertex, degree = min(left.degree(), key=lambda row: row[1])
        core[vertex] = level = max(level, degree)
        left.remove_node(vertex)
    return core


# ---- triangles: of graphs without parallel edges, as in NetworkX -------------------------------------


def ask_triangles(graph: gl.Graph, ids: list[Any]) -> Answer:
    result = gl.triangles(graph)
    return column(result, *(name for name in result.vertices.columns if name.endswith("triangles")))


def check_triangles(graph: Any, ids: list[Any], found: Answer) -> None:
    if not graph.is_directed():
        assert found["triangles"] == nx.triangles(graph)
        return
    through = nx.to_numpy_array(without_loops(graph), nodelist=ids, weight=None)
    cycles = np.diag(through @ through @ through).astype(int)  # NetworkX's triangles refuses directed graphs
    assert found["cycle_triangles"] == dict(zip(ids, cycles.tolist(), strict=True))


def ask_clustering(graph: gl.Graph, ids: list[Any]) -> Answer:
    return column(gl.clustering(graph), "clustering")


def check_clustering(graph: Any, ids: list[Any], found: Answer) -> None:
    assert found["clustering"] == pytest.approx(nx.clustering(graph))


def ask_transitivity(graph: gl.Graph, ids: list[Any]) -> Answer:
    try:
        return {"transitivity": gl.transitivity(graph)}
    except gl.UsageError as error:
        return {"error": str(error)}


def check_transitivity(graph: Any, ids: list[Any], found: Answer) -> None:
    if graph.is_directed():  # NetworkX's answer for such is not a definition of its documentation
        assert "is defined only for undirected graphs" in found["error"]
    else:
        assert found["transitivity"] == pytest.approx(nx.transitivity(graph))


# ---- choices ---------------------------------------------------------------------------------------


def ask_coloring(graph: gl.Graph, ids: list[Any]) -> Answer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of self-loops: a test of its own
        return {
            order: gl.coloring(graph, order=order).vertices.to_dict("color")
            for order in ("degree", "id", "saturation")
        }


def check_coloring(graph: Any, ids: list[Any], found: Answer) -> None:
    undirected = graph.to_undirected(as_view=True) if graph.is_directed() else graph
    largest_first = sorted(ids, key=lambda v: -graph.degree(v))
    assert found["degree"] == nx.greedy_color(undirected, lambda *_: largest_first)
    if not graph.is_directed():
        assert found["degree"] == nx.greedy_color(graph, "largest_first")
    assert found["id"] == nx.greedy_color(undirected, lambda *_: ids)
    for colors in (found["saturation"], nx.greedy_color(undirected, "DSATUR")):
        assert all(colors[u] != colors[v] for u, v in graph.edges() if u != v)


def ask_mis(graph: gl.Graph, ids: list[Any]) -> Answer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of self-loops: a test of its own
        return column(gl.mis(graph), "member")


def check_mis(graph: Any, ids: list[Any], found: Answer) -> None:
    """NetworkX's is another set; it fails where it draws a vertex with a self-loop first."""
    plain = nx.Graph(without_loops(graph))
    theirs = set(nx.maximal_independent_set(plain, seed=1))
    for members in ({v for v, inside in found["member"].items() if inside}, theirs):
        assert all(bool(members & set(plain[v])) is (v not in members) for v in ids)


# ---- the table -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """What NetworkX's functions are called, what to ask of the toolkit, and how to compare."""

    names: str
    ask: Callable[[gl.Graph, list[Any]], Answer]
    check: Callable[[Any, list[Any], Answer], None]
    parallel: bool = True  # whether it takes parallel edges


PAIRS = {
    "bfs": Pair("single_source_shortest_path_length", ask_bfs, check_bfs),
    "hits": Pair("hits", ask_hits, check_hits),
    "pagerank": Pair("pagerank", ask_pagerank, check_pagerank),
    "components": Pair("weakly_connected_components", ask_components, check_components),
    "strong_components": Pair(
        "strongly_connected_components", ask_strong_components, check_strong_components
    ),
    "sssp": Pair("single_source_dijkstra_path_length", ask_sssp, check_sssp),
    "distances": Pair("multi_source_dijkstra_path_length voronoi_cells", ask_distances, check_distances),
    "diameter": Pair("diameter", ask_diameter, check_diameter),
    "degrees": Pair("in_degree out_degree degree", ask_degrees, check_degrees),
    "kcore": Pair("core_number", ask_kcore, check_kcore),
    "triangles": Pair("triangles", ask_triangles, check_triangles, parallel=False),
    "clustering": Pair("clustering", ask_clustering, check_clustering, parallel=False),
    "transitivity": Pair("transitivity", ask_transitivity, check_transitivity, parallel=False),
    "coloring": Pair("greedy_color largest_first DSATUR", ask_coloring, check_coloring),
    "mis": Pair("maximal_independent_set", ask_mis, check_mis),
}  # fmt: skip


CENTRALITIES = {  # compared by test_centrality.py and test_eigenvector_and_katz.py
    "betweenness": "betweenness_centrality edge_betweenness_centrality",
    "closeness": "closeness_centrality",
    "harmonic": "harmonic_centrality",
    "eigenvector": "eigenvector_centrality",
    "katz": "katz_centrality",
}


def test_every_pair_of_the_table_is_compared() -> None:
    rows = [line.split("|") for line in (ROOT / "docs" / "toolkit.md").read_text().splitlines()]
    table = {row[1].strip(" `"): re.findall(r"`(?!scipy)([\w.]+)`", row[6]) for row in rows if len(row) == 8}
    compared = {name: pair.names for name, pair in PAIRS.items()} | CENTRALITIES
    assert {name: names.split() for name, names in compared.items()} == {
        name: theirs for name, theirs in table.items() if theirs
    }


def asked(comm: Comm, name: str, graph: Any, ids: list[Any]) -> Answer:
    """Return what a function answers of a NetworkX graph; for `Ranks.run`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gl.ConvergenceWarning)  # a limit is as good as a tolerance of 1e-13
        return PAIRS[name].ask(gl.Graph.from_networkx(graph, comm=comm), ids)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
@given(drawn=graphs())
def test_it_answers_as_networkx(ranks: Ranks, name: str, drawn: Drawn) -> None:
    graph = as_networkx(drawn)
    graph = graph if PAIRS[name].parallel else simple(graph)
    found, *others = ranks.run(asked, name, graph, drawn.ids)
    assert all(repr(other) == repr(found) for other in others)
    PAIRS[name].check(graph, drawn.ids, found)


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("name", ["triangles", "clustering", "transitivity"])
def test_parallel_edges_are_refused_where_the_table_says_so(name: str, directed: bool) -> None:
    graph = gl.Graph.from_edges([0, 0, 1, 2], [1, 1, 2, 0], directed=directed, comm=world())
    reason = "this one is directed" if directed and name == "transitivity" else "drop_duplicates=True"
    with pytest.raises(gl.UsageError, match=reason):
        getattr(gl, name)(graph)


# ---- weights on some edges only --------------------------------------------------------------------

WEIGHTED: dict[str, tuple[Callable[[gl.Graph], gl.Result], str, Callable[[Any], dict[Any, float]]]] = {
    "sssp": (
        lambda graph: gl.sssp(graph, 0), "distance",
        lambda graph: nx.single_source_dijkstra_path_length(graph, 0),
    ),
    "distances": (
        lambda graph: gl.distances(graph, [0]), "distance",
        lambda graph: nx.multi_source_dijkstra_path_length(graph, {0}),
    ),
    "pagerank": (
        lambda graph: gl.pagerank(graph, weight="weight", tolerance=1e-13), "score",
        lambda graph: nx.pagerank(graph, tol=1e-14),
    ),
    "hits": (lambda graph: gl.hits(graph, weight="weight"), "hub", lambda graph: nx.hits(graph)[0]),
}  # fmt: skip


def of_some_weights(comm: Comm, name: str, graph: Any) -> tuple[str, Answer]:
    """Return whether a function refuses the graph, warns or is silent, and its answer; for `Ranks.run`."""
    call, field, _ = WEIGHTED[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = call(gl.Graph.from_networkx(graph, comm=comm)).vertices.to_dict(field)
        except gl.GaslabError:
            return "refuses", {}
    warned = comm.bcast(bool(caught))  # rank 0 shows warnings
    return "warns" if warned else "is silent", answer


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_a_weight_on_some_edges_is_never_ignored_in_silence(ranks: Ranks, name: str, directed: bool) -> None:
    """NetworkX takes 1 where the attribute is missing: here that is its answer, a warning or an error."""
    graph = (nx.MultiDiGraph if directed else nx.MultiGraph)([(0, 0), (1, 2), (2, 3), (3, 0), (1, 3)])
    graph.add_edge(0, 1, weight=3.0)
    graph.add_edge(2, 3, weight=0.5)
    for how, found in ranks.run(of_some_weights, name, graph):
        if how == "is silent":
            assert found == pytest.approx(WEIGHTED[name][2](graph), abs=1e-9)
