"""The commands of the toolkit: what they print and write, and what they refuse."""

from __future__ import annotations

import json
import math
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from tests.support.command_line import EDGES, Run, edges, gaslab, on_ranks, rows, weighted

__all__ = ["edges", "gaslab", "weighted"]  # fixtures


@pytest.mark.slow
def test_mis(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    done = gaslab("mis", edges, "-q", "--top", 9, "-o", tmp_path / "members.tsv", "--seed", 3)
    assert done.code == 0, done.err
    inside = {v for v, x in rows((tmp_path / "members.tsv").read_text()).items() if x}
    assert all(not {s, t} <= inside for s, t in EDGES if s != t)
    assert all(v in inside or inside & {s + t - v for s, t in EDGES if v in (s, t)} for e in EDGES for v in e)
    head, names, *lines = done.out.splitlines()
    assert (head, names.split()) == (f"{len(inside)} of 7 vertices", ["id"])
    assert [int(line.split()[1]) for line in lines] == sorted(inside)
    assert on_ranks(2, "mis", edges, "-q", "--top", 9, "--seed", 3).out == done.out


def test_bfs(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    done = gaslab("bfs", edges, "--source", 40, "-q", "--top", 9, "-o", tmp_path / "levels.tsv")
    assert done.code == 0, done.err
    levels = nx.single_source_shortest_path_length(nx.DiGraph(EDGES), 40)
    expected = {v: levels.get(v, -1) for e in EDGES for v in e}
    assert rows((tmp_path / "levels.tsv").read_text()) == expected
    shown = [tuple(map(int, line.split()[1:])) for line in done.out.splitlines()[1:]]
    assert shown == sorted(levels.items(), key=lambda row: row[::-1])
    assert gaslab("bfs", edges).code == 2
    done = gaslab("bfs", edges, "--source", 40, "--parents", "-q", "-o", tmp_path / "tree.csv")
    assert done.code == 0, done.err
    head, *lines = (tmp_path / "tree.csv").read_text().splitlines()
    assert head == "id,parent,level"
    parents = {int(v): int(u) for v, u, _ in (line.split(",") for line in lines)}
    assert all(levels[u] == levels[v] - 1 for v, u in parents.items() if u >= 0)
    assert {v for v, u in parents.items() if u < 0} == {40, *(expected.keys() - levels.keys())}


def test_sssp_from_several(gaslab: Run, weighted: Path, tmp_path: Path) -> None:
    done = gaslab("sssp", weighted, "--source", 40, "--source", 7, "-o", tmp_path / "d.tsv",
                  "--fields", "nearest,distance")  # fmt: skip
    assert done.code == 0, done.err
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((s, t, k + 1) for k, (s, t) in enumerate(EDGES))
    expected = nx.multi_source_dijkstra_path_length(graph, {7, 40})
    text = (tmp_path / "d.tsv").read_text()
    assert rows(text) == expected
    nearest = {int(line.split()[0]): int(line.split()[1]) for line in text.splitlines()}
    assert nearest == {3: 40, 5: 40, 12: 40, 40: 40, 7: 7, 8: 7, 9: 7}


def test_strong_components(gaslab: Run, edges: Path) -> None:
    done = gaslab("strong-components", edges, "-q")
    assert [line.split() for line in done.out.splitlines()] == [
        ["3", "groups"], ["component", "vertices", "share"],
        ["1", "3", "3", "42.9%"], ["2", "7", "3", "42.9%"], ["3", "40", "1", "14.3%"],
    ]  # fmt: skip


def test_hits(gaslab: Run, weighted: Path, tmp_path: Path) -> None:
    done = gaslab("hits", weighted, "--weight", "weight", "-o", tmp_path / "h.csv",
                  "--fields", "authority,hub",
                  "--tolerance", 1e-12, "--require-converged")  # fmt: skip
    assert done.code == 0, done.err
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((s, t, k + 1) for k, (s, t) in enumerate(EDGES))
    hubs, authorities = nx.hits(graph, tol=1e-13, max_iter=10_000)
    head, *lines = (tmp_path / "h.csv").read_text().splitlines()
    assert head == "id,authority,hub"
    for line in lines:
        vertex, authority, hub = line.split(",")
        assert float(hub) == pytest.approx(hubs[int(vertex)], abs=1e-9)
        assert float(authority) == pytest.approx(authorities[int(vertex)], abs=1e-9)
    assert gaslab("hits", weighted, "--iterations", 3, "--require-converged", "-q").code == 3


def test_lbp(gaslab: Run, tmp_path: Path) -> None:
    (tmp_path / "chain.tsv").write_text("1 2 2.0\n2 3 0.5\n")
    (tmp_path / "prior.txt").write_text("1 0.9 0.1\n3 1 1\n")
    done = gaslab("lbp", tmp_path / "chain.tsv", "--prior", tmp_path / "prior.txt", "--column", "weight=2",
                  "--smoothing", 0.5, "-o", tmp_path / "b.tsv", "--require-converged")  # fmt: skip
    assert done.code == 0, done.err
    near = (0.9 * math.exp(1.0) + 0.1) / (math.exp(1.0) + 1)
    far = (near * math.exp(0.25) + 1 - near) / (math.exp(0.25) + 1)
    found = [line.split() for line in (tmp_path / "b.tsv").read_text().splitlines()]
    assert [row[0] for row in found] == ["1", "2", "3"]
    assert [float(row[1]) for row in found] == pytest.approx([0.9, near, far], abs=1e-9)
    (tmp_path / "prior.txt").write_text("1 0.9 0.1\n3 1 1 1\n")
    wrong = gaslab("lbp", tmp_path / "chain.tsv", "--prior", tmp_path / "prior.txt")
    assert wrong.code == 1
    assert wrong.err.splitlines()[-1].endswith("prior.txt, line 2: 3 values after the id, 2 before")


def test_diameter(gaslab: Run, tmp_path: Path) -> None:
    (tmp_path / "path.tsv").write_text("".join(f"{k} {k + 1}\n" for k in range(20)))
    done = gaslab("diameter", tmp_path / "path.tsv", "-q", "--top", 3, "--json", tmp_path / "d.json")
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "d.json").read_text())
    assert 15 <= report["answer"]["diameter"] <= 20
    assert done.out.splitlines()[0] == f"diameter: {report['answer']['diameter']}"
    assert done.out.splitlines()[1].startswith("effective_diameter: ")
    assert gaslab("diameter", tmp_path / "path.tsv", "--share", 2).code == 2


