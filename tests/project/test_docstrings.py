"""What docstrings name exists: modules and their contents by their whole names, all else by its own."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "gaslab").rglob("*.py"))
KERNELS = sorted((ROOT / "cython_kernels").rglob("*.pyx"))
WHOLE = re.compile(r"`(gaslab(?:\.\w+)+)")
ALONE = re.compile(r"(?<!`)`([A-Za-z_]\w*(?:\.\w+)*)`(?!`)")


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every docstring of a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""


def exists(name: str) -> bool:
    """Return whether a whole name is a module, or what one has."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@cache
def known() -> frozenset[str]:
    """Return every name that stands in code or in text that is no docstring, and those of the modules."""
    names = {path.stem for path in SOURCES} | {path.parent.name for path in SOURCES}
    for path in SOURCES:
        tree = ast.parse(path.read_text())
        texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
                names |= set(re.findall(r"\w+", node.value))  # of emitted C, say
            for field in ("id", "attr", "arg", "name", "asname"):
                value = getattr(node, field, None)
                if isinstance(value, str):
                    names |= set(value.split("."))
    for path in KERNELS:
        names |= set(re.findall(r"\w+", re.sub(r'""".*?"""', "", path.read_text(), flags=re.DOTALL)))
    return frozenset(names)


@pytest.mark.slow
def test_names_in_docstrings_exist() -> None:
    missing = [
        f"{path.relative_to(ROOT)}:{line} names {name}"
        for path in SOURCES
        for line, text in docstrings(path)
        for name in {*WHOLE.findall(text), *ALONE.findall(text)}
        if not (exists(name) if name.startswith("gaslab.") else set(name.split(".")) <= known())
    ]
    assert missing == []


def test_a_name_that_is_not_there_is_found_out() -> None:
    assert exists("gaslab.engine.reference_run")
    assert exists("gaslab.parallel.comm.Comm.attempt")
    assert not exists("gaslab.engine.reference")
    assert not exists("gaslab.parallel.comm.Comm.attempts")
    assert "attempts" not in known()
