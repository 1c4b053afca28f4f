"""The strategy `file`: a cut is used again, and what does not fit is an error that names the line."""

from __future__ import annotations

import gzip
import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.errors import InputError, UsageError
from gaslab.parallel.comm import Comm
from gaslab.partitioning import strategies
from tests.conftest import LONG
from tests.support.command_line import Run, edges, gaslab, on_ranks
from tests.support.graphs import Drawn, graphs
from tests.support.strategies import STRATEGIES
from tests.support.threadcomm import run_ranks

__all__ = ["edges", "gaslab"]  # fixtures
HEAD = ("source", "target", "part")
FORMATS = ("tsv", "csv", "tsv.gz", "csv.gz", "parquet")


def parts_by(name: str, graph: gl.Graph, k: int) -> list[int]:
    """The parts of all edges, by source and target (collective)."""
    return gl.partition(graph, k, strategy=name).parts.tolist()


@given(graphs(), st.sampled_from(STRATEGIES), st.sampled_from(FORMATS), st.integers(1, 4), st.integers(1, 5))
def test_a_cut_is_read_as_it_was_written(drawn: Drawn, name: str, suffix: str, size: int, k: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cut = gl.partition(drawn.build(Comm()), k, strategy=name)
        cut.save(path := f"{folder}/cut.{suffix}")
        again = run_ranks(size, lambda comm: parts_by(f"file:path={path}", drawn.build(comm), k))
        assert again == [cut.parts.tolist()] * size


def written(path: Path, rows: Sequence[Sequence[Any]], head: Sequence[str] = HEAD) -> str:
    """Write rows as the name of the file says; return the strategy."""
    if path.suffix == ".parquet":
        columns = {name: list(values) for name, values in zip(head, zip(*rows, strict=True), strict=True)}
        pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=3)
    else:
        text = "".join("\t".join(map(str, row)) + "\n" for row in (head, *rows)).encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return f"file:path={path}"


LARGE = 20_000  # edges


@pytest.mark.parametrize(
    ("kind", "name"),
    itertools.product(("numbers", "words", "negative", "bipartite"), ("cut.tsv", "cut.gz", "cut.parquet"))
    if LONG
    else [("numbers", "cut.parquet"), ("words", "cut.tsv"), ("negative", "cut.gz"), ("bipartite", "cut.tsv")],
)
def test_rows_in_any_order_of_another_tool(tmp_path: Path, kind: str, name: str) -> None:
    rng = np.random.default_rng(1)
    pairs = np.unique(rng.integers(0, 3000, (LARGE, 2)), axis=0)
    rng.shuffle(pairs)
    part = rng.integers(0, 9, len(pairs))
    user = {
        "numbers": lambda v: 7 * v, "words": "v{}".format, "negative": lambda v: v - 1500, "bipartite": int,
    }[kind]  # fmt: skip
    rows = [(p, user(s), 0.5, user(t)) for (s, t), p in zip(pairs.tolist(), part.tolist(), strict=True)]
    file = written(tmp_path / name, rows, ("part", "source", "x", "target"))
    repeated = np.concatenate([np.arange(len(rows)), rng.integers(0, len(rows), 500)])  # parallel edges
    rng.shuffle(repeated)
    src, dst = ([rows[r][column] for r in repeated] for column in (1, 3))

    def rank(comm: Comm) -> Any:
        number = {"number": repeated}
        graph = gl.Graph.from_edges(src, dst, columns=number, bipartite=kind == "bipartite", comm=comm)
        cut = gl.partition(graph, 9, strategy=file)
        assert np.array_equal(cut.parts, part[cut.edges["number"]])
        return graph.partitioned(file).local.num_edges if comm.size == 9 else None

    for size in (1, 2, 3, 4):
        run_ranks(size, rank)
    assert run_ranks(9, rank) == np.bincount(part[repeated]).tolist()


def test_without_directions_ends_may_stand_in_either_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    pairs = np.unique(np.sort(rng.integers(0, 300, (2000, 2)), axis=1), axis=0)
    part = rng.integers(0, 4, len(pairs))
    flip = rng.random((2, len(pairs))) < 0.5
    file = written(tmp_path / "cut.tsv", [
        (*(row[::-1] if turned else row), p)
        for row, p, turned in zip(pairs.tolist(), part.tolist(), flip[0], strict=True)
    ])  # fmt: skip
    src, dst = np.where(flip[1], pairs.T[::-1], pairs.T)

    def rank(comm: Comm) -> None:
        columns = {"number": np.arange(len(pairs))}
        graph = gl.Graph.from_edges(src, dst, columns=columns, directed=False, comm=comm)
        cut = gl.partition(graph, 4, strategy=file)
        assert np.array_equal(cut.parts, part[cut.edges["number"]])
        turned = gl.Graph.from_edges(src, dst, comm=comm)
        with pytest.raises(InputError, match=r"cut\.tsv:\d+: there is no such edge in the graph"):
            gl.partition(turned, 4, strategy=file)

    run_ranks(3, rank)


