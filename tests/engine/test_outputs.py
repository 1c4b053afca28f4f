"""The door for files: whole or not at all, links and devices as they are, nothing left behind."""

from __future__ import annotations

import errno
import os
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gaslab.errors import GaslabError, UsageError
from gaslab.system import outputs
from gaslab.system.atomic_writes import AtomicFile, AtomicFolder, write_bytes
from gaslab.system.outputs import Output


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_bytes(Output(path), b"{}\n")
    assert path.read_bytes() == b"{}\n"
    with pytest.raises(UsageError, match=r"run\.json exists; --force replaces it$"):
        Output(path).check()
    Output(path, force=True).check()
    write_bytes(Output(path, force=True), b"[]\n")
    assert path.read_bytes() == b"[]\n"
    assert names(tmp_path) == ["run.json"]


def test_a_reader_sees_the_old_or_the_new(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(b"old")
    with AtomicFile(Output(path, force=True)) as draft:
        draft.write(b"n" * (1 << 20))
        assert path.read_bytes() == b"old"
        draft.keep()
    assert path.read_bytes() == b"n" * (1 << 20)


def test_permissions_stay_and_new_files_follow_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_bytes(Output(tmp_path / "new"), b"")
        (tmp_path / "kept").write_bytes(b"")
        (tmp_path / "kept").chmod(0o604)
        write_bytes(Output(tmp_path / "kept", force=True), b"")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o604


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_root_leaves_a_user_s_file_to_the_user(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"")
    os.chown(path, 54321, 54322)
    write_bytes(Output(path, force=True), b"x")
    assert (path.stat().st_uid, path.stat().st_gid) == (54321, 54322)


# ---- links -----------------------------------------------------------------------------------------


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    real = tmp_path / "store" / "a.tsv"
    real.write_bytes(b"old")
    (tmp_path / "middle.tsv").symlink_to("store/a.tsv")
    link = tmp_path / "link.tsv"
    link.symlink_to("middle.tsv")
    with pytest.raises(UsageError, match=r"link\.tsv exists"):
        Output(link).check()
    Output(link, force=True).check()
    write_bytes(Output(link, force=True), b"new")
    assert link.is_symlink()
    assert (tmp_path / "middle.tsv").is_symlink()
    assert not real.is_symlink()
    assert real.read_bytes() == b"new"
    assert names(tmp_path / "store") == ["a.tsv"]


def test_a_link_to_nothing_exists_and_force_writes_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    link = tmp_path / "link.tsv"
    link.symlink_to("store/a.tsv")
    with pytest.raises(UsageError, match=r"link\.tsv exists"):
        Output(link).check()
    write_bytes(Output(link, force=True), b"new")
    assert link.is_symlink()
    assert (tmp_path / "store" / "a.tsv").read_bytes() == b"new"
    (tmp_path / "lost.tsv").symlink_to("nowhere/a.tsv")
    with pytest.raises(UsageError, match=rf"lost\.tsv: there is no directory {tmp_path}/nowhere"):
        Output(tmp_path / "lost.tsv", force=True).check()


def test_a_folder_behind_a_link_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with AtomicFolder(Output(f"{tmp_path}/link/", force=True, folder=True)) as draft:
        (draft.beside / "part").write_bytes(b"x")
        draft.keep()
    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path) == ["link", "real"]
    assert names(tmp_path / "real") == ["part"]


# ---- devices and pipes -----------------------------------------------------------------------------


