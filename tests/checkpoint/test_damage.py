"""A damaged checkpoint is never resumed: the one before it is, or the error names the file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.checkpoint import loader
from gaslab.checkpoint.folder import complete
from gaslab.checkpoint.manifest import NAME, Manifest, read_manifest
from gaslab.checkpoint.pieces import Piece, write_piece
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


# ---- forged: what no run has written, with the right checksums ------------------------------------------


def forge(folder: Path, change: Callable[[Manifest, dict[str, np.ndarray]], Any]) -> None:
    """Change the manifest and the arrays of the newest checkpoint, of one rank, and leave no other."""
    newest, *others = complete(folder)
    for path in others:
        for file in path.iterdir():
            file.unlink()
        path.rmdir()
    manifest, piece = read_manifest(newest), newest / "rank-00000.bin"
    arrays = {name: Piece(piece, manifest.pieces[0].arrays).rows(name) for name in manifest.pieces[0].arrays}
    change(manifest, arrays)
    piece.unlink()
    manifest.pieces[0].arrays = write_piece(piece, arrays)
    (newest / NAME).write_bytes(manifest.packed())


HANDED: dict[str, Callable[[Any], Any]] = {
    "no member": lambda notes: notes.pop("handed"),
    "empty": lambda notes: notes.update(handed={}),
    "a text": lambda notes: notes["handed"].update(document="x"),
    "another number of topics": lambda notes: notes["handed"].update(document=[1.0]),
    "a prior below 0": lambda notes: notes["handed"].update(word=-1.0),
    "a prior that is no number": lambda notes: notes["handed"].update(word="x"),
    "no costs": lambda notes: notes["handed"]["earlier"].update(costs={}),
    "a history of numbers": lambda notes: notes["handed"]["earlier"].update(history=[1, 2]),
}


@pytest.mark.parametrize("what", HANDED)
def test_forged_notes_of_a_chain(tmp_path: Path, what: str) -> None:
    tokens, folder = graph_of("lda", gl.Graph.from_edges([0], [0]).comm), tmp_path / "checkpoints"
    gl.lda(tokens, **SWEEPS, checkpoint=folder, every=1)  # type: ignore[arg-type]
    forge(folder, lambda manifest, _: HANDED[what](manifest.notes))
    with pytest.raises(gl.InputError, match=f"{folder}: the checkpoint does not say what its first sampler"):
        gl.lda(tokens, **SWEEPS, checkpoint=folder, resume="auto")  # type: ignore[arg-type]


def deep(manifest: Manifest, arrays: dict[str, np.ndarray]) -> None:
    name = next(name for name in arrays if name.startswith("history/"))
    arrays[name] = np.frombuffer(b"[" * 100_000, np.uint8)


FORGED: dict[str, Callable[[Manifest, dict[str, np.ndarray]], Any]] = {
    "a history that is too deep": deep,
    "seconds that no float holds": lambda manifest, _: manifest.spent.update(seconds=10**400),
    "lists whose lengths overflow": lambda _, arrays: arrays["lengths of vertices/field _around"].fill(2**62),
}


@pytest.mark.parametrize("what", FORGED)
def test_forged_values(tmp_path: Path, what: str) -> None:
    graph = gl.Graph.from_edges(*np.triu_indices(30, 20), directed=False)
    gl.clustering(graph, checkpoint=tmp_path, every=1, keep=9)
    forge(tmp_path, FORGED[what])
    with quiet(), pytest.raises(gl.InputError, match=str(tmp_path)):
        gl.clustering(graph, resume=tmp_path)


def test_a_folder_where_another_job_removes_the_checkpoint_that_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = gl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gl.pagerank(graph, tolerance=0, max_iterations=6, checkpoint=tmp_path, every=2)
        look, gone = loader.newest, [tmp_path / "superstep-00000001"]
        monkeypatch.setattr(loader, "newest", lambda *of: [gone.pop()] if gone else look(*of))
        found = gl.pagerank(graph, tolerance=0, max_iterations=6, resume=tmp_path)
    assert found.metrics["checkpoints"]["resumed"] == "superstep-00000006"
