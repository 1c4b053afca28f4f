"""METIS files against a reader of a few lines, on any ranks; and what is wrong with a file, at its line."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab._kernels import metis as kernels
from gaslab.cli import main
from gaslab.errors import InputError, UsageError
from gaslab.ingest import capacity, files
from gaslab.ingest.read import read_edges
from gaslab.parallel.comm import Comm
from tests.mpi.launcher import REAL
from tests.mpi.ranks import Ranks
from tests.support.threadcomm import run_ranks

SAMPLES = REAL / "graphs"
SIZES = (1, 2, 3, 4, 9)


def parsed(text: str) -> tuple[int, list[tuple[Any, ...]], dict[str, list[float]]]:
    """Read METIS text the slow way: (n, edges as (low, high[, weight]), vertex columns)."""
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if not line.startswith("%")]
    n, m, *more = lines[0].split()
    digits = (more[0] if more else "0").zfill(3)
    weights = int(more[1]) if len(more) > 1 else int(digits[1])
    names = ["size"] * int(digits[0]) + (
        ["weight"] if weights == 1 else [f"weight{k + 1}" for k in range(weights)]
    )
    edges: list[tuple[Any, ...]] = []
    columns: dict[str, list[float]] = {name: [] for name in names}
    for v in range(1, int(n) + 1):
        words = lines[v].split() if v < len(lines) else []
        for name in names:
            columns[name].append(float(words.pop(0)))
        step = 1 + int(digits[2])
        for k in range(0, len(words), step):
            if int(words[k]) >= v:
                edges.append((v, int(words[k]), *map(float, words[k + 1 : k + step])))
    assert len(edges) == int(m)
    return int(n), sorted(edges), columns


def read(comm: Comm, path: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    edges = read_edges(path, comm, **options)
    ends = [edges.ids.lookup(end).tolist() for end in (edges.src, edges.dst)]
    mine = list(zip(*ends, *(column.tolist() for column in edges.columns.values()), strict=True))
    rows = sorted(row for part in comm.allgather(mine) for row in part)
    gids, columns = edges.vertices or (np.empty(0, np.int64), {})
    order = np.concatenate(comm.allgather(gids))
    assert edges.vertices is None or order.tolist() == list(range(edges.num_vertices))
    values = {name: np.concatenate(comm.allgather(column)) for name, column in columns.items()}
    expected = {name: (column.dtype.name, column.tolist()) for name, column in values.items()}
    return rows, edges.num_vertices, edges.directed, edges.fingerprint, expected, edges.counts


def on_all(path: Path, **options: Any) -> tuple[Any, ...]:
    found = [part for size in SIZES for part in run_ranks(size, lambda comm: read(comm, path, options))]
    assert all(part == found[0] for part in found)
    return found[0]


def error_on_all(path: Path, kind: type[Exception] = InputError, **options: Any) -> str:
    texts = set()
    for size in SIZES:
        with pytest.raises(kind) as error:
            run_ranks(size, lambda comm: read_edges(path, comm, **options))
        texts.add(str(error.value))
    assert len(texts) == 1, texts
    return texts.pop().removeprefix(str(path))


def written(folder: Path, text: str, name: str = "g.graph") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def check(path: Path, text: str) -> None:
    n, edges, columns = parsed(text)
    rows, found_n, directed, _, expected, counts = on_all(path)
    assert (rows, found_n, directed) == (edges, n, False)
    assert {name: values for name, (_, values) in expected.items()} == columns
    assert (counts["edges_read"], counts["lines_rejected"]) == (len(edges), 0)
    both = on_all(path, directed=True)
    assert both[2]
    assert both[0] == sorted(edges + [(v, u, *w) for u, v, *w in edges if u != v])


@pytest.mark.parametrize("name", ["karate.graph", "power.graph", "polblogs.graph"])
def test_samples(name: str) -> None:
    path = SAMPLES / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    check(path, path.read_text())
    if name == "karate.graph":
        rows = read_edges(path, Comm())
        found = nx.Graph(zip(rows.src.tolist(), rows.dst.tolist(), strict=True))
        assert nx.utils.graphs_equal(found, nx.Graph(nx.karate_club_graph().edges()))


WEIGHT = st.sampled_from(["1", "7", "2.5", "0", "1e3"])
DRAWN = st.tuples(
    st.integers(0, 9),
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), WEIGHT), max_size=15),
    st.sampled_from(["", "0", "1", "10", "11", "100", "101", "110", "111", "001", "011", "010"]),
    st.integers(1, 3), st.sampled_from(["\n", "\r\n"]), *[st.booleans()] * 4,
)  # fmt: skip


@pytest.mark.slow
@given(DRAWN)
def test_the_slow_reader_reads_the_same(tmp_path_factory: pytest.TempPathFactory, drawn: Any) -> None:
    n, pairs, fmt, weights, end, last, comments, extra, zipped = drawn
    sized, heavy, weighted = (digit == "1" for digit in fmt.zfill(3))
    lists: list[list[str]] = [[] for _ in range(n)]
    edges = {(min(u, v) % max(n, 1), max(u, v) % max(n, 1)): w for u, v, w in pairs} if n else {}
    for (u, v), w in {(min(e), max(e)): w for e, w in edges.items()}.items():
        for one, other in {(u, v), (v, u)}:
            lists[one].append(f"{other + 1} {w}" if weighted else f"{other + 1}")
    m = len({(min(e), max(e)) for e in edges})
    head = f"{n} {m} {fmt} {weights if heavy and weights > 1 else ''}".strip()
    front = [
        [str(v * 3)] * sized + [f"{v}.5" if k else str(v) for k in range(weights)] * heavy for v in range(n)
    ]
    lines = [" ".join(front[v] + lists[v]) for v in range(n)]
    if comments:
        lines = [x for v, line in enumerate(lines) for x in ([f"% {v}", line] if v % 2 else [line + " "])]
        head = f"% made by hand{end}{head}"
    lines += ["", "  "] * extra
    text = end.join([head, *lines]) + (end if last else "")
    path = written(tmp_path_factory.getbasetemp(), text, "h.metis.gz" if zipped else "h.metis")
    check(path, text)


def large(n: int, m: int) -> tuple[str, list[tuple[int, int, int]]]:
    rng = np.random.default_rng(3)
    ends = np.unique(np.sort(rng.integers(1, n + 1, (m, 2)), axis=1), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    edges = [(u, v, u * v % 97) for u, v in ends.tolist()]
    lists: dict[int, list[str]] = {v: [] for v in range(1, n + 1)}
    for u, v, w in edges:
        lists[u].append(f"{v} {w}")
        lists[v].append(f"{u} {w}")
    return f"{n} {len(edges)} 011\n" + "".join(f"{v} {' '.join(lists[v])}\n" for v in lists), edges


@pytest.mark.parametrize("threads", [1, 2])
def test_a_large_file_is_the_same_on_any_ranks_and_threads(
    ranks: Ranks, tmp_path: Path, threads: int
) -> None:
    text, edges = large(4000, 60000)
    path = written(tmp_path, text)
    for rows, n, directed, _, expected, _ in ranks.run(read, str(path), {}, threads=threads):
        assert (rows, n, directed) == (edges, 4000, False)
        assert expected == {"weight": ("int64", list(range(1, 4001)))}


def test_lines_longer_than_those_of_edge_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A star: the line of its centre is longer than a block and than a line of an edge list may be."""
    monkeypatch.setattr(files.blocks, "__defaults__", (1 << 12, 1 << 10))
    n = 3000
    text = f"{n} {n - 1}\n" + " ".join(map(str, range(2, n + 1))) + "\n" + "1\n" * (n - 1)
    check(written(tmp_path, text), text)


