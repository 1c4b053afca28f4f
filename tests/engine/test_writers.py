"""Files: sorted by id, the shortest decimals, whole or not there at all, never over what is not ours."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gaslab.errors import GaslabError, UsageError
from gaslab.parallel.comm import Comm
from gaslab.results.tables import Table, objects
from gaslab.results.writers import Target, write_table
from tests.mpi.ranks import Ranks

ROWS = 23


def part(comm: Comm) -> Table:
    """Return this rank's rows: global ids dealt like cards, ids that do not sort like them."""
    gids = np.arange(comm.rank, ROWS, comm.size)
    ids = objects([f"v{chr(97 + gid)}" for gid in gids.tolist()])
    return Table({"id": ids}, {"n": gids * 3, "x": gids / 7}, {"id": gids})


def lines(delimiter: str) -> str:
    return "".join(f"v{chr(97 + g)}{delimiter}{g * 3}{delimiter}{g / 7!r}\n" for g in range(ROWS))


def write(comm: Comm, path: str, force: bool = False) -> None:
    write_table(comm, Target(path, force), part(comm), ROWS)


def test_one_file_sorted_by_id(ranks: Ranks, tmp_path: Path) -> None:
    ranks.run(write, str(tmp_path / "a.tsv"))
    assert (tmp_path / "a.tsv").read_text() == lines("\t")
    ranks.run(write, str(tmp_path / "a.csv"))
    assert (tmp_path / "a.csv").read_text() == "id,n,x\n" + lines(",")
    ranks.run(write, str(tmp_path / "a.tsv.gz"))
    assert gzip.decompress((tmp_path / "a.tsv.gz").read_bytes()).decode() == lines("\t")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "a.tsv", "a.tsv.gz"]


def test_a_directory_has_a_part_per_rank_and_a_manifest(ranks: Ranks, tmp_path: Path) -> None:
    ranks.run(write, f"{tmp_path}/out/")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["columns"] == ["id", "n", "x"]
    assert manifest["rows"] == ROWS
    assert len(manifest["parts"]) == ranks.size
    found: list[str] = []
    for entry in manifest["parts"]:
        text = (tmp_path / "out" / entry["file"]).read_text().splitlines()
        assert len(text) == entry["rows"]
        found += text
    assert sorted(found) == sorted(lines("\t").splitlines())
    assert len(list((tmp_path / "out").iterdir())) == ranks.size + 1


def edge_part(comm: Comm, path: str) -> None:
    """Edges of one source lie on several ranks, as a cut by edges leaves them."""
    source, target = np.divmod(np.arange(36), 6)
    mine = (source + target) % comm.size == comm.rank
    keys = {"source": source[mine], "target": target[mine]}
    write_table(comm, Target(path), Table(keys, {"w": source[mine] * 1.5}, keys), 6)


def test_edges_are_sorted_by_source_and_target(ranks: Ranks, tmp_path: Path) -> None:
    ranks.run(edge_part, str(tmp_path / "edges.tsv"))
    assert (tmp_path / "edges.tsv").read_text() == "".join(
        f"{s}\t{t}\t{s * 1.5}\n" for s in range(6) for t in range(6)
    )


# ---- what is there already -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.tsv", "a.csv.gz", "out/"])
def test_what_exists_is_replaced_only_by_force(hosts: Any, tmp_path: Path, name: str) -> None:
    path = f"{tmp_path}/{name}"
    hosts(2).run(write, path)
    before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}
    with pytest.raises(UsageError) as caught:
        hosts(2).run(write, path)
    assert str(caught.value) == f"{path.rstrip('/')} exists; --force (force=True) replaces it"
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")} == before
    hosts(3).run(write, path, True)
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")} != before
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_a_directory_of_something_else_is_never_replaced(hosts: Any, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError) as caught:
        hosts(2).run(write, f"{tmp_path}/home/", True)
    assert str(caught.value) == f"{tmp_path}/home holds other files, no answer of gaslab; it is not replaced"
    assert (tmp_path / "home" / "thesis.tex").read_text() == "years of work"


@pytest.mark.slow
def test_an_empty_directory_may_be_replaced_by_force(hosts: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    hosts(2).run(write, f"{tmp_path}/out", True)
    assert (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere/a.tsv", "cannot write {0}/nowhere/a.tsv: there is no directory {0}/nowhere"),
        (
            "a.txtt",
            "cannot tell what to write to '{0}/a.txtt': end it in .tsv, .csv, .tsv.gz or .csv.gz for one "
            "file, or in / for a directory with a part per rank",
        ),
    ],
)
def test_names_that_cannot_be_written(ranks: Ranks, tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        ranks.run(write, f"{tmp_path}/{name}")
    assert str(caught.value) == message.format(tmp_path)


def onto_a_full_disk(comm: Comm, path: str, full: int) -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if comm.rank == full % comm.size:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
    try:
        write(comm, path, force=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("full", [0, -1])
@pytest.mark.parametrize("there", [False, True])
def test_a_disk_that_fills_up_leaves_what_was_there(
    ranks: Ranks, tmp_path: Path, full: int, there: bool
) -> None:
    """Each rank of a folder writes by itself; one file is written by rank 0."""
    if there:
        ranks.run(write, f"{tmp_path}/out/")
        ranks.run(write, f"{tmp_path}/a.tsv")
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    name = f"part-{full % ranks.size:05d}.tsv"
    with pytest.raises(GaslabError, match=f"^cannot write {tmp_path}/out/{name}: File too large$"):
        ranks.run(onto_a_full_disk, f"{tmp_path}/out/", full)
    with pytest.raises(GaslabError, match=f"^cannot write {tmp_path}/a.tsv: File too large$"):
        ranks.run(onto_a_full_disk, f"{tmp_path}/a.tsv", 0)
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


def elsewhere(comm: Comm, path: str) -> None:
    """Another job writes the file, and the folder, while this one computes."""
    target = Target(path)
    comm.on_root(target.check)
    write(comm, path)
    write_table(comm, target, part(comm), ROWS)


@pytest.mark.parametrize("name", ["a.tsv", "out/"])
def test_where_another_job_was_quicker_both_answers_stay(ranks: Ranks, tmp_path: Path, name: str) -> None:
    with pytest.raises(GaslabError) as caught:
        ranks.run(elsewhere, f"{tmp_path}/{name}")
    first = tmp_path / name.rstrip("/")
    (second,) = set(tmp_path.iterdir()) - {first}
    assert str(caught.value) == f"{first} was written by another job meanwhile; this answer is in {second}"
    for one, other in zip(sorted(first.rglob("*")), sorted(second.rglob("*")), strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert second.is_dir() or second.read_bytes() == first.read_bytes()
