"""Imports go one way, down the layers of the design; MPI and numpy stay where they belong."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# From the ground up: a module or package imports nothing of those behind it.
LAYERS = (
    "errors",
    "version",
    "arguments",
    "system",
    "parallel",
    "language",
    "program",
    "ragged",
    "compiler",
    "cancellation",
    "ingest",
    "partitioning",
    "replication",
    "storage",
    "checkpoint",
    "graph",
    "results",
    "cuts",
    "reference",
    "engine",
    "programs",
    "topics",
    "doctor",
    "cli",
)
USERS = {"programs", "topics", "doctor", "cli"}  # see the package's face, as everybody's own programs do
HEIGHT = {name: height for height, name in enumerate(LAYERS)}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "gaslab").rglob("*.py"))
}


@cache
def imports(module: str) -> tuple[tuple[str, int, bool], ...]:
    """Return (imported module, line, whether at the top of the module) for every import in a module."""
    tree = ast.parse(MODULES[module].read_text())
    inside = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in ast.walk(f)}
    typing = {
        id(n)
        for i in ast.walk(tree)
        if isinstance(i, ast.If) and ast.unparse(i.test) == "TYPE_CHECKING"
        for n in ast.walk(i)
    }
    return tuple(
        (name, node.lineno, id(node) not in inside | typing)
        for node in ast.walk(tree)
        for name in _names(node)
    )


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield whole if whole in MODULES else str(node.module)


def layer(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@pytest.mark.slow
def test_modules_import_only_downward() -> None:
    for module in (m for m in MODULES if layer(m) not in ("", "_kernels", "__main__")):
        assert layer(module) in HEIGHT, f"{module} has no place in LAYERS"
        for name, line, _ in imports(module):
            if name.split(".")[0] != "gaslab" or layer(name) == "_kernels":
                continue
            if layer(module) == "programs" and not layer(name):
                continue  # programs use the public language, through the front door
            above = HEIGHT[layer(name)] > HEIGHT[layer(module)] if layer(name) else layer(module) not in USERS
            where = f"{MODULES[module].relative_to(ROOT)}:{line}"
            assert not above, f"{where} imports {name}, which is above it"


# Faces name for type checkers what they load when it is asked for; programs are written against them.
FACES = ("gaslab", "gaslab.programs")


def test_no_module_comes_back_to_itself() -> None:
    """Imports inside functions and under TYPE_CHECKING count: what knows a type depends on its module."""
    needs = {
        m: {name for name, _, top in imports(m) if name in MODULES and (top or m not in FACES)} - {m}
        for m in MODULES
    }
    while needs:
        free = {m for m, needed in needs.items() if not needed & needs.keys()}
        if not free:  # leave out what only stands above the cycle
            inside = {m for m in needs if any(m in needed for needed in needs.values())}
            assert len(inside) < len(needs), f"a cycle is among {sorted(needs)}"
            free = needs.keys() - inside
        needs = {m: needed for m, needed in needs.items() if m not in free}


PARTS = {"tree": {"tree"}, "frontend": {"tree", "frontend"}, "c": {"tree", "c"}, "python": {"tree", "python"}}


@pytest.mark.parametrize("part", PARTS)
def test_what_the_parts_of_the_compiler_share_is_in_the_tree(part: str) -> None:
    """The frontend and the backends know the tree, and nothing of each other."""
    inside = [m for m in MODULES if f"{m}.".startswith(f"gaslab.compiler.{part}.")]
    assert inside
    for module in inside:
        for name, line, _ in imports(module):
            if name.startswith("gaslab.compiler"):
                where = f"{MODULES[module].relative_to(ROOT)}:{line}"
                assert f"{name}.".split(".")[2] in PARTS[part], f"{where} imports {name}"


def test_one_module_imports_mpi() -> None:
    users = {m for m in MODULES for name, _, _ in imports(m) if name.split(".")[0] == "mpi4py"}
    assert users == {"gaslab.parallel.mpilib"}
    for path in (ROOT / "cython_kernels").rglob("*"):
        if path.suffix in (".pyx", ".pxd", ".h"):
            assert not re.search(r"mpi4py|mpi\.h", path.read_text(), re.IGNORECASE), path.name


def test_kernels_import_nothing_from_gaslab() -> None:
    for path in (ROOT / "cython_kernels").rglob("*.p*"):
        found = re.findall(r"^\s*(?:from|import|cimport)\s+gaslab\S*", path.read_text(), re.MULTILINE)
        assert not found, f"{path.name}: {found}"


def test_program_and_compiler_need_no_numpy_kernel_or_mpi() -> None:
    names = ("errors", "arguments", "language", "program", "compiler")
    modules = [m for m in MODULES if layer(m) in names]
    modules += ["gaslab.parallel.collective", "gaslab.parallel.fingerprint", "gaslab.system.atomic_writes"]
    check = (
        "import sys\n"
        f"for name in {modules!r}: __import__(name)\n"
        "print(*(m for m in sys.modules if m.split('.')[0] in ('numpy', 'mpi4py') or '_kernels' in m))"
    )
    done = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# What setup.py does before any kernel is built, with no numpy and no MPI to be had.
BUILD = """
import runpy, sys
from importlib.abc import MetaPathFinder

class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numpy", "mpi4py") or name.startswith("gaslab._kernels"):
            raise ImportError(f"{name} is imported while gaslab is built")

sys.meta_path.insert(0, Blocked())
setup = runpy.run_path("setup.py")
from gaslab.compiler import texts_ahead
for cls in setup["program_classes"]():
    assert texts_ahead(cls), cls
    print(cls.__module__)
"""


def test_the_build_needs_no_numpy_kernel_or_mpi() -> None:
    done = subprocess.run([sys.executable, "-c", BUILD], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = (ROOT / "gaslab" / "programs").glob("[!_]*.py")
    of_programs = {f"gaslab.programs.{page.stem}" for page in pages if "\nclass " in page.read_text()}
    assert {*done.stdout.split()} == of_programs


def test_importing_gaslab_loads_neither_numpy_nor_mpi() -> None:
    check = "import sys, gaslab; print(*(m for m in ('numpy', 'mpi4py', 'mpi4py.MPI') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


SOURCES = [
    path.relative_to(ROOT)
    for folder in ("gaslab", "cython_kernels", "tests", "benchmarks", "examples", "datasets")
    for path in sorted((ROOT / folder).rglob("*.p*"))
    if path.suffix in (".py", ".pyx", ".pxd")
]


def test_files_are_short() -> None:
    lines = {str(path): len((ROOT / path).read_text().splitlines()) for path in SOURCES}
    assert {path: n for path, n in lines.items() if n > 500} == {}, "a file holds one noun"