def test_more_vertices_than_the_ranks_can_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "LARGEST_PART", 2)
    path = written(tmp_path, "% three\n3 2\n2\n1 3\n2\n")
    with pytest.raises(InputError) as error:
        gl.read_graph(path)
    assert str(error.value) == f"{path}:2: 3 vertices are more than the 2 that 1 rank can hold"


def graph_of(comm: Comm, path: str) -> tuple[Any, ...]:
    graph = gl.read_graph(path, comm=comm)
    gids = np.concatenate(comm.allgather(graph.local.gid[: graph.local.num_masters]))
    weight = np.concatenate(comm.allgather(graph.vertex_columns["weight"]))
    label = gl.components(graph).vertices.to_dict("component")
    return graph.num_edges, graph.fingerprint, weight[np.argsort(gids)].tolist(), label


def test_vertex_weights_are_columns_of_the_graph(ranks: Ranks, tmp_path: Path) -> None:
    path = written(tmp_path, "5 2 10\n7 2\n8 1 4\n9\n6 2\n5.5\n")
    alone = graph_of(Comm(), str(path))
    assert (alone[0], alone[2]) == (2, [7, 8, 9, 6, 5.5])
    assert alone[3] == {1: 1, 2: 1, 3: 3, 4: 1, 5: 5}
    assert ranks.run(graph_of, str(path)) == [alone] * ranks.size


