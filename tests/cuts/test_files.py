"""The files of a cut: one table, or a folder with a file per part; the same on any number of ranks."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.command_line import Run, gaslab, on_ranks
from tests.support.threadcomm import run_ranks

__all__ = ["gaslab"]  # a fixture
EDGES = [("b", "c", 1.5), ("a", "b", 2.0), ("c", "a", 0.5), ("d", "a", 1.0), ("b", "c", 9.0), ("d", "d", 3.0)]


def letters(comm: Comm | None = None) -> gl.Graph:
    src, dst, weight = zip(*EDGES, strict=True)
    return gl.Graph.from_edges(src, dst, columns={"weight": weight}, vertices=["zoe"], comm=comm)


def contents(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        return {folder.name: folder.read_bytes()}
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def table(text: bytes, delimiter: str = "\t") -> list[dict[str, str]]:
    return list(csv.DictReader(text.decode().splitlines(), delimiter=delimiter))


def test_a_folder_has_a_file_per_part(tmp_path: Path) -> None:
    cut = gl.partition(letters(), 3, strategy="2d")
    cut.save(f"{tmp_path}/cut/")
    files = contents(tmp_path / "cut")
    assert list(files) == [
        "manifest.json", "part-00000.tsv", "part-00001.tsv", "part-00002.tsv", "vertices.tsv",
    ]  # fmt: skip
    manifest = json.loads(files["manifest.json"])
    rows = [(*row.values(), p) for p in range(3) for row in table(files[f"part-{p:05d}.tsv"])]
    by_id = sorted((s, t, float(w), p) for s, t, w, p in rows)
    parts = cut.parts.tolist()
    source, target = cut.edges.ids
    assert by_id == sorted(zip(source, target, cut.edges["weight"], parts, strict=True))
    assert (manifest["columns"], manifest["rows"]) == (["source", "target", "weight"], 6)
    assert (manifest["k"], manifest["strategy"], manifest["directed"]) == (3, "2d", True)
    vertices = table(files["vertices.tsv"])
    assert [row["id"] for row in vertices] == ["a", "b", "c", "d", "zoe"]
    assert [json.loads(row["parts"]) for row in vertices] == cut.vertices["parts"].tolist()
    for p, one in enumerate(manifest["parts"]):
        assert one["rows"] == parts.count(p)
        with_edge = [row for row in vertices if row["id"] != "zoe"]
        assert one["vertices"] == sum(p in json.loads(row["parts"]) for row in with_edge)
        assert one["masters"] == sum(int(row["master"]) == p for row in with_edge)


@pytest.mark.parametrize("name", ["cut.tsv", "cut.csv", "cut.csv.gz"])
def test_one_text_has_the_part_last(tmp_path: Path, name: str) -> None:
    cut = gl.partition(letters(), 3)
    cut.save(tmp_path / name)
    text = (tmp_path / name).read_bytes()
    text = gzip.decompress(text) if name.endswith("gz") else text
    rows = table(text, "\t" if "tsv" in name else ",")
    assert list(rows[0]) == ["source", "target", "weight", "part"]
    assert [int(row["part"]) for row in rows] == cut.parts.tolist()
    again = gl.read_graph(tmp_path / name)  # which finds the header
    assert again.num_edges == 6
    assert sorted(again.edge_columns) == ["part", "weight"]


def test_parquet(tmp_path: Path) -> None:
    cut = gl.partition(letters(), 3)
    cut.save(tmp_path / "cut.parquet")
    read = pyarrow.parquet.read_table(tmp_path / "cut.parquet")
    assert read.column_names == ["source", "target", "weight", "part"]
    assert read["part"].to_pylist() == cut.parts.tolist()
    assert read["source"].to_pylist() == list("abbcdd")


KINDS = ["cut/", "cut.tsv", "cut.csv.gz", "cut.parquet"]


def rank_of_save(comm: Comm, folder: str, kind: str, text: bool) -> None:
    rng = np.random.default_rng(5)
    src, dst = rng.integers(0, 40, 300), rng.integers(0, 40, 300)
    name = "v{:02d}".format if text else int
    graph = gl.Graph.from_edges(
        list(map(name, src)), list(map(name, dst)), comm=comm,
        columns={"number": np.arange(300), "real": rng.random(300), "xy": rng.random((300, 2)),
                 "tags": [list(range(i % 3)) for i in range(300)]},
    )  # fmt: skip
    gl.partition(graph, 7, strategy="dbh").save(f"{folder}/{kind}")


@pytest.mark.parametrize("text", [False, True], ids=["integers", "text"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_bytes_on_any_ranks(tmp_path: Path, kind: str, text: bool) -> None:
    found = []
    for size in (1, 2, 3, 4):
        folder = tmp_path / str(size)
        folder.mkdir()
        run_ranks(size, lambda comm, folder=folder: rank_of_save(comm, str(folder), kind, text))
        found.append(contents(folder / kind.rstrip("/")))
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize("kind", ["cut/", "cut.parquet"])
def test_over_mpi(ranks: Ranks, tmp_path: Path, kind: str) -> None:
    ranks.run(rank_of_save, str(tmp_path), kind, True)
    (tmp_path / "one").mkdir()
    rank_of_save(Comm(), str(tmp_path / "one"), kind, True)
    name = kind.rstrip("/")
    assert contents(tmp_path / name) == contents(tmp_path / "one" / name)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=20), st.integers(1, 40),
       st.integers(1, 4))  # fmt: skip
def test_every_edge_is_in_one_file(edges: list[tuple[int, int]], k: int, size: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:

        def rank(comm: Comm) -> None:
            graph = gl.Graph.from_edges([a for a, _ in edges], [b for _, b in edges], vertices=[3], comm=comm)
            gl.partition(graph, k, strategy="random").save(f"{folder}/cut/")

        run_ranks(size, rank)
        files = contents(Path(folder, "cut"))
    rows = [row for name, text in files.items() if name.startswith("part") for row in table(text)]
    assert sorted((int(r["source"]), int(r["target"])) for r in rows) == sorted(edges)
    assert len(files) == k + 2
    ids = [int(row["id"]) for row in table(files["vertices.tsv"])]
    assert ids == sorted({3, *(v for edge in edges for v in edge)})


def test_what_is_there_stays_without_force(tmp_path: Path) -> None:
    cut = gl.partition(letters(), 2)
    for name in ("cut/", "cut.tsv", "cut.parquet"):
        cut.save(f"{tmp_path}/{name}")
        before = contents(tmp_path / name.rstrip("/"))
        with pytest.raises(UsageError, match=r"exists; --force \(force=True\) replaces it"):
            cut.save(f"{tmp_path}/{name}")
        assert contents(tmp_path / name.rstrip("/")) == before
        gl.partition(letters(), 3).save(f"{tmp_path}/{name}", force=True)
        assert contents(tmp_path / name.rstrip("/")) != before
    (tmp_path / "cut" / "mine").touch()
    with pytest.raises(UsageError, match="holds other files, no answer of gaslab; it is not replaced"):
        cut.save(f"{tmp_path}/cut/", force=True)


def test_names_that_say_no_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = gl.partition(letters(), 2)
    with pytest.raises(UsageError, match=r"in \.parquet, or in / for a directory with a part per part of"):
        cut.save(tmp_path / "cut.json")
    monkeypatch.setattr("gaslab.system.extras.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"needs pyarrow, .* pip install 'gaslab\[interop\]'"):
        cut.save(tmp_path / "cut.parquet")
    assert not list(tmp_path.iterdir())


# ---- the command line ----------------------------------------------------------------------------------


@pytest.fixture
def weighted(tmp_path: Path) -> Path:
    path = tmp_path / "weighted.csv"
    rng = np.random.default_rng(2)
    lines = [f"{rng.integers(0, 30)},{rng.integers(0, 30)},{i}" for i in range(200)]
    path.write_text("source,target,weight\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("strategy", ["random", "hdrf"])
def test_one_file_keeps_the_order_and_the_columns(
    gaslab: Run, weighted: Path, tmp_path: Path, strategy: str
) -> None:
    out = tmp_path / "cut.csv"
    done = gaslab("partition", weighted, "-k", 3, "--strategy", strategy, "-o", out, "-q")
    assert done.code == 0, done.err
    head, *lines = out.read_text().splitlines()
    assert head == "source,target,weight,part"
    assert [line.rpartition(",")[0] for line in lines] == weighted.read_text().splitlines()[1:]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strategy", ["dbh", "1d"])
def test_commands_write_the_same_on_any_ranks(
    gaslab: Run, weighted: Path, tmp_path: Path, kind: str, strategy: str
) -> None:
    found = []
    for size in (1, 2, 3, 4):
        folder = tmp_path / str(size)
        folder.mkdir()
        words = ("partition", weighted, "-k", 5, "--strategy", strategy, "-q")
        words += ("-o", f"{folder}/{kind}", "--masters", folder / "masters.tsv")
        done = gaslab(*words) if size == 1 else on_ranks(size, *words)
        assert done.code == 0, done.err
        said = done.out.splitlines()[:12]  # without time and memory
        found.append((contents(folder / kind.rstrip("/")), contents(folder / "masters.tsv"), said))
    assert all(one == found[0] for one in found)


def test_masters_beside_one_file(gaslab: Run, weighted: Path, tmp_path: Path) -> None:
    words: list[Any] = ["partition", weighted, "-k", 4, "--strategy", "2d", "-q"]
    masters = tmp_path / "masters.parquet"
    assert gaslab(*words, "--masters", masters).code == 0
    read = pyarrow.parquet.read_table(masters)
    cut = gl.partition(gl.read_graph(weighted), 4, strategy="2d")
    assert read.column_names == ["id", "master", "replicas", "parts"]
    assert read["master"].to_pylist() == cut.vertices["master"].tolist()
    assert read["parts"].to_pylist() == cut.vertices["parts"].tolist()
    done = gaslab(*words, "--masters", f"{tmp_path}/masters/")
    assert (done.code, "--masters writes one file" in done.err) == (2, True)


def numbered(paths: Iterator[Path]) -> list[str]:
    return sorted(path.name for path in paths)


def test_a_column_of_parts_is_not_written_twice(gaslab: Run, weighted: Path, tmp_path: Path) -> None:
    words = ["-k", 2, "--strategy", "2d", "-q", "-o"]
    assert gaslab("partition", weighted, *words, tmp_path / "one.csv").code == 0
    done = gaslab("partition", tmp_path / "one.csv", *words, tmp_path / "two.csv")
    assert done.code == 2
    assert "edge column 'part' already; leave it out with --column part=none" in done.err
    assert numbered(tmp_path.glob("*.csv")) == ["one.csv", "weighted.csv"]
    done = gaslab("partition", tmp_path / "one.csv", "--column", "part=none", *words, tmp_path / "two.csv")
    assert done.code == 0, done.err
