"""Every function of the toolkit on the smallest graphs: no vertices, no edges, one vertex, loops alone."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from tests.mpi.ranks import Ranks
from tests.support.command_line import Outcome, Run, gaslab
from tests.support.graphs import Drawn
from tests.support.toolkit import CALLS, MODES, REST, Call

__all__ = ["gaslab"]
PRIOR = Call("lbp", ("belief",), lambda drawn: {"prior": np.full((len(drawn.ids), 2), 0.5)}, "of an array")
EVERY = [*CALLS, *REST, PRIOR]
REFUSED = ("the diagonal is zero in", "; this one is directed", "sources is empty")
NAMED = ("bfs", "sssp", "pagerank personalised")  # calls that name a vertex, so that there must be one


def smallest(directed: bool) -> dict[str, Drawn]:
    edges: dict[str, tuple[list[int], list[tuple[int, int]]]] = {
        "no vertices": ([], []),
        "one vertex": ([5], []),
        "no edges": ([3, 7, 9], []),
        "one loop": ([5], [(5, 5)]),
        "loops": ([2, 5, 6], [(5, 5), (6, 6)]),
        "one edge": ([5, 6], [(5, 6)]),
    }
    return {
        name: Drawn(ids, pairs, {"weight": [2.0] * len(pairs), "cost": [1] * len(pairs)}, directed)
        for name, (ids, pairs) in edges.items()
    }


def calls_of(drawn: Drawn) -> list[Call]:
    """Return the calls that a graph of this size can be asked for."""
    return [call for call in EVERY if drawn.ids or not str(call).startswith(NAMED)]


def answers(comm: Comm, drawn: Drawn, modes: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return by call and mode what the functions answer; for `Ranks.run`."""
    graph = drawn.build(comm, "random")
    found: dict[str, dict[str, Any]] = {}
    for call in calls_of(drawn):
        found[str(call)] = {}
        for mode in modes:
            how = MODES[mode]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of limits, and of running interpreted: asked for here
                try:
                    result = getattr(gl, call.function)(graph, **call.options(drawn), **how)
                except gl.UsageError as error:
                    found[str(call)][mode] = str(error)
                    continue
            assert list(result.vertices.ids) == drawn.ids
            fields = result.vertices.columns
            found[str(call)][mode] = {name: result.vertices[name].tolist() for name in fields}
    if not drawn.directed:
        found["transitivity"] = {m: 0.0 if m == "reference" else gl.transitivity(graph) for m in modes}
    return found


@functools.cache
def expected_of(name: str, directed: bool) -> dict[str, Any]:
    """Return by call what the reference engine answers on one rank."""
    found = answers(world(), smallest(directed)[name], ["reference"])
    return {call: modes["reference"] for call, modes in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("name", smallest(True))
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_every_function_answers_on_the_smallest_graphs(ranks: Ranks, name: str, directed: bool) -> None:
    drawn = smallest(directed)[name]
    modes = [mode for mode in MODES if mode != "reference"] if ranks.size == 1 else ["1 thread", "reference"]
    of_each_rank = ranks.run(answers, drawn, modes, timeout=240)
    assert [repr(found) for found in of_each_rank] == [repr(of_each_rank[0])] * ranks.size
    for call, modes in of_each_rank[0].items():
        expected = expected_of(name, directed)[call]
        for mode, answer in modes.items():
            assert type(answer) is type(expected), (call, mode)
            if not isinstance(expected, dict):
                assert answer == expected, (call, mode)
                continue
            assert answer.keys() == expected.keys(), (call, mode)
            for field, values in expected.items():
                assert len(values) == len(drawn.ids), (call, field)
                np.testing.assert_allclose(answer[field], values, rtol=1e-9, err_msg=f"{call} {mode} {field}")
                assert not np.isnan(np.array(values, float)).any(), (call, field)
        if isinstance(expected, str):
            assert any(reason in expected for reason in REFUSED), call


@pytest.mark.parametrize("name", ["no vertices", "no edges", "loops"])
def test_no_edges_make_no_triangles(name: str) -> None:
    for directed in (True, False):
        graph = smallest(directed)[name].build(world())
        triangles = gl.triangles(graph)
        assert not any(np.any(triangles.vertices[c]) for c in triangles.vertices.columns if "triangles" in c)
        assert not np.any(gl.clustering(graph).vertices["clustering"])
        if not directed:
            assert (triangles.metrics["triangles"], gl.transitivity(graph)) == (0, 0.0)


# ---- the command line --------------------------------------------------------------------------------

COMMANDS = [
    ["bfs", "--source", "5"], ["sssp", "--source", "5", "--column", "weight=weight"], ["components"],
    ["strong-components"], ["pagerank"], ["hits"], ["kcore"], ["triangles"], ["triangles", "--undirected"],
    ["clustering"], ["clustering", "--undirected"], ["cdlp"], ["coloring"], ["mis"],
    ["jacobi", "--column", "weight=weight"], ["diameter"], ["degrees"], ["info"], ["partition", "-k", "300"],
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_answers_on_loops_alone(gaslab: Run, tmp_path: Any, words: list[str]) -> None:
    for count in (1, 2):
        file = tmp_path / f"loops{count}.tsv"
        file.write_text("source\ttarget\tweight\n" + "".join(f"{k}\t{k}\t2\n" for k in range(5, 5 + count)))
        done: Outcome = gaslab(words[0], file, *words[1:])
        assert (done.code, "Traceback" in done.err) == (0, False), done.err
        assert done.out
    empty = tmp_path / "empty.tsv"
    empty.write_text("# nothing\n")
    done = gaslab(words[0], empty, *words[1:])
    assert done.code == 1
    assert "holds no edges" in done.err.splitlines()[-1]
