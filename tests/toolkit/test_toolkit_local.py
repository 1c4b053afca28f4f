"""Independent sets and colourings against a sequential pass and NetworkX."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from tests.mpi.ranks import Ranks
from tests.support.command_line import Run, gaslab
from tests.support.graphs import Drawn, graphs
from tests.support.toolkit import answer, as_networkx

__all__ = ["gaslab"]  # a fixture
IGNORED = pytest.mark.filterwarnings("ignore:the graph has .* self-loop:UserWarning")


@IGNORED
@given(drawn=graphs())
def test_an_independent_set_is_that_of_a_pass_by_id(drawn: Drawn) -> None:
    graph = as_networkx(drawn, simple=True)
    members: set[object] = set()
    for vertex in drawn.ids:
        if not members & set(graph[vertex]):
            members.add(vertex)
    found = answer(drawn, "mis", "member", order="id")["member"]
    assert {v for v, inside in zip(drawn.ids, found, strict=True) if inside} == members


@IGNORED
@given(drawn=graphs(), seed=st.integers(0, 5))
def test_a_random_independent_set_is_maximal(drawn: Drawn, seed: int) -> None:
    graph = as_networkx(drawn, simple=True)
    found = answer(drawn, "mis", "member", seed=seed)["member"]
    inside = {v for v, is_member in zip(drawn.ids, found, strict=True) if is_member}
    assert all(bool(inside & set(graph[v])) is (v not in inside) for v in drawn.ids)
    assert answer(drawn, "mis", "member", seed=seed) == {"member": found}


def warned(comm: Comm, function: str, graph: Any, options: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """Return the warnings of a function, which rank 0 shows, and its answer; for `Ranks.run`."""
    built = gl.Graph.from_networkx(graph, comm=comm)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = getattr(gl, function)(built, **options)
    answers = result.vertices[result.vertices.columns[0]].tolist()
    return comm.bcast([str(one.message) for one in caught]), answers


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize(
    "call", ["mis random", "mis id", "coloring degree", "coloring id", "coloring saturation"]
)
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_self_loops_are_ignored_with_a_warning(ranks: Ranks, call: str, directed: bool) -> None:
    function, order = call.split()
    ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    graph = (nx.MultiDiGraph if directed else nx.MultiGraph)(ring)
    answers = []
    for loops, said in {
        (): None,
        (("c", "c"),): "the graph has 1 self-loop, the first at vertex c",
        (("d", "d"), ("b", "b"), ("b", "b")): "the graph has 3 self-loops, the first at vertex b",
    }.items():
        graph.add_edges_from(loops)
        found, *others = ranks.run(warned, function, graph, {"order": order})
        assert all(other == found for other in others)
        answers.append(found[1])
        graph.remove_edges_from(loops)
        assert len(found[0]) == (said is not None)
        assert not said or (found[0][0].startswith(said) and "drop_self_loops=True" in found[0][0])
    assert answers[1] == answers[0]  # one loop makes no vertex the first by degree whose colours differ
    members_or_colors = dict(zip("abcd", answers[2], strict=True))
    assert all(members_or_colors[u] != members_or_colors[v] for u, v in ring)


def test_the_command_line_warns_of_self_loops(gaslab: Run, tmp_path: Path) -> None:
    file = tmp_path / "loops.tsv"
    file.write_text("1\t2\n2\t2\n")
    for command in ("mis", "coloring"):
        done = gaslab(command, file, "-q")
        assert (done.code, "the graph has 1 self-loop, the first at vertex 2" in done.err) == (0, True)
        assert gaslab(command, file, "-q", "--drop-self-loops").err == ""


def test_seeds_give_different_sets_in_few_supersteps() -> None:
    graph = gl.Graph.from_edges(range(500), range(1, 501), comm=world())
    results = [gl.mis(graph, seed=seed) for seed in range(3)]
    assert len({tuple(result.vertices["member"]) for result in results}) == 3
    assert all(result.iterations < 30 for result in results)
    assert gl.mis(graph, order="id").iterations > 400
    with pytest.raises(gl.UsageError, match="order='ids' is unknown; did you mean 'id'"):
        gl.mis(graph, order="ids")


def sequential(graph: Any, position: dict[Any, tuple[int, int]]) -> list[int]:
    """Return the colours of the rule by saturation: rounds of all who are before their neighbours."""
    colors: dict[Any, int] = {}
    while len(colors) < len(graph):
        seen = {v: {colors[n] for n in graph[v] if n in colors} for v in graph}
        key = {v: (-len(seen[v]), -position[v][1], position[v][0]) for v in graph}
        rest = [v for v in graph if v not in colors]
        first = [v for v in rest if all(n in colors or key[v] < key[n] for n in graph[v])]
        for v in first:
            colors[v] = next(c for c in range(len(graph)) if c not in seen[v])
    return [colors[v] for v in sorted(position, key=lambda v: position[v][0])]


@IGNORED
@given(drawn=graphs())
def test_colors_by_saturation(drawn: Drawn) -> None:
    degree = dict(as_networkx(drawn).degree())
    position = {v: (k, degree[v]) for k, v in enumerate(drawn.ids)}
    found = answer(drawn, "coloring", "color", order="saturation")["color"]
    assert found == sequential(as_networkx(drawn, simple=True), position)


@IGNORED
@given(drawn=graphs())
def test_colors_are_networkx_s(drawn: Drawn) -> None:
    """By id: its pass in the order of ids; by degree: its largest_first, equal degrees in that order."""
    graph, degree = as_networkx(drawn, simple=True), dict(as_networkx(drawn).degree())
    orders = {"id": drawn.ids, "degree": sorted(drawn.ids, key=lambda v: -degree[v])}
    for order, vertices in orders.items():
        expected = nx.greedy_color(graph, strategy=lambda graph, colors, vertices=vertices: vertices)
        found = answer(drawn, "coloring", "color", order=order)["color"]
        assert found == [expected[v] for v in drawn.ids], order


def test_a_simple_graph_is_colored_as_networkx_does() -> None:
    known = nx.gnp_random_graph(80, 0.2, seed=3)
    graph = gl.Graph.from_networkx(known, comm=world())
    result = gl.coloring(graph)
    expected = nx.greedy_color(known, strategy="largest_first")
    assert result.vertices.to_dict("color") == dict(sorted(expected.items()))
    assert result.metrics["answer"] == {"colors": max(expected.values()) + 1}
    clique = gl.coloring(gl.Graph.from_networkx(nx.complete_graph(70), comm=world()), order="id")
    assert clique.vertices["color"].tolist() == list(range(70))
    with pytest.raises(gl.UsageError, match="order='degre' is unknown; did you mean 'degree'"):
        gl.coloring(graph, order="degre")
