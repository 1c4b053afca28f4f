"""The strategy `metis`: what METIS is given, and where edges go by its parts."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.partitioning import strategies
from tests.support.command_line import Run, edges, gaslab
from tests.support.graphs import Drawn, graphs
from tests.support.threadcomm import run_ranks

__all__ = ["edges", "gaslab"]  # fixtures


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a stand-in for pymetis, which gives vertex v the part v % k, was called with."""
    made: list[Any] = []

    def part_graph(k: int, graph: Any, vweights: np.ndarray) -> Any:
        made.append((k, graph.begin, graph.neighbor, vweights))
        return SimpleNamespace(edge_cuts=0, vertex_part=[v % k for v in range(vweights.size)])

    module: Any = ModuleType("pymetis")
    module.CSRAdjacency = lambda begin, neighbor: SimpleNamespace(begin=begin, neighbor=neighbor)
    module.zero_copy_dtype, module.part_graph = lambda: np.dtype(np.int64), part_graph
    monkeypatch.setitem(sys.modules, "pymetis", module)
    monkeypatch.setattr("gaslab.system.extras.find_spec", lambda name: module)
    return made


def parts(comm: Comm, src: np.ndarray, dst: np.ndarray, n: int, k: int, directed: bool) -> np.ndarray:
    cuts = src.size * np.arange(comm.size + 1) // comm.size
    mine = slice(cuts[comm.rank], cuts[comm.rank + 1])
    context = strategies.Context(comm, n, directed)
    return strategies.find("metis")[1](src[mine], dst[mine], k, context)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_an_edge_goes_to_the_part_of_its_target(calls: list[Any], size: int, directed: bool) -> None:
    rng = np.random.default_rng(3)
    n, k = 700, 5
    src, dst = rng.integers(0, 500, (2, 6000)) ** 2 // 500  # from 500 on there are no edges
    part = np.concatenate(run_ranks(size, lambda comm: parts(comm, src, dst, n, k, directed)))
    ((asked, begin, neighbor, weight),) = calls
    assert asked == k

    degree = np.bincount(src, minlength=n) + np.bincount(dst, minlength=n)
    order = np.argsort(degree, kind="stable")
    number = np.argsort(order) - np.count_nonzero(degree == 0)  # rising degree
    target = dst if directed else np.where(number[src] < number[dst], src, dst)
    assert np.array_equal(part, number[target] % k)
    assert np.array_equal(weight, np.bincount(number[target], minlength=weight.size))
    near: list[set[int]] = [set() for _ in weight]
    for a, b in zip(number[src].tolist(), number[dst].tolist(), strict=True):
        if a != b:
            near[a].add(b)
            near[b].add(a)
    rows = [neighbor[lo:hi].tolist() for lo, hi in pairwise(begin)]
    assert [sorted(row) for row in rows] == [sorted(row) for row in near]


def test_fewer_vertices_than_parts_need_no_metis(calls: list[Any]) -> None:
    graph = gl.Graph.from_edges([0, 0, 2, 2], [1, 2, 1, 2], vertices=range(9))
    cut = gl.partition(graph, 3, strategy="metis")
    assert not calls
    assert cut.edges.ids[1].tolist() == [1, 2, 1, 2]
    assert cut.parts[0] == cut.parts[2] != cut.parts[1] == cut.parts[3]
    assert gl.partition(gl.Graph.from_edges([], [], vertices=[1]), 3, strategy="metis").parts.size == 0
    assert not calls


def test_without_pymetis(gaslab: Run, edges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gaslab.system.extras.find_spec", lambda name: None)
    error = r"strategy 'metis' needs pymetis, which is not installed: pip install 'gaslab\[metis\]'"

    def rank(comm: Comm) -> None:
        with pytest.raises(UsageError, match=error):
            gl.partition(gl.Graph.from_edges([0, 1], [1, 2], comm=comm), 2, strategy="metis")

    for size in (1, 3):
        run_ranks(size, rank)
    done = gaslab("partition", edges, "-k", 3)
    assert done.code == 0, done.err
    assert "gaslab: metis is left out: strategy 'metis' needs pymetis" in done.err
    assert not {"metis", "file"} & {line.split()[0] for line in done.out.splitlines()}
    assert gaslab("partition", edges, "-k", 3, "--strategy", "metis").code == 2


def test_an_old_pymetis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymetis", ModuleType("pymetis"))
    monkeypatch.setattr("gaslab.system.extras.find_spec", lambda name: ModuleType)
    with pytest.raises(UsageError, match=r"strategy 'metis' needs pymetis 2025\.2 or later: pip install"):
        gl.partition(gl.Graph.from_edges([0], [1]), 2, strategy="metis")


# ---- METIS itself ----------------------------------------------------------------------------------------


@given(graphs(), st.integers(1, 9), st.integers(1, 4))
def test_any_graph(drawn: Drawn, k: int, size: int) -> None:
    pytest.importorskip("pymetis")
    alone = gl.partition(drawn.build(Comm()), k, strategy="metis").parts.tolist()
    built = run_ranks(size, lambda comm: gl.partition(drawn.build(comm), k, strategy="metis").parts.tolist())
    assert built == [alone] * size


def test_a_grid_has_few_mirrors() -> None:
    pytest.importorskip("pymetis")
    at = np.arange(10_000).reshape(100, 100)
    src = np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()])
    dst = np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])

    def rank(comm: Comm) -> gl.Partition:
        graph = gl.Graph.from_edges(src, dst, comm=comm)
        assert graph.partitioned("metis").num_edges == src.size
        return gl.partition(graph, 8, strategy="metis")

    for cut in (*run_ranks(1, rank), *run_ranks(4, rank)):
        assert cut.metrics.replication_factor < 1.1
        assert cut.metrics.edge_balance < 1.05
