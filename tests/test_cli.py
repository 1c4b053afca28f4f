"""The command line: answers, exit codes, what goes where, and what is said when something is wrong."""

from __future__ import annotations

import json
import logging
import math
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from gaslab import failure
from gaslab.cli import COMMANDS, main
from tests.mpi.launcher import run_script

EDGES = [(3, 5), (5, 3), (5, 12), (12, 3), (40, 12), (7, 8), (8, 9), (9, 7), (9, 9)]


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    path = tmp_path / "edges.tsv"
    path.write_text("".join(f"{s}\t{t}\n" for s, t in EDGES))
    return path


@pytest.fixture
def weighted(tmp_path: Path) -> Path:
    path = tmp_path / "weighted.csv"
    rows = "".join(f"{s},{t},{k + 1},{0.5 * k}\n" for k, (s, t) in enumerate(EDGES))
    path.write_text("source,target,weight,km\n" + rows)
    return path


class Outcome:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def gaslab(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Outcome]]:
    """Run a command in this process, which is one rank."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(failure, "_armed", True)
    log = logging.getLogger("gaslab")
    kept = (log.handlers[:], log.propagate, log.level)

    def run(*words: object) -> Outcome:
        code = main([str(word) for word in words])
        told = capsys.readouterr()
        return Outcome(code, told.out, told.err)

    yield run
    log.handlers[:], log.propagate, log.level = kept


Run = Callable[..., Outcome]


def on_ranks(size: int, *words: object) -> Outcome:
    done = run_script(size, ["-m", "gaslab", *map(str, words)])
    return Outcome(done.returncode, done.stdout, done.stderr)


def rows(text: str) -> dict[int, float]:
    return {int(line.split()[0]): float(line.split()[-1]) for line in text.splitlines()}


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


@pytest.mark.parametrize("size", [2, 3])
def test_the_same_under_mpiexec(edges: Path, tmp_path: Path, gaslab: Run, size: int) -> None:
    done = on_ranks(
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
    groups = on_ranks(size, "components", edges, "-q")
    assert groups.out == gaslab("components", edges, "-q").out
    nearest = on_ranks(size, "sssp", edges, "--source", 40, "-q", "--top", 4)
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
    *("edges", "lines_rejected", "ranks", "threads", "strategy", "replication_factor", "edge_balance"),
    *("vertex_balance", "iterations", "converged", "seconds", "updates", "bytes_sent", "bytes_per_iteration"),
    "peak_rss_bytes",
}


def test_the_json_document(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    edges.write_text(edges.read_text() + "not an edge\n")
    done = gaslab(
        "pagerank", edges, "--json", tmp_path / "run.json", "--seed", 7, "--threads", 1,
        "--on-bad-line", "skip", "--max-bad-lines", 1, "--damping", "0.5",
    )  # fmt: skip
    assert done.code == 0, done.err
    told = json.loads((tmp_path / "run.json").read_text())
    assert told.keys() == KEYS
    expected = {"schema_version": 1, "command": "pagerank", "seed": 7, "vertices": 7, "edges": 9, "ranks": 1,
                "threads": 1, "lines_rejected": 1, "replication_factor": 1.0, "converged": True,
                "bytes_sent": 0}  # fmt: skip
    assert {key: told[key] for key in expected} == expected
    parameters = {"damping": 0.5, "tolerance": 1e-9, "max_iterations": 100, "method": "power", "ids": "auto"}
    assert {key: told["parameters"][key] for key in parameters} == parameters
    assert set(told["seconds"]) == {"load", "partition", "build", "compute", "total"}
    assert all(seconds >= 0 for seconds in told["seconds"].values())
    assert told["seconds"]["total"] >= told["seconds"]["compute"]
    assert told["iterations"] > 1
    assert told["updates"] == 7 * told["iterations"]
    assert told["peak_rss_bytes"]["max"] == told["peak_rss_bytes"]["sum"] > 1 << 20
    assert told["versions"].keys() >= {"gaslab", "python", "numpy", "mpi4py"}
    assert done.out == ""  # a report was asked for, no table


def test_the_fingerprint_is_of_the_graph(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    def fingerprint(*words: object) -> str:
        assert gaslab("info", *words, "--json", tmp_path / "i.json", "--force").code == 0
        return str(json.loads((tmp_path / "i.json").read_text())["input_fingerprint"])

    first = fingerprint(edges)
    assert fingerprint(edges) == first
    edges.write_text(edges.read_text() + "1\t2\n")
    assert fingerprint(edges) != first


# ---- exit codes and errors -------------------------------------------------------------------------


def test_no_words_is_a_usage_error(gaslab: Run) -> None:
    done = gaslab()
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: gaslab COMMAND")


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("pagernak", "there is no command 'pagernak'; did you mean 'pagerank'?"),
        ("pagerank EDGES --dampng 0.5", "there is no option '--dampng'; did you mean '--damping'?; HELP"),
        ("degrees EDGES --zzz", "there is no option '--zzz'; HELP"),
        (
            "pagerank EDGES --engine snyc",
            "argument --engine: 'snyc' is unknown; did you mean 'sync' or 'async'?; HELP",
        ),
        (
            "pagerank EDGES --strategy random2",
            "argument --strategy: 'random2' is unknown; did you mean 'random'?; HELP",
        ),
        ("sssp EDGES", "missing: --source; HELP"),
        (
            "pagerank EDGES --max-iterations -1",
            "argument --max-iterations/--iterations: -1 is less than 0; HELP",
        ),
        ("pagerank EDGES --top many", "argument --top: 'many' is not a whole number; HELP"),
        ("pagerank EDGES --init ranks.tsv", "argument --init: 'ranks.tsv' is not NAME=VALUE; HELP"),
        ("pagerank EDGES --damping 1.5", "damping=1.5: a probability below 1 is needed; 0.85 is usual"),
        ("sssp EDGES --source x", "'x' is no vertex id: the ids of this graph are integers"),
        ("pagerank EDGES --fields scor", "there is no vertex field 'scor'; did you mean 'score'?"),
        ("convert EDGES --map x.tsv", "--map goes with --relabel: without it the ids stay as they are"),
        ("partition EDGES -k 2 -o x.tsv", "--output writes one cut; name it with --strategy"),
    ],
)
def test_usage_errors(gaslab: Run, edges: Path, words: str, message: str) -> None:
    command = words.split()
    done = gaslab(*(str(edges) if word == "EDGES" else word for word in command))
    assert (done.code, done.out) == (2, "")
    help = f"`gaslab {command[0]} --help` lists the options"
    assert done.err.splitlines()[-1] == "gaslab: " + message.replace("HELP", help)
    assert "Traceback" not in done.err


def test_input_errors_say_one_thing(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    missing = gaslab("degrees", tmp_path / "nothing.tsv")
    assert (missing.code, missing.out, missing.err) == (
        1,
        "",
        f"gaslab: {tmp_path}/nothing.tsv: no such file\n",
    )
    edges.write_text("1 2\n1 x\n")
    bad = gaslab("degrees", edges)
    assert bad.code == 1
    assert f"{edges}" in bad.err
    assert "'x'" in bad.err or "1 x" in bad.err
    assert "Traceback" not in bad.err


def test_an_absent_source_is_an_input_error(gaslab: Run, edges: Path) -> None:
    done = gaslab("sssp", edges, "--source", 41)
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("gaslab: vertex 41 is not in the graph")


def test_errors_on_all_ranks_are_told_once_and_end_cleanly(edges: Path, tmp_path: Path) -> None:
    done = on_ranks(3, "degrees", tmp_path / "nothing.tsv")
    assert (done.code, done.out, done.err) == (1, "", f"gaslab: {tmp_path}/nothing.tsv: no such file\n")
    usage = on_ranks(3, "pagernak")
    assert usage.code == 2
    assert usage.err == "gaslab: there is no command 'pagernak'; did you mean 'pagerank'?\n"
    option = on_ranks(3, "degrees", edges, "--thread", 2)
    assert option.code == 2
    assert option.err.count("gaslab: ") == 1
    assert on_ranks(2, "--help").out.count("usage:") == 1


def test_not_converged(gaslab: Run, edges: Path) -> None:
    done = gaslab("pagerank", edges, "--max-iterations", 2)
    assert done.code == 0
    assert "gaslab: warning: PageRank was not done after 2 supersteps; raise max_iterations" in done.err
    assert gaslab("pagerank", edges, "--iterations", 2, "--require-converged").code == 3
    assert gaslab("pagerank", edges, "--require-converged").code == 0


def test_not_converged_under_mpiexec(edges: Path) -> None:
    done = on_ranks(2, "pagerank", edges, "--iterations", 2, "--require-converged", "-q")
    assert done.code == 3
    assert "Abort" not in done.err
    assert done.err.count("PageRank was not done") == 1


SLOW = """
import gaslab as gl
class Slow(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 0
    def apply(self, v: Vertex) -> None:
        v.n += 1
    def done(self) -> bool:
        {done}
        return False
"""


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize(
    "done", ["pass", "import time; time.sleep(60)"], ids=["between supersteps", "in the middle of one"]
)
def test_timeout(edges: Path, tmp_path: Path, size: int, done: str) -> None:
    (tmp_path / "slow.py").write_text(SLOW.format(done=done))
    ended = on_ranks(size, "run", f"{tmp_path}/slow.py:Slow", edges, "--timeout", 2, "-q")
    assert ended.code == 124
    assert re.search("ran out of|no answer within", ended.err)
    assert "Traceback" not in ended.err


def test_outputs_are_checked_before_the_work(gaslab: Run, tmp_path: Path, edges: Path) -> None:
    (tmp_path / "there.tsv").write_text("precious")
    for words in (["-o", tmp_path / "there.tsv"], ["--json", tmp_path / "there.tsv"]):
        done = gaslab("pagerank", edges, *words)
        assert done.code == 2
        assert "there.tsv exists; --force" in done.err
        assert "vertices" not in done.err  # nothing was read yet
    assert (tmp_path / "there.tsv").read_text() == "precious"
    assert gaslab("pagerank", edges, "-o", tmp_path / "there.tsv", "--force").code == 0
    assert (tmp_path / "there.tsv").read_text() != "precious"


def test_a_reader_that_leaves_is_no_error(edges: Path) -> None:
    import subprocess
    import sys

    from tests.mpi.launcher import environment

    command = f"{sys.executable} -m gaslab generate rmat --scale 14 | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env=environment(), timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_log_levels(gaslab: Run, edges: Path) -> None:
    assert gaslab("degrees", edges, "--log-level", "warning").err == ""
    assert gaslab("degrees", edges, "--quiet").err == ""
    assert "thread" in gaslab("degrees", edges, "--log-level", "info").err


def test_numbers_of_the_wrong_kind(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    (tmp_path / "restart.txt").write_text("3 much\n")
    done = gaslab("pagerank", edges, "--personalization", tmp_path / "restart.txt")
    assert done.code == 1
    assert done.err.splitlines()[-1] == (
        f"gaslab: {tmp_path}/restart.txt, line 1: 'much' is not a number; id first, value last"
    )
    (tmp_path / "empty.txt").write_text("3\n")
    done = gaslab("pagerank", edges, "--init", f"score={tmp_path}/empty.txt")
    assert done.err.splitlines()[-1] == f"gaslab: {tmp_path}/empty.txt, line 1: '3' has an id but no value"
    assert np.isfinite(done.code)
