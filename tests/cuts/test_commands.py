"""``gaslab partition``: one strategy with all figures, several in a table, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import gaslab as gl
from gaslab.cuts.figures import FIGURES
from gaslab.partitioning import strategies
from gaslab.partitioning.metrics import PartitionMetrics
from tests.support.command_line import Run, edges, gaslab, on_ranks
from tests.support.strategies import COMPARED

__all__ = ["edges", "gaslab"]  # fixtures


@pytest.fixture
def mine() -> Iterator[str]:
    """A strategy of the user's own that fails."""

    @strategies.strategy("mine")
    def fails(src: Any, dst: Any, k: int, context: Any) -> Any:
        raise ZeroDivisionError("a bad day")

    yield "mine"
    del strategies.STRATEGIES["mine"]


def test_one_strategy_has_all_figures(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    words = ("-k", 3, "--strategy", "dbh", "--json", tmp_path / "cut.json", "--bytes-per-replica", 100)
    done = gaslab("partition", edges, *words)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["strategy", *FIGURES]
    assert len({len(line) - len(line.split("  ", 1)[1].lstrip()) for line in lines}) == 1  # aligned
    document = json.loads((tmp_path / "cut.json").read_text())
    (report,) = document.pop("cuts")
    assert document["parts"] == 3
    assert (document["vertices"], document["edges"], document["ranks"]) == (7, 9, 1)
    assert (report.pop("strategy"), report.pop("strategy_chosen_by")) == ("dbh", None)
    assert set(report) == {field.name for field in fields(PartitionMetrics)}
    m = gl.partition(gl.read_graph(edges), 3, strategy="dbh", bytes_per_replica=100).metrics
    measured = ("seconds", "edges_per_second", "peak_bytes_per_edge", "break_even")
    for field in fields(PartitionMetrics):
        if field.name not in measured:
            assert report[field.name] == getattr(m, field.name), field.name
    assert f"{m.replication_factor:.2f}" in lines[1]


def test_what_auto_takes_is_said(gaslab: Run, tmp_path: Path) -> None:
    path = tmp_path / "path.tsv"
    path.write_text("".join(f"{at}\t{at + 1}\n" for at in range(2000)))
    words = ("-k", 3, "--strategy", "auto", "--refine", 1, "--json", tmp_path / "cut.json")
    done = gaslab("partition", path, *words)
    assert done.out.splitlines()[0].split("  ")[-1].strip() == "chunk:refine=1 (chosen by auto:refine=1)"
    (report,) = json.loads((tmp_path / "cut.json").read_text())["cuts"]
    assert (report["strategy"], report["strategy_chosen_by"]) == ("chunk:refine=1", "auto:refine=1")


def test_several_strategies_are_a_table(gaslab: Run, edges: Path) -> None:
    done = gaslab("partition", edges, "-k", 3, "--compare", "2d,random,2d", "-q")
    assert done.code == 0, done.err
    head, *rows = done.out.splitlines()
    assert [row.split()[0] for row in rows] == ["2d", "random"]
    assert len({len(line) for line in [head, *rows]}) == 1


def test_each_strategy_is_refined(gaslab: Run, edges: Path) -> None:
    asked = ("partition", edges, "-k", 3, "--compare", "2d,hdrf:balance=2", "-q")
    before, after = ([line.split() for line in gaslab(*asked, *more).out.splitlines()[1:]]
                     for more in ((), ("--refine", 2)))  # fmt: skip
    assert [row[0] for row in after] == ["2d:refine=2", "hdrf:balance=2.0,refine=2"]
    assert all(float(row[1]) <= float(was[1]) for row, was in zip(after, before, strict=True))


def test_all_is_the_default(gaslab: Run, edges: Path) -> None:
    said = [gaslab("partition", edges, "-k", 3, "-q", *more).out for more in ((), ("--compare", "all"))]
    first, second = ([line.split()[:4] for line in text.splitlines()] for text in said)
    assert first == second
    assert [row[0] for row in first[1:]] == list(COMPARED)


def test_all_leaves_out_what_cannot_cut_so_far(gaslab: Run, edges: Path) -> None:
    done = gaslab("partition", edges, "-k", 2000)
    assert done.code == 0, done.err
    assert "hdrf" not in [line.split()[0] for line in done.out.splitlines()]
    assert "warning: hdrf is left out: k=2000: a strategy that keeps state cuts into 1,024 parts" in done.err
    named = gaslab("partition", edges, "-k", 2000, "--compare", "hdrf,2d")
    assert (named.code, named.out) == (2, "")
    assert named.err.splitlines()[-1].startswith("gaslab: k=2000: a strategy that keeps state")


def test_a_strategy_of_the_users_that_fails(gaslab: Run, edges: Path, mine: str) -> None:
    for more in (["--strategy", mine], ["--compare", f"1d,{mine}"], []):
        done = gaslab("partition", edges, "-k", 3, *more)
        assert (done.code, done.out) == (2, "")
        assert done.err.splitlines()[-1] == "gaslab: strategy 'mine' failed: ZeroDivisionError: a bad day"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-k 0", "argument -k/--parts: 0 is less than 1"),
        ("-k 2 --compare 1d,dhb", "argument --compare: 'dhb' is unknown; did you mean 'dbh'?"),
        ("-k 2 --compare all,2d", "argument --compare: 'all' is unknown"),
        ("-k 2 --compare 1d --strategy 2d", "argument --strategy: not allowed with argument --compare"),
        ("-k 2 --strategy 2d --compare all", "argument --compare: not allowed with argument --strategy"),
        ("-k 2 --refine -1", "argument --refine: -1 is less than 0"),
        ("-k 2000 --strategy dbh --refine 1", "k=2000: a strategy that keeps state cuts into 1,024 parts"),
        ("-k 2 --compare 1d,2d -o x.tsv", "--output writes one cut; name it with --strategy"),
        ("-k 2 --masters x.tsv", "--masters writes one cut; name it with --strategy"),
        ("-k 2 --strategy 1d -o x.json", "cannot tell what to write to 'x.json'"),
        ("-k 2 --bandwidth 0", "argument --bandwidth: 0 is less than 1"),
    ],
)
def test_what_is_refused(gaslab: Run, edges: Path, words: str, message: str) -> None:
    done = gaslab("partition", edges, *words.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1].startswith(f"gaslab: {message}")


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 4])
def test_the_same_figures_on_ranks(gaslab: Run, edges: Path, tmp_path: Path, size: int) -> None:
    found = []
    for run, name in ((gaslab, "one.json"), (lambda *words: on_ranks(size, *words), "more.json")):
        words = ("partition", edges, "-k", 5, "--compare", "random,1d,2d,dbh,chunk", "-q")
        done = run(*words, "--json", tmp_path / name)
        assert done.code == 0, done.err
        document = json.loads((tmp_path / name).read_text())
        assert document.pop("ranks") == (1 if run is gaslab else size)
        for cut in document["cuts"]:
            for measured in ("seconds", "edges_per_second", "peak_bytes_per_edge", "break_even"):
                del cut[measured]
        found.append(document)
    assert found[0] == found[1]