def test_a_bipartite_graph_turned_round(tmp_path: Path) -> None:
    file = written(tmp_path / "cut.tsv", [(1, 2, 1), (1, 1, 0), (5, 2, 1)])
    graph = gl.Graph.from_edges([2, 1, 2], [1, 1, 5], bipartite=True).reverse()
    assert gl.partition(graph, 2, strategy=file).parts.tolist() == [0, 1, 1]


@pytest.mark.parametrize("name", ["cut.tsv", "cut.parquet"])
@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([(3, 5, 0), (5, 3, 4), (3, 7, 9)], r"{2}: part 4 is not one of 0 to 2: .*5.*3.*4.*into 10 parts "
         r"\(-k 10; for a run mpiexec -n 10\) \(1 more such row\)"),
        ([(3, 5, 0), (5, 3, -1), (3, 7, 2)], r"{2}: part -1 is not one of 0 to 2: .*; write whole numbers "
         "from 0$"),
        ([(3, 5, 0.0), (5, 3, 1.5), (3, 7, 2.0)], r"{2}: part 1\.5 is not one of 0 to 2"),
        ([(3, 5, 0), (5, 3, 1), (3, 7, 2), (3, 5, 0), (5, 3, 2)], r"{5}: part 2, but .*{2} has part 1 for "
         "these ends: .*give them one part$"),
        ([(3, 5, 0), (5, 3, 1), (3, 8, 2), (3, 7, 0), (8, 9, 0)], r"{3}: there is no such edge in the graph: "
         r".*3.*8.*2.*; take the graph that was cut, or leave the row out \(1 more such row\)"),
        ([(3, 5, 0)], r"cut\.\w+: no row has a part for the edge 3 -> 7 and 1 more edge of the graph; take"),
        ([(3, 5, 0), (3, 7, 0)], r"no row has a part for the edge 5 -> 3 of the graph"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_fit(tmp_path: Path, name: str, rows: Any, error: str) -> None:
    text = name == "cut.tsv"
    for number in range(1, 6):
        where = rf"cut\.tsv:{number + 1}" if text else rf"cut\.parquet: row {number}"
        error = error.replace(f"{{{number}}}", where)
    file = written(tmp_path / name, rows)

    def rank(comm: Comm) -> str:
        graph = gl.Graph.from_edges([3, 5, 3], [5, 3, 7], comm=comm)
        with pytest.raises(InputError, match=error) as raised:
            gl.partition(graph, 3, strategy=file)
        return str(raised.value)

    for size in (1, 2, 3, 4):
        assert len(set(run_ranks(size, rank))) == 1


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("3 5 0\n5 3 1\n", r"cut\.tsv: the first line does not name a column 'part'; a file of parts has"),
        ("", r"cut\.tsv: the first line does not name a column 'part'"),
        ("source target part\n3 5 0\n5 3 x\n", r"cut\.tsv:3: part is not a number: '5 3 x'$"),
        ("source target part\n3 5 0\n5 3\n", r"cut\.tsv:3: 2 fields where the first data line has 3"),
        ("source target part\n3 5 0\n\nfive 3 1\n", r"cut\.tsv:4: the source id is not an integer: 'five 3"),
        ("source target part\n3 5 0\n\n5 3 2\n", r"cut\.tsv:4: part 2 is not one of 0 to 1"),
    ],
)
def test_a_text_that_is_no_file_of_parts(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "cut.tsv").write_text(text)

    def rank(comm: Comm) -> None:
        graph = gl.Graph.from_edges([3, 5], [5, 3], comm=comm)
        with pytest.raises(InputError, match=error):
            gl.partition(graph, 2, strategy=f"file:path={tmp_path}/cut.tsv")

    for size in (1, 3):
        run_ranks(size, rank)


