"""What the package is built from: nothing is missing from its source distribution, nothing goes unnoticed."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

import gaslab
from gaslab.version import __version__

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "cython_kernels"


@pytest.mark.slow
def test_the_source_distribution_has_all_that_kernels_are_made_of(tmp_path: Path) -> None:
    egg = ["egg_info", "--egg-base", str(tmp_path)]
    command = [sys.executable, "setup.py", "--quiet", *egg, "sdist", "--dist-dir", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    found = {name for name in names if name.startswith(KERNELS.name) and Path(name).suffix}
    written = (path for path in KERNELS.rglob("*.*") if path.suffix in (".pyx", ".pxi", ".h"))
    sources = {str(path.relative_to(ROOT)) for path in written}
    assert found == sources


@pytest.mark.slow
def test_a_kernel_is_built_anew_when_a_file_it_includes_changes() -> None:
    setup = runpy.run_path(str(ROOT / "setup.py"))
    found = {Path(name).name for name in setup["included"](KERNELS / "async" / "machine.pyx")}
    assert found >= {"serialisable.pxi", "declarations.pxi", "pace.h", "scheduler.h", "buckets.h"}


@pytest.mark.slow
def test_what_an_earlier_build_left_is_not_in_the_next(tmp_path: Path) -> None:
    """``build`` is where setuptools puts what goes into a wheel, and where it leaves it."""
    shutil.copy(ROOT / "setup.py", tmp_path)
    (tmp_path / "cython_kernels").mkdir()
    stale = tmp_path / "build" / "lib" / "gaslab" / "programs" / "gone.py"
    stale.parent.mkdir(parents=True)
    stale.touch()
    code = (
        "import runpy; from setuptools import Distribution\n"
        "command = runpy.run_path('setup.py')['Fresh'](Distribution({'name': 'x'}))\n"
        "command.build_lib = 'build/lib'; command.finalize_options(); command.run()"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True)
    assert not stale.exists()


def test_a_tree_that_is_not_built_says_what_to_do(tmp_path: Path) -> None:
    built = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "gaslab", tmp_path / "gaslab", ignore=built)
    here: dict[str, Any] = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": ""}}
    command = [sys.executable, "-c", "import gaslab as gl; gl.read_graph"]
    done = subprocess.run(command, capture_output=True, text=True, **here)
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: gaslab is imported from {tmp_path}, where its kernels are not built for Python "
        f"{sys.version_info[0]}.{sys.version_info[1]}; build them with `python -m pip install --editable "
        f"{tmp_path}`, or start Python in another folder to use an installed gaslab"
    )
    done = subprocess.run(
        [sys.executable, "-m", "gaslab", "doctor"], capture_output=True, text=True, **here
    )
    assert done.returncode == 1
    assert done.stdout.count("are not built for Python") == 1


def test_the_version_stands_in_one_place() -> None:
    """pyproject.toml takes it from gaslab/version.py; the command line and the changelog say the same."""
    assert gaslab.__version__ == __version__
    pyproject = (ROOT / "pyproject.toml").read_text()
    assert 'version = { attr = "gaslab.version.__version__" }' in pyproject
    assert __version__ not in pyproject
    newest = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == __version__
    command = [sys.executable, "-m", "gaslab", "--version"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said == f"gaslab {__version__}\n"
    built = [sys.executable, "setup.py", "--quiet", "--version"]
    said = subprocess.run(built, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said.split() == [__version__]