CLIQUES = [(1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6), (5, 6)]  # two triangles and a bridge


@pytest.fixture
def cliques(tmp_path: Path) -> Path:
    path = tmp_path / "cliques.tsv"
    path.write_text("".join(f"{s}\t{t}\n" for s, t in CLIQUES))
    return path


def test_kcore(gaslab: Run, cliques: Path, tmp_path: Path) -> None:
    done = gaslab("kcore", cliques, "--undirected", "-o", tmp_path / "k.tsv")
    assert done.code == 0, done.err
    assert rows((tmp_path / "k.tsv").read_text()) == nx.core_number(nx.Graph(CLIQUES))


def test_coloring(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    for order in ("degree", "id", "saturation"):
        words = ("coloring", edges, "--order", order, "-q", "--json", tmp_path / "c.json", "--force")
        done = gaslab(*words, "-o", tmp_path / "c.tsv", "--top", 1)
        assert done.code == 0, done.err
        colors = rows((tmp_path / "c.tsv").read_text())
        assert all(colors[s] != colors[t] for s, t in EDGES if s != t)
        assert json.loads((tmp_path / "c.json").read_text())["answer"] == {"colors": 1 + max(colors.values())}
        assert done.out.splitlines()[0] == f"colors: {1 + max(colors.values()):g}"
    assert gaslab("coloring", edges, "--order", "colour").code == 2


def test_triangles_and_clustering(gaslab: Run, cliques: Path, tmp_path: Path) -> None:
    graph = nx.Graph(CLIQUES)
    done = gaslab("triangles", cliques, "--undirected", "-o", tmp_path / "t.tsv", "--top", 2, "-q")
    assert done.code == 0, done.err
    assert rows((tmp_path / "t.tsv").read_text()) == nx.triangles(graph)
    assert done.out.splitlines()[0] == "triangles: 2"
    done = gaslab("clustering", cliques, "--undirected", "-o", tmp_path / "c.tsv", "--transitivity",
                  "--json", tmp_path / "c.json")  # fmt: skip
    assert done.code == 0, done.err
    assert rows((tmp_path / "c.tsv").read_text()) == pytest.approx(nx.clustering(graph))
    answer = json.loads((tmp_path / "c.json").read_text())["answer"]
    assert answer == {"transitivity": pytest.approx(nx.transitivity(graph))}
    directed = gaslab("triangles", cliques, "-q")
    assert directed.out.split()[:5] == [
        "id", "in_triangles", "out_triangles", "through_triangles", "cycle_triangles",
    ]  # fmt: skip
    assert gaslab("clustering", cliques, "--transitivity").code == 2  # directed


def test_cdlp(gaslab: Run, cliques: Path) -> None:
    done = gaslab("cdlp", cliques, "--undirected", "-q", "--iterations", 5)
    assert done.code == 0, done.err
    assert [line.split()[1:3] for line in done.out.splitlines()[2:]] == [["1", "3"], ["3", "3"]]


SYSTEM = {(0, 0): 4.0, (0, 1): 1.0, (1, 1): 5.0, (1, 2): -2.0, (2, 0): 1.0, (2, 2): 3.0}


def test_jacobi(gaslab: Run, tmp_path: Path) -> None:
    text = "".join(f"{i}\t{j}\t{a}\n" for (i, j), a in SYSTEM.items())
    (tmp_path / "a.tsv").write_text(text)
    (tmp_path / "b.txt").write_text("0 1.5\n1 -2\n2 7\n")
    done = gaslab("jacobi", tmp_path / "a.tsv", "--rhs", tmp_path / "b.txt", "-o", tmp_path / "x.tsv",
                  "--tolerance", 1e-13, "--require-converged")  # fmt: skip
    assert done.code == 0, done.err
    dense = np.zeros((3, 3))
    for at, entry in SYSTEM.items():
        dense[at] = entry
    expected = np.linalg.solve(dense, [1.5, -2.0, 7.0])
    assert list(rows((tmp_path / "x.tsv").read_text()).values()) == pytest.approx(expected, abs=1e-11)
    short = gaslab("jacobi", tmp_path / "a.tsv", "--iterations", 3, "--require-converged", "-q")
    assert short.code == 3
    (tmp_path / "a.tsv").write_text(text.replace("4.0", "0.0"))
    zero = gaslab("jacobi", tmp_path / "a.tsv")
    assert zero.code == 2
    assert "the diagonal is zero in 1 row" in zero.err
