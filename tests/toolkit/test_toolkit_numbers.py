"""Numbers that sums cannot bear, infinite, not one, below 0 or denormal, end as no answer that looks done."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from tests.mpi.ranks import Ranks
from tests.support.toolkit import MODES

ENDS = [0, 0, 1, 2], [1, 2, 2, 0]
NAN, INF, TINY, HUGE = math.nan, math.inf, 5e-324, 1e308


def weighed(comm: Comm | None, *values: float, ids: Any = ENDS) -> gl.Graph:
    return gl.Graph.from_edges(*ids, columns={"w": [float(value) for value in values]}, comm=comm or world())


def matrix(comm: Comm | None, *rows: list[float]) -> gl.Graph:
    dense = np.array(rows)
    i, j = np.indices(dense.shape)
    return weighed(comm, *dense.ravel(), ids=(i.ravel(), j.ravel()))


FINITE = "a finite number of at least 0 is needed"
NEITHER = "init= goes with neither personalization nor weight"
SUMS = "personalization needs finite weights of at least 0, with a sum that is positive and finite"
SCALE = "and PageRank divides by it; scale the column, so that it is 1e-290 to 1e+290"
PRODUCTS = "and HITS sums products of two weights; scale the column, so that it is 1e-100 to 1e+100"
STATES = "state weights must be finite and at least 0, and not all 0"
PATHS = "vertices may sum to more than a float64 holds, 1.79769e+308; scale the column down"


def odds(smoothing: str, weight: str, product: str) -> str:
    return (
        f"smoothing={smoothing} times a weight of {weight} is beyond 700: neighbours would be exp({product}) "
        "times as likely to agree; scale one of them down"
    )


# (function, values of the column w, options, the error)
WRONG: list[tuple[str, tuple[float, ...], dict[str, Any], str]] = [
    ("pagerank", (), {"personalization": {0: HUGE, 1: HUGE}}, f"the weights sum to inf; {SUMS}"),
    ("pagerank", (), {"personalization": {0: 0.0, 1: 0}}, f"the weights sum to 0; {SUMS}"),
    ("pagerank", (), {"personalization": {0: 1}, "init": {"score": 1.0}}, NEITHER),
    ("pagerank", (), {"weight": "w", "init": {"score": 1.0}}, NEITHER),
    ("pagerank", (), {"personalization": {}}, f"the weights sum to 0; {SUMS}"),
    ("pagerank", (), {"personalization": {0: 1.0, 1: INF}},
     "personalization[1]=inf: a finite number is needed"),
    ("pagerank", (), {"personalization": {0: 1.0, 1: NAN}},
     "personalization[1]=nan: a finite number is needed"),
    ("pagerank", (), {"personalization": {0: 1.0, 1: -TINY}},
     "personalization[1]=-5e-324: a number of at least 0 is needed"),
    ("pagerank", (), {"personalization": {0: 10**400}},
     f"personalization[0]=1{'0' * 56}...: a number within the range of float64 is needed"),
    ("pagerank", (INF, 1, 1, 1), {"weight": "w"}, f"edge column 'w' is inf on the edge 0 -> 1; {FINITE}"),
    ("pagerank", (5, -1, 1, 1), {"weight": "w"}, f"edge column 'w' is -1.0 on the edge 0 -> 2; {FINITE}"),
    ("pagerank", (HUGE, HUGE, 1, 1), {"weight": "w"},
     f"the weights 'w' of the out-edges of vertex 0 sum to inf, {SCALE}"),
    ("pagerank", (1, 1, TINY, 1), {"weight": "w"},
     f"the weights 'w' of the out-edges of vertex 1 sum to 4.94066e-324, {SCALE}"),
    ("hits", (INF, 1, 1, 1), {"weight": "w"}, f"edge column 'w' is inf on the edge 0 -> 1; {FINITE}"),
    ("hits", (HUGE, HUGE, 1, 1), {"weight": "w"},
     f"the largest value of the edge column 'w' is 1e+308, {PRODUCTS}"),
    ("hits", (1e-163, 1e-163, 1e-163, TINY), {"weight": "w"},
     f"the largest value of the edge column 'w' is 1e-163, {PRODUCTS}"),
    ("sssp", (HUGE, HUGE, 1, 1), {"source": 0, "weight": "w"},
     f"edge column 'w' has lengths up to 1e+308, of which a path of 3 {PATHS}"),
    ("sssp", (1, -TINY, 1, 1), {"source": 0, "weight": "w"},
     "edge column 'w' is -5e-324 on the edge 0 -> 2; at least 0 is needed"),
    ("sssp", (1, 1, 1, 1), {"source": 0, "delta": NAN}, "delta=nan: a finite number is needed"),
    ("distances", (HUGE, HUGE, INF, 1), {"sources": [0], "weight": "w"},
     f"edge column 'w' has lengths up to 1e+308, of which a path of 3 {PATHS}"),
    ("lbp", (INF, 1, 1, 1), {"weight": "w", "prior": {}},
     "edge column 'w' is inf on the edge 0 -> 1; a finite number is needed"),
    ("lbp", (1, 1, 1000, 1), {"weight": "w", "prior": {}},
     odds("1.0", "1000", "1000")),
    ("lbp", (1, 1, -1, 1), {"weight": "w", "prior": {}, "smoothing": 1e5},
     odds("100000.0", "-1", "-100000")),
    ("lbp", (), {"prior": {}, "smoothing": -HUGE},
     odds("-1e+308", "1", "-1e+308")),
    ("lbp", (), {"prior": {}, "smoothing": NAN}, "smoothing=nan: a finite number is needed"),
    ("lbp", (), {"prior": {0: [1, 1], 2: [0, 0]}}, f"the prior of vertex 2 is 0.0; {STATES}"),
    ("lbp", (), {"prior": [[1, 1], [1, -1], [1, 1]]}, f"the prior at position 1 is -1.0; {STATES}"),
    ("lbp", (), {"prior": [[1, 1], [1, NAN], [1, 1]]}, f"the prior at position 1 is nan; {STATES}"),
    ("lbp", (), {"prior": {1: [INF, 1]}}, f"the prior of vertex 1 is inf; {STATES}"),
    ("lbp", (), {"prior": {}, "damping": NAN}, "damping=nan: a finite number is needed; 0.5 is usual"),
    ("jacobi", (INF, 1, 1, 1), {"weight": "w"},
     "edge column 'w' is inf on the edge 0 -> 1; a finite number is needed"),
    ("jacobi", (1, 1, 1, 1), {"weight": "w", "rhs": [1.0, NAN, 2.0]},
     "rhs at position 1 is nan; finite numbers are needed"),
    ("jacobi", (1, 1, 1, 1), {"weight": "w", "rhs": {1: INF}},
     "rhs of vertex 1 is inf; finite numbers are needed"),
    ("jacobi", (1, 1, 1, 1), {"weight": "w", "rhs": pd.Series({2: NAN})},
     "rhs of vertex 2 is nan; finite numbers are needed"),
    ("jacobi", (1, 1, 1, 1), {"weight": "w", "rhs": np.ma.array([1.0, 2.0, 3.0], mask=[0, 0, 1])},
     "rhs at position 2 is nan; finite numbers are needed"),
    ("jacobi", (1, 1, 1, 1), {"weight": "w", "rhs": -INF},
     "rhs at position 0 is -inf; finite numbers are needed"),
    ("jacobi", (1, 1, 1, 1), {"weight": "w", "init": {"x": [0.0, 0.0, NAN]}},
     "init 'x' at position 2 is nan; finite numbers are needed"),
    *(
        (name, (1, 1, 1, 1), {**more, "tolerance": value}, f"tolerance={value!r}: a finite number is needed")
        for name, more in [("pagerank", {}), ("pagerank", {"method": "signal"}), ("hits", {}),
                           ("jacobi", {"weight": "w"}), ("lbp", {"prior": {}})]
        for value in (NAN, INF, -INF)
    ),
]  # fmt: skip


def rank_of_wrong(comm: Comm) -> list[str]:
    said = []
    for name, values, options, _ in WRONG:
        graph = weighed(comm, *values) if values else gl.Graph.from_edges(*ENDS, comm=comm)
        with pytest.raises(gl.UsageError) as caught:
            getattr(gl, name)(graph, **options)
        said.append(str(caught.value))
    return said


@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_numbers_that_are_refused(ranks: Ranks) -> None:
    wanted = [message for *_, message in WRONG]
    for said in ranks.run(rank_of_wrong):
        assert said == wanted


def rank_of_right(comm: Comm) -> list[Any]:
    """Return what is near the bounds, and answered: it depends on ratios alone."""
    found = []
    for scale in (1.0, 1e-280, 1e280):
        graph = weighed(comm, scale, 3 * scale, scale, scale)
        found.append(gl.pagerank(graph, weight="w", tolerance=1e-10).vertices["score"].tolist())
    for scale in (1.0, TINY, 1e-200, 2.0**1020):
        restart = {0: scale, 2: 3 * scale} if scale != TINY else {0: 5e-324, 2: 15e-324}
        graph = gl.Graph.from_edges(*ENDS, comm=comm)
        found.append(gl.pagerank(graph, personalization=restart, tolerance=1e-10).vertices["score"].tolist())
    for scale in (1.0, 1e-100, 3e99, 1e-80):
        graph = weighed(comm, scale, 3 * scale, 2 * scale, 0.0)
        result = gl.hits(graph, weight="w", tolerance=1e-10)
        found.append(result.vertices["hub"].tolist() + result.vertices["authority"].tolist())
    for scale in (1.0, TINY, 1e-200, 2.0**1020):
        result = gl.lbp(gl.Graph.from_edges(*ENDS, comm=comm), {0: [scale, 3 * scale]}, tolerance=1e-9)
        found.append(result.vertices["belief"].ravel().tolist())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_what_depends_on_ratios_is_the_same_at_any_scale(ranks: Ranks) -> None:
    for found in ranks.run(rank_of_right):
        for first, last in ((0, 3), (3, 7), (7, 11), (11, 15)):
            for one in found[first:last]:
                np.testing.assert_allclose(one, found[first], rtol=1e-7)


def rank_of_infinite_lengths(comm: Comm, how: dict[str, Any]) -> list[Any]:
    graph = weighed(comm, 1, 2, INF, INF, ids=([0, 1, 2, 0], [1, 2, 3, 4]))
    near = gl.distances(graph, [0], weight="w", **how).vertices
    return [
        near["distance"].tolist(),
        near["nearest"].tolist(),
        gl.sssp(graph, 0, weight="w", **how).vertices["distance"].tolist(),
    ]


@pytest.mark.parametrize("mode", MODES)
def test_no_path_takes_an_edge_of_infinite_length(ranks: Ranks, mode: str) -> None:
    wanted = [[0.0, 1.0, 3.0, INF, INF], [0, 0, 0, -1, -1], [0.0, 1.0, 3.0, INF, INF]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gl.PerformanceWarning)
        assert ranks.run(rank_of_infinite_lengths, MODES[mode]) == [wanted] * ranks.size


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning", "ignore::gaslab.PerformanceWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", MODES)
def test_what_grows_without_end_is_not_called_converged(mode: str) -> None:
    for graph in (
        matrix(None, [1, 3], [3, 1]),
        matrix(None, [TINY, 0], [0, 4]),
        matrix(None, [1, HUGE], [1, 1]),
    ):
        assert not gl.jacobi(graph, weight="w", max_iterations=700, **MODES[mode]).converged
    # Of the class itself nothing is looked at before.
    path = gl.Graph.from_edges([0], [1], comm=world())
    options: dict[str, Any] = {"max_iterations": 9, **MODES[mode]}
    for prior in ([0.0, 0.0], [NAN, 1.0], [-1.0, 1.0], [INF, 1.0]):
        assert not gl.run(
            gl.programs.BeliefPropagation(), path, init={"prior": {0: prior}}, **options
        ).converged
    options["init"] = {"b": {0: NAN, 1: 1.0}}
    assert not gl.run(
        gl.programs.Jacobi(), matrix(None, [4, 1], [1, 4]), columns={"weight": "w"}, **options
    ).converged


def test_beliefs_of_a_vertex_that_is_sure_and_neighbours_that_differ() -> None:
    graph = weighed(None, -600, -600, -600, ids=([0, 1, 2], [1, 2, 3]))
    belief = gl.lbp(graph, {0: [1, 0], 3: [0.0, 1.0]}, weight="w").vertices["belief"]
    np.testing.assert_allclose(belief, [[1, 0], [0, 1], [1, 0], [0, 1]], atol=1e-200)
    # Three that all differ, of two states: no assignment is likely, and none of the beliefs is lost.
    odd = weighed(None, -600, -600, -600, ids=([0, 1, 2], [1, 2, 0]))
    belief = gl.lbp(odd, {0: [1, 0]}, weight="w", damping=0.5).vertices["belief"]
    np.testing.assert_allclose(belief.sum(axis=1), 1.0)


def rank_of_many_parallel_edges(comm: Comm, how: dict[str, Any]) -> list[int]:
    many = 60_000  # the sum of core numbers over these edges is beyond 2**31
    graph = gl.Graph.from_edges([0] * many + [1] * many, [1] * many + [2] * many, directed=False, comm=comm)
    return list(gl.kcore(graph, **how).vertices["core"].tolist())


@pytest.mark.parametrize("threads", [1, 2])
def test_cores_of_many_parallel_edges(ranks: Ranks, threads: int) -> None:
    assert ranks.run(rank_of_many_parallel_edges, {"threads": threads}) == [[60_000] * 3] * ranks.size


def rank_of_answers_as_columns(comm: Comm) -> list[str]:
    """Return the functions that answer otherwise where the graph has their fields as vertex columns."""
    ends = [0, 0, 1, 2, 3, 5], [1, 2, 2, 3, 4, 6]
    graph = gl.Graph.from_edges(*ends, columns={"w": [9.0] * 6}, directed=False, comm=comm)
    loops = gl.Graph.from_edges(
        [*ends[0], *range(7)], [*ends[1], *range(7)], columns={"w": [1.0] * 6 + [9.0] * 7}, comm=comm
    )
    calls: list[tuple[str, gl.Graph, dict[str, Any]]] = [
        ("pagerank", graph, {}), ("pagerank", graph, {"weight": "w"}),
        ("pagerank", graph, {"method": "signal"}),
        ("pagerank", graph, {"unnormalised": True}), ("pagerank", graph, {"personalization": {1: 1.0}}),
        ("hits", graph, {}), ("degrees", graph, {}), ("bfs", graph, {"source": 0}),
        ("bfs", graph, {"source": 0, "parents": True}), ("sssp", graph, {"source": 0}),
        ("distances", graph, {"sources": [0]}), ("components", graph, {}), ("strong_components", loops, {}),
        ("kcore", graph, {}), ("cdlp", graph, {}), ("coloring", graph, {}),
        ("coloring", graph, {"order": "saturation"}),
        ("mis", graph, {"order": "id"}), ("triangles", graph, {}),
        ("triangles", graph, {"per_vertex": False}),
        ("triangles", loops, {}), ("clustering", graph, {}), ("clustering", loops, {}),
        ("clustering", loops, {"definition": "graphalytics"}), ("diameter", graph, {}),
        ("lbp", graph, {"prior": {0: [1.0, 3.0]}}), ("jacobi", loops, {"weight": "w"}),
    ]  # fmt: skip
    wrong = []
    for name, on, options in calls:
        before = getattr(gl, name)(on, **options)
        columns = [c for c in before.vertices.columns if before.vertices[c].dtype.kind in "bif"]
        table = {"id": list(range(7)), **{c: np.ones_like(before.vertices[c]) * 3 for c in columns}}
        after = getattr(gl, name)(on.with_vertices(table), **options)
        same = (np.array_equal(before.vertices[c], after.vertices[c]) for c in before.vertices.columns)
        if before.iterations != after.iterations or not all(same):
            wrong.append(f"{name} {options}")
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_a_column_with_the_name_of_a_field_is_not_where_the_toolkit_starts(ranks: Ranks) -> None:
    assert ranks.run(rank_of_answers_as_columns) == [[]] * ranks.size
    graph = gl.Graph.from_edges([0, 1], [1, 2], comm=world()).with_vertices(
        {"id": [0, 1, 2], "deep": [-1, 5, -1]}
    )
    bound = gl.bfs(graph, 0, columns={"level": "deep"}).vertices["level"]  # unless it is named
    assert bound.tolist() == [0, 5, -1]


@pytest.mark.parametrize(
    ("name", "option"),
    [("sssp", "columns"), ("distances", "init"), ("hits", "columns"), ("lbp", "init"), ("jacobi", "columns"),
     ("cdlp", "max_iterations")],
)  # fmt: skip
def test_what_a_function_sets_itself_is_refused(name: str, option: str) -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2], columns={"weight": [1.0, 2.0]})
    needed = {"sssp": {"source": 0}, "distances": {"sources": [0]}, "lbp": {"prior": {}}}.get(name, {})
    with pytest.raises(gl.UsageError, match=rf"{name}\(\) sets {option} itself"):
        getattr(gl, name)(graph, **needed, **{option: {}})
