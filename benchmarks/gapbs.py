"""The GAP Benchmark Suite in C++ as a peer: its binaries are in the folder that the variable GAPBS names.

They are the suite's own (https://github.com/sbeamer/gapbs), built with OpenMP: pr, bfs, cc, sssp, bc, tc and
converter. A trial counts by the time that the suite prints, which is without reading the graph.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np

from classes import Drawn
from gaslab.ingest.format import format_table
from peers import ITERATIONS, Side

DELTAS = (2, 8, 32, 128, 512, 2048)  # widths of a bucket of sssp; the best counts


def folder() -> Path | None:
    """Return the folder of the binaries, None where the variable is not set."""
    named = os.environ.get("GAPBS")
    return Path(named) if named else None


def convert(graph: Drawn, where: Path) -> None:
    """Write the graph in the suite's own formats: directed, with weights, and without direction."""
    end = np.append(graph.source, graph.n - 1), np.append(graph.target, graph.n - 1)  # a loop, to be dropped
    columns = {"graph": end, "pairs": end, "weighted": (*end, np.append(graph.weight, 1))}
    for name, options in (("graph", []), ("pairs", ["-s"]), ("weighted", ["-w"])):
        text = where / f"{name}.{'wel' if name == 'weighted' else 'el'}"
        text.write_bytes(format_table(columns[name], delimiter=" "))
        _run("converter", "-f", text, *options, "-b", _file(where, name))
        text.unlink()


def _file(where: Path, name: str) -> Path:
    return where / f"{name}.{'wsg' if name == 'weighted' else 'sg'}"


def _run(binary: str, *arguments: object, threads: int = 2) -> str:
    """Return what a binary prints."""
    found = folder()
    assert found is not None
    command = [str(found / binary), *map(str, arguments)]
    env = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def _seconds(printed: str) -> float:
    """Return the time of the best trial but the first, which warms up."""
    return min(map(float, re.findall(r"Trial Time: +([\d.]+)", printed)[1:]))


class Suite:
    """The suite's kernels on one graph; two trials a run, of which the second counts."""

    def __init__(self, graph: Drawn, where: Path, threads: int, sources: int) -> None:
        self.where, self.threads = where, threads
        self.begin, self.sources = int(graph.begin[0]), graph.begin[:sources].tolist()
        self.delta = 0  # the best, once known

    def sides(self) -> dict[str, Side]:
        """Return the kernel of each name; only the triangles' answer is printed by the suite."""
        return {
            "pagerank": self._pagerank,
            "pagerank32": self._pagerank,
            "bfs": lambda: (self._trial("bfs", "-r", self.begin), None),
            "components": lambda: (self._trial("cc"), None),
            "sssp": lambda: (self._paths(), None),
            "betweenness": lambda: (sum(self._trial("bc", "-i", 1, "-r", r) for r in self.sources), None),
            "triangles": self._triangles,
        }

    def _trial(self, binary: str, *options: object, of: str = "graph", trials: int = 2) -> float:
        arguments = ["-f", _file(self.where, of), "-n", trials, *options]
        return _seconds(_run(binary, *arguments, threads=self.threads))

    def _pagerank(self) -> tuple[float, None]:
        return self._trial("pr", "-i", ITERATIONS, "-t", 0), None

    def _paths(self) -> float:
        """Run with the best width of a bucket, which the first call finds."""

        def trial(delta: int, trials: int = 5) -> float:
            return self._trial("sssp", "-r", self.begin, "-d", delta, of="weighted", trials=trials)

        self.delta = self.delta or min(DELTAS, key=trial)
        return trial(self.delta, trials=2)

    def _triangles(self) -> tuple[float, int]:
        printed = _run("tc", "-f", _file(self.where, "pairs"), "-n", 2, "-a", threads=self.threads)
        return _seconds(printed), int(re.findall(r"(\d+) triangles", printed)[-1])
