"""The public face: every name is there, seen by type checkers, and costs nothing until it is used."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import gaslab as gl

ROOT = Path(__file__).resolve().parents[2]


def all_of(module: str) -> dict[str, str]:
    """Return name -> module of what ``from module import *`` brings; `make index` wrote those of programs."""
    names = vars(importlib.import_module(module))
    if "__all__" in names:
        return dict.fromkeys(names["__all__"], module)
    return {name: value.__module__ for name, value in names.items() if not name.startswith("_")}


def seen_by_type_checkers(package: str) -> dict[str, str]:
    """Return name -> module of a package's imports under ``if TYPE_CHECKING``."""
    tree = ast.parse((ROOT / package / "__init__.py").read_text())
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    found = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        module = str(node.module)
        for alias in node.names:
            if alias.name == "*":
                found.update(all_of(module))
                continue
            assert alias.asname == alias.name, (
                "`import x as x` is what makes a name public in a typed package"
            )
            found[alias.name] = module
    return found


def test_type_checkers_see_what_python_finds() -> None:
    assert seen_by_type_checkers("gaslab") == {**gl._HOME, **dict.fromkeys(gl._MODULES, "gaslab")}
    programs = {name: f"gaslab.programs.{page}" for name, page in gl.programs.CLASSES.items()}
    assert seen_by_type_checkers("gaslab/programs") == programs
    assert {getattr(gl.programs, name).__module__ for name in gl.programs.__all__} <= {*programs.values()}
    assert {*gl.programs.__all__} <= {*dir(gl.programs)}


def test_a_command_loads_the_program_that_it_runs_and_no_other() -> None:
    code = "import gaslab.programs.degrees, sys; print(*(m for m in sys.modules if 'gaslab.programs.' in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [m for m in done.stdout.split() if "._" not in m] == ["gaslab.programs.degrees"]


def test_every_public_name_is_there() -> None:
    for name in gl.__all__:
        value = getattr(gl, name)
        assert name in dir(gl)
        if name in gl._HOME:
            assert value is getattr(importlib.import_module(gl._HOME[name]), name)


def test_a_misspelt_name_gets_its_nearest() -> None:
    with pytest.raises(AttributeError) as caught:
        gl.pagernak  # noqa: B018
    assert str(caught.value) == "module 'gaslab' has no attribute 'pagernak'; did you mean 'pagerank'?"


def test_private_and_special_names_are_not_guessed() -> None:
    with pytest.raises(AttributeError, match=r"^module 'gaslab' has no attribute '__path_hooks__'$"):
        gl.__path_hooks__  # noqa: B018


HEAVY = {"numpy", "mpi4py", "tqdm", "inspect", "dataclasses", "difflib", "logging", "argparse"}


def loaded_by(*words: str) -> set[str]:
    """Return the heavy modules that a fresh ``gaslab *words`` has loaded at its end."""
    code = f"import sys\nfrom gaslab.cli import main\nmain({words!r})\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return HEAVY & set(done.stderr.split())


def test_help_loads_nothing_heavy() -> None:
    assert loaded_by("--help") == set()


def test_version_loads_nothing_heavy() -> None:
    assert loaded_by("--version") == set()


def test_the_help_of_a_command_loads_neither_numpy_nor_mpi() -> None:
    assert loaded_by("pagerank", "--help") & {"numpy", "mpi4py", "tqdm"} == set()
