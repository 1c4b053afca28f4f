"""Caches that cannot be trusted, as commands and ranks meet them."""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path

import pytest

from gaslab.cli import main
from gaslab.compiler import build, cache, toolchain
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.planted import LEVEL, TEXT, place, plant, planted

__all__ = ["place"]  # a fixture
pytestmark = pytest.mark.usefixtures("place")

# ---- gaslab compile --------------------------------------------------------------------------------

PROGRAM = """
import gaslab as gl
class Count(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 0
    def apply(self, v: Vertex) -> None:
        v.n += 1
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "count_ahead.py").write_text(PROGRAM)
    return f"{tmp_path}/count_ahead.py:Count"


def test_what_was_planted_where_programs_are_compiled_to_is_made_anew(place: Path) -> None:
    path = plant(place)
    path.chmod(0o666)
    assert build.compile_levels(TEXT, place, [LEVEL]) == [path]
    assert b"gl_planted" not in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_compiling_ahead_refuses_a_folder_before_it_compiles(
    place: Path,
    tmp_path: Path,
    program: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*_: object) -> bytes:
        raise AssertionError("compiled before the folder was looked at")

    monkeypatch.setattr(build, "compiled", never)
    place.mkdir()
    place.chmod(0o777)
    (tmp_path / "file").write_text("")
    for words, code, message in [
        ([], 1, f"{place} can be written by others (mode 777); chmod go-w {place}"),
        (["-o", ""], 2, "an output has an empty name; name a file"),
        (["-o", f"{tmp_path}/file"], 2, f"cannot write to {tmp_path}/file: it is not a directory"),
        (["-o", f"{tmp_path}/file/a"], 2, f"cannot write to {tmp_path}/file/a: Not a directory"),
    ]:
        assert main(["compile", program, *words]) == code
        assert capsys.readouterr().err == f"gaslab: {message}\n"


@pytest.mark.slow
def test_doctor_names_a_cache_that_is_not_used(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant(place)
    place.chmod(0o777)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert f"{place} can be written by others (mode 777), so nothing in it is used" in out
    assert f"-> chmod go-w {place}" in out


# ---- ranks -----------------------------------------------------------------------------------------


def loaded_under_mpi(comm: Comm, folder: str) -> bool:
    """Whether the planted library was loaded, from a cache that is rank 0's affair alone."""
    before = os.environ["GASLAB_CACHE_DIR"]
    os.environ["GASLAB_CACHE_DIR"] = folder
    shipped, build.SHIPPED, build._loaded = build.SHIPPED, Path("/nowhere"), {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return planted(build.load(TEXT, comm))
    finally:
        os.environ["GASLAB_CACHE_DIR"], build.SHIPPED = before, shipped


def test_no_rank_loads_what_was_planted(ranks: Ranks, tmp_path: Path) -> None:
    folder = tmp_path / "planted"
    for level in toolchain.levels():
        path = plant(folder)
        path.rename(folder / f"{build.key(TEXT, level)}.so")
    assert all(ranks.run(loaded_under_mpi, str(folder)))
    folder.chmod(0o777)
    assert not any(ranks.run(loaded_under_mpi, str(folder)))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"file: it is not a directory$"):
        cache.prepare_for_others(tmp_path / "file")
