"""The command line: answers, help, what goes where, and the JSON document."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest

from gaslab.cli import COMMANDS
from gaslab.partitioning.names import DEFAULT
from tests.support.command_line import EDGES, Run, by_mpiexec, edges, gaslab, on_ranks, rows, weighted

__all__ = ["edges", "gaslab", "weighted"]  # fixtures


# ---- answers ---------------------------------------------------------------------------------------


def test_pagerank_is_networkx_s(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    done = gaslab("pagerank", edges, "--tolerance", "1e-12", "-o", tmp_path / "ranks.tsv")
    assert done.code == 0
    found = rows((tmp_path / "ranks.tsv").read_text())
    expected = nx.pagerank(nx.DiGraph(EDGES), tol=1e-14, max_iter=1000)
    assert list(found) == sorted(expected)
    assert found == pytest.approx(expected, abs=1e-10)


def test_pagerank_by_weight_and_from_a_table(gaslab: Run, weighted: Path, tmp_path: Path) -> None:
    (tmp_path / "restart.txt").write_text("# where\n3 2\n7\n")
    done = gaslab(
        "pagerank", weighted, "--weight", "weight", "--personalization", tmp_path / "restart.txt",
        "--tolerance", "1e-12", "-o", tmp_path / "ranks.csv",
    )  # fmt: skip
    assert done.code == 0, done.err
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((s, t, k + 1) for k, (s, t) in enumerate(EDGES))
    expected = nx.pagerank(graph, tol=1e-14, max_iter=1000, personalization={3: 2.0, 7: 1.0})
    head, *lines = (tmp_path / "ranks.csv").read_text().splitlines()
    assert head == "id,score"
    assert rows("\n".join(line.replace(",", " ") for line in lines)) == pytest.approx(expected, abs=1e-10)
    other = gaslab(
        "pagerank", weighted, "--column", "weight=2", "--personalization", tmp_path / "restart.txt",
        "--tolerance", "1e-12", "-o", tmp_path / "again.csv",
    )  # fmt: skip
    assert other.code == 0, other.err
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "ranks.csv").read_text()


def test_components(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    assert gaslab("components", edges, "-o", tmp_path / "c.tsv").code == 0
    assert rows((tmp_path / "c.tsv").read_text()) == {3: 3, 5: 3, 7: 7, 8: 7, 9: 7, 12: 3, 40: 3}
    shown = gaslab("components", edges, "--quiet")
    assert shown.out.splitlines() == [
        "2 groups",
        "   component  vertices  share",
        "1  3                 4  57.1%",
        "2  7                 3  42.9%",
    ]


@pytest.mark.parametrize(
    ("options", "length"),
    [
        ([], lambda k: k + 1.0),
        (["--weight", "km"], lambda k: 0.5 * k),
        (["--column", "weight=km"], lambda k: 0.5 * k),
        (["--column", "weight=none"], lambda k: 1.0),
    ],
    ids=["the third column", "--weight", "--column", "none"],
)
def test_sssp(
    gaslab: Run, weighted: Path, tmp_path: Path, options: list[str], length: Callable[[int], float]
) -> None:
    done = gaslab("sssp", weighted, "--source", 40, *options, "-o", tmp_path / "d.tsv")
    assert done.code == 0, done.err
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((s, t, length(k)) for k, (s, t) in enumerate(EDGES))
    reached = nx.single_source_dijkstra_path_length(graph, 40)
    expected = {v: reached.get(v, math.inf) for v in sorted(graph)}
    assert rows((tmp_path / "d.tsv").read_text()) == expected


def test_degrees(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    assert gaslab("degrees", edges, "-o", tmp_path / "d.tsv").code == 0
    graph = nx.MultiDiGraph(EDGES)
    expected = [f"{v}\t{graph.in_degree(v)}\t{graph.out_degree(v)}\t{graph.degree(v)}" for v in sorted(graph)]
    assert (tmp_path / "d.tsv").read_text().splitlines() == expected


def test_undirected_and_dropped_edges(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    done = gaslab(
        "degrees", edges, "--undirected", "--drop-duplicates", "--drop-self-loops", "--fields", "edges",
        "-o", tmp_path / "d.tsv",
    )  # fmt: skip
    assert done.code == 0, done.err
    graph = nx.Graph([(s, t) for s, t in EDGES if s != t])
    assert rows((tmp_path / "d.tsv").read_text()) == dict(sorted(graph.degree()))


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3])
def test_the_same_under_mpiexec(edges: Path, tmp_path: Path, gaslab: Run, size: int) -> None:
    done = by_mpiexec(
        size, "pagerank", edges, "--top", 3, "-o", tmp_path / "r.tsv", "--json", tmp_path / "r.json"
    )
    assert done.code == 0, done.err
    alone = gaslab("pagerank", edges, "--top", 3, "-o", tmp_path / "alone.tsv")
    assert done.out == alone.out  # printed once, by rank 0
    found, expected = (rows((tmp_path / name).read_text()) for name in ("r.tsv", "alone.tsv"))
    assert found == pytest.approx(expected, abs=1e-10)
    assert json.loads((tmp_path / "r.json").read_text())["ranks"] == size
    assert done.err.count("gaslab: pagerank: ") == 1
    assert f"{size} ranks x " in done.err
    groups = by_mpiexec(size, "components", edges, "-q")
    assert groups.out == gaslab("components", edges, "-q").out
    nearest = by_mpiexec(size, "sssp", edges, "--source", 40, "-q", "--top", 4)
    assert nearest.out == gaslab("sssp", edges, "--source", 40, "-q", "--top", 4).out


def test_top_is_sorted_and_breaks_ties_by_id(gaslab: Run, edges: Path) -> None:
    done = gaslab("degrees", edges, "--top", 4, "--quiet")
    assert [line.split()[1:] for line in done.out.splitlines()[1:]] == [
        ["9", "2", "2", "4"], ["3", "2", "1", "3"], ["5", "1", "2", "3"], ["12", "2", "1", "3"],
    ]  # fmt: skip
    assert done.err == ""


def test_the_answer_goes_to_stdout_and_talk_to_stderr(gaslab: Run, edges: Path) -> None:
    done = gaslab("pagerank", edges)
    assert re.match(r" +id +score\n1 +\d+ +0\.\d+\n", done.out)
    assert len(done.out.splitlines()) == 8
    assert all(line.startswith("gaslab: ") for line in done.err.splitlines())
    assert "7 vertices, 9 edges, directed" in done.err


def test_started_from_earlier_values(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    gaslab(
        "pagerank", edges, "-o", tmp_path / "r.tsv", "--tolerance", "1e-13", "--json", tmp_path / "cold.json"
    )
    again = gaslab(
        "pagerank", edges, "--init", f"score={tmp_path}/r.tsv", "--tolerance", "1e-6", "--json",
        tmp_path / "warm.json", "--method", "signal", "--unnormalised",
    )  # fmt: skip
    assert again.code == 0, again.err


def test_log_levels(gaslab: Run, edges: Path) -> None:
    assert gaslab("degrees", edges, "--log-level", "warning").err == ""
    assert gaslab("degrees", edges, "--quiet").err == ""
    assert "thread" in gaslab("degrees", edges, "--log-level", "info").err


# ---- the JSON document -----------------------------------------------------------------------------

KEYS = {
    *(
        "schema_version",
        "versions",
        "command",
        "parameters",
        "seed",
        "input",
        "input_fingerprint",
        "vertices",
    ),
    *("edges", "lines_rejected", "ranks", "threads", "strategy", "strategy_chosen_by"),
    *("replication_factor", "edge_balance"),
    *("vertex_balance", "iterations", "converged", "seconds", "updates", "bytes_sent", "bytes_per_iteration"),
    *("history", "peak_rss_bytes"),
}


def test_the_json_document_says_what_cut_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "path.tsv"
    path.write_text("".join(f"{at}\t{at + 1}\n" for at in range(2000)))
    for asked, expected in [([], ("chunk", DEFAULT)), (["--strategy", "dbh"], ("dbh", None))]:
        done = on_ranks(2, "pagerank", path, "--json", tmp_path / "run.json", "--force", *asked)
        assert done.code == 0, done.err
        summary = json.loads((tmp_path / "run.json").read_text())
        assert (summary["strategy"], summary["strategy_chosen_by"]) == expected
        assert done.err.count("auto: 2 parts and 50 supersteps: chunk (") == (not asked)
    assert "chunk (chosen by auto) over 2 ranks: RF 1.00" in on_ranks(2, "info", path).out


def test_the_json_document(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    edges.write_text(edges.read_text() + "not an edge\n")
    done = gaslab(
        "pagerank", edges, "--json", tmp_path / "run.json", "--seed", 7, "--threads", 1,
        "--on-bad-line", "skip", "--max-bad-lines", 1, "--damping", "0.5",
    )  # fmt: skip
    assert done.code == 0, done.err
    summary = json.loads((tmp_path / "run.json").read_text())
    assert summary.keys() == KEYS
    expected = {"schema_version": 1, "command": "pagerank", "seed": 7, "vertices": 7, "edges": 9, "ranks": 1,
                "threads": 1, "lines_rejected": 1, "replication_factor": 1.0, "converged": True,
                "bytes_sent": 0}  # fmt: skip
    assert {key: summary[key] for key in expected} == expected
    parameters = {"damping": 0.5, "tolerance": 1e-9, "max_iterations": 100, "method": "power", "ids": "auto"}
    assert {key: summary["parameters"][key] for key in parameters} == parameters
    assert set(summary["seconds"]) == {"load", "partition", "build", "compute", "total"}
    assert all(seconds >= 0 for seconds in summary["seconds"].values())
    assert summary["seconds"]["total"] >= summary["seconds"]["compute"]
    assert summary["iterations"] > 1
    assert summary["updates"] == 7 * summary["iterations"]
    assert summary["peak_rss_bytes"]["max"] == summary["peak_rss_bytes"]["sum"] > 1 << 20
    assert summary["versions"].keys() >= {"gaslab", "python", "numpy", "mpi4py"}
    assert [row["superstep"] for row in summary["history"]] == list(range(summary["iterations"]))
    assert all(row["active"] == 7 and row["seconds"] >= 0 for row in summary["history"])
    assert done.out == ""  # a report was asked for, no table


SHARES = """
import numpy as np
import gaslab as gl
class Shares(gl.VertexProgram):
    class Vertex(gl.Vertex):
        share: float = 1.0
    class Edge(gl.Edge):
        mark: int = 0
        _own: int = 0
    class Two(gl.Accumulator):
        x: gl.Vector = gl.field(shape=2)
    @gl.aggregator
    def sums(self, v: Vertex) -> Two:
        return self.Two(x=np.ones(2) * v.share)
    def apply(self, v: Vertex) -> None:
        v.share = v.share / 2
    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.mark = e._own = 1
