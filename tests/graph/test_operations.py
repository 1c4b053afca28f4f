"""Sets, maps, folds and derived graphs against plain Python and NetworkX, on any ranks and cuts."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES, Drawn, described, graphs, scored

LIMIT = 2


def busy(v: Any) -> bool:
    return v.degree > LIMIT


def odd(v: Any) -> bool:
    return v.score % 2 == 1


def plus(v: Any) -> float:
    return half(v.score) + v.out_degree


def half(x: Any) -> float:
    return x / 2


def span(source: Any, e: Any, target: Any) -> int:
    return source.score - 3 * target.score + e.cost


def heavy(source: Any, e: Any, target: Any) -> bool:
    return e.weight >= 2.0 or source.id == target.id


def common(a: int, b: int) -> int:
    while b != 0:
        a, b = b, a % b
    return abs(a)


def size(v: Any) -> int:
    return v.score


def on_ranks(comm: Comm, drawn: Drawn, strategy: str, scores: dict[Any, int], some: list[Any]) -> Any:
    graph = drawn.build(comm, strategy)
    table = {"id": list(scores), "score": list(scores.values())}
    graph = graph.with_vertices(table, default=1)
    other = next(name for name in STRATEGIES if name != strategy)
    chosen, many = graph.vertices(some), graph.vertices(busy)
    moved = graph.partitioned(other)
    mapped = graph.map_vertices(plus).map_edges(span)
    return {
        "whole": described(graph),
        "moved": described(moved),
        "moved set": list(chosen.on(moved)),
        "sets": [list(s) for s in (chosen, many, graph.vertices(odd), chosen & many, chosen | many,
                                   chosen - many, chosen ^ many, ~chosen)],
        "sizes": [len(chosen), len(many), len(~many)],
        "in": [one in chosen for one in drawn.ids[:3]],
        "equal": [chosen == graph.vertices(some), chosen == ~chosen],
        "neighbors": [list(graph.neighbors(chosen, way)) for way in (gl.IN, gl.OUT, gl.ALL)],
        "mapped": described(mapped),
        "reduced": [graph.map_reduce_vertices(size, op) for op in ("sum", "min", "max")]
        + [graph.map_reduce_edges(span, op) for op in ("sum", "min", "max")]
        + [graph.map_reduce_vertices(busy)]
        + [graph.fold_vertices(size, common), graph.fold_edges(span, common)],
        "cut out": described(graph.subgraph(some)),
        "cut by edges": described(graph.subgraph(odd, edges=heavy)),
        "cut twice": described(graph.subgraph(some).subgraph(odd)),
        "reverse": described(graph.reverse()),
        "undirected": described(graph.to_undirected()),
        "all undirected": described(graph.to_undirected(parallel="keep")),
        "bound": gl.run(Bound(), graph, max_iterations=1).vertices["score"].tolist(),
        "oracle": gl.run(Bound(), graph, max_iterations=1, engine="reference").vertices["score"].tolist(),
    }  # fmt: skip


class Bound(gl.VertexProgram):
    class Vertex(gl.Vertex):
        score: gl.int32 = 77

    def apply(self, v: Vertex) -> None:
        v.score = v.score + 1


@pytest.mark.slow
@given(data=st.data())
def test_operations_are_plain_python(ranks: Ranks, data: st.DataObject) -> None:
    drawn = data.draw(graphs())
    some = data.draw(st.lists(st.sampled_from(drawn.ids), unique=True))
    scores = data.draw(st.dictionaries(st.sampled_from(drawn.ids), st.integers(-9, 9)))
    answers = ranks.run(on_ranks, drawn, data.draw(st.sampled_from(STRATEGIES)), scores, some)
    expected = in_python(drawn, {one: scores.get(one, 1) for one in drawn.ids}, set(some))
    for answer in answers:
        for name, value in expected.items():
            assert answer[name] == value, name


def in_python(drawn: Drawn, score: dict[Any, int], some: set[Any]) -> dict[str, Any]:
    """Return what `on_ranks` must, from lists and a NetworkX graph."""
    ids, directed = drawn.ids, drawn.directed
    rows = [(s, t, w, c) for (s, t), w, c in
            zip(drawn.edges, drawn.columns["weight"], drawn.columns["cost"], strict=True)]  # fmt: skip
    net = nx.MultiDiGraph() if directed else nx.MultiGraph()
    net.add_nodes_from(ids)
    net.add_edges_from((s, t) for s, t, *_ in rows)
    many, odds = {v for v in ids if net.degree(v) > LIMIT}, {v for v in ids if score[v] % 2 == 1}

    def graph_of(vertices: Any, edges: Any, way: bool = directed) -> dict[str, Any]:
        listed = sorted(edges, key=repr)
        return {
            "edges": listed, "vertices": sorted(((v, score[v]) for v in vertices), key=repr),
            "sizes": (len(vertices), len(listed), way),
        }  # fmt: skip

    def inside(vertices: set[Any], keep: Any = lambda row: True) -> dict[str, Any]:
        chosen = [row for row in rows if row[0] in vertices and row[1] in vertices and keep(row)]
        return graph_of(vertices, chosen)

    def ordered(vertices: Any) -> list[Any]:
        return [v for v in ids if v in vertices]

    into = {s for s, t, *_ in rows if t in some}
    out = {t for s, t, *_ in rows if s in some}
    spans = [score[s] - 3 * score[t] + c for s, t, _, c in rows]
    place = {v: k for k, v in enumerate(ids)}
    first: dict[Any, Any] = {}
    for down in (False, True):  # those that lead up come first
        for s, t, w, c in rows:
            if (place[s] > place[t]) == down:
                low, high = (t, s) if down else (s, t)
                first.setdefault((low, high), (low, high, w, c))
    up = [(t, s, w, c) if place[s] > place[t] else (s, t, w, c) for s, t, w, c in rows]
    values = list(score.values())
    going = net.out_degree if directed else net.degree
    return {
        "whole": graph_of(ids, rows),
        "moved": graph_of(ids, rows),
        "moved set": ordered(some),
        "sets": [ordered(s) for s in (some, many, odds, some & many, some | many, some - many, some ^ many,
                                      set(ids) - some)],
        "sizes": [len(some), len(many), len(ids) - len(many)],
        "in": [one in some for one in ids[:3]],
        "equal": [True, False],
        "neighbors": [ordered(s) for s in ((into, out, into | out) if directed else [into | out] * 3)],
        "mapped": {
            "edges": sorted(((*row, x) for row, x in zip(rows, spans, strict=True)), key=repr),
            "vertices": sorted(((v, score[v], score[v] / 2 + going(v)) for v in ids), key=repr),
            "sizes": (len(ids), len(rows), directed),
        },
        "reduced": [sum(values), min(values), max(values), sum(spans), min(spans), max(spans), len(many),
                    *(one_gcd(numbers) for numbers in (values, spans))],
        "cut out": inside(some),
        "cut by edges": inside(odds, lambda row: row[2] >= 2.0 or row[0] == row[1]),
        "cut twice": inside(some & odds),
        "reverse": graph_of(ids, [(t, s, w, c) for s, t, w, c in rows]),
        "undirected": graph_of(ids, first.values(), False),
        "all undirected": graph_of(ids, up, False),
        "bound": [x + 1 for x in values],
        "oracle": [x + 1 for x in values],
    }  # fmt: skip


def one_gcd(numbers: list[int]) -> int:
    return math.gcd(*numbers) if len(numbers) > 1 else numbers[0]


def test_a_subgraph_keeps_the_ids(ranks: Ranks) -> None:
    assert set(ranks.run(_cut_words)) == {
        (("b", "d"), "vertex 'a' is not in the subgraph", (("b", 2), ("d", 2)), True)
    }


def _cut_words(comm: Comm) -> Any:
    graph = gl.Graph.from_edges(["a", "b", "d", "d"], ["b", "d", "b", "a"], comm=comm)
    part = graph.subgraph(["d", "b"])
    try:
        part.ids.find(["a"])
    except gl.VertexNotFound as error:
        text = str(error)
    degrees = tuple(gl.degrees(part).vertices.to_dict("edges").items())
    different = part.fingerprint != graph.fingerprint
    return tuple(part.ids.lookup([0, 1]).tolist()), text, degrees, different


def test_the_sides_of_a_subgraph() -> None:
    graph = gl.Graph.from_edges([3, 4, 5], [3, 9, 3], bipartite=True).with_vertices(
        {"id": [3, 4, 5, 3, 9], "side": [0, 0, 0, 1, 1], "x": [1.5, 2.5, 3.5, 4.5, 5.5]}
    )

    def on_left(v: Any) -> bool:
        return v.side == 0 and v.x > 2.0

    assert list(graph.vertices(on_left)) == [4, 5]
    assert list(graph.vertices([gl.right(3)]) | graph.vertices(on_left)) == [4, 5, gl.right(3)]
    part = graph.subgraph([5, gl.right(3)])
    assert (part.num_left, part.bipartite, part.vertex_columns["x"].tolist()) == (1, True, [3.5, 4.5])
    assert part.ids.marked([0, 1]) == [5, gl.right(3)]


def no_return(v: Any) -> Any:  # noqa: RET503
    if v.degree > 1:
        return 1


def divides(v: Any) -> int:
    return 1 // (v.id != v.id)


def cuts(source: Any, e: Any, target: Any) -> int:
    return 5 // (target.in_degree - 1)


def by_name(v: Any) -> Any:
    return v.id


def unknown(v: Any) -> Any:
    return v.scor


def writes(v: Any) -> Any:
    v.score = 1
    return 1


def two(v: Any, e: Any) -> int:
    return 1


def not_bool(v: Any) -> int:
    return v.degree


def sided(v: Any) -> int:
    return v.side


def widens(a: Any, b: Any) -> float:
    return a / b


def draws(v: Any) -> float:
    return gl.uniform()


G = scored()
ERRORS: list[tuple[Any, str]] = [
    (lambda: G.vertices(unknown), "Vertex has no field 'scor'; did you mean 'score'?"),
    (lambda: G.vertices(two), "two takes 2 parameters; write def two(v)"),
    (lambda: G.map_edges(size), "size takes 1 parameters; write def size(source, e, target)"),
    (lambda: G.vertices(by_name), "by_name returns a vertex id; a column holds numbers"),
    (lambda: G.vertices(not_bool), "not_bool returns int; a predicate returns a bool"),
    (lambda: G.vertices(sided),
     "sided reads v.side, and the graph is not bipartite; make it with bipartite=True (--bipartite)"),
    (lambda: G.map_vertices(writes), "a helper only reads; return the value"),
    (lambda: G.map_vertices(no_return), "no_return may end without a value; return one on every path"),
    (lambda: G.map_vertices(draws), "draws draws; only a vertex program can draw"),
    (lambda: G.map_vertices(3), "functions=3: a function is needed, not int; write def f(v):"),
    (lambda: G.map_vertices(id=size), "a column cannot be named 'id'"),
    (lambda: G.map_vertices(divides), "divides failed at vertex 0: integer division or modulo by zero"),
    (lambda: G.map_edges(cuts), "cuts failed at edge 0 -> 1: integer division or modulo by zero"),
    (lambda: G.fold_vertices(size, widens),
     "widens joins two values of type int but returns float; make them agree"),
    (lambda: G.map_reduce_vertices(size, "mean"),
     "combine='mean' is unknown; known: max, min, sum"),
    (lambda: G.neighbors([0], 7), "direction=7: gl.IN, gl.OUT or gl.ALL is needed"),
    (lambda: G.to_undirected("sum"), "parallel='sum' is unknown; known: first, keep"),
    (lambda: G.vertices([5]), "vertex 5 is not in the graph, whose ids are 0 to 2"),
    (lambda: G.vertices() & [1], "a set of vertices is needed, not list; graph.vertices(...) makes one"),
    (lambda: G.vertices() & gl.Graph.from_edges([0], [1]).vertices(),
     "the set belongs to another graph; make one for this graph from its ids"),
]  # fmt: skip


@pytest.mark.parametrize(("act", "text"), ERRORS, ids=[text[:40] for _, text in ERRORS])
def test_errors(act: Any, text: str) -> None:
    with pytest.raises(gl.GaslabError) as error:
        act()
    assert text in str(error.value)
    assert Counter(str(error.value))["\n"] in (0, 1, 2)


def test_functions_run_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    from gaslab.compiler import compile_tree
    from gaslab.graph import transform

    monkeypatch.setattr(transform, "compile_tree", lambda tree, comm: compile_tree(tree, comm, "never"))
    graph = G.map_vertices(plus).map_edges(gap=span_of_scores)
    assert described(graph)["vertices"] == [(0, 1, 2.5), (1, 2, 1.0), (2, 3, 1.5)]
    assert described(graph)["edges"] == [(0, 1, -1), (0, 2, -2)]
    assert graph.fold_vertices(size, common) == 1


def span_of_scores(source: Any, e: Any, target: Any) -> int:
    return source.score - target.score


def repeated(comm: Comm) -> list[tuple[Any, Any]]:
    counts = [2, 0, 3]
    graph = gl.Graph.from_edges([0, 1, 1], [1, 2, 0], columns={"n": counts}, comm=comm).repeat_edges("n")
    assert graph.num_vertices == 3
    mine = list(zip(*(graph.ids.lookup(end).tolist() for end in graph.edges()), strict=True))
    assert graph.edge_columns["n"].size == len(mine)
    return sorted(edge for part in comm.allgather(mine) for edge in part)


def test_edges_are_repeated_as_often_as_a_column_says(ranks: Ranks) -> None:
    assert ranks.run(repeated)[0] == [(0, 1)] * 2 + [(1, 0)] * 3


def test_vectors_and_lists_of_an_edge_are_repeated_with_it() -> None:
    columns = {"n": [3, 0, 2], "vector": [[1, 2], [3, 4], [5, 6]], "list": [[7], [], [8, 9]]}
    made = gl.Graph.from_edges([0, 1, 2], [1, 2, 3], columns=columns).repeat_edges("n").edge_columns
    assert made["vector"].tolist() == [[1, 2]] * 3 + [[5, 6]] * 2
    assert made["list"].tolist() == [[7]] * 3 + [[8, 9]] * 2


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([1.5], r"edge column 'n' is 1\.5 on the edge 0 -> 1; a whole number from 0 to 2147483647 is needed"),
        ([-1], "edge column 'n' is -1 on the edge 0 -> 1"),
        ([2**31], "edge column 'n' is 2147483648 on the edge 0 -> 1"),
        ([[1, 2]], r"edge column 'n' has rows of shape \(2,\); a number is needed"),
    ],
)
def test_a_column_that_repeats_no_edges_is_refused(column: Any, said: str) -> None:
    graph = gl.Graph.from_edges([0], [1], columns={"n": column})
    with pytest.raises(gl.UsageError, match=said):
        graph.repeat_edges("n")
    with pytest.raises(gl.UsageError, match=r"the graph has no edge column 'm'; did you mean 'n'|known: n"):
        graph.repeat_edges("m")


def too_many(comm: Comm) -> str:
    columns = {"n": [2**31 - 1, 0], "vector": [[1.0] * 50] * 2, "list": [[7] * 900, []]}
    graph = gl.Graph.from_edges([0, 1], [1, 2], columns=columns, comm=comm)
    with pytest.raises(gl.UsageError) as refused:
        graph.repeat_edges("n")
    return str(refused.value)


def test_ranks_refuse_together_what_does_not_fit(ranks: Ranks) -> None:
    """Some have no edge, and one the long list that is repeated."""
    said = ranks.run(too_many)
    assert len(set(said)) == 1
    assert "edge column 'n' sums to 2,147,483,647 edges, about 1" in said[0]


def test_more_edges_than_fit_are_refused() -> None:
    many = gl.Graph.from_edges([0] * 2000, [1] * 2000, columns={"n": [2**31 - 1] * 2000})
    with pytest.raises(
        gl.UsageError, match=r"edge column 'n' sums to 4,294,967,294,000 edges, about .*B; is it"
    ):
        many.repeat_edges("n")
