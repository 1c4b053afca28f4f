"""The cache of compiled programs: what others may have written is never loaded, whatever it is called."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from gaslab.compiler import build, cache, toolchain
from gaslab.compiler.cache import Cache, Untrusted, open_way
from gaslab.errors import PerformanceWarning
from tests.support.planted import LEVEL, TEXT, place, plant, planted

__all__ = ["place"]  # a fixture

SOMEBODY = 54321  # no user of this machine
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


pytestmark = pytest.mark.usefixtures("place")


def load() -> build.Library:
    build._loaded.clear()
    content, cached = build.find_or_compile(TEXT, LEVEL)
    return build.open_bytes(content, cached)


def open_file(path: Path) -> str:
    path.chmod(0o666)
    return f"{path} can be written by others (mode 666)"


def group_file(path: Path) -> str:
    path.chmod(0o620)
    return f"{path} can be written by others (mode 620)"


def open_folder(path: Path) -> str:
    path.parent.chmod(0o777)
    return f"{path.parent} can be written by others (mode 777)"


def sticky_folder(path: Path) -> str:
    path.parent.chmod(0o1777)
    return f"{path.parent} can be written by others (mode 1777)"


def group_folder(path: Path) -> str:
    path.parent.chmod(0o770)
    return f"{path.parent} can be written by others (mode 770)"


def open_parent(path: Path) -> str:
    path.parent.parent.chmod(0o777)
    return f"{path.parent.parent} can be written by others (mode 777)"


def others_file(path: Path) -> str:
    os.chown(path, SOMEBODY, -1)
    return f"{path} belongs to user {SOMEBODY}"


def others_folder(path: Path) -> str:
    os.chown(path.parent, SOMEBODY, -1)
    return f"{path.parent} belongs to user {SOMEBODY}"


def others_parent(path: Path) -> str:
    os.chown(path.parent.parent, SOMEBODY, -1)
    return f"{path.parent.parent} belongs to user {SOMEBODY}"


def others_in_a_sticky_folder(path: Path) -> str:
    path.parent.parent.chmod(0o1777)
    return others_folder(path)


def others_link(path: Path) -> str:
    """A link of another user in a folder like /tmp, to a folder that is the user's own."""
    folder = path.parent
    folder.rename(folder.parent / "elsewhere")
    folder.parent.chmod(0o1777)
    folder.symlink_to("elsewhere")
    os.chown(folder, SOMEBODY, -1, follow_symlinks=False)
    return f"{folder} is a link owned by user {SOMEBODY}"


DOORS = [open_file, group_file, open_folder, sticky_folder, group_folder, open_parent]
OF_OTHERS = [others_file, others_folder, others_parent, others_in_a_sticky_folder, others_link]


def test_what_was_planted_would_be_loaded_if_it_could_be_trusted(place: Path) -> None:
    plant(place)
    library = load()
    assert planted(library)
    assert library.cached


@pytest.mark.slow
@pytest.mark.parametrize("leave", DOORS + [pytest.param(leave, marks=as_root) for leave in OF_OTHERS])
def test_a_planted_library_is_not_loaded(place: Path, leave: Callable[[Path], str]) -> None:
    what = leave(plant(place))
    with pytest.warns(PerformanceWarning) as caught:
        library = load()
    assert not planted(library)
    assert not library.cached
    assert [str(w.message).partition(", so compiled programs from")[0] for w in caught] == [what]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once
        assert not planted(load())


@pytest.mark.parametrize("leave", [open_folder, open_parent, pytest.param(others_folder, marks=as_root)])
def test_nothing_is_written_to_a_folder_that_is_not_trusted(
    place: Path, leave: Callable[[Path], str]
) -> None:
    path = plant(place)
    path.unlink()
    leave(path)
    with pytest.warns(PerformanceWarning):
        load()
    assert list(place.iterdir()) == []


def test_a_file_that_is_not_trusted_is_replaced_by_one_that_is(place: Path) -> None:
    path = plant(place)
    open_file(path)
    stored = place / f"{build.key(TEXT, LEVEL, toolchain.version(toolchain.compiler() or ()))}.so"
    path.rename(stored)
    with pytest.warns(PerformanceWarning, match=f"chmod go-w {stored}"):
        assert not planted(load())
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    again = load()
    assert again.cached
    assert not planted(again)


