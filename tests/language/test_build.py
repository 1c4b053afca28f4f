"""build: the cache, the compiler, and ranks that share what rank 0 found."""

from __future__ import annotations

import os
import re
import shlex
import stat
import sys
import threading
from pathlib import Path

import pytest

from gaslab.compiler import build, toolchain
from gaslab.compiler.c import emit
from gaslab.errors import CompileError
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support import hand_trees as h
from tests.support.hand_trees import F, assign, function, local, program, variable
from tests.support.hand_views import call, state
from tests.support.threadcomm import ThreadComm, run_ranks

TEXT = emit(h.messages())


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, nothing loaded, nothing shipped."""
    monkeypatch.setenv("GASLAB_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(build, "_loaded", {})


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that notes each compilation as a line in the file returned."""
    compiler, log = toolchain.compiler(), tmp_path / "calls"
    assert compiler is not None
    log.touch()
    script = tmp_path / "noting-cc"
    note = f'case "$*" in *--version*) ;; *) echo x >> {log} ;; esac'
    script.write_text(f'#!/bin/sh\n{note}\nexec {shlex.join(compiler)} "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(script))
    return log


def compilations(log: Path) -> int:
    return len(log.read_text().splitlines())


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in another process: only files are left."""
    monkeypatch.setattr(build, "_loaded", {})


def works(library: build.Library) -> bool:
    """Whether the library of `TEXT` applies a message."""
    s = state(h.messages(), 2)
    s.vertex[0][:], s.message[:] = [3.0, 4.0], [5.0, 1.0]
    return call(library, "gl_apply", s, 0, 2) is None and s.vertex[0].tolist() == [3.0, 1.0]


# ---- the cache -------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ['gcc "-O1', "cc 'x"])
def test_a_compiler_with_an_open_quote_is_an_error(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("CC", command)
    with pytest.raises(CompileError) as caught:
        toolchain.compiler()
    assert str(caught.value) == f"CC={command!r} is not a command (No closing quotation); fix it or unset it"


def test_one_compilation_serves_process_and_cache(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build.load(TEXT, Comm())
    assert (first.cached, compilations(calls), works(first)) == (False, 1, True)
    again = build.load(TEXT, Comm())
    assert again is first
    assert again.cached
    forget(monkeypatch)
    stored = build.load(TEXT, Comm())
    assert stored is not first
    assert (stored.cached, compilations(calls), works(stored)) == (True, 1, True)


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b[:-1] + b"!", lambda b: b""])
def test_a_damaged_file_in_the_cache_is_compiled_anew(
    damage: object, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.load(TEXT, Comm())
    (path,) = build.cache_directory().iterdir()
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    forget(monkeypatch)
    assert works(build.load(TEXT, Comm()))
    assert compilations(calls) == 2
    forget(monkeypatch)
    assert build.load(TEXT, Comm()).cached


def test_a_cache_that_cannot_be_written_costs_only_the_cache(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GASLAB_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert works(build.load(TEXT, Comm()))
    forget(monkeypatch)
    assert works(build.load(TEXT, Comm()))
    assert compilations(calls) == 2


def test_the_cache_holds_whole_files_only(calls: Path) -> None:
    build.load(TEXT, Comm())
    (path,) = build.cache_directory().iterdir()
    assert path.suffix == ".so"
    assert not path.name.startswith(".")


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GASLAB_CACHE_DIR")
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert build.cache_directory() == Path("/home/someone/.cache/gaslab")
    monkeypatch.setenv("XDG_CACHE_HOME", "/scratch")
    assert build.cache_directory() == Path("/scratch/gaslab")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert build.cache_directory() == Path("/home/someone/Library/Caches/gaslab")


def test_the_key_is_of_the_program_and_not_of_where_it_stands() -> None:
    moved = TEXT.replace('"program.py"', '"/elsewhere/program.py"').replace("#line 10 ", "#line 99 ")
    assert moved != TEXT
    assert build.key(moved) == build.key(TEXT)
    others = [build.key(TEXT + "\n"), build.key(TEXT, "x86-64-v3"), build.key(TEXT, "", "gcc 12")]
    assert len({build.key(TEXT), *others}) == 4


# ---- the compiler ----------------------------------------------------------------------------------


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nonexistent/cc")
    with pytest.raises(build.NoCompiler, match=r"no C compiler was found .* `gaslab compile`"):
        build.load(TEXT, Comm())


@pytest.mark.slow
def test_a_program_compiled_ahead_needs_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = build.compile_levels(TEXT, tmp_path / "ahead")
    assert len(paths) == len(toolchain.levels())
    monkeypatch.setenv("CC", "/nonexistent/cc")
    monkeypatch.setenv("GASLAB_CACHE_DIR", str(tmp_path / "ahead"))
    library = build.load(TEXT, Comm())
    assert library.cached
    assert works(library)


@pytest.mark.slow
def test_shipped_libraries_come_before_the_cache(calls: Path, tmp_path: Path) -> None:
    build.compile_levels(TEXT, build.SHIPPED)
    before = compilations(calls)
    assert build.load(TEXT, Comm()).cached
    assert compilations(calls) == before
    assert not build.cache_directory().exists()


def test_the_compiler_s_error_is_shown_at_the_user_s_line() -> None:
    undeclared = assign(h.t.VertexField("v", 0, F), local("never_declared"), 1)
    tree = program([function("apply", [undeclared], writes="v.a")], vertex=(variable("a"),))
    with pytest.raises(CompileError, match=r"refused [^\n]*\n(.*\n)*program\.py:11:.*never_declared"):
        build.load(emit(tree), Comm())


def test_the_compiler_s_words_after_a_method_are_about_the_emitted_text() -> None:
    text = TEXT + "no C at all;\n"
    line = len(text.splitlines())
    with pytest.raises(CompileError, match=rf"emitted\.c:{line}:"):
        build.load(text, Comm())


def test_cc_may_hold_flags_which_are_part_of_the_key(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build.load(TEXT, Comm())
    monkeypatch.setenv("CC", os.environ["CC"] + " -DOTHER=1")
    forget(monkeypatch)
    assert not build.load(TEXT, Comm()).cached
    assert compilations(calls) == 2


def test_every_level_compiles_and_this_cpu_runs_those_up_to_its_own() -> None:
    levels = toolchain.levels()
    assert 0 <= toolchain.cpu_level() < len(levels)
    for number, level in enumerate(levels):
        content = build.compiled(TEXT, level)
        if number <= toolchain.cpu_level():
            assert works(build.open_bytes(content, False))


@pytest.mark.slow
def test_emitted_text_gives_no_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = ("-Wno-unused-parameter", "-Wno-unused-function", "-Wno-unused-variable")
    flags = [flag for flag in toolchain.FLAGS if flag != "-w"]
    strict = (*flags, "-Wall", "-Wextra", "-Werror", *quiet)
    monkeypatch.setattr(toolchain, "FLAGS", strict)
    messages = (h.messages("sum", "int16"), h.messages("max", "float32"))
    for tree in (h.pagerank(), h.shortest_paths(), *messages):
        build.compiled(emit(tree), toolchain.levels()[0])


def test_another_version_of_the_border_is_refused() -> None:
    old = re.sub(r"#define GL_ABI_VERSION \d+", "#define GL_ABI_VERSION 77", TEXT)
    assert old != TEXT
    with pytest.raises(CompileError, match=r"border version 77, this gaslab [0-9]+$"):
        build.load(old, Comm())


def test_a_noexec_directory_for_temporary_files_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    load_library = build.Library.__init__

    def refuse(self: build.Library, path: str, cached: bool) -> None:
        if not path.startswith("/proc/self/fd/"):
            raise OSError(f"{path}: failed to map segment from shared object")
        load_library(self, path, cached)

    monkeypatch.setattr(build.Library, "__init__", refuse)
    if not hasattr(os, "memfd_create"):
        pytest.skip("this system has no memfd_create")
    assert works(build.load(TEXT, Comm()))
    other = emit(h.shortest_paths())
    assert build.load(other, Comm()).function("gl_gather") != 0  # not the first one again


# ---- ranks -----------------------------------------------------------------------------------------


def test_rank_0_compiles_for_all(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_loaded", _PerRank())
    libraries = run_ranks(3, lambda comm: build.load(TEXT, comm))
    assert compilations(calls) == 1
    assert len({id(library) for library in libraries}) == 3
    assert all(works(library) for library in libraries)


def test_every_rank_raises_the_compiler_s_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nonexistent/cc")

    def attempt(comm: ThreadComm) -> str:
        with pytest.raises(build.NoCompiler) as caught:
            build.load(TEXT, comm)
        return str(caught.value)

    assert len(set(run_ranks(3, attempt))) == 1


def test_ranks_take_the_lowest_common_cpu_level(monkeypatch: pytest.MonkeyPatch) -> None:
    if len(toolchain.levels()) == 1:
        pytest.skip("this kind of machine has one level")
    asked: list[str] = []
    monkeypatch.setattr(build, "find_or_compile", lambda text, level: asked.append(level) or _content())
    monkeypatch.setattr(build, "_loaded", _PerRank())

    class Mixed(ThreadComm):
        def allreduce(self, values: object, op: str = "sum") -> object:
            known, _ = values  # type: ignore[misc]
            return super().allreduce([known, (2, 0, 1)[self.rank]], op)

    def load(comm: ThreadComm) -> None:
        build.load(TEXT, Mixed(comm._shared, comm.rank))

    run_ranks(3, load)
    assert asked == ["x86-64"]


def test_a_rank_that_has_the_library_waits_for_one_that_has_not(
    calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_loaded", _PerRank())

    def load(comm: ThreadComm) -> bool:
        if comm.rank == 1:
            build.load(TEXT, Comm())
        return works(build.load(TEXT, comm))

    assert run_ranks(2, load) == [True, True]


def load_and_apply(comm: Comm, text: str) -> bool:
    return works(build.load(text, comm))


def test_under_mpi_every_rank_runs_what_rank_0_found(ranks: Ranks) -> None:
    assert all(ranks.run(load_and_apply, TEXT))
    assert all(ranks.run(load_and_apply, TEXT))


def test_under_mpi_every_rank_raises_the_compiler_s_error(ranks: Ranks) -> None:
    with pytest.raises(CompileError, match=r"emitted\.c:\d+:\d+: error"):
        ranks.run(load_and_apply, TEXT + "no C at all;\n")


def _content() -> tuple[bytes, bool]:
    return build.compiled(TEXT, "x86-64"), False


class _PerRank(dict):  # type: ignore[type-arg]
    """`build._loaded` of each rank for itself, where ranks are threads of one process."""

    def __init__(self) -> None:
        self._own = threading.local()

    def _mine(self) -> dict[str, build.Library]:
        return self._own.__dict__

    def __contains__(self, key: object) -> bool:
        return key in self._mine()

    def __getitem__(self, key: str) -> build.Library:
        return self._mine()[key]

    def __setitem__(self, key: str, value: build.Library) -> None:
        self._mine()[key] = value