def test_a_pipe_is_written_to_without_force(tmp_path: Path) -> None:
    pipe = tmp_path / "a.tsv"
    os.mkfifo(pipe)
    (tmp_path / "link.tsv").symlink_to("a.tsv")
    for path in (pipe, tmp_path / "link.tsv"):
        came: list[bytes] = []
        reader = threading.Thread(target=lambda came=came: came.append(pipe.read_bytes()))
        reader.start()
        output = Output(path)
        output.check()
        write_bytes(output, b"1\t2\n")
        reader.join(10)
        assert came == [b"1\t2\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["a.tsv", "link.tsv"]


def null(tmp_path: Path) -> Path:
    """Return a device of our own, which tests may lose: with the right to make one, else a link to it."""
    path = tmp_path / "null.tsv"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        path.chmod(0o666)
        with open(path, "wb"):
            pass
    except OSError:
        path.unlink(missing_ok=True)
        path.symlink_to("/dev/null")
    return path


@pytest.mark.parametrize("force", [False, True])
def test_a_device_stays_a_device(tmp_path: Path, force: bool) -> None:
    path = null(tmp_path)
    output = Output(path, force)
    output.check()
    write_bytes(output, b"gone")
    assert stat.S_ISCHR(path.stat().st_mode)
    assert names(tmp_path) == [path.name]
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_full_device_is_named(tmp_path: Path) -> None:
    with pytest.raises(GaslabError, match=r"^cannot write /dev/full: No space left on device$"):
        write_bytes(Output("/dev/full"), b"x")


def test_a_descriptor_is_written_to_where_it_stands(tmp_path: Path) -> None:
    """As /dev/stdout is, behind a shell's ``> file``: nothing before is lost, and nothing is renamed."""
    with open(tmp_path / "log", "wb", buffering=0) as file:
        file.write(b"before\n")
        output = Output(f"/dev/fd/{file.fileno()}")
        output.check()
        write_bytes(output, b"answer\n")
    assert (tmp_path / "log").read_bytes() == b"before\nanswer\n"
    assert names(tmp_path) == ["log"]


# ---- what others put in the way --------------------------------------------------------------------


def link(path: Path) -> None:
    path.symlink_to("precious")


def file(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
@pytest.mark.parametrize("plant", [link, file, os.mkfifo, os.mkdir])
@pytest.mark.parametrize("owner", [0, 54321])
def test_what_another_user_planted_in_a_folder_for_all_is_not_written_to(
    tmp_path: Path, plant: Callable[[Path], None], owner: int
) -> None:
    (tmp_path / "precious").write_bytes(b"precious")
    planted = tmp_path / "r.tsv"
    plant(planted)
    os.chown(planted, owner, -1, follow_symlinks=False)
    (tmp_path / "on the way").symlink_to("r.tsv")
    tmp_path.chmod(0o1777)
    for name in ("r.tsv", "on the way"):
        slash = "/" * (plant is os.mkdir)
        output = Output(f"{tmp_path}/{name}{slash}", force=True, folder=plant is os.mkdir)
        if owner == 0:
            output.check()
            continue
        with pytest.raises(UsageError) as caught:
            output.check()
        assert str(caught.value) == (
            f"cannot write {tmp_path}/{name}: {planted} belongs to another user, "
            "and all may write to its folder"
        )
    tmp_path.chmod(0o775)  # a folder of a group, whose members know each other
    Output(planted, force=True, folder=plant is os.mkdir).check()


def test_a_library_takes_the_place_of_a_link(tmp_path: Path) -> None:
    from gaslab.compiler.cache import write_for_others

    (tmp_path / "precious").write_bytes(b"precious")
    (tmp_path / "a.so").symlink_to("precious")
    write_for_others(tmp_path, "a.so", b"library")
    assert not (tmp_path / "a.so").is_symlink()
    assert (tmp_path / "precious").read_bytes() == b"precious"


# ---- what cannot be written ------------------------------------------------------------------------


def test_names_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    (tmp_path / "circle").symlink_to("circle")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(tmp_path / "socket"))
    long = "x" * 256
    for name, why in {
        "nowhere/a": f"there is no directory {tmp_path}/nowhere",
        "file/a": f"{tmp_path}/file is not a directory",
        "file/a/b": f"{tmp_path}/file is not a directory",
        "folder": "it is a directory",
        "circle": "Too many levels of symbolic links",
        "socket": "it is a socket",
        long: "File name too long",
        f"{long}/a": "File name too long",
    }.items():
        with pytest.raises(UsageError) as caught:
            Output(tmp_path / name, force=True).check()
        assert str(caught.value) == f"cannot write {tmp_path}/{name}: {why}"
    for name in ("", "a\0b"):
        with pytest.raises(UsageError, match=r"empty name|no zero byte"):
            Output(name)


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    for name in ("x" * 255, "ä" * 127, "😀" * 63):
        output = Output(tmp_path / name)
        output.check()
        write_bytes(output, b"")
        assert (tmp_path / name).exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_found_at_once(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(UsageError, match=f"no permission to write in {tmp_path}/locked"):
        Output(tmp_path / "locked" / "a").check()


def test_a_folder_that_refuses_files_is_found_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where permissions look well and writing fails all the same: quotas, servers, read-only mounts."""

    def refuse(path: Path) -> int:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), str(path))

    monkeypatch.setattr(outputs, "create_new", refuse)
    with pytest.raises(UsageError) as caught:
        Output(tmp_path / "a").check()
    assert str(caught.value) == f"cannot write {tmp_path}/a: Disk quota exceeded (in {tmp_path})"
