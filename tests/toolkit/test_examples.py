"""The examples run as their headers say, on 1 and 2 ranks, and give what an independent computation gives."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import nbformat
import networkx as nx
import numpy as np
import pytest
from nbclient import NotebookClient

from tests.mpi.launcher import ROOT, environment, run_script

EXAMPLES = ROOT / "examples"
IMPORTS = ROOT / "datasets" / "stdlib-imports.tsv"

on_ranks = pytest.mark.parametrize("ranks", [1, 2], ids=["1rank", "2ranks"])


def imports() -> nx.DiGraph:
    """Return the standard library's import graph as NetworkX reads it."""
    return nx.read_edgelist(IMPORTS, create_using=nx.DiGraph, data=[("times", float)])


def output_of(ranks: int, *arguments: str) -> str:
    done = run_script(ranks, arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def table(path: Path) -> dict[str, list[str]]:
    """Read what ``-o`` wrote: vertex id -> the rest of its line."""
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return {row[0]: row[1:] for row in rows}


# ---- the independent computations ------------------------------------------------------------------


def widths(graph: nx.DiGraph, source: Any, capacity: str) -> dict[Any, float]:
    """Return each reachable vertex's width: the best capacity that still leaves a path to it."""
    found = {source: math.inf}
    for least in sorted({c for _, _, c in graph.edges(data=capacity)}):
        strong = nx.DiGraph((u, v) for u, v, c in graph.edges(data=capacity) if c >= least)
        if source in strong:
            found.update(dict.fromkeys(nx.descendants(strong, source), least))
    return found


def temperatures(graph: nx.DiGraph, source: Any, steps: int, dt: float) -> dict[Any, float]:
    """Return the temperatures after explicit Euler steps with the dense Laplacian."""
    names = list(graph)
    weights = nx.to_numpy_array(graph, nodelist=names, weight="times")
    weights = weights + weights.T
    laplacian = np.diag(weights.sum(axis=0)) - weights
    heat = np.array([float(name == source) for name in names])
    for _ in range(steps):
        heat = heat - dt * (laplacian @ heat)
    return dict(zip(names, heat, strict=True))


def core(graph: nx.DiGraph, k: int) -> set[Any]:
    """Return the vertices left when those of degree below k are taken away again and again."""
    rest = nx.MultiGraph(graph.edges)
    while weak := [v for v, degree in rest.degree if degree < k]:
        rest.remove_nodes_from(weak)
    return set(rest)


# ---- as scripts ------------------------------------------------------------------------------------


@pytest.mark.slow
@on_ranks
def test_widest_path_script(ranks: int) -> None:
    from examples.widest_path import LINKS

    graph = nx.DiGraph()
    graph.add_weighted_edges_from(LINKS)
    expected = dict.fromkeys(graph, 0.0) | widths(graph, "Oslo", "weight")
    printed = re.findall(r"^(\w+) +(\S+) Gbit/s$", output_of(ranks, "examples/widest_path.py"), re.MULTILINE)
    assert {city: float(width) for city, width in printed} == expected
    assert expected["Athens"] == 20.0  # not 100: Madrid-Rome is the bottleneck
    assert expected["Cork"] == 0.0


@pytest.mark.slow
@on_ranks
def test_kcore_script(ranks: int) -> None:
    lines = re.findall(
        r"^ *(\d+)-core: +(\d+) of 813 modules", output_of(ranks, "examples/kcore_peel.py"), re.MULTILINE
    )
    assert {int(k): int(size) for k, size in lines} == {k: len(core(imports(), k)) for k in (2, 4, 8, 12)}


@pytest.mark.slow
@on_ranks
def test_heat_script(ranks: int) -> None:
    printed = output_of(ranks, "examples/heat.py")
    assert "after 50 steps the heat of all modules is 1.000000000000" in printed
    expected = temperatures(imports(), "asyncio", steps=50, dt=0.001)
    shown = re.findall(r"^([\w.]+) +(\d\.\d{6}) #*$", printed, re.MULTILINE)
    assert len(shown) == 10
    assert shown[0][0] == "asyncio"
    for name, temperature in shown:
        assert float(temperature) == pytest.approx(expected[name], abs=1e-6)


# ---- through the command line ----------------------------------------------------------------------


def gaslab_run(ranks: int, out: Path, *arguments: str) -> dict[str, list[str]]:
    output_of(ranks, "-m", "gaslab", "run", *arguments, "-o", str(out), "--quiet")
    return table(out)


@pytest.mark.slow
@on_ranks
def test_widest_path_command(ranks: int, tmp_path: Path) -> None:
    graph = nx.gnp_random_graph(60, 0.06, seed=4, directed=True)
    nx.set_edge_attributes(graph, {e: float(1 + (7 * e[0] + 3 * e[1]) % 11) for e in graph.edges}, "capacity")
    file = tmp_path / "graph.tsv"
    file.write_text("".join(f"{u}\t{v}\t{c:g}\n" for u, v, c in graph.edges(data="capacity")))
    rows = gaslab_run(
        ranks, tmp_path / "out.tsv",
        "examples/widest_path.py:WidestPath", str(file), "-p", "source=0", "--column", "capacity=weight",
    )  # fmt: skip
    expected = {v: 0.0 for v in graph if graph.degree(v)} | widths(graph, 0, "capacity")
    assert len(set(expected.values())) > 4
    assert {int(v): float(row[0]) for v, row in rows.items() if v.isdigit()} == expected


@pytest.mark.slow
@on_ranks
def test_kcore_command(ranks: int, tmp_path: Path) -> None:
    rows = gaslab_run(
        ranks, tmp_path / "out.tsv",
        "examples/kcore_peel.py:KCorePeel", str(IMPORTS), "--undirected", "-p", "k=6",
    )  # fmt: skip
    assert {v for v, row in rows.items() if row[1] in ("1", "True", "true")} == core(imports(), 6)


@pytest.mark.slow
@on_ranks
def test_heat_command(ranks: int, tmp_path: Path) -> None:
    rows = gaslab_run(
        ranks, tmp_path / "out.tsv",
        "examples/heat.py:Heat", str(IMPORTS), "-p", "source=json", "-p", "time=0.02", "-p", "dt=0.002",
        "--column", "conductance=weight",
    )  # fmt: skip
    expected = temperatures(imports(), "json", steps=10, dt=0.002)
    got = {v: float(row[0]) for v, row in rows.items() if v in expected}
    assert got == pytest.approx(expected, abs=1e-12)


# ---- in a notebook ---------------------------------------------------------------------------------


def printed_by(notebook: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a notebook from top to bottom and return what it printed."""
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])  # the kernel is a process of its own
    read = nbformat.read(EXAMPLES / notebook, as_version=4)
    assert all(not cell.get("outputs") for cell in read.cells), "stored outputs grow stale"
    NotebookClient(read, timeout=120, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    return "".join(output.text for cell in read.cells for output in cell.get("outputs", []))


@pytest.mark.slow
def test_topics_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = printed_by("topics.ipynb", monkeypatch)
    assert re.search(r"^644 files, \d{4} words$", printed, re.MULTILINE)
    shares = re.findall(r"^\d  +(\d+)%(?:  ?\w+){6}$", printed, re.MULTILINE)
    assert len(shares) == 10
    assert sum(map(int, shares)) == pytest.approx(100, abs=5)
    assert len(re.findall(r"^0\.\d\d [\w.]+\.txt$", printed, re.MULTILINE)) == 5
    assert len(re.findall(r"^ ?\d+ topics: coherence 0\.\d+, diversity 0\.\d+$", printed, re.MULTILINE)) == 2
    (page,) = re.findall(r"^/.*/index\.html$", printed, re.MULTILINE)
    assert Path(page).read_text("utf-8").count('name="topic" value=') == 10


@pytest.mark.slow
def test_notebook_runs_from_top_to_bottom(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = printed_by("notebook.ipynb", monkeypatch)
    graph = imports()
    assert "813 modules, 3694 imports" in printed
    assert f"{len(nx.ancestors(graph, 're')) + 1} of 813 modules are affected" in printed
    distances = nx.single_source_shortest_path_length(graph.reverse(), "re")
    for steps in range(max(distances.values()) + 1):
        count = sum(d == steps for d in distances.values())
        assert re.search(rf"^ *{steps} steps +{count} █+$", printed, re.MULTILINE)
    for module in ("sys", "asyncio", "tkinter"):
        assert re.search(rf"^{module} +{len(nx.ancestors(graph, module)) + 1}$", printed, re.MULTILINE)
