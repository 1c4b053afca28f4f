"""Benchmarks at tiny sizes: what they print, with the peers that are installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.__main__ import split
from gaslab.programs._samplers import SAMPLERS
from tests.mpi.launcher import ROOT, environment

TINY = {
    "topics": ["--seeds", "2", "--sweeps", "3", "30", "--topics", "4", "--documents", "120"],
    "ratings": ["--seeds", "2", "--factors", "4", "--iterations", "5"],
}
SYSTEMS = [f"gaslab {sampler}" for sampler in SAMPLERS]
PEERS = {"topics": {"tomotopy": "tomotopy"}, "ratings": {"cmfrec": "cmfrec ALS", "surprise": "Surprise SGD"}}


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=ROOT, env=environment(), check=False
    )


def _table(name: str, *arguments: str) -> tuple[str, list[list[str]]]:
    """Return what a benchmark prints, and the cells of its table."""
    done = _run(name, *TINY[name], *arguments)
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
    systems = {cells[1].split(",")[0] for cells in rows[2:]}
    for module, system in PEERS[name].items():
        there = importlib.util.find_spec(module) is not None
        assert there == (system in systems)
        assert there != (f"{module} is left out: it is not installed" in done.stdout)
    return done.stdout, rows[2:]


def _mean(cells: list[str], column: int) -> float:
    """Return the mean of a figure, once least <= mean <= greatest."""
    mean, least, _, greatest = cells[column].replace("(", "").replace(")", "").split()
    assert float(least) <= float(mean) <= float(greatest)
    return float(mean)


@pytest.mark.slow
def test_topics_are_compared_on_generated_documents_and_docstrings() -> None:
    printed, rows = _table("topics", "--only", "kos", "generated", "docstrings")
    assert "docword.kos.txt is left out: it is not below --data DIR" in printed
    for system in SYSTEMS:
        ours = {(cells[0], int(cells[2])): cells for cells in rows if cells[1] == system}
        assert set(ours) == {(name, n) for name in ("generated", "docstrings, 4 topics") for n in (3, 30)}
        cosines = [_mean(ours["generated", sweeps], 4) for sweeps in (3, 30)]
        held_out = [_mean(ours["docstrings, 4 topics", sweeps], 4) for sweeps in (3, 30)]
        assert cosines[0] < cosines[1] < 1
        assert cosines[1] > 0.6
        assert held_out[0] < held_out[1]
        assert -np.log(2710) < held_out[1] < -6  # better than any word alike


@pytest.mark.slow
def test_topics_are_compared_on_a_corpus_below_the_folder(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (20, 12))
    cells = [f"{d + 1} {w + 1} {counts[d, w]}\n" for d, w in zip(*counts.nonzero(), strict=True)]
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "docword.kos.txt").write_text(f"20\n12\n{len(cells)}\n{''.join(cells)}")
    _, rows = _table("topics", "--only", "kos", "--data", str(tmp_path))
    ours = [cells for cells in rows if cells[1] in SYSTEMS]
    assert [cells[0] for cells in ours] == ["kos, 4 topics"] * 2 * len(SYSTEMS)
    assert all(-5 < _mean(cells, 4) < -1 for cells in ours)


@pytest.mark.slow
def test_ratings_are_compared_on_generated_ones() -> None:
    printed, rows = _table("ratings")
    assert "u.data is left out" in printed
    ours = {cells[1]: _mean(cells, 2) for cells in rows if cells[1].startswith("gaslab")}
    assert [cells[0] for cells in rows] == ["generated"] * len(rows)
    assert set(ours) == {"gaslab ALS", "gaslab ALS, 3 steps", "gaslab SGD", "gaslab SGD, step 0.02"}
    assert all(0.5 < error < 0.9 for error in ours.values())  # the noise is 0.5, the ratings spread by more


@pytest.mark.slow
def test_ratings_are_compared_on_the_splits_below_the_folder(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    cells = rng.permutation(20 * 10)[:150]
    lines = [f"{c // 10}\t{c % 10}\t{1 + c % 3 + c // 10 % 3}\t88\n" for c in cells.tolist()]
    (tmp_path / "u.data").write_text("".join(lines))
    (tmp_path / "u1.base").write_text("".join(lines[30:]))
    (tmp_path / "u1.test").write_text("".join([*lines[:30], "777\t3\t4\t88\n"]))  # an unknown user
    _, rows = _table("ratings", "--data", str(tmp_path))
    assert {cells[0] for cells in rows} == {"u1", "u.data, 80 to 20"}
    assert all(0 < _mean(cells, 2) < 2 for cells in rows)


@pytest.mark.slow
def test_folders_of_texts_are_compared_by_words_and_held_out_likelihood(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = np.array([f"word{k:02}" for k in range(40)])
    for number in range(60):  # half of them of the first words, half of the last
        text = " ".join(words[rng.integers(20, size=50) + 20 * (number // 2 % 2)])
        (tmp_path / f"{number}.txt").write_text(text)
    size = ["--topics", "2", "--sweeps", "30", "--repeats", "1"]
    done = _run("texts", "--folder", str(tmp_path), *size)
    assert done.returncode == 0, done.stderr
    assert "\n54 documents of 0.0 MB, 6 more kept apart" in done.stdout
    cells = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")][2:]
    peer = all(importlib.util.find_spec(module) for module in ("tomotopy", "sklearn"))
    assert [row[0] for row in cells] == [
        "gaslab gibbs", "gaslab metropolis-hastings:140", "gaslab gibbs:80:65", *["tomotopy"] * peer
    ]  # fmt: skip
    assert [row[3] for row in cells] == ["40"] * len(cells)
    assert all(-np.log(20) - 0.1 < float(row[4]) < -np.log(20) + 0.1 for row in cells)


@pytest.mark.slow
def test_the_kernels_of_gap_run_on_ranks_and_threads_beside_the_peers(tmp_path: Path) -> None:
    rows, picture = tmp_path / "rows.json", tmp_path / "ratios.svg"
    size = ["--scale", "7", "--repeats", "1", "--classes", "grid", "cliques", "--only", "bfs", "betweenness"]
    done = _run("gap", *size, "--json", str(rows), "--picture", str(picture))
    assert done.returncode == 0, done.stderr
    again = subprocess.run(
        [sys.executable, "benchmarks/gap.py", "--rows", str(rows)],
        capture_output=True, text=True, cwd=ROOT, env=environment(), check=True,
    ).stdout  # fmt: skip
    assert again in done.stdout
    head, _, *lines = [line.strip("| ").split(" | ") for line in again.splitlines() if line.startswith("| ")]
    assert [cells[:2] for cells in lines] == [
        [graph, kernel] for graph in ("grid", "cliques") for kernel in ("breadth-first search", "betweenness")
    ]
    assert head[2:5] == ["gaslab 1 x 1", "gaslab 1 x 2", "gaslab 2 x 1"]
    assert all(float(cell) > 0 for cells in lines for cell in cells[2:5])
    peers = ["GAPBS, 2 threads", "networkit, 2 threads", "igraph, 1 thread", "scipy, 1 thread"]
    assert head[5:-1] == [peer for peer in peers if peer in head]
    assert importlib.util.find_spec("matplotlib") is None or "cliques" in picture.read_text()


def test_gap_ends_at_a_wrong_answer(tmp_path: Path) -> None:
    code = """
