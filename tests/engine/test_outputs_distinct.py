"""Writers that fail, are interrupted or meet each other: nothing is lost, nothing left behind."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gaslab.errors import GaslabError, UsageError
from gaslab.system import leftovers
from gaslab.system.atomic_writes import AtomicFile, AtomicFolder, write_bytes
from gaslab.system.outputs import Output, check_distinct


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# ---- what fails on the way -------------------------------------------------------------------------


def interrupted(tmp_path: Path) -> None:
    with (
        AtomicFile(Output(tmp_path / "a")) as draft,
        AtomicFolder(Output(tmp_path / "b", folder=True)) as folder,
    ):
        draft.write(b"x")
        (folder.beside / "part").write_bytes(b"x")
        raise KeyboardInterrupt


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path)
    assert names(tmp_path) == []


def test_a_process_that_ends_at_once_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "_cleared_by", None)  # and so again after this test
    with AtomicFile(Output(tmp_path / "a")) as draft, AtomicFolder(Output(tmp_path / "b", folder=True)):
        draft.write(b"x")
        assert len(names(tmp_path)) == 2
        leftovers.clear()  # as a timeout does, from its thread
        assert names(tmp_path) == []
        draft.write(b"y")
    assert names(tmp_path) == []


@pytest.mark.parametrize("force", [False, True])
def test_a_rename_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force: bool
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    if force:
        (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr(os, "link", fail)
    with pytest.raises(GaslabError, match=f"^cannot write {tmp_path}/a: Input/output error$"):
        write_bytes(Output(tmp_path / "a", force), b"new")
    assert names(tmp_path) == ["a"] * force


@pytest.mark.parametrize("reason", [errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK])
def test_a_file_system_without_hard_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr(os, "link", refuse)
    write_bytes(Output(tmp_path / "a"), b"x")
    assert names(tmp_path) == ["a"]
    with pytest.raises(GaslabError, match="written by another job"):
        write_bytes(Output(tmp_path / "a"), b"y")
    assert (tmp_path / "a").read_bytes() == b"x"


# ---- two jobs --------------------------------------------------------------------------------------


def folder_of(path: Path, force: bool, text: bytes) -> AtomicFolder:
    draft = AtomicFolder(Output(path, force, folder=True)).__enter__()
    (draft.beside / "part").write_bytes(text)
    return draft


def file_of(path: Path, force: bool, text: bytes) -> AtomicFile:
    draft = AtomicFile(Output(path, force)).__enter__()
    draft.write(text)
    return draft


def content(path: Path) -> bytes:
    return (path / "part").read_bytes() if path.is_dir() else path.read_bytes()


@pytest.mark.parametrize("make", [file_of, folder_of])
def test_of_two_jobs_at_once_none_loses_its_answer(tmp_path: Path, make: Callable[..., AtomicFile]) -> None:
    first, second = make(tmp_path / "a", False, b"first"), make(tmp_path / "a", False, b"second")
    first.keep()
    with pytest.raises(GaslabError) as caught:
        second.keep()
    for draft in (first, second):
        draft.__exit__()
    assert content(tmp_path / "a") == b"first"
    (left,) = set(tmp_path.iterdir()) - {tmp_path / "a"}
    assert content(left) == b"second"
    assert str(caught.value) == (
        f"{tmp_path}/a was written by another job meanwhile; this answer is in {left}"
    )


@pytest.mark.parametrize("make", [file_of, folder_of])
def test_of_two_jobs_with_force_the_later_one_stays_whole(
    tmp_path: Path, make: Callable[..., AtomicFile]
) -> None:
    first, second = make(tmp_path / "a", True, b"first"), make(tmp_path / "a", True, b"second")
    second.keep()
    first.keep()
    for draft in (first, second):
        draft.__exit__()
    assert content(tmp_path / "a") == b"first"
    assert names(tmp_path) == ["a"]


# ---- distinct outputs ------------------------------------------------------------------------------


def clash(*pairs: tuple[str, Output], read: tuple[Path, ...] = ()) -> str:
    with pytest.raises(UsageError) as caught:
        check_distinct(pairs, read)
    return str(caught.value)


def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    a = tmp_path / "a.tsv"
    (tmp_path / "here").symlink_to(".")
    same = [f"{tmp_path}/./a.tsv", f"{tmp_path}/here/a.tsv", f"{tmp_path}/here/../{tmp_path.name}/a.tsv"]
    for there in (False, True):
        for other in same:
            message = clash(("-o", Output(a, True)), ("--json", Output(other, True)))
            assert message == f"-o and --json both write {other}".replace("/./", "/") + "; name two files"
        if not there:
            a.write_bytes(b"")
    check_distinct([("-o", Output(a)), ("--json", Output(tmp_path / "b"))])
    check_distinct([("-o", Output("/dev/null")), ("--json", Output("/dev/null"))])


def test_no_output_lies_in_another(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to("out")
    folder = Output(f"{tmp_path}/link/", True, folder=True)
    inside = Output(tmp_path / "out" / "run.json", True)
    expected = f"{tmp_path}/out/run.json lies in {tmp_path}/link, which is written as a whole"
    assert clash(("-o", folder), ("--json", inside)) == expected
    assert clash(("--json", inside), ("-o", folder)) == expected


def test_what_is_read_is_not_written(tmp_path: Path) -> None:
    graph = tmp_path / "g.tsv"
    graph.write_bytes(b"1 2\n")
    (tmp_path / "link.tsv").symlink_to("g.tsv")
    os.link(graph, tmp_path / "hard.tsv")
    for name in ("g.tsv", "link.tsv", "hard.tsv", "./g.tsv"):
        output = Output(f"{tmp_path}/{name}", force=True)
        message = clash(("-o", output), read=(graph,))
        assert message == f"-o {output.path} is read too; write to another file"
    assert "is read too" in clash(("-o", Output(graph, True)), read=(tmp_path / "link.tsv",))
    folder = Output(tmp_path, True, folder=True)
    assert clash(("-o", folder), read=(graph,)) == (
        f"-o {tmp_path} holds {graph}, which is read; write elsewhere"
    )
    check_distinct([("-o", Output(tmp_path / "new.tsv"))], [graph, tmp_path / "absent.tsv"])