def test_the_cache_is_made_for_the_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = os.umask(0)
    try:
        monkeypatch.setenv("GASLAB_CACHE_DIR", str(tmp_path / "a" / "b" / "cache"))
        load()
    finally:
        os.umask(old)
    for path in (tmp_path / "a").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert load().cached


def test_a_sticky_folder_and_links_of_the_user_lie_on_the_way(place: Path, tmp_path: Path) -> None:
    real = tmp_path / "tmp" / "mine"
    plant(real)
    real.parent.chmod(0o1777)
    (tmp_path / "there").symlink_to("tmp/../tmp")
    place.symlink_to(tmp_path / "there" / "mine")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load().cached


def test_a_library_that_is_a_link_or_a_pipe_is_not_read(place: Path, tmp_path: Path) -> None:
    path = plant(place)
    path.rename(tmp_path / "elsewhere.so")
    path.symlink_to(tmp_path / "elsewhere.so")
    assert not planted(load())
    path.unlink()
    os.mkfifo(path, 0o600)
    assert Cache(place).read(path.name) is None  # and nobody waits for a writer


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links") as caught:
        open_way(tmp_path / "a")
    assert caught.value.errno == errno.ELOOP


def test_what_was_looked_at_is_what_is_loaded(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is exchanged for another between the look at it and the opening of the library."""
    content = build.compiled(TEXT, LEVEL)
    good = place / f"{build.key(TEXT, LEVEL)}.so"
    place.mkdir(mode=0o700)
    good.write_bytes(content + hashlib.sha256(content).digest())
    good.chmod(0o600)
    evil = place.parent / "evil"
    plant(evil)
    check = cache._check_own

    def exchange(info: os.stat_result, path: Path) -> None:
        check(info, path)
        if path == place and evil.exists():
            place.rename(place.parent / "gone")
            evil.rename(place)

    monkeypatch.setattr(cache, "_check_own", exchange)
    library = load()
    assert not evil.exists()
    assert library.cached
    assert not planted(library)


def test_another_user_s_folder_for_temporary_files_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setattr(cache.tempfile, "tempdir", str(shared))
    assert cache.private_folder() != str(shared)
    assert not planted(load())
    assert list(shared.iterdir()) == []
    shared.chmod(0o1777)
    assert cache.private_folder() == str(shared)


@pytest.mark.parametrize(
    ("mode", "group", "good"), [(0o775, 0, True), (0o775, 1, False), (0o777, 0, False), (0o757, 0, False)]
)
def test_a_group_of_the_user_alone_may_write_to_what_lies_on_the_way(
    place: Path, monkeypatch: pytest.MonkeyPatch, mode: int, group: int, good: bool
) -> None:
    plant(place)
    place.parent.chmod(mode)
    monkeypatch.setattr(cache, "_own_group", lambda: place.parent.stat().st_gid + group)
    if good:
        assert Cache(place).read(f"{build.key(TEXT, LEVEL)}.so") is not None
    else:
        with pytest.raises(Untrusted, match="can be written by others"):
            Cache(place).read(f"{build.key(TEXT, LEVEL)}.so")


@as_root
def test_where_a_server_takes_root_for_nobody_the_cache_is_left_alone(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under root squash what root writes belongs to nobody: as if it were somebody else's."""
    place.mkdir(mode=0o700)
    os.chown(place, 65534, 65534)
    with pytest.warns(PerformanceWarning, match="belongs to .*nobody.*GASLAB_CACHE_DIR"):
        assert not load().cached
    assert list(place.iterdir()) == []


@as_root
def test_root_does_not_make_folders_in_another_user_s(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, SOMEBODY, -1)
    with pytest.raises(Untrusted, match=f"{home} belongs to user {SOMEBODY}"):
        Cache(home / ".cache" / "gaslab").write("a.so", b"")
    assert list(home.iterdir()) == []