import sys, pathlib
import numpy as np
from gap_kernels import check
levels, folder = [np.array([0, last]) for last in (1, 1, 2)], pathlib.Path(sys.argv[1])
check("bfs", {"gaslab": levels[0], "scipy": levels[1], "GAPBS": None}, folder)
print("right")
check("bfs", {"gaslab": levels[2]}, folder)
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    env = environment(PYTHONPATH=f"{ROOT}{os.pathsep}{ROOT / 'benchmarks'}")
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 1
    assert done.stdout == "right\n"
    assert done.stderr == "breadth-first search: gaslab's answer is not that of the first run\n"


@pytest.mark.parametrize("name", ["nothing", "topic"])
def test_an_unknown_benchmark_is_named(name: str) -> None:
    done = _run(name)
    assert done.returncode == 1
    assert f"there is no benchmark {name!r}; there are annealing, asynchronous, calls, " in done.stderr


@pytest.mark.parametrize(
    ("words", "names", "options"),
    [
        ([], [], []),
        (["topics", "--data", "DIR"], ["topics"], ["--data=DIR"]),
        (["--data", "DIR", "topics"], ["topics"], ["--data=DIR"]),
        (
            ["--scale=9", "topics", "--data", "topics", "ratings"],
            ["topics", "ratings"],
            ["--scale=9", "--data=topics"],
        ),
        (["--repeats", "2", "ranks", "--only", "pagerank"], ["ranks"], ["--repeats=2", "--only", "pagerank"]),
        (["--threads", "2", "--seeds", "1"], [], ["--threads=2", "--seeds", "1"]),
    ],
)
def test_names_and_common_options_stand_in_any_order(
    words: list[str], names: list[str], options: list[str]
) -> None:
    assert split(words) == (names, options)


def test_a_wrong_name_is_refused_also_behind_options() -> None:
    with pytest.raises(SystemExit, match="there is no benchmark 'topic'; there are annealing, "):
        split(["--data", "DIR", "topic"])
    with pytest.raises(SystemExit, match="name topics before --seeds"):
        split(["--seeds", "2", "topics"])
