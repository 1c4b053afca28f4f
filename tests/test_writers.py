"""Files: sorted by id, the shortest decimals, whole or not there at all, never over what is not ours."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gaslab.comm import Comm
from gaslab.errors import GaslabError, UsageError
from gaslab.tables import Table, objects
from gaslab.writers import Target, write_table, write_text
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
    for told in manifest["parts"]:
        text = (tmp_path / "out" / told["file"]).read_text().splitlines()
        assert len(text) == told["rows"]
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


def test_a_failure_to_write_is_raised_on_every_rank_and_leaves_nothing(ranks: Ranks, tmp_path: Path) -> None:
    target = Target(f"{tmp_path}/a.tsv")
    target.beside.mkdir()  # so that it cannot be opened as a file
    with pytest.raises(GaslabError) as caught:
        ranks.run(write, f"{tmp_path}/a.tsv")
    assert str(caught.value) == f"cannot write {tmp_path}/a.tsv: Is a directory"
    assert not (tmp_path / "a.tsv").exists()


def onto_a_full_disk(comm: Comm, path: str) -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if comm.rank == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
    try:
        write(comm, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_disk_that_fills_up_leaves_nothing(hosts: Any, tmp_path: Path) -> None:
    with pytest.raises(GaslabError) as caught:
        hosts(2).run(onto_a_full_disk, f"{tmp_path}/a.tsv")
    assert str(caught.value) == f"cannot write {tmp_path}/a.tsv: File too large"
    assert list(tmp_path.iterdir()) == []


def test_a_small_text_file_is_written_whole(tmp_path: Path) -> None:
    write_text(tmp_path / "run.json", "{}\n", force=False)
    assert (tmp_path / "run.json").read_text() == "{}\n"
    with pytest.raises(UsageError, match=r"run\.json exists; --force replaces it"):
        write_text(tmp_path / "run.json", "[]\n", force=False)
    write_text(tmp_path / "run.json", "[]\n", force=True)
    assert (tmp_path / "run.json").read_text() == "[]\n"
    with pytest.raises(UsageError, match="it is a directory"):
        write_text(tmp_path, "", force=True)
