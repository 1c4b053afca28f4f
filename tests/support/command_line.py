"""Runs commands, in this process, on ranks that wait or under mpiexec, on a few edges written to files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gaslab.cli import main
from gaslab.parallel import failure
from tests.mpi.launcher import run_script
from tests.mpi.ranks import RanksError
from tests.support.command_here import command

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
    """Run a command on ranks that are there already; under mpiexec where it has ended them.

    For what is printed and written. Of streams, signals and what ends a rank `by_mpiexec` tells the truth.
    """
    from tests.conftest import HOSTS

    with tempfile.TemporaryDirectory(prefix="gaslab-said-") as said:
        own = {name: value for name, value in os.environ.items() if name.startswith("GASLAB_")}
        try:
            codes = HOSTS(size).run(command, ([*map(str, words)], os.getcwd(), said, own))
        except RanksError:
            return by_mpiexec(size, *words)
        out, err = ("".join(_said(said, name, rank) for rank in range(size)) for name in ("out", "err"))
    assert len({*codes}) == 1, f"exit codes {codes}: {err}"
    return Outcome(codes[0], out, err)


def _said(folder: str, name: str, rank: int) -> str:
    return Path(folder, f"{name}-{rank}").read_text("utf-8", errors="replace")


def by_mpiexec(size: int, *words: object) -> Outcome:
    """Run a command in processes of its own."""
    done = run_script(size, ["-m", "gaslab", *map(str, words)])
    return Outcome(done.returncode, done.stdout, done.stderr)


def rows(text: str) -> dict[int, float]:
    return {int(line.split()[0]): float(line.split()[-1]) for line in text.splitlines()}