def test_columns_of_edges(tmp_path: Path) -> None:
    path = written(tmp_path, "2 1 1\n2 5\n1 5\n")
    assert on_all(path)[0] == on_all(path, columns={"cost": "weight"})[0] == [(1, 2, 5)]
    assert on_all(path, columns=[])[0] == on_all(path, columns={"weight": None})[0] == [(1, 2)]
    assert list(read_edges(path, Comm(), columns={"cost": "weight"}).columns) == ["cost"]


BEGINS = "a METIS file begins with 'vertices edges [format [weights]]'"
IS_NOT = f"{BEGINS}, the format of digits 0 and 1, not"
OR_PASS = "or pass --format edges (format='edges') if it is an edge list"
CASES = [
    ("", f": {BEGINS}; this has no line"),
    ("% c\n0 1 x\n", f":2: {IS_NOT} '0 1 x'; {OR_PASS}"),
    ("2 1 2\n2\n1\n", f":1: {IS_NOT} '2 1 2'; {OR_PASS}"),
    ("2 1 0 2\n2\n1\n", ":1: 2 weights of each vertex, where the format 0 has no"),
    ("2 1 10 0\n2\n1\n", ":1: 0 weights of each vertex, where the format 10 has 1 to 255"),
    ("4 1\n2\n1\n", ":1: the first line '4 1' says 4 vertices, and 2 lines follow; it is cut short"),
    ("3 1 10\n1 2\n1 1\n",
     ":1: the first line '3 1 10' says 3 vertices, and 2 lines follow; it is cut short"),
    ("2 2\n2\n1\n", ":1: the first line '2 2' says 2 edges, and the lists of their ends have 1"),
    ("2 1\n2\n1\n\n1\n", ":5: one line more than the 2 vertices of line 1: '1'"),
    ("% c\n2 1\n2\n% c\n0\n", ":5: word 1 is not a vertex, 1 to 2: '0'"),
    ("2 1\n2\n1 3\n", ":3: word 2 is not a vertex, 1 to 2: '1 3'"),
    ("2 1\n2 -1\n1\n", ":2: word 2 is not a vertex, 1 to 2: '2 -1'"),
    ("2 1\n2\n1 99999999999999999999\n", ":3: word 2 is not a vertex, 1 to 2: '1 99999999999999999999'"),
    ("2 1\n2 x\ny\n", ":2: word 2 is not a vertex, 1 to 2: '2 x' (1 more bad line)"),
    ("2 1\n2.0\n1\n", ":2: word 1 is not a vertex, 1 to 2: '2.0'"),
    ("2 1 1\n2 5\n1\n", ":3: the last neighbour has no weight (word 2): '1'"),
    ("2 1 1\n2 e5\n1 e5\n", ":2: word 2 is not a number: '2 e5' (1 more bad line)"),
    ("2 1 1\n2 nan\n1 1\n", ":2: word 2 is not a number (nan): '2 nan'"),
    ("2 1 1\n2 1e999\n1 1\n", ":2: word 2 is outside float64's range: '2 1e999'"),
    ("2 1 10\n1 2\n\n", ":3: the vertex's weight is missing: ''"),
    ("2 1 110 2\n1 1 1 2\n1 1\n", ":3: the vertex's weight2 is missing: '1 1'"),
    ("2 1 100\nx 2\n1 1\n", ":2: word 1 is not a number: 'x 2'"),
    ("4 3\n2 3\n% c\n1 4\n1 4\n3\n", ":4: the edge of 2 and 4 is not in the lists of both"),
    ("3 2\n2\n\n1 2\n", ":2: the edge of 1 and 2 is not in the lists of both"),
    ("2 1 1\n2 5\n1 6\n", ":2: the edge of 1 and 2 is not in the lists of both with the same weight"),
    ("2 2\n2 2\n1\n", ":2: the edge of 1 and 2 is not in the lists of both"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_what_is_wrong_is_said_at_its_line(tmp_path: Path, text: str, expected: str) -> None:
    for name, end in (("g.graph", "\n"), ("g.graph.gz", "\n"), ("h.graph", "\r\n")):
        assert error_on_all(written(tmp_path, text.replace("\n", end), name)) == expected
    assert error_on_all(written(tmp_path, text, "g.graph"), directed=True) == expected


def test_a_carriage_return_inside_a_line(tmp_path: Path) -> None:
    assert error_on_all(written(tmp_path, "2 1\n2\r1\n1\n")).startswith(
        ":2: a carriage return inside the line"
    )


def test_a_late_fault_is_found_by_the_rank_that_has_it(ranks: Ranks, tmp_path: Path) -> None:
    text, edges = large(2000, 20000)
    lines = text.split("\n")
    u, v, w = edges[-1]
    for wrong, expected in (
        (
            f"{lines[v]} {u} {w}",
            f":{u + 1}: the edge of {u} and {v} is not in the lists of both with the same weight",
        ),
        (f"{lines[v]} 2001 1", f":{v + 1}: word {len(lines[v].split()) + 1} is not a vertex, 1 to 2000: "),
    ):
        path = written(tmp_path, "\n".join([*lines[:v], wrong, *lines[v + 1 :]]))
        with pytest.raises(InputError) as error:
            ranks.run(read, str(path), {})
        assert str(error.value).startswith(f"{path}{expected}")


def test_options_that_do_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "2 1\n2\n1\n")
    assert "vertices of one kind" in error_on_all(path, UsageError, bipartite=True)
    assert "is for edge lists, and this is a METIS file" in error_on_all(path, UsageError, header=False)
    assert on_all(written(tmp_path, "2 1\n2\n1\n", "g.txt"), format="metis")[0] == [(1, 2)]
    assert main(["components", str(path), "--quiet", "--top", "3"]) == 0
    assert main(["components", str(path), "--quiet", "--directed"]) == 0
    assert main(["components", str(tmp_path / "g.txt"), "--quiet", "--format", "metis"]) == 0
    assert main(["components", str(path), "--quiet", "--bipartite"]) == 2
    assert "bipartite=True (--bipartite)" in capsys.readouterr().err


def test_the_kernel_checks_its_room() -> None:
    text = np.frombuffer(b"2 3\n1\n1\n" + bytes(64), np.uint8)
    none = np.empty(0, np.int64)
    for bounds in ([0, 7], [0, 80], [-1, 8]):
        with pytest.raises(ValueError, match="is not whole lines"):
            kernels.count(text, np.array(bounds))
    with pytest.raises(ValueError, match="no room"):
        kernels.parse(text, np.array([0, 8]), np.array([0]), 3, 0, False, False, none, none, none, ())


def test_what_an_edge_list_does_not_hold_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "4 1 10\n7\n8 3\n9 2\n5\n")
    assert main(["convert", str(path)]) == 0
    shown = capsys.readouterr()
    assert shown.out == "2\t3\n"
    for text in (
        "warning: 2 vertices without edges are left out: an edge list holds only edges",
        "warning: left out of the edge list: vertex columns weight",
        "the edges have no direction; read the edge list with --undirected",
    ):
        assert text in shown.err
    assert main(["partition", str(path), "-k", "2", "--quiet"]) == 0
