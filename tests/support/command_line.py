"""Runs commands, in this process or under mpiexec, on a few edges written to files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gaslab.cli import main
from gaslab.parallel import failure
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
def gaslab(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Run a command in this process, which is one rank."""
    monkeypatch.setattr(failure, "_armed", True)

    def run(*words: object) -> Outcome:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


Run = Callable[..., Outcome]


def on_ranks(size: int, *words: object) -> Outcome:
    done = run_script(size, ["-m", "gaslab", *map(str, words)])
    return Outcome(done.returncode, done.stdout, done.stderr)


def rows(text: str) -> dict[int, float]:
    return {int(line.split()[0]): float(line.split()[-1]) for line in text.splitlines()}
