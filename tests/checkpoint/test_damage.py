"""A damaged checkpoint is never resumed: the one before it is, or the error names the file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gaslab as gl
from gaslab.checkpoint.folder import complete
from tests.fuzz.checkpoints import SWEEPS, Checkpoints, graph_of
from tests.fuzz.damage import FILES, WAYS, damage
from tests.fuzz.fuzzer import fuzz, quiet

HARMLESS = ("more", "swap_ranks", "mix")  # on one rank, or where all become alike
SAMPLE = 16


@pytest.fixture(scope="module")
def checkpoints() -> Iterator[Checkpoints]:
    made = Checkpoints()
    yield made
    made.close()


@pytest.mark.slow
def test_every_kind_of_damage(checkpoints: Any) -> None:
    kinds = ("Posted", "Flow")
    cases = [
        {"kind": kinds[at % 2], "saved on": 1 + at % 2, "in place": at % 3 == 0, "damages": [[way, at, 0]]}
        for at, way in enumerate(WAYS)
    ]
    with quiet():
        wrong = [what for what in checkpoints.check_all(cases) if what is not None]
    assert not wrong


@pytest.mark.slow
def test_a_drawn_sample(checkpoints: Any) -> None:
    _, found = fuzz(checkpoints, 0, runs=SAMPLE, stop_at=1)
    assert not found
    assert checkpoints.ends["right"]
    assert checkpoints.ends["InputError"]


@pytest.mark.slow
@pytest.mark.parametrize("way", [way.__name__ for way in FILES if way.__name__ not in HARMLESS])
def test_where_none_is_whole_the_error_names_the_folder(tmp_path: Path, way: str) -> None:
    graph = gl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    folder = tmp_path / "checkpoints"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gl.pagerank(graph, tolerance=0, max_iterations=6, checkpoint=folder, every=2)
    for at in range(len(complete(folder))):
        damage(folder, way, 5, at)
    with quiet(), pytest.raises(gl.InputError, match=str(folder)):
        gl.pagerank(graph, tolerance=0, max_iterations=6, resume=folder)


def test_a_run_of_another_kind_does_not_begin_anew_in_the_folder_of_a_chain(tmp_path: Path) -> None:
    tokens, folder = graph_of("lda", gl.Graph.from_edges([0], [0]).comm), tmp_path / "checkpoints"
    gl.lda(tokens, **SWEEPS, checkpoint=folder, every=1)  # type: ignore[arg-type]
    with pytest.raises(gl.UsageError, match="is a checkpoint of a run with program"):
        gl.pagerank(graph_of("plain", tokens.comm), resume=folder)


def test_a_chain_whose_second_run_is_damaged_resumes_the_first(tmp_path: Path) -> None:
    tokens, folder = graph_of("lda", gl.Graph.from_edges([0], [0]).comm), tmp_path / "checkpoints"
    whole = gl.lda(tokens, **SWEEPS)  # type: ignore[arg-type]
    gl.lda(tokens, **SWEEPS, checkpoint=folder, every=1, keep=9)  # type: ignore[arg-type]
    for path in complete(folder):
        if '"run": 2' in (path / "manifest.json").read_text():
            content = bytearray((path / "rank-00000.bin").read_bytes())
            content[0] ^= 1
            (path / "rank-00000.bin").write_bytes(content)
    with quiet():
        found = gl.lda(tokens, **SWEEPS, resume=folder)  # type: ignore[arg-type]
    assert found.metrics["checkpoints"]["resumed"] is not None
    assert found.vertices["counts"].tolist() == whole.vertices["counts"].tolist()
