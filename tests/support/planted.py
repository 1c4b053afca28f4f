"""A library that somebody planted in a cache, and whether it was loaded."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from gaslab.compiler import build, toolchain
from gaslab.compiler.c import emit
from tests.support import hand_trees as h

TEXT = emit(h.messages())
LEVEL = toolchain.levels()[0]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, nothing loaded, nothing shipped."""
    path = tmp_path / "cache"
    monkeypatch.setenv("GASLAB_CACHE_DIR", str(path))
    monkeypatch.setattr(build, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setattr(build, "_loaded", {})
    monkeypatch.setattr(build, "_warned", set())
    return path


def plant(folder: Path, text: str = TEXT) -> Path:
    """Store a whole library that is not what it is called: it has the border and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    content = build.compiled(
        f"long long gl_abi = {build.abi_version()}; int gl_planted(void) {{ return 1; }}\n", LEVEL
    )
    path = folder / f"{build.key(text, LEVEL)}.so"
    path.write_bytes(content + hashlib.sha256(content).digest())
    folder.chmod(0o700)
    path.chmod(0o600)
    return path


def planted(library: build.Library) -> bool:
    return library.function("gl_planted") != 0
