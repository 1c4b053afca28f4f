"""build: C text -> a loaded library, the same bytes on every rank.

Ranks agree on the lowest common CPU level; rank 0 finds the library or compiles it, and sends its bytes (or
the error); every rank loads them from its own file. So ranks need neither locks nor shared files. The order
of lookup: this process, the libraries shipped with gaslab, the user's cache as far as it can be trusted
(`cache`), the compiler.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gaslab.compiler import toolchain
from gaslab.compiler.cache import Cache, Untrusted, private_folder, whole, write_for_others
from gaslab.errors import CompileError, PerformanceWarning, warn_user
from gaslab.system import leftovers

if TYPE_CHECKING:
    from gaslab.parallel.comm import Comm

log = logging.getLogger("gaslab")
SHIPPED = Path(__file__).resolve().parents[1] / "_builtins"


class NoCompiler(CompileError):
    """Neither a C compiler nor a compiled library exists."""


class Library:
    """A compiled program in this process. `cached`: no compiler ran for it."""

    def __init__(self, path: str, cached: bool) -> None:
        self._handle = ctypes.CDLL(path)
        self.path = path
        self.cached = cached
        self._functions: dict[str, int] = {}

    def function(self, name: str) -> int:
        """Return the address of a range function, 0 if the program has none of this name."""
        if name not in self._functions:
            symbol = getattr(self._handle, name, None)
            found = None if symbol is None else ctypes.cast(symbol, ctypes.c_void_p).value
            self._functions[name] = found or 0
        return self._functions[name]

    @property
    def abi(self) -> int:
        """The version of the border that the library was compiled against."""
        return ctypes.c_int64.in_dll(self._handle, "gl_abi").value


_loaded: dict[str, Library] = {}


def load(text: str, comm: Comm) -> Library:
    """Return the library of C *text*, compiled if no cache has it. Collective."""
    name = key(text)
    known, level = (int(x) for x in comm.allreduce([int(name in _loaded), toolchain.cpu_level()], "min"))
    if known:
        library = _loaded[name]
        library.cached = True
        return library
    cpu = toolchain.levels()[level]
    content, cached = comm.on_root(lambda: find_or_compile(text, cpu), long_running=True)
    library = comm.attempt(lambda: open_bytes(content, cached))
    _loaded[name] = library
    return library


def key(text: str, level: str = "", compiler: str = "") -> str:
    """Return the name of a library: a hash of the text without `#line`, flags, level and compiler."""
    plain = re.sub(r"(?m)^#line .*\n", "", text)
    parts = (plain, " ".join(toolchain.FLAGS), level, " ".join(toolchain.level_flags(level)), compiler)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def find_or_compile(text: str, level: str) -> tuple[bytes, bool]:
    """Return the bytes of the library for a CPU level, and whether they were in a cache."""
    plain, cache = f"{key(text, level)}.so", Cache(cache_directory())
    content = shipped(plain) or _kept(cache, plain)
    if content is not None:
        return content, True
    command = toolchain.compiler()
    if command is None:
        raise NoCompiler(
            "no C compiler was found (neither $CC nor cc, gcc or clang can be run) and the program was not "
            "compiled before; install one, or compile it elsewhere with `gaslab compile`"
        )
    stored = f"{key(text, level, toolchain.version(command))}.so"
    content = _kept(cache, stored)
    if content is not None:
        return content, True
    content = compiled(text, level)
    try:
        cache.write(stored, content)
    except Untrusted as error:
        _warn_untrusted(cache, error)
    except OSError as error:
        log.debug("the compiled program cannot be cached: %s", error)
    return content, False


def shipped(name: str) -> bytes | None:
    """Return a library shipped with gaslab, None if none has this name."""
    try:
        return whole((SHIPPED / name).read_bytes())
    except OSError:
        return None


def _kept(cache: Cache, name: str) -> bytes | None:
    try:
        return cache.read(name)
    except Untrusted as error:
        _warn_untrusted(cache, error)
        return None


_warned: set[str] = set()  # warn once about a path


def _warn_untrusted(cache: Cache, error: Untrusted) -> None:
    if error.what in _warned:
        return
    _warned.add(error.what)
    warn_user(
        f"{error.what}, so compiled programs from {cache.path} are not trusted, and this one is compiled "
        f"again; {error.fix}",
        PerformanceWarning,
        rank=0,  # which finds libraries for all; a warning turned into an error is raised on all
    )


def compile_levels(text: str, directory: Path, levels: Sequence[str] | None = None) -> list[Path]:
    """Compile *text* for CPU levels (all by default) into *directory*; no compiler is needed to find them.

    Existing files stay.
    """
    names = {level: f"{key(text, level)}.so" for level in levels or toolchain.levels()}
    there = Cache(directory)
    for level, name in names.items():
        try:
            found = there.read(name)
        except Untrusted:  # recompiled
            found = None
        if found is None:
            write_for_others(directory, name, compiled(text, level))
    return [directory / name for name in names.values()]


def compiled(text: str, level: str) -> bytes:
    """Return the library that the C compiler makes of *text*."""
    with toolchain.workplace(private_folder()) as directory:
        output = directory / "program.so"
        toolchain.compile_text(text, level, output)
        return output.read_bytes()


def cache_directory() -> Path:
    """Return ``$GASLAB_CACHE_DIR``, else the platform's place for a user's caches."""
    configured = os.environ.get("GASLAB_CACHE_DIR")
    if configured:
        return Path(configured)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "gaslab"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "gaslab"


def open_bytes(content: bytes, cached: bool) -> Library:
    """Load a library's bytes from a file that only this process sees."""
    folder = private_folder()
    try:
        library = _open_in_folder(folder, content, cached)
    except OSError as error:  # full, or mounted noexec
        try:
            library = _open_in_memory(content, cached)
        except OSError as again:
            raise CompileError(
                f"a compiled program of {len(content):,} bytes cannot be loaded, neither through {folder} "
                f"({error}) nor through memory ({again}); lift the limit (ulimit -f), name another folder in "
                'TMPDIR, or run without: compile="never", --compile never'
            ) from again
    expected = abi_version()
    if library.abi != expected:
        raise CompileError(f"a compiled program has border version {library.abi}, this gaslab {expected}")
    return library


def _open_in_folder(folder: str, content: bytes, cached: bool) -> Library:
    handle, path = tempfile.mkstemp(prefix="gaslab-", suffix=".so", dir=folder)
    leftovers.draft_made(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        return Library(path, cached)
    finally:
        os.unlink(path)


def _open_in_memory(content: bytes, cached: bool) -> Library:
    if not hasattr(os, "memfd_create"):
        raise OSError("this system cannot load libraries from memory")
    # Closed only if loading failed: the loader knows libraries by path, and would take a reused number for
    # the old one.
    handle = os.memfd_create("gaslab-program")
    try:
        with os.fdopen(handle, "wb", closefd=False) as file:
            file.write(content)
        return Library(f"/proc/self/fd/{handle}", cached)
    except OSError:
        os.close(handle)
        raise


def abi_version() -> int:
    """Return GL_ABI_VERSION of the `abi.h` that `c` inlines."""
    from gaslab.compiler.c.prelude import header

    found = re.search(r"#define GL_ABI_VERSION (\d+)", header("abi.h"))
    assert found is not None
    return int(found[1])
