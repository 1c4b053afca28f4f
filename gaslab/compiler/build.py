"""build: C text -> a loaded library, the same bytes on every rank.

Ranks agree on the lowest common CPU level; rank 0 finds the library or compiles it, and sends its
bytes (or the error); every rank loads them from a file of its own. So there are no locks and no file
that another rank must see. Looked up in this order: this process, the libraries shipped with gaslab,
the user's cache, the compiler.
"""

from __future__ import annotations

import contextlib
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
from gaslab.errors import CompileError

if TYPE_CHECKING:
    from gaslab.comm import Comm

log = logging.getLogger("gaslab")
SHIPPED = Path(__file__).resolve().parents[1] / "_builtins"
_DIGEST = 32  # bytes of sha256 behind the library's own: a file cut short is never loaded


class NoCompiler(CompileError):
    """There is no C compiler, and no library that one made before."""


class Library:
    """A compiled program in this process. `cached` says that no compiler ran for it."""

    def __init__(self, path: str, cached: bool) -> None:
        self._handle = ctypes.CDLL(path)
        self.path = path
        self.cached = cached

    def function(self, name: str) -> int:
        """Return the address of a range function, 0 where the program has none of this name."""
        try:
            symbol = getattr(self._handle, name)
        except AttributeError:
            return 0
        return ctypes.cast(symbol, ctypes.c_void_p).value or 0

    @property
    def abi(self) -> int:
        """The version of the border that the library was compiled against."""
        return ctypes.c_int64.in_dll(self._handle, "gl_abi").value


_loaded: dict[str, Library] = {}


def load(text: str, comm: Comm) -> Library:
    """Return the library of C *text*, compiled if it is nowhere yet. Collective."""
    name = key(text)
    known, level = (int(x) for x in comm.allreduce([int(name in _loaded), toolchain.cpu_level()], "min"))
    if known:
        library = _loaded[name]
        library.cached = True
        return library
    content, cached = comm.on_root(lambda: find_or_compile(text, toolchain.levels()[level]))
    library = comm.attempt(lambda: open_bytes(content, cached))
    _loaded[name] = library
    return library


def key(text: str, level: str = "", compiler: str = "") -> str:
    """Return the name of a library: a hash of the text without `#line`, flags, level and compiler."""
    plain = re.sub(r"(?m)^#line .*\n", "", text)
    parts = (plain, " ".join(toolchain.FLAGS), level, " ".join(toolchain.level_flags(level)), compiler)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


def find_or_compile(text: str, level: str) -> tuple[bytes, bool]:
    """Return the bytes of the library for a CPU level, and whether they were there already."""
    plain = key(text, level)
    for directory in (SHIPPED, cache_directory()):
        content = read(directory / f"{plain}.so")
        if content is not None:
            return content, True
    command = toolchain.compiler()
    if command is None:
        raise NoCompiler(
            "there is no C compiler (neither $CC nor cc, gcc or clang can be run) and the program was not "
            "compiled before; install one, or compile it elsewhere with `gaslab compile`"
        )
    stored = cache_directory() / f"{key(text, level, toolchain.version(command))}.so"
    content = read(stored)
    if content is not None:
        return content, True
    content = compiled(text, level)
    try:
        write(stored, content)
    except OSError as error:
        log.debug("the compiled program is not kept: %s", error)
    return content, False


def compile_levels(text: str, directory: Path, levels: Sequence[str] | None = None) -> list[Path]:
    """Compile *text* for CPU levels (all by default) into *directory*; no compiler is needed to find them.

    What is there already stays.
    """
    paths = {level: directory / f"{key(text, level)}.so" for level in levels or toolchain.levels()}
    for level, path in paths.items():
        if read(path) is None:
            write(path, compiled(text, level))
    return list(paths.values())


def compiled(text: str, level: str) -> bytes:
    """Return the library that the C compiler makes of *text*."""
    with tempfile.TemporaryDirectory(prefix="gaslab-") as directory:
        output = Path(directory) / "program.so"
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


def read(path: Path) -> bytes | None:
    """Return a stored library, None if there is none or it is not whole."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    return body if hashlib.sha256(body).digest() == digest else None


def write(path: Path, content: bytes) -> None:
    """Store a library with its digest; others see it whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".so")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content + hashlib.sha256(content).digest())
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def open_bytes(content: bytes, cached: bool) -> Library:
    """Load a library's bytes from a file that only this process sees."""
    handle, path = tempfile.mkstemp(prefix="gaslab-", suffix=".so")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        library = Library(path, cached)
    except OSError as error:
        library = _open_in_memory(content, cached, error)
    finally:
        os.unlink(path)
    expected = abi_version()
    if library.abi != expected:
        raise CompileError(f"a compiled program has border version {library.abi}, this gaslab {expected}")
    return library


def _open_in_memory(content: bytes, cached: bool, error: OSError) -> Library:
    """Where the directory for temporary files may not hold programs (mounted noexec)."""
    if not hasattr(os, "memfd_create"):
        raise CompileError(f"a compiled program cannot be loaded: {error}") from error
    # Never closed: the loader knows libraries by path, and a number used again would be the old one.
    handle = os.memfd_create("gaslab-program")
    with os.fdopen(handle, "wb", closefd=False) as file:
        file.write(content)
    try:
        return Library(f"/proc/self/fd/{handle}", cached)
    except OSError as again:
        raise CompileError(f"a compiled program cannot be loaded: {error}; {again}") from again


def abi_version() -> int:
    """Return GL_ABI_VERSION of the `abi.h` that `emit` inlines."""
    from gaslab.compiler.emit import abi

    found = re.search(r"#define GL_ABI_VERSION (\d+)", abi())
    assert found is not None
    return int(found[1])
