"""A checkpoint that cannot be written: the ranks agree, the one before it stays, the run goes on or ends."""

from __future__ import annotations

import os
import resource
import shutil
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import gaslab as gl
from gaslab.checkpoint import saver
from gaslab.checkpoint.pieces import write_piece
from gaslab.parallel.comm import Comm

STEADY = gl.programs.PageRank(tolerance=0.0)


def ring(comm: Comm) -> gl.Graph:
    return gl.Graph.from_edges(range(400), [(v + 1) % 400 for v in range(400)], comm=comm)


def limit_files(size: int) -> None:
    """Let no file of this process grow beyond *size*, as on a full disk."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size if size >= 0 else hard, hard))


def written(comm: Comm, folder: str, faulty: int, on_error: str) -> dict[str, Any]:
    """Run with checkpoints after 10, 20 and 30 supersteps; one rank cannot write the second."""

    def write(path: Path, arrays: Any) -> Any:
        limit_files(512 if comm.rank == faulty and "superstep-00000020" in str(path) else -1)
        return write_piece(path, arrays)

    found: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as said, patch.object(saver, "write_piece", write):
        warnings.simplefilter("always")
        try:
            result = gl.run(
                STEADY, ring(comm), max_iterations=35, checkpoint=folder, every=10, threads=1,
                on_checkpoint_error=on_error,
            )  # fmt: skip
            found["checkpoints"] = {k: result.metrics["checkpoints"][k] for k in ("written", "failed")}
        except gl.GaslabError as error:
            found["error"] = str(error).replace(folder, "DIR")
        finally:
            limit_files(-1)
    found["warned"] = [str(w.message).replace(folder, "DIR") for w in said
                       if issubclass(w.category, gl.CheckpointWarning)]  # fmt: skip
    comm.barrier()
    found["there"] = sorted(set(os.listdir(folder)) - {"lock"})
    return found


TOO_LARGE = "cannot write a checkpoint to DIR: File too large"


@pytest.mark.parametrize("size", [1, 2])
def test_a_full_disk_of_one_rank(hosts: Any, size: int, tmp_path: Path) -> None:
    faulty = size - 1
    found = hosts(size).run(written, str(tmp_path / "warn"), faulty, "warn")
    for rank, one in enumerate(found):
        assert one["checkpoints"] == {"written": 2, "failed": 1}
        assert one["there"] == ["superstep-00000010", "superstep-00000030"]
        assert one["warned"] == ([f"{TOO_LARGE}; the run goes on"] if rank == 0 else [])
    found = hosts(size).run(written, str(tmp_path / "raise"), faulty, "raise")
    for one in found:
        assert one["error"].startswith(TOO_LARGE)
        assert one["there"] == ["superstep-00000010"]


def lost(comm: Comm, folder: str) -> list[bool]:
    """Return whether checkpoints were written, and failed, where the folder is removed after the first."""

    def remove(row: Any) -> str:
        if os.path.isdir(f"{folder}/superstep-00000010"):
            shutil.rmtree(folder)
        return ""

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = gl.run(
            STEADY, ring(comm), max_iterations=100, checkpoint=folder, every=10, threads=1,
            progress=remove if comm.rank == 0 else False,
        )  # fmt: skip
    return [result.metrics["checkpoints"][what] > 0 for what in ("written", "failed")]


@pytest.mark.parametrize("size", [1, 2])
def test_a_folder_that_is_removed(hosts: Any, size: int, tmp_path: Path) -> None:
    assert hosts(size).run(lost, str(tmp_path / "ck")) == [[True, True]] * size


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    (tmp_path / "ck").mkdir(mode=0o500)
    with pytest.raises(gl.UsageError, match="cannot write"):
        gl.run(STEADY, ring(Comm()), max_iterations=2, checkpoint=tmp_path / "ck", threads=1)
