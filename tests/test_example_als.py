"""The ALS example: plain numpy, user by user and item by item, gets the same vectors on any ranks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gaslab as gl
from examples.als import ALS, ratings
from gaslab.cli import main
from gaslab.comm import Comm
from tests.mpi.ranks import Ranks

TURNS = 6
FACTORS = 4
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "als.py"

pytestmark = pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")


def _factorise(comm: Comm) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Return the vectors before and after, users then items, and the root mean square error of each turn."""
    user, item, rating = ratings(40, 30, 500)
    graph = gl.Graph.from_edges(
        user, item, columns={"rating": rating}, strategy="random", bipartite=True, comm=comm
    )
    program = ALS(factors=FACTORS, mean=3.0)
    before = gl.run(program, graph, max_iterations=0, seed=5).vertices["x"]
    result = gl.run(program, graph, max_iterations=TURNS, seed=5)
    errors = [(row["squares"] / graph.num_edges) ** 0.5 for row in result.history]
    return before, result.vertices["x"], errors


def _replay(x: np.ndarray) -> tuple[np.ndarray, list[float]]:
    user, item, rating = ratings(40, 30, 500)
    users, u = np.unique(user, return_inverse=True)
    w = np.unique(item, return_inverse=True)[1] + len(users)
    y = rating.astype(np.float32) - 3.0
    x, errors = x.copy(), []
    for turn in range(TURNS):
        own, other = (w, u) if turn % 2 else (u, w)
        for vertex in np.unique(own):
            mine = own == vertex
            theirs = x[other[mine]].astype(float)
            ridge = 0.05 * mine.sum() * np.eye(FACTORS)
            x[vertex] = np.linalg.solve(theirs.T @ theirs + ridge, theirs.T @ y[mine])
        error = y - (x[u].astype(float) * x[w]).sum(axis=1)
        errors.append(float(np.sqrt((error**2).mean())))
    return x, errors


def test_als_is_numpy_s_on_any_ranks(ranks: Ranks) -> None:
    before, after, errors = ranks.run(_factorise)[0]
    assert before.dtype == np.float32
    assert before.std() == pytest.approx(0.3, rel=0.2)
    expected, expected_errors = _replay(before)
    assert np.abs(after - expected).max() < 2e-6 * np.abs(expected).max() * FACTORS
    assert errors == pytest.approx(expected_errors, rel=1e-5)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.5 * errors[0]


def test_als_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    user, item, rating = ratings(20, 10, 120)
    rows = [f"{a}\t{b}\t{float(c)!r}\n" for a, b, c in zip(user, item, rating, strict=True)]
    (tmp_path / "ratings.tsv").write_text("".join(rows))
    code = main([
        "run", f"{EXAMPLE}:ALS", str(tmp_path / "ratings.tsv"), "--bipartite", "-p", "factors=3",
        "-p", "mean=3.0", "--max-iterations", "4", "--seed", "5", "--column", "rating=2",
        "-o", str(tmp_path / "x.tsv"), "--quiet",
    ])  # fmt: skip
    assert code == 0
    graph = gl.Graph.from_edges(user, item, columns={"rating": rating}, bipartite=True)
    expected = gl.run(ALS(factors=3, mean=3.0), graph, max_iterations=4, seed=5).vertices["x"]
    lines = [line.split("\t") for line in (tmp_path / "x.tsv").read_text().splitlines()]
    assert [line[1] for line in lines] == ["0"] * graph.num_left + ["1"] * (len(lines) - graph.num_left)
    assert np.array([line[2:] for line in lines], dtype=float) == pytest.approx(expected, abs=1e-5)
