"""The toolkit without supersteps: the answers of its functions and commands, one pass of a colouring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gaslab as gl
from gaslab.cli import main
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support import unordered_programs as programs
from tests.support.delays import slow
from tests.support.graphs import STRATEGIES, Drawn, graphs, hubs

CONSISTENCIES = ("relaxed", "serialisable")


def answers(comm: Comm, drawn: Drawn, consistency: str, strategy: str) -> list[tuple[str, Any, Any]]:
    """Return of each function what it answers without supersteps, and with them."""
    graph, source = drawn.build(comm, strategy), drawn.ids[0]
    found = []
    for name, field, options in (
        ("components", "component", {}), ("kcore", "core", {}), ("sssp", "distance", {"source": source}),
        ("sssp", "distance", {"source": source, "delta": 1.5}),
    ):  # fmt: skip
        function = getattr(gl, name)
        mine = function(graph, engine=gl.Async(consistency=consistency), **options)
        expected = function(graph, **options)
        assert mine.converged
        assert [*mine.vertices.columns] == [*expected.vertices.columns]
        assert mine.vertices[field].dtype == expected.vertices[field].dtype
        found.append((name, mine.vertices.to_dict(field), expected.vertices.to_dict(field)))
    mine = gl.pagerank(graph, engine=gl.Async(consistency=consistency), method="signal", tolerance=1e-10)
    expected = gl.pagerank(graph, tolerance=1e-13, max_iterations=2000)
    error = float(np.abs(mine.vertices["score"] - expected.vertices["score"]).sum())
    assert mine.converged
    return [*found, ("pagerank", error < 1e-8, True)]


@pytest.mark.slow
@settings(max_examples=max(settings.default.max_examples // 2, 2))
@given(drawn=graphs(), consistency=st.sampled_from(CONSISTENCIES), strategy=st.sampled_from(STRATEGIES))
def test_functions_answer_the_same(ranks: Ranks, drawn: Drawn, consistency: str, strategy: str) -> None:
    for found in ranks.run(answers, drawn, consistency, strategy, timeout=120):
        for name, mine, expected in found:
            assert mine == expected, name


@pytest.mark.slow
@pytest.mark.parametrize("consistency", CONSISTENCIES)
def test_functions_answer_the_same_on_a_graph_with_hubs(ranks: Ranks, consistency: str) -> None:
    for found in ranks.run(answers, hubs(), consistency, "random", timeout=120):
        for name, mine, expected in found:
            assert mine == expected, name


def nearest_first(comm: Comm, strategy: str) -> list[tuple[str, Any, Any]]:
    """Return shortest paths by priorities that are further apart than a window of buckets, each way."""
    rng = np.random.default_rng(12)
    src, dst = rng.integers(0, 30, (2, 120))
    weight = rng.permutation(np.arange(1.0, 121.0))
    graph = gl.Graph.from_edges(src, dst, columns={"weight": weight}, strategy=strategy, comm=comm)
    source = int(src[0])
    expected = gl.sssp(graph, source).vertices["distance"].tolist()
    found = []
    for consistency in CONSISTENCIES:
        options = {"engine": gl.Async(consistency=consistency), "timeout": 20}
        by_delta = gl.sssp(graph, source, delta=1.0, **options)
        plain = gl.run(programs.Urgent(source=source), graph, **options)
        found += [(consistency, one.vertices["distance"].tolist(), expected) for one in (by_delta, plain)]
    return found


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_paths_whose_priorities_are_far_apart_are_found(ranks: Ranks, strategy: str) -> None:
    for found in ranks.run(nearest_first, strategy, timeout=90):
        for name, mine, expected in found:
            assert mine == expected, name


def test_functions_say_which_method_has_no_supersteps() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(gl.UsageError, match=r"method='power' runs in supersteps; .*method='signal'"):
        gl.pagerank(graph, engine="async", method="power")
    assert gl.pagerank(graph, engine="async").converged


def commands(comm: Comm, folder: str) -> list[int]:
    """Run every command with and without supersteps; return the exit codes."""
    codes = []
    for command in (["components"], ["kcore"], ["sssp", "--source", "0"], ["pagerank", "--method", "signal"]):
        for engine in ("sync", "async"):
            output = f"{folder}/{command[0]}-{engine}.tsv"
            words = [command[0], f"{folder}/graph.tsv", *command[1:], "--engine", engine, "-o", output, "-q"]
            codes.append(main(words))
    return codes


def test_commands_answer_the_same(hosts: Any, tmp_path: Path) -> None:
    lines = [f"{u}\t{w}\n" for u, w in hubs().edges]
    (tmp_path / "graph.tsv").write_text("".join(lines))
    for codes in hosts(2).run(commands, str(tmp_path), timeout=120):
        assert codes == [0] * 8
    for command in ("components", "kcore", "sssp"):
        assert (tmp_path / f"{command}-async.tsv").read_text() == (
            tmp_path / f"{command}-sync.tsv"
        ).read_text()
    scores = [np.loadtxt(tmp_path / f"pagerank-{engine}.tsv", skiprows=1) for engine in ("sync", "async")]
    assert np.abs(scores[0] - scores[1]).sum() < 0.05


# ---- one pass of a colouring -----------------------------------------------------------------------


def improper(comm: Comm, drawn: Drawn, consistency: str, runs: int) -> tuple[int, bool]:
    """Return how many runs on a slow transport gave neighbours one colour, and whether all had one turn."""
    graph, wrong, once = drawn.build(comm, "random"), 0, True
    with slow(comm, 11):
        for _ in range(runs):
            result = gl.run(programs.Once(), graph, engine=gl.Async(consistency=consistency))
            colour = result.vertices.to_dict("colour")
            wrong += any(colour[u] == colour[w] for u, w in drawn.edges if u != w)
            once &= bool((result.vertices["turns"] == 1).all())
    return wrong, once


@pytest.mark.parametrize("size", [2, 3, 4])
def test_one_pass_is_proper_where_serialisable_and_not_always_where_relaxed(hosts: Any, size: int) -> None:
    drawn = hubs(80, 400)
    for wrong, once in hosts(size).run(improper, drawn, "serialisable", 4):
        assert (wrong, once) == (0, True)
    for wrong, once in hosts(size).run(improper, drawn, "relaxed", 12):
        assert wrong > 0
        assert once


# ---- colours -----------------------------------------------------------------------------------------


def colors(comm: Comm, strategy: str, scheduler: str) -> Any:
    """Colour a random graph, and one in which more colours are needed than a window has."""
    rng, found = np.random.default_rng(5), []
    random = rng.integers(0, 60, (2, 240))
    complete = np.array([(a, b) for a in range(70) for b in range(a)]).T
    for src, dst in (random[:, random[0] != random[1]], complete):
        graph = gl.Graph.from_edges(src, dst, directed=False, strategy=strategy, comm=comm)
        engine = gl.Async(scheduler=scheduler, consistency="serialisable")
        result = gl.coloring(graph, engine=engine, timeout=60)
        color = result.vertices.to_dict("color")
        assert all(color[a] != color[b] for a, b in zip(src.tolist(), dst.tolist(), strict=True))
        assert min(color.values()) == 0
        assert result.metrics["answer"]["colors"] == max(color.values()) + 1
        near: dict[int, set[int]] = {a: set() for a in color}
        for a, b in zip(src.tolist(), dst.tolist(), strict=True):
            near[a].add(color[b])
            near[b].add(color[a])
        assert all(set(range(color[a])) <= near[a] for a in color)  # a smaller one was never free
        found.append(max(color.values()))
    return found[1]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_neighbours_have_different_colours(ranks: Ranks, strategy: str) -> None:
    """By either scheduler in turn, so that each meets every cut and every number of ranks."""
    scheduler = ("fifo", "sweep")[(STRATEGIES.index(strategy) + ranks.size) % 2]
    assert ranks.run(colors, strategy, scheduler, timeout=120) == [69] * ranks.size


def test_a_colouring_says_what_it_needs_without_supersteps() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(gl.UsageError, match="neighbours that run at once may choose one colour"):
        gl.coloring(graph, engine="async")
    with pytest.raises(gl.UsageError, match="order='saturation' needs supersteps"):
        gl.coloring(graph, order="saturation", engine=gl.Async(consistency="serialisable"))


def test_the_command_colours_without_supersteps(tmp_path: Path) -> None:
    (tmp_path / "g.tsv").write_text("0 1\n1 2\n2 0\n")
    words = ["coloring", str(tmp_path / "g.tsv"), "--engine", "async", "--consistency", "serialisable", "-q"]
    assert main([*words, "-o", str(tmp_path / "c.tsv")]) == 0
    written = (tmp_path / "c.tsv").read_text().splitlines()
    assert sorted(line.split()[1] for line in written) == ["0", "1", "2"]
