"""What the benchmarks share: the graph, data, timing two sides in turn, and printing ratio and spread."""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import gaslab as gl
from gaslab.parallel.comm import Comm, world


@dataclass
class Timing:
    """Seconds of several runs of one side."""

    name: str
    seconds: list[float]

    @property
    def best(self) -> float:
        return min(self.seconds)

    def __str__(self) -> str:
        ordered = sorted(self.seconds)
        middle = ordered[len(ordered) // 2]
        return f"{self.name:<28} min {ordered[0]:8.4f} s   median {middle:8.4f}   max {ordered[-1]:8.4f}"


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options every benchmark has."""
    made = argparse.ArgumentParser(description=description, allow_abbrev=False)
    made.add_argument("--scale", type=int, default=20, help="R-MAT scale: 2**SCALE vertices (default 20)")
    made.add_argument("--edge-factor", type=int, default=16)
    made.add_argument("--threads", type=int, default=1, help="threads per rank (default 1)")
    made.add_argument("--repeats", type=int, default=7)
    made.add_argument("--strategy", default=None)
    made.add_argument("--data", type=Path, help="folder of data that is not part of the project")
    return made


def rmat(options: argparse.Namespace) -> gl.Graph:
    """Return the benchmark graph, duplicates and self-loops dropped."""
    return gl.Graph.generate(
        "rmat", scale=options.scale, edge_factor=options.edge_factor, seed=1,
        drop_duplicates=True, drop_self_loops=True, strategy=options.strategy,
    )  # fmt: skip


def data_file(folder: Path | None, name: str) -> Path | None:
    """Return the file *name*, or *name*.gz, in or below *folder*; None, with a line printed, without it."""
    found = [*folder.rglob(name), *folder.rglob(f"{name}.gz")] if folder is not None else []
    if not found:
        print(f"{name} is left out: it is not below --data {folder if folder is not None else 'DIR'}")
        return None
    return min(found)


def opened(path: Path) -> TextIO:
    """Open a text file, packed or not."""
    return gzip.open(path, "rt") if path.suffix == ".gz" else path.open()


def installed(peer: str) -> bool:
    """Return whether a peer can be imported; without it a line says so."""
    found = importlib.util.find_spec(peer) is not None
    if not found:
        print(f"{peer} is left out: it is not installed (pip install 'gaslab[bench]')")
    return found


def launcher(ranks: int) -> list[str]:
    """Return the command before ``python`` that starts *ranks* ranks."""
    beside = Path(sys.executable).parent / "mpiexec"
    return [str(beside) if beside.exists() else "mpiexec", "-n", str(ranks)] if ranks > 1 else []


def in_turn(sides: dict[str, Callable[[], float]], repeats: int, comm: Comm | None = None) -> list[Timing]:
    """Run the sides A B A B …; each returns its own seconds. One run of each goes first, uncounted."""
    comm = comm or world()
    timings = [Timing(name, []) for name in sides]
    for turn in range(repeats + 1):
        for timing, side in zip(timings, sides.values(), strict=True):
            comm.barrier()
            seconds = side()
            if turn:
                timing.seconds.append(seconds)
    return timings


def timed(action: Callable[[], object]) -> float:
    """Return the seconds *action* takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def report(timings: list[Timing], target: float | None = None, unit: str = "") -> None:
    """Print each side, and the ratio of the first to the second: of the minima, and its spread by turn."""
    if world().rank:
        return
    for timing in timings:
        print(timing)
    if len(timings) > 1:
        ours, theirs = timings[:2]
        ratios = sorted(a / b for a, b in zip(ours.seconds, theirs.seconds, strict=True))
        goal = f"   (to reach: {target:.2f}x)" if target is not None else ""
        print(
            f"{ours.name} / {theirs.name}: {ours.best / theirs.best:.3f}x of the minima; "
            f"by turn {ratios[0]:.3f} to {ratios[-1]:.3f}{goal}"
        )


def row(*cells: object) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(map(str, cells))} |"


def spread(values: Sequence[float]) -> str:
    """Return the mean of several runs, the least and the greatest."""
    return f"{sum(values) / len(values):.4f} ({min(values):.4f} to {max(values):.4f})"