"""
LEFT_OUT = "left out of {}: edge field mark; result.save(FILE, edges=True) writes them from Python"


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_program_s_history_and_the_edge_fields_left_out(
    gaslab: Run, edges: Path, tmp_path: Path, ranks: int
) -> None:
    (tmp_path / "shares.py").write_text(SHARES)
    target, report = tmp_path / "shares.tsv", tmp_path / "run.json"
    words = ("run", f"{tmp_path / 'shares.py'}:Shares", edges, "--json", report)
    run = gaslab if ranks == 1 else lambda *arguments: on_ranks(ranks, *arguments)
    done = run(*words, "-o", target)
    assert done.code == 0, done.err
    assert LEFT_OUT.format(target) in done.err
    summary = json.loads(report.read_text())
    assert [row["sums"] for row in summary["history"]] == [{"x": [3.5, 3.5]}]
    done = gaslab(*words, "--force")
    assert "left out of" not in done.err


def test_the_history_counts_the_bytes_of_all_ranks(edges: Path, tmp_path: Path) -> None:
    assert on_ranks(2, "pagerank", edges, "--json", tmp_path / "run.json").code == 0
    summary = json.loads((tmp_path / "run.json").read_text())
    rows = sum(row["bytes_sent"] for row in summary["history"])  # all but what was sent before the first one
    assert 0.9 * summary["bytes_sent"] < rows <= summary["bytes_sent"]


def test_the_fingerprint_is_of_the_graph(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    def fingerprint(*words: object) -> str:
        assert gaslab("info", *words, "--json", tmp_path / "i.json", "--force").code == 0
        return str(json.loads((tmp_path / "i.json").read_text())["input_fingerprint"])

    first = fingerprint(edges)
    assert fingerprint(edges) == first
    edges.write_text(edges.read_text() + "1\t2\n")
    assert fingerprint(edges) != first


# ---- help ------------------------------------------------------------------------------------------


def test_help_names_every_command(gaslab: Run) -> None:
    done = gaslab("--help")
    assert (done.code, done.err) == (0, "")
    for name in COMMANDS:
        assert f"\n  {name} " in done.out
    assert max(map(len, done.out.splitlines())) <= 110


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(gaslab: Run, name: str) -> None:
    done = gaslab(name, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: gaslab {name}")