def test_a_parquet_file_that_is_no_file_of_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, path = gl.Graph.from_edges([3, 5], [5, 3]), tmp_path / "cut.parquet"
    for rows, head, error in (
        ([(3, 5, 0), (5, 3, 1)], ("source", "target", "p"), "there is no column 'part'; a file of parts has"),
        ([(3, 5, "0"), (5, 3, "1")], HEAD, "the column 'part' is string; whole"),
        ([(3, 5, 0), (5, None, 1)], HEAD, "row 2: the target id is missing"),
        ([(3, 5, 0), (5, 3, None)], HEAD, "row 2: part nan is not one of 0 to 1"),
        ([(3.5, 5, 0), (5, 3, 1)], HEAD, "source is float64: ids are integers or"),
    ):
        with pytest.raises(InputError, match=rf"cut\.parquet: {error}"):
            gl.partition(graph, 2, strategy=written(path, rows, head))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"cut\.parquet: cannot be read: .*"):
        gl.partition(graph, 2, strategy=f"file:path={path}")
    monkeypatch.setattr("gaslab.system.extras.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"reading .*cut\.parquet needs pyarrow, .* 'gaslab\[interop\]'"):
        gl.partition(graph, 2, strategy=f"file:path={path}")


def test_ids_of_words_in_dictionaries(tmp_path: Path) -> None:
    column = pyarrow.array(["ann", "bob", "ann"]).dictionary_encode()
    table = pyarrow.table({"source": column, "target": ["bob", "eve", "eve"], "part": [2, 0, 1]})
    pyarrow.parquet.write_table(table, tmp_path / "cut.parquet")
    graph = gl.Graph.from_edges(["ann", "ann", "bob"], ["bob", "eve", "eve"])
    assert gl.partition(graph, 3, strategy=f"file:path={tmp_path}/cut.parquet").parts.tolist() == [2, 1, 0]


def test_nodes_that_are_neither_numbers_nor_words(tmp_path: Path) -> None:
    nodes = [(1, 2), "x", (3, 4)]
    graph = gl.Graph.from_edges(nodes, nodes[1:] + nodes[:1])
    cut = gl.partition(graph, 2, strategy="random")
    cut.save(tmp_path / "cut.tsv")
    again = gl.partition(graph, 2, strategy=f"file:path={tmp_path}/cut.tsv")
    assert again.parts.tolist() == cut.parts.tolist()


def test_a_file_is_checked_on_one_rank_too(tmp_path: Path) -> None:
    file = written(tmp_path / "cut.tsv", [(3, 5, 0), (5, 3, 1)])
    with pytest.raises(InputError, match=r"part 1 is not one of 0 to 0: .* into 2 parts \(-k 2; for a run"):
        gl.Graph.from_edges([3, 5], [5, 3], strategy=file)


def test_the_path_must_be_given_and_there(tmp_path: Path) -> None:
    for name in ("file", "file:"):
        with pytest.raises(UsageError, match=r"strategy='file': path is needed, as in file:path=\.\.\."):
            strategies.find(name)
    with pytest.raises(UsageError, match=r"path is ''; text is needed, as in file:path=\.\.\."):
        strategies.find("file:path=")
    with pytest.raises(UsageError, match=r"'paht=x' is not an option; file has path=\.\.\."):
        strategies.find("file:paht=x")
    assert strategies.find("file:path=a=b,c.tsv")[0] == "file:path=a=b,c.tsv"
    graph = gl.Graph.from_edges([0], [1])
    for path, error in ((tmp_path / "none.tsv", r"none\.tsv: no such file"), (tmp_path, "is a directory")):
        with pytest.raises(InputError, match=error):
            gl.partition(graph, 2, strategy=f"file:path={path}")
    context = strategies.Context(Comm(), 2, True)
    with pytest.raises(UsageError, match="strategy 'file' needs the ids of the vertices"):
        strategies.find("file:path=x")[1](np.array([0]), np.array([1]), 2, context)


@mock.patch.dict(strategies.STRATEGIES)
def test_a_required_option_of_a_strategy_of_the_users() -> None:
    @strategies.strategy("named")
    def named(src: Any, dst: Any, k: int, context: Any, *, who: str, times: int = 1) -> Any:
        return np.full(src.size, (len(who) * times) % k)

    with pytest.raises(UsageError, match=r"strategy='named': who is needed, as in named:who=\.\.\."):
        strategies.find("named:times=2")
    name, cut = strategies.find("named:times=2,who=ann")
    assert name == "named:who=ann,times=2"
    assert cut(np.zeros(3, int), np.zeros(3, int), 4, strategies.Context(Comm(), 1, True)).tolist() == [2] * 3


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_command_line_uses_what_it_wrote(gaslab: Run, edges: Path, tmp_path: Path, ranks: int) -> None:
    done = gaslab("partition", edges, "-k", 3, "--strategy", "hybrid", "-o", tmp_path / "cut.csv.gz", "-q")
    assert done.code == 0, done.err
    words = ("partition", edges, "-k", 3, "--strategy", f"file:path={tmp_path}/cut.csv.gz", "-q",
             "-o", tmp_path / "again.csv.gz")  # fmt: skip
    again = gaslab(*words) if ranks == 1 else on_ranks(ranks, *words)
    assert again.code == 0, again.err
    assert (tmp_path / "again.csv.gz").read_bytes() == (tmp_path / "cut.csv.gz").read_bytes()


def test_a_report_of_a_file_has_its_one_number_of_parts(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert gaslab("partition", edges, "-k", 6, "--strategy", "dbh", "-o", tmp_path / "cut.tsv").code == 0
    words = ("--compare", f"dbh,file:path={tmp_path}/cut.tsv", "--report", tmp_path / "page")
    done = gaslab("partition", edges, "-k", 6, *words)
    assert done.code == 0, done.err
    assert (tmp_path / "page" / "index.html").exists()
